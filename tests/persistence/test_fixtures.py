"""Model files that earlier releases wrote are read, and give the scores of then."""

import json
import warnings
import zipfile

import numpy as np
import pytest
import sklearn

from aucuba.persistence import load_model
from aucuba.persistence._names import STORED_NAMES

pytest.importorskip("skops")
pytest.importorskip("pandas")
from tests.persistence.write_fixtures import FOLDER, scores_of

NAMES = sorted(path.stem for path in FOLDER.glob("*.aucuba"))
FOREIGN_PARTS = ("sklearn", "numpy", "builtins", "functools", "scipy")


def stored_names(path):
    """Names of all classes in a model file."""
    with zipfile.ZipFile(path) as archive:
        waiting = [json.loads(archive.read("schema.json"))]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            if "__loader__" in item:
                yield f"{item['__module__']}.{item['__class__']}"
            waiting += item.values()
        elif isinstance(item, list):
            waiting += item


@pytest.mark.parametrize("name", NAMES)
def test_files_of_earlier_releases_give_the_same_scores(name):
    answers = json.loads((FOLDER / f"{name}.json").read_text())
    with warnings.catch_warnings():
        # Said once for a file of another release, which is what this test is about.
        warnings.filterwarnings("ignore", message=".* was fitted with scikit-learn")
        saved = load_model(FOLDER / f"{name}.aucuba")
    assert saved.metadata == {"fixture": name}
    scores = scores_of(saved.model, answers)
    np.testing.assert_allclose(scores, answers["scores"], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_files_name_no_place_in_the_library(name):
    for stored in stored_names(FOLDER / f"{name}.aucuba"):
        assert stored in STORED_NAMES or stored.startswith(FOREIGN_PARTS)


def test_every_stored_class_has_a_file():
    held = {one for name in NAMES for one in stored_names(FOLDER / f"{name}.aucuba")}
    assert not set(STORED_NAMES) - held


def test_another_release_of_scikit_learn_is_said_once():
    versions = json.loads(zipfile.ZipFile(FOLDER / "pipeline.aucuba").read("aucuba.json"))
    if versions["versions"]["scikit-learn"] == sklearn.__version__:
        load_model(FOLDER / "pipeline.aucuba")
        return
    with pytest.warns(UserWarning, match="was fitted with scikit-learn") as caught:
        load_model(FOLDER / "pipeline.aucuba")
    assert len(caught) == 1
