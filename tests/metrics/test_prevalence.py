"""Measures at another prevalence, against classes that are weighted by hand."""

import numpy as np
import pytest
from scipy.stats import beta
from sklearn.linear_model import LogisticRegression

from aucuba import metrics
from aucuba._rows._sample import RankingSample
from aucuba.metrics import (
    PredictiveValueDisplay,
    compare_scores,
    operating_point,
    rates_at_threshold,
    sample_size_for,
    score_interval,
)
from aucuba.metrics._measures import bind
from tests.measure_cases import PARAMS, suited
from tests.metrics.test_registry import SHIFTED

RATES = ("precision", "npv", "alert_rate")


def rows(seed, n_positive=12, n_negative=40, levels=12):
    """Both classes with ties and weights."""
    rng = np.random.default_rng(seed)
    y = np.repeat([1, 0], [n_positive, n_negative])
    score = rng.integers(levels, size=y.size) + 2 * y
    return y, score.astype(float), rng.integers(1, 4, y.size).astype(float)


def by_hand(y, weight, prevalence):
    """Weights with a share ``prevalence`` of positives and the same total."""
    positives, negatives = weight[y == 1].sum(), weight[y == 0].sum()
    total = positives + negatives
    return weight * np.where(
        y == 1, prevalence * total / positives, (1 - prevalence) * total / negatives
    )


@pytest.mark.parametrize(("name", "params"), SHIFTED)
@pytest.mark.parametrize("seed", range(3))
def test_values_are_those_of_weighted_classes(name, params, seed):
    y, score, weight = rows(seed)
    score = suited(name, score)
    for given in (np.ones(y.size), weight):
        for prevalence in (0.01, 0.4, 0.97):
            asked = {**params, "target_prevalence": prevalence}
            plain = {key: one for key, one in asked.items() if key != "target_prevalence"}
            sample = RankingSample.from_arrays(y, score, None if given is not weight else weight)
            moved = RankingSample.from_arrays(y, score, by_hand(y, given, prevalence))
            found = bind(name, asked).value(sample)
            assert found == pytest.approx(bind(name, plain).value(moved), rel=1e-9)


@pytest.mark.parametrize(("name", "params"), SHIFTED)
def test_values_are_those_of_replicated_rows(name, params):
    """Three copies of each positive and seven of each negative."""
    y, score, _ = rows(5)
    score = suited(name, score)
    copies = np.where(y == 1, 3, 7)
    prevalence = copies[y == 1].sum() / copies.sum()
    plain = {key: one for key, one in params.items() if key != "target_prevalence"}
    copied = dict(plain)
    if "k" in plain:
        # The population has as many rows as the sample, not as many as the copies.
        plain["k"], copied["k"] = 13, round(13 * copies.sum() / y.size)
        assert copied["k"] * y.size == 13 * copies.sum()
    expected = bind(name, copied).value(
        RankingSample.from_arrays(np.repeat(y, copies), np.repeat(score, copies))
    )
    found = bind(name, {**plain, "target_prevalence": prevalence})
    assert found.value(RankingSample.from_arrays(y, score)) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("name", "params"), SHIFTED)
def test_of_an_interval_the_less_favourable_end_counts(name, params):
    y, score, _ = rows(1)
    score = suited(name, score)
    if "threshold" in params:
        params = {**params, "threshold": 0.99 if name == "net_benefit" else 6.0}
    sample = RankingSample.from_arrays(y, score)
    ends = [bind(name, {**params, "target_prevalence": p}).value(sample) for p in (0.02, 0.3)]
    found = bind(name, {**params, "target_prevalence": (0.02, 0.3)})
    worst = max if found.smaller_is_better else min
    assert found.value(sample) == worst(ends)
    assert ends[0] != ends[1]


def test_functions_and_rates_take_it():
    y, score, weight = rows(2)
    for name, params in SHIFTED:
        if name == "rate_at_threshold":
            continue
        function = getattr(metrics, f"{name}_score")
        moved = by_hand(y, weight, 0.05)
        plain = {key: one for key, one in params.items() if key != "target_prevalence"}
        given = suited(name, score)
        assert function(y, given, sample_weight=weight, **params) == pytest.approx(
            function(y, given, sample_weight=moved, **plain)
        )
    at, low, high = (
        rates_at_threshold(y, score, threshold=6.0, sample_weight=weight, target_prevalence=one)
        for one in ((0.01, 0.2), 0.01, 0.2)
    )
    assert (at.precision, at.npv) == (low.precision, high.npv)
    assert (at.alert_rate, at.tpr, at.fpr) == (high.alert_rate, low.tpr, high.fpr)
    moved = rates_at_threshold(y, score, threshold=6.0, sample_weight=by_hand(y, weight, 0.01))
    for rate in RATES:
        assert getattr(low, rate) == pytest.approx(getattr(moved, rate))


@pytest.mark.parametrize("limit", [{"precision": 0.5}, {"k": 9}, {"fpr": 0.1}, {"tpr": 0.7}])
def test_operating_points_keep_their_limit_at_both_ends(limit):
    for seed in range(10):
        y, score, weight = rows(seed)
        found = operating_point(
            y, score, sample_weight=weight, target_prevalence=(0.05, 0.3), **limit
        )
        ends = [
            operating_point(y, score, sample_weight=by_hand(y, weight, one), **limit)
            for one in (0.05, 0.3)
        ]
        assert found.threshold == max(one.threshold for one in ends)
        if np.isfinite(found.threshold):
            low, high = (
                rates_at_threshold(
                    y, score, threshold=found.threshold, sample_weight=by_hand(y, weight, one)
                )
                for one in (0.05, 0.3)
            )
            assert found.precision == pytest.approx(low.precision)
            assert found.n_flagged == pytest.approx(
                weight.sum() * max(low.alert_rate, high.alert_rate)
            )


def test_limits_of_a_rate_are_those_of_both_classes():
    rng = np.random.default_rng(0)
    y = np.repeat([1, 0], [80, 900])
    score, prevalence = rng.normal(size=y.size) + 2.5 * y, 0.004
    tp, fp = int(np.sum(score[y == 1] >= 2)), int(np.sum(score[y == 0] >= 2))
    tpr, fpr = (
        (beta.ppf(0.0125, k, n - k + 1), beta.ppf(0.9875, k + 1, n - k))
        for k, n in ((tp, 80), (fp, 900))
    )
    p, q = prevalence, 1 - prevalence
    expected = {
        "precision": [p * tpr[i] / (p * tpr[i] + q * fpr[1 - i]) for i in (0, 1)],
        "npv": [q * (1 - fpr[1 - i]) / (q * (1 - fpr[1 - i]) + p * (1 - tpr[i])) for i in (0, 1)],
        "alert_rate": [p * tpr[i] + q * fpr[i] for i in (0, 1)],
    }
    for rate in RATES:
        params = {"rate": rate, "threshold": 2.0, "target_prevalence": prevalence}
        found = score_interval("rate_at_threshold", y, score, **params)
        assert (found.low, found.high) == pytest.approx(tuple(expected[rate]), rel=1e-9)
        assert (found.method, found.sampling, found.n_resamples) == ("exact", "by_class", 0)


@pytest.mark.parametrize("options", [{}, {"method": "bootstrap"}, {"groups": True}])
def test_what_no_row_shows_may_still_be_rare(options):
    """No false alarm among 300 negatives does not show a precision at one positive per thousand."""
    y = np.repeat([1, 0], [60, 300])
    score = y + np.linspace(0, 0.1, y.size)
    options = dict(options)
    if options.pop("groups", False):
        options["groups"] = np.arange(y.size) % 90
    params = {"rate": "precision", "threshold": 0.5, "target_prevalence": 0.001}
    options |= {"n_resamples": 50, "random_state": 0}
    found = score_interval("rate_at_threshold", y, score, **params, **options)
    assert found.value == found.high == 1.0
    assert found.low < 0.15
    found = score_interval(
        "precision_at_recall", y, score, recall=0.9, target_prevalence=0.001, **options
    )
    assert found.low < 0.5


@pytest.mark.parametrize("name", ["rie", "bedroc"])
def test_effects_are_derivatives_within_a_class(name):
    y, score, weight = rows(3)
    measure = bind(name, {"target_prevalence": 0.1})
    found = measure.effects(RankingSample.from_arrays(y, score, weight))
    for row in (0, 5, 20, 45):
        ends = []
        for step in (1e-5, -1e-5):
            moved = weight.copy()
            moved[row] *= 1 + step
            ends.append(measure.value(RankingSample.from_arrays(y, score, moved)))
        assert found[row] == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-4, abs=1e-9)
    assert found[y == 1].sum() == pytest.approx(0, abs=1e-12)


def test_a_paired_test_sees_the_difference_at_the_target():
    """Two scorers of equal precision in the sample may differ where positives are rare."""
    rng = np.random.default_rng(0)
    y = np.repeat([1, 0], [3000, 3000])
    good = rng.normal(size=y.size) + 3 * y
    other = np.where(y == 1, good, good + (rng.uniform(size=y.size) < 0.01) * 3)
    options = {"recall": 0.5, "n_resamples": 200, "random_state": 0}
    here = compare_scores("precision_at_recall", y, good, other, **options)
    there = compare_scores("precision_at_recall", y, good, other, target_prevalence=0.01, **options)
    assert abs(here.difference) < 0.03 < 0.2 < there.difference
    assert there.p_value < 0.02
    assert there.sampling == "by_class"


def test_a_plan_for_rare_positives_needs_more_negatives():
    y, score, _ = rows(0, 300, 3000, 10_000)
    rng = np.random.default_rng(0)
    score = rng.normal(size=y.size) + 3 * y
    options = {"half_width": 0.05, "random_state": 0, "rate": "precision", "threshold": 1.8}
    here, there = (
        sample_size_for("rate_at_threshold", y, score, **options, **target)
        for target in ({}, {"target_prevalence": 0.01})
    )
    tpr, fpr = np.mean(score[y == 1] >= 1.8), np.mean(score[y == 0] >= 1.8)
    value = 0.01 * tpr / (0.01 * tpr + 0.99 * fpr)
    # The delta method: the log-odds of a precision are log TPR - log FPR and a constant.
    spread = (1 - tpr) / tpr + (1 - fpr) / fpr / 10
    expected = (value * (1 - value) * 1.96 / 0.05) ** 2 * spread
    assert there.n_positives == pytest.approx(expected, rel=0.15)
    assert here.n_positives != there.n_positives


def test_mistakes_are_named():
    y, score, _ = rows(0)
    for wrong in (0, 1.0, -0.1, "half", (0.2, 0.1), (0.1, 0.2, 0.3), True):
        with pytest.raises(ValueError, match="target_prevalence"):
            score_interval("rie", y, score, target_prevalence=wrong)
    with pytest.raises(ValueError, match="the ROC curve alone"):
        score_interval("auc", y, score, target_prevalence=0.1)
    with pytest.raises(ValueError, match="bin_sizes counts rows"):
        bind("binned_auc", {**PARAMS["binned_auc"], "target_prevalence": 0.1})
    with pytest.raises(ValueError, match="cannot be given with qid"):
        metrics.rie_score(y, score, qid=np.arange(y.size) % 4, target_prevalence=0.1)


def test_predictive_values_over_the_prevalence():
    plt = pytest.importorskip("matplotlib.pyplot")
    y, score, _ = rows(3, 60, 200)
    shown = PredictiveValueDisplay.from_predictions(
        y, score, threshold=6.0, prevalence_range=(0.01, 0.5), confidence=0.9
    )
    for place in (0, 70, -1):
        p = shown.prevalence[place]
        for rate, found in (("precision", shown.ppv), ("npv", shown.npv)):
            params = {"rate": rate, "threshold": 6.0, "target_prevalence": p}
            want = score_interval("rate_at_threshold", y, score, confidence=0.9, **params)
            assert found[:, place] == pytest.approx([want.value, want.low, want.high])
    assert (shown.prevalence[0], shown.prevalence[-1]) == pytest.approx((0.01, 0.5))
    assert np.all(np.diff(shown.ppv, axis=1) >= 0)
    assert np.all(np.diff(shown.npv, axis=1) <= 0)
    weighted = PredictiveValueDisplay.from_predictions(
        y, score, threshold=6.0, sample_weight=np.full(y.size, 2.0), name="twice", ax=shown.ax_
    )
    assert weighted.ppv[0] == pytest.approx(
        PredictiveValueDisplay.from_predictions(y, score, threshold=6.0).ppv[0]
    )
    copies = np.repeat(np.arange(y.size), 1 + np.arange(y.size) % 5)
    counted = {"sample_weight": np.bincount(copies), "weight_kind": "frequency"}
    grouped, written = (
        PredictiveValueDisplay.from_predictions(*rows, threshold=6.0, ax=shown.ax_, **more)
        for rows, more in (((y, score), counted), ((y[copies], score[copies]), {}))
    )
    assert grouped.ppv == pytest.approx(written.ppv)
    assert grouped.npv == pytest.approx(written.npv)
    texts = [text.get_text() for text in shown.ax_.get_legend().get_texts()]
    assert "precision (PPV)" in texts
    assert "twice, NPV" in texts
    assert f"of these rows: {y.mean():.3g}" in texts
    plt.close("all")


def test_predictive_values_of_a_classifier():
    plt = pytest.importorskip("matplotlib.pyplot")
    y, score, _ = rows(3, 60, 200)
    X = score[:, None]
    model = LogisticRegression().fit(X, y)
    shown = PredictiveValueDisplay.from_estimator(model, X, y, threshold=0.0)
    want = PredictiveValueDisplay.from_predictions(y, model.decision_function(X), threshold=0.0)
    np.testing.assert_array_equal(shown.npv, want.npv)
    with pytest.raises(ValueError, match="in falling order"):
        PredictiveValueDisplay.from_predictions(
            y, score, threshold=0.0, prevalence_range=(0.5, 0.1)
        )
    plt.close("all")
