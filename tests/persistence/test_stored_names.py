"""Names in model files stay when classes move; missing parameters get their defaults."""

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
from aucuba.persistence._names import STORED_NAMES, full_name
from tests.ensemble.data import numbers
from tests.persistence.archives import attributes, description_of, rewritten

RANGE = (0.0, 0.4)


@pytest.fixture
def fitted():
    return PartialAUCClassifier(RANGE).fit(*numbers(80))


@pytest.fixture
def saved(fitted, tmp_path):
    save_model(fitted, tmp_path / "m")
    return tmp_path / "m"


def test_public_classes_are_stored_by_the_name_that_users_import():
    for stored, place in STORED_NAMES.items():
        assert stored == place or ".helper." in stored


def test_the_file_holds_the_public_name_alone(saved):
    text = json.dumps(description_of(saved))
    assert '"class": "aucuba.PartialAUCClassifier"' in text
    assert text.count("aucuba") == 1


def test_equal_models_are_equal_files(fitted, saved, tmp_path):
    save_model(fitted, tmp_path / "again")
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
    description = description_of(saved)
    description["content"]["model"]["class"] = name
    path = rewritten(saved, tmp_path / "other", description=description)
    with pytest.raises(ValueError, match=name):
        load_model(path)


def test_private_places_are_no_names(saved, tmp_path):
    description = description_of(saved)
    description["content"]["model"]["class"] = full_name(PartialAUCClassifier)
    path = rewritten(saved, tmp_path / "other", description=description)
    with pytest.raises(ValueError, match="does not load by default"):
        load_model(path)


def test_a_newer_format_gets_one_clear_error(saved, tmp_path):
    header = {"format": 2, "versions": {"aucuba": "9.0"}, "metadata": {}}
    path = rewritten(saved, tmp_path / "other", header=header)
    with pytest.raises(ValueError, match=r"aucuba 9\.0 in format 2.*Upgrade aucuba"):
        load_model(path)


def test_parameters_that_scikit_learn_added_get_their_defaults(tmp_path):
    model = LogisticRegression(C=2.0).fit(*numbers(80))
    save_model(model, tmp_path / "m")
    description = description_of(tmp_path / "m")
    node = description["content"]["model"]
    pairs = {name: value for name, value in attributes(node).items() if name != "warm_start"}
    node["state"]["dict"] = [part for pair in pairs.items() for part in pair]
    again = load_model(rewritten(tmp_path / "m", tmp_path / "x", description=description)).model
    assert again.warm_start is False
    assert again.get_params() == model.get_params()


class TestTrust:
    @pytest.fixture
    def foreign(self, tmp_path):
        X, y = numbers(150)
        model = FixedFPRClassifier(SVC(), max_fpr=0.3, random_state=0).fit(X, y)
        with pytest.warns(UserWarning, match=r"trusted=\['sklearn.svm._classes.SVC'\]"):
            save_model(model, tmp_path / "m")
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
            save_model(model, tmp_path / "m")
        names = re.findall(r"'([\w.]+\.\w+)'", str(caught[0].message).partition("trusted=")[2])
        again = load_model(tmp_path / "m", trusted=names).model
        np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))

    def test_default_members_need_no_trust(self, tmp_path):
        X, y = numbers(120)
        stack = RegionStack(RANGE, estimators=["boosting", "linear"], cv=2, random_state=0)
        save_model(stack.fit(X, y), tmp_path / "m")
        assert zipfile.is_zipfile(tmp_path / "m")
        load_model(tmp_path / "m")


def test_what_scikit_learn_no_longer_has_gets_one_clear_error(saved, tmp_path):
    description = description_of(saved)
    node = description["content"]["model"]
    node |= {"class": "sklearn.linear_model.RandomizedLasso", "called": False, "args": []}
    header = {"format": 1, "versions": {"scikit-learn": "0.18"}, "metadata": {}}
    path = rewritten(saved, tmp_path / "other", description=description, header=header)
    with pytest.raises(ValueError, match=r"cannot read what scikit-learn 0\.18 wrote"):
        load_model(path, trusted=["sklearn.linear_model.RandomizedLasso"])
