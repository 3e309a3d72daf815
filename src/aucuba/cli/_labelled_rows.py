"""Labelled rows of a file: read whole for training, or in pieces with a saved model's scores."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
from scipy import sparse
from sklearn.utils import _safe_indexing

from aucuba._base._typing import FloatArray, IntArray
from aucuba._base._warnings import warn_user
from aucuba._roc._flagged import FlaggedRows
from aucuba._rows._sample import Sample
from aucuba.cli._command_options import FitOptions
from aucuba.cli._console import Problems, TableError, print_note
from aucuba.cli._fit_record import FitRecord
from aucuba.cli._formats import Kept
from aucuba.cli._options import LabelledOptions, Range
from aucuba.cli._roles import (
    DEFAULT_TARGET,
    Labels,
    Roles,
    as_sample,
    check_rows,
    label_text,
    split_names,
)
from aucuba.cli._table_file import TableFile
from aucuba.cli._table_schema import FarRows, Schema
from aucuba.metrics import RocSketch
from aucuba.persistence import SavedModel
from aucuba.threshold import FalseDiscoverySelector

# First rows of a table, whose digest identifies it.
_DIGESTED = 1000
# The segment of rows whose cell is empty.
NO_SEGMENT = "(missing)"


@dataclass(frozen=True)
class LabelledTable:
    """The training rows with their features, and the roles of the columns."""

    rows: Sample
    X: Any
    file: TableFile
    labels: Labels
    roles: Roles
    schema: Schema

    @classmethod
    def read(cls, options: FitOptions) -> LabelledTable:
        """Read a file and find its schema; report all problems of the file in one error.

        A detector needs no outliers: if no row has that label, or no row has a label, all are normal.
        """
        file, categories = options.file(), options.category or []
        text = {*split_names(categories, categories), *split_names(categories, ())}
        label = DEFAULT_TARGET if options.target is None else options.target
        table = file.read(Kept(tuple(text), verbatim=(label,)))
        is_detector = options.model == "outliers"
        is_named = options.target is not None or table.matrix is not None
        if is_detector and not is_named and label not in table.names:
            options.refuse("needs --target, the column of labels", "pos_label")
            print_note(
                f"{file.path.name} has no column {label!r}, and --target names no other: no row counts "
                "as an outlier, and every column is a feature."
            )
            table = replace(table, frame=table.frame.assign(**{label: "0"}))
        roles = Roles.from_options(table, options)
        problems = Problems()
        with problems.collected():
            schema = Schema.from_table(table, roles.names, roles.categories)
        with problems.collected():
            target = roles.read_target(table)
            labels = Labels.from_column(target, options.pos_label, is_detector)
        with problems.collected():
            others = roles.read_others(table)
        problems.raise_any()
        rows = as_sample(others.assign(positive=labels.is_positive(target)))
        if not is_detector or rows.positive.any():
            check_rows(rows, labels, roles)
        return cls(rows, schema.features(table), file, labels, roles, schema)

    @property
    def y(self) -> IntArray:
        return self.rows.y

    def take(self, rows: IntArray) -> LabelledTable:
        """Select rows."""
        return replace(self, rows=self.rows.take(rows), X=_safe_indexing(self.X, rows))

    def summary(self) -> dict[str, Any]:
        """Count rows, classes and queries, for messages and metadata."""
        return _summary(self.rows, self.file, self.schema, _fingerprint(self.X, self.rows.n_rows))


class ScoredFile:
    """A labelled file that a saved model scores while it is read, by the model's columns and labels.

    Parameters
    ----------
    saved, record
        The model and its record.
    options : LabelledOptions
        The file, and its columns that are not features.
    reach : callable
        Called after every piece with the fraction of the file read so far.
    """

    def __init__(
        self,
        saved: SavedModel,
        record: FitRecord,
        options: LabelledOptions,
        reach: Callable[[float], None] = lambda fraction: None,
    ) -> None:
        self.saved, self.record, self.options = saved, record, options
        self.file, self._reach = options.file(), reach
        self.far, self.flagged = FarRows(saved.baseline), FlaggedRows()
        self._head: list[Any] = []
        self._n_rows = 0

    def pieces(self) -> Iterator[tuple[pd.DataFrame, Any]]:
        """Read and score the file: frames of positive, score, base, weight and qid, with features."""
        schema, options, model = self.record.schema, self.options, self.saved.model
        # A selection depends on all rows, so they are counted at the end.
        selector = model[-1] if isinstance(model[-1], FalseDiscoverySelector) else None
        waiting = []
        strict = options.refuses_unknown
        target = self.record.target if options.target is None else options.target
        by = vars(options).get("by")
        verbatim = (target,) if by is None or by in schema.text else (target, by)
        for table in self.file.chunks(Kept(schema.text, verbatim, schema.first_index)):
            first = self._n_rows
            X = schema.features(table)
            if strict:
                schema.refuse_unknown(self.saved.baseline, X)
            self.far.update(X)
            if first == 0:
                self.roles = Roles.from_options(table, options, target=target, qid=self.record.qid)
            if first < _DIGESTED:
                self._head.append(X[: _DIGESTED - first])
            self._n_rows += table.n_rows
            rows = self.roles.read_others(table).assign(
                positive=self.record.labels.is_positive(self.roles.read_target(table)),
                score=model.decision_function(X),
                base=self.saved.baseline.decision_function(X),
            )
            if by is not None:
                rows["by"] = table.column(by, "--by").map(label_text, na_action="ignore")
                rows["by"] = rows["by"].astype(object).where(rows["by"].notna(), NO_SEGMENT)
            if selector is None:
                self._count(rows, rows["score"] > 0)
            else:
                waiting.append(rows)
            yield rows, X
            self._reach(table.progress)
        if selector is not None:
            batch = pd.concat(waiting, ignore_index=True)
            self._count(batch, selector.select_scores(batch["score"]).mask)

    def _count(self, rows: pd.DataFrame, flagged: Any) -> None:
        self.flagged.update(rows["positive"], flagged, rows.get("weight"))

    def fingerprint(self) -> str:
        """Digest the rows read; warn if they are training rows, or far from them."""
        digest = _fingerprint(joined_features(self._head), self._n_rows)
        if digest == self.record.training["fingerprint"]:
            warn_user(
                f"{self.file.path.name} contains training rows, so the results are optimistic. "
                "Measure the model on other rows."
            )
        self.far.warn()
        return digest


@dataclass(frozen=True)
class ScoredRows:
    """All rows of a file with both scores: 16 bytes per row, plus weights and queries.

    ``X`` is None unless the features are kept.
    """

    rows: Sample
    score: FloatArray
    base: FloatArray
    summary: dict[str, Any]
    X: Any = None
    by: Any = None

    @classmethod
    def from_file(cls, scored: ScoredFile, keep_features: bool = False) -> ScoredRows:
        """Score a file and keep class, weight, query and scores; both classes must occur."""
        pieces, features = [], []
        for piece, X in scored.pieces():
            pieces.append(piece)
            features += [X] if keep_features else []
        frame = pd.concat(pieces, ignore_index=True)
        rows = as_sample(frame)
        check_rows(rows, scored.record.labels, scored.roles)
        return cls(
            rows,
            frame["score"].to_numpy(),
            frame["base"].to_numpy(),
            _summary(rows, scored.file, scored.record.schema, scored.fingerprint())
            | {"outside": scored.far.n_rows},
            joined_features(features) if keep_features else None,
            frame["by"].to_numpy() if "by" in frame else None,
        )

    @property
    def y(self) -> IntArray:
        return self.rows.y

    @property
    def weight_and_query(self) -> dict[str, Any]:
        """The keyword arguments of metrics."""
        return {"sample_weight": self.rows.weight, "qid": self.rows.query}


@dataclass(frozen=True)
class SketchedRows:
    """Sketches of the scores of the model and of logistic regression, which keep only the top rows."""

    score: RocSketch
    base: RocSketch
    summary: dict[str, Any]

    @classmethod
    def from_file(cls, scored: ScoredFile, fpr_range: Range, capacity: int | None) -> SketchedRows:
        """Score a file and keep only sketches of the given or the default capacity."""
        params: dict[str, Any] = {} if capacity is None else {"capacity": capacity}
        score, base = (RocSketch(fpr_range, **params) for _ in range(2))
        for piece, _ in scored.pieces():
            if "qid" in piece:
                raise TableError(
                    f"--region-only does not support queries (column {scored.roles.qid!r}); leave "
                    "--region-only out."
                )
            score.update(piece["positive"], piece["score"], piece.get("weight"))
            base.update(piece["positive"], piece["base"], piece.get("weight"))
        counts = {"rows": score.n_rows, "positives": score.n_positives}
        known = {"file": scored.file.path.name, "fingerprint": scored.fingerprint()}
        return cls(score, base, {**known, **counts, "outside": scored.far.n_rows})


def joined_features(parts: list[Any]) -> Any:
    """Join the features of the pieces of a file."""
    return parts[0] if len(parts) == 1 else pd.concat(parts, ignore_index=True)


def _fingerprint(X: Any, n_rows: int) -> str:
    """Digest the first rows of a table, to recognise training data in any file."""
    if sparse.issparse(X):
        part = X[:_DIGESTED]
        content = part.indices.tobytes() + part.data.tobytes()
    else:
        # Reading csv may round the last digit.
        content = X.iloc[:_DIGESTED].to_csv(index=False, float_format="%.9g").encode()
    return hashlib.sha256(f"{n_rows} rows ".encode() + content).hexdigest()[:32]


def _summary(rows: Sample, file: TableFile, schema: Schema, digest: str) -> dict[str, Any]:
    return {
        "file": file.path.name,
        "fingerprint": digest,
        "rows": rows.n_rows,
        "positives": int(rows.positive.sum()),
        "features": schema.width,
        "queries": None if rows.query is None else int(rows.query.max()) + 1,
    }
