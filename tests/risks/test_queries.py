"""Risks over queries against the mean of one risk per query."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aucuba._roc._region import RankWeights
from aucuba.risks import Region, Sample, SmoothRamp, StructuralHinge, TightHinge, make_risk
from aucuba.risks._query_risks import QueryHinge, QueryPairs
from tests.oracles import mean_over_queries

REGIONS = {
    "whole": Region.from_params((0.0, 1.0)),
    "top": Region.from_params((0.0, 0.3)),
    "band": Region.from_params((0.15, 0.4)),
    "narrow": Region.from_params((0.31, 0.34)),
    "two-way": Region.from_params((0.0, 0.4), min_tpr=0.3),
    "two-way band": Region.from_params((0.1, 0.4), min_tpr=0.33),
    "falling": Region.from_params((0.0, 1.0), fpr_weight=lambda u: 1 - u),
    "bump": Region.from_params((0.1, 0.9), fpr_weight=lambda u: u * (1 - u)),
}


def one_query(surrogate, region):
    """The risk of a single query, as the library has it for a sample without queries."""
    weights, lowest = region.weights, region.min_tpr
    return {
        "structural": lambda part: StructuralHinge(part, weights),
        "tight": lambda part: TightHinge(part, weights, lowest),
        "direct": lambda part: SmoothRamp(part, weights, lowest),
    }[surrogate]


def rows(rng, sizes, kind, rounded):
    """Queries of the given sizes in random order, both classes in each but the last."""
    query = np.repeat(np.arange(len(sizes)), sizes)
    positive = rng.random(query.size) < 0.4
    first = np.cumsum(sizes) - sizes
    positive[first], positive[first + 1] = True, False
    positive[query == len(sizes) - 1] = False
    weight = {
        "none": None,
        "whole": rng.integers(1, 4, size=query.size).astype(float),
        "real": rng.uniform(0.2, 3.0, size=query.size),
    }[kind]
    scores = rng.normal(size=query.size)
    scores = np.round(scores, 1) if rounded else scores
    order = rng.permutation(query.size)
    taken = None if weight is None else weight[order]
    return Sample(positive[order], taken, query[order]), scores[order]


@pytest.mark.parametrize("rounded", [False, True], ids=["distinct", "ties"])
@pytest.mark.parametrize("kind", ["none", "whole", "real"])
@pytest.mark.parametrize(
    ("surrogate", "region"),
    [
        (surrogate, name)
        for surrogate in ("structural", "tight", "direct")
        for name, region in REGIONS.items()
        if surrogate != "structural" or region.min_tpr == 0
    ],
)
def test_the_mean_over_queries_of_one_risk_each(surrogate, region, kind, rounded):
    where = REGIONS[region]
    rng = np.random.default_rng(0)
    sample, scores = rows(rng, np.array([2, 5, 2, 9, 40, 75, 3, 4]), kind, rounded)
    risk = make_risk(surrogate, sample, where)
    make = one_query(surrogate, where)
    value, gradient = risk.value_and_gradient(scores)
    expected, of_rows = mean_over_queries(make, sample, scores)
    assert value == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(gradient, of_rows, rtol=1e-9, atol=1e-13)
    assert risk.is_convex == make(Sample(np.array([True, False]))).is_convex
    assert risk.lower_bound == 0.0


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["structural", "tight", "direct"]))
def test_rows_may_come_in_any_order(seed, surrogate):
    rng = np.random.default_rng(seed)
    sample, scores = rows(rng, rng.integers(2, 12, size=6), "whole", rounded=True)
    region = REGIONS["top"]
    order = rng.permutation(sample.n_rows)
    value, gradient = make_risk(surrogate, sample, region).value_and_gradient(scores)
    moved = Sample(sample.positive[order], sample.weight[order], sample.query[order])
    other, of_moved = make_risk(surrogate, moved, region).value_and_gradient(scores[order])
    assert other == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(of_moved, gradient[order], rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("surrogate", ["structural", "tight", "direct"])
def test_a_weight_is_a_number_of_copies(surrogate):
    rng = np.random.default_rng(1)
    sample, scores = rows(rng, np.array([6, 11, 4, 30]), "whole", rounded=False)
    copies = np.repeat(np.arange(sample.n_rows), sample.weight.astype(int))
    copied = Sample(sample.positive[copies], None, sample.query[copies])
    region = REGIONS["band"]
    value, gradient = make_risk(surrogate, sample, region).value_and_gradient(scores)
    other, of_copies = make_risk(surrogate, copied, region).value_and_gradient(scores[copies])
    assert other == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(np.bincount(copies, of_copies), gradient, rtol=1e-9, atol=1e-13)


def test_rows_of_queries_with_one_class_get_no_gradient():
    rng = np.random.default_rng(2)
    sample, scores = rows(rng, np.array([5, 5, 5]), "none", rounded=False)
    for surrogate in ("structural", "tight", "direct"):
        gradient = make_risk(surrogate, sample, REGIONS["whole"]).value_and_gradient(0.1 * scores)[
            1
        ]
        np.testing.assert_array_equal(gradient[sample.query == 2], 0.0)
        assert gradient[sample.query != 2].any()


def test_huge_weights_do_not_overflow():
    rng = np.random.default_rng(3)
    sample, scores = rows(rng, np.array([5, 8, 3]), "real", rounded=False)
    huge = Sample(sample.positive, sample.weight * 2.0**900, sample.query)
    region = REGIONS["top"]
    for surrogate in ("structural", "tight", "direct"):
        value, gradient = make_risk(surrogate, huge, region).value_and_gradient(scores)
        # The ramp depends on ratios of weights alone; the hinges count numbers this large as whole.
        like = sample if surrogate == "direct" else huge
        expected, of_rows = mean_over_queries(one_query(surrogate, region), like, scores)
        assert value == pytest.approx(expected, rel=1e-12)
        np.testing.assert_allclose(gradient, of_rows, rtol=1e-9, atol=1e-14)


def test_no_query_with_both_classes():
    labels = Sample(np.array([True, False]), query=np.array([0, 1]))
    with pytest.raises(ValueError, match="No query in qid has both"):
        make_risk("structural", labels, REGIONS["whole"])


@pytest.mark.parametrize("power", [-900, 0, 900])
@pytest.mark.parametrize("kind", ["none", "whole", "real"])
def test_the_whole_curve_pair_by_pair_and_by_sorting(kind, power):
    rng = np.random.default_rng(4)
    sample, scores = rows(rng, np.array([40, 3, 150, 9, 2]), kind, rounded=True)
    if sample.weight is not None:
        sample = replace(sample, weight=np.ldexp(sample.weight, power))
    pairs, whole = QueryPairs(sample), RankWeights.from_range()
    value, gradient = pairs.value_and_gradient(scores)
    expected, of_rows = QueryHinge(sample, whole, whole).value_and_gradient(scores)
    assert value == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(gradient, of_rows, rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize(("size", "kind"), [(60, QueryPairs), (600, QueryHinge)])
def test_long_queries_are_sorted(size, kind):
    query = np.repeat(np.arange(3), size)
    sample = Sample(np.arange(query.size) % 2 == 0, query=query)
    assert type(make_risk("structural", sample, REGIONS["whole"])) is kind
    assert type(make_risk("tight", sample, REGIONS["top"])) is QueryHinge
