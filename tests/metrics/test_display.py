import numpy as np
import pytest
from scipy.stats import norm
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_validate

from aucuba.metrics import (
    RocRegionDisplay,
    operating_point,
    partial_auc_score,
    tpr_at_fpr_score,
)
from aucuba.metrics._confidence_band import confidence_band
from aucuba.metrics._study import make_study

plt = pytest.importorskip("matplotlib.pyplot")

X, Y = make_classification(200, 5, flip_y=0.3, random_state=1)
REGION = (0.05, 0.3)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def polygon_area(artist):
    total = 0.0
    for path in artist.get_paths():
        x, y = path.vertices.T
        total += abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2
    return total


def test_from_predictions_shades_the_area_that_it_names():
    score = np.round(LogisticRegression().fit(X, Y).decision_function(X), 1)
    display = RocRegionDisplay.from_predictions(Y, score, fpr_range=REGION, name="mine")
    value = partial_auc_score(Y, score, fpr_range=REGION)
    assert display.partial_auc == value
    assert polygon_area(display.region_) == pytest.approx(value * (REGION[1] - REGION[0]))
    label = display.ax_.get_legend().get_texts()[0].get_text()
    assert label == f"mine (pAUC[0.05, 0.3] = {value:.3f})"
    np.testing.assert_array_equal(display.line_.get_xdata(), display.fpr)


def test_from_estimator_names_the_class_and_finds_the_scores():
    model = LogisticRegression().fit(X, Y)
    display = RocRegionDisplay.from_estimator(model, X, Y, fpr_range=REGION, plot_chance_level=True)
    assert display.name == "LogisticRegression"
    assert display.partial_auc == partial_auc_score(Y, model.decision_function(X), fpr_range=REGION)
    forest = RandomForestClassifier(10, random_state=0).fit(X, Y)
    drawn = RocRegionDisplay.from_estimator(forest, X, Y, fpr_range=REGION, ax=display.ax_)
    assert drawn.ax_ is display.ax_
    assert drawn.partial_auc == partial_auc_score(
        Y, forest.predict_proba(X)[:, 1], fpr_range=REGION
    )


def test_first_class_as_positive():
    model = LogisticRegression().fit(X, Y)
    display = RocRegionDisplay.from_estimator(model, X, Y, fpr_range=REGION, pos_label=0)
    want = partial_auc_score(Y, -model.decision_function(X), fpr_range=REGION, pos_label=0)
    assert display.partial_auc == pytest.approx(want)


def test_from_cv_results_draws_one_curve_a_fold():
    results = cross_validate(
        LogisticRegression(), X, Y, cv=4, return_estimator=True, return_indices=True
    )
    display = RocRegionDisplay.from_cv_results(results, X, Y, fpr_range=REGION, name="LR")
    assert len(display.line_) == 4
    test = results["indices"]["test"][2]
    score = results["estimator"][2].decision_function(X[test])
    assert display.partial_auc[2] == partial_auc_score(Y[test], score, fpr_range=REGION)
    mean = np.mean(display.partial_auc)
    assert polygon_area(display.region_) == pytest.approx(mean * (REGION[1] - REGION[0]))
    assert f"{mean:.3f} ±" in display.ax_.get_legend().get_texts()[0].get_text()


def test_errors_say_what_to_do():
    with pytest.raises(ValueError, match="return_estimator=True and return_indices=True"):
        RocRegionDisplay.from_cv_results({"test_score": []}, X, Y)
    three = np.arange(200) % 3
    model = LogisticRegression().fit(X, three)
    with pytest.raises(ValueError, match=r"has 3 classes.*name one as pos_label"):
        RocRegionDisplay.from_estimator(model, X, three)
    display = RocRegionDisplay.from_estimator(model, X, three, fpr_range=REGION, pos_label=1)
    want = partial_auc_score(three == 1, model.decision_function(X)[:, 1], fpr_range=REGION)
    assert display.partial_auc == pytest.approx(want)
    with pytest.raises(ValueError, match="not one of the classes"):
        RocRegionDisplay.from_estimator(LogisticRegression().fit(X, Y), X, Y, pos_label=7)
    with pytest.raises(ValueError, match="lower limit below"):
        RocRegionDisplay.from_predictions(Y, X[:, 0], fpr_range=(0.3, 0.1))


@pytest.mark.parametrize("scale", ["linear", "log", "det"])
def test_scales_bands_and_points(scale):
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1], [300, 100])
    score = rng.normal(size=400) + 1.5 * y
    point = operating_point(y, score, fpr=0.1)
    display = RocRegionDisplay.from_predictions(
        y,
        score,
        fpr_range=(0.0, 0.3),
        confidence_band="pointwise",
        n_resamples=100,
        random_state=0,
        points=[point],
        scale=scale,
        plot_chance_level=True,
    )
    band = display.confidence_band
    assert np.all(band.low <= band.high)
    height = tpr_at_fpr_score(y, score, fpr=0.15)
    assert np.interp(0.15, band.fpr, band.low) < height < np.interp(0.15, band.fpr, band.high)
    markers = [line for line in display.ax_.lines if line.get_marker() == "o"]
    assert len(markers) == 1
    if scale == "det":
        assert display.ax_.get_ylabel() == "False negative rate"
        assert markers[0].get_ydata()[0] == pytest.approx(norm.ppf(1 - point.tpr))
    else:
        assert (markers[0].get_xdata()[0], markers[0].get_ydata()[0]) == (point.fpr, point.tpr)
    assert (display.ax_.get_xscale() == "log") == (scale == "log")
    plt.close("all")


def test_simultaneous_bands_are_wider_and_hold_everywhere():
    """The whole true curve over the range lies inside in most samples."""
    truth = norm.sf(norm.isf(np.linspace(0.0, 0.3, 201)) - 1.5)
    inside, joint = 0, 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        y = np.repeat([0, 1], [300, 100])
        score = rng.normal(size=400) + 1.5 * y
        study = make_study("auc", {}, y, [score])
        bands = [
            confidence_band(
                study, (0.0, 0.3), kind=kind, confidence=0.95, n_resamples=300, random_state=seed
            )
            for kind in ("pointwise", "simultaneous")
        ]
        assert np.all(bands[1].low <= bands[0].low + 1e-12)
        assert np.all(bands[1].high >= bands[0].high - 1e-12)
        held = [np.all((one.low <= truth) & (truth <= one.high)) for one in bands]
        inside, joint = inside + held[0], joint + held[1]
    assert joint > inside
    # 95 % of 40 are 38; three standard errors of a simulation are 4.
    assert joint >= 33


@pytest.mark.parametrize("kind", ["pointwise", "simultaneous"])
def test_bands_stay_open_where_no_resample_differs(kind):
    """All of 50 positives are found: the limit is not above that of 50 successes in 50 trials."""
    y = np.repeat([0, 1], [500, 50])
    study = make_study("auc", {}, y, [y + np.linspace(0, 0.5, 550)])
    band = confidence_band(
        study, (0.0, 1.0), kind=kind, confidence=0.95, n_resamples=50, random_state=0
    )
    assert np.all(band.low[band.fpr > 0.1] <= 0.025 ** (1 / 50))
    assert np.all(band.high[band.fpr > 0.1] == 1.0)


def test_unknown_bands_and_scales():
    with pytest.raises(ValueError, match="confidence_band must be one of"):
        RocRegionDisplay.from_predictions([0, 1], [0, 1], confidence_band="wide")
    with pytest.raises(ValueError, match="scale must be one of"):
        RocRegionDisplay.from_predictions([0, 1], [0, 1], scale="sqrt")
