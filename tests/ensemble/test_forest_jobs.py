"""Forests use the jobs of a stack for their trees."""

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

from aucuba.ensemble import RegionStack, _defaults
from tests.ensemble.data import numbers


class RecordingForest(RandomForestClassifier):
    """Remembers on how many jobs it was grown."""

    def fit(self, X, y, sample_weight=None):
        self.grown_on_ = self.n_jobs
        return super().fit(X, y, sample_weight)


class RecordingExtraTrees(ExtraTreesClassifier):
    """Remembers on how many jobs it was grown."""

    def fit(self, X, y, sample_weight=None):
        self.grown_on_ = self.n_jobs
        return super().fit(X, y, sample_weight)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_trees_are_grown_on_the_jobs_of_the_stack(n_jobs, monkeypatch):
    monkeypatch.setattr(_defaults, "RandomForestClassifier", RecordingForest)
    monkeypatch.setattr(_defaults, "ExtraTreesClassifier", RecordingExtraTrees)
    X, y = numbers(120)
    # The first is scored out of bag, the second by folds.
    members = ["forest", "extra_trees"]
    stack = RegionStack((0.0, 0.2), estimators=members, cv=2, n_jobs=n_jobs, random_state=0)
    forests = [model[-1] for _, model in stack.fit(X, y).members_]
    assert [forest.grown_on_ for forest in forests] == [n_jobs, n_jobs]
    assert [forest.n_jobs for forest in forests] == [None, None]


def test_trees_do_not_depend_on_the_jobs():
    X, y = numbers(150)
    one, two = (
        RegionStack((0.0, 0.2), estimators=["forest"], n_jobs=n_jobs, random_state=0).fit(X, y)
        for n_jobs in (None, 2)
    )
    assert np.array_equal(one.oof_scores_, two.oof_scores_)
    assert np.array_equal(one.decision_function(X), two.decision_function(X))
