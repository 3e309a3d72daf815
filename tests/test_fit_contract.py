"""Fits that fail leave nothing behind: one contract for every public estimator."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from aucuba._base._callbacks import HAS_CALLBACKS
from tests.estimators import ESTIMATORS, outputs
from tests.listeners import StopAfter

needs_callbacks = pytest.mark.skipif(not HAS_CALLBACKS, reason="needs scikit-learn 1.9")
every_estimator = pytest.mark.parametrize("name", ESTIMATORS)
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


class Raise(StopAfter):
    """Raises an error at the end of an iteration, or of the fit."""

    def __init__(self, error, task):
        super().__init__(0)
        self.error, self.task = error, task

    def on_fit_task_end(self, estimator, context):
        # An iteration may have a name of its own, such as that of a member.
        if (context.task_name == "fit") == (self.task == "fit"):
            raise self.error
        return False


class Planted(Exception):
    """No estimator expects it."""


def planted(task):
    return Raise(Planted(), task)


def refused_fit(model, X, y):
    """Fit to labels for one row less than there are."""
    with pytest.raises(ValueError, match=r"\b(4|20|200)\b"):
        model.fit(X, y[:-1])


def fitted(model):
    return {name: value for name, value in vars(model).items() if name.endswith("_")}


@every_estimator
def test_a_first_fit_on_bad_data_leaves_the_estimator_unfitted(name):
    X, y = ESTIMATORS[name].data()
    model = ESTIMATORS[name].make()
    refused_fit(model, X, y)
    assert fitted(model) == {}
    with pytest.raises(NotFittedError):
        outputs(model, X)


@needs_callbacks
@every_estimator
@pytest.mark.parametrize("task", ["iteration", "fit"])
def test_a_first_fit_that_fails_midway_leaves_the_estimator_unfitted(name, task):
    X, y = ESTIMATORS[name].data()
    model = ESTIMATORS[name].make().set_callbacks(planted(task))
    with pytest.raises(Planted):
        model.fit(X, y)
    assert fitted(model) == {}
    with pytest.raises(NotFittedError):
        outputs(model, X)


@needs_callbacks
@every_estimator
@pytest.mark.parametrize("task", ["iteration", "fit"])
def test_a_refit_that_fails_changes_nothing(name, task):
    X, y = ESTIMATORS[name].data()
    model = ESTIMATORS[name].make().fit(X, y)
    before, expected = fitted(model), outputs(model, X)
    refused_fit(model, X, y)
    with pytest.raises(Planted):
        model.set_callbacks(planted(task)).fit(X[:-1], y[:-1])
    after = fitted(model)
    assert after.keys() == before.keys()
    assert all(after[key] is before[key] for key in before)
    np.testing.assert_array_equal(outputs(model, X), expected)


@needs_callbacks
@every_estimator
@pytest.mark.parametrize("refit", [False, True])
def test_an_interrupt_is_raised_again(name, refit):
    case = ESTIMATORS[name]
    X, y = case.data()
    model = case.make().fit(X, y) if refit else case.make()
    before = fitted(model)
    with pytest.raises(KeyboardInterrupt):
        model.set_callbacks(Raise(KeyboardInterrupt(), "iteration")).fit(X[:-1], y[:-1])
    after = fitted(model)
    if case.keeps_partial and after:
        # As it was, or with a complete model: the best so far.
        assert np.isfinite(outputs(model, X)).all()
    else:
        assert after.keys() == before.keys()
        assert all(after[key] is before[key] for key in before)


@every_estimator
def test_no_attribute_survives_a_second_fit(name):
    case = ESTIMATORS[name]
    model = case.make().fit(*case.data())
    model.of_another_kind_ = 1
    model.fit(*case.data())
    assert not hasattr(model, "of_another_kind_")


@every_estimator
def test_threads_may_share_a_fitted_model(name):
    # A service calls one model from many threads; what is prepared at the first call must not race.
    case = ESTIMATORS[name]
    X, y = case.data()
    model = case.make().fit(X, y)
    expected = outputs(pickle.loads(pickle.dumps(model)), X)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: outputs(model, X), range(24)))
    for one in found:
        np.testing.assert_array_equal(one, expected)
