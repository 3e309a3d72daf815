"""Choose fewer rows to train on: those that matter in a narrow region, and a sample of the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from aucuba._base._typing import FloatArray, IntArray
from aucuba._base._validation import check_positive_number
from aucuba._roc._region import Region
from aucuba._rows._splits import Split
from aucuba.ensemble._table import TrainingTable

# Negatives up to this many times the upper limit of the region are kept if there is room.
_TIMES_UPPER_LIMIT = 20.0
_FEWEST_ROWS = 100


@dataclass(frozen=True)
class RowSampling:
    """The rows to train on, and factors that let their weights represent the rows left out.

    Parameters
    ----------
    rows : ndarray of int or None
        Indices of the rows in order; None if all rows train.
    factor : ndarray of float or None
        A factor for every row of the table, 1 for a row that represents only itself.
    """

    rows: IntArray | None = None
    factor: FloatArray | None = None

    def restricted(self, splits: list[Split]) -> list[Split]:
        """Train on the sampled rows only; test on all."""
        if self.rows is None:
            return splits
        return [(np.intersect1d(train, self.rows), test) for train, test in splits]

    def weighted(self, table: TrainingTable) -> TrainingTable:
        """Multiply the weights by the factors."""
        return table if self.factor is None else table.reweighted(self.factor)

    def trained(self, table: TrainingTable) -> TrainingTable:
        """Select the rows to train on, with their weights."""
        return table if self.rows is None else self.weighted(table).take(self.rows)


ALL_ROWS = RowSampling()


def check_max_rows(max_rows: Any) -> int | None:
    """Check the largest number of rows to train on; None means all."""
    if max_rows is None:
        return None
    number = int(check_positive_number(max_rows, "max_rows", integer=True))
    if number < _FEWEST_ROWS:
        raise ValueError(f"max_rows must be at least {_FEWEST_ROWS}, got {max_rows!r}.")
    return number


def sample_rows(
    base: Any, table: TrainingTable, region: Region, max_rows: int | None, seed: int
) -> RowSampling:
    """Choose at most ``max_rows`` rows to train on.

    All positives are kept, or a uniform sample of them if they exceed half of ``max_rows``. Half of the
    remaining room, at most, is for the negatives that a first model, fitted on a uniform sample, ranks
    highest, up to 20 times the upper limit of the region. The rest is a uniform sample of all
    other negatives, weighted to represent those left out.
    """
    positive = table.sample.positive
    if max_rows is None or max_rows >= positive.size:
        return ALL_ROWS
    rng = check_random_state(seed)
    factor = np.ones(positive.size)
    kept = _drawn(np.flatnonzero(positive), max_rows // 2, factor, rng)
    negatives = np.flatnonzero(~positive)
    room = max_rows - kept.size
    if room < negatives.size:
        first = factor.copy()
        sampled = np.sort(np.concatenate([kept, _drawn(negatives, room, first, rng)]))
        top = _highest(base, RowSampling(sampled, first), table, negatives, region, room // 2)
        others = _drawn(np.setdiff1d(negatives, top), room - top.size, factor, rng)
        negatives = np.concatenate([top, others])
    return RowSampling(np.sort(np.concatenate([kept, negatives])), factor)


def _drawn(rows: IntArray, most: int, factor: FloatArray, rng: Any) -> IntArray:
    """Draw at most ``most`` rows uniformly and set the factors of those drawn."""
    if rows.size <= most:
        return rows
    drawn = rng.choice(rows, most, replace=False)
    factor[drawn] = rows.size / most
    return np.asarray(drawn, dtype=np.intp)


def _highest(
    base: Any,
    first: RowSampling,
    table: TrainingTable,
    negatives: IntArray,
    region: Region,
    most: int,
) -> IntArray:
    """Return the negatives that a model of the first sample ranks highest."""
    wanted = int(np.ceil(_TIMES_UPPER_LIMIT * region.upper_limit * negatives.size))
    scores = table.take(negatives).scores(first.trained(table).fitted(base))
    count = min(wanted, most)
    return negatives[np.argsort(-scores, kind="stable")[:count]]
