"""``aucuba fit --promise``: decisions with a promise, in every command."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import StratifiedShuffleSplit

from aucuba.cli import main
from aucuba.persistence import load_model
from aucuba.threshold import (
    AlertBudgetClassifier,
    FixedFPRClassifier,
    FixedPrecisionClassifier,
    FixedTPRClassifier,
)

KINDS = {
    "fpr=0.1": FixedFPRClassifier,
    "tpr=0.8": FixedTPRClassifier,
    "precision=0.7": FixedPrecisionClassifier,
    "alerts=0.3": AlertBudgetClassifier,
}


def run(*arguments):
    return main([str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    rng = np.random.default_rng(0)
    y = (rng.uniform(size=800) < 0.4).astype(int)
    frame = pd.DataFrame(rng.normal(size=(800, 3)) + 2 * y[:, None], columns=list("abc"))
    frame["kind"] = np.where(rng.uniform(size=800) < 0.5, "x", "z")
    frame["y"] = y
    path = tmp_path_factory.mktemp("promise") / "data.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.fixture(scope="module", params=KINDS)
def fitted(request, data):
    out = data.with_name(f"{request.param}.model")
    options = ["--cv", 0, "--no-probe", "--promise", request.param, "--confidence", 0.9]
    assert run("fit", data, "--out", out, *options) == 0
    return request.param, out


def test_the_threshold_is_that_of_rows_that_did_not_train(fitted, data):
    promise, out = fitted
    model = load_model(out).model
    promised = model[-1]
    assert type(promised) is KINDS[promise]
    assert promised.confidence == 0.9
    assert promised.guarantee_
    frame = pd.read_csv(data)
    flagged = model.decision_function(frame.drop(columns="y")) > 0
    rates = {
        "fpr=0.1": 1 - flagged[frame["y"] == 0].mean(),
        "tpr=0.8": flagged[frame["y"] == 1].mean(),
        "precision=0.7": frame["y"][flagged].mean(),
        "alerts=0.3": 1 - flagged.mean(),
    }
    limits = {"fpr=0.1": 0.9, "tpr=0.8": 0.8, "precision=0.7": 0.7, "alerts=0.3": 0.7}
    assert rates[promise] > limits[promise] - 0.02


def test_the_held_out_half_trains_nothing(data, tmp_path):
    options = ["--cv", 0, "--no-probe", "--target", "y"]
    assert run("fit", data, "--out", tmp_path / "promised", *options, "--promise", "fpr=0.1") == 0
    frame = pd.read_csv(data)
    halves = StratifiedShuffleSplit(1, test_size=0.5, random_state=0)
    train, held_out = next(halves.split(frame, frame["y"]))
    frame.iloc[train].to_csv(tmp_path / "half.csv", index=False)
    assert run("fit", tmp_path / "half.csv", "--out", tmp_path / "plain", *options) == 0
    promised, plain = (load_model(tmp_path / name).model for name in ("promised", "plain"))
    np.testing.assert_allclose(promised[-1].estimator_.coef_, plain[-1].coef_)
    assert promised[-1].n_negatives_ == np.sum(frame["y"].iloc[held_out] == 0)


def test_predict_info_and_report_state_it(fitted, data, tmp_path, capsys):
    _, out = fitted
    words = load_model(out).model[-1].promise_
    assert run("info", out, "--json") == 0
    facts = json.loads(capsys.readouterr().out)["fit"]
    assert facts["promise"] == words
    assert facts["base"] == "PartialAUCClassifier"
    assert run("predict", out, data, "--out", tmp_path / "scores.csv", "--json") == 0
    assert json.loads(capsys.readouterr().out)["promise"] == words
    scores = pd.read_csv(tmp_path / "scores.csv")
    np.testing.assert_array_equal(scores["predicted"] == 1, scores["score"] > 0)
    assert run("report", out, data, "--out", tmp_path / "page.html") == 0
    assert words.split(",")[0] in (tmp_path / "page.html").read_text()


def test_fit_says_it(data, tmp_path, capsys):
    out = tmp_path / "model"
    options = ["--cv", 0, "--no-probe", "--promise", "fpr=0.1"]
    assert run("fit", data, "--out", out, *options) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "Promise: False positive rate at most 0.1, with confidence 0.95, from" in shown


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--promise", "auc=0.1"], "--promise must be one of 'fpr', 'tpr', 'precision', 'alerts'"),
        (["--promise", "fpr"], "must read NAME=LIMIT, such as fpr=0.01"),
        (["--promise", "fpr=5"], "--promise must lie in (0, 1)"),
        (["--promise", "fpr=0.1", "--confidence", 1], "--confidence must lie in (0, 1)"),
        (["--promise", "fpr=0.0001"], "needs at least 29956 held-out negatives, got"),
        (["--promise", "fpr=0.1", "--qid", "kind"], "--promise does not support --qid"),
    ],
)
def test_bad_options(data, tmp_path, capsys, options, message):
    fit = ["fit", data, "--out", tmp_path / "model", "--cv", 0, "--no-probe"]
    assert run(*fit, *options) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "model").exists()
