"""``aucuba predict``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, TextIO

import numpy as np
import pandas as pd
import typer

from aucuba._files import written_atomically
from aucuba._validation import check_choice
from aucuba.cli.console import emit, progress_bar
from aucuba.cli.options import AsJson, DataFile, Delimiter, Format, ModelFile, Unknown
from aucuba.cli.samples import command_line_metadata
from aucuba.cli.schema import Schema
from aucuba.persistence import SavedModel, load_model
from aucuba.tables import Table, TableFile


def predict(
    model: ModelFile,
    data: DataFile,
    out: Annotated[Path, typer.Option(metavar="SCORES.csv", help="The csv file to write.")],
    id: Annotated[
        str | None, typer.Option("--id", help="A column of DATA to carry into the scores.")
    ] = None,
    unknown: Unknown = "error",
    format: Format = None,
    delimiter: Delimiter = None,
    as_json: AsJson = False,
) -> None:
    """Score the rows of a file, in chunks, so that it may be larger than memory.

    Writes the score of every row and the class at the threshold of training (score > 0).
    """
    check_choice(unknown, "--unknown", ("error", "ignore"))
    saved = load_model(model)
    scorer = _Scorer(saved, id, strict=unknown == "error")
    file = TableFile.of(data, format, delimiter)
    text_columns = [*scorer.schema.category, *([] if id is None else [id])]
    rows = positives = 0
    with (
        written_atomically(out) as draft,
        draft.open("w", encoding="utf-8", newline="") as sink,
        progress_bar(f"Scoring {data.name}") as bar,
    ):
        for chunk in file.chunks(text_columns, scorer.schema.n_features):
            positives += scorer.write(chunk, sink, rows)
            rows += chunk.n_rows
            bar.advance(chunk.n_rows)
    result = {"scores": str(out), "rows": rows, "predicted_positive": positives}
    emit(result, f"{rows} rows, {positives} predicted positive\nScores: {out}", as_json=as_json)


class _Scorer:
    """Writes the scores of one table after another."""

    def __init__(self, saved: SavedModel, id_column: str | None, strict: bool) -> None:
        known = command_line_metadata(saved)
        self.schema = Schema.from_json(known["schema"])
        self._model: Any = saved.model
        self._classes = np.array([known["negative"], known["positive"]])
        self._id = id_column
        self._strict = strict

    def write(self, table: Table, sink: TextIO, first_row: int) -> int:
        """Append the table's scores; returns how many rows are predicted positive."""
        X = self.schema.features(table, first_row)
        if self._strict:
            self.schema.refuse_unknown(self._model, X)
        score = self._model.decision_function(X)
        positive = score > 0
        columns: dict[str, Any] = {}
        if self._id is not None:
            columns[self._id] = table.column(self._id, "--id").to_numpy()
        columns |= {"score": score, "predicted": self._classes[positive.astype(np.intp)]}
        pd.DataFrame(columns).to_csv(sink, index=False, header=first_row == 0)
        return int(positive.sum())
