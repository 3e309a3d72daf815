"""The contract of a Risk, the mean over queries, and ranks shared by all risks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from aucuba._base._arrays import Vector, arrays_of
from aucuba._base._typing import FloatArray, IntArray
from aucuba._roc._region import RankWeights
from aucuba._rows._sample import Sample


class Risk(Protocol):
    """R(s), a function of the n scores alone, with ``R(s) >= lower_bound`` everywhere.

    A Risk knows the classes, weights and queries of the rows and the ROC region, but neither features
    nor models. For a convex Risk the returned gradient is a subgradient,

        ``R(t) >= value + gradient @ (t - scores)`` for all t,

    which is all that a cutting plane needs. Risks do not change when all scores are shifted by one
    constant, and do not depend on the order of the rows: rows of equal label, weight and score get
    equal gradients.
    """

    @property
    def is_convex(self) -> bool:
        """Whether the gradient is a subgradient of a convex function."""
        ...

    @property
    def lower_bound(self) -> float:
        """A number that the risk never falls below."""
        ...

    def value_and_gradient(self, scores: Vector) -> tuple[float, Vector]:
        """Compute R(s) and its (sub)gradient with respect to the scores."""
        ...


class QueryRisk:
    """``R(s) = mean over queries of R_query(s restricted to the query)``.

    Parameters
    ----------
    risks : sequence of Risk
        One per query.
    rows : sequence of index arrays
        The rows of each query; rows in none of them get a zero gradient.
    """

    def __init__(self, risks: Sequence[Risk], rows: Sequence[IntArray]) -> None:
        self.risks = list(risks)
        self.rows = list(rows)

    @property
    def is_convex(self) -> bool:
        return all(risk.is_convex for risk in self.risks)

    @property
    def lower_bound(self) -> float:
        return float(np.mean([risk.lower_bound for risk in self.risks]))

    def value_and_gradient(self, scores: Vector) -> tuple[float, Vector]:
        arrays = arrays_of(scores)
        scores = arrays.host(scores)
        total, gradient = 0.0, np.zeros_like(scores)
        for risk, rows in zip(self.risks, self.rows, strict=True):
            value, part = risk.value_and_gradient(scores[rows])
            total += value
            gradient[rows] = part
        return total / len(self.risks), arrays.vector(gradient / len(self.risks))


def over_queries(make: Callable[[Sample], Risk], sample: Sample) -> Risk:
    """Return the risk of the whole sample, or the mean of the risks of its queries.

    Queries without both classes cannot be ranked and do not count; the caller warns about them.
    """
    if sample.query is None:
        return make(sample)
    # Queries are many and small: they are compared on the host, wherever the scores are.
    sample = sample.on_host()
    rows = sample.rankable_queries()
    if not rows:
        raise ValueError("No query in qid has both a positive and a negative row.")
    return QueryRisk([make(sample.as_one_query(index)) for index in rows], rows)


def top(scores: Vector, count: float, weight: Vector | None) -> Vector:
    """Return the rows in decreasing order of score, down to ``count`` of them and all ties of the last.

    With weights, which rows matter is known only after the sort, so all are returned.
    """
    arrays = arrays_of(scores)
    keep = int(-(-count // 1))
    if weight is not None or keep >= len(scores):
        return arrays.flip(arrays.order(scores))
    rows = arrays.places(scores >= arrays.kth_largest(scores, keep))
    return rows[arrays.flip(arrays.order(scores[rows]))]


def sum_of_first(values: Vector, counts: Vector) -> Vector:
    """Return the sums of the first ``count`` values, one for each count."""
    return arrays_of(values).running_sum(values)[counts]


def tied_rank_weights(ranked: Vector, weight: Vector, weights: RankWeights) -> Vector:
    """Compute the rank weight of every row; rows of equal score divide theirs by weight.

    ``ranked`` may be the top of a longer list; ``weight`` is then that of the rows shown, followed by
    one entry for the rest.
    """
    arrays, size = arrays_of(ranked), len(ranked)
    edges = arrays.running_sum(weight)
    rank_mass = weights.between(edges[: size + 1], float(edges[-1]))
    mass = weight[:size]
    return mass * arrays.mean_over_ties(ranked, mass, rank_mass / mass)


def counted_unit(weight: Vector) -> float:
    """Return the weight that stands for one row: 1 for whole-number weights, else their mean."""
    return 1.0 if bool((weight % 1.0 == 0.0).all()) else float(weight.mean())


def split_at(weight: Vector, cuts: FloatArray) -> tuple[Vector, Vector, Vector]:
    """Cut weighted rows in a line at the given places: (row of a piece, its mass, its middle)."""
    arrays = arrays_of(weight)
    ends = arrays.running_sum(weight)[1:]
    n = float(ends[-1])
    inside = arrays.vector(cuts[(cuts > 0) & (cuts < n)])
    edges = arrays.unique(arrays.join([ends, inside]))
    pieces = edges - arrays.join([arrays.zeros(1), edges[:-1]])
    # Edges that differ only by rounding leave a sliver that may go to either neighbour.
    kept = pieces > 1e-12 * n
    edges, pieces = edges[kept], pieces[kept]
    middle = edges - pieces / 2
    return arrays.search(ends, middle).clip(max=len(weight) - 1), pieces, middle
