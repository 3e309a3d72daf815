"""Decision curves with their bands, and the pictures of precision, benefit and gains."""

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import norm
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import precision_recall_curve

from aucuba._rows._sample import RankingSample
from aucuba.metrics import (
    DecisionCurveDisplay,
    GainsDisplay,
    PrecisionRecallBandDisplay,
    RocRegionDisplay,
    average_precision_score,
    compare_scores,
    decision_curve,
    gains_table,
    net_benefit_score,
    score_interval,
)
from aucuba.metrics._confidence_band import precision_band
from aucuba.metrics._study import make_study

AT = np.linspace(0.05, 0.5, 10)


def risks(seed=0, n=1500):
    rng = np.random.default_rng(seed)
    true = rng.beta(1, 4, n)
    y = rng.random(n) < true
    return y, *(np.clip(true + rng.normal(scale=0.1, size=n), 0, 1) for _ in range(2))


@pytest.mark.parametrize("options", [{}, {"groups": np.arange(1500) // 60}])
def test_entries_are_net_benefits_with_paired_tests(options):
    y, first, second = risks()
    found = decision_curve(y, first, second, thresholds=AT, band="pointwise", **options)
    for one in found:
        values = [net_benefit_score(y, risk, threshold=one.threshold) for risk in (first, second)]
        assert one.values == pytest.approx(values)
        assert one.treat_all == pytest.approx(
            net_benefit_score(y, np.ones(y.size), threshold=one.threshold)
        )
        test = compare_scores("net_benefit", y, first, second, threshold=one.threshold, **options)
        assert (one.difference, one.low, one.high) == pytest.approx(
            (test.difference, test.low, test.high)
        )
        assert one.p_value == pytest.approx(test.p_value)
    wider = decision_curve(y, first, second, thresholds=AT, **options)
    for one, other in zip(found, wider, strict=True):
        # Limits and p-values are of one law.
        assert (other.p_value < 0.05) == (not other.low <= 0 <= other.high)
        assert other.low < one.low < one.high < other.high
        assert other.p_value > one.p_value
    assert "difference" in str(found)


def test_a_simultaneous_band_holds_everywhere_and_rejects_rarely():
    outside = rejected = 0
    rng = np.random.default_rng(0)
    many, truth_risk, _ = risks(99, 100_000)
    truth = [net_benefit_score(many, truth_risk, threshold=one) for one in AT]
    for _ in range(50):
        y, first, second = risks(int(rng.integers(2**31)), 500)
        band = decision_curve(y, first, thresholds=AT)
        inside = [one.low <= value <= one.high for one, value in zip(band, truth, strict=True)]
        outside += not all(inside)
        rejected += (
            min(one.p_value for one in decision_curve(y, first, second, thresholds=AT)) < 0.05
        )
    # Of 50 at 5 %: 2.5 expected, and more than 8 with a probability of 0.1 %.
    assert outside <= 8
    assert rejected <= 8


def test_one_threshold_needs_no_adjustment():
    y, first, second = risks()
    (pointwise,), (jointly,) = (
        decision_curve(y, first, second, thresholds=[0.2], band=band)
        for band in ("pointwise", "simultaneous")
    )
    assert jointly.high - jointly.low == pytest.approx(pointwise.high - pointwise.low, rel=0.03)
    copies = np.repeat(np.arange(y.size), 3)
    groups = decision_curve(
        y[copies], first[copies], thresholds=[0.2], groups=copies, band="pointwise"
    )
    alone = decision_curve(y, first, thresholds=[0.2], band="pointwise")
    assert groups[0].high == pytest.approx(alone[0].high, rel=2e-3)
    with pytest.raises(ValueError, match="thresholds is empty"):
        decision_curve(y, first, thresholds=[])


def test_a_band_of_precision_holds_the_population_s():
    recalls_, rng = [], np.random.default_rng(1)
    n, shift = 200_000, 1.5
    big_y = rng.random(n) < 0.2
    big = RankingSample.from_arrays(big_y, rng.normal(size=n) + shift * big_y)
    settings = {"confidence": 0.95, "n_resamples": 100, "random_state": 0}
    for _ in range(25):
        y = rng.random(400) < 0.2
        study = make_study("average_precision", {}, y, [rng.normal(size=400) + shift * y])
        recall, low, high = precision_band(study, (0.2, 0.8), kind="simultaneous", **settings)
        precision, at, _ = precision_recall_curve(big.positive, big.score)
        true = np.interp(recall, at[::-1], precision[::-1])
        recalls_.append(np.all((low <= true) & (true <= high)))
        _, narrow, _ = precision_band(study, (0.2, 0.8), kind="pointwise", **settings)
        assert np.all(narrow >= low - 1e-12)
    # Of 25 at 95 % 24 are expected, and fewer than 20 with a probability of 0.1 %.
    assert np.sum(recalls_) >= 20


def counted():
    """Rows with probabilities of few digits, and the copies that their weights stand for."""
    rng = np.random.default_rng(3)
    y, first, second = risks(3, 300)
    first, second = first.round(1), second.round(1)
    weight = rng.integers(1, 20, y.size)
    copies = np.repeat(np.arange(y.size), weight)
    return (y, first, second), weight, tuple(one[copies] for one in (y, first, second))


@pytest.mark.parametrize("options", [{}, {"target_prevalence": 0.05}, {"standardized": True}])
def test_frequencies_are_copies_for_decision_curves(options):
    grouped, weight, rows = counted()
    weighted = {"sample_weight": weight, "weight_kind": "frequency"}
    for n_models in (2, 3):
        found, want = (
            decision_curve(*given[:n_models], thresholds=AT, **options, **more)
            for given, more in ((grouped, weighted), (rows, {}))
        )
        for one, other in zip(found, want, strict=True):
            limits = (one.difference, one.low, one.high, one.p_value)
            assert limits == pytest.approx(
                (other.difference, other.low, other.high, other.p_value), abs=1e-9
            )


def test_frequencies_are_copies_for_bands(plt):
    (y, score, _), weight, (copied_y, copied_score, _) = counted()
    settings = {"n_resamples": 400, "random_state": 0}
    weighted = {"sample_weight": weight, "weight_kind": "frequency"}

    def widths(y, score, **options):
        pictures = (
            PrecisionRecallBandDisplay.from_predictions(y, score, **settings, **options),
            RocRegionDisplay.from_predictions(
                y, score, confidence_band="pointwise", **settings, **options
            ),
        )
        _, low, high = pictures[0].band
        area = pictures[1].confidence_band
        return [np.mean(high - low), np.mean(area.high - area.low)]

    found = widths(y, score, **weighted)
    assert found == pytest.approx(widths(copied_y, copied_score), rel=0.1)
    # Of a row whose weight is one of sampling there is one, not ten.
    assert np.all(np.array(widths(y, score, sample_weight=weight)) > 2 * np.array(found))


def test_limits_of_a_good_model_allow_for_errors_that_few_rows_show():
    """First-order effects of rows without an error have no spread."""
    missed = beyond = 0
    at, share = 0.1, 1 / 11
    # The threshold of scores where the probability is 0.1, and the population's benefit there.
    cut = (np.log(at / (1 - at)) - np.log(share / (1 - share)) + 3.3**2 / 2) / 3.3
    rates = norm.sf(cut - 3.3), norm.sf(cut)
    truth = rates[0] - (1 - share) / share * at / (1 - at) * rates[1]
    for seed in range(60):
        rng = np.random.default_rng(seed)
        y = np.arange(330) < 30
        log_ratio = 3.3 * (rng.normal(size=330) + 3.3 * y) - 3.3**2 / 2
        risk = expit(log_ratio + np.log(share / (1 - share)))
        found = score_interval("net_benefit", y, risk, threshold=at, standardized=True)
        (one,) = decision_curve(y, risk, thresholds=[at], standardized=True)
        missed += not found.low <= truth <= found.high
        beyond += not one.low <= truth <= one.high
    assert max(missed, beyond) <= 6


@pytest.fixture
def plt():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    yield pyplot
    pyplot.close("all")


def test_pictures_show_what_is_computed(plt):
    X, y = make_classification(300, 5, flip_y=0.3, weights=[0.7], random_state=1)
    model = LogisticRegression().fit(X, y)
    score, risk = model.decision_function(X), model.predict_proba(X)[:, 1]
    options = {"n_resamples": 40, "random_state": 0}
    shown = PrecisionRecallBandDisplay.from_estimator(
        model, X, y, recall_range=(0.2, 0.9), **options
    )
    value = average_precision_score(y, score, recall_range=(0.2, 0.9))
    text = shown.ax_.get_legend().get_texts()[0].get_text()
    assert text == f"LogisticRegression (AP[0.2, 0.9] = {value:.3f})"
    assert shown.no_skill_.get_ydata()[0] == pytest.approx(y.mean())
    assert shown.band_ is not None
    plain = PrecisionRecallBandDisplay.from_predictions(
        y, score, confidence_band=None, ax=shown.ax_
    )
    assert plain.band_ is None
    curves = DecisionCurveDisplay.from_predictions(y, {"a": risk, "b": risk**2}, thresholds=AT)
    assert set(curves.lines_) == {"a", "b", "all", "none"}
    expected = [net_benefit_score(y, risk**2, threshold=one) for one in AT]
    np.testing.assert_allclose(curves.lines_["b"].get_ydata(), expected)
    gains = GainsDisplay.from_predictions(y, score, name="model")
    table = gains_table(y, score)
    at = [one.fraction for one in table]
    np.testing.assert_allclose(
        np.interp(at, gains.fraction, gains.gain), [one.gain for one in table]
    )
    lift = GainsDisplay.from_predictions(y, score, lift=True)
    x, found = lift.line_.get_data()
    np.testing.assert_allclose(found * x, lift.gain[1:])
