"""Names in model files: fixed, whatever moves; what older files lack is filled in."""

import json
import re
import zipfile

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from aucuba import FixedFPRClassifier, PartialAUCClassifier, RegionStack
from aucuba.persistence import _names, load_model, save_model
from aucuba.persistence._migrations import MIGRATIONS
from aucuba.persistence._names import STORED_NAMES, full_name, present_class
from tests.ensemble.data import numbers
from tests.persistence.archives import rewritten, schema_of

pytest.importorskip("skops")

RANGE = (0.0, 0.4)


@pytest.fixture
def fitted():
    return PartialAUCClassifier(RANGE).fit(*numbers(80))


@pytest.fixture
def saved(fitted, tmp_path):
    save_model(tmp_path / "m", fitted)
    return tmp_path / "m"


@pytest.mark.parametrize("stored", STORED_NAMES)
def test_stored_names_lead_to_classes(stored):
    assert isinstance(present_class(stored), type)


def test_public_classes_are_stored_by_the_name_that_users_import():
    for stored, place in STORED_NAMES.items():
        assert stored == place or stored.startswith("aucuba.helper.")


def test_the_file_holds_the_public_name_alone(saved):
    text = json.dumps(schema_of(saved))
    assert '"__module__": "aucuba"' in text
    assert "aucuba." not in text


def test_equal_models_are_equal_files(fitted, saved, tmp_path):
    save_model(tmp_path / "again", fitted)
    assert (tmp_path / "again").read_bytes() == saved.read_bytes()


def test_a_class_that_moved_is_found(fitted, saved, monkeypatch):
    class Moved(PartialAUCClassifier):
        pass

    monkeypatch.setattr(_names, "Moved", Moved, raising=False)
    Moved.__module__ = _names.__name__
    monkeypatch.setitem(STORED_NAMES, "aucuba.PartialAUCClassifier", full_name(Moved))
    model = load_model(saved).model
    assert type(model) is Moved
    np.testing.assert_array_equal(model.coef_, fitted.coef_)


@pytest.mark.parametrize("name", ["aucuba.Unknown", "aucuba.helper.unknown", "aucuba.cli._app.App"])
def test_unknown_names_of_the_library_are_refused(saved, tmp_path, name):
    schema = schema_of(saved)
    node = schema["content"]["model"]
    node["__module__"], _, node["__class__"] = name.rpartition(".")
    path = rewritten(saved, tmp_path / "other", schema=schema)
    with pytest.raises(ValueError, match=name):
        load_model(path)


def test_private_places_are_no_names(saved, tmp_path):
    schema = schema_of(saved)
    node = schema["content"]["model"]
    node["__module__"] = PartialAUCClassifier.__module__
    path = rewritten(saved, tmp_path / "other", schema=schema)
    with pytest.raises(ValueError, match="does not load by itself"):
        load_model(path)


@pytest.mark.parametrize(("number", "remedy"), [(1, "Fit the model again"), (3, "Upgrade aucuba")])
def test_other_formats_get_one_clear_error(saved, tmp_path, number, remedy):
    header = {"format": number, "versions": {"aucuba": "0.0"}, "metadata": {}}
    path = rewritten(saved, tmp_path / "other", header=header)
    with pytest.raises(ValueError, match=f"aucuba 0.0 in format {number}.*{remedy}"):
        load_model(path)


def test_parameters_that_an_older_model_lacks_get_their_defaults(saved, tmp_path):
    schema = schema_of(saved)
    state = schema["content"]["model"]["content"]
    place = list(state["content"]).index("warm_start")
    del state["content"]["warm_start"], state["key_types"]["content"][place]
    model = load_model(rewritten(saved, tmp_path / "other", schema=schema)).model
    assert model.warm_start is False
    assert model.get_params() == load_model(saved).model.get_params()


def test_a_migration_renames_a_parameter(saved, tmp_path, monkeypatch):
    schema = schema_of(saved)
    state = schema["content"]["model"]["content"]
    state["content"] = {
        {"C": "cost"}.get(name, name): value for name, value in state["content"].items()
    }
    path = rewritten(saved, tmp_path / "other", schema=schema)
    assert load_model(path).model.cost == 1.0

    def rename(state):
        if "cost" in state:
            state["C"] = state.pop("cost") + 4

    monkeypatch.setitem(MIGRATIONS, "aucuba.PartialAUCClassifier", rename)
    model = load_model(path).model
    assert (model.C, hasattr(model, "cost")) == (5.0, False)


class TestTrust:
    @pytest.fixture
    def foreign(self, tmp_path):
        X, y = numbers(150)
        model = FixedFPRClassifier(SVC(), max_fpr=0.3, random_state=0).fit(X, y)
        with pytest.warns(UserWarning, match=r"trusted=\['sklearn.svm._classes.SVC'\]"):
            save_model(tmp_path / "m", model)
        return tmp_path / "m", model.decision_function(X)

    def test_foreign_classes_are_refused_by_default(self, foreign):
        with pytest.raises(ValueError, match=r"trusted=\['sklearn.svm._classes.SVC'\]"):
            load_model(foreign[0])

    @pytest.mark.parametrize("name", [SVC, "sklearn.svm._classes.SVC"])
    def test_foreign_classes_load_where_they_are_named(self, foreign, name):
        path, scores = foreign
        model = load_model(path, trusted=[name]).model
        np.testing.assert_array_equal(model.decision_function(numbers(150)[0]), scores)

    def test_a_search_with_masked_results_survives(self, tmp_path):
        X, y = numbers(150)
        search = GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=2)
        model = FixedFPRClassifier(search, max_fpr=0.3, random_state=0).fit(X, y)
        with pytest.warns(UserWarning, match="trusted=") as caught:
            save_model(tmp_path / "m", model)
        names = re.findall(r"'([\w.]+\.\w+)'", str(caught[0].message).partition("trusted=")[2])
        again = load_model(tmp_path / "m", trusted=names).model
        np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))

    def test_default_members_need_no_trust(self, tmp_path):
        X, y = numbers(120)
        stack = RegionStack(RANGE, estimators=["boosting", "linear"], cv=2, random_state=0)
        save_model(tmp_path / "m", stack.fit(X, y))
        assert zipfile.is_zipfile(tmp_path / "m")
        load_model(tmp_path / "m")


def test_what_scikit_learn_no_longer_has_gets_one_clear_error(saved, tmp_path):
    schema = schema_of(saved)
    node = schema["content"]["model"]
    node["__module__"], node["__class__"] = "sklearn.linear_model", "RandomizedLasso"
    header = {"format": 2, "versions": {"scikit-learn": "0.18"}, "metadata": {}}
    path = rewritten(saved, tmp_path / "other", schema=schema, header=header)
    with pytest.raises(ValueError, match=r"cannot read what scikit-learn 0\.18 wrote"):
        load_model(path, trusted=["sklearn.linear_model.RandomizedLasso"])
