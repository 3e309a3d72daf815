"""What a command writes, and what it must leave alone."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import aucuba
from aucuba._base._files import written_atomically
from aucuba.cli import main

SVC = ["--model", "svc", "--loss", "tight"]
FIT = ["--target", "outcome", "--pos-label", "bad", "--cv", "0", *SVC]
HERE = {**os.environ, "PYTHONPATH": str(Path(aucuba.__file__).parents[1]), "OMP_NUM_THREADS": "1"}


def rejected(result, text):
    assert (result.code, result.err.count("\n")) == (2, 1), result.err
    assert text in result.err


@pytest.fixture
def copies(files, model, tmp_path):
    """A data file and a model that a command could destroy."""
    data, saved = tmp_path / "data.csv", tmp_path / "m.aucuba"
    data.write_bytes((files / "test.csv").read_bytes())
    saved.write_bytes(model.read_bytes())
    return data, saved


class TestInputsSurvive:
    def test_fit(self, run, copies):
        data, _ = copies
        before = data.read_bytes()
        rejected(run("fit", data, *FIT, "--out", data), "is the input")
        assert data.read_bytes() == before

    @pytest.mark.parametrize("command", ["predict", "report"])
    @pytest.mark.parametrize("place", [0, 1], ids=["data", "model"])
    def test_readers_of_a_model(self, run, copies, tmp_path, command, place):
        data, saved = copies
        before = copies[place].read_bytes()
        rejected(run(command, saved, data, "--out", copies[place]), "is the input")
        link = tmp_path / "link.csv"
        link.symlink_to(copies[place])
        rejected(run(command, saved, data, "--out", link), "is the input")
        os.link(copies[place], tmp_path / "hard.csv")
        rejected(run(command, saved, data, "--out", tmp_path / "hard.csv"), "is the input")
        assert copies[place].read_bytes() == before


class TestPlaces:
    def test_a_link_stays_a_link(self, run, model, files, tmp_path):
        (tmp_path / "folder").mkdir()
        target, link = tmp_path / "folder" / "s.csv", tmp_path / "link.csv"
        target.write_text("old")
        link.symlink_to(target)
        assert run("predict", model, files / "test.csv", "--out", link).code == 0
        assert link.is_symlink()
        assert len(pd.read_csv(target)) == 100

    @pytest.mark.parametrize("command", ["fit", "predict", "report"])
    def test_a_pipe_is_written_into_and_stays(self, run, model, files, tmp_path, command):
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        received = []
        reader = threading.Thread(target=lambda: received.append(pipe.read_bytes()), daemon=True)
        reader.start()
        words = [files / "train.csv", *FIT] if command == "fit" else [model, files / "test.csv"]
        assert run(command, *words, "--out", pipe).code == 0
        reader.join(timeout=600)
        assert pipe.is_fifo()
        starts = {"fit": b"PK", "predict": b"score,predicted", "report": b"<!doctype"}
        assert received[0].startswith(starts[command])
        assert [path.name for path in tmp_path.iterdir()] == ["pipe"]

    def test_a_failed_block_leaves_a_pipe_empty(self, tmp_path):
        os.mkfifo(tmp_path / "pipe")
        # Opened at both ends, so that a stray write would not wait for a reader.
        ends = os.open(tmp_path / "pipe", os.O_RDWR | os.O_NONBLOCK)

        def fail():
            with written_atomically(tmp_path / "pipe") as draft:
                draft.write_text("half")
                raise RuntimeError("no")

        with pytest.raises(RuntimeError):
            fail()
        with pytest.raises(BlockingIOError):
            os.read(ends, 1)
        os.close(ends)

    def test_scores_on_stdout(self, run, model, files, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        run("predict", model, files / "test.csv", "--out", "s.csv")
        shown = run("predict", model, files / "test.csv", "--out", "-")
        assert shown.code == 0
        assert shown.out == Path("s.csv").read_text()
        assert shown.err.startswith("note: 100 rows")
        assert [path.name for path in tmp_path.iterdir()] == ["s.csv"]
        both = run("predict", model, files / "test.csv", "--out", "-", "--json")
        rejected(both, "cannot both go to stdout")

    def test_scores_are_csv(self, run, model, files, tmp_path):
        done = run("predict", model, files / "test.csv", "--out", tmp_path / "s.parquet")
        rejected(done, "ends in .csv")

    def test_a_place_is_checked_before_training(self, run, files, tmp_path, monkeypatch):
        monkeypatch.setattr("aucuba.cli._fit_models.Plan.train", None)
        out = tmp_path / "no" / "m.aucuba"
        rejected(run("fit", files / "train.csv", *FIT, "--out", out), "does not exist")

    def test_data_from_a_pipe(self, run, model, tmp_path):
        os.mkfifo(tmp_path / "pipe.csv")
        for data in ("-", tmp_path / "pipe.csv"):
            done = run("predict", model, data, "--out", tmp_path / "s.csv")
            rejected(done, "not a file on disk")

    def test_a_folder_as_data(self, run, tmp_path):
        rejected(run("fit", tmp_path, "--out", tmp_path / "m"), "is a folder")

    def test_id_that_would_be_overwritten(self, run, model, files, tmp_path):
        words = ["predict", model, files / "test.csv", "--out", tmp_path / "s.csv"]
        for name in ("score", "probability", "predicted"):
            rejected(run(*words, "--id", name), f"--id {name} has the name of an output column")

    def test_identifiers_are_carried_as_they_stand(self, run, model, frame, tmp_path):
        data, out = tmp_path / "d.csv", tmp_path / "s.csv"
        part = frame[:4].assign(key=["007", "NA", "1e5", "None"])
        part.to_csv(data, index=False)
        assert run("predict", model, data, "--out", out, "--id", "key").code == 0
        carried = [line.split(",")[0] for line in out.read_text().splitlines()]
        assert carried == ["key", "007", "NA", "1e5", "None"]

    def test_several_identifiers(self, run, model, frame, tmp_path):
        data, out = tmp_path / "d.csv", tmp_path / "s.csv"
        frame[:4].assign(**{"key": list("abcd"), "x,y": 1.5, "x": 2}).to_csv(data, index=False)
        words = ["predict", model, data, "--out", out, "--id", "key,query", "--id", "x,y"]
        assert run(*words).code == 0
        written = pd.read_csv(out)
        assert written.columns.tolist() == ["key", "query", "x,y", "score", "predicted"]
        assert written["key"].tolist() == list("abcd")
        rejected(run(*words, "--id", "kye"), "no column 'kye' for --id; did you mean 'key'?")


class TestErrorsAsJson:
    @pytest.mark.parametrize("words", [["--out", "m"], ["--speed"]], ids=["input", "usage"])
    def test_one_object(self, run, tmp_path, words):
        done = run("fit", tmp_path / "nothing.csv", *words, "--json")
        assert done.code == 2
        assert done.err == f"error: {json.loads(done.out)['error']}\n"


def test_what_is_missing_names_the_install(capsys, monkeypatch):
    monkeypatch.delitem(sys.modules, "aucuba.cli._app", raising=False)
    monkeypatch.setitem(sys.modules, "typer", None)
    assert main(["--version"]) == 2
    complaint = capsys.readouterr().err
    assert "the command line needs typer" in complaint
    assert 'pip install ".[cli]"' in complaint


class TestSignals:
    def test_interrupt_while_importing(self):
        code = (
            "import sys, builtins\n"
            "load = builtins.__import__\n"
            "def interrupted(name, *rest):\n"
            "    if name == 'typer':\n"
            "        raise KeyboardInterrupt\n"
            "    return load(name, *rest)\n"
            "builtins.__import__ = interrupted\n"
            "from aucuba.cli import main\n"
            "sys.exit(main(['--version']))\n"
        )
        words = [sys.executable, "-c", code]
        done = subprocess.run(words, capture_output=True, text=True, env=HERE, timeout=600)
        assert (done.returncode, done.stderr) == (130, "error: Interrupted; nothing was written.\n")

    def test_termination_removes_the_draft(self, model, files, tmp_path):
        # Scoring stops after the rows, however fast the machine is.
        code = (
            "import sys, time\n"
            "from aucuba.cli import main\n"
            "from aucuba.cli._table_file import TableFile\n"
            "chunks = TableFile.chunks\n"
            "def stopped(self, kept):\n"
            "    yield from chunks(self, kept)\n"
            "    time.sleep(600)\n"
            "TableFile.chunks = stopped\n"
            "sys.exit(main(sys.argv[1:]))\n"
        )
        words = ["predict", model, files / "test.csv", "--out", tmp_path / "s.csv"]
        process = subprocess.Popen(
            [sys.executable, "-c", code, *map(str, words)],
            stderr=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=HERE,
        )
        while not list(tmp_path.glob(".*.part")) and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        _, complaint = process.communicate(timeout=600)
        assert process.returncode == 128 + signal.SIGTERM
        assert complaint == "error: Terminated; nothing was written.\n"
        assert list(tmp_path.iterdir()) == []

    def test_handlers_of_the_surrounding_program_stay(self, run):
        names = signal.SIGTERM, signal.SIGINT
        before = [signal.getsignal(one) for one in names]
        run("--version")
        assert [signal.getsignal(one) for one in names] == before

    @pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
    def test_a_signal_that_became_another_error_is_a_signal(
        self, run, model, files, tmp_path, monkeypatch, number, code
    ):
        def changed(self):
            try:
                signal.raise_signal(number)
            except BaseException as error:
                raise ValueError("not a valid buffer") from error

        monkeypatch.setattr("aucuba.cli._table_file.TableFile.names", changed)
        monkeypatch.setattr("aucuba.cli._table_file.TableFile.chunks", lambda *_: changed(None))
        # Programs started in the background of a shell ignore SIGINT.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            done = run("predict", model, files / "test.csv", "--out", tmp_path / "s.csv")
        finally:
            signal.signal(signal.SIGINT, before)
        assert done.code == code
        assert "nothing was written" in done.err


def test_progress_of_scoring_follows_the_bytes(run, files, model, tmp_path, monkeypatch):
    monkeypatch.setattr("aucuba.cli._formats.CHUNK_ROWS", 25)
    reached = []
    reach = "aucuba._base._progress_bar.ProgressBar.reach"
    monkeypatch.setattr(reach, lambda bar, amount: reached.append(amount))
    for suffix in ("csv", "csv.gz", "parquet"):
        run("predict", model, files / f"test.{suffix}", "--out", tmp_path / "s.csv")
        assert len(reached) == 4
        assert np.all(np.diff(reached) >= 0)
        assert reached[-1] == 1.0
        reached.clear()
