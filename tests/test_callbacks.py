import importlib
import sys

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

import aucuba
from aucuba._base._callbacks import HAS_CALLBACKS, CallbackSupport, fit_monitor, with_callbacks
from aucuba.design import TableDesign
from aucuba.risks import Sample, StructuralHinge
from aucuba.solvers import BundleSolver, Status
from tests.estimators import ESTIMATORS, TRANSFORMERS, outputs, public_estimators, rows
from tests.listeners import StopAfter

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
                TableDesign(X), StructuralHinge(Sample(y)), monitor=monitor
            )
        return self


def test_a_fit_without_callbacks_has_no_monitor():
    assert not Ranker().fit(*rows()).monitored_


@needs_callbacks
def test_a_fit_without_callbacks_makes_no_context(monkeypatch):
    monkeypatch.setattr(Ranker, "_init_callback_context", None)
    assert Ranker().fit(*rows()).solution_.n_iter > 0


@needs_callbacks
def test_a_fit_below_a_watched_one_joins_its_tree_without_callbacks_of_its_own():
    outer, inner = Ranker().set_callbacks(StopAfter(10_000)), Ranker()
    context = outer._init_callback_context(max_subtasks=1)
    with context.subcontext(task_name="inner").propagate_callback_context(inner):
        assert not hasattr(inner, "_skl_callbacks")
        inner.fit(*rows())
    (below,) = context._children_map.values()
    assert (below.task_name, below.source_task_name) == ("fit", "inner")


@needs_callbacks
def test_a_callback_hears_every_iteration_and_may_stop_the_fit():
    plain = Ranker().fit(*rows()).solution_
    callback = StopAfter(3)
    stopped = Ranker().set_callbacks(callback).fit(*rows()).solution_
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
    plain = Ranker().fit(*rows()).solution_
    heard = Ranker().set_callbacks(StopAfter(10_000)).fit(*rows()).solution_
    assert heard.status is plain.status
    np.testing.assert_array_equal(heard.coef, plain.coef)


def test_older_releases_of_scikit_learn_fit_without_callbacks(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.callback", None)
    monkeypatch.delitem(sys.modules, "aucuba._base._callbacks")
    monkeypatch.setattr(aucuba._base, "_callbacks", None)
    older = importlib.import_module("aucuba._base._callbacks")
    assert not older.HAS_CALLBACKS
    assert older.with_callbacks(rows) is rows
    with older.fit_monitor(Ranker(), *rows(), max_iter=3) as monitor:
        assert monitor is None


def test_every_public_estimator_is_listed():
    assert public_estimators() == set(ESTIMATORS) | TRANSFORMERS


def fitted_state(model):
    """Fitted numbers of an estimator, and of those inside it."""
    state = {}
    for name, value in vars(model).items():
        if name.endswith("_") and isinstance(value, float | np.ndarray):
            state[name] = value
        elif name.endswith("_") and isinstance(value, BaseEstimator):
            state |= {f"{name}.{inner}": v for inner, v in fitted_state(value).items()}
    return state


@needs_callbacks
@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_estimator_reports_to_callbacks_and_fits_the_same_model(name):
    case = ESTIMATORS[name]
    plain = case.make().fit(*case.data())
    callback = StopAfter(10_000)
    heard = case.make().set_callbacks(callback).fit(*case.data())
    assert callback.heard.count("end iteration") >= 1
    assert callback.heard[0] == "setup"
    assert callback.heard[-2:] == ["end fit", "teardown"]
    expected = fitted_state(plain)
    assert expected
    for key, value in fitted_state(heard).items():
        np.testing.assert_array_equal(value, expected[key], err_msg=key)


@needs_callbacks
@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_estimator_is_fitted_when_a_callback_asks_to_stop_at_once(name):
    X, y = ESTIMATORS[name].data()
    model = ESTIMATORS[name].make().set_callbacks(StopAlways()).fit(X, y)
    check_is_fitted(model)
    outputs(model, X)


class StopAlways(StopAfter):
    def __init__(self):
        super().__init__(0)

    def on_fit_task_end(self, estimator, context):
        return True


@needs_callbacks
def test_more_reports_than_announced_are_heard():
    callback = StopAfter(10_000)
    ranker = Ranker().set_callbacks(callback)
    with fit_monitor(ranker, *rows(), max_iter=2) as monitor:
        for _ in range(3):
            monitor({})
    assert callback.heard.count("end iteration") == 3


@needs_callbacks
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_a_callback_may_stop_the_procedure_between_folds(n_jobs):
    X, y = rows()
    for after, status in ((2, str(Status.STOPPED_BY_CALLBACK)), (7, None)):
        callback = StopAfter(after)
        model = aucuba.PartialAUCClassifierCV((0, 0.3), Cs=2, n_jobs=n_jobs, random_state=0)
        model.set_callbacks(callback).fit(X, y)
        assert callback.heard.count("end iteration") == after
        assert status is None or model.status_ == status
        assert np.isfinite(model.decision_function(X)).all()


def test_an_interrupt_inside_a_fold_ends_the_procedure(monkeypatch):
    X, y = rows()
    calls = []

    def interrupted(self, scores):
        calls.append(1)
        if len(calls) > 5:
            raise KeyboardInterrupt
        return risk(self, scores)

    risk = aucuba.risks.SmoothRamp.value_and_gradient
    monkeypatch.setattr(aucuba.risks.SmoothRamp, "value_and_gradient", interrupted)
    model = aucuba.PartialAUCClassifierCV((0, 0.3), Cs=2, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert len(calls) == 6
