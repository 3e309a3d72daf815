import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aucuba._roc._curve import region_average, roc_curve, top_of_curve
from aucuba._roc._region import Region
from aucuba._rows._sample import RankingSample
from aucuba.metrics._measures import bind


@given(
    seed=st.integers(0, 2**32 - 1),
    n_levels=st.integers(2, 40),
    limits=st.sampled_from([(0.0, 0.1), (0.1, 0.3), (0.0, 0.05), (0.25, 0.5), (0.0, 1.0)]),
    min_tpr=st.sampled_from([0.0, 0.4]),
    fpr_weight=st.sampled_from([None, ("exponential", 3.0)]),
    weighted=st.booleans(),
)
def test_region_average_needs_the_top_only(seed, n_levels, limits, min_tpr, fpr_weight, weighted):
    rng = np.random.default_rng(seed)
    positive = np.arange(30) < 9
    weight = rng.integers(1, 4, size=30).astype(float) if weighted else None
    sample = RankingSample(positive, weight, score=rng.integers(0, n_levels, size=30) * 0.1)
    region = Region.from_params(limits, fpr_weight, min_tpr)
    whole = region_average(roc_curve(sample), region)
    part = region_average(top_of_curve(sample, region.upper_limit), region)
    assert part == pytest.approx(whole, abs=1e-12)


def test_rows_below_are_not_sorted():
    rng = np.random.default_rng(0)
    sample = RankingSample(np.arange(2000) < 100, score=rng.normal(size=2000))
    top = top_of_curve(sample, 0.05)
    assert top.threshold.size < 250
    assert (top.false_positive[-1], top.true_positive[-1]) == (1900, 100)
    assert top.false_positive[-2] == 95


@pytest.mark.parametrize("ties", [False, True], ids=["distinct", "ties"])
@pytest.mark.parametrize("weighted", [False, True], ids=["counted", "weighted"])
@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("precision_at_k", {"k": 7}),
        ("precision_at_k", {"k": 500}),
        ("recall_at_k", {"k": 30}),
        ("auc_at_k", {"k": 12}),
        ("auc_at_k", {"k": 12, "in_bin_credit": 1.0}),
        ("rate_at_threshold", {"rate": "precision", "threshold": 0.5}),
        ("rate_at_threshold", {"rate": "npv", "threshold": 9.0}),
        ("rate_at_threshold", {"rate": "alert_rate", "threshold": -9.0}),
    ],
    ids=str,
)
def test_measures_of_a_part_of_the_curve_equal_those_of_the_whole(name, params, weighted, ties):
    rng = np.random.default_rng(5)
    score = np.round(rng.normal(size=200), 0 if ties else 9)
    weight = rng.uniform(0.5, 2.0, size=200) if weighted else None
    sample = RankingSample(rng.random(200) < 0.3, weight, score=score)
    measure = bind(name, params)
    whole = float(measure.of_curve(roc_curve(sample), sample.n_rows))
    np.testing.assert_allclose(measure.of_query(sample), whole, rtol=1e-13 if weighted else 0)
