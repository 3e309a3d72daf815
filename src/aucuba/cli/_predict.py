"""``aucuba predict``."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from aucuba.cli._console import emit, print_note, progress_bar, stdout_of_a_reader
from aucuba.cli._options import (
    AsJson,
    DataFile,
    Decimal,
    Delimiter,
    Encoding,
    Format,
    ModelFile,
    Unknown,
    refuse_given,
)

if TYPE_CHECKING:
    from aucuba.changepoint import SupervisedChangepointDetector
    from aucuba.cli._record import FitRecord
    from aucuba.cli._table import Table
    from aucuba.cli._tables import TableFile
    from aucuba.persistence import SavedModel

_WRITTEN = ("score", "probability", "predicted")
# What spreadsheets take for the start of a formula, at once or after trimming.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")
_OTHER_FORMATS = (".gz", ".npz", ".parquet", ".pq", ".tsv")

_Out = Annotated[
    Path, typer.Option(metavar="SCORES.csv", help="The csv file to write; - is stdout.")
]
_Id = Annotated[
    list[str] | None,
    typer.Option(
        "--id", metavar="COLUMN", help="A column to carry along; several as a,b or repeated."
    ),
]
_EscapeFormulas = Annotated[
    bool,
    typer.Option(
        "--escape-formulas",
        help="Put ' before text that a spreadsheet would take for a formula (=, +, -, @).",
    ),
]


def predict(
    model: ModelFile,
    data: DataFile,
    out: _Out,
    id: _Id = None,
    escape_formulas: _EscapeFormulas = False,
    unknown: Unknown = "error",
    format: Format = None,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    as_json: AsJson = False,
) -> None:
    """Score the rows of a file, in chunks, so that it may be larger than memory.

    Writes the score of every row, its probability if the model has one, and the class at the threshold
    of training (score > 0). Of a changepoint model it writes the changes: the first samples of new
    segments.
    """
    from aucuba._base._files import check_place
    from aucuba._base._validation import check_choice
    from aucuba.changepoint import SupervisedChangepointDetector
    from aucuba.cli._promise import promise_of
    from aucuba.cli._record import fit_record
    from aucuba.cli._tables import Kept, TableFile
    from aucuba.persistence import load_model

    check_choice(unknown, "--unknown", ("error", "ignore"))
    to_stdout = str(out) in ("-", "/dev/stdout")
    _check_out(out, to_stdout and as_json)
    if not to_stdout:
        check_place(out, model, data)
    saved = load_model(model)
    file = TableFile.from_options(data, format, delimiter, decimal, encoding)
    if isinstance(saved.model, SupervisedChangepointDetector):
        refuse_given(
            "does not apply to a changepoint model",
            id=id or None,
            unknown=unknown == "ignore" or None,
        )
        _write_changes(saved.model, file, None if to_stdout else out, escape_formulas, as_json)
        return
    record = fit_record(saved, model)
    ids = _id_columns(id or [], file)
    scorer = _Scorer(saved, record, ids, unknown == "error", escape_formulas)
    rows = positives = 0
    with _sink(None if to_stdout else out) as sink, progress_bar(f"Scoring {data.name}") as bar:
        bar.total(1.0)
        kept = Kept(record.schema.text, tuple(ids), record.schema.first_index)
        for chunk in file.chunks(kept):
            positives += scorer.write(chunk, sink, rows)
            rows += chunk.n_rows
            bar.reach(chunk.progress)
    counts = f"{rows} rows, {positives} predicted positive"
    rate = vars(saved.model[-1]).get("predict_fpr_")
    # Models of older releases do not know.
    if rate is not None and not math.isnan(rate):
        counts += f" at the threshold for a false positive rate of {rate:g}"
    promise = promise_of(saved.model[-1])
    if promise is not None:
        counts += f"\nPromise: {promise}"
    if to_stdout:
        print_note(counts)
        return
    result = {
        "scores": str(out),
        "rows": rows,
        "predicted_positive": positives,
        "predict_fpr": rate,
        "promise": promise,
    }
    emit(result, f"{counts}\nScores: {out}", as_json=as_json)


def _write_changes(
    detector: SupervisedChangepointDetector,
    file: TableFile,
    out: Path | None,
    escape_formulas: bool,
    as_json: bool,
) -> None:
    """Write a row per change; to stdout, without a summary there, if ``out`` is None."""
    from aucuba.cli._signals import SignalTable, table_of_changes

    with progress_bar(f"Segmenting {file.path.name}"):
        signals = SignalTable.read(file)
        changes = table_of_changes(detector, signals)
    if escape_formulas:
        changes["sequence"] = _escaped_all(changes["sequence"])
    with _sink(out) as sink:
        changes.to_csv(sink, index=False)
    counts = f"{len(signals.names)} sequences, {len(changes)} changes"
    if out is None:
        print_note(counts)
        return
    result = {"changes": str(out), "sequences": len(signals.names), "n_changes": len(changes)}
    emit(result, f"{counts}\nChanges: {out}", as_json=as_json)


def _check_out(out: Path, both: bool) -> None:
    if both:
        raise ValueError("--json and the scores cannot both go to stdout; give --out a file.")
    if out.suffix.lower() in _OTHER_FORMATS:
        raise ValueError(
            f"The scores are written as csv; name a file that ends in .csv, not {out}."
        )


def _id_columns(given: Sequence[str], file: Any) -> list[str]:
    """Columns to carry along, none of them overwritten."""
    from aucuba.cli._roles import split_names

    names = split_names(given, file.names() if any("," in one for one in given) else ())
    for name in names:
        if name in _WRITTEN:
            raise ValueError(
                f"--id {name} would be overwritten by the column of that name; rename it."
            )
    return names


@contextmanager
def _sink(out: Path | None) -> Iterator[TextIO]:
    """Open where the scores go: stdout, a pipe or device as it stands, or a file that appears whole."""
    from aucuba._base._files import errors_naming, is_stream, written_atomically

    if out is None:
        with stdout_of_a_reader() as sink:
            yield sink
    elif is_stream(out):
        with errors_naming(out), out.open("w", encoding="utf-8", newline="") as sink:
            yield sink
    else:
        with (
            written_atomically(out) as draft,
            draft.open("w", encoding="utf-8", newline="") as sink,
        ):
            yield sink


@dataclass(frozen=True)
class _Scorer:
    """Writes the scores of one table after another."""

    saved: SavedModel
    record: FitRecord
    ids: list[str]
    strict: bool
    escape_formulas: bool

    def write(self, table: Table, sink: TextIO, first_row: int) -> int:
        """Append the table's scores; return how many rows are predicted positive."""
        import numpy as np
        import pandas as pd

        schema, labels = self.record.schema, self.record.labels
        X = schema.features(table, first_row)
        if self.strict:
            schema.refuse_unknown(self.saved.baseline, X)
        score = self.saved.model.decision_function(X)
        positive = score > 0
        predicted: Any = np.where(positive, labels.positive, labels.negative)
        columns: dict[str, Any] = {name: table.column(name, "--id").to_numpy() for name in self.ids}
        if self.escape_formulas:
            # A score may begin with a minus sign, but it is a number.
            columns = {_escaped(name): _escaped_all(texts) for name, texts in columns.items()}
            predicted = _escaped_all(predicted)
        columns["score"] = score
        if hasattr(self.saved.model, "predict_proba"):
            columns["probability"] = self.saved.predict_proba(X)[:, 1]
        frame = pd.DataFrame({**columns, "predicted": predicted})
        frame.to_csv(sink, index=False, header=first_row == 0)
        return int(positive.sum())


def _escaped(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text


def _escaped_all(column: Any) -> list[Any]:
    return [_escaped(value) if isinstance(value, str) else value for value in column]
