"""Means of a risk over queries: all queries in one compiled loop."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from aucuba._base._arrays import Vector, arrays_of
from aucuba._base._typing import AnyArray, FloatArray
from aucuba._roc._region import RankWeights
from aucuba._rows._sample import Sample
from aucuba.risks._prefix_hinge import KINK, most_ranks
from aucuba.risks._ramp import RAMP_WIDTH, ramp_shift

# Numbers below this fit into sixteen bits.
_FEW = 2**16
# A row is compared with this many others in less time than it is sorted in.
_PAIRS_PER_ROW = 32


class QueryRisk(ABC):
    """``R(s) = mean over queries of R_query(s restricted to the query)``.

    Queries without both classes cannot be ranked: their rows get a zero gradient, and the caller warns
    about them. Queries are many and small, so they are compared on the host, wherever the scores are.

    Parameters
    ----------
    sample : Sample
        Class, weight and query of every row.
    min_tpr : float
        Lowest true positive rate that counts, in every query.
    """

    lower_bound = 0.0

    def __init__(self, sample: Sample, min_tpr: float) -> None:
        sample = sample.on_host()
        assert sample.query is not None
        if not sample.has_pairs:
            raise ValueError("No query in qid has both a positive and a negative row.")
        by_class = sample.class_in_query
        if 2 * sample.rankable.size <= _FEW:
            # NumPy sorts short numbers by their digits.
            by_class = by_class.astype(np.uint16)
        order, counts = np.argsort(by_class, kind="stable"), sample.rankable
        self.rows = order if counts.all() else order[counts[sample.query[order]]]
        size, n_positives = (one[counts] for one in sample.query_sizes)
        self.start, self.n_negatives = np.cumsum(np.append(0, size)), size - n_positives
        self.weight, self.part = sample.weights, 1.0 - min_tpr
        # Where the rows of either class of every query begin, negatives first, and their weights.
        first = self.start[:-1]
        self.bounds = np.stack([first, first + self.n_negatives], axis=1).ravel()
        self.of_negatives, self.of_positives = 1.0 * self.n_negatives, 1.0 * n_positives
        if sample.weight is not None:
            self.of_negatives, self.of_positives = self._by_class(np.add.reduceat, self.weight)

    def _by_class(self, reduce: Any, values: AnyArray) -> AnyArray:
        """Reduce the values of negatives and positives, shape (2, n_queries)."""
        return np.asarray(reduce(values[self.rows], self.bounds).reshape(-1, 2).T)

    def _per_row(self, of_negatives: AnyArray, of_positives: AnyArray) -> AnyArray:
        """Repeat a value of each class of every query for its rows, in the order of the sample."""
        sizes = np.diff(self.bounds, append=self.rows.size)
        values = np.stack([of_negatives, of_positives], axis=1).ravel()
        per_row = np.zeros(self.weight.size, dtype=values.dtype)
        per_row[self.rows] = np.repeat(values, sizes)
        return per_row

    @abstractmethod
    def _summed(self, scores: FloatArray, gradient: FloatArray) -> float:
        """Sum the risks of the queries, divided by their number, and write the gradient."""

    def value_and_gradient(self, scores: Vector) -> tuple[float, Vector]:
        arrays = arrays_of(scores)
        host = arrays.host(scores)
        gradient = np.zeros(host.size)
        return self._summed(host, gradient), arrays.vector(gradient)


class QueryHinge(QueryRisk):
    """The mean of `PrefixHinge` over queries; its parameters are those of that class.

    One negative is a weight of 1 where all weights of the query's negatives are whole numbers, else
    their mean.
    """

    is_convex = True

    def __init__(
        self,
        sample: Sample,
        rank_weights: RankWeights,
        mass_weights: RankWeights,
        min_tpr: float = 0.0,
    ) -> None:
        super().__init__(sample, min_tpr)
        n, positives = self.of_negatives, self.of_positives
        if sample.weight is not None:
            whole = self._by_class(np.logical_and.reduceat, self.weight % 1.0 == 0.0)[0]
            unit = np.where(whole, 1.0, n / self.n_negatives)
            unit = np.maximum(unit, n / most_ranks(rank_weights, self.n_negatives))
            # Divided by a power of two, to a sum in [1/2, 1), positives have finite products.
            power = np.ldexp(1.0, -np.frexp(positives)[1])
            self.weight = self.weight * self._per_row(1.0 / unit, power)
            n, positives = n / unit, positives * power
        self.total = positives * self.part * n * rank_weights.total * n.size
        sizes, self.step_table = np.unique(n, return_inverse=True)
        steps = [_steps(float(one), rank_weights, mass_weights) for one in sizes]
        self.steps = np.concatenate(steps)
        self.step_start = np.cumsum([0, *(len(one) for one in steps)])

    def _summed(self, scores: FloatArray, gradient: FloatArray) -> float:
        from aucuba.risks import _loops

        layout = (self.weight, self.rows, self.start, self.n_negatives)
        steps = (self.steps, self.step_start, self.step_table)
        return float(
            _loops.prefix_hinges(scores, *layout, *steps, self.total, self.part, KINK, gradient)
        )


class QueryPairs(QueryRisk):
    """The mean of `PairwiseHinge` over queries, pair by pair.

    Queries of up to a hundred rows have few pairs per row: comparing all takes less time than a sort.
    """

    is_convex = True

    def __init__(self, sample: Sample) -> None:
        super().__init__(sample, min_tpr=0.0)
        self.share = np.full(self.n_negatives.size, 1.0 / self.n_negatives.size)
        if sample.weight is None:
            self.share /= self.of_negatives * self.of_positives
        else:
            # Products of parts of a sum are finite whatever the weights are.
            sums = self._per_row(self.of_negatives, self.of_positives)
            self.weight = np.divide(self.weight, sums, out=np.zeros(sums.size), where=sums > 0)

    @staticmethod
    def are_few(sample: Sample) -> bool:
        """Tell whether pairs are so few that comparing all is faster than `QueryHinge`."""
        size, n_positives = sample.query_sizes
        return bool(n_positives @ (size - n_positives) <= _PAIRS_PER_ROW * sample.n_rows)

    def _summed(self, scores: FloatArray, gradient: FloatArray) -> float:
        from aucuba.risks import _loops

        layout = (self.weight, self.rows, self.start, self.n_negatives, self.share)
        return float(_loops.pairwise_hinges(scores, *layout, KINK, gradient))


class QueryRamp(QueryRisk):
    """The mean of `SmoothRamp` over queries; its parameters are those of that class."""

    is_convex = False

    def __init__(
        self,
        sample: Sample,
        rank_weights: RankWeights,
        min_tpr: float = 0.0,
        width: float = RAMP_WIDTH,
        tie_loss: float = 0.5,
    ) -> None:
        super().__init__(sample, min_tpr)
        self.width, self.shift = width, ramp_shift(width, tie_loss)
        density = rank_weights.density
        self.curve = (
            rank_weights.knots,
            rank_weights.integral,
            np.empty(0) if density is None else density,
        )
        self.total = self.of_positives * self.part * self.of_negatives * rank_weights.total
        self.total *= self.total.size

    def _summed(self, scores: FloatArray, gradient: FloatArray) -> float:
        from aucuba.risks import _loops

        layout = (self.weight, self.rows, self.start, self.n_negatives)
        shape = (self.part, self.width, self.shift)
        return float(
            _loops.smooth_ramps(scores, *layout, *self.curve, self.total, *shape, gradient)
        )


def _steps(n: float, rank_weights: RankWeights, mass_weights: RankWeights) -> FloatArray:
    """Tabulate the ranks of n negatives: last rank of a step, mass of a rank there, and its margin."""
    cuts = np.concatenate([rank_weights.cuts(n), mass_weights.cuts(n)])
    edges = np.unique(np.concatenate([[0.0], cuts[(cuts > 0) & (cuts < n)], [n]]))
    # Every step has the mean weight of the ranks that it covers.
    rank = np.ceil((edges[1:] + edges[:-1]) / 2)
    ends = np.stack([rank - 1.0, rank], axis=1)
    mass, counts = (one.between(ends, n)[:, 0] for one in (mass_weights, rank_weights))
    kept = mass > 0
    return np.stack([edges[1:][kept], mass[kept], counts[kept] / mass[kept]], axis=1)
