"""``aucuba evaluate`` reads in pieces, and may keep only the rows of its region."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest

import aucuba.cli._formats
from aucuba.cli import main
from aucuba.cli._command_options import EvaluateOptions
from aucuba.cli._fit_record import load_fitted
from aucuba.cli._labelled_rows import ScoredFile, ScoredRows, SketchedRows
from aucuba.metrics import partial_auc_score, score_interval, tpr_at_fpr_score

SVC = ["--model", "svc", "--loss", "tight"]


def rejected(result, text):
    assert result.code == 2, result.out + result.err
    assert text in result.err


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("options", [[], ["--sample-weight", "times"], ["--qid", "query"]])
def test_pieces_give_what_one_table_gives(run, model, files, monkeypatch, suffix, options):
    words = ["evaluate", model, files / f"test.{suffix}", "--at", "fpr=0.1", *options, "--json"]
    want = run(*words).json
    monkeypatch.setattr(aucuba.cli._formats, "CHUNK_ROWS", 7)
    assert run(*words).json == want


def test_queries_of_words_and_numbers_are_joined_over_pieces(
    run, model, files, tmp_path, monkeypatch
):
    rows = pd.read_csv(files / "test.csv")
    rows["query"] = np.where(np.arange(100) < 50, (np.arange(100) // 10).astype(str), "x")
    rows.to_csv(tmp_path / "mixed.csv", index=False)
    words = ["evaluate", model, tmp_path / "mixed.csv", "--qid", "query", "--json"]
    want = run(*words).json
    monkeypatch.setattr(aucuba.cli._formats, "CHUNK_ROWS", 25)
    assert run(*words).json == want
    assert want["data"]["queries"] == 6


def test_training_rows_are_recognised_in_pieces(run, model, files, monkeypatch):
    monkeypatch.setattr(aucuba.cli._formats, "CHUNK_ROWS", 7)
    for options in ([], ["--region-only"]):
        done = run("evaluate", model, files / "train.csv", *options)
        assert "contains training rows" in done.err


def test_messages_number_rows_of_the_file(run, model, files, tmp_path, monkeypatch):
    monkeypatch.setattr(aucuba.cli._formats, "CHUNK_ROWS", 7)
    for column, value, text in [
        ("outcome", "ugly", "ugly (first in row 31)"),
        ("outcome", None, "the first of them row 31"),
        ("times", -1, "row 31 has '-1'"),
    ]:
        rows = pd.read_csv(files / "test.csv")
        rows.loc[30, column] = value
        rows.to_csv(tmp_path / "bad.csv", index=False)
        words = ["evaluate", model, tmp_path / "bad.csv", "--sample-weight", "times"]
        rejected(run(*words), text)


@pytest.mark.filterwarnings("ignore:The uncertainty rests on")
@pytest.mark.parametrize("options", [[], ["--sample-weight", "times"]])
def test_the_region_alone_equals_the_measures_of_all_rows(
    run, model, files, tmp_path, monkeypatch, options
):
    run("predict", model, files / "test.csv", "--out", tmp_path / "s.csv")
    score = pd.read_csv(tmp_path / "s.csv")["score"]
    rows = pd.read_csv(files / "test.csv")
    y, weight = rows["outcome"] == "bad", rows["times"] if options else None
    monkeypatch.setattr(aucuba.cli._formats, "CHUNK_ROWS", 7)
    words = ["evaluate", model, files / "test.csv", "--region-only", *options]
    got = run(*words, "--capacity", 40, "--json").json
    band = {"fpr_range": (0.0, 0.2), "sample_weight": weight}
    interval = score_interval("partial_auc", y, score, method="wilson", **band)
    assert got["partial_auc"]["value"] == pytest.approx(partial_auc_score(y, score, **band))
    assert got["partial_auc"]["low"] == pytest.approx(interval.low)
    tpr = tpr_at_fpr_score(y, score, fpr=0.2, sample_weight=weight)
    assert got["tpr_at_fpr"]["tpr"] == pytest.approx(tpr)
    assert 0.2 < got["covered_fpr"] < 1
    assert got["data"]["rows"] == 100
    whole = run("evaluate", model, files / "test.csv", *options, "--json").json
    assert got["logistic"]["value"] == pytest.approx(
        whole["partial_auc"]["against_logistic"]["values"][1]
    )
    shown = run(*words).out
    assert "pAUC[0, 0.2]" in shown
    assert "Known up to FPR 1" in shown


def test_options_of_the_region_alone(run, model, files):
    words = ["evaluate", model, files / "test.csv"]
    rejected(run(*words, "--capacity", 5), "--capacity is for --region-only; leave it out.")
    rejected(run(*words, "--region-only", "--at", "k=5"), "--at needs all scores")
    rejected(
        run(*words, "--region-only", "--qid", "query"), "--region-only does not support queries"
    )
    rejected(run(*words, "--region-only", "--capacity", 3), "capacity=16, not 3")


def test_features_are_not_held_in_memory(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9000, 60))
    frame = pd.DataFrame(X, columns=[f"x{k}" for k in range(60)])
    frame["y"] = (X[:, 0] + rng.normal(size=9000) > 1.5).astype(int)
    for n_rows in (3000, 9000):
        frame[:n_rows].to_parquet(tmp_path / f"{n_rows}.parquet", row_group_size=1000)
    frame[:500].to_csv(tmp_path / "train.csv", index=False)
    words = [*SVC, "--cv", "0", "--max-fpr", "0.1", "--no-probe", "--out"]
    assert main(["fit", str(tmp_path / "train.csv"), *words, str(tmp_path / "m.aucuba")]) == 0
    saved, record = load_fitted(tmp_path / "m.aucuba")
    monkeypatch.setattr(aucuba.cli._formats, "CHUNK_ROWS", 1000)

    def scored(n_rows):
        data = tmp_path / f"{n_rows}.parquet"
        return ScoredFile(saved, record, EvaluateOptions(model=tmp_path / "m.aucuba", data=data))

    def peak(n_rows, read):
        tracemalloc.start()
        try:
            assert read(scored(n_rows)).summary["rows"] == n_rows
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    # What is imported on the way would count too.
    ScoredRows.from_file(scored(3000))

    for read in (ScoredRows.from_file, lambda one: SketchedRows.from_file(one, (0.0, 0.1), 3000)):
        assert peak(9000, read) - peak(3000, read) < X[3000:].nbytes / 4
