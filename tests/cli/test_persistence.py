"""Model files from Python."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

from aucuba import (
    FixedFPRClassifier,
    PartialAUCClassifier,
    PartialAUCClassifierCV,
    PartialAUCSVC,
    RegionReweighted,
    RegionStack,
)
from aucuba.changepoint import Label, SupervisedChangepointDetector
from aucuba.cli import main
from aucuba.linear import AUMClassifier
from aucuba.persistence import load_model, save_model
from aucuba.structured import AUCAtK, RankingGraph, StructuredRanker


@pytest.mark.parametrize(
    "model",
    [
        PartialAUCClassifier((0.0, 0.3)),
        PartialAUCSVC((0.0, 0.3), loss="structural"),
        PartialAUCSVC((0.0, 0.3), loss="tight", kernel="rbf"),
        PartialAUCClassifierCV((0.0, 0.3), cv=2, random_state=0),
        AUMClassifier(tol=0.1),
        FixedFPRClassifier(LogisticRegression(), max_fpr=0.3, random_state=0),
        RegionReweighted(LogisticRegression(), (0.0, 0.3), cv=2, random_state=0),
        RegionStack((0.0, 0.3), estimators=[("a", LogisticRegression())], cv=2, random_state=0),
    ],
    ids=["direct", "structural", "kernel", "cv", "aum", "fixed", "reweighted", "stack"],
)
def test_every_classifier_survives(model, tmp_path):
    X, y = make_classification(200, random_state=0)
    model.fit(X, y)
    save_model(model, tmp_path / "m", metadata={"note": "µ"})
    saved = load_model(tmp_path / "m")
    np.testing.assert_array_equal(saved.model.predict(X), model.predict(X))
    np.testing.assert_array_equal(saved.model.decision_function(X), model.decision_function(X))
    assert saved.metadata == {"note": "µ"}


def test_detectors_and_rankers_survive(tmp_path):
    rng = np.random.default_rng(0)
    signals = [np.repeat([0, 5 * (k % 2)], 20) + rng.normal(size=40) for k in range(12)]
    marks = [[Label(10, 30, "one" if k % 2 else "none")] for k in range(12)]
    detector = SupervisedChangepointDetector(5, cv=2, random_state=0).fit(signals, marks)
    save_model(detector, tmp_path / "detector")
    again = load_model(tmp_path / "detector").model
    for first, second in zip(detector.predict(signals), again.predict(signals), strict=True):
        np.testing.assert_array_equal(first, second)
    labels = [np.arange(12) < 4] * 6
    graphs = [
        RankingGraph(y + rng.normal(size=12), [[i, i + 1] for i in range(11)]) for y in labels
    ]
    ranker = StructuredRanker(AUCAtK(3), C=10).fit(graphs, labels)
    save_model(ranker, tmp_path / "ranker")
    again = load_model(tmp_path / "ranker").model
    assert again.score(graphs, labels) == ranker.score(graphs, labels)


def test_a_function_inside_is_refused_and_nothing_is_written(tmp_path):
    X, y = make_classification(600, random_state=0)
    model = PartialAUCSVC(fpr_weight=lambda u: 1 - u, loss="tight").fit(X, y)
    with pytest.raises(ValueError, match="cannot be saved"):
        save_model(model, tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


def test_a_failed_save_keeps_the_old_file(tmp_path):
    X, y = make_classification(100, random_state=0)
    path = tmp_path / "m"
    save_model(PartialAUCClassifier((0.0, 0.5)).fit(X, y), path)
    before = path.read_bytes()
    with pytest.raises(ValueError, match="cannot be saved"):
        save_model(PartialAUCSVC(fpr_weight=np.square, loss=max), path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["m"]


@pytest.mark.parametrize("command", ["predict", "evaluate", "report", "compare"])
def test_the_command_line_says_what_a_python_model_lacks(tmp_path, capsys, command):
    X, y = make_classification(100, random_state=0)
    save_model(PartialAUCClassifier((0.0, 0.5)).fit(X, y), tmp_path / "m")
    (tmp_path / "data.csv").write_text("a\n1\n")
    assert main(["info", str(tmp_path / "m")]) == 0
    words = [command, str(tmp_path / "m"), str(tmp_path / "data.csv")]
    if command == "compare":
        words.insert(1, str(tmp_path / "m"))
    if command in ("predict", "report"):
        words += ["--out", str(tmp_path / "out")]
    assert main(words) == 2
    assert "is not a model of `aucuba fit`: it was saved from Python" in capsys.readouterr().err
