import importlib
import sys

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import aucuba
from aucuba._callbacks import HAS_CALLBACKS, CallbackSupport, fit_monitor, with_callbacks
from aucuba.design import TableDesign
from aucuba.risks import Labels, StructuralHinge
from aucuba.solvers import BundleSolver, Status

needs_callbacks = pytest.mark.skipif(not HAS_CALLBACKS, reason="needs scikit-learn 1.9")


class Ranker(CallbackSupport, BaseEstimator):
    """The smallest estimator that reports its iterations."""

    def __init__(self, max_iter=10):
        self.max_iter = max_iter

    @with_callbacks
    def fit(self, X, y):
        with fit_monitor(self, X, y, self.max_iter) as monitor:
            self.monitored_ = monitor is not None
            solver = BundleSolver(C=100.0, tol=1e-12, max_iter=self.max_iter)
            self.solution_ = solver.solve(
                TableDesign(X), StructuralHinge(Labels(y)), monitor=monitor
            )
        return self


class StopAfter:
    """Counts what it hears, and asks to stop after a number of iterations."""

    def __init__(self, n_iterations):
        self.n_iterations = n_iterations
        self.heard = []

    def setup(self, estimator, context):
        self.heard.append("setup")

    def teardown(self, estimator, context):
        self.heard.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.heard.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context):
        self.heard.append(f"end {context.task_name}")
        return self.heard.count("end iteration") == self.n_iterations


def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 8))
    return X, X[:, 0] + rng.normal(size=200) > 0


def test_a_fit_without_callbacks_has_no_monitor():
    assert not Ranker().fit(*data()).monitored_


@needs_callbacks
def test_a_callback_hears_every_iteration_and_may_stop_the_fit():
    plain = Ranker().fit(*data()).solution_
    callback = StopAfter(3)
    stopped = Ranker().set_callbacks(callback).fit(*data()).solution_
    assert (stopped.status, stopped.n_iter) == (Status.STOPPED_BY_CALLBACK, 3)
    assert plain.n_iter > 3
    assert callback.heard == [
        "setup",
        "begin fit",
        *["begin iteration", "end iteration"] * 3,
        "end fit",
        "teardown",
    ]


@needs_callbacks
def test_a_callback_that_listens_changes_nothing():
    plain = Ranker().fit(*data()).solution_
    heard = Ranker().set_callbacks(StopAfter(10_000)).fit(*data()).solution_
    assert heard.status is plain.status
    np.testing.assert_array_equal(heard.coef, plain.coef)


def test_older_releases_of_scikit_learn_fit_without_callbacks(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.callback", None)
    monkeypatch.delitem(sys.modules, "aucuba._callbacks")
    monkeypatch.setattr(aucuba, "_callbacks", None)
    older = importlib.import_module("aucuba._callbacks")
    assert not older.HAS_CALLBACKS
    assert older.with_callbacks(data) is data
    with older.fit_monitor(Ranker(), *data(), max_iter=3) as monitor:
        assert monitor is None
