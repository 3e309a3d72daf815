"""``aucuba predict``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, TextIO

import numpy as np
import pandas as pd
import typer

from aucuba._core._files import check_place, is_stream, written_atomically
from aucuba._core._validation import check_choice
from aucuba.cli._console import emit, note, progress_bar
from aucuba.cli._options import AsJson, DataFile, Delimiter, Format, ModelFile, Unknown
from aucuba.cli._record import FitRecord, load_fitted
from aucuba.cli._tables import Table, TableFile
from aucuba.persistence import SavedModel

_WRITTEN = ("score", "predicted")
_OTHER_FORMATS = (".gz", ".npz", ".parquet", ".pq", ".tsv")


def predict(
    model: ModelFile,
    data: DataFile,
    out: Annotated[
        Path, typer.Option(metavar="SCORES.csv", help="The csv file to write; - is stdout.")
    ],
    id: Annotated[
        str | None,
        typer.Option("--id", metavar="COLUMN", help="A column to carry into the scores."),
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
    if id in _WRITTEN:
        raise ValueError(f"--id {id} would be overwritten by the column of that name; rename it.")
    to_stdout = str(out) in ("-", "/dev/stdout")
    if to_stdout and as_json:
        raise ValueError("--json and the scores cannot both go to stdout; give --out a file.")
    if out.suffix.lower() in _OTHER_FORMATS:
        raise ValueError(
            f"The scores are written as csv; name a file that ends in .csv, not {out}."
        )
    if not to_stdout:
        check_place(out, model, data)
    saved, record = load_fitted(model)
    scorer = _Scorer(saved, record, id, strict=unknown == "error")
    file = TableFile.of(data, format, delimiter)
    rows = positives = 0
    with _sink(None if to_stdout else out) as sink, progress_bar(f"Scoring {data.name}") as bar:
        bar.total(1.0)
        verbatim = [] if id is None else [id]
        for chunk in file.chunks(record.schema.category, verbatim, record.schema.first_index):
            positives += scorer.write(chunk, sink, rows)
            rows += chunk.n_rows
            bar.reach(chunk.share)
    counts = f"{rows} rows, {positives} predicted positive"
    if to_stdout:
        note(counts)
        return
    result = {"scores": str(out), "rows": rows, "predicted_positive": positives}
    emit(result, f"{counts}\nScores: {out}", as_json=as_json)


@contextmanager
def _sink(out: Path | None) -> Iterator[TextIO]:
    """Where the scores go: stdout, a pipe or device as it stands, or a file that appears whole."""
    if out is None:
        yield sys.stdout
        sys.stdout.flush()
    elif is_stream(out):
        with out.open("w", encoding="utf-8", newline="") as sink:
            yield sink
    else:
        with (
            written_atomically(out) as draft,
            draft.open("w", encoding="utf-8", newline="") as sink,
        ):
            yield sink


class _Scorer:
    """Writes the scores of one table after another."""

    def __init__(
        self, saved: SavedModel, record: FitRecord, id_column: str | None, strict: bool
    ) -> None:
        self._schema = record.schema
        self._model: Any = saved.model
        self._classes = np.array([record.labels.negative, record.labels.positive])
        self._id = id_column
        self._strict = strict

    def write(self, table: Table, sink: TextIO, first_row: int) -> int:
        """Append the table's scores; returns how many rows are predicted positive."""
        X = self._schema.features(table, first_row)
        if self._strict:
            self._schema.refuse_unknown(self._model, X)
        score = self._model.decision_function(X)
        positive = score > 0
        columns: dict[str, Any] = {}
        if self._id is not None:
            columns[self._id] = table.column(self._id, "--id").to_numpy()
        predicted = self._classes[positive.astype(np.intp)]
        columns |= dict(zip(_WRITTEN, (score, predicted), strict=True))
        pd.DataFrame(columns).to_csv(sink, index=False, header=first_row == 0)
        return int(positive.sum())
