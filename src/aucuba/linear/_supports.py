"""Small supports of a linear model: an L1 path and swaps on second-order expansions of a loss."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from sklearn.linear_model import lars_path_gram

from aucuba._base._typing import FloatArray, IntArray

# Columns that are considered at all, and groups tried in a step or a swap.
_MOST_COLUMNS, _MOST_TRIED = 1000, 30
# Ridge relative to the diagonal: columns may repeat each other.
_RIDGE = 1e-6
_MOST_SWAPS = 30

Support = tuple[int, ...]


@dataclass(frozen=True)
class Expansion:
    r"""The loss of linear models near the best one u, to second order, by groups of columns.

    .. math:: L(w) - L(u) \approx \tfrac12 (w - u)^\top H (w - u)

    A support S has the gain :math:`\tfrac12 b_S^\top H_{SS}^{-1} b_S` over the zero model, with
    :math:`b = H u`; the intercept is minimised out. Wang and Leng (2007), "Unified LASSO estimation by
    least squares approximation".

    Parameters
    ----------
    curvature : ndarray of shape (n_columns, n_columns)
        H.
    slope : ndarray of shape (n_columns,)
        b.
    groups : list of ndarray of int
        The columns of every group.
    sign : ndarray of shape (n_columns,)
        1 and -1 where the coefficient must not be negative or positive, else 0.
    """

    curvature: FloatArray
    slope: FloatArray
    groups: Sequence[IntArray]
    sign: FloatArray

    @classmethod
    def of_scores(
        cls, gram: FloatArray, coef: FloatArray, groups: Sequence[IntArray], sign: FloatArray
    ) -> Expansion:
        """Expand about a model whose second derivative is ``gram``, the intercept in its last row."""
        inner = gram[:-1, :-1] - np.outer(gram[:-1, -1], gram[-1, :-1]) / gram[-1, -1]
        diagonal = np.maximum(inner.diagonal(), 0.0)
        inner = inner + np.diag(_RIDGE * (diagonal + _RIDGE * diagonal.max()))
        return cls(inner, inner @ coef, groups, sign)

    def gain(self, support: Support) -> float:
        """Compute the gain of some groups."""
        columns, coef = self.fitted(support)
        return float(self.slope[columns] @ coef) / 2

    def fitted(self, support: Support) -> tuple[IntArray, FloatArray]:
        """Return the columns in use and their coefficients; those of a wrong sign are left out."""
        columns = np.concatenate([self.groups[k] for k in support]) if support else np.zeros(0, int)
        while True:
            if not columns.size:
                return columns, np.zeros(0)
            factor = cho_factor(self.curvature[np.ix_(columns, columns)])
            coef = cho_solve(factor, self.slope[columns])
            wrong = coef * self.sign[columns] < 0
            if not wrong.any():
                return columns, coef
            columns = columns[~wrong]

    def lasso_order(self, most: int) -> list[int]:
        """List the groups in the order in which an L1 path takes in their first columns."""
        scale = np.sqrt(self.curvature.diagonal())
        used = np.flatnonzero(scale > 0)
        used = used[
            np.argsort(-np.abs(self.slope[used] / scale[used]), kind="stable")[:_MOST_COLUMNS]
        ]
        scale = scale[used]
        owner = np.zeros(self.slope.size, dtype=np.intp)
        for k, columns in enumerate(self.groups):
            owner[columns] = k
        _, _, path = lars_path_gram(
            self.slope[used] / scale,
            self.curvature[np.ix_(used, used)] / np.outer(scale, scale),
            n_samples=1,
            method="lasso",
            max_iter=8 * most + 20,
            return_path=True,
        )
        first = np.where(path != 0, np.arange(path.shape[1]), path.shape[1]).min(axis=1)
        seen = np.argsort(first, kind="stable")
        ordered = [int(owner[used[k]]) for k in seen if first[k] < path.shape[1]]
        return list(dict.fromkeys(ordered))

    def candidates(self, support: Support) -> list[int]:
        """List the groups outside that promise most: by the slope that the support leaves."""
        columns, coef = self.fitted(support)
        left = self.slope - self.curvature[:, columns] @ coef
        scaled = left**2 / np.maximum(self.curvature.diagonal(), np.finfo(float).tiny)
        worth = np.array([scaled[group].sum() for group in self.groups])
        worth[list(support)] = -1.0
        order = np.argsort(-worth, kind="stable")[:_MOST_TRIED]
        return [int(k) for k in order if worth[k] > 0]

    def grown(self, support: Support) -> Support:
        """Add the group of the largest gain."""
        tried = [(self.gain((*support, k)), -k) for k in self.candidates(support)]
        return (*support, -max(tried)[1]) if tried else support

    def swaps(self, support: Support) -> list[tuple[float, Support]]:
        """List the supports that differ in one group, by falling gain."""
        found: dict[Support, None] = {}
        for out in support:
            rest = tuple(k for k in support if k != out)
            for new in self.candidates(rest):
                if new != out:
                    found[tuple(sorted((*rest, new)))] = None
        return sorted(((self.gain(one), one) for one in found), key=lambda pair: -pair[0])

    def improved(self, support: Support) -> Support:
        """Swap groups while that raises the gain."""
        support = tuple(sorted(support))
        best = self.gain(support)
        for _ in range(_MOST_SWAPS):
            swaps = self.swaps(support)
            if not swaps or swaps[0][0] <= best * (1 + 1e-9):
                break
            best, support = swaps[0]
        return support

    def path(self, most: int) -> Iterator[Support]:
        """Yield a support of every size: grown by one group from the last, then swapped."""
        support: Support = ()
        for size in range(1, most + 1):
            support = self.improved(self.grown(support))
            if len(support) < size:
                return
            yield support

    def near_best(self, most: int, n_swaps: int) -> list[Support]:
        """List the best support found, from the L1 path or the grown one, and its best swaps."""
        *_, grown = ((), *self.path(most))
        found = [grown, self.improved(tuple(self.lasso_order(most)[:most]))]
        best = max(found, key=self.gain)
        return [best, *(one for _, one in self.swaps(best)[:n_swaps])]
