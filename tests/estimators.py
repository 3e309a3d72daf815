"""Every public estimator of the library, with data to fit it: what the contract tests run over."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression

import aucuba
from aucuba.changepoint import Label
from aucuba.structured import RankingGraph


def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 8))
    return X, X[:, 0] + rng.normal(size=200) > 0


def graphs():
    rng = np.random.default_rng(1)
    labels = [rng.random(6) < 0.5 for _ in range(4)]
    for one in labels:
        one[:2] = [True, False]
    chain = np.column_stack([np.arange(5), np.arange(1, 6)])
    listed = [
        RankingGraph(one[:, None] + rng.normal(size=(6, 2)), chain, np.ones((5, 1)))
        for one in labels
    ]
    return listed, labels


def signals():
    rng = np.random.default_rng(2)
    heights = 4.0 * (np.arange(20) % 2) + rng.normal(size=20)
    listed = [np.repeat([0.0, height, 0.0], 10) + rng.normal(size=30) for height in heights]
    labels = [[Label(5, 15, "one" if k % 2 else "none")] for k in range(20)]
    return listed, labels


def label_sets():
    X, y = rows()
    return X, np.column_stack([y, X[:, 1] > 0, X[:, 2] > 1])


def intervals():
    X, _ = rows()
    return X, np.column_stack([X[:, 0] - 0.1, X[:, 0] + 0.1])


def outputs(model, X):
    """Return what a fitted estimator says of X, as one array."""
    if hasattr(model, "select"):
        return model.select(X).p_values
    found = model.predict(X) if hasattr(model, "predict") else model.decision_function(X)
    return np.concatenate([np.ravel(one) for one in found])


@dataclass(frozen=True)
class Case:
    """An estimator and data to fit it.

    ``keeps_partial`` tells whether an interrupted fit keeps the best model so far.
    """

    build: Callable[[], Any]
    data: Callable[[], tuple[Any, Any]]
    keeps_partial: bool = False

    def make(self):
        """A new estimator whose random draws are fixed."""
        model = self.build()
        return model.set_params(random_state=0) if "random_state" in model.get_params() else model


RANGE = (0.0, 0.2)

# Learn from features alone, in no iterations, and have tests of their own.
TRANSFORMERS = {"ColumnPreparer"}
ESTIMATORS = {
    "PartialAUCClassifier": Case(
        lambda: aucuba.PartialAUCClassifier(RANGE), rows, keeps_partial=True
    ),
    "PartialAUCClassifierCV": Case(lambda: aucuba.PartialAUCClassifierCV(RANGE, Cs=2), rows),
    "PartialAUCSVC": Case(lambda: aucuba.PartialAUCSVC((0.0, 0.5)), rows, keeps_partial=True),
    "AUMClassifier": Case(lambda: aucuba.AUMClassifier(), rows, keeps_partial=True),
    "FixedFPRClassifier": Case(lambda: aucuba.FixedFPRClassifier(LogisticRegression(), 0.1), rows),
    "FixedTPRClassifier": Case(lambda: aucuba.FixedTPRClassifier(LogisticRegression(), 0.9), rows),
    "FixedPrecisionClassifier": Case(
        lambda: aucuba.FixedPrecisionClassifier(LogisticRegression(), 0.4, 0.8), rows
    ),
    "AlertBudgetClassifier": Case(
        lambda: aucuba.AlertBudgetClassifier(LogisticRegression(), 0.1), rows
    ),
    "FalseDiscoverySelector": Case(
        lambda: aucuba.FalseDiscoverySelector(LogisticRegression(), 0.4), rows
    ),
    "TriageClassifier": Case(lambda: aucuba.TriageClassifier(LogisticRegression(), 0.1, 0.9), rows),
    "RegionReweighted": Case(lambda: aucuba.RegionReweighted(LogisticRegression(), RANGE), rows),
    "RegionStack": Case(lambda: aucuba.RegionStack(RANGE, estimators=["linear"]), rows),
    "RegionScorecard": Case(lambda: aucuba.RegionScorecard(RANGE, max_items=2, cv=2), rows),
    "StructuredRanker": Case(
        lambda: aucuba.structured.StructuredRanker(), graphs, keeps_partial=True
    ),
    "StructuredLabelRanker": Case(
        lambda: aucuba.structured.StructuredLabelRanker(), label_sets, keeps_partial=True
    ),
    "IntervalRegression": Case(lambda: aucuba.changepoint.IntervalRegression(), intervals),
    "IntervalRegressionCV": Case(lambda: aucuba.changepoint.IntervalRegressionCV(), intervals),
    "SupervisedChangepointDetector": Case(
        lambda: aucuba.changepoint.SupervisedChangepointDetector(8), signals
    ),
}


def public_estimators():
    """Names of all estimators that the packages export; those of missing extras are left out."""
    found = set()
    for module in (aucuba, *(getattr(aucuba, name) for name in aucuba._SUBPACKAGES)):
        for name in getattr(module, "__all__", ()):
            with suppress(ImportError):
                thing = getattr(module, name)
                if isinstance(thing, type) and issubclass(thing, BaseEstimator):
                    found.add(name)
    return found
