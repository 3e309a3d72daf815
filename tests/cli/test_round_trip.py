"""Every command on every format."""

import io
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import aucuba.cli._formats
import aucuba.cli._table_file
from aucuba import PartialAUCClassifier, PartialAUCClassifierCV, PartialAUCSVC
from aucuba._base._progress_bar import ProgressBar
from aucuba.metrics import compare_scores, score_interval
from aucuba.persistence import load_model, save_model

NAMED = ["--target", "outcome", "--pos-label", "bad", "--drop", "times", "--drop", "query"]
FORMATS = {
    "csv": NAMED,
    "csv.gz": NAMED,
    "tsv": NAMED,
    "parquet": NAMED,
    "svmlight": [],
    "npz": ["--target", "y"],
}
SVC = ["--model", "svc", "--loss", "tight"]


@pytest.mark.parametrize(("suffix", "options"), FORMATS.items())
def test_round_trip(run, files, tmp_path, suffix, options):
    train, test = files / f"train.{suffix}", files / f"test.{suffix}"
    model, scores, page = tmp_path / "m.aucuba", tmp_path / "s.csv", tmp_path / "r.html"
    quick = ["--cv", "0", *SVC, "--fpr-range", "0", "0.2", "--out", model]
    fitted = run("fit", train, *options, *quick, "--json")
    assert (fitted.code, fitted.err) == (0, "")
    assert fitted.json["training"]["rows"] == 300
    assert fitted.json["fit"]["gap"] < 1e-3
    assert run("predict", model, test, "--out", scores).code == 0
    written = pd.read_csv(scores)
    assert len(written) == 100
    evaluated = run("evaluate", model, test, "--json")
    assert 0.5 < evaluated.json["auc"]["value"] <= 1
    assert run("report", model, test, "--out", page).code == 0
    assert page.read_text().startswith("<!doctype html>")
    assert run("info", model, "--json").json["fit"]["estimator"] == "PartialAUCSVC"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.aucuba", "r.html", "s.csv"]


def test_all_formats_of_one_table_give_one_model(run, files, tmp_path):
    coefs = []
    for suffix in ("csv", "csv.gz", "tsv", "parquet"):
        out = tmp_path / f"{suffix}.aucuba"
        run("fit", files / f"train.{suffix}", *FORMATS[suffix], "--cv", "0", "--out", out)
        coefs.append(load_model(out).model[-1].coef_)
    for coef in coefs[1:]:
        np.testing.assert_allclose(coef, coefs[0], rtol=1e-9)


def test_the_model_is_the_library_s(run, files, tmp_path):
    out = tmp_path / "m.aucuba"
    run("fit", files / "train.npz", "--cv", "0", "--fpr-range", "0", "0.2", "--out", out)
    with np.load(files / "train.npz") as arrays:
        X, y = arrays["X"], arrays["y"]
    expected = make_pipeline(StandardScaler(), PartialAUCClassifier((0.0, 0.2)))
    coef = load_model(out).model[-1].coef_
    np.testing.assert_allclose(coef, expected.fit(X, y)[-1].coef_, rtol=1e-9)


def test_default_is_cross_validated_and_progress_leaves_no_trace(run, files, tmp_path):
    out = tmp_path / "m.aucuba"
    fitted = run("fit", files / "train.npz", "--fpr-range", "0", "0.3", "--cv", "3", "--out", out)
    assert fitted.code == 0
    assert "out-of-sample" in fitted.out
    assert "\x1b" not in fitted.out + fitted.err
    classifier = load_model(out).model[-1]
    assert isinstance(classifier, PartialAUCClassifierCV)
    assert "_skl_callbacks" not in vars(classifier)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_shows_progress_after_a_second_only(run, files, tmp_path, monkeypatch):
    words = ["fit", files / "train.npz", "--fpr-range", "0", "0.3", "--out", tmp_path / "m.aucuba"]
    for name in ("NO_COLOR", "TERM", "CI"):
        monkeypatch.delenv(name, raising=False)
    shown = []
    for patience in (1000.0, 0.0):
        monkeypatch.setattr("aucuba.cli._console._PATIENCE_S", patience)
        monkeypatch.setattr("sys.stderr", Terminal())
        assert run(*words, "--cv", "2").code == 0
        shown.append(sys.stderr.getvalue())
    assert shown[0].splitlines() == ["note: The positive class is y = 1: 92 of 300 rows (30.67%)."]
    assert "Training PartialAUCClassifierCV" in shown[1]


def test_progress_follows_the_callbacks_of_scikit_learn():
    pytest.importorskip("sklearn.callback", reason="scikit-learn has no callbacks before 1.9")
    from aucuba.cli._console import FitProgress

    bar = ProgressBar("fit", patience=1000.0)
    X, y = make_classification(200, random_state=0)
    model = PartialAUCSVC((0.0, 0.5), loss="tight", max_iter=500)
    model.set_callbacks(FitProgress(bar)).fit(X, y)
    assert (bar.done, bar.total) == (model.n_iter_, 500)


def test_predict_and_info_say_at_which_rate(run, files, model, tmp_path):
    words = ("predict", model, files / "test.csv", "--out", tmp_path / "s.csv")
    said = "predicted positive (bad) at the threshold for a false positive rate of 0.2\n"
    assert said in run(*words).out
    assert run(*words, "--json").json["predict_fpr"] == 0.2
    assert said in run(*words[:-1], "-").err
    assert run("info", model, "--json").json["fit"]["predict_fpr"] == 0.2
    saved = load_model(model)
    saved.model[-1].predict_fpr_ = float("nan")
    older = tmp_path / "older.aucuba"
    metadata, labels = saved.metadata, saved.labels
    save_model(saved.model, older, baseline=saved.baseline, metadata=metadata, labels=labels)
    out = run("predict", older, files / "test.csv", "--out", tmp_path / "s.csv").out
    assert "predicted positive (bad)\n" in out


@pytest.mark.filterwarnings("ignore:The uncertainty rests on")
def test_scores_and_metrics_are_those_of_the_saved_pipeline(run, files, model, tmp_path):
    scores = tmp_path / "s.csv"
    run("predict", model, files / "test.csv", "--out", scores, "--id", "query")
    written = pd.read_csv(scores)
    saved = load_model(model)
    X = pd.read_csv(files / "test.csv")
    expected = saved.model.decision_function(X)
    np.testing.assert_allclose(written["score"], expected, rtol=1e-12)
    assert written.columns.tolist() == ["query", "score", "predicted"]
    assert (written["predicted"] == np.where(expected > 0, "bad", "good")).all()
    y = (X["outcome"] == "bad").to_numpy()
    result = run("evaluate", model, files / "test.csv", "--json").json
    interval = score_interval("partial_auc", y, expected, fpr_range=(0, 0.2), random_state=0)
    assert result["partial_auc"]["value"] == pytest.approx(interval.value)
    assert result["partial_auc"]["low"] == pytest.approx(interval.low)
    base = saved.baseline.decision_function(X)
    other = compare_scores("partial_auc", y, expected, base, fpr_range=(0, 0.2), random_state=0)
    assert result["partial_auc"]["against_logistic"]["p_value"] == pytest.approx(other.p_value)


def test_weights_are_copies_and_queries_stay_apart(run, files, frame, tmp_path):
    repeated = frame[:300].loc[frame[:300].index.repeat(frame["times"][:300])]
    repeated.to_csv(tmp_path / "repeated.csv", index=False)
    options = ["--target", "outcome", "--pos-label", "bad", "--cv", "0", "--fpr-range", "0", "1"]
    numeric = ["--drop", "city", "--drop", "a", "--qid", "query"]
    out = [tmp_path / "weighted.aucuba", tmp_path / "copies.aucuba"]
    weighted = ["fit", files / "train.csv", *options, *numeric, "--sample-weight", "times"]
    assert run(*weighted, "--out", out[0], "--json").json["training"]["queries"] == 15
    copies = ["fit", tmp_path / "repeated.csv", *options, *numeric, "--drop", "times"]
    run(*copies, "--out", out[1])
    weights, repeats = (load_model(path).model for path in out)
    # The scaler sees rows, the classifier weights: compare directions in the table's own units.
    directions = [
        model[-1].coef_[0] / model["columns"].encode_.named_transformers_["numbers"][-1].scale_
        for model in (weights, repeats)
    ]
    cosine = directions[0] @ directions[1] / np.prod([np.linalg.norm(d) for d in directions])
    assert cosine > 0.999


def test_compare_is_paired_with_the_first(run, files, model, tmp_path):
    other = tmp_path / "aum.aucuba"
    run("fit", files / "train.csv", *NAMED, "--model", "aum", "--out", other)
    result = run("compare", model, other, model, files / "test.csv", "--json").json
    differences = [row["against_first"]["difference"] for row in result["models"]]
    assert differences[0] == differences[2] == 0.0
    assert differences[1] != 0.0
    shown = run("compare", model, other, files / "test.csv").out
    assert "aum.aucuba" in shown


def test_unknown_category_may_be_ignored(run, files, model, frame, tmp_path):
    new = frame[300:].assign(city="Atlantis")
    new.to_csv(tmp_path / "new.csv", index=False)
    out = tmp_path / "s.csv"
    assert (
        run("predict", model, tmp_path / "new.csv", "--out", out, "--unknown", "ignore").code == 0
    )
    assert len(pd.read_csv(out)) == 100


def test_a_file_is_streamed_in_chunks(run, files, model, tmp_path, monkeypatch):
    whole, pieces = tmp_path / "whole.csv", tmp_path / "pieces.csv"
    run("predict", model, files / "test.csv", "--out", whole)
    monkeypatch.setattr(aucuba.cli._formats, "CHUNK_ROWS", 7)
    sizes = []
    read = aucuba.cli._table_file.TableFile.chunks

    def counted(self, *rest):
        for chunk in read(self, *rest):
            sizes.append(chunk.n_rows)
            yield chunk

    monkeypatch.setattr(aucuba.cli._table_file.TableFile, "chunks", counted)
    run("predict", model, files / "test.csv", "--out", pieces)
    assert max(sizes) == 7
    assert sum(sizes) == 100
    # A product of fewer rows may round its last digit differently.
    expected = pd.read_csv(whole)
    pd.testing.assert_frame_equal(pd.read_csv(pieces), expected, rtol=1e-12)
    sizes.clear()
    run("predict", model, files / "test.parquet", "--out", pieces)
    assert max(sizes) == 7
    pd.testing.assert_frame_equal(pd.read_csv(pieces), expected, rtol=1e-12)


def test_warnings_become_notes(run, files, tmp_path):
    words = ["--cv", "0", "--model", "aum", "--out", tmp_path / "m.aucuba"]
    result = run("fit", files / "train.npz", *words)
    assert result.code == 0
    assert all(line.startswith("note: ") for line in result.err.splitlines())


def test_the_module_is_the_same_program(model):
    words = [sys.executable, "-m", "aucuba", "info", str(model)]
    here = {**os.environ, "PYTHONPATH": str(Path(aucuba.__file__).parents[1])}
    result = subprocess.run(
        words, capture_output=True, text=True, check=True, timeout=600, env=here
    )
    assert "outcome = bad" in result.stdout
    assert result.stderr == ""


def test_interrupt_writes_nothing(run, files, tmp_path, monkeypatch):
    def interrupted(*rest, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(PartialAUCClassifier, "fit", interrupted)
    out = tmp_path / "m.aucuba"
    result = run("fit", files / "train.npz", "--cv", "0", "--out", out)
    assert (result.code, list(tmp_path.iterdir())) == (130, [])
    assert result.err.splitlines()[1:] == ["error: Interrupted; nothing was written."]


def test_no_words_print_the_help(run):
    result = run()
    assert result.code == 2
    assert "fit" in result.out


def test_help_imports_nothing_heavy(model):
    heavy = ("numpy", "sklearn", "pandas", "scipy", "skops", "pyarrow")
    code = (
        "import sys\nfrom aucuba.cli import main\ncodes = [main(words) for words in "
        "(['--help'], ['fit', '--help'], ['--version'], ['fit', '--speed'])]\n"
        f"print([name for name in {heavy!r} if name in sys.modules], codes)"
    )
    here = {**os.environ, "PYTHONPATH": str(Path(aucuba.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=here
    )
    assert done.stdout.splitlines()[-1] == "[] [0, 0, 0, 2]"


@pytest.fixture(scope="session")
def opened():
    """Paths of all files opened from now on."""
    paths = []
    sys.addaudithook(lambda event, args: paths.append(str(args[0])) if event == "open" else None)
    return paths


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "tsv", "svmlight", "npz", "parquet"])
def test_a_training_file_is_opened_once(run, files, tmp_path, opened, suffix):
    path = files / f"train.{suffix}"
    opened.clear()
    done = run("fit", path, *FORMATS[suffix], "--cv", "0", "--out", tmp_path / "m.aucuba")
    assert done.code == 0
    # Parquet is opened by compiled code, which tells nobody.
    assert opened.count(str(path)) == (suffix != "parquet")


def test_version(run):
    assert run("--version").out == f"aucuba {aucuba.__version__}\n"
