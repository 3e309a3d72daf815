"""Model files from Python."""

import numpy as np
import pytest
from sklearn.datasets import make_classification

from aucuba import PartialAUCClassifier, PartialAUCClassifierCV
from aucuba.cli import main
from aucuba.linear import AUMClassifier
from aucuba.persistence import load_model, save_model


@pytest.mark.parametrize(
    "model",
    [
        PartialAUCClassifier((0.0, 0.3)),
        PartialAUCClassifier((0.0, 0.3), surrogate="structural"),
        PartialAUCClassifier((0.0, 0.3), surrogate="tight", kernel="rbf"),
        PartialAUCClassifierCV((0.0, 0.3), cv=2, random_state=0),
        AUMClassifier(tol=0.1),
    ],
    ids=["direct", "structural", "kernel", "cv", "aum"],
)
def test_every_classifier_survives(model, tmp_path):
    X, y = make_classification(200, random_state=0)
    model.fit(X, y)
    save_model(tmp_path / "m", model, metadata={"note": "µ"})
    saved = load_model(tmp_path / "m")
    np.testing.assert_array_equal(saved.model.decision_function(X), model.decision_function(X))
    assert saved.metadata == {"note": "µ"}


def test_a_function_inside_is_refused_and_nothing_is_written(tmp_path):
    X, y = make_classification(100, random_state=0)
    model = PartialAUCClassifier(fpr_weight=lambda u: 1 - u, surrogate="tight").fit(X, y)
    with pytest.raises(ValueError, match="cannot be saved"):
        save_model(tmp_path / "m", model)
    assert list(tmp_path.iterdir()) == []


def test_a_failed_save_keeps_the_old_file(tmp_path):
    X, y = make_classification(100, random_state=0)
    path = tmp_path / "m"
    save_model(path, PartialAUCClassifier((0.0, 0.5)).fit(X, y))
    before = path.read_bytes()
    with pytest.raises(ValueError, match="cannot be saved"):
        save_model(path, PartialAUCClassifier(fpr_weight=np.square, surrogate=max))
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["m"]


def test_the_command_line_says_what_a_python_model_lacks(tmp_path, capsys):
    X, y = make_classification(100, random_state=0)
    save_model(tmp_path / "m", PartialAUCClassifier((0.0, 0.5)).fit(X, y))
    (tmp_path / "data.csv").write_text("a\n1\n")
    assert main(["info", str(tmp_path / "m")]) == 0
    words = ["predict", str(tmp_path / "m"), str(tmp_path / "data.csv"), "--out", "s.csv"]
    assert main(words) == 2
    assert "saved from Python" in capsys.readouterr().err
