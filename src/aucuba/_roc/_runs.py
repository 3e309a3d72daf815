"""Sorted rows joined into runs on which every resampled ROC curve is straight."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aucuba._base._typing import AnyArray, FloatArray, IntArray
from aucuba._roc._curve import RocCurve, lightest_rows
from aucuba._rows._sample import RankingSample


@dataclass(frozen=True)
class Runs:
    """Rows of one scorer in decreasing order of score, joined into runs.

    A ROC curve goes straight through a block of equal scores, and straight on through neighbouring
    blocks of one and the same class, whatever the weights of the rows. So the curves of all resamples
    come from one sort and the weights of the runs, of which there are at most twice as many as rows
    of the rarer class where scores differ.

    Parameters
    ----------
    slot : ndarray of int
        Where every row counts: run r has the negatives r and the positives ``n_runs + r``.
    threshold : ndarray
        Lowest score of every run.
    row_weight : ndarray or None
        Weight of the lightest row of every run; None where every row weighs 1 or more.
    """

    slot: IntArray
    threshold: FloatArray
    row_weight: FloatArray | None = None

    @classmethod
    def from_sample(
        cls, sample: RankingSample, cuts: tuple[float, ...] | None = (), steps: bool = False
    ) -> Runs:
        """Sort and join the rows, but not across thresholds in ``cuts``; None joins nothing.

        With ``steps`` blocks of positives are not joined either: a measure may have a step at each.
        """
        rows = sample.ranked
        positive = sample.positive[rows.order]
        sizes = np.diff(rows.block_end, prepend=-1)
        hits = np.add.reduceat(positive, rows.block_end + 1 - sizes, dtype=np.intp)
        pure = np.where(hits == 0, 0, np.where(hits == sizes, 1, 2))
        apart = (pure[1:] != pure[:-1]) | (pure[1:] == 2) | (cuts is None)
        apart |= steps & (pure[1:] == 1)
        for cut in cuts or ():
            apart |= (rows.threshold[:-1] >= cut) & (rows.threshold[1:] < cut)
        new = np.append(True, apart)
        run = np.repeat(np.cumsum(new) - 1, sizes)
        n_runs = int(run[-1]) + 1
        slot = np.empty(sample.n_rows, dtype=np.intp)
        slot[rows.order] = run + n_runs * positive
        first = np.flatnonzero(new)
        last = np.append(first[1:] - 1, new.size - 1)
        lightest = None
        if sample.weight is not None:
            lightest = lightest_rows(sample.weight[rows.order], (rows.block_end + 1 - sizes)[first])
        return cls(slot, rows.threshold[last], lightest)

    @property
    def n_runs(self) -> int:
        return int(self.threshold.size)

    def curves(self, totals: AnyArray) -> RocCurve:
        """Return the curves of runs whose slots have given weights, shape (..., 2 n_runs)."""
        from aucuba._roc._loops import cumulate

        cumulated = np.empty((*totals.shape[:-1], 2, self.n_runs + 1))
        by_class = totals.reshape(-1, self.n_runs)
        cumulate(by_class, cumulated.reshape(-1, self.n_runs + 1))
        return RocCurve(cumulated[..., 0, :], cumulated[..., 1, :], self.threshold, self.row_weight)
