"""A second fit of the linear classifier: nothing of the first stays, unless the second fails."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import aucuba.linear._svc
from aucuba import PartialAUCSVC
from aucuba._base._callbacks import LOG
from aucuba.solvers import Status
from tests.linear.data import X, Y


def fitted_state(model):
    params = model.get_params()
    return {name: value for name, value in vars(model).items() if name not in params}


FORMS = [
    ({"loss": "tight"}, {"coef_", "gap_"}),
    ({"loss": "tight_dc"}, {"coef_"}),
    ({"loss": "tight", "kernel": "rbf"}, {"dual_coef_", "kernel_rows_", "kernel_params_", "gap_"}),
    (
        {"loss": "tight", "kernel": "poly", "n_components": 20},
        {"coef_", "feature_map_", "kernel_params_", "gap_"},
    ),
]


@pytest.mark.filterwarnings("ignore:A kernel matrix of")
@pytest.mark.parametrize(("second", "own"), FORMS)
@pytest.mark.parametrize(("first", "other"), FORMS)
def test_a_refit_leaves_nothing_of_another_kind_of_model(first, other, second, own, monkeypatch):
    def fit(model, params):
        # Only the poly kernel is too large for its matrix.
        most_rows = 100 if params.get("kernel") == "poly" else 10_000
        monkeypatch.setattr(aucuba.linear._svc, "MAX_KERNEL_ROWS", most_rows)
        defaults = {"kernel": "linear", "n_components": 300}
        return model.set_params(**defaults | params).fit(X[:200], Y[:200])

    model = fit(fit(PartialAUCSVC((0.1, 0.3), random_state=0), first), second)
    fresh = clone(model).fit(X[:200], Y[:200])
    assert set(fitted_state(model)) == set(fitted_state(fresh))
    every = {name for _, names in FORMS for name in names}
    assert {name for name in every if hasattr(model, name)} == own
    assert model.summary() == fresh.summary()


@pytest.mark.parametrize(
    ("start", "change"),
    [
        ({"loss": "tight"}, {"loss": "structural", "min_tpr": 0.5}),
        ({"loss": "tight", "kernel": "rbf"}, {"gamma": 3.0, "max_iter": 1}),
        ({"loss": "tight", "kernel": "rbf"}, {"n_components": -1}),
    ],
)
def test_a_refit_that_fails_leaves_the_model_as_it_was(start, change):
    model = PartialAUCSVC((0, 0.2), random_state=0, **start).fit(X, Y)
    state, scores = dict(fitted_state(model)), model.decision_function(X)
    model.set_params(**change)
    # Warnings are errors here, so that the second fit fails at its very end.
    with pytest.raises((ValueError, ConvergenceWarning)):
        model.fit(X[:100, :4], np.where(Y[:100] == 1, "yes", "no"))
    assert fitted_state(model).keys() == state.keys()
    assert all(fitted_state(model)[name] is value for name, value in state.items())
    np.testing.assert_array_equal(model.decision_function(X), scores)


def test_an_interrupted_refit_is_the_new_model(monkeypatch):
    model = PartialAUCSVC(loss="tight", kernel="rbf").fit(X, Y)
    model.set_params(kernel="linear", C=100.0, tol=1e-9, verbose=1)

    def interrupt(*args):
        if args[2] == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(LOG, "info", interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X[:, :5], Y)
    assert model.status_ == str(Status.INTERRUPTED)
    assert model.decision_function(X[:, :5]).shape == (600,)
    assert not hasattr(model, "dual_coef_")
