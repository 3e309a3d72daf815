import numpy as np
import pytest

from aucuba.risks import Sample, StructuralHinge
from aucuba.risks._base import QueryRisk, over_queries


class Constant:
    def __init__(self, value, is_convex=True):
        self.lower_bound, self.is_convex = value, is_convex

    def value_and_gradient(self, scores):
        return self.lower_bound, np.full(scores.size, self.lower_bound)


def test_value_gradient_and_bound_are_means_over_the_queries():
    rows = [np.array([0, 2]), np.array([3])]
    risk = QueryRisk([Constant(1.0), Constant(3.0)], rows)
    value, gradient = risk.value_and_gradient(np.zeros(5))
    assert value == risk.lower_bound == 2.0
    np.testing.assert_array_equal(gradient, [0.5, 0.0, 0.5, 1.5, 0.0])


def test_one_risk_that_is_not_convex_makes_the_mean_so():
    rows = [np.array([0]), np.array([1])]
    assert QueryRisk([Constant(0.0), Constant(0.0)], rows).is_convex
    assert not QueryRisk([Constant(0.0), Constant(0.0, is_convex=False)], rows).is_convex


def test_each_query_is_ranked_apart_and_those_with_one_class_are_left_out():
    rng = np.random.default_rng(0)
    positive = np.array([1, 0, 0, 1, 0, 1, 1, 0, 0], bool)
    group = np.array([4, 4, 4, 7, 7, 9, 9, 5, 5])
    weight, scores = rng.uniform(0.5, 2, size=9), rng.normal(size=9)
    value, gradient = over_queries(
        StructuralHinge, Sample(positive, weight, group)
    ).value_and_gradient(scores)
    parts = [
        StructuralHinge(Sample(positive[rows], weight[rows])).value_and_gradient(scores[rows])
        for rows in (slice(0, 3), slice(3, 5))
    ]
    assert value == pytest.approx(np.mean([part[0] for part in parts]))
    np.testing.assert_allclose(gradient[:5], np.concatenate([part[1] for part in parts]) / 2)
    np.testing.assert_array_equal(gradient[5:], 0.0)


def test_without_queries_the_risk_is_the_plain_one():
    assert isinstance(
        over_queries(StructuralHinge, Sample(np.array([True, False]))), StructuralHinge
    )


def test_no_query_with_both_classes():
    labels = Sample(np.array([True, False]), query=np.array([0, 1]))
    with pytest.raises(ValueError, match="No query in qid has both"):
        over_queries(StructuralHinge, labels)
