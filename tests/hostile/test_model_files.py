"""Model files made to do harm are refused, and nothing in them is executed or read out of bounds."""

import copy
import functools
import io
import json
import os
import struct
import subprocess
import sys
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
    RandomForestClassifier,
)
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.utils.validation import check_array

import aucuba.linear._svc
from aucuba import PartialAUCClassifier, PartialAUCSVC, RegionStack
from aucuba.persistence import load_model, save_model
from aucuba.structured import BinnedAUC, StructuredLabelRanker, StructuredRanker
from tests.ensemble.data import numbers
from tests.persistence.archives import entries_of, rewritten, schema_of, written

pytest.importorskip("skops")

RANGE = (0.0, 0.4)
GRADIENT_BOOSTING = [
    "_loss.CyHalfBinomialLoss",
    "sklearn._loss.link.HalfLogitLink",
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
            with pytest.warns(UserWarning, match="does not load by itself"):
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

    @pytest.mark.parametrize(("name", "value"), [("node_count", 1), ("max_depth", 1)])
    def test_sizes(self, data, tmp_path, name, value):
        save_model(RandomForestClassifier(4, random_state=0).fit(*data), tmp_path / "m")
        schema = schema_of(tmp_path / "m")
        trees = schema["content"]["model"]["content"]["content"]["estimators_"]["content"]
        tree = trees[2]["content"]["content"]["tree_"]
        assert tree["__class__"] == "Tree"
        tree["content"]["content"][name]["content"] = str(value)
        refused(rewritten(tmp_path / "m", tmp_path / "forged", schema=schema))

    def test_a_tree_without_nodes(self, data, tmp_path):
        save_model(RandomForestClassifier(1, random_state=0).fit(*data), tmp_path / "m")
        schema = schema_of(tmp_path / "m")
        trees = schema["content"]["model"]["content"]["content"]["estimators_"]["content"]
        state = trees[0]["content"]["content"]["tree_"]["content"]
        state["content"], state["key_types"]["content"] = {}, []
        refused(rewritten(tmp_path / "m", tmp_path / "forged", schema=schema))

    def test_gradient_boosting_with_later_trees_of_other_columns(self, refuse, data):
        model = GradientBoostingClassifier(n_estimators=4, random_state=0).fit(*data)
        tree = model.estimators_[3, 0]
        forge_tree(tree.tree_, feature=2 * 10**9)
        tree.n_features_in_ = 2**31 - 1
        names = [*GRADIENT_BOOSTING, "sklearn._loss._loss.CyHalfBinomialLoss"]
        refuse(model, trusted=names)

    @pytest.mark.parametrize("name", ["n_classes_", "class_prior_"])
    def test_gradient_boosting_with_a_start_for_other_classes(self, refuse, data, name):
        X, y = data
        model = GradientBoostingClassifier(n_estimators=2, random_state=0).fit(X, y + (X[:, 1] > 0))
        setattr(model.init_, name, {"n_classes_": 1, "class_prior_": np.ones(1)}[name])
        names = [name.replace("Binomial", "Multinomial") for name in GRADIENT_BOOSTING]
        names += [
            "sklearn._loss._loss.CyHalfMultinomialLoss",
            "sklearn._loss.link.MultinomialLogit",
        ]
        names += ["sklearn._loss.loss.HalfMultinomialLoss"]
        refuse(model, trusted=names)

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
        predictor = model._predictors[0][0]
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

    def test_a_check_that_returns_an_array_of_the_file(self, refuse, model):
        step = model._preprocessor.transformers_[1][1]
        step.func = functools.partial(check_array, np.zeros((5, 5)))
        refuse(model)


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
        with pytest.warns(UserWarning, match="does not load by itself"):
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
        for forged in (pairs + 10**6, pairs - 5, pairs + 0.5):
            model.label_pairs_ = forged
            refuse(model)

    @pytest.mark.parametrize("sizes", [-1, 0, [2, -3], [], "text"], ids=str)
    def test_bins(self, refuse, sizes):
        measure = BinnedAUC(2)
        object.__setattr__(measure, "sizes", sizes)
        refuse(StructuredRanker(measure))

    def test_random_states(self, small, tmp_path):
        save_model(LogisticRegression(random_state=np.random.RandomState(0)), tmp_path / "m")
        schema = schema_of(tmp_path / "m")
        state = schema["content"]["model"]["content"]["content"]["random_state"]
        state["content"]["content"]["state"]["content"]["pos"]["content"] = str(10**8)
        refused(rewritten(tmp_path / "m", tmp_path / "forged", schema=schema))


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
    def test_attributes_in_the_place_of_methods(self, refuse, data, name):
        model = RandomForestClassifier(2, random_state=0).fit(*data)
        model.__dict__[name] = functools.partial(check_array)
        refuse(model)

    @pytest.mark.parametrize("value", [2.5, "six", True, -1, None], ids=str)
    def test_numbers_of_features(self, refuse, data, value):
        model = RandomForestClassifier(2, random_state=0).fit(*data)
        model.n_features_in_ = value
        refuse(model)

    @pytest.mark.parametrize(
        ("loader", "name"),
        [
            ("FunctionNode", "os.system"),
            ("TypeNode", "posix.system"),
            ("TypeNode", "builtins.eval"),
            ("ObjectNode", "subprocess.Popen"),
            ("LossNode", "canary.Loss"),
            ("MethodNode", "sklearn.pipeline.Pipeline"),
            ("OperatorFuncNode", "operator.methodcaller"),
            ("CachedNode", "sklearn.pipeline.Pipeline"),
            ("ConstructorFromReduceNode", "builtins.bytearray"),
            ("FunctionNode", "sklearn.pipeline.Pipeline"),
        ],
    )
    def test_foreign_things_are_not_even_imported(self, small, tmp_path, monkeypatch, loader, name):
        (tmp_path / "canary.py").write_text("raise SystemExit('imported')")
        monkeypatch.syspath_prepend(tmp_path)
        schema = schema_of(small)
        node = schema["content"]["baseline"]
        node["__module__"], _, node["__class__"] = name.rpartition(".")
        node["__loader__"] = loader
        path = rewritten(small, tmp_path / "forged", schema=schema)
        refused(path, match=f"does not load by itself.*{name}")
        assert "canary" not in sys.modules

    @pytest.mark.parametrize("loader", ["MethodNode", "OperatorFuncNode", "CachedNode"])
    def test_calls_are_refused_even_from_trusted_classes(self, small, tmp_path, loader):
        schema = schema_of(small)
        node = schema["content"]["baseline"]
        node["__module__"], node["__class__"] = "sklearn.pipeline", "Pipeline"
        node["__loader__"] = loader
        path = rewritten(small, tmp_path / "forged", schema=schema)
        refused(path, match="does not load by itself", trusted=["sklearn.pipeline.Pipeline"])

    def test_objects_that_stand_for_others(self, small, tmp_path):
        schema = schema_of(small)
        schema["content"]["baseline"]["__id__"] = 7
        refused(rewritten(small, tmp_path / "forged", schema=schema))

    @pytest.mark.parametrize("protocol", [0, 1, -1, True, "2", None])
    def test_old_protocols(self, small, tmp_path, protocol):
        schema = {**schema_of(small), "protocol": protocol}
        refused(rewritten(small, tmp_path / "forged", schema=schema))


class TestArchives:
    def test_unpacked_size(self, small, tmp_path):
        entries = {**entries_of(small), "zeros.npy": bytes(5_000_000)}
        path = written(tmp_path / "bomb", entries)
        assert path.stat().st_size < 20_000
        refused(path, match=r"unpacks to 5 MB.*max_size=", max_size=1_000_000)

    def test_a_lie_about_the_unpacked_size(self, small, tmp_path):
        entries = {**entries_of(small), "zeros.npy": bytes(5_000_000)}
        content = bytearray(written(tmp_path / "bomb", entries).read_bytes())
        size = struct.pack("<L", 5_000_000)
        place = content.find(size)
        while place >= 0:
            content[place : place + 4] = struct.pack("<L", 100)
            place = content.find(size)
        (tmp_path / "bomb").write_bytes(content)
        refused(tmp_path / "bomb", match=r"is damaged \(in zeros.npy\)", max_size=1_000_000)

    def test_a_bomb_inside_an_entry(self, data, tmp_path):
        X, y = data
        model = PartialAUCSVC(RANGE, kernel="rbf", loss="tight")
        save_model(model.fit(sparse.csr_matrix(X), y), tmp_path / "m")
        entries = entries_of(tmp_path / "m")
        name = next(name for name in entries if name.endswith(".npz"))
        zeros = io.BytesIO()
        np.save(zeros, np.zeros(5_000_000))
        with zipfile.ZipFile(io.BytesIO(entries[name])) as parts:
            inner = {part: parts.read(part) for part in parts.namelist()}
        inner["data.npy"] = zeros.getvalue()
        entries[name] = written(tmp_path / "inner", inner).read_bytes()
        refused(written(tmp_path / "bomb", entries), max_size=10_000_000)

    def test_an_array_that_is_used_often(self, small, tmp_path):
        schema, entries = schema_of(small), entries_of(small)
        zeros = io.BytesIO()
        np.save(zeros, np.zeros(100_000))
        name = {"__module__": "numpy", "__class__": "ndarray", "__loader__": "NdArrayNode"}
        node = {**name, "type": "numpy", "file": "zeros.npy"}
        schema["content"]["baseline"] = {
            "__module__": "builtins",
            "__class__": "list",
            "__loader__": "ListNode",
            "content": [node] * 50,
        }
        entries |= {"zeros.npy": zeros.getvalue(), "schema.json": json.dumps(schema).encode()}
        refused(written(tmp_path / "bomb", entries), max_size=10_000_000)

    @pytest.mark.parametrize("claim", ["(1000000000000,)", "(3,)", "(1000000000000, 0)"])
    def test_arrays_of_another_size_than_they_say(self, small, tmp_path, claim):
        entries = entries_of(small)
        name = next(name for name in entries if name.endswith(".npy"))
        header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {claim}, }}"
        text = header.ljust(117).encode() + b"\n"
        entries[name] = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text
        refused(written(tmp_path / "forged", entries))

    def test_arrays_of_objects(self, small, tmp_path):
        entries = entries_of(small)
        name = next(name for name in entries if name.endswith(".npy"))
        pickled = io.BytesIO()
        np.save(pickled, np.array([print], dtype=object), allow_pickle=True)
        entries[name] = pickled.getvalue()
        refused(written(tmp_path / "forged", entries))

    @pytest.mark.parametrize("entry", ["aucuba.json", "schema.json"])
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
            archive.writestr("schema.json", "{}")
        refused(tmp_path / "twice")

    def test_names_do_not_write_on_the_terminal(self, small, tmp_path):
        content = small.read_bytes().replace(b"schema.json", b"sche\x1b[2J.on")
        (tmp_path / "forged").write_bytes(content)
        refused(tmp_path / "forged", match="an entry of the name 'sche.x1b")
        schema = schema_of(small)
        schema["content"]["baseline"]["__class__"] = "Class\n\x1b[2J"
        path = rewritten(small, tmp_path / "forged", schema=schema)
        refused(path, match=r"does not load by itself.*Class.n.x1b")
        header = {"format": 1, "versions": {"aucuba": "1\n\x1b[2J"}, "metadata": {}}
        path = rewritten(small, tmp_path / "forged", header=header)
        refused(path, match="not a model file")

    def test_a_step_that_is_no_step(self, small, tmp_path):
        schema = schema_of(small)
        schema["content"] = {"other": schema["content"]["model"]}
        refused(rewritten(small, tmp_path / "forged", schema=schema))


def test_functions_with_settings_of_boosting_are_kept(tmp_path):
    """What is refused above in a changed form loads in its own."""
    X, y = numbers(150)
    steps = FunctionTransformer(functools.partial(check_array, dtype=[np.float64]))
    model = make_pipeline(steps, LogisticRegression()).fit(X, y)
    save_model(model, tmp_path / "m")
    np.testing.assert_array_equal(load_model(tmp_path / "m").model.predict(X), model.predict(X))


@pytest.mark.parametrize("n_cases", [40, pytest.param(4000, marks=pytest.mark.slow)])
def test_random_damage_and_forgery(n_cases):
    """Each kind of case, in another process, which a crash may end."""
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
    found = [json.loads(line) for line in run.stdout.splitlines()]
    assert sum(kind["cases"] for kind in found) == 6 * n_cases
    assert [kind["wrong"] for kind in found] == [[]] * 6
    assert all(kind["outcomes"]["refused"] > 0 for kind in found)
