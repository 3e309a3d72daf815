"""Label errors of many sequences at once, as functions of a common shift of their penalties."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aucuba._base._typing import FloatArray, IntArray
from aucuba.changepoint._label_errors import LabelErrors


@dataclass(frozen=True)
class ErrorTotals:
    """The tables of several sequences, one after the other.

    Row r belongs to sequence ``owner[r]`` and holds for log penalties up to ``end[r]``; the rows of a
    sequence begin at ``first``.
    """

    owner: IntArray
    end: FloatArray
    fp: FloatArray
    fn: FloatArray
    first: IntArray

    @classmethod
    def from_tables(cls, errors: Sequence[LabelErrors]) -> ErrorTotals:
        """Join the tables of several sequences."""
        size = np.array([table.fp.size for table in errors], dtype=np.intp)
        return cls(
            np.repeat(np.arange(size.size), size),
            np.concatenate([table.max_log_penalty for table in errors]),
            np.concatenate([table.fp for table in errors]),
            np.concatenate([table.fn for table in errors]),
            np.concatenate([[0], np.cumsum(size)[:-1]]).astype(np.intp),
        )

    @classmethod
    def from_intervals(cls, limits: FloatArray) -> ErrorTotals:
        """One error below each lower limit and one above each upper limit."""
        n = len(limits)
        end = np.column_stack([limits, np.full(n, np.inf)])
        # A limit that is missing has no row: the one within begins, or ends, the table.
        exists = np.column_stack([np.isfinite(limits), np.ones(n, dtype=bool)])
        fp, fn = np.zeros((n, 3)), np.zeros((n, 3))
        fp[:, 0] = 1.0
        fn[:, 2] = exists[:, 1]
        size = exists.sum(axis=1)
        first = np.concatenate([[0], np.cumsum(size)[:-1]]).astype(np.intp)
        return cls(np.repeat(np.arange(n), size), end[exists], fp[exists], fn[exists], first)

    @property
    def n_sequences(self) -> int:
        return int(self.first.size)

    def weighted(self, weight: FloatArray) -> ErrorTotals:
        """Count the errors of each sequence so many times."""
        factor = weight[self.owner]
        return ErrorTotals(self.owner, self.end, factor * self.fp, factor * self.fn, self.first)

    def take(self, rows: IntArray) -> ErrorTotals:
        """The tables of some sequences."""
        size = np.diff(np.append(self.first, self.owner.size))[rows]
        first = np.concatenate([[0], np.cumsum(size)[:-1]]).astype(np.intp)
        index = np.arange(size.sum()) + np.repeat(self.first[rows] - first, size)
        owner = np.repeat(np.arange(len(rows)), size)
        return ErrorTotals(owner, self.end[index], self.fp[index], self.fn[index], first)

    def at(self, log_penalty: FloatArray) -> FloatArray:
        """Label errors of each sequence at its log penalty."""
        passed = self.end <= log_penalty[self.owner]
        row = self.first + np.bincount(self.owner[passed], minlength=self.n_sequences)
        errors: FloatArray = self.fp[row] + self.fn[row]
        return errors

    def along(self, f: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Totals as functions of a constant added to ``f = -log(penalty)``.

        Returns the increasing shifts at which they change, and the false positives and false
        negatives before, between and after them (one entry more).
        """
        inside = np.flatnonzero(self.owner[1:] == self.owner[:-1])
        at = -self.end[inside] - f[self.owner[inside]]
        jumps = [-(part[inside + 1] - part[inside]) for part in (self.fp, self.fn)]
        moves = np.flatnonzero((jumps[0] != 0) | (jumps[1] != 0))
        order = moves[np.argsort(at[moves], kind="stable")]
        shift, start = np.unique(at[order], return_index=True)
        last = np.append(self.first[1:], self.owner.size) - 1
        totals = []
        for part, jump in zip((self.fp, self.fn), jumps, strict=True):
            steps = np.add.reduceat(jump[order], start) if shift.size else np.empty(0)
            totals.append(part[last].sum() + np.concatenate([[0.0], np.cumsum(steps)]))
        return shift, totals[0], totals[1]

    def best_shift(self, f: FloatArray) -> float:
        """The shift with the fewest errors; see `best_shift`."""
        shift, fp, fn = self.along(f)
        low, high, _ = widest_minimum(shift, fp + fn)
        if np.isfinite(low) and np.isfinite(high):
            return (low + high) / 2
        if np.isfinite(low):
            return low + 1.0
        return high - 1.0 if np.isfinite(high) else 0.0


def best_shift(errors: Sequence[LabelErrors], f: FloatArray) -> float:
    """Find the constant that, added to ``f = -log(penalty)``, makes the fewest label errors.

    The middle of the widest interval of such constants; where that is unbounded on one side, a point
    one unit inside its end.

    Parameters
    ----------
    errors : list of LabelErrors
    f : ndarray of shape (n_sequences,)
        Minus the log penalties; zeros for the best constant penalty.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> from aucuba.changepoint import Label, best_shift, label_errors, segment
    >>> step = label_errors(segment([0, 0, 0, 9, 9, 9], 4), [Label(1, 4, "one")])
    >>> bool(step.at(-best_shift([step], np.zeros(1))) == (0.0, 0.0))
    True
    """
    return ErrorTotals.from_tables(errors).best_shift(np.asarray(f, dtype=np.float64))


def widest_minimum(shift: FloatArray, total: FloatArray) -> tuple[float, float, int]:
    """The widest interval of least errors, and the entry of ``total`` where it begins."""
    edges = np.concatenate([[-np.inf], shift, [np.inf]])
    # Weighted labels add up with rounding.
    best = total <= total.min() + 1e-9 * max(1.0, float(total.max()))
    change = np.diff(np.concatenate([[False], best, [False]]).astype(np.int8))
    first, end = np.flatnonzero(change == 1), np.flatnonzero(change == -1)
    widest = int(np.argmax(edges[end] - edges[first]))
    return float(edges[first[widest]]), float(edges[end[widest]]), int(first[widest])
