"""Networks of scikit-learn in model files: what predicts is kept, what only trains is not."""

import json

import numpy as np
import pytest
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import LabelBinarizer, OneHotEncoder, StandardScaler

from aucuba import (
    AlertBudgetClassifier,
    FixedFPRClassifier,
    FixedPrecisionClassifier,
    FixedTPRClassifier,
    RegionReweighted,
    RegionStack,
)
from aucuba._columns._table_columns import Columns
from aucuba.persistence import load_model, save_model
from aucuba.persistence._rules import LEFT_OUT
from tests.ensemble.data import mixed_frame, numbers
from tests.persistence.archives import (
    arrays_of,
    attributes,
    description_of,
    model_of,
    rewritten,
    set_attribute,
)

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

RANGE = (0.0, 0.3)
NETWORK_NAME = "sklearn.neural_network.MLPClassifier"
NOT_STORED = LEFT_OUT[NETWORK_NAME]


def network(**settings):
    return MLPClassifier(
        **{"hidden_layer_sizes": (5, 3), "max_iter": 4, "random_state": 0, **settings}
    )


def assert_equal_answers(again, model, X):
    for method in ("predict", "predict_proba", "decision_function"):
        if hasattr(model, method):
            found, expected = getattr(again, method)(X), getattr(model, method)(X)
            assert found.dtype == expected.dtype
            np.testing.assert_array_equal(found, expected)


@pytest.fixture
def survive(tmp_path):
    """Save a fitted model, load it without naming any class, and compare its answers bit for bit."""

    def check(model, X):
        save_model(model, tmp_path / "m")
        again = load_model(tmp_path / "m").model
        assert_equal_answers(again, model, X)
        return again

    return check


class TestRoundTrips:
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    @pytest.mark.parametrize("activation", ["identity", "logistic", "relu", "tanh"])
    @pytest.mark.parametrize("sizes", [(), 4, (5, 3), [2, 3, 2]], ids=str)
    def test_layers(self, survive, dtype, activation, sizes):
        X, y = numbers(60)
        X = X.astype(dtype)
        model = network(hidden_layer_sizes=sizes, activation=activation).fit(X, y)
        again = survive(model, X)
        assert {one.dtype for one in again.coefs_ + again.intercepts_} == {np.dtype(dtype)}
        assert again.get_params() == model.get_params()

    @pytest.mark.parametrize("settings", [{"early_stopping": True}, {"solver": "sgd"}], ids=str)
    def test_the_history_of_training(self, survive, settings):
        X, y = numbers(60)
        model = network(**settings).fit(X, y)
        again = survive(model, X)
        public = {name for name in vars(model) if name.endswith("_")}
        assert {name for name in vars(again) if name.endswith("_")} == public
        assert again.loss_curve_ == model.loss_curve_
        assert again.validation_scores_ == model.validation_scores_
        assert (again.n_iter_, again.loss_) == (model.n_iter_, model.loss_)

    @pytest.mark.parametrize("labels", [["no", "yes"], [-1, 1], [False, True]], ids=str)
    def test_labels(self, survive, labels):
        X, y = numbers(60)
        survive(network().fit(X, np.array(labels)[y]), X)

    def test_more_labels_sparse_rows_and_another_solver(self, survive):
        X, y = numbers(60)
        survive(network().fit(X, y + (X[:, 1] > 0)), X)
        survive(network().fit(X, np.column_stack([y, X[:, 1] > 0, y])), X)
        survive(network(solver="lbfgs").fit(sparse.csr_matrix(X), y), sparse.csr_matrix(X))

    def test_a_pipeline(self, survive):
        X, y = numbers(60)
        X[:, 0] = np.round(X[:, 0])
        columns = ColumnTransformer(
            [("scaled", StandardScaler(), [1, 2, 3]), ("coded", OneHotEncoder(), [0])]
        )
        survive(make_pipeline(columns, network()).fit(X, y), X)

    def test_a_network_that_was_never_fitted(self, tmp_path):
        save_model(network(alpha=0.5), tmp_path / "m")
        assert load_model(tmp_path / "m").model.get_params() == network(alpha=0.5).get_params()


class TestMembers:
    def test_of_a_stack_with_prepared_columns(self, survive):
        pytest.importorskip("pandas")
        X, y = mixed_frame(120)
        net = Columns.from_table(X).for_linear(network())
        stack = RegionStack(RANGE, estimators=["linear", ("net", net)], cv=2, random_state=0)
        again = survive(stack.fit(X, y), X)
        assert [name for name, _ in again.members_] == ["linear", "net"]

    def test_alone_in_a_stack(self, survive):
        X, y = numbers(120)
        stack = RegionStack(RANGE, estimators=[("net", network())], cv=2, random_state=0)
        survive(stack.fit(X, y), X)

    def test_reweighted(self, survive):
        X, y = numbers(120)
        model = RegionReweighted(network(), RANGE, cv=2, random_state=0)
        survive(model.fit(X, y), X)
        stack = RegionStack(RANGE, estimators=[("net", model)], cv=2, random_state=0)
        survive(stack.fit(X, y), X)

    @pytest.mark.parametrize(
        "model",
        [
            AlertBudgetClassifier(network(), 0.3, random_state=0),
            FixedFPRClassifier(network(), max_fpr=0.3, random_state=0),
            FixedPrecisionClassifier(
                network(learning_rate_init=0.1, max_iter=40), 0.3, 0.5, random_state=0
            ),
            FixedTPRClassifier(network(), 0.7, random_state=0),
        ],
        ids=lambda model: type(model).__name__,
    )
    def test_with_a_threshold(self, survive, model):
        X, y = numbers(200)
        survive(model.fit(X, y), X)


class TestTraining:
    """What only trains is not in the file; training that goes on begins with a new optimiser."""

    def test_the_file_does_not_hold_it(self, tmp_path):
        X, y = numbers(60)
        model = network().fit(X, y)
        save_model(model, tmp_path / "m")
        fitted = set(vars(model)) - NOT_STORED | {"_sklearn_version"}
        assert set(attributes(model_of(tmp_path / "m"))) == fitted
        assert set(vars(model)) & NOT_STORED == NOT_STORED - {"_coef_indptr", "_intercept_indptr"}
        weights = sum(one.nbytes for one in model.coefs_ + model.intercepts_)
        n_others = 2 + len(model.loss_curve_) + 2  # two classes; last and best loss
        assert sum(one.nbytes for one in arrays_of(tmp_path / "m")) == weights + 8 * n_others

    def test_saving_leaves_the_model_alone_and_can_be_repeated(self, tmp_path):
        X, y = numbers(60)
        model = network().fit(X, y)
        before = set(vars(model))
        save_model(model, tmp_path / "m")
        assert set(vars(model)) == before
        save_model(load_model(tmp_path / "m").model, tmp_path / "again")
        first, second = (attributes(model_of(tmp_path / name)) for name in ("m", "again"))
        assert list(first) == list(second)
        assert_equal_answers(load_model(tmp_path / "again").model, model, X)

    def test_partial_fit_goes_on_with_a_new_optimiser(self, tmp_path):
        X, y = numbers(60)
        # With such a tolerance no iteration counts as better, which is when the best so far is asked.
        model = network(tol=10.0).fit(X, y)
        save_model(model, tmp_path / "m")
        again = load_model(tmp_path / "m").model.partial_fit(X, y)
        del model._optimizer
        assert_equal_answers(again, model.partial_fit(X, y), X)
        assert len(again.loss_curve_) == 5

    @pytest.mark.parametrize("early_stopping", [False, True])
    def test_a_warm_start_goes_on(self, tmp_path, early_stopping):
        X, y = numbers(80)
        X = np.column_stack([4.0 * y - 2.0, 0.1 * X])
        model = network(
            hidden_layer_sizes=(),
            max_iter=20,
            learning_rate_init=0.1,
            tol=10.0,
            n_iter_no_change=50,
            warm_start=True,
            early_stopping=early_stopping,
        )
        save_model(model.fit(X, y), tmp_path / "m")
        # Nothing is better than all, so training ends at the best weights, those of the file.
        assert model.best_validation_score_ == (1.0 if early_stopping else None)
        again = load_model(tmp_path / "m").model.fit(X, y)
        assert_equal_answers(again, model.fit(X, y), X)
        assert again.loss_curve_ == model.loss_curve_
        assert len(again.loss_curve_) == 40


def damaged(path, match):
    with pytest.raises(ValueError, match=match) as caught:
        load_model(path)
    assert str(caught.value).startswith(f"{path} is damaged (")
    assert "\n" not in str(caught.value)


def set_layer(name, place, change):
    def forge(model):
        getattr(model, name)[place] = change(getattr(model, name)[place])

    return forge


def set_value(name, value, owner=lambda model: model):
    return lambda model: setattr(owner(model), name, value)


def narrower(model):
    """Two layers that fit onto each other, but not onto what stands before and after."""
    model.coefs_[0] = model.coefs_[0][:-1]


def labels_of(model):
    return model._label_binarizer


def three_labels(model):
    model.classes_ = model._label_binarizer.classes_ = np.arange(3)


OTHER_LABELS = LabelBinarizer().fit([0, 2])
FORGED = {
    "first layer of fewer columns": (narrower, "the wrong shape"),
    "first layer of fewer units": (set_layer("coefs_", 0, lambda a: a[:, 1:]), "the wrong shape"),
    "last layer of more units": (
        set_layer("coefs_", 2, lambda a: np.tile(a, 2)),
        "the wrong shape",
    ),
    "flat layer": (set_layer("coefs_", 1, np.ravel), "the wrong shape"),
    "intercepts of fewer units": (set_layer("intercepts_", 1, lambda a: a[1:]), "the wrong shape"),
    "intercepts in a row": (set_layer("intercepts_", 1, lambda a: a[None]), "the wrong shape"),
    "layer of other numbers": (
        set_layer("coefs_", 1, lambda a: a.astype(np.float32)),
        "another type",
    ),
    "layer of whole numbers": (set_layer("coefs_", 0, lambda a: a.astype(int)), "another type"),
    "layer of text": (set_layer("coefs_", 0, lambda a: "text"), "not an array"),
    "sparse layer": (set_layer("coefs_", 0, sparse.csr_matrix), "not an array"),
    "intercepts that are none": (set_layer("intercepts_", 0, lambda a: None), "not an array"),
    "missing layer": (lambda model: model.coefs_.pop(), "other layers"),
    "missing intercepts": (lambda model: model.intercepts_.pop(), "other layers"),
    "no list of layers": (set_value("coefs_", np.zeros((3, 2, 2))), "without layers"),
    "more layers": (set_value("n_layers_", 5), "other layers"),
    "no layers": (set_value("n_layers_", 1), "other layers"),
    "layers that are no number": (set_value("n_layers_", "four"), "an invalid n_layers_"),
    "outputs that are no number": (set_value("n_outputs_", True), "an invalid n_outputs_"),
    "iterations that are no number": (set_value("n_iter_", None), "an invalid n_iter_"),
    "more outputs": (set_value("n_outputs_", 2), "number of outputs"),
    "fewer features": (set_value("n_features_in_", 5), "the wrong shape"),
    "unknown activation": (set_value("activation", "eval"), "unknown activation"),
    "unknown last activation": (set_value("out_activation_", "relu"), "another kind"),
    "last activation of many": (set_value("out_activation_", "softmax"), "another kind"),
    "three classes of two": (three_labels, "number of labels"),
    "three classes": (set_value("classes_", np.arange(3)), "another network"),
    "classes that are no array": (set_value("classes_", "01"), "another network"),
    "labels of others": (set_value("_label_binarizer", OTHER_LABELS), "another network"),
    "no labels": (set_value("_label_binarizer", StandardScaler()), "in place of the labels"),
    "labels of an unknown kind": (set_value("y_type_", "x", labels_of), "unknown kind"),
    "labels of many kinds": (set_value("y_type_", "multiclass", labels_of), "number of labels"),
    "labels of other numbers": (set_value("pos_label", 7, labels_of), "other settings"),
    "losses that are text": (set_value("loss_curve_", ["text"]), "history"),
    "losses that are one": (set_value("loss_curve_", 0.5), "history"),
    "scores that are text": (set_value("validation_scores_", "text"), "history"),
}


class TestForgery:
    @pytest.mark.parametrize("case", FORGED)
    def test_parts_that_do_not_fit(self, tmp_path, case):
        forge, match = FORGED[case]
        model = network().fit(*numbers(60))
        forge(model)
        save_model(model, tmp_path / "m")
        damaged(tmp_path / "m", match)

    @pytest.mark.parametrize(
        "name",
        [
            *("_label_binarizer", "classes_", "intercepts_", "n_features_in_"),
            *("n_iter_", "n_layers_", "n_outputs_", "out_activation_", "t_"),
        ],
    )
    def test_what_every_network_has(self, tmp_path, name):
        model = network().fit(*numbers(60))
        delattr(model, name)
        save_model(model, tmp_path / "m")
        damaged(tmp_path / "m", "AttributeError|an invalid|the wrong shape")

    def test_inside_of_a_stack(self, tmp_path):
        X, y = numbers(120)
        stack = RegionStack(RANGE, estimators=[("net", network())], cv=2, random_state=0).fit(X, y)
        save_model(stack, tmp_path / "m")
        text = json.dumps(description_of(tmp_path / "m"))
        assert NETWORK_NAME in text
        place = text.index('"out_activation_"')
        forged = text[:place] + text[place:].replace('"logistic"', '"softmax"', 1)
        path = rewritten(tmp_path / "m", tmp_path / "forged", description=json.loads(forged))
        damaged(path, "an output of another kind")

    def test_an_optimiser_is_foreign(self, tmp_path):
        """Files without trust cannot bring the state of a training of their own."""
        model = network().fit(*numbers(60))
        save_model(model, tmp_path / "m")
        description = description_of(tmp_path / "m")
        node = description["content"]["model"]
        optimiser = dict(attributes(node)["_label_binarizer"])
        optimiser["class"] = "sklearn.neural_network._stochastic_optimizers.AdamOptimizer"
        set_attribute(node, "_optimizer", optimiser)
        path = rewritten(tmp_path / "m", tmp_path / "forged", description=description)
        with pytest.raises(ValueError, match=r"does not load by default.*AdamOptimizer"):
            load_model(path)
