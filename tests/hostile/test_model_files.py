"""Model files made to do harm are refused, and nothing in them is executed or read out of bounds."""

import copy
import functools
import json
import os
import struct
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    IsolationForest,
    RandomForestClassifier,
)
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import check_array

import aucuba.linear._svc
from aucuba import PartialAUCClassifier, PartialAUCSVC, RegionStack
from aucuba.persistence import load_model, save_model
from aucuba.persistence._names import STORED_NAMES
from aucuba.structured import BinnedAUC, StructuredLabelRanker, StructuredRanker
from tests.ensemble.data import numbers
from tests.persistence.archives import (
    arrays_of,
    description_of,
    entries_of,
    rewritten,
    set_attribute,
    written,
)

RANGE = (0.0, 0.4)
GRADIENT_BOOSTING = [
    "sklearn.dummy.DummyClassifier",
    "sklearn.ensemble._gb.GradientBoostingClassifier",
    "sklearn.tree._classes.DecisionTreeRegressor",
]


def refused(path, match="is damaged", **options):
    with pytest.raises(ValueError, match=match) as caught:
        load_model(path, **options)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)


@pytest.fixture
def refuse(tmp_path):
    """Save a model that was tampered with in memory, and see it refused."""

    def check(model, **options):
        if options.get("trusted"):
            with pytest.warns(UserWarning, match="does not load by default"):
                save_model(model, tmp_path / "forged")
        else:
            save_model(model, tmp_path / "forged")
        refused(tmp_path / "forged", **options)

    return check


@pytest.fixture(scope="module")
def data():
    X, y = numbers(150)
    X[:, 0] = np.round(X[:, 0]) % 4
    return X, y


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A small model file."""
    path = tmp_path_factory.mktemp("small") / "m"
    save_model(make_pipeline(StandardScaler(), PartialAUCClassifier(RANGE)).fit(*numbers(80)), path)
    return path


def forge_tree(tree, **fields):
    """Set fields of the first node of a tree."""
    state = tree.__getstate__()
    nodes = state["nodes"].copy()
    for name, value in fields.items():
        nodes[name][0] = value
    tree.__setstate__({**state, "nodes": nodes})


class TestTrees:
    @pytest.mark.parametrize("forest", [RandomForestClassifier, ExtraTreesClassifier])
    @pytest.mark.parametrize(
        "fields",
        [
            {"left_child": 0},
            {"left_child": -2},
            {"right_child": 10**6},
            {"right_child": 1},
            {"feature": 6},
            {"feature": 2 * 10**9},
            {"feature": -1},
        ],
        ids=str,
    )
    def test_nodes(self, refuse, data, forest, fields):
        model = forest(4, random_state=0).fit(*data)
        forge_tree(model.estimators_[-1].tree_, **fields)
        refuse(model)

    def test_a_tree_with_columns_of_its_own(self, refuse, data):
        model = RandomForestClassifier(4, random_state=0).fit(*data)
        forge_tree(model.estimators_[1].tree_, feature=2 * 10**9)
        model.estimators_[1].n_features_in_ = 2**31 - 1
        refuse(model)

    def test_a_forest_without_a_number_of_features(self, refuse, data):
        model = RandomForestClassifier(4, random_state=0).fit(*data)
        del model.n_features_in_
        refuse(model)

    @pytest.mark.parametrize(
        "forge",
        [
            lambda model: forge_tree(model.estimators_[1].tree_, feature=2 * 10**9),
            lambda model: model.estimators_features_.__setitem__(1, np.array([0, 1, 9])),
            lambda model: model.estimators_features_.pop(),
            lambda model: setattr(model, "_max_features", 6),
            lambda model: setattr(model, "_max_features", "all"),
            lambda model: setattr(
                model, "_decision_path_lengths", [one[:-1] for one in model._decision_path_lengths]
            ),
            lambda model: setattr(model, "_average_path_length_per_tree", ()),
        ],
    )
    def test_isolation_forests(self, refuse, data, forge):
        model = IsolationForest(n_estimators=4, max_features=3, random_state=0).fit(data[0])
        forge(model)
        refuse(model)

    @pytest.fixture
    def forest(self, data, tmp_path):
        """A file with a forest, the places of the arrays of its trees, and the arrays."""
        save_model(RandomForestClassifier(4, random_state=0).fit(*data), tmp_path / "m")
        places = description_of(tmp_path / "m")["trees"][0][2]
        return tmp_path / "m", places, arrays_of(tmp_path / "m")

    @pytest.mark.parametrize("name", ["counts", "left_child", "feature", "threshold", "values"])
    @pytest.mark.parametrize(
        "change",
        [
            lambda array: array.ravel()[0],
            lambda array: array[:0],
            lambda array: array[:-1],
            lambda array: array[None],
            lambda array: array.ravel()[:, None],
            lambda array: array.astype(np.float32),
            lambda array: array.astype("U4"),
        ],
        ids=["0-d", "empty", "shorter", "row", "column", "float32", "text"],
    )
    def test_arrays(self, forest, tmp_path, name, change):
        """A 0-d array once reached compiled code, which ended the process."""
        path, places, arrays = forest
        arrays[places[name]] = np.asarray(change(arrays[places[name]]))
        path = rewritten(path, tmp_path / "forged", arrays=arrays)
        words = "sizes of|a tree without|nodes whose|values of|the wrong size|an array of"
        refused(path, match=rf"is damaged \(({words})")

    @pytest.mark.parametrize("counts", [[0, 1], [-5, 1], [2**62, 1], [1, 2]], ids=str)
    def test_sizes(self, forest, tmp_path, counts):
        path, places, arrays = forest
        arrays[places["counts"]][:2] = counts
        refused(rewritten(path, tmp_path / "forged", arrays=arrays))

    def test_nodes_that_run_in_circles_out_of_reach_of_the_root(self, tmp_path):
        """Every node is the child of one node, but two are children of each other."""
        save_model(
            DecisionTreeClassifier(max_depth=2).fit([[0], [1], [2], [3]], [0, 1, 0, 1]),
            tmp_path / "m",
        )
        places, arrays = description_of(tmp_path / "m")["trees"][0][2], arrays_of(tmp_path / "m")
        left, right = (arrays[places[side]] for side in ("left_child", "right_child"))
        n_nodes = len(left)
        assert n_nodes >= 5
        left[:], right[:] = -1, -1
        left[0], right[0] = 1, 2
        left[3], right[3] = 4, 3
        path = rewritten(tmp_path / "m", tmp_path / "forged", arrays=arrays)
        refused(path, match="runs in circles")

    def test_children_in_another_tree(self, forest, tmp_path):
        """The sizes of two trees are changed so that one reaches into the other."""
        path, places, arrays = forest
        counts = arrays[places["counts"]]
        assert counts[1] > 1
        counts[:2] = 1, counts[:2].sum() - 1
        refused(rewritten(path, tmp_path / "forged", arrays=arrays), match="index out of range")

    @pytest.mark.parametrize("numbers", [[6, [3]], [7, [2]], [6, [2, 2]], [6, []], [6, [2.0]]])
    def test_columns_and_classes(self, forest, tmp_path, numbers):
        description = description_of(forest[0])
        description["trees"][0][:2] = numbers
        refused(rewritten(forest[0], tmp_path / "forged", description=description))

    @pytest.mark.parametrize("name", ["n_classes_", "n_outputs_"])
    def test_counts_that_no_tree_confirms(self, refuse, data, name):
        model = RandomForestClassifier(4, random_state=0).fit(*data)
        setattr(model, name, 10**9)
        refuse(model)

    @pytest.mark.parametrize("place", [[0, 4], [1, 0], [0, -1], [-1, 0], [0, 0.0], [0]], ids=str)
    def test_trees_that_are_not_there(self, forest, tmp_path, place):
        text = json.dumps(description_of(forest[0]))
        text = text.replace('{"tree": [0, 1]}', json.dumps({"tree": place}))
        path = rewritten(forest[0], tmp_path / "forged", description=json.loads(text))
        refused(path)

    def test_a_chain_of_nodes_is_checked_in_time(self, forest, tmp_path):
        """A tree as deep as it has nodes, which a loop over levels would take minutes for."""
        path, places, arrays = forest
        n_inner = 400_000
        steps = np.arange(n_inner)
        left = np.concatenate([2 * steps + 1, [-1]])
        fields = {"left_child": np.full(2 * n_inner + 1, -1), "right_child": None}
        fields["left_child"][::2] = left
        fields["right_child"] = np.full(2 * n_inner + 1, -1)
        fields["right_child"][::2] = np.concatenate([2 * steps + 2, [-1]])
        for name, place in places.items():
            old = arrays[place]
            new = np.zeros((2 * n_inner + 1, *old.shape[1:]), dtype=old.dtype)
            arrays[place] = fields.get(name, new)
        arrays[places["counts"]] = np.array([2 * n_inner + 1])
        description = description_of(path)
        text = json.dumps(description)
        for number in (1, 2, 3):
            text = text.replace(f'{{"tree": [0, {number}]}}', '{"tree": [0, 0]}')
        path = rewritten(path, tmp_path / "deep", description=json.loads(text), arrays=arrays)
        start = time.process_time()
        tree = load_model(path).model.estimators_[0].tree_
        assert tree.max_depth == n_inner
        assert time.process_time() - start < 5

    def test_gradient_boosting_with_later_trees_of_other_columns(self, refuse, data):
        model = GradientBoostingClassifier(n_estimators=4, random_state=0).fit(*data)
        tree = model.estimators_[3, 0]
        forge_tree(tree.tree_, feature=2 * 10**9)
        tree.n_features_in_ = 2**31 - 1
        refuse(model, trusted=GRADIENT_BOOSTING)

    @pytest.mark.parametrize("name", ["n_classes_", "class_prior_"])
    def test_gradient_boosting_with_a_start_for_other_classes(self, refuse, data, name):
        X, y = data
        model = GradientBoostingClassifier(n_estimators=2, random_state=0).fit(X, y + (X[:, 1] > 0))
        setattr(model.init_, name, {"n_classes_": 1, "class_prior_": np.ones(1)}[name])
        refuse(model, trusted=GRADIENT_BOOSTING)

    def test_gradient_boosting_with_something_else_in_the_place_of_a_tree(self, refuse, data):
        model = GradientBoostingClassifier(n_estimators=2, random_state=0).fit(*data)
        model.estimators_[1, 0].tree_ = StandardScaler()
        refuse(model, trusted=GRADIENT_BOOSTING)

    def test_gradient_boosting_with_more_trees_than_scores(self, refuse, data):
        model = GradientBoostingClassifier(n_estimators=4, random_state=0).fit(*data)
        model.estimators_ = np.hstack([model.estimators_] * 3)
        refuse(model, trusted=GRADIENT_BOOSTING)


class TestHistogramBoosting:
    @pytest.fixture
    def model(self, data):
        X, _ = data
        booster = HistGradientBoostingClassifier(max_iter=3, categorical_features=[0])
        booster.fit(X, np.isin(X[:, 0], [1, 3]))
        assert booster._predictors[0][0].nodes["is_categorical"][0]
        return booster

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("left", 0),
            ("right", 10**6),
            ("feature_idx", 6),
            ("feature_idx", -1),
            ("bitset_idx", 50),
        ],
    )
    def test_nodes(self, refuse, model, field, value):
        model._predictors[-1][0].nodes[field][0] = value
        refuse(model)

    def test_no_nodes(self, refuse, model):
        model._predictors[1][0].nodes = model._predictors[1][0].nodes[:0]
        refuse(model)

    def test_short_sets_of_categories(self, refuse, model):
        for (predictor,) in model._predictors:
            predictor.raw_left_cat_bitsets = predictor.raw_left_cat_bitsets[:, :1].copy()
        refuse(model)

    def test_short_maps_of_bins(self, refuse, model):
        model._bin_mapper.is_categorical_ = model._bin_mapper.is_categorical_[:1]
        refuse(model)

    def test_columns_lost_on_the_way(self, refuse, model):
        name, step, columns = model._preprocessor.transformers_[1]
        columns = columns & (np.arange(6) < 3)
        model._preprocessor.transformers_[1] = (name, step, columns)
        refuse(model)

    def test_columns_replaced_by_others(self, refuse, model, data):
        X, _ = data
        inner = ColumnTransformer([("a", "passthrough", [1])]).fit(X[:, 1:])
        name, _, columns = model._preprocessor.transformers_[1]
        model._preprocessor.transformers_[1] = (name, inner, columns)
        refuse(model)

    def test_input_that_is_taken_for_binned(self, refuse, model):
        model._in_fit = True
        refuse(model)

    @pytest.mark.parametrize("count", [3, 10**9, -1, 1.5])
    def test_a_number_of_trees_that_no_stage_has(self, refuse, model, count):
        model.n_trees_per_iteration_ = count
        refuse(model)

    def test_a_check_that_returns_an_array_of_the_file(self, model, tmp_path):
        save_model(model, tmp_path / "m")
        text = json.dumps(description_of(tmp_path / "m"))
        forged = text.replace('"dtype", [', '"array", [')
        assert forged != text
        path = rewritten(tmp_path / "m", tmp_path / "forged", description=json.loads(forged))
        refused(path, match="a function with unknown arguments")

    @pytest.mark.parametrize(
        "name", ["counts", "set_counts", "feature_idx", "raw_left_cat_bitsets", "is_leaf"]
    )
    @pytest.mark.parametrize(
        "change",
        [
            lambda array: array.ravel()[0],
            lambda array: array[:0],
            lambda array: array[:-1],
            lambda array: array[None],
            lambda array: array.astype(np.float16),
        ],
        ids=["0-d", "empty", "shorter", "row", "float16"],
    )
    def test_arrays(self, model, tmp_path, name, change):
        save_model(model, tmp_path / "m")
        arrays, places = arrays_of(tmp_path / "m"), description_of(tmp_path / "m")["predictors"]
        arrays[places[name]] = np.asarray(change(arrays[places[name]]))
        path = rewritten(tmp_path / "m", tmp_path / "forged", arrays=arrays)
        refused(path, match=r"is damaged \((sizes of|nodes whose|sets of|values of|a tree)")


class TestArrays:
    def test_support_vectors_that_are_not_there(self, refuse, data):
        model = SVC().fit(*data)
        model._n_support = np.array([30_000_000, 30_000_000], dtype=np.int32)
        refuse(model, trusted=[SVC])

    def test_coefficients_of_other_support_vectors(self, refuse, data):
        model = SVC().fit(*data)
        model._dual_coef_ = model.dual_coef_ = model.dual_coef_[:, :1]
        refuse(model, trusted=[SVC])

    def test_sparse_coefficients_of_support_vectors(self, refuse, data):
        model = SVC().fit(sparse.csr_matrix(data[0]), data[1])
        coef = model.dual_coef_.toarray()
        coef[0, 1:] = 0.0
        model._dual_coef_ = model.dual_coef_ = sparse.csr_matrix(coef)
        refuse(model, trusted=[SVC])

    def test_a_kernel_matrix_with_fewer_columns(self, refuse, data):
        model = SVC(kernel="precomputed").fit(data[0] @ data[0].T, data[1])
        model.support_ = model.support_ + 10**6
        refuse(model, trusted=[SVC])

    @pytest.mark.parametrize("kernel", ["rbf", "precomputed"])
    def test_support_vectors_as_they_were_fitted(self, tmp_path, data, kernel):
        X, y = data
        X = X @ X.T if kernel == "precomputed" else X
        model = SVC(kernel=kernel).fit(X, y)
        with pytest.warns(UserWarning, match="does not load by default"):
            save_model(model, tmp_path / "m")
        again = load_model(tmp_path / "m", trusted=[SVC]).model
        np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))

    @pytest.mark.parametrize(
        ("model", "name"),
        [
            (LogisticRegression(), "coef_"),
            (LogisticRegression(), "intercept_"),
            (StandardScaler(), "scale_"),
            (StandardScaler(), "mean_"),
            (MaxAbsScaler(), "scale_"),
            (PartialAUCClassifier(RANGE), "coef_"),
            (PartialAUCClassifier(RANGE), "intercept_"),
            (PartialAUCSVC(RANGE, kernel="rbf", loss="tight"), "dual_coef_"),
            (PartialAUCSVC(RANGE, kernel="rbf", loss="tight"), "kernel_rows_"),
            (RegionStack(RANGE, estimators=["linear"], cv=2, random_state=0), "coef_"),
        ],
        ids=lambda value: value if isinstance(value, str) else type(value).__name__,
    )
    def test_other_shapes(self, refuse, data, model, name):
        fitted = copy.deepcopy(model).fit(*data)
        array = getattr(fitted, name)
        setattr(fitted, name, np.concatenate([array, array], axis=-1))
        refuse(fitted)
        setattr(fitted, name, "text")
        refuse(fitted)

    def test_nystroem_components(self, refuse, data):
        features = Nystroem(n_components=5, random_state=0)
        model = make_pipeline(features, PartialAUCClassifier(RANGE, tol=1e-3)).fit(*data)
        features.components_ = features.components_[:, :2]
        refuse(model)

    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
    def test_features_of_a_large_kernel(self, refuse, data, monkeypatch):
        monkeypatch.setattr(aucuba.linear._svc, "MAX_KERNEL_ROWS", 20)
        model = PartialAUCSVC(RANGE, loss="tight", kernel="rbf", n_components=5, random_state=0)
        with pytest.warns(UserWarning, match="Nystroem features"):
            model.fit(*data)
        model.coef_ = model.coef_[:, :4]
        refuse(model)
        model.feature_map_ = "text"
        refuse(model)

    def test_splines(self, refuse, data):
        model = RegionStack(RANGE, estimators=["splines_logistic"], cv=2, random_state=0).fit(*data)
        prepared = model.members_[0][1][0].encode_.named_transformers_["splines"]
        prepared[1].bsplines_ = prepared[1].bsplines_[:1]
        refuse(model)

    @pytest.mark.parametrize("place", [-1, 6, 2**31 - 1])
    def test_sparse_rows(self, refuse, data, place):
        X, y = data
        model = PartialAUCSVC(RANGE, kernel="rbf", loss="tight")
        model.fit(sparse.csr_matrix(X), y)
        model.kernel_rows_.indices[0] = place
        refuse(model)

    def test_pairs_of_labels(self, refuse, data):
        X, y = data
        Y = np.column_stack([y, y, X[:, 1] > 0, X[:, 2] > 0]).astype(int)
        model = StructuredLabelRanker(C=5.0, max_iter=3, tol=10.0).fit(X, Y)
        pairs = model.label_pairs_
        # A label in a pair with itself: the scores of rows never came.
        for forged in (pairs + 10**6, pairs - 5, pairs + 0.5, pairs[:, [0, 0]]):
            model.label_pairs_ = forged
            refuse(model)

    @pytest.mark.parametrize("sizes", [-1, 0, [2, -3], [], "text"], ids=str)
    def test_bins(self, refuse, sizes):
        measure = BinnedAUC(2)
        object.__setattr__(measure, "sizes", sizes)
        refuse(StructuredRanker(measure))

    @pytest.mark.parametrize("place", [625, 10**8, -1, 0.5])
    def test_random_states(self, tmp_path, place):
        save_model(LogisticRegression(random_state=np.random.RandomState(0)), tmp_path / "m")
        text = json.dumps(description_of(tmp_path / "m"))
        forged = text.replace('"pos", 624', f'"pos", {place}')
        assert forged != text
        refused(rewritten(tmp_path / "m", tmp_path / "forged", description=json.loads(forged)))


class TestOneHotEncoder:
    @pytest.fixture
    def encoder(self):
        X = np.repeat([[0, 0], [1, 1], [2, 5], [3, 6]], [9, 8, 2, 1], axis=0)
        return OneHotEncoder(min_frequency=3, handle_unknown="infrequent_if_exist").fit(X)

    def test_columns(self, refuse, encoder):
        encoder._n_features_outs = [1, 1]
        refuse(encoder)

    def test_codes(self, refuse, encoder):
        encoder._default_to_infrequent_mappings[0] = np.array([0, 1, 2, 10**6])
        refuse(encoder)

    def test_codes_of_unknown_values(self, refuse, encoder):
        encoder._infrequent_indices[0] = np.array([10**6, 10**6])
        refuse(encoder)

    def test_order(self, refuse, encoder):
        encoder.categories_[1] = encoder.categories_[1][::-1]
        refuse(encoder)

    def test_dropped_values(self, refuse):
        encoder = OneHotEncoder(drop="first").fit([[0], [1], [2]])
        encoder._drop_idx_after_grouping = np.array([-5], dtype=object)
        refuse(encoder)


class TestObjects:
    @pytest.mark.parametrize("name", ["_validate_X_predict", "predict_proba", "__class__"])
    def test_attributes_in_the_place_of_methods(self, data, tmp_path, name):
        save_model(RandomForestClassifier(2, random_state=0).fit(*data), tmp_path / "m")
        description = description_of(tmp_path / "m")
        set_attribute(description["content"]["model"], name, 1)
        path = rewritten(tmp_path / "m", tmp_path / "forged", description=description)
        refused(path, match=f"an attribute in place of {name}")

    @pytest.mark.parametrize("value", [2.5, "six", True, -1, None], ids=str)
    def test_numbers_of_features(self, refuse, data, value):
        model = RandomForestClassifier(2, random_state=0).fit(*data)
        model.n_features_in_ = value
        refuse(model)

    @pytest.mark.parametrize("tag", ["class", "type"])
    @pytest.mark.parametrize(
        "name",
        [
            *("os.system", "builtins.eval", "subprocess.Popen", "canary.Loss", "canary"),
            *("operator.methodcaller", "builtins.bytearray", "sklearn.svm._classes.SVC"),
        ],
    )
    def test_foreign_things_are_not_even_imported(self, small, tmp_path, monkeypatch, tag, name):
        (tmp_path / "canary.py").write_text("raise SystemExit('imported')")
        monkeypatch.syspath_prepend(tmp_path)
        description = description_of(small)
        description["content"]["baseline"] = {"tuple": [{tag: name}]}
        path = rewritten(small, tmp_path / "forged", description=description)
        refused(path, match=f"does not load by default.*{name}")
        assert "canary" not in sys.modules

    @pytest.mark.parametrize("tag", ["class", "type"])
    def test_functions_are_refused_even_where_they_are_trusted(self, small, tmp_path, tag):
        description = description_of(small)
        node = {tag: "os.system", "called": True, "args": [f"touch {tmp_path}/x"], "items": []}
        description["content"]["baseline"] = node
        path = rewritten(small, tmp_path / "forged", description=description)
        refused(path, match="another object in place of a", trusted=["os.system"])
        assert not (tmp_path / "x").exists()

    @pytest.mark.parametrize("extra", [{"called": True}, {"args": [1]}, {"items": [["a", 1]]}])
    def test_constructors_of_classes_that_need_no_trust_are_not_called(
        self, small, tmp_path, extra
    ):
        description = description_of(small)
        description["content"]["model"] |= extra
        refused(rewritten(small, tmp_path / "f", description=description), match="an unknown form")

    @pytest.mark.parametrize(
        "node",
        [
            {},
            {"unknown": 1},
            {"__init__": 1},
            {"array": 10**6},
            {"array": -1},
            {"array": True},
            {"scalar": 1},
            {"class": "aucuba.PartialAUCClassifier", "state": 3},
            {"class": "sklearn.pipeline.Pipeline", "state": {"dict": [1, 2]}},
            {"dict": [1]},
            {"dict": [[], 1]},
            {"slice": [1, 2, 3, 4]},
            {"dtype": "O,O"},
            {"dtype": "float64"},
            {"objects": [1, 2], "shape": [3]},
            {"objects": [1, 2], "shape": [2**40, 0]},
            {"masked": [1, 2]},
            {"sparse": "csr_matrix", "parts": [1, 2, 3, [4, 5]]},
            {"sparse": "linalg", "parts": [1, 2, 3, [4, 5]]},
            {"generator": [{"dict": ["bit_generator", "MT19937"]}, {"dict": ["pool_size", 4]}]},
            {"generator": [{"dict": ["bit_generator", "PCG64"]}, {"dict": ["pool_size", 2**40]}]},
            {"masked": [{"array": 0}, {"array": 0}]},
        ],
        ids=lambda node: json.dumps(node)[:40],
    )
    def test_nodes(self, small, tmp_path, node):
        description = description_of(small)
        description["content"]["baseline"] = [node]
        refused(rewritten(small, tmp_path / "forged", description=description))


class TestParts:
    """Parts of a description that are nearly right."""

    @pytest.fixture
    def refuse_part(self, small, tmp_path):
        def check(node, arrays, match):
            description, given = description_of(small), arrays_of(small)
            description["content"]["baseline"] = node(len(given))
            path = rewritten(
                small, tmp_path / "f", description=description, arrays=[*given, *arrays]
            )
            refused(path, match=match)

        return check

    @pytest.mark.parametrize(
        ("arrays", "match"),
        [
            ([np.zeros(3), np.zeros(2, bool)], "the wrong shape"),
            ([np.zeros(3), np.zeros(3)], "the wrong shape"),
        ],
    )
    def test_masks(self, refuse_part, arrays, match):
        refuse_part(lambda n: {"masked": [{"array": n}, {"array": n + 1}]}, arrays, match)

    @pytest.mark.parametrize(
        ("change", "shape", "match"),
        [
            ({0: np.array(["a", "b"])}, [2, 3], "another type"),
            ({1: np.array([0.0, 1.0])}, [2, 3], "another type"),
            ({2: np.array([[0, 1, 2]])}, [2, 3], "the wrong shape"),
            ({}, [2, 2**40], "the wrong shape"),
            ({}, [2, -3], "the wrong shape"),
            ({}, [2, 1.5], "the wrong shape"),
            ({1: np.array([0, 3])}, [2, 3], "ValueError"),
            ({2: np.array([0, 2, 1])}, [2, 3], "ValueError"),
        ],
    )
    def test_sparse_matrices(self, refuse_part, change, shape, match):
        arrays = [np.ones(2), np.array([0, 2]), np.array([0, 1, 2])]
        arrays = [change.get(place, array) for place, array in enumerate(arrays)]
        refuse_part(
            lambda n: {
                "sparse": "csr_matrix",
                "parts": [{"array": n + k} for k in range(3)] + [shape],
            },
            arrays,
            match,
        )

    @pytest.mark.parametrize(
        ("key", "place"),
        [(np.zeros(600, np.uint32), 5), (np.zeros(624), 5), (np.zeros(624, np.uint32), 5.0)],
    )
    def test_random_states(self, refuse_part, key, place):
        def node(n):
            inner = {"dict": ["key", {"array": n}, "pos", place]}
            outer = ["bit_generator", "MT19937", "state", inner, "has_gauss", 0, "gauss", 0.0]
            return {"random_state": {"dict": outer}}

        refuse_part(node, [key], "the wrong shape")

    def test_sets_of_categories_of_fewer_trees(self, tmp_path):
        X, y = numbers(150)
        save_model(HistGradientBoostingClassifier(max_iter=3).fit(X, y), tmp_path / "m")
        arrays, places = arrays_of(tmp_path / "m"), description_of(tmp_path / "m")["predictors"]
        arrays[places["set_counts"]] = np.array([0])
        path = rewritten(tmp_path / "m", tmp_path / "forged", arrays=arrays)
        refused(path, match="sets of other trees")


class TestArchives:
    @pytest.mark.parametrize(
        "header",
        [
            {"format": 0},
            {"format": True},
            {"format": "1"},
            {"format": 1, "metadata": []},
            {"format": 1, "versions": 5},
            {"format": 1, "labels": ["a"]},
            {"format": 1, "labels": ["a", 1]},
            {"format": 1, "labels": [0.5, 1.5]},
            {},
            [],
        ],
        ids=json.dumps,
    )
    def test_headers(self, small, tmp_path, header):
        refused(rewritten(small, tmp_path / "forged", header=header), match="is not a model file")

    @pytest.mark.parametrize("description", [[1], "text", 5], ids=str)
    def test_descriptions_that_are_none(self, small, tmp_path, description):
        refused(rewritten(small, tmp_path / "f", description=description), match="no description")

    def test_too_few_bytes(self, small, tmp_path):
        entries = entries_of(small)
        entries["arrays.bin"] = entries["arrays.bin"][:-8]
        refused(written(tmp_path / "f", entries), match="an array of the wrong size")

    def test_missing_entries(self, small, tmp_path):
        entries = entries_of(small)
        del entries["arrays.bin"]
        refused(written(tmp_path / "f", entries), match="is damaged")

    def test_unpacked_size(self, small, tmp_path):
        path = rewritten(small, tmp_path / "bomb", arrays=[*arrays_of(small), np.zeros(625_000)])
        assert path.stat().st_size < 20_000
        refused(path, match=r"unpacks to 5 MB.*max_size=", max_size=1_000_000)

    def test_a_lie_about_the_unpacked_size(self, small, tmp_path):
        path = rewritten(small, tmp_path / "bomb", arrays=[*arrays_of(small), np.zeros(625_000)])
        size = struct.pack("<L", len(entries_of(path)["arrays.bin"]))
        content = path.read_bytes().replace(size, struct.pack("<L", 100))
        path.write_bytes(content)
        refused(path, match=r"is damaged \(in an entry", max_size=1_000_000)

    def test_an_array_that_is_used_often_is_one_array(self, small, tmp_path):
        description, arrays = description_of(small), arrays_of(small)
        description["content"]["baseline"] = [{"array": len(arrays)}] * 50
        arrays.append(np.zeros(100_000))
        path = rewritten(small, tmp_path / "often", description=description, arrays=arrays)
        baseline = load_model(path, max_size=10_000_000).baseline
        assert len(baseline) == 50
        assert len({id(one) for one in baseline}) == 1

    @pytest.mark.parametrize(
        "shape", [[10**12], [3], [10**12, 0], [-1], [2.0], [1] * 40, 5], ids=str
    )
    def test_arrays_of_another_size_than_they_say(self, small, tmp_path, shape):
        description = description_of(small)
        description["arrays"][0][1] = shape
        refused(rewritten(small, tmp_path / "forged", description=description))

    @pytest.mark.parametrize(
        "dtype", ["|O", "O8", "|V8", "<f8,<f8", "<U0", "<M8[s]x", "<f99", "<U999999999", 8, None]
    )
    def test_arrays_of_other_types(self, small, tmp_path, dtype):
        description = description_of(small)
        description["arrays"][0][0] = dtype
        refused(rewritten(small, tmp_path / "forged", description=description))

    def test_bytes_that_belong_to_no_array(self, small, tmp_path):
        entries = entries_of(small)
        entries["arrays.bin"] += bytes(8)
        refused(written(tmp_path / "forged", entries), match="bytes that belong to no array")

    def test_booleans_are_zero_or_one(self, small, tmp_path):
        """NumPy counts the bytes of a mask, so that others would write out of bounds."""
        description, entries = description_of(small), entries_of(small)
        place = len(description["arrays"])
        description["arrays"].append(["|b1", [8]])
        description["content"]["baseline"] = {"array": place}
        entries["arrays.bin"] += bytes([0, 1, 2, 255, 0, 7, 1, 0])
        entries["model.json"] = json.dumps(description)
        mask = load_model(written(tmp_path / "forged", entries)).baseline
        assert mask.view(np.uint8).tolist() == [0, 1, 1, 1, 0, 1, 1, 0]

    def test_text_of_unknown_characters(self, small, tmp_path):
        letters = np.array([2**31], dtype="<u4").view("<U1")
        path = rewritten(small, tmp_path / "forged", arrays=[*arrays_of(small), letters])
        refused(path, match="unknown characters")

    def test_arrays_of_the_other_byte_order(self, small, tmp_path):
        arrays = [one.astype(one.dtype.newbyteorder(">")) for one in arrays_of(small)]
        model = load_model(rewritten(small, tmp_path / "big", arrays=arrays)).model
        expected = load_model(small).model
        assert model[-1].coef_.dtype == np.float64
        assert model[-1].coef_.dtype.isnative
        np.testing.assert_array_equal(model[-1].coef_, expected[-1].coef_)

    @pytest.mark.parametrize("node", [[], {"tuple": []}], ids=str)
    def test_more_objects_than_memory(self, small, tmp_path, node):
        description = description_of(small)
        description["content"]["baseline"] = [node] * 200_000
        path = rewritten(small, tmp_path / "bomb", description=description)
        refused(path, match="objects, more than max_size")

    @pytest.mark.parametrize("entry", ["aucuba.json", "model.json"])
    def test_deep_json(self, small, tmp_path, entry):
        entries = {**entries_of(small), entry: b"[" * 200_000}
        refused(written(tmp_path / "deep", entries), match="damaged|not a model file")

    @pytest.mark.parametrize(("place", "value"), [(8, 99), (6, 1)], ids=["method", "encrypted"])
    def test_unknown_compression_and_encryption(self, small, tmp_path, place, value):
        content = bytearray(small.read_bytes())
        # The local and the central header of the last entry.
        with zipfile.ZipFile(small) as archive:
            content[archive.infolist()[-1].header_offset + place] = value
        content[content.rfind(b"PK\x01\x02") + place + 2] = value
        (tmp_path / "forged").write_bytes(content)
        refused(tmp_path / "forged")

    def test_two_entries_of_one_name(self, small, tmp_path):
        written(tmp_path / "twice", entries_of(small))
        with (
            zipfile.ZipFile(tmp_path / "twice", "a") as archive,
            pytest.warns(UserWarning, match="Duplicate"),
        ):
            archive.writestr("model.json", "{}")
        refused(tmp_path / "twice", match="entries of one name")

    def test_names_do_not_write_on_the_terminal(self, small, tmp_path):
        content = small.read_bytes().replace(b"model.json", b"mod\x1b[2J.on")
        (tmp_path / "forged").write_bytes(content)
        refused(tmp_path / "forged", match="an entry of the name 'mod.x1b")
        description = description_of(small)
        description["content"]["baseline"] = {"class": "Class\n\x1b[2J"}
        path = rewritten(small, tmp_path / "forged", description=description)
        refused(path, match=r"does not load by default.*Class.n.x1b")
        header = {"format": 1, "versions": {"aucuba": "1\n\x1b[2J"}, "metadata": {}}
        path = rewritten(small, tmp_path / "forged", header=header)
        refused(path, match="not a model file")

    def test_a_step_that_is_no_step(self, small, tmp_path):
        description = description_of(small)
        description["content"] = {"other": description["content"]["model"]}
        refused(rewritten(small, tmp_path / "forged", description=description), match="no model")


def test_functions_with_settings_of_boosting_are_kept(tmp_path):
    """What is refused above in a changed form loads in its own."""
    X, y = numbers(150)
    steps = FunctionTransformer(functools.partial(check_array, dtype=[np.float64]))
    model = make_pipeline(steps, LogisticRegression()).fit(X, y)
    save_model(model, tmp_path / "m")
    np.testing.assert_array_equal(load_model(tmp_path / "m").model.predict(X), model.predict(X))


@pytest.mark.skipif(sys.platform != "linux", reason="needs fork and /proc")
@pytest.mark.parametrize("n_cases", [5, pytest.param(500, marks=pytest.mark.slow)])
def test_random_damage_and_forgery(n_cases):
    """Cases aimed at each class and kind of object, in children that a crash may end."""
    pytest.importorskip("pandas")
    root = Path(__file__).parents[2]
    command = [sys.executable, "-m", "tests.hostile.model_files", "0", str(n_cases)]
    paths = os.pathsep.join([str(root / "src"), str(root)])
    run = subprocess.run(
        command,
        cwd=root,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-1000:]
    found = {line["target"]: line for line in map(json.loads, run.stdout.splitlines())}
    assert found.keys() >= STORED_NAMES.keys() | {"tree", "predictor", "array", "sparse"}
    assert {target: one["wrong"] for target, one in found.items() if one["wrong"]} == {}
    assert all(one["cases"] == n_cases for one in found.values())
    refused, loaded = (
        sum(one["outcomes"].get(name, 0) for one in found.values())
        for name in ("refused", "loaded")
    )
    assert refused > loaded > 0


@pytest.mark.skipif(sys.platform != "linux", reason="needs fork and /proc")
def test_crashes_and_growth_are_seen(tmp_path, monkeypatch):
    """The fuzzer counts a process that ends, and one that takes too much memory."""
    from tests.hostile import model_files

    path = tmp_path / "m"
    save_model(LogisticRegression().fit(*numbers(80)), path)
    whole = [model_files.Original.from_file(path, None)]

    def crash(path, **options):
        os.abort()

    def grow(path, **options):
        _ = np.ones(30_000_000)
        raise ValueError(f"{path}")

    target = "sklearn.linear_model.LogisticRegression"
    for change, words in ((crash, "the process ended"), (grow, "MB")):
        monkeypatch.setattr(model_files, "load_model", change)
        found = model_files.try_cases(target, 0, 2, whole, tmp_path)
        assert found["outcomes"] == {"wrong": 2}
        assert all(words in wrong for _, wrong in found["wrong"])
