"""``aucuba predict --reasons`` and the report's section: the same reasons everywhere."""

import numpy as np
import pandas as pd
import pytest

import aucuba.cli._formats
import aucuba.cli._row_reasons
from aucuba import explain_rows
from aucuba.cli import main
from aucuba.persistence import load_model


@pytest.fixture(scope="module", params=["linear", "stack", "promise"])
def fitted(request, tmp_path_factory, files):
    path = tmp_path_factory.mktemp("reasons") / "model.aucuba"
    words = (
        f"--target outcome --pos-label bad --fpr-range 0 0.2 --drop times --drop query --out {path}"
    )
    kinds = {
        "linear": "--cv 0",
        "stack": "--model stack --cv 2",
        "promise": "--cv 0 --promise fpr=0.2",
    }
    assert (
        main(["fit", str(files / "train.csv"), *words.split(), *kinds[request.param].split()]) == 0
    )
    return path


def test_every_row_has_its_reasons(run, fitted, files, tmp_path, monkeypatch):
    monkeypatch.setattr(aucuba.cli._formats, "CHUNK_ROWS", 7)
    data = pd.read_csv(files / "test.csv")[:10]
    data.to_csv(tmp_path / "few.csv", index=False)
    out = tmp_path / "out.csv"
    done = run("predict", fitted, tmp_path / "few.csv", "--reasons", 2, "--out", out)
    assert done.code == 0, done.err
    written = pd.read_csv(out, keep_default_na=False)
    assert written.columns[-2:].tolist() == ["reason_1", "reason_2"]
    train = pd.read_csv(files / "train.csv")
    typical = {name: [train[name].median()] for name in "abc"}
    saved = load_model(fitted)
    if "promise_" not in vars(saved.model[-1]):
        # With a promise one half of the rows trains, whose medians are others.
        background = pd.DataFrame({**typical, "city": train["city"].mode()})
        found = explain_rows(saved.model, data[[*"abc", "city"]], 2, background=background)
        expected = [[*reasons, "", ""][:2] for reasons in found.reasons]
        assert written[["reason_1", "reason_2"]].to_numpy().tolist() == expected
        threshold = vars(saved.model[-1]).get("threshold_", 0.0)
        assert np.ptp(found.scores - saved.decision_function(data)) < 1e-9 * max(threshold, 1)
    assert written["reason_1"].str.contains("typically").any()
    ranked = tmp_path / "ranked.csv"
    assert (
        run(
            "predict",
            fitted,
            tmp_path / "few.csv",
            *["--top", "4", "--reasons", "2", "--out"],
            ranked,
        ).code
        == 0
    )
    top = pd.read_csv(ranked, keep_default_na=False)
    best = written.sort_values("score", ascending=False, kind="stable")[:4]
    pd.testing.assert_frame_equal(top.drop(columns="row"), best.reset_index(drop=True))


def test_blocks_change_nothing(run, model, files, tmp_path, monkeypatch):
    tables = []
    for entries in (4_000_000, 12):
        monkeypatch.setattr(aucuba.cli._row_reasons, "_ENTRIES_AT_ONCE", entries)
        out = tmp_path / f"{entries}.csv"
        assert run("predict", model, files / "test.csv", "--reasons", 1, "--out", out).code == 0
        tables.append(out.read_text())
    assert tables[0] == tables[1]


def test_svmlight_and_formulas(run, files, tmp_path):
    path, out = tmp_path / "m.aucuba", tmp_path / "out.csv"
    assert main(["fit", str(files / "train_plain.svm"), "--cv", "0", "--out", str(path)]) == 0
    assert run("predict", path, files / "test_plain.svm", "--reasons", 1, "--out", out).code == 0
    assert pd.read_csv(out)["reason_1"].dropna().str.contains("typically 0: raises").all()
    train = pd.read_csv(files / "train.csv")[["a", "outcome"]].rename(columns={"a": "=a"})
    train.to_csv(tmp_path / "train.csv", index=False)
    words = ["--target", "outcome", "--pos-label", "bad", "--cv", "0", "--out", path]
    assert run("fit", tmp_path / "train.csv", *words).code == 0
    words = ["--reasons", 1, "--escape-formulas", "--out", out]
    assert run("predict", path, tmp_path / "train.csv", *words).code == 0
    reasons = pd.read_csv(out)["reason_1"].dropna()
    assert len(reasons) > 50
    assert reasons.str.startswith("'=a is ").all()


def test_the_report_explains_the_top_rows(run, fitted, files, tmp_path):
    page, out = tmp_path / "page.html", tmp_path / "top.csv"
    assert run("report", fitted, files / "test.csv", "--out", page).code == 0
    words = ["--top", "5", "--reasons", "3", "--out"]
    assert run("predict", fitted, files / "test.csv", *words, out).code == 0
    text = page.read_text()
    assert "Why the top rows score high" in text
    top = pd.read_csv(out, keep_default_na=False)
    for reason in top["reason_1"]:
        assert reason in text


def test_what_does_not_fit(run, model, files, tmp_path):
    words = ["predict", model, files / "test.csv", "--out", tmp_path / "o.csv"]
    assert run(*words, "--reasons", 0).code != 0
    done = run(*words, "--reasons", 1, "--id", "reason_1")
    assert done.code != 0
    assert "has the name of an output column" in done.err
