"""Bad labels, weights, queries, groups and times are refused alike wherever they are passed."""

import inspect
import re

import numpy as np
import pytest
from scipy.special import expit
from sklearn.base import is_classifier
from sklearn.linear_model import LogisticRegression

import aucuba
from aucuba import metrics
from aucuba.changepoint import SupervisedChangepointDetector
from aucuba.threshold import RateMonitor
from tests.estimators import ESTIMATORS, rows, signals

COLUMNS = ("sample_weight", "qid", "groups", "time")
MISSING = "{name} has 1 missing or infinite entries, the first in row 3; drop these rows."
MIXED = "{name} mixes int and str, which have no common order; use one kind."
TEXT = "{name} must be numeric, got dtype object."
LENGTH = "{name} has {length} entries for {n} "
SHAPE = "{name} must have one entry per row, got an array of shape ({n}, 2)."


def with_entry(n, entry, dtype=object):
    column = (np.arange(n) % 2 + 1).astype(dtype)
    column[3] = entry
    return column


def dates(n):
    column = np.datetime64("2024-01-01") + np.arange(n)
    column[3] = np.datetime64("NaT")
    return column


# A bad column of n entries, and the one sentence that refuses it.
BAD = {
    "NaN": (lambda n: with_entry(n, np.nan, float), MISSING),
    "None": (lambda n: with_entry(n, None), MISSING),
    "infinite": (lambda n: with_entry(n, np.inf, float), MISSING),
    "mixed": (lambda n: with_entry(n, "a"), MIXED),
    "short": (lambda n: np.arange(n - 1) % 2 + 1, LENGTH),
    "empty": (lambda n: np.zeros(0), LENGTH),
    "two columns": (lambda n: np.ones((n, 2)), SHAPE),
    "NaT": (dates, MISSING),
}
FITS = [
    (name, column)
    for name, case in ESTIMATORS.items()
    for column in COLUMNS
    if column in inspect.signature(case.build().fit).parameters
]
CLASSIFIERS = [name for name, case in ESTIMATORS.items() if is_classifier(case.build())]


def refusal(name, kind, n):
    """The bad column and a pattern of the whole message."""
    make, wording = BAD[kind]
    if name == "sample_weight" and kind in ("mixed", "NaT"):
        wording = TEXT if kind == "mixed" else "{name} must be numeric, got dtype datetime64[D]."
    column = make(n)
    return column, re.escape(wording.format(name=name, length=len(column), n=n))


@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize(("estimator", "name"), FITS)
def test_fit_refuses_a_bad_column(estimator, name, kind):
    case = ESTIMATORS[estimator]
    X, y = case.data()
    column, message = refusal(name, kind, len(y))
    with pytest.raises(ValueError, match=f"^{message}"):
        case.make().fit(X, y, **{name: column})


@pytest.mark.parametrize("kind", ["None", "mixed", "short", "empty", "two columns"])
@pytest.mark.parametrize("estimator", CLASSIFIERS)
def test_fit_refuses_bad_labels(estimator, kind):
    # NaN and infinite numbers are refused in scikit-learn's words, which its checks ask for.
    X, _ = rows()
    y, message = refusal("y", kind, len(X))
    if kind == "two columns" and estimator == "StructuredLabelRanker":
        # Its labels may be a matrix, but not one of ones alone.
        message = "Every sample has all labels or none"
    with pytest.raises(ValueError, match=f"^{message}"):
        ESTIMATORS[estimator].make().fit(X, y)


VALUES = {
    "k": 5,
    "bin_sizes": (5, 5),
    "fraction": 0.1,
    "tpr": 0.5,
    "fpr": 0.5,
    "recall": 0.5,
    "precision": 0.5,
    "threshold": 0.0,
    "min_tpr": 0.2,
    "max_fpr": 0.5,
    "metric": "partial_auc",
    "amount": np.arange(200.0),
    "thresholds": [0.1, 0.5],
    "by": np.tile(["a", "b", "c", "d"], 50),
}
SCORES = ("y_score", "y_score_a", "y_score_b", "y_prob")


def metric_columns():
    for name in metrics.__all__:
        thing = getattr(metrics, name)
        if isinstance(thing, type) or "y_true" not in inspect.signature(thing).parameters:
            continue
        taken = inspect.signature(thing).parameters
        yield from ((name, column) for column in ("y_true", *COLUMNS) if column in taken)


def call_metric(name, **columns):
    X, y = rows()
    function = getattr(metrics, name)
    given = {}
    for parameter, about in inspect.signature(function).parameters.items():
        if parameter in SCORES:
            given[parameter] = X[:, SCORES.index(parameter) // 2]
            if name in ("decision_curve", "net_benefit_score"):
                given[parameter] = expit(given[parameter])
        elif about.default is about.empty and parameter in VALUES:
            given[parameter] = VALUES[parameter]
    if name == "score_by_class":
        given["y_score"] = X[:, :2]
    if name == "operating_point":
        given["fpr"] = 0.1
        if "groups" in columns:
            given["by"] = VALUES["by"]
    if name == "power_of":
        given |= {"n_positives": 50, "n_negatives": 50, "difference": 0.1}
    return function(**{"y_true": y, **given, **columns})


@pytest.mark.parametrize(
    ("metric", "name", "kind"),
    # Dates are no labels, and two columns are two labels.
    [
        (metric, name, kind)
        for metric, name in metric_columns()
        for kind in BAD
        if (name, kind) != ("y_true", "NaT")
        and (metric, name, kind) != ("score_by_class", "y_true", "two columns")
    ],
)
def test_metrics_refuse_a_bad_column(metric, name, kind):
    column, message = refusal(name, kind, 200)
    with pytest.raises(ValueError, match=f"^{message}"):
        call_metric(metric, **{name: column})


class TestOtherDoors:
    @pytest.mark.parametrize("kind", BAD)
    def test_features_of_a_detector(self, kind):
        detector = SupervisedChangepointDetector(8)
        X, errors = detector.prepare(*signals())
        groups, message = refusal("groups", kind, len(errors))
        with pytest.raises(ValueError, match=f"^{message}"):
            detector.fit_features(X, errors, groups=groups)

    @pytest.mark.parametrize("kind", BAD)
    def test_groups_of_a_monitor(self, kind):
        groups, message = refusal("groups", kind, 20)
        flags = np.zeros(20, dtype=bool)
        with pytest.raises(ValueError, match=f"^{message}"):
            RateMonitor(0.1).update(flags, flags, groups=groups)

    @pytest.mark.parametrize("kind", ["NaN", "None", "mixed", "short", "empty"])
    def test_strata(self, kind):
        X, y = rows()
        strata, message = refusal("strata", kind, len(X))
        model = aucuba.FixedFPRClassifier(LogisticRegression(), 0.3, strata=lambda _: strata)
        with pytest.raises(ValueError, match=f"^{message}"):
            model.fit(X, y)

    @pytest.mark.parametrize("kind", [kind for kind in BAD if kind != "NaT"])
    @pytest.mark.parametrize("name", ["y_true", "sample_weight"])
    def test_a_chunk_of_a_sketch(self, name, kind):
        X, y = rows()
        column, message = refusal(name, kind, len(X))
        with pytest.raises(ValueError, match=f"^{message}"):
            metrics.RocSketch().update(**{"y_true": y, "y_score": X[:, 0], name: column})
