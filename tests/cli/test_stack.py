"""``aucuba fit --model stack``."""

import numpy as np
import pandas as pd
import pytest

from aucuba._base._progress_bar import ProgressBar
from aucuba.cli import main
from aucuba.ensemble import RegionStack
from aucuba.persistence import load_model


@pytest.fixture(scope="module")
def stack(tmp_path_factory, files):
    path = tmp_path_factory.mktemp("stack") / "stack.aucuba"
    words = f"--target outcome --pos-label bad --fpr-range 0 0.2 --model stack --cv 2 --out {path}"
    dropped = ["--drop", "times", "--drop", "query"]
    assert main(["fit", str(files / "train.csv"), *words.split(), *dropped]) == 0
    return path


@pytest.fixture(scope="module")
def saved(stack):
    return load_model(stack)


def test_a_stack_goes_the_whole_way(run, stack, saved, model, files, tmp_path):
    data = files / "test.csv"
    facts = run("info", stack, "--json").json["fit"]
    assert facts["estimator"] == "RegionStack"
    members = [row["member"] for row in saved.model[-1].report_]
    assert list(facts["partial_auc"]) == members
    assert {"forest", "stack"} < set(members)
    scores = run("predict", stack, data, "--out", tmp_path / "scores.csv", "--json")
    assert scores.json["rows"] == 100
    written = pd.read_csv(tmp_path / "scores.csv")
    assert written.columns.tolist() == ["score", "probability", "predicted"]
    expected = saved.predict_proba(pd.read_csv(data))[:, 1]
    np.testing.assert_allclose(written["probability"], expected, rtol=1e-12)
    measured = run("evaluate", stack, data, "--json").json
    assert 0.5 < measured["auc"]["value"] <= 1
    assert run("compare", stack, model, data).code == 0
    assert run("report", stack, data, "--out", tmp_path / "r.html").code == 0
    page = (tmp_path / "r.html").read_text()
    assert "Members" in page
    assert "extra_trees" in page
    assert "missing" in page


def test_the_stack_is_that_of_the_library(saved, files):
    train, test = (pd.read_parquet(files / f"{name}.parquet") for name in ("train", "test"))
    columns = ["a", "b", "c", "city"]
    expected = RegionStack((0.0, 0.2), cv=2, random_state=0)
    expected.fit(train[columns], train["outcome"] == "bad")
    np.testing.assert_array_equal(
        saved.model.decision_function(test), expected.decision_function(test[columns])
    )
    np.testing.assert_array_equal(saved.model[-1].oof_scores_, expected.oof_scores_)


def test_the_bar_names_the_members(files):
    pytest.importorskip("sklearn.callback", reason="scikit-learn has no callbacks before 1.9")
    from aucuba.cli._console import FitProgress

    class NotedBar(ProgressBar):
        def advance(self, stage=""):
            named.append(f"{self.name}: {stage}")
            super().advance(stage)

    named = []
    bar = NotedBar("Training RegionStack", patience=1000.0)
    train = pd.read_csv(files / "train.csv")
    stack = RegionStack((0.0, 0.2), estimators=["forest", "linear"], cv=2, random_state=0)
    stack.set_callbacks(FitProgress(bar))
    stack.fit(train[["a", "b", "city"]], train["outcome"] == "bad")
    assert list(dict.fromkeys(named)) == [
        *("Training RegionStack: forest", "Training RegionStack: linear")
    ]
    # The forest is scored out of bag: one fit. The linear model: two folds and one.
    assert (bar.done, bar.total) == (4, 4)


def test_weights_reach_the_stack(run, files, tmp_path):
    words = [
        "--target",
        "outcome",
        "--pos-label",
        "bad",
        "--sample-weight",
        "times",
        "--drop",
        "query",
    ]
    words += ["--model", "stack"]
    done = run("fit", files / "train.csv", *words, "--cv", "2", "--out", tmp_path / "m")
    assert done.code == 0, done.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--loss", "tight"), "--loss is for --model svc and --model changepoint"),
        (("--C", "2"), "--C does not apply to --model stack"),
        (("--max-iter", "5"), "--max-iter does not apply to --model stack"),
        (("--cv", "0"), "--cv must be at least 2 for a stack"),
        (("--qid", "query"), "--model stack does not support --qid"),
    ],
)
def test_options_without_effect_are_refused(run, files, tmp_path, words, message):
    done = run(
        *("fit", files / "train.csv", "--target", "outcome", "--pos-label", "bad"),
        *("--model", "stack", "--out", tmp_path / "m", *words),
    )
    assert done.code == 2
    assert message in done.err
    assert not (tmp_path / "m").exists()


def test_svmlight_and_unknown_models_are_refused(run, files, tmp_path):
    out = ("--out", tmp_path / "m")
    done = run("fit", files / "train_plain.svm", "--model", "stack", *out)
    assert (done.code, "needs named columns" in done.err) == (2, True)
    done = run("fit", files / "train.csv", "--target", "outcome", "--model", "forest", *out)
    assert (done.code, "--model" in done.err) == (2, True)
