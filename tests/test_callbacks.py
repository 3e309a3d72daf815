import importlib
import sys

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import check_is_fitted

import aucuba
from aucuba._core._callbacks import HAS_CALLBACKS, CallbackSupport, fit_monitor, with_callbacks
from aucuba.changepoint import Label
from aucuba.design import TableDesign
from aucuba.risks import Sample, StructuralHinge
from aucuba.solvers import BundleSolver, Status
from aucuba.structured import RankingGraph
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
    monkeypatch.delitem(sys.modules, "aucuba._core._callbacks")
    monkeypatch.setattr(aucuba._core, "_callbacks", None)
    older = importlib.import_module("aucuba._core._callbacks")
    assert not older.HAS_CALLBACKS
    assert older.with_callbacks(data) is data
    with older.fit_monitor(Ranker(), *data(), max_iter=3) as monitor:
        assert monitor is None


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
    X, y = data()
    return X, np.column_stack([y, X[:, 1] > 0, X[:, 2] > 1])


def intervals():
    X, _ = data()
    return X, np.column_stack([X[:, 0] - 0.1, X[:, 0] + 0.1])


# Every public estimator: how to make one, and data to fit.
ESTIMATORS = {
    "PartialAUCClassifier": (lambda: aucuba.PartialAUCClassifier(), data),
    "PartialAUCClassifierCV": (lambda: aucuba.PartialAUCClassifierCV(Cs=2), data),
    "AUMClassifier": (lambda: aucuba.AUMClassifier(), data),
    "FixedFPRClassifier": (lambda: aucuba.FixedFPRClassifier(LogisticRegression()), data),
    "RegionReweighted": (lambda: aucuba.RegionReweighted(LogisticRegression()), data),
    "RegionStack": (lambda: aucuba.RegionStack(estimators=["linear"]), data),
    "StructuredRanker": (lambda: aucuba.structured.StructuredRanker(), graphs),
    "StructuredLabelRanker": (lambda: aucuba.structured.StructuredLabelRanker(), label_sets),
    "IntervalRegression": (lambda: aucuba.changepoint.IntervalRegression(), intervals),
    "IntervalRegressionCV": (lambda: aucuba.changepoint.IntervalRegressionCV(), intervals),
    "SupervisedChangepointDetector": (
        lambda: aucuba.changepoint.SupervisedChangepointDetector(8, random_state=0),
        signals,
    ),
}


def test_every_public_estimator_is_listed():
    modules = [aucuba, *(getattr(aucuba, name) for name in aucuba._SUBPACKAGES)]
    found = {
        name
        for module in modules
        for name in getattr(module, "__all__", ())
        if isinstance(getattr(module, name), type)
        and issubclass(getattr(module, name), BaseEstimator)
    }
    assert found == set(ESTIMATORS)


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
    make, rows = ESTIMATORS[name]
    plain = make().set_params(**seed(make())).fit(*rows())
    callback = StopAfter(10_000)
    heard = make().set_params(**seed(make())).set_callbacks(callback).fit(*rows())
    assert callback.heard.count("end iteration") >= 1
    assert callback.heard[0] == "setup"
    assert callback.heard[-2:] == ["end fit", "teardown"]
    expected = fitted_state(plain)
    assert expected
    for key, value in fitted_state(heard).items():
        np.testing.assert_array_equal(value, expected[key], err_msg=key)


def seed(model):
    return {"random_state": 0} if "random_state" in model.get_params() else {}


@needs_callbacks
@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_estimator_is_fitted_when_a_callback_asks_to_stop_at_once(name):
    make, rows = ESTIMATORS[name]
    X, y = rows()
    model = make().set_callbacks(StopAlways()).fit(X, y)
    check_is_fitted(model)
    model.predict(X) if hasattr(model, "predict") else model.decision_function(X)


class StopAlways(StopAfter):
    def __init__(self):
        super().__init__(0)

    def on_fit_task_end(self, estimator, context):
        return True


@needs_callbacks
def test_more_reports_than_announced_are_heard():
    callback = StopAfter(10_000)
    ranker = Ranker().set_callbacks(callback)
    with fit_monitor(ranker, *data(), max_iter=2) as monitor:
        for _ in range(3):
            monitor({})
    assert callback.heard.count("end iteration") == 3


class Interrupt(StopAfter):
    """Presses Ctrl-C after a number of iterations."""

    def on_fit_task_end(self, estimator, context):
        if super().on_fit_task_end(estimator, context) and context.task_name == "iteration":
            raise KeyboardInterrupt
        return False


@needs_callbacks
@pytest.mark.parametrize(("name", "after"), [("StructuredLabelRanker", 2)])
def test_an_interrupt_keeps_the_best_model_and_is_raised_again(name, after):
    make, rows = ESTIMATORS[name]
    X, y = rows()
    model = make().set_callbacks(Interrupt(after))
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.status_ == str(Status.INTERRUPTED)
    model.predict(X)


KEEP_NO_PARTIAL_FIT = [
    *("PartialAUCClassifierCV", "FixedFPRClassifier", "RegionReweighted", "RegionStack"),
    *("IntervalRegression", "IntervalRegressionCV"),
]


@needs_callbacks
@pytest.mark.parametrize("name", KEEP_NO_PARTIAL_FIT)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_an_interrupted_fit_leaves_the_estimator_as_it_was(name):
    make, rows = ESTIMATORS[name]
    X, y = rows()
    model = make().set_callbacks(Interrupt(1))
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    with pytest.raises(NotFittedError):
        model.predict(X)
    model.set_callbacks().fit(X, y)
    before = model.predict(X)
    with pytest.raises(KeyboardInterrupt):
        model.set_callbacks(Interrupt(1)).fit(X[:, :5], y)
    np.testing.assert_array_equal(model.predict(X), before)


@needs_callbacks
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_a_callback_may_stop_the_procedure_between_folds(n_jobs):
    X, y = data()
    for after, status in ((2, str(Status.STOPPED_BY_CALLBACK)), (7, None)):
        callback = StopAfter(after)
        model = aucuba.PartialAUCClassifierCV((0, 0.3), Cs=2, n_jobs=n_jobs, random_state=0)
        model.set_callbacks(callback).fit(X, y)
        assert callback.heard.count("end iteration") == after
        assert status is None or model.status_ == status
        assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize("surrogate", ["direct", "tight"])
def test_an_interrupt_inside_a_fold_ends_the_procedure(surrogate, monkeypatch):
    X, y = data()
    calls = []

    def interrupted(self, scores):
        calls.append(1)
        if len(calls) > 5:
            raise KeyboardInterrupt
        return risk(self, scores)

    kind = aucuba.risks.SmoothRamp if surrogate == "direct" else aucuba.risks.TightHinge
    risk = kind.value_and_gradient
    monkeypatch.setattr(kind, "value_and_gradient", interrupted)
    model = aucuba.PartialAUCClassifierCV((0, 0.3), surrogate=surrogate, Cs=2, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert len(calls) == 6
