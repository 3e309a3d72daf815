"""Labelled rows of a file with their scores; the features are dropped piece by piece."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from aucuba._base._typing import BoolArray, FloatArray, IntArray
from aucuba._rows._sample import Sample
from aucuba.cli._errors import TableError
from aucuba.cli._pieces import (
    DIGESTED,
    LabelledPiece,
    fingerprint,
    labelled_pieces,
    rows_of_pieces,
    summary_of_rows,
    warn_if_trained_on,
)
from aucuba.cli._record import FitRecord
from aucuba.cli._roles import Roles
from aucuba.cli._tables import TableFile
from aucuba.metrics import RocSketch
from aucuba.persistence import SavedModel


@dataclass(frozen=True)
class ScoredPiece:
    """Some rows: class, weight, query, and scores of the model and of logistic regression."""

    positive: BoolArray
    weight: FloatArray | None
    query: pd.Series | None
    roles: Roles
    score: FloatArray
    base: FloatArray


class ScoredFile:
    """A labelled file that a saved model scores as it is read.

    Parameters
    ----------
    saved, record, file
        The model, its record and the data file.
    reach : callable
        Told after every piece which fraction of the file has been read.
    **options
        As in `aucuba.cli._pieces.labelled_pieces`.
    """

    def __init__(
        self,
        saved: SavedModel,
        record: FitRecord,
        file: TableFile,
        reach: Callable[[float], None],
        **options: Any,
    ) -> None:
        self.saved, self.record, self.file = saved, record, file
        self._reach, self._options = reach, options
        self._head: list[Any] = []
        self._n_rows = 0

    def pieces(self) -> Iterator[ScoredPiece]:
        """Read and score the file."""
        for piece in labelled_pieces(self.saved, self.record, self.file, **self._options):
            self._keep_head(piece)
            yield ScoredPiece(
                piece.positive,
                piece.weight,
                piece.query,
                piece.roles,
                self.saved.model.decision_function(piece.X),
                self.saved.baseline.decision_function(piece.X),
            )
            self._reach(piece.progress)

    def fingerprint(self) -> str:
        """Digest the rows that have been read, and warn if the model was trained on them."""
        X = self._head[0] if len(self._head) == 1 else pd.concat(self._head, ignore_index=True)
        digest = fingerprint(X, self._n_rows)
        warn_if_trained_on(digest, self.file, self.record)
        return digest

    def _keep_head(self, piece: LabelledPiece) -> None:
        if self._n_rows < DIGESTED:
            self._head.append(piece.X[: DIGESTED - self._n_rows])
        self._n_rows += piece.positive.size


@dataclass(frozen=True)
class ScoredRows:
    """All rows of a file with both scores: 16 bytes per row, and what weights and queries take."""

    rows: Sample
    score: FloatArray
    base: FloatArray
    summary: dict[str, Any]

    @classmethod
    def from_file(cls, scored: ScoredFile) -> ScoredRows:
        """Score a file and keep class, weight, query and scores."""
        pieces = list(scored.pieces())
        rows = rows_of_pieces(pieces, scored.record)
        digest = scored.fingerprint()
        return cls(
            rows,
            np.concatenate([piece.score for piece in pieces]),
            np.concatenate([piece.base for piece in pieces]),
            summary_of_rows(rows, scored.file, scored.record.schema, digest),
        )

    @property
    def y(self) -> IntArray:
        return self.rows.positive.astype(np.intp)

    @property
    def weight_and_query(self) -> dict[str, Any]:
        """Keywords of metrics."""
        return {"sample_weight": self.rows.weight, "qid": self.rows.query}


@dataclass(frozen=True)
class SketchedRows:
    """Sketches of the model's scores and of logistic regression's: of all rows only the top is kept."""

    score: RocSketch
    base: RocSketch
    summary: dict[str, Any]

    @classmethod
    def from_file(
        cls, scored: ScoredFile, fpr_range: tuple[float, float], capacity: int | None
    ) -> SketchedRows:
        """Score a file and keep sketches alone, of a capacity or the default one."""
        params: dict[str, Any] = {} if capacity is None else {"capacity": capacity}
        score, base = (RocSketch(fpr_range, **params) for _ in range(2))
        for piece in scored.pieces():
            if piece.query is not None:
                raise TableError(
                    f"--region-only knows no queries, and {piece.roles.qid!r} is a column of them; "
                    "leave --region-only out."
                )
            score.update(piece.positive, piece.score, piece.weight)
            base.update(piece.positive, piece.base, piece.weight)
        counts = {"rows": score.n_rows, "positives": score.n_positives}
        return cls(
            score,
            base,
            {"file": scored.file.path.name, "fingerprint": scored.fingerprint(), **counts},
        )
