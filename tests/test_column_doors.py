"""Bad columns are refused alike where no estimator is fitted and no measure computed."""

import importlib
import inspect
import re
from contextlib import suppress
from functools import cache

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_validate

import aucuba
from aucuba import metrics
from aucuba.aum import ErrorFunctions
from aucuba.changepoint import SupervisedChangepointDetector, interval_regression_path
from aucuba.ensemble import region_importances
from aucuba.report import ScoredSample, classifier_report
from aucuba.scorecard import scorecard_path
from aucuba.threshold import RateMonitor
from tests.estimators import ESTIMATORS, intervals, public_estimators, rows, signals
from tests.test_column_contract import BAD, metric_columns, refusal

X, Y = rows()
SCORE, N = X[:, 0], len(X)
SEGMENTS = np.arange(N) % 4


@cache
def fitted(name, *given):
    """One of the estimators of the contract, fitted with one ``given`` id per row."""
    return ESTIMATORS[name].make().fit(X, Y, **{column: np.arange(N) for column in given})


def from_cv_results(**columns):
    found = cross_validate(
        LogisticRegression(), X, Y, cv=3, return_estimator=True, return_indices=True
    )
    return metrics.RocRegionDisplay.from_cv_results(found, X, **{"y": Y, **columns})


def features_of_a_detector(**columns):
    detector = SupervisedChangepointDetector(8)
    return detector.fit_features(*detector.prepare(*signals()), **columns)


def labels_of_a_monitor(**columns):
    monitor = RateMonitor(0.1, label_horizon=5)
    times = {"event_time": np.zeros(N), "label_time": np.ones(N), "as_of": 2}
    return monitor.update_labels(**{"y_true": Y, "y_flag": Y, **times, **columns})


def selection(method):
    first = X if method == "select" else SCORE
    return lambda **columns: getattr(fitted("FalseDiscoverySelector", "groups"), method)(
        first, **columns
    )


def of_scores(function, **params):
    return lambda **columns: function(**{"y_true": Y, "y_score": SCORE, **params, **columns})


def of_rows(function, **params):
    return lambda **columns: function(**{"X": X, "y": Y, **params, **columns})


LABELS, WEIGHTED = ("y_true",), ("y_true", "sample_weight")
DOORS = {
    "metrics.DecisionCurveDisplay.from_predictions": (
        lambda **columns: metrics.DecisionCurveDisplay.from_predictions(
            **{"y_true": Y, "y_prob": expit(SCORE), **columns}
        ),
        LABELS,
    ),
    "metrics.GainsDisplay.from_predictions": (
        of_scores(metrics.GainsDisplay.from_predictions),
        WEIGHTED,
    ),
    "metrics.PrecisionRecallBandDisplay.from_predictions": (
        of_scores(metrics.PrecisionRecallBandDisplay.from_predictions, n_resamples=20),
        WEIGHTED,
    ),
    "metrics.PredictiveValueDisplay.from_predictions": (
        of_scores(metrics.PredictiveValueDisplay.from_predictions, threshold=0.0),
        WEIGHTED,
    ),
    "metrics.RocRegionDisplay.from_predictions": (
        of_scores(metrics.RocRegionDisplay.from_predictions),
        WEIGHTED,
    ),
    **{
        f"metrics.{name}": (of_scores(getattr(metrics, name), by=SEGMENTS, **params), ("by",))
        for name, params in {
            "score_interval": {"metric": "partial_auc"},
            "largest_gap": {"metric": "partial_auc"},
            "operating_point": {"fpr": 0.1},
        }.items()
    },
    "metrics.compare_scores": (
        lambda **columns: metrics.compare_scores("partial_auc", Y, SCORE, -SCORE, **columns),
        ("by",),
    ),
    "metrics.RocRegionDisplay.from_cv_results": (from_cv_results, ("y", "sample_weight")),
    "metrics.RocSketch.update": (
        of_scores(lambda **all: metrics.RocSketch().update(**all)),
        WEIGHTED,
    ),
    "threshold.GuaranteedRocDisplay.from_predictions": (
        of_scores(aucuba.threshold.GuaranteedRocDisplay.from_predictions),
        LABELS,
    ),
    "threshold.RateMonitor.update": (
        lambda **columns: RateMonitor(0.1).update(**{"y_true": Y, "y_flag": Y, **columns}),
        ("groups",),
    ),
    "threshold.RateMonitor.update_labels": (labels_of_a_monitor, ("groups",)),
    "threshold.FalseDiscoverySelector.select": (selection("select"), ("groups",)),
    "threshold.FalseDiscoverySelector.select_scores": (selection("select_scores"), ("groups",)),
    "scorecard.RegionScorecard.count_risks": (
        of_rows(lambda **all: fitted("RegionScorecard").count_risks(**all)),
        ("y", "sample_weight"),
    ),
    "scorecard.scorecard_path": (
        of_rows(
            scorecard_path,
            card=ESTIMATORS["RegionScorecard"].make(),
            sizes=(1, 2),
            cv=2,
        ),
        ("y", "sample_weight"),
    ),
    "ensemble.RegionStack.feature_importances": (
        of_rows(lambda **all: fitted("RegionStack").feature_importances(**all)),
        ("y", "sample_weight"),
    ),
    "ensemble.RegionStack.distill": (
        of_rows(lambda **all: fitted("RegionStack").distill(**all), estimator=LogisticRegression()),
        ("y", "groups", "time"),
    ),
    "ensemble.region_importances": (
        lambda **columns: region_importances(
            fitted("AUMClassifier"), **{"X": X, "y": Y, **columns}
        ),
        ("y", "sample_weight"),
    ),
    "report.classifier_report": (
        lambda **columns: classifier_report(
            fitted("AUMClassifier"), ScoredSample(Y, SCORE), **columns
        ),
        ("by",),
    ),
    "report.ScoredSample": (
        lambda **columns: ScoredSample(**{"y": Y, "score": SCORE, **columns}),
        ("sample_weight", "qid"),
    ),
    "report.ScoredSample.from_models": (
        lambda **columns: ScoredSample.from_models(
            fitted("AUMClassifier"), **{"X": X, "y": Y, **columns}
        ),
        ("y", "sample_weight", "qid"),
    ),
    "aum.ErrorFunctions.from_labels": (
        lambda **columns: ErrorFunctions.from_labels(**{"y": Y, **columns}),
        ("sample_weight",),
    ),
    "changepoint.SupervisedChangepointDetector.fit_features": (
        features_of_a_detector,
        ("groups",),
    ),
    "changepoint.interval_regression_path": (
        lambda **columns: interval_regression_path(*intervals(), [1.0], **columns),
        ("sample_weight",),
    ),
}
# Columns that this table leaves out, and why.
ELSEWHERE = {
    "threshold.RateMonitor.update.y_true": "unknown labels may be missing: test_monitor",
    "threshold.RateMonitor.update_labels.y_true": "as above: test_late_labels",
    "threshold.PromiseLedger.calibrate.y": "given to the classifier's fit",
    "threshold.PromiseLedger.calibrate.time": "a day per row: test_ledger",
    "threshold.audit_interval.y": "labels of the planned rows alone: test_audit",
    "threshold.FalseDiscoverySelector.select_scores.strata": "below",
    "aum.ErrorFunctions.from_labels.y": "below; it says how many rows there are",
    "report.ScoredSample.y": "as above",
    "changepoint.interval_regression_path.y": "intervals, not labels",
    "linear.ColumnPreparer.fit_transform.y": "ignored",
    "structured.unnested_auc_score.y_true": "graphs, not rows",
    "risks.Sample.time": "ranks, checked where they are made",
    "objectives.PartialAUCMetric.lightgbm.y_true": "from LightGBM",
    "objectives.PartialAUCObjective.risk.y_true": "from the booster",
    "objectives.PartialAUCObjective.risk.sample_weight": "from the booster",
}
NAMES = {"y", "y_true", "sample_weight", "qid", "groups", "time", "strata", "by"}
# Tested as fits, defined by scikit-learn, or one call away from ``from_predictions``.
FITTED_BY = re.compile(r"fit|score|set_\w+_request|from_estimator")
LABELS_OF_A_FIT = ("scorecard.scorecard_path", "ensemble.RegionStack.distill")


def applies(door, name, kind):
    """Whether the sentence of a bad column is ours: dates are no labels, and a fit refuses NaN in
    scikit-learn's words, which its checks ask for."""
    if name not in ("y", "y_true"):
        return True
    return kind != "NaT" and (door not in LABELS_OF_A_FIT or kind not in ("NaN", "infinite"))


@pytest.mark.parametrize(
    ("door", "name", "kind"),
    [
        (door, name, kind)
        for door, (_, names) in DOORS.items()
        for name in names
        for kind in BAD
        if applies(door, name, kind)
    ],
)
def test_a_door_refuses_a_bad_column(door, name, kind):
    n = 20 if door.endswith("fit_features") else N
    column, message = refusal(name, kind, n)
    with pytest.raises(ValueError, match=f"^{message}"):
        DOORS[door][0](**{name: column})


@pytest.mark.parametrize("kind", ["NaN", "None", "mixed", "short", "empty"])
def test_strata_of_scores(kind):
    selector = ESTIMATORS["FalseDiscoverySelector"].make()
    selector.set_params(strata=lambda table: table[:, 0] > 0).fit(X, Y)
    strata, message = refusal("strata", kind, N)
    with pytest.raises(ValueError, match=f"^{message}"):
        selector.select_scores(SCORE, strata=strata)


@pytest.mark.parametrize("kind", ["NaN", "None", "infinite", "mixed", "two columns"])
@pytest.mark.parametrize("door", [ErrorFunctions.from_labels, lambda y: ScoredSample(y, SCORE)])
def test_labels_that_say_how_many_rows_there_are(door, kind):
    y, message = refusal("y", kind, N)
    with pytest.raises(ValueError, match=f"^{message}"):
        door(y)


def columns_of_calls():
    """Every public function, class and method with the columns that it takes."""
    for package in aucuba._SUBPACKAGES:
        module = importlib.import_module(f"aucuba.{package}")
        for name in getattr(module, "__all__", ()):
            try:
                thing = getattr(module, name)
            except ImportError:  # A part of an optional package that is missing.
                continue
            calls = {f"{package}.{name}": thing}
            if isinstance(thing, type):
                methods = inspect.getmembers(thing, inspect.isroutine)
                calls |= {
                    f"{package}.{name}.{method}": call
                    for method, call in methods
                    if not method.startswith("_") and not FITTED_BY.fullmatch(method)
                }
            for door, call in calls.items():
                with suppress(TypeError, ValueError):
                    taken = NAMES & set(inspect.signature(call).parameters)
                    yield from (f"{door}.{column}" for column in taken)


def test_every_public_column_has_a_test():
    tested = {f"metrics.{name}.{column}" for name, column in metric_columns()}
    tested |= {f"{door}.{name}" for door, (_, names) in DOORS.items() for name in names}
    # Their constructors take names of columns, which their fits check.
    estimators, found = public_estimators(), set(columns_of_calls())
    constructors = {
        door for door in found if door.count(".") == 2 and door.split(".")[1] in estimators
    }
    assert found - constructors == tested | set(ELSEWHERE)
