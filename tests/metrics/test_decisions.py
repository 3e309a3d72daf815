"""Average precision, F-measures, net benefit, costs and maxima against counting and scikit-learn."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit
from scipy.stats import ks_2samp
from scipy.stats import t as student
from sklearn import metrics as sk

from aucuba._base._warnings import FewRowsWarning
from aucuba._roc._average_precision import average_precision_bias
from aucuba._rows._sample import RankingSample
from aucuba.metrics import (
    average_precision_score,
    compare_scores,
    detection_cost_score,
    expected_cost_score,
    f_measure_score,
    gains_table,
    kolmogorov_smirnov_score,
    net_benefit_score,
    score_interval,
    value_recall,
    youden_score,
)
from aucuba.metrics._measures import bind

QUICK = {"n_resamples": 200, "random_state": 0}


@st.composite
def rows(draw):
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n = draw(st.integers(4, 40))
    y = rng.random(n) < 0.4
    y[:2] = True, False
    return y, np.round(rng.normal(size=n) + y, draw(st.integers(0, 2))), rng.integers(1, 4, n)


@given(rows())
def test_average_precision_is_scikit_learn_s(sample):
    y, score, weight = sample
    want = sk.average_precision_score(y, score, sample_weight=weight)
    assert average_precision_score(y, score, sample_weight=weight) == pytest.approx(want)
    parts = [(0.0, 0.3), (0.3, 0.8), (0.8, 1.0)]
    found = [average_precision_score(y, score, recall_range=part) for part in parts]
    sizes = [high - low for low, high in parts]
    assert np.dot(found, sizes) == pytest.approx(average_precision_score(y, score))


@pytest.mark.parametrize("seed", range(2))
def test_expected_average_precision_is_the_mean_over_orders(seed):
    rng = np.random.default_rng(seed)
    y, score = np.append(rng.random(5) < 0.5, [True, False])[1:], rng.integers(0, 3, 6)
    orders = [
        np.array(one)[np.argsort(-score[list(one)], kind="stable")]
        for one in permutations(range(6))
    ]
    want = np.mean([sk.average_precision_score(y[one], -np.arange(6)) for one in orders])
    assert average_precision_score(y, score, ties="expected") == pytest.approx(want)
    weight = np.array([1, 2, 3, 1, 2, 1])
    copies = np.repeat(np.arange(6), weight)
    again = average_precision_score(y, score, ties="expected", sample_weight=weight)
    assert again == pytest.approx(
        average_precision_score(y[copies], score[copies], ties="expected")
    )


@given(rows())
def test_measures_of_thresholds_by_counting(sample):
    y, score, weight = sample
    options = {"sample_weight": weight}
    found = {"f": [0.0], "youden": [0.0], "ks": [0.0], "cost": [0.2 / 0.2]}
    positives, negatives = weight @ y, weight @ ~y
    for cut in np.unique(score):
        flagged = score >= cut
        f2 = sk.fbeta_score(y, flagged, beta=2, sample_weight=weight)
        assert f_measure_score(y, score, threshold=cut, beta=2, **options) == pytest.approx(f2)
        tpr, fpr = weight @ (y & flagged) / positives, weight @ (~y & flagged) / negatives
        cost = (0.2 * 3 * (1 - tpr) + 0.8 * fpr) / 0.6
        priced = {"target_prior": 0.2, "cost_miss": 3}
        assert detection_cost_score(y, score, threshold=cut, **priced, **options) == pytest.approx(
            cost
        )
        mean = (weight @ (5 * (y & ~flagged) + (~y & flagged))) / weight.sum()
        got = expected_cost_score(y, score, threshold=cut, cost_false_negative=5, **options)
        assert got == pytest.approx(mean)
        for name, value in zip(found, (f2, tpr - fpr, abs(tpr - fpr), cost), strict=True):
            found[name].append(value)
    assert f_measure_score(y, score, beta=2, **options) == pytest.approx(max(found["f"]))
    assert youden_score(y, score, **options) == pytest.approx(max(found["youden"]))
    assert kolmogorov_smirnov_score(y, score, **options) == pytest.approx(max(found["ks"]))
    least = detection_cost_score(y, score, threshold="best", **priced, **options)
    assert least == pytest.approx(min(found["cost"]))
    want = ks_2samp(score[y], score[~y]).statistic
    assert kolmogorov_smirnov_score(y, score) == pytest.approx(want)


@given(rows())
def test_net_benefit_by_counting(sample):
    y, score, weight = sample
    risk, odds = expit(score), 0.3 / 0.7
    flagged = risk >= 0.3
    tp, fp = weight @ (y & flagged), weight @ (~y & flagged)
    options = {"threshold": 0.3, "sample_weight": weight}
    want = (tp - odds * fp) / weight.sum()
    assert net_benefit_score(y, risk, **options) == pytest.approx(want)
    share = weight @ y / weight.sum()
    assert net_benefit_score(y, risk, standardized=True, **options) == pytest.approx(want / share)
    # In a population with its own prevalence the rates of either class stay.
    want = 0.1 * tp / (weight @ y) - 0.9 * odds * fp / (weight @ ~y)
    assert net_benefit_score(y, risk, target_prevalence=0.1, **options) == pytest.approx(want)


def test_bayes_threshold_of_likelihood_ratios():
    y, ratio = [0, 0, 1, 1], [-3.0, 0.5, 1.0, 4.0]
    limit = np.log(0.9 / (0.1 * 2))
    for one in (detection_cost_score(y, ratio, target_prior=0.1, cost_miss=2),):
        assert one == detection_cost_score(y, ratio, target_prior=0.1, cost_miss=2, threshold=limit)
        assert one == pytest.approx(0.5)


EFFECTS = {
    "average_precision": {},
    "average_precision in a range": {"recall_range": (0.2, 0.7)},
    "average_precision elsewhere": {"target_prevalence": 0.05},
    "f_measure": {"threshold": 0.5, "beta": 2.0},
    "net_benefit": {"threshold": 0.6},
    "net_benefit standardised": {"threshold": 0.6, "standardized": True},
    "expected_cost": {"threshold": 0.5, "cost_false_negative": 4.0},
    "detection_cost": {"threshold": 0.5, "target_prior": 0.3},
}


@pytest.mark.parametrize("name", EFFECTS)
def test_effects_are_derivatives(name):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3 == 0
    score = np.round(rng.normal(size=60) + y, 1)
    score = expit(score) if name.startswith("net") else score
    weight = rng.uniform(0.5, 2, 60)
    measure = bind(name.split(" ")[0], EFFECTS[name])
    sample = RankingSample.from_arrays(y, score, weight)
    effects = measure.effects(sample)
    assert effects.sum() == pytest.approx(0, abs=1e-12)
    for row in range(0, 60, 7):
        moved = [
            measure.value(replace(sample, weight=weight * (1 + step * (np.arange(60) == row))))
            for step in (1e-6, -1e-6)
        ]
        assert effects[row] == pytest.approx((moved[0] - moved[1]) / 2e-6, abs=1e-8)


def test_standard_error_by_influence_is_that_of_resamples():
    rng = np.random.default_rng(1)
    y = rng.random(3000) < 0.2
    score, group = rng.normal(size=3000) + y, np.arange(3000) // 5
    for given_ in ({}, {"groups": group}, {"sampling": "by_class"}):
        found = [
            score_interval("average_precision", y, score, method=method, **given_, **QUICK)
            for method in ("influence", "bootstrap")
        ]
        widths = [one.high - one.low for one in found]
        assert widths[0] == pytest.approx(widths[1], rel=0.15)


def test_tests_by_influence_have_the_tails_of_the_rarer_class():
    rng = np.random.default_rng(0)
    y = np.arange(600) < 20
    first, second = rng.normal(size=(2, 600)) + y
    at = {"metric": "average_precision", "y_true": y, "method": "influence"}
    with pytest.warns(FewRowsWarning):
        test, inner = (
            compare_scores(y_score_a=first, y_score_b=second, confidence=one, **at)
            for one in (0.95, 0.5)
        )
    # 20 positives have 19 degrees of freedom.
    ratio = student.ppf(0.975, 19) / student.ppf(0.75, 19)
    reach, half = (one.high - one.difference for one in (test, inner))
    assert reach / half == pytest.approx(ratio)
    z = test.difference / (reach / student.ppf(0.975, 19))
    assert test.p_value == pytest.approx(2 * student.sf(abs(z), 19))


def test_frequencies_are_copies_for_influence():
    rng = np.random.default_rng(2)
    y, score, weight = rng.random(80) < 0.4, rng.normal(size=80).round(1), rng.integers(1, 60, 80)
    copies = np.repeat(np.arange(80), weight)
    for sampling in ("random", "by_class"):
        options = {"method": "influence", "sampling": sampling}
        counted = score_interval(
            "f_measure",
            y,
            score,
            threshold=0.3,
            sample_weight=weight,
            weight_kind="frequency",
            **options,
        )
        written = score_interval("f_measure", y[copies], score[copies], threshold=0.3, **options)
        assert (counted.low, counted.high) == pytest.approx((written.low, written.high))


def test_frequencies_are_copies_for_the_excess_of_the_average_precision():
    rng = np.random.default_rng(4)
    y, score, weight = rng.random(60) < 0.4, rng.normal(size=60).round(1), rng.integers(1, 5, 60)
    copies = np.repeat(np.arange(60), weight)
    for params in ({"sampling": "by_class"}, {"target_prevalence": 0.05}):
        options = {"method": "influence", **params}
        counted, written = (
            score_interval("average_precision", *rows, **options)
            for rows, options in (
                ((y, score), {**options, "sample_weight": weight, "weight_kind": "frequency"}),
                ((y[copies], score[copies]), options),
            )
        )
        assert (counted.low, counted.high) == pytest.approx((written.low, written.high))


@pytest.mark.parametrize("prevalence", [None, 0.05])
def test_the_excess_of_the_average_precision_is_that_of_many_samples(prevalence):
    params = {} if prevalence is None else {"target_prevalence": prevalence}
    measure, found = bind("average_precision", params), []
    for seed in range(400):
        rng = np.random.default_rng(seed)
        y = np.arange(330) < 30
        sample = RankingSample.from_arrays(y, rng.normal(size=330) + 1.5 * y)
        found.append((measure.value(sample), *measure.bias(sample, None)))
    value, least, most = np.mean(found, axis=0)
    # Values of the population, integrated numerically.
    expected = {None: 0.4571, 0.05: 0.3354}[prevalence]
    spread = np.std(found, axis=0)[0] / np.sqrt(400)
    assert least - 2 * spread <= value - expected <= most + 2 * spread
    assert value - expected > 3 * spread


def test_the_excess_of_the_average_precision_row_by_row():
    y = np.array([1, 1, 0, 1, 0, 0, 1, 0], dtype=bool)
    sample = RankingSample.from_arrays(y, -np.arange(8.0), np.where(y, 1.0, 4.0))
    least, most = [], []
    for row in np.flatnonzero(y):
        found, alarms = y[:row].sum(), 4.0 * (~y[:row]).sum()
        seen = (found + 1) / (found + 1 + alarms)

        def expected(p, found=found, alarms=alarms):
            return (found + p) / (found + p + alarms + (1 - p) * 4.0)

        lowest = 0.0
        for _ in range(2000):
            lowest = expected(lowest)
        least.append(seen - expected(seen))
        most.append(seen - lowest)
    assert average_precision_bias(sample) == pytest.approx((np.mean(least), np.mean(most)))


def test_limits_of_a_best_value_allow_for_rows_that_no_resample_shows():
    """All errors of a good scorer that a small sample shows are few; resamples show no more."""
    missed = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        y = np.arange(330) < 30
        found = score_interval("youden", y, rng.normal(size=330) + 3.3 * y, **QUICK)
        # The population's is 2 norm.cdf(3.3 / 2) - 1.
        missed += not found.low <= 0.9011 <= found.high
    assert missed <= 6


@pytest.mark.parametrize(
    ("metric", "params", "n_rows", "expected", "of_difference"),
    [
        ("average_precision", {}, 1999, "wilson", "bootstrap"),
        ("average_precision", {}, 2400, "influence", "influence"),
        ("average_precision", {"ties": "expected"}, 2400, "wilson", "bootstrap"),
        ("f_measure", {"threshold": 0.5}, 400, "influence", "influence"),
        ("expected_cost", {"threshold": 0.5}, 400, "wilson", "influence"),
        ("youden", {}, 400, "simultaneous", "bootstrap"),
        ("detection_cost", {"threshold": "best"}, 400, "simultaneous", "bootstrap"),
    ],
)
def test_methods_that_auto_chooses(metric, params, n_rows, expected, of_difference):
    rng = np.random.default_rng(3)
    y = rng.random(n_rows) < 0.3
    score, other = (rng.normal(size=n_rows) + y for _ in range(2))
    found = score_interval(metric, y, score, **params, **QUICK)
    assert found.method == expected
    assert found.low < found.value < found.high
    assert compare_scores(metric, y, score, other, **params, **QUICK).method == of_difference


def test_a_band_over_thresholds_allows_for_the_choice():
    """Scores without information have no best threshold; the plain bootstrap says otherwise."""
    missed = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        y, score = np.arange(200) < 60, rng.normal(size=200)
        found = score_interval("youden", y, score, **QUICK)
        missed += found.low > 0
    assert missed <= 4
    with pytest.raises(ValueError, match=r"is biased for 'youden'.*use method='simultaneous'"):
        score_interval("youden", y, score, method="bootstrap")
    with pytest.raises(ValueError, match="is for the best of all thresholds"):
        score_interval("auc", y, score, method="simultaneous")


@pytest.mark.parametrize("name", ["youden", "kolmogorov_smirnov", "f_measure"])
def test_the_best_threshold_of_a_perfect_scorer_is_not_certain(name):
    y = np.arange(120) < 40
    found = score_interval(name, y, y + np.linspace(0, 0.5, 120), **QUICK)
    assert found.low < 0.97 < found.value == found.high == 1


def test_one_heavy_row_leaves_the_limits_of_a_best_threshold_numbers():
    y, score = np.arange(20) < 10, np.arange(20) % 7
    weight = np.where(np.arange(20) == 3, 1e25, 1.0)
    with pytest.warns(FewRowsWarning):
        found = score_interval("youden", y, score, sample_weight=weight, **QUICK)
    assert 0 <= found.low < found.high <= 1


def test_a_detector_that_is_always_wrong_costs_both_errors():
    y = np.arange(80) < 40
    found = score_interval("detection_cost", y, np.where(y, -9.0, 9.0), target_prior=0.3)
    assert found.value == pytest.approx(1 / 0.3)
    assert found.low < found.value <= found.high <= 1 / 0.3 + 1e-12


def test_net_benefit_needs_probabilities():
    with pytest.raises(ValueError, match=r"needs probabilities: .* from -1 to 2"):
        net_benefit_score([0, 1, 1], [-1.0, 0.5, 2.0], threshold=0.1)
    with pytest.raises(ValueError, match="ties='expected' does not support recall_range"):
        average_precision_score([0, 1], [0, 1], ties="expected", recall_range=(0, 0.5))
    with pytest.raises(ValueError, match=r"has no meaning .* counts the rows of equal"):
        average_precision_score([0, 1], [0, 1], ties="expected", target_prevalence=0.1)


@given(rows())
def test_gains_by_counting(sample):
    y, score, weight = sample
    order = np.argsort(-score, kind="stable")
    amounts = np.random.default_rng(0).uniform(1, 9, y.size)
    for one in gains_table(y, score, n_bins=4, amount=amounts, sample_weight=weight):
        # The top weight, with rows of equal score in proportion.
        left, hits, worth = one.fraction * weight.sum(), 0.0, 0.0
        for cut in np.unique(score[order])[::-1]:
            block = score == cut
            part = min(left / weight[block].sum(), 1.0)
            hits += part * (weight * y)[block].sum()
            worth += part * (weight * y * amounts)[block].sum()
            left -= part * weight[block].sum()
        assert one.n_positives == pytest.approx(hits)
        assert one.gain == pytest.approx(hits / (weight @ y))
        assert one.lift == pytest.approx(one.gain / one.fraction)
        assert one.value == pytest.approx(worth / (weight @ (y * amounts)))
        got = value_recall(y, score, amounts, fraction=one.fraction, sample_weight=weight)
        assert got == pytest.approx(one.value)
    with pytest.raises(ValueError, match="amounts of all positive rows are 0"):
        value_recall(y, score, np.where(y, 0.0, 1.0), fraction=0.5)
