"""Names of options, options that have no effect, and advice in the words of the command line."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from aucuba import PartialAUCSVC
from aucuba.cli._command_options import FitOptions
from aucuba.cli._console import spelled_as_options
from aucuba.cli._fit_models import Plan
from aucuba.ensemble import RegionStack
from aucuba.persistence import load_model

SVC = ["--model", "svc", "--loss", "tight"]


def rejected(result, text):
    assert (result.code, result.err.count("\n")) == (2, 1), result.err
    assert text in result.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--model", "aum", "--cv", "5"], "aum does not use --cv"),
        (["--C", "5", "--cv", "3"], "--C is for a single fit"),
        (["--C", "5"], "--C is for a single fit"),
        (["--C", "5", "--cv", "0", "--model", "aum"], "--C does not apply to --model aum"),
        (["--max-iter", "5"], "--max-iter is for a single fit of --model linear"),
        (["--loss", "tight"], "--loss is for --model svc and --model changepoint"),
        (["--model", "aum", "--loss", "tight"], "--loss is for --model svc"),
        (["--model", "svc", "--loss", "l2"], "--loss must be one of 'structural', 'tight'"),
        (["--C", "-1", "--cv", "0"], "--C must be a number above 0"),
        (["--max-iter", "0", "--cv", "0"], "--max-iter must be a whole number above 0"),
        (["--random-state", "-1"], "--random-state"),
    ],
)
def test_options_without_effect(run, files, tmp_path, options, message):
    rejected(run("fit", files / "train.npz", *options, "--out", tmp_path / "m.aucuba"), message)


@pytest.mark.parametrize("model", ["linear", "svc", "aum"])
def test_max_iter_reaches_the_estimator(run, files, tmp_path, model):
    out = tmp_path / "m.aucuba"
    words = ["--cv", "0", "--model", model, "--max-iter", "3", "--out", out]
    assert run("fit", files / "train.npz", *words).code == 0
    assert load_model(out).model[-1].max_iter == 3


@pytest.mark.parametrize("loss", ["structural", "tight"])
def test_the_penalty_of_an_svc_is_searched(run, files, tmp_path, loss):
    out = tmp_path / "m.aucuba"
    words = ["--model", "svc", "--loss", loss, "--fpr-range", "0", "0.5", "--out", out, "--json"]
    done = run(
        "fit", files / "train.csv", "--target", "outcome", "--pos-label", "bad", *words, "--cv", "3"
    )
    classifier = load_model(out).model[-1]
    assert (type(classifier).__name__, classifier.loss) == ("PartialAUCSVC", loss)
    assert done.json["fit"]["C"] == classifier.C
    assert classifier.C in np.logspace(-3, 3, 7)
    assert (done.json["kind"], done.json["loss"]) == ("svc", loss)


def test_the_search_for_a_penalty_keeps_queries_whole(run, files, tmp_path, monkeypatch):
    seen = []
    fit = PartialAUCSVC.fit

    def recorded(self, X, y, sample_weight=None, qid=None):
        seen.append(np.unique(qid).size)
        return fit(self, X, y, sample_weight, qid)

    monkeypatch.setattr(PartialAUCSVC, "fit", recorded)
    words = ["--model", "svc", "--qid", "query", "--fpr-range", "0", "0.5", "--cv", "2"]
    out = tmp_path / "m.aucuba"
    assert (
        run(
            "fit",
            files / "train.csv",
            "--target",
            "outcome",
            "--pos-label",
            "bad",
            *words,
            "--out",
            out,
        ).code
        == 0
    )
    assert len(seen) == 2 * 7 + 1
    # The halves of the queries together are all of them.
    assert min(seen) + max(seen[:-1]) == seen[-1]


def test_notes_speak_of_options(run, files, tmp_path):
    words = ["--cv", "0", *SVC, "--max-iter", "1", "--fpr-range", "0", "0.3"]
    done = run("fit", files / "train.npz", *words, "--out", tmp_path / "m.aucuba")
    assert "Raise --max-iter, or lower --C." in done.err
    assert "max_iter" not in done.err + done.out


def test_a_collapse_speaks_of_options(run, tmp_path):
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.normal(size=(300, 2)), columns=["a", "b"])
    rows.assign(y=np.arange(300) % 2).to_csv(tmp_path / "t.csv", index=False)
    words = ["--cv", "0", "--model", "svc", "--loss", "structural", "--fpr-range", "0", "0.02"]
    done = run("fit", tmp_path / "t.csv", *words, "--out", tmp_path / "m.aucuba")
    assert "the structural loss hardly ranks" in done.err
    assert "Use --model linear, or widen --fpr-range." in done.err
    for word in ("fpr_range", "loss=", "coef_", "kernel"):
        assert word not in done.err


def test_a_wider_range_contradicts_nothing(run, tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    rows = pd.DataFrame({"a": rng.normal(size=80) + y, "y": y})
    rows.to_csv(tmp_path / "t.csv", index=False)
    done = run("fit", tmp_path / "t.csv", "--cv", "0", "--out", tmp_path / "m.aucuba")
    assert "training on [0, 0.25]" in done.err
    assert "Trained for" not in done.out
    assert "Meant for false positive rates in [0, 0.05]" in done.out


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("Widen fpr_range or add data.", "Widen --fpr-range or add data."),
        ("took max_iter=3 steps", "took --max-iter 3 steps"),
        ("sample_weight and qid", "--sample-weight and --qid"),
        ("pos_label='ill' is not", "--pos-label ill is not"),
        ("the tight loss at C=0.5, tol=0.1", "the tight loss at --C 0.5, tol=0.1"),
        ("--fpr-range and n_components", "--fpr-range and n_components"),
    ],
)
def test_wording(said, meant):
    assert spelled_as_options(said) == meant


def test_positive_is_another_name_of_pos_label(run, files, tmp_path):
    words = ["fit", files / "train.csv", "--target", "outcome", "--cv", "0", *SVC]
    for option in ("--pos-label", "--positive"):
        done = run(*words, option, "good", "--out", tmp_path / "m.aucuba", "--json")
        assert done.json["pos_label"] == "good"


class TestRegion:
    def fit(self, run, files, tmp_path, *options):
        out = tmp_path / "m.aucuba"
        words = ["fit", files / "train.npz", "--cv", "0", *SVC, *options]
        return run(*words, "--out", out, "--json")

    def test_default_is_the_library_s(self, run, files, tmp_path):
        done = self.fit(run, files, tmp_path)
        assert tuple(done.json["fpr_range"]) == RegionStack().fpr_range == (0.0, 0.05)

    def test_max_fpr_is_short_for_a_range_from_zero(self, run, files, tmp_path):
        done = self.fit(run, files, tmp_path, "--max-fpr", "0.2")
        assert done.json["fpr_range"] == [0.0, 0.2]
        both = self.fit(run, files, tmp_path, "--max-fpr", "0.2", "--fpr-range", "0", "0.3")
        assert "give one of the two" in both.err
        assert (
            "--max-fpr must lie in (0, 1]" in self.fit(run, files, tmp_path, "--max-fpr", "5").err
        )

    def test_min_tpr_reaches_the_estimator(self, run, files, tmp_path):
        assert self.fit(run, files, tmp_path, "--min-tpr", "0.4").json["min_tpr"] == 0.4
        assert load_model(tmp_path / "m.aucuba").model[-1].min_tpr == 0.4
        assert "lowest TPR" in run("info", tmp_path / "m.aucuba").out
        assert (
            "--min-tpr must lie in [0, 1)" in self.fit(run, files, tmp_path, "--min-tpr", "1").err
        )
        options = FitOptions(data=Path("t"), out=Path("m"), model="stack", min_tpr=0.3)
        assert Plan.from_options(options).classifier.min_tpr == 0.3
        done = run("fit", files / "train.npz", "--model", "aum", "--min-tpr", "0.4", "--out", "m")
        assert "--min-tpr does not apply to --model aum" in done.err


def test_help_shows_defaults(run):
    shown = " ".join(run("fit", "--help").out.replace("│", " ").split())
    for text in ("y, or that of the model", "0 0.05, or those", "5, and up to 10 halvings"):
        assert text in shown
