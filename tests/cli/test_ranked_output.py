"""``aucuba predict --top`` and ``--sort``, hints that can be pasted, and help on 80 columns."""

import shlex

import numpy as np
import pandas as pd
import pytest

import aucuba.cli._formats
import aucuba.cli._predict_command


@pytest.fixture
def scores(run, model, files, tmp_path):
    """All rows in the order of the file, and a function that reads an output."""
    rows = pd.read_csv(files / "test.csv").assign(number=np.arange(100))
    # Copies of a row have equal scores.
    rows.iloc[50:60, :4] = rows.iloc[3, :4].to_numpy()
    rows.to_csv(tmp_path / "rows.csv", index=False)

    def predict(*options):
        out = tmp_path / "out.csv"
        words = ["predict", model, tmp_path / "rows.csv", "--id", "number", *options]
        done = run(*words, "--out", out)
        assert done.code == 0, done.err
        return pd.read_csv(out)

    return predict(), predict


@pytest.mark.parametrize("chunk", [7, 50_000])
def test_the_highest_rows_first(scores, monkeypatch, chunk):
    monkeypatch.setattr(aucuba.cli._formats, "CHUNK_ROWS", chunk)
    everything, predict = scores
    ranked = sorted(range(100), key=lambda row: (-everything["score"][row], row))
    want = everything.iloc[ranked].reset_index(drop=True)
    want.insert(0, "row", np.array(ranked) + 1)
    pd.testing.assert_frame_equal(predict("--sort"), want)
    for top in (1, 5, 99, 100, 1000):
        pd.testing.assert_frame_equal(predict("--top", top), want[:top])
    pd.testing.assert_frame_equal(predict("--top", 5, "--sort"), want[:5])


def test_the_top_is_found_without_holding_the_file(scores, monkeypatch):
    everything, predict = scores
    monkeypatch.setattr(aucuba.cli._formats, "CHUNK_ROWS", 7)
    ranked, held = aucuba.cli._predict_command._ranked, []

    def counted(frames, top):
        held.append(sum(map(len, frames)))
        return ranked(frames, top)

    monkeypatch.setattr(aucuba.cli._predict_command, "_ranked", counted)
    assert len(predict("--top", 5)) == 5
    # No more than those kept and the rows of one chunk.
    assert len(held) > len(everything) // 7
    assert max(held) == 5 + 7


def test_what_does_not_fit(run, model, files, tmp_path):
    words = ["predict", model, files / "test.csv", "--out", tmp_path / "s.csv"]
    assert "--top" in run(*words, "--top", 0).err
    rows = pd.read_csv(files / "test.csv").assign(row=1)
    rows.to_csv(tmp_path / "row.csv", index=False)
    words = ["predict", model, tmp_path / "row.csv", "--out", tmp_path / "s.csv", "--id", "row"]
    assert run(*words).code == 0
    assert "--id row has the name of an output column" in run(*words, "--sort").err


@pytest.mark.parametrize("name", ["when it was", "it's", "-x", "a;b", "$HOME", "plain"])
def test_hints_can_be_pasted(run, files, tmp_path, name):
    rows = pd.read_csv(files / "train.csv").drop(columns=["times", "query"])
    leak = (rows["outcome"] == "bad") + 0.25
    rows.assign(**{name: leak}).to_csv(tmp_path / "t.csv", index=False)
    words = ["fit", tmp_path / "t.csv", "--target", "outcome", "--cv", 0, "--no-probe"]
    words += ["--out", tmp_path / "m.aucuba"]
    # The error names the labels, and each of its options works.
    failed = run(*words)
    assert "give --pos-label bad or --pos-label good" in failed.err
    done = run(*words, "--pos-label", "bad")
    hint = next(line for line in done.err.splitlines() if "gives the target away" in line)
    pasted = shlex.split(hint.rpartition("leave it out with ")[2].rstrip("."))
    again = run(*words, "--pos-label", "bad", *pasted, "--json")
    assert again.code == 0, again.err
    assert name not in dict(again.json["schema"]["columns"])
    assert "gives the target away" not in again.err


@pytest.mark.parametrize("command", ["fit", "predict", "evaluate", "compare", "report", "monitor"])
def test_the_help_fits_eighty_columns(run, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "80")
    shown = run(command, "--help").out
    assert max(map(len, shown.splitlines())) <= 80
    assert shown.index("Options:") < shown.index("File:")
    assert shown.count("--json ") == 1
    assert shown.index("File:") < shown.index("Examples:")
    assert shown.rstrip().splitlines()[-1].startswith(f"    aucuba {command} ")


def test_the_examples_of_the_help_run(run, frame, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = pd.concat([frame] * 3, ignore_index=True).drop(columns=["times", "query"])
    days = pd.date_range("2024-01-01", periods=len(rows), freq="h").astype(str)
    rows = rows.assign(date=days, id=1, customer=1, fraud=rows.pop("outcome") == "bad")
    for name in ("train", "test", "new"):
        rows.to_csv(f"{name}.csv", index=False)
    rows.to_parquet("new.parquet")
    fast = ["--no-probe", "--cv", 0]
    for name in ("linear", "stack"):
        words = ["fit", "train.csv", "--target", "fraud", *fast, "--out", f"{name}.aucuba"]
        assert run(*words).code == 0
    for command in ("fit", "predict", "evaluate", "compare", "report", "monitor"):
        text = run(command, "--help").out.rpartition("Examples:")[2]
        for line in text.strip().splitlines():
            words = [*shlex.split(line)[1:], *(fast if command == "fit" else [])]
            if command == "fit" and "--model" in words:
                # A stack takes too long for a test.
                words[words.index("--model") + 1] = "linear"
            done = run(*words)
            assert done.code == 0, (line, done.err)
