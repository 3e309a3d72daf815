"""``aucuba fit --promise``: decisions with a promise, in every command."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import StratifiedShuffleSplit

from aucuba.cli import main
from aucuba.metrics import (
    auc_at_k_score,
    operating_point,
    precision_at_k_score,
    rates_at_threshold,
)
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


def test_recall_is_the_true_positive_rate(data, tmp_path):
    options = ["--cv", 0, "--no-probe", "--target", "y", "--promise", "recall=0.8"]
    assert run("fit", data, "--out", tmp_path / "m", *options) == 0
    assert load_model(tmp_path / "m").model[-1].min_tpr == 0.8


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
    assert run("predict", out, data, "--out", "-") == 0
    assert f"\nnote: Promise: {words}\n" in capsys.readouterr().err
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
        (["--promise", "1%"], "must read NAME=LIMIT, such as fpr=0.01 for 1 %, got '1%'"),
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


def test_precision_at_another_prevalence_in_every_command(data, capsys, tmp_path):
    out, at = tmp_path / "rare.model", ["--target-prevalence", "0.1-0.2"]
    options = ["--cv", 0, "--no-probe", "--promise", "precision=0.7", *at, "--out", out]
    assert run("fit", data, *options) == 0
    assert "precision at least 0.7 at a prevalence of 0.1 to 0.2" in capsys.readouterr().out.lower()
    model = load_model(out).model
    assert model[-1].target_prevalence == (0.1, 0.2)
    frame = pd.read_csv(data)
    score = model.decision_function(frame.drop(columns="y"))

    def evaluated(*more):
        assert run("evaluate", out, data, *more, "--json") == 0
        return json.loads(capsys.readouterr().out)

    def precision(prevalence):
        above = np.nextafter(0.0, 1.0)
        rates = rates_at_threshold(frame["y"], score, threshold=above, target_prevalence=prevalence)
        return pytest.approx(rates.precision)

    own = evaluated()["own_threshold"]
    (limit,) = own["limits"]
    assert limit["target"] == [0.1, 0.2]
    assert own["precision"]["value"] == precision((0.1, 0.2))
    points = [
        "--at",
        "fpr=0.1",
        "--at",
        "k=20",
        "--at",
        "precision_at_k:k=30",
        "--at",
        "auc_at_k:k=9",
    ]
    found = evaluated(*points, "--target-prevalence", "1e-3")
    assert found["own_threshold"]["precision"]["value"] == precision(0.001)
    # The verdict is still about the prevalence of the promise.
    assert found["own_threshold"]["limits"][0]["verdict"] == limit["verdict"]
    first, second, third, fourth = found["operating_points"]
    want = operating_point(frame["y"], score, fpr=0.1, target_prevalence=0.001)
    assert (first["precision"], first["n_flagged"]) == (want.precision, want.n_flagged)
    for row, k in ((second, 20), (third, 30)):
        assert row["value"] == precision_at_k_score(frame["y"], score, k=k, target_prevalence=0.001)
    assert fourth["value"] == auc_at_k_score(frame["y"], score, k=9)
    assert run("compare", out, out, data, *at, "--json") == 0
    both = json.loads(capsys.readouterr().out)["models"]
    assert both[0]["own_threshold"]["precision"]["value"] == precision((0.1, 0.2))
    page = tmp_path / "page.html"
    assert run("report", out, data, "--target-prevalence", 0.001, "--out", page) == 0
    html = page.read_text()
    shown = f"{want.precision:.1%}"
    assert f"precision at prevalence 0.001</th><td>{precision(0.001).expected:.2%}" in html
    assert f"<td>{shown}</td>" in html
    assert "promised at least 70 % at prevalence 0.1 to 0.2" in html


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--promise", "fpr=0.1", "--target-prevalence", "0.1"], "is for --promise precision="),
        (["--target-prevalence", "0.1"], "is for --promise precision="),
        (
            ["--promise", "precision=0.7", "--target-prevalence", "few"],
            "must read SHARE or LOW-HIGH",
        ),
        (["--promise", "precision=0.7", "--target-prevalence", "0.2-0.1"], "in falling order"),
        (
            ["--promise", "precision=0.7", "--target-prevalence", "2"],
            "target_prevalence must lie in",
        ),
    ],
)
def test_bad_prevalences(data, capsys, tmp_path, options, message):
    assert run("fit", data, "--out", tmp_path / "m", *options) == 2
    assert message in capsys.readouterr().err
