"""Options that have no effect, and advice in the words of the command line."""

import numpy as np
import pandas as pd
import pytest

from aucuba.cli._wording import in_options
from aucuba.persistence import load_model


def rejected(result, text):
    assert (result.code, result.err.count("\n")) == (2, 1), result.err
    assert text in result.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--surrogate", "aum", "--cv", "5"], "aum has nothing to choose by --cv"),
        (["--C", "5", "--cv", "3"], "--C is for a single fit"),
        (["--C", "5"], "--C is for a single fit"),
        (["--C", "5", "--cv", "0", "--surrogate", "aum"], "--C is for a single fit"),
        (["--C", "-1", "--cv", "0"], "--C must be a number above 0"),
        (["--max-iter", "0"], "--max-iter must be a whole number above 0"),
        (["--seed", "-1"], "--seed"),
    ],
)
def test_options_without_effect(run, files, tmp_path, options, message):
    rejected(run("fit", files / "train.npz", *options, "--out", tmp_path / "m.aucuba"), message)


@pytest.mark.parametrize("surrogate", ["direct", "tight", "aum"])
def test_max_iter_reaches_the_estimator(run, files, tmp_path, surrogate):
    out = tmp_path / "m.aucuba"
    words = ["--cv", "0", "--surrogate", surrogate, "--max-iter", "3", "--out", out]
    assert run("fit", files / "train.npz", *words).code == 0
    assert load_model(out).model[-1].max_iter == 3


def test_notes_speak_of_options(run, files, tmp_path):
    words = ["--cv", "0", "--surrogate", "tight", "--max-iter", "1", "--fpr", "0", "0.3"]
    done = run("fit", files / "train.npz", *words, "--out", tmp_path / "m.aucuba")
    assert "Raise --max-iter, or lower --C." in done.err
    assert "max_iter" not in done.err + done.out


def test_a_collapse_speaks_of_options(run, tmp_path):
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.normal(size=(300, 2)), columns=["a", "b"])
    rows.assign(y=np.arange(300) % 2).to_csv(tmp_path / "t.csv", index=False)
    words = ["--cv", "0", "--surrogate", "structural", "--fpr", "0", "0.02"]
    done = run("fit", tmp_path / "t.csv", *words, "--out", tmp_path / "m.aucuba")
    assert "collapsed" in done.err
    assert "--surrogate direct" in done.err
    for word in ("fpr_range", "surrogate=", "coef_", "kernel"):
        assert word not in done.err


def test_a_wider_range_contradicts_nothing(run, tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    rows = pd.DataFrame({"a": rng.normal(size=80) + y, "y": y})
    rows.to_csv(tmp_path / "t.csv", index=False)
    done = run("fit", tmp_path / "t.csv", "--cv", "0", "--out", tmp_path / "m.aucuba")
    assert "training on [0, 0.25]" in done.err
    assert "Trained for" not in done.out
    assert "Meant for false positive rates in [0, 0.1]" in done.out


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("Widen fpr_range or add data.", "Widen --fpr or add data."),
        ("Add data, or give splits as cv.", "Add data."),
        ("still improving; raise max_iter or tol.", "still improving; raise --max-iter."),
        ("sample_weight and qid", "--weight and --group"),
    ],
)
def test_wording(said, meant):
    assert in_options(said) == meant


def test_help_shows_defaults(run):
    shown = " ".join(run("fit", "--help").out.replace("│", " ").split())
    for text in ("y, or those of the model", "0 0.1, or those", "5, and 10 halvings"):
        assert text in shown
