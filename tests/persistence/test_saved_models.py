"""Models of every stored class survive a file, and so do files of an older scikit-learn."""

import json
import warnings
import zipfile

import numpy as np
import pytest
import sklearn

from aucuba.persistence import load_model
from aucuba.persistence._load import _names_in
from aucuba.persistence._names import STORED_NAMES, TYPES

pytest.importorskip("pandas")
from tests.persistence.archives import description_of
from tests.persistence.saved_models import FOLDER, all_models, scores_of, write

OLDER = sorted(path.stem for path in FOLDER.glob("*.aucuba"))


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    with warnings.catch_warnings():
        # Fits of a few iterations warn.
        warnings.simplefilter("ignore")
        return [write(folder, *case) for case in all_models()]


def stored_names(path):
    """Names of all classes and types in a model file."""
    return set(_names_in(description_of(path)))


def assert_same_scores(path):
    answers = json.loads(path.with_suffix(".json").read_text())
    saved = load_model(path)
    assert saved.metadata == {"fixture": path.stem}
    scores = scores_of(saved.model, answers)
    np.testing.assert_allclose(scores, answers["scores"], rtol=1e-9, atol=1e-9, err_msg=path.stem)


def test_files_give_the_same_scores(files):
    for path in files:
        assert_same_scores(path)


def test_files_name_no_place_in_the_library(files):
    for path in files:
        for stored in stored_names(path):
            assert stored in STORED_NAMES.keys() | TYPES


def test_every_stored_class_has_a_file(files):
    held = {name for path in files for name in stored_names(path)}
    assert not {name for name in STORED_NAMES if "aucuba." in name} - held


@pytest.mark.parametrize("name", OLDER)
def test_files_of_an_older_scikit_learn_give_the_same_scores(name):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".* was fitted with scikit-learn")
        assert_same_scores(FOLDER / f"{name}.aucuba")


def test_another_release_of_scikit_learn_is_said_once():
    versions = json.loads(zipfile.ZipFile(FOLDER / "columns.aucuba").read("aucuba.json"))
    if versions["versions"]["scikit-learn"] == sklearn.__version__:
        load_model(FOLDER / "columns.aucuba")
        return
    with pytest.warns(UserWarning, match="was fitted with scikit-learn") as caught:
        load_model(FOLDER / "columns.aucuba")
    assert len(caught) == 1
