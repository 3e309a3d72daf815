"""The command ``aucuba predict``."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import pandas as pd
from sklearn.utils import _safe_indexing

from aucuba._base._estimator import promised_steps
from aucuba._base._files import (
    check_place,
    errors_naming,
    is_stream,
    note_stream,
    written_atomically,
)
from aucuba.changepoint import SupervisedChangepointDetector
from aucuba.cli._command_options import PredictOptions
from aucuba.cli._console import emit, print_note, progress_bar, stdout_of_a_reader
from aucuba.cli._fit_record import FitRecord, fit_record
from aucuba.cli._formats import Kept, Table
from aucuba.cli._labelled_rows import joined_features
from aucuba.cli._roles import split_names
from aucuba.cli._row_reasons import reason_columns
from aucuba.cli._signal_table import SignalTable
from aucuba.cli._table_file import TableFile
from aucuba.cli._table_schema import FarRows
from aucuba.persistence import SavedModel, load_model
from aucuba.scorecard import RegionScorecard
from aucuba.threshold import FalseDiscoverySelector, TriageClassifier

ACTIONS = ("clear", "review", "block")
_WRITTEN = ("score", "probability", "p_value", "predicted", "action")
# Characters that spreadsheets read as the start of a formula, directly or after trimming.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")
_OTHER_FORMATS = (".gz", ".npz", ".parquet", ".pq", ".tsv")


def run(options: PredictOptions) -> None:
    """Score the rows of a file, or find the changes of its signals."""
    strict, out = options.refuses_unknown, _checked_out(options)
    saved, file = load_model(options.model), options.file()
    if isinstance(saved.model, SupervisedChangepointDetector):
        options.refuse(
            "does not apply to a changepoint model", "id", "unknown", "top", "sort", "reasons"
        )
        _write_changes(saved.model, file, out, options)
        return
    record = fit_record(saved, options.model)
    ranked = options.sort or options.top is not None
    ids = _id_columns(options.id or [], file, _written(options, saved, ranked))
    far, rows, positives = FarRows(saved.baseline), 0, 0
    best, features, actions = list[pd.DataFrame](), list[Any](), Counter[str]()
    kept = Kept(record.schema.text, tuple(ids), record.schema.first_index)
    with _sink(out) as sink, progress_bar(f"Scoring {options.data.name}", 1.0) as bar:
        for table, X, decided in _decided_chunks(saved, record, file, kept, strict, far):
            carried = {name: table.column(name, "--id").to_numpy() for name in ids}
            positives += int(decided.pop("positive").sum())
            actions.update(decided.get("action", ()))
            frame = _output_rows(carried, decided, options.escape_formulas)
            if ranked:
                frame.insert(0, "row", np.arange(rows + 1, rows + 1 + len(frame)))
                best.append(frame)
                features += [X] if options.reasons else []
                if options.top:
                    best = [_ranked(best, options.top)]
                    features = _rows_of(features, best[0])
            else:
                frame = _with_reasons(saved, frame, X, options)
                frame.to_csv(sink, index=False, header=rows == 0)
            rows += table.n_rows
            bar.reach(table.progress)
        if ranked:
            frame = _ranked(best, options.top)
            for X in _rows_of(features, frame):
                frame = _with_reasons(saved, frame, X, options)
            frame.to_csv(sink, index=False)
    far.warn()
    selects = isinstance(saved.model[-1], FalseDiscoverySelector)
    chosen = "selected" if selects else f"predicted positive ({record.labels.positive})"
    counts = f"{rows} rows, {positives} {chosen}"
    if actions:
        counts = f"{rows} rows: " + ", ".join(f"{actions[one]} {one}" for one in ACTIONS)
    fitted = vars(saved.model[-1])
    rate, promise = fitted.get("predict_fpr_"), fitted.get("promise_")
    if rate is not None and not math.isnan(rate):
        counts += f" at the threshold for a false positive rate of {rate:g}"
    if promise is not None:
        counts += f"\nPromise: {promise}"
    result = {
        "rows": rows,
        "predicted_positive": positives,
        **({"actions": {one: actions[one] for one in ACTIONS}} if actions else {}),
        "predict_fpr": rate,
        "promise": promise,
        "outside": far.n_rows,
    }
    _print_counts(counts, "scores", result, out, options.json)


def _decided_chunks(
    saved: SavedModel, record: FitRecord, file: TableFile, kept: Kept, strict: bool, far: FarRows
) -> Iterator[tuple[Table, Any, dict[str, Any]]]:
    """Read the file in pieces; return each with its features and the model's scores and decisions.

    A selection depends on all rows, so the file is then read twice, and only its scores are kept.
    """
    last = saved.model[-1]

    def read() -> Iterator[tuple[Table, Any]]:
        for table in file.chunks(kept):
            X = record.schema.features(table)
            if strict:
                record.schema.refuse_unknown(saved.baseline, X)
            far.update(X)
            yield table, X

    if not isinstance(last, FalseDiscoverySelector):
        yield from ((table, X, _decided(saved, record, X)) for table, X in read())
        return
    score = np.concatenate([saved.decision_function(X) for _, X in read()])
    selected, p = last.select_scores(score)
    start = 0
    for table in file.chunks(kept):
        rows = slice(start, start + table.n_rows)
        start += table.n_rows
        label = np.where(selected[rows], record.labels.positive, record.labels.negative)
        columns = {"score": score[rows], "p_value": p[rows], "predicted": label}
        yield table, record.schema.features(table), {"positive": selected[rows], **columns}


def _decided(saved: SavedModel, record: FitRecord, X: Any) -> dict[str, Any]:
    """Score some rows and decide about each of them separately."""
    score, last = saved.decision_function(X), saved.model[-1]
    columns: dict[str, Any] = {"positive": score > 0, "score": score}
    if hasattr(saved.model, "predict_proba"):
        columns["probability"] = saved.predict_proba(X)[:, 1]
    columns["predicted"] = np.where(score > 0, record.labels.positive, record.labels.negative)
    if isinstance(last, TriageClassifier):
        columns["action"] = last.actions(saved.model[:-1].transform(X))
    *steps, card = promised_steps(last)
    if isinstance(card, RegionScorecard):
        for step in (*saved.model[:-1], *steps):
            X = step.transform(X)
        columns["total"] = card.total(X)
    return columns


def _written(options: PredictOptions, saved: SavedModel, ranked: bool) -> list[str]:
    """List the columns that are written beside the copied ones."""
    reasons = [f"reason_{k + 1}" for k in range(options.reasons or 0)]
    has_total = isinstance(promised_steps(saved.model[-1])[-1], RegionScorecard)
    return [*_WRITTEN, *reasons, *["row"] * ranked, *["total"] * has_total]


def _output_rows(carried: dict[str, Any], decided: dict[str, Any], escape: bool) -> pd.DataFrame:
    """Join scores and decisions with the copied columns."""
    if escape:
        # A score may begin with a minus sign, but it is a number.
        carried = {_escaped(name): _escaped_all(texts) for name, texts in carried.items()}
        decided = {**decided, "predicted": _escaped_all(decided["predicted"])}
    return pd.DataFrame({**carried, **decided})


def _ranked(frames: list[pd.DataFrame], top: int | None) -> pd.DataFrame:
    """Join rows by decreasing score, ties in the order of the file; keep the ``top`` ones."""
    joined = pd.concat(frames, ignore_index=True)
    return joined.sort_values("score", ascending=False, kind="stable").iloc[:top]


def _rows_of(features: list[Any], ranked: pd.DataFrame) -> list[Any]:
    """Select the features of ranked rows by their index; return nothing if none were kept."""
    return [_safe_indexing(joined_features(features), ranked.index.to_numpy())] if features else []


def _with_reasons(
    saved: SavedModel, frame: pd.DataFrame, X: Any, options: PredictOptions
) -> pd.DataFrame:
    """Add the reasons that were asked for."""
    if not options.reasons:
        return frame
    columns: dict[str, Any] = reason_columns(saved, X, options.reasons)
    if options.escape_formulas:
        columns = {name: _escaped_all(texts) for name, texts in columns.items()}
    return frame.assign(**columns)


def _write_changes(
    detector: SupervisedChangepointDetector,
    file: TableFile,
    out: Path | None,
    options: PredictOptions,
) -> None:
    """Write a row per change: the first sample of a new segment, in the unit of the signals."""
    with progress_bar(f"Segmenting {file.path.name}"):
        signals = SignalTable.read(file)
        found = detector.predict(signals.frame)
    names: Any = np.repeat(np.array(signals.names, dtype=object), [len(one) for one in found])
    if options.escape_formulas:
        names = _escaped_all(names)
    changes = pd.DataFrame({"sequence": names, signals.unit or "index": np.concatenate(found)})
    with _sink(out) as sink:
        changes.to_csv(sink, index=False)
    result = {"sequences": len(signals.names), "n_changes": len(changes)}
    counts = f"{len(signals.names)} sequences, {len(changes)} changes"
    _print_counts(counts, "changes", result, out, options.json)


def _print_counts(
    counts: str, written: str, result: dict[str, Any], out: Path | None, as_json: bool
) -> None:
    """Print what was written; as a note on stderr if the rows went to stdout."""
    if out is None:
        for line in counts.splitlines():
            print_note(line)
        return
    shown = f"{counts}\n{written.capitalize()}: {out}"
    emit({written: str(out), **result}, shown, as_json=as_json)


def _checked_out(options: PredictOptions) -> Path | None:
    """Return the file to write, or None for stdout."""
    out = options.out
    if str(out) in ("-", "/dev/stdout"):
        if options.json:
            raise ValueError("--json and the scores cannot both go to stdout; give --out a file.")
        return None
    if out.suffix.lower() in _OTHER_FORMATS:
        raise ValueError(
            f"The scores are written as csv; name a file that ends in .csv, not {out}."
        )
    check_place(out, options.model, options.data)
    return out


def _id_columns(given: list[str], file: TableFile, written: list[str]) -> list[str]:
    """List the columns to copy; none may have the name of an output column."""
    names = split_names(given, file.names() if any("," in one for one in given) else ())
    for name in names:
        if name in written:
            raise ValueError(
                f"--id {name} has the name of an output column; rename it in the file."
            )
    return names


@contextmanager
def _sink(out: Path | None) -> Iterator[TextIO]:
    """Open the output: stdout, a pipe or a device directly, or a file that appears only when whole."""
    if out is None:
        note_stream("stdout")
        with stdout_of_a_reader() as sink:
            yield sink
    elif is_stream(out):
        note_stream(str(out))
        with errors_naming(out), out.open("w", encoding="utf-8", newline="") as sink:
            yield sink
    else:
        with (
            written_atomically(out) as draft,
            draft.open("w", encoding="utf-8", newline="") as sink,
        ):
            yield sink


def _escaped(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text


def _escaped_all(column: Any) -> list[Any]:
    return [_escaped(value) if isinstance(value, str) else value for value in column]
