import warnings
from math import erf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from aucuba._base._warnings import FewRowsWarning
from aucuba._roc._comparison import PrecisionComparison, RegionComparison, region_placements
from aucuba._roc._region import Region
from aucuba._roc._standard_error import standard_error
from aucuba.metrics import (
    average_precision_score,
    compare_scores,
    partial_auc_score,
    two_way_partial_auc_score,
)
from aucuba.risks import Sample


def region(limits=(0.0, 0.2), min_tpr=0.0):
    return Region.from_params(limits, None, min_tpr)


def draw(rng, n_pos=80, n_neg=300):
    y = np.repeat([True, False], [n_pos, n_neg])
    return y, rng.normal(size=y.size) + y


@pytest.mark.parametrize("limits", [(0.0, 1.0), (0.0, 0.1), (0.05, 0.3)])
def test_value_is_the_metric(limits):
    rng = np.random.default_rng(0)
    y, score = draw(rng)
    weight = rng.integers(1, 4, size=y.size).astype(float)
    got = region_placements(Sample(y, weight), score, region(limits)).value
    want = partial_auc_score(y, score, fpr_range=limits, sample_weight=weight)
    assert got == pytest.approx(want)


def test_two_way_value_is_the_metric():
    y, score = draw(np.random.default_rng(1))
    got = region_placements(Sample(y), score, region((0.0, 0.3), 0.4)).value
    assert got == pytest.approx(two_way_partial_auc_score(y, score, min_tpr=0.4, max_fpr=0.3))


@given(data=st.data())
def test_value_is_the_metric_with_ties(data):
    n_rows = data.draw(st.integers(2, 14))
    y = np.array(data.draw(st.lists(st.booleans(), min_size=n_rows, max_size=n_rows)))
    y[:2] = [True, False]
    numbers = st.lists(st.integers(0, 3), min_size=n_rows, max_size=n_rows)
    score, weight = np.array(data.draw(numbers), float), np.array(data.draw(numbers)) + 1.0
    low, high = sorted(data.draw(st.tuples(st.integers(0, 9), st.integers(10, 20))))
    limits = (low / 20, high / 20)
    labels = Sample(y, weight)
    assert region_placements(labels, score, region(limits)).value == pytest.approx(
        partial_auc_score(y, score, fpr_range=limits, sample_weight=weight), abs=1e-9
    )
    min_tpr = data.draw(st.integers(0, 19)) / 20
    assert region_placements(
        labels, score, region((0.0, limits[1]), min_tpr)
    ).value == pytest.approx(
        two_way_partial_auc_score(
            y, score, min_tpr=min_tpr, max_fpr=limits[1], sample_weight=weight
        ),
        abs=1e-9,
    )


def test_constant_scores_are_worth_the_diagonal():
    y = np.repeat([True, False], [30, 70])
    assert region_placements(Sample(y), np.zeros(100), region((0.0, 0.1))).value == pytest.approx(
        0.05
    )
    falling = Region.from_params((0.0, 1.0), lambda rate: 1 - rate, 0.0)
    # The mean rate under the density 2 (1 - u) is 1/3.
    assert region_placements(Sample(y), np.zeros(100), falling).value == pytest.approx(1 / 3)


@pytest.mark.parametrize("limits", [(0.0, 1.0), (0.0, 0.2), (0.1, 0.4)])
@pytest.mark.parametrize("min_tpr", [0.0, 0.3])
def test_standard_error_is_the_spread_over_samples(limits, min_tpr):
    rng = np.random.default_rng(2)
    values, errors = [], []
    for _ in range(300):
        y, score = draw(rng)
        one = region_placements(Sample(y), score, region(limits, min_tpr))
        values.append(one.value)
        errors.append(standard_error(Sample(y), one.influence, meaning="replication"))
    # 300 samples give the spread to about 4 %.
    assert np.mean(errors) == pytest.approx(np.std(values), rel=0.15)


def test_comparison_is_paired_and_counts_weights_as_rows():
    rng = np.random.default_rng(3)
    y, score = draw(rng)
    near = score + 0.1 * rng.normal(size=y.size)
    weight = rng.integers(1, 4, size=y.size)
    rows = np.repeat(np.arange(y.size), weight)
    weighted = RegionComparison(Sample(y, weight.astype(float)), np.stack([score, near]), region())
    repeated = RegionComparison(Sample(y[rows]), np.stack([score[rows], near[rows]]), region())
    np.testing.assert_allclose(weighted.values, repeated.values)
    assert weighted.error(0, 1) == pytest.approx(repeated.error(0, 1), abs=1e-12)
    influence = region_placements(Sample(y), score, region()).influence
    alone = standard_error(Sample(y), influence, meaning="replication")
    assert 0 < weighted.error(0, 1) < 0.7 * alone
    assert weighted.error(0, 0) == 0
    assert not weighted.lead(0, 0).is_clear(0.0)


def test_queries_are_compared_by_their_means():
    rng = np.random.default_rng(4)
    group = np.repeat(np.arange(20), 20)
    y = np.tile([True] * 5 + [False] * 15, 20)
    scores = np.stack([rng.normal(size=400) + y, rng.normal(size=400)])
    comparison = RegionComparison(Sample(y, None, group), scores, region())
    for row, value in zip(scores, comparison.values, strict=True):
        want = partial_auc_score(y, row, fpr_range=(0, 0.2), qid=group)
        assert value == pytest.approx(want)
    assert comparison.lead(0, 1).is_clear(2.0)


@pytest.mark.parametrize("n_queries", [3, 20])
def test_fits_and_tests_have_one_standard_error_over_queries(n_queries):
    """The z of the comparison inside fits is the t statistic of the paired test."""
    rng = np.random.default_rng(5)
    query = np.repeat(np.arange(n_queries), 20)
    y = np.tile([True] * 5 + [False] * 15, n_queries)
    scores = rng.normal(size=(2, y.size)) + [[0.8], [0.4]] * y
    inside = RegionComparison(Sample(y, None, query), scores, region())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewRowsWarning)
        test = compare_scores("partial_auc", y, *scores, qid=query, fpr_range=(0.0, 0.2))
    t = abs(inside.lead(0, 1).z)
    assert test.p_value == pytest.approx(2 * stats.t.sf(t, n_queries - 1))


def test_one_query_is_compared_by_its_rows():
    rng = np.random.default_rng(6)
    y, score = draw(rng)
    scores = np.stack([score, score + 0.3 * rng.normal(size=y.size)])
    alone = RegionComparison(Sample(y), scores, region()).error(0, 1)
    query = np.zeros(y.size, dtype=int)
    assert RegionComparison(Sample(y, None, query), scores, region()).error(0, 1) == alone
    # A second query without positives cannot be ranked.
    y, query = np.append(y, [False] * 4), np.append(query, [1] * 4)
    scores = np.column_stack([scores, rng.normal(size=(2, 4))])
    assert RegionComparison(Sample(y, None, query), scores, region()).error(0, 1) == alone


@pytest.mark.parametrize("lead", [0.0, 0.1, 0.25])
def test_the_weight_is_how_much_more_often_a_scorer_is_ahead_than_behind_in_resamples(lead):
    rng = np.random.default_rng(7)
    y, score = draw(rng, 150, 600)
    scores = np.stack([score, score + lead * y + 0.5 * rng.normal(size=y.size)])
    compared = RegionComparison(Sample(y), scores, region())
    weight = compared.lead(1, 0).weight - compared.lead(0, 1).weight
    ahead = []
    for _ in range(1000):
        rows = np.concatenate([rng.integers(150, size=150), 150 + rng.integers(600, size=600)])
        both = [partial_auc_score(y[rows], row[rows], fpr_range=(0, 0.2)) for row in scores]
        ahead.append(both[1] > both[0])
    # 1,000 resamples give the difference to .03; the rest is the normal approximation.
    assert weight == pytest.approx(2 * np.mean(ahead) - 1, abs=0.1)


def test_the_weight_is_the_normal_distribution_of_the_lead_in_errors():
    rng = np.random.default_rng(8)
    y, score = draw(rng)
    comparison = RegionComparison(
        Sample(y), np.stack([score, score + 0.3 * rng.normal(size=y.size)]), region()
    )
    lead = (comparison.values[1] - comparison.values[0]) / comparison.error(1, 0)
    both = (comparison.lead(1, 0).weight, comparison.lead(0, 1).weight)
    assert max(both) == pytest.approx(erf(abs(lead) / np.sqrt(2)))
    assert min(both) == 0
    assert (both[0] > 0) == (lead > 0)


def test_the_weight_grows_with_the_evidence_and_reaches_both_ends():
    rng = np.random.default_rng(9)
    y, score = draw(rng)
    noise = rng.normal(size=y.size)
    scores = np.stack([score] + [score + noise + lead * y for lead in np.linspace(-4, 14, 73)])
    comparison = RegionComparison(Sample(y), scores, region())
    weights = np.array([comparison.lead(k, 0).weight for k in range(1, len(scores))])
    # The standard error moves too, so the weight may fall by a trifle where it is nearly 1.
    assert np.diff(weights).min() > -1e-3
    assert np.sum((weights > 0.01) & (weights < 0.99)) >= 1
    assert (weights[0], weights[-1]) == (0, 1)


def test_scorers_that_the_rows_do_not_tell_apart_have_no_weight():
    y, score = draw(np.random.default_rng(10))
    # Without a standard error, whatever is ahead is ahead for sure.
    apart = np.stack([score, score, y.astype(float), -y.astype(float)])
    comparison = RegionComparison(Sample(y), apart, region())
    assert comparison.lead(1, 0).weight == comparison.lead(0, 1).weight == 0
    assert (comparison.lead(2, 3).weight, comparison.lead(3, 2).weight) == (1, 0)


@pytest.mark.parametrize("factor", [1e-300, 1e-200, 1e200, 1e300])
def test_weights_in_any_unit_give_the_same_comparison(factor):
    rng = np.random.default_rng(6)
    y, score = draw(rng)
    weight = rng.uniform(0.5, 2.0, size=y.size)
    scores = np.stack([score, score + rng.normal(size=y.size)])
    plain = RegionComparison(Sample(y, weight), scores, region())
    scaled = RegionComparison(Sample(y, factor * weight), scores, region())
    np.testing.assert_allclose(scaled.values, plain.values, rtol=1e-12)
    # Weights count as rows, so the error falls as they grow.
    assert np.isfinite(scaled.error(0, 1))
    assert (scaled.error(0, 1) > plain.error(0, 1)) == (factor < 1)
    assert scaled.lead(0, 1).weight == pytest.approx(0 if factor < 1 else 1, abs=1e-9)


@pytest.mark.parametrize("group", [None, np.arange(4) // 2])
def test_rows_without_a_pair_are_no_comparison(group):
    positive = np.array([True, True] if group is None else [True, True, False, False])
    labels = Sample(positive, None, group)
    comparison = RegionComparison(labels, np.zeros((2, labels.positive.size)), region())
    assert np.isnan(comparison.values).all()
    assert not comparison.lead(1, 0).is_clear(0.5)
    assert comparison.lead(1, 0).weight == 0


def test_average_precision_is_compared_as_by_users():
    rng = np.random.default_rng(3)
    y, first = draw(rng, 60, 200)
    both, weight = (
        np.stack([first, first + rng.normal(size=y.size)]),
        rng.integers(1, 4, y.size) * 1.0,
    )
    found = PrecisionComparison(Sample(y, weight), both, region())
    test = compare_scores(
        "average_precision",
        y,
        *both,
        sample_weight=weight,
        weight_kind="frequency",
        method="influence",
    )
    assert found.values == pytest.approx(test.values)
    df = weight[y].sum() - 1
    error = (test.high - test.difference) / stats.t.ppf(0.975, df)
    assert found.lead(0, 1).difference == pytest.approx(test.difference)
    assert found.lead(0, 1).error == pytest.approx(error)
    copies = np.repeat(np.arange(y.size), weight.astype(int))
    assert PrecisionComparison(Sample(y[copies]), both[:, copies], region()).error(0, 1) == (
        pytest.approx(error)
    )


def test_average_precision_is_compared_by_groups_and_by_queries():
    rng = np.random.default_rng(4)
    y, first = draw(rng, 60, 180)
    both, group = np.stack([first, first + rng.normal(size=y.size)]), np.arange(y.size) % 24
    found = PrecisionComparison(Sample(y), both, region(), group)
    test = compare_scores("average_precision", y, *both, groups=group, method="influence")
    assert found.error(0, 1) == pytest.approx(
        (test.high - test.difference) / stats.t.ppf(0.975, 23)
    )
    found = PrecisionComparison(Sample(y, query=group), both, region())
    assert found.values == pytest.approx(
        [average_precision_score(y, one, qid=group) for one in both]
    )
    apart = found.error(0, 1)
    test = compare_scores("average_precision", y, *both, qid=group)
    assert apart == pytest.approx((test.high - test.difference) / stats.t.ppf(0.975, 23))
    found = PrecisionComparison(Sample(y), both, region())
    alone = PrecisionComparison(Sample(y, query=np.zeros(y.size, dtype=int)), both, region())
    assert alone.error(0, 1) == pytest.approx(found.error(0, 1))
