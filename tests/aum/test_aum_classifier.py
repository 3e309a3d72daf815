"""AUMClassifier: scikit-learn's contract, the homogeneity trap, and every rule for the step."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from aucuba.aum import (
    AUMDescent,
    ErrorFunctions,
    LabelledData,
    Line,
    aum,
    balanced_subgradient,
    minimize_aum,
)
from aucuba.aum._step_rules import STEP_RULES
from aucuba.design import TableDesign
from aucuba.linear import AUMClassifier
from aucuba.solvers import Status
from tests.aum.oracle import changepoint_errors, labels

LEARNERS = [
    AUMClassifier(),
    AUMClassifier("linear", max_iter=20, tol=0.05),
    AUMClassifier("subtrain_auc"),
]


@parametrize_with_checks(LEARNERS)
@pytest.mark.filterwarnings("ignore::aucuba.FewRowsWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(400, 8, weights=[0.85], flip_y=0.05, class_sep=0.7, random_state=1)
    # Mixed features: the difference of the means, where the descent starts, is a poor model.
    return X @ np.random.default_rng(0).normal(size=(8, 8)), y


@pytest.mark.parametrize("step", STEP_RULES)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_step_rule_improves_auc(data, step):
    X, y = data
    fraction = 0.3 if step == "validation_auc" else None
    model = AUMClassifier(step, validation_fraction=fraction, random_state=0).fit(X, y)
    difference = X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)
    assert roc_auc_score(y, model.decision_function(X)) > roc_auc_score(y, X @ difference)
    assert model.n_iter_ == len(model.history_)
    assert model.status_.endswith(".")


def test_the_iterate_of_best_auc_is_kept(data):
    X, y = data
    model = AUMClassifier(start="means").fit(X, y)
    values = [row["auc"] for row in model.history_]
    best = max(values)
    assert best > values[0]
    # A step ends where two scores meet; they count as tied here, and one way or the other there.
    pair = 1 / (y.sum() * (1 - y).sum())
    assert_allclose(roc_auc_score(y, model.decision_function(X)), best, atol=0.51 * pair)
    held = AUMClassifier(validation_fraction=0.25, random_state=3).fit(X, y)
    assert all("validation_auc" in row for row in held.history_)
    again = AUMClassifier(validation_fraction=0.25, random_state=3).fit(X, y)
    assert_array_equal(held.coef_, again.coef_)


@pytest.mark.filterwarnings("ignore::aucuba.FewRowsWarning")
def test_separable_classes_are_separated():
    """AUM is zero as soon as the last wrong pair ties; the descent goes on until it is right."""
    X, y = make_classification(weights=[0.9], random_state=0)
    model = AUMClassifier().fit(X, y)
    assert model.history_[-1]["aum"] <= 1e-12
    assert roc_auc_score(y, model.decision_function(X)) == 1.0


def test_shrinking_is_no_progress(data):
    """The weights keep norm one, every AUM is comparable, and it falls with every exact step."""
    X, y = data
    model = AUMClassifier(tol=1e-4, max_iter=500).fit(X, y)
    assert_allclose(np.linalg.norm(model.coef_), 1.0)
    values = [row["aum"] for row in model.history_]
    assert (np.diff(values) <= 1e-12).all()
    assert values[-1] > 0
    # Plain descent with the same exact search shrinks the model far below its start.
    errors, w = ErrorFunctions.from_labels(y), np.full(8, 1.0)
    for _ in range(50):
        direction = -(X.T @ balanced_subgradient(errors, X @ w))
        w = w + minimize_aum(errors, X @ w, X @ direction).step * direction
    assert np.linalg.norm(w) < 0.7 * np.sqrt(8)


@pytest.mark.parametrize("seed", range(40))
def test_balanced_subgradient_supports_aum(seed):
    """AUM lies above its tangent everywhere, also where many thresholds tie."""
    rng = np.random.default_rng(seed)
    errors = ErrorFunctions.from_labels(labels(rng, 10), sample_weight=rng.integers(1, 4, 10))
    here = rng.integers(-1, 2, 10).astype(float)
    gradient = balanced_subgradient(errors, here)
    value = aum(errors, here).aum
    assert_allclose(gradient.sum(), 0, atol=1e-12)
    for _ in range(50):
        there = here + rng.normal(size=10) * rng.choice([0.1, 1.0, 10.0])
        assert aum(errors, there).aum >= value + gradient @ (there - here) - 1e-12


def test_balanced_subgradient_is_the_gradient_where_one_exists():
    rng = np.random.default_rng(0)
    errors = ErrorFunctions.from_labels(labels(rng, 15))
    here = rng.normal(size=15)
    result = aum(errors, here)
    assert_allclose(result.left, result.right, atol=1e-12)
    assert_allclose(balanced_subgradient(errors, here), result.gradient, atol=1e-12)


def test_first_max_auc_ends_where_auc_first_falls():
    """All meetings by pairs of rows, AUC between two of them by counting pairs."""
    rng = np.random.default_rng(0)
    met_late = 0
    for _ in range(60):
        y = labels(rng, 9)
        scores, change = rng.integers(-4, 5, (2, 9)).astype(float)
        if not change.any():
            continue
        line = Line(ErrorFunctions.from_labels(y), scores, change)
        parting = np.subtract.outer(change, change)
        with np.errstate(divide="ignore", invalid="ignore"):
            steps = -np.subtract.outer(scores, scores) / parting
        ends = np.unique(np.r_[0.0, steps[(parting != 0) & (steps > 0)]])
        middles = np.r_[(ends[1:] + ends[:-1]) / 2, ends[-1] + 1]
        auc = [roc_auc_score(y, scores + middle * change) for middle in middles]
        falls = np.flatnonzero(np.diff(auc) < -1e-9)
        before = auc[falls[0]] if falls.size else auc[-1]
        end = ends[falls[0] + 1] if falls.size else np.inf
        step = STEP_RULES["first_max_auc"](line, None, 1.0)
        assert 0 <= step <= end
        best = max(before, roc_auc_score(y, scores))
        assert roc_auc_score(y, scores + step * change) == pytest.approx(best, abs=1e-12)
        met_late += best > auc[0]
    assert met_late > 20


@pytest.mark.parametrize(
    "step", ["first_min", "linear", "all", "first_max_auc", "subtrain_auc", "grid"]
)
def test_descent_on_errors_that_are_not_monotone(step):
    """Breakpoints away from zero give AUM a scale: no sphere, and AUM itself must fall."""
    rng = np.random.default_rng(5)
    errors = ErrorFunctions(*changepoint_errors(rng, n_examples=25))
    design = TableDesign(rng.normal(size=(25, 4)))
    start = rng.normal(size=4)
    data = LabelledData(design, errors)
    solution = AUMDescent(step=step, max_iter=30).solve(data, start)
    before = aum(errors, design.scores(start))
    after = aum(errors, design.scores(solution.coef))
    assert not errors.is_monotone
    assert after.auc >= before.auc - 1e-12
    if step in ("first_min", "all"):
        values = [before.aum, *(row["aum"] for row in solution.history)]
        assert (np.diff(values) <= 1e-9).all()
        assert values[-1] < 0.95 * values[0]


@pytest.mark.parametrize("container", [sparse.csr_array, sparse.csr_matrix, sparse.csc_matrix])
def test_sparse_equals_dense(data, container):
    X, y = data
    X = np.where(np.abs(X) < 0.7, 0.0, X)
    dense, other = AUMClassifier().fit(X, y), AUMClassifier().fit(container(X), y)
    assert_allclose(other.coef_, dense.coef_, rtol=1e-7)
    assert_allclose(other.decision_function(container(X)), dense.decision_function(X), atol=1e-7)


@pytest.mark.parametrize("step", ["first_min", "first_max_auc", "subtrain_auc", "grid"])
def test_weights_are_replication(data, step):
    X, y = data[0][:120], data[1][:120]
    weight = np.random.default_rng(0).integers(0, 4, 120)
    rows = np.repeat(np.arange(120), weight)
    weighted = AUMClassifier(step).fit(X, y, sample_weight=weight)
    copied = AUMClassifier(step).fit(X[rows], y[rows])
    assert_allclose(weighted.coef_, copied.coef_, rtol=1e-6)
    assert_allclose(weighted.intercept_, copied.intercept_, rtol=1e-6)


def test_order_of_rows_does_not_matter(data):
    X, y = data
    order = np.random.default_rng(0).permutation(y.size)
    assert_allclose(
        AUMClassifier().fit(X[order], y[order]).coef_, AUMClassifier().fit(X, y).coef_, rtol=1e-6
    )


def test_last_layer_of_a_feature_map(data):
    """Rectified random features in a Pipeline: the search is exact in the last layer."""
    X, y = data
    hidden = np.random.default_rng(0).normal(size=(8, 40))
    layer = FunctionTransformer(lambda Z: np.maximum(Z @ hidden, 0.0))
    model = make_pipeline(StandardScaler(), layer, StandardScaler(), AUMClassifier()).fit(X, y)
    assert roc_auc_score(y, model.decision_function(X)) > 0.9


def test_string_labels_and_constant_features():
    y = np.array(["no", "yes"] * 10)
    model = AUMClassifier().fit(np.ones((20, 2)), y)
    assert set(model.predict(np.ones((3, 2)))) <= {"no", "yes"}
    assert model.status_.startswith("Converged")


def test_skops_round_trip(data):
    sio = pytest.importorskip("skops.io")
    X, y = data
    model = AUMClassifier().fit(X, y)
    dumped = sio.dumps(model)
    loaded = sio.loads(dumped, trusted=["aucuba.linear._aum_classifier.AUMClassifier"])
    assert_array_equal(loaded.decision_function(X), model.decision_function(X))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"step": "newton"}, "step must be one of 'first_min'"),
        ({"step": "validation_auc"}, "needs held-out rows"),
        ({"validation_fraction": 1.5}, "validation_fraction must lie in"),
        ({"max_iter": 0}, "max_iter must be a whole number above 0"),
        ({"tol": -1.0}, "tol must be a number above 0"),
        ({"n_iter_no_change": 1.5}, "n_iter_no_change must be a whole number"),
    ],
)
def test_bad_options(data, options, message):
    with pytest.raises(ValueError, match=message):
        AUMClassifier(**options).fit(*data)


def test_the_iteration_limit_warns(data):
    with pytest.warns(ConvergenceWarning, match="max_iter=2 steps"):
        AUMClassifier(max_iter=2).fit(*data)


def test_a_refit_that_fails_leaves_the_model_as_it_was():
    X, y = make_classification(200, random_state=0)
    model = AUMClassifier(tol=0.1).fit(X, y)
    state, scores = dict(vars(model)), model.decision_function(X)
    # Warnings are errors here, so that the second fit fails at its very end.
    model.set_params(max_iter=1, tol=1e-12)
    with pytest.raises(ConvergenceWarning):
        model.fit(X[:100, :4], np.where(y[:100] == 1, "no", "yes"))
    for name in ("coef_", "intercept_", "classes_", "n_features_in_", "history_", "status_"):
        assert getattr(model, name) is state[name]
    assert_array_equal(model.decision_function(X), scores)
    assert clone(model).set_params(max_iter=100, tol=0.1).fit(X, y).status_ == model.status_


def test_an_interrupted_refit_is_the_new_model(monkeypatch):
    X, y = make_classification(200, random_state=0)
    model = AUMClassifier(tol=0.1).fit(X, y)
    solve = AUMDescent.solve

    def interrupted(*args):
        return replace(solve(*args), status=Status.INTERRUPTED)

    monkeypatch.setattr(AUMDescent, "solve", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X[:, :4], y)
    assert model.coef_.shape == (1, 4)
    assert model.status_ == str(Status.INTERRUPTED)


@pytest.mark.filterwarnings("ignore::aucuba.FewRowsWarning")
@pytest.mark.parametrize("step", ["first_min", "subtrain_auc", "grid"])
@pytest.mark.parametrize("outlier", [10.0, 3.0])
def test_an_outlier_does_not_turn_the_ranking_round(step, outlier):
    X = np.array([[0.0], [0.0], [0.0], [outlier], [1.0], [1.0], [1.0], [1.0]])
    y = np.repeat([0, 1], 4)
    model = AUMClassifier(step).fit(X, y)
    assert model.coef_[0, 0] == 1.0
    assert roc_auc_score(y, model.decision_function(X)) == 0.75


def test_training_auc_is_never_below_that_of_the_start(data):
    X, y = data
    logistic = roc_auc_score(y, LogisticRegression(C=1.0, tol=1e-8).fit(X, y).decision_function(X))
    model = AUMClassifier().fit(X, y)
    pair = 1 / (y.sum() * (1 - y).sum())
    assert roc_auc_score(y, model.decision_function(X)) >= logistic - 0.51 * pair
    from_means = AUMClassifier(start="means").fit(X, y)
    assert model.history_[0]["aum"] < from_means.history_[0]["aum"]


def test_unknown_start(data):
    with pytest.raises(ValueError, match="start must be one of 'logistic', 'means', got 'zero'"):
        AUMClassifier(start="zero").fit(*data)
