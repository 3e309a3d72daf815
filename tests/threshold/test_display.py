"""The ROC curve that can be promised."""

import numpy as np
import pytest
from scipy.stats import binom, norm
from sklearn.linear_model import LogisticRegression

from aucuba.threshold import FixedFPRClassifier, GuaranteedRocDisplay
from aucuba.threshold._display import _pointwise_curve, _simultaneous_curve
from tests.threshold.bases import prefit

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def sample(seed=0, n=400, m=200, shift=1.5):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], [n, m])
    return y, rng.normal(size=n + m) + shift * y


@pytest.mark.parametrize("limit", [0.01, 0.05, 0.2, 0.5])
def test_thresholds_are_those_of_the_classifier(limit):
    y, score = sample()
    display = GuaranteedRocDisplay.from_predictions(y, score)
    at = np.searchsorted(display.max_fpr, limit, side="right") - 1
    model = FixedFPRClassifier(prefit(), limit, cv="prefit").fit(score[:, None], y)
    assert display.threshold[at] == pytest.approx(model.threshold_)
    found = np.sum(score[y == 1] > model.threshold_)
    lower, upper = display.tpr_lower[at], display.tpr_upper[at]
    assert binom.sf(found - 1, 200, lower) == pytest.approx(0.05, rel=1e-6)
    assert binom.cdf(found, 200, upper) == pytest.approx(0.05, rel=1e-6)


def test_the_curve_ends_where_the_rows_end():
    y, score = sample(n=60, m=30)
    display = GuaranteedRocDisplay.from_predictions(y, score)
    assert display.max_fpr[0] == pytest.approx(1 - 0.05 ** (1 / 60))
    assert np.all(np.diff(display.max_fpr) > 0)
    assert np.all(np.diff(display.tpr_lower) >= 0)
    assert np.all(display.tpr_lower <= display.tpr_upper)


def broken(curve, n_sets=200):
    """How often some limit, and how often some lower bound, is broken."""
    counts = np.zeros(2)
    for seed in range(n_sets):
        y, score = sample(seed)
        max_fpr, threshold, lower, _ = curve(np.sort(score[y == 0]), np.sort(score[y == 1]), 0.1)
        fpr, tpr = norm.sf(threshold), norm.sf(threshold - 1.5)
        counts += [np.any(fpr > max_fpr), np.any(tpr < lower)]
    return counts


def test_simultaneous_curves_hold_as_a_whole():
    counts = broken(_simultaneous_curve)
    assert np.all(counts <= binom.ppf(0.9999, 200, 1 - np.sqrt(0.9)))
    # Pointwise ones do not, which is why the picture says so.
    assert np.all(broken(_pointwise_curve, 60) > 15)


def test_simultaneous_curves_lie_below():
    y, score = sample()
    alone = GuaranteedRocDisplay.from_predictions(y, score)
    together = GuaranteedRocDisplay.from_predictions(y, score, simultaneous=True)
    at = np.searchsorted(alone.max_fpr, together.max_fpr, side="right") - 1
    inside = at >= 0
    assert np.all(together.threshold[inside] >= alone.threshold[at[inside]] - 1e-9)
    assert together.tpr_lower.max() > 0.8
    assert "all limits together" in together.line_.get_label()
    assert "each limit alone" in alone.line_.get_label()


def test_from_estimator_with_either_positive_class():
    y, score = sample()
    names = np.where(y == 1, "yes", "no")
    base = LogisticRegression().fit(score[:, None], names)
    for pos_label, sign in (("yes", 1), ("no", -1)):
        display = GuaranteedRocDisplay.from_estimator(
            base, score[:, None], names, pos_label=pos_label, confidence=0.9
        )
        decision = sign * base.decision_function(score[:, None])
        expected = GuaranteedRocDisplay.from_predictions(
            names, decision, pos_label=pos_label, confidence=0.9
        )
        np.testing.assert_allclose(display.tpr_lower, expected.tpr_lower)
        assert display.line_.get_label().startswith("LogisticRegression (promised, 90%")


def test_a_class_that_is_not_there():
    y, score = sample()
    base = LogisticRegression().fit(score[:, None], y)
    with pytest.raises(ValueError, match=r"pos_label=7 is not one of the classes \[.*0.*, .*1.*\]"):
        GuaranteedRocDisplay.from_estimator(base, score[:, None], y, pos_label=7)


def test_draws_into_given_axes_and_again():
    ax = plt.subplots()[1]
    display = GuaranteedRocDisplay.from_predictions(*sample(), ax=ax, name="model")
    assert display.ax_ is ax
    np.testing.assert_array_equal(display.line_.get_ydata(), display.tpr_lower)
    assert display.plot(name="other").line_.get_label().startswith("other")


def test_bad_input():
    y, score = sample(n=5, m=3)
    with pytest.raises(ValueError, match=r"needs at least \d+ rows of each class, got 5"):
        GuaranteedRocDisplay.from_predictions(y, score, simultaneous=True, confidence=0.9999999)
    with pytest.raises(ValueError, match="confidence must lie"):
        GuaranteedRocDisplay.from_predictions(y, score, confidence=2)
    with pytest.raises(ValueError, match="y_true has 8 entries for 4 rows"):
        GuaranteedRocDisplay.from_predictions(y, score[:4])
