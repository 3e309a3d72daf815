"""Files, folders and pipes that broke the command line, and random ones that must not."""

import errno
import json
import os
import resource
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import aucuba
from aucuba._base._files import written_atomically
from aucuba.cli import main

pd = pytest.importorskip("pandas")
for needed in ("typer", "rich", "skops", "pyarrow"):
    pytest.importorskip(needed)

FAST = ["--cv", "0", "--model", "svc", "--loss", "tight", "--fpr-range", "0", "0.5"]
HERE = {**os.environ, "PYTHONPATH": str(Path(aucuba.__file__).parents[1]), "OMP_NUM_THREADS": "1"}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A table whose names and texts look like markup and formulas, and a model of it."""
    folder = tmp_path_factory.mktemp("data")
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    frame = pd.DataFrame(
        {
            "[/b]": rng.normal(size=80) + y,
            "[red]": rng.normal(size=80),
            "key": ["=1+2", "+3", "-4", "@sum", "plain", "\ttab", "7", "=A1"] * 10,
            "out": np.where(y == 1, "=bad", "good"),
        }
    )
    frame.to_csv(folder / "t.csv", index=False)
    words = ["--target", "out", "--pos-label", "=bad", "--drop", "key", *FAST]
    assert main(["fit", str(folder / "t.csv"), *words, "--out", str(folder / "m.aucuba")]) == 0
    return folder


class TestOutputs:
    @pytest.mark.parametrize("mode", [0o600, 0o640, 0o444, 0o755])
    def test_a_replaced_file_keeps_its_mode(self, tmp_path, mode):
        path = tmp_path / "s.csv"
        path.write_text("old")
        path.chmod(mode)
        with written_atomically(path) as draft:
            draft.write_text("new")
        assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == ("new", mode)

    @pytest.mark.skipif(os.geteuid() != 0, reason="only a superuser may give files away")
    def test_a_replaced_file_keeps_its_owner(self, tmp_path):
        path = tmp_path / "s.csv"
        path.write_text("old")
        os.chown(path, 12345, 54321)
        with written_atomically(path) as draft:
            draft.write_text("new")
        assert (path.stat().st_uid, path.stat().st_gid) == (12345, 54321)

    def test_predict_keeps_the_mode_of_its_output(self, data, tmp_path, capsys):
        path = tmp_path / "s.csv"
        path.touch(mode=0o600)
        words = ["predict", data / "m.aucuba", data / "t.csv", "--out", path]
        assert main([str(word) for word in words]) == 0
        capsys.readouterr()
        assert stat.S_IMODE(path.stat().st_mode) == 0o600

    def test_content_and_rename_reach_the_disk(self, tmp_path, monkeypatch):
        synced, path = [], tmp_path / "s.csv"
        sync, replace = os.fsync, os.replace

        def noted(handle):
            synced.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file")
            sync(handle)

        def renamed(*places):
            synced.append("rename")
            replace(*places)

        monkeypatch.setattr(os, "fsync", noted)
        monkeypatch.setattr(os, "replace", renamed)
        with written_atomically(path) as draft:
            draft.write_text("new")
        assert synced == ["file", "rename", "folder"]

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
    @pytest.mark.parametrize("command", ["predict", "report"])
    def test_a_full_device_is_named(self, data, capsys, command):
        words = [command, str(data / "m.aucuba"), str(data / "t.csv"), "--out", "/dev/full"]
        assert main(words) == 2
        reason = f"[Errno {errno.ENOSPC}] {os.strerror(errno.ENOSPC)}: '/dev/full'"
        assert capsys.readouterr().err == f"error: {reason}\n"

    @pytest.mark.parametrize("command", ["predict", "report", "fit"])
    def test_a_file_that_grows_too_large_is_named(self, data, tmp_path, capsys, command):
        out = tmp_path / "big"
        words = [command, data / "m.aucuba", data / "t.csv", "--out", out]
        if command == "fit":
            words = ["fit", data / "t.csv", "--target", "out", "--pos-label", "good", *words[3:]]
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
        try:
            code = main([str(word) for word in [*words]])
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        complaint = capsys.readouterr().err
        assert code == 2
        assert complaint.splitlines()[-1].endswith(f"{os.strerror(errno.EFBIG)}: '{out}'")
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("words", [["predict", "--out", "-"], ["evaluate"], ["info"]])
    def test_a_reader_that_is_gone(self, data, monkeypatch, words):
        command, *options = words
        files = [data / "m.aucuba", data / "t.csv"][: 1 if command == "info" else 2]
        reading, writing = os.pipe()
        os.close(reading)
        with os.fdopen(writing, "w") as stdout:
            monkeypatch.setattr(sys, "stdout", stdout)
            assert main([command, *map(str, files), *options]) == 0

    def test_a_reader_that_has_seen_enough(self, data, tmp_path):
        pd.concat([pd.read_csv(data / "t.csv")] * 500).to_csv(tmp_path / "long.csv", index=False)
        words = ["predict", data / "m.aucuba", tmp_path / "long.csv", "--out", "-"]
        process = subprocess.Popen(
            [sys.executable, "-m", "aucuba", *map(str, words)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=HERE,
        )
        assert process.stdout.readline() == "score,predicted\n"
        process.stdout.close()
        complaint = process.stderr.read()
        process.stderr.close()
        assert (process.wait(timeout=600), complaint) == (0, "")


class TestText:
    def test_markup_in_names(self, data, capsys):
        assert main(["info", str(data / "m.aucuba")]) == 0
        shown = capsys.readouterr().out
        assert "[/b] (" in shown
        assert "[red] (" in shown
        assert "out = =bad" in shown

    def test_markup_in_the_target(self, data, tmp_path, capsys):
        path, out = tmp_path / "t.csv", str(tmp_path / "m.aucuba")
        pd.read_csv(data / "t.csv").rename(columns={"out": "[/i]"}).to_csv(path, index=False)
        words = ["--target", "[/i]", "--pos-label", "=bad", "--drop", "key", *FAST, "--out", out]
        assert main(["fit", str(path), *words]) == 0
        assert main(["info", out]) == 0
        assert "[/i] = =bad" in capsys.readouterr().out

    def test_markup_in_file_names(self, data, tmp_path, capsys):
        path = tmp_path / "[red]m.aucuba"
        path.write_bytes((data / "m.aucuba").read_bytes())
        assert main(["compare", str(path), str(path), str(data / "t.csv")]) == 0
        assert "[red]m.aucuba" in capsys.readouterr().out

    def test_formulas_may_be_escaped(self, data, tmp_path, capsys):
        out, frame = tmp_path / "s.csv", pd.read_csv(data / "t.csv")
        words = ["predict", str(data / "m.aucuba"), str(data / "t.csv"), "--id", "key"]
        assert main([*words, "--out", str(out)]) == 0
        assert pd.read_csv(out)["key"].tolist() == frame["key"].tolist()
        assert main([*words, "--escape-formulas", "--out", str(out)]) == 0
        capsys.readouterr()
        written = pd.read_csv(out)
        assert written["key"][:8].tolist() == [
            *("'=1+2", "'+3", "'-4", "'@sum", "plain", "'\ttab", "7", "'=A1")
        ]
        assert set(written["predicted"]) == {"'=bad", "good"}
        assert written["score"].dtype == np.float64
        assert (written["score"] < 0).any()

    def test_names_that_are_formulas(self, data, tmp_path, capsys):
        frame = pd.read_csv(data / "t.csv").rename(columns={"key": "=key"})
        frame.to_csv(tmp_path / "t.csv", index=False)
        words = ["predict", data / "m.aucuba", tmp_path / "t.csv", "--id", "=key"]
        words += ["--escape-formulas", "--out", tmp_path / "s.csv"]
        assert main([str(word) for word in words]) == 0
        capsys.readouterr()
        assert (tmp_path / "s.csv").read_text().startswith("'=key,score,predicted\n")


class TestSvmlight:
    @pytest.mark.parametrize("index", [2**31 - 1, 2**31, 10**9, 10**14, 10**30])
    def test_an_index_beyond_memory(self, tmp_path, capsys, index):
        path = tmp_path / "t.svm"
        path.write_text("".join(f"{k % 2} 1:{k} {index}:1\n" for k in range(10)))
        assert main(["fit", str(path), *FAST, "--out", str(tmp_path / "m")]) == 2
        complaint = capsys.readouterr().err
        assert complaint.count("\n") == 1
        assert "number the features without gaps" in complaint

    def test_a_wide_index_that_fits(self, tmp_path, capsys):
        path = tmp_path / "t.svm"
        path.write_text("".join(f"{k % 2} 1:{k + k % 2} 200000:1\n" for k in range(40)))
        assert main(["fit", str(path), *FAST, "--out", str(tmp_path / "m")]) == 0
        capsys.readouterr()


class TestLabelsAndQueries:
    def frame(self):
        rng = np.random.default_rng(0)
        y = np.arange(60) % 2
        return pd.DataFrame({"a": rng.normal(size=60) + y, "y": y})

    def fit(self, frame, tmp_path, *options):
        frame.to_parquet(tmp_path / "t.parquet")
        words = ["fit", str(tmp_path / "t.parquet"), *FAST, *options]
        return main([*words, "--out", str(tmp_path / "m"), "--json"])

    def test_integers_above_two_to_the_53(self, tmp_path, capsys):
        large = 2**53 + self.frame()["y"].to_numpy()
        assert self.fit(self.frame().assign(y=large), tmp_path) == 0
        result = json.loads(capsys.readouterr().out)
        assert result["pos_label"] == str(2**53 + 1)
        assert result["training"]["positives"] == 30

    def test_queries_of_numbers_and_words(self, tmp_path, capsys, monkeypatch):
        mixed = pd.Series([1, "1", "x", None] * 15, dtype=object)
        np.savez(tmp_path / "t.npz", X=np.zeros((60, 1)), y=self.frame()["y"])
        from aucuba.cli._formats import Table
        from aucuba.cli._roles import Roles, as_sample

        roles = Roles("y", qid="q")
        read = roles.read_others(Table(pd.DataFrame({"q": mixed[:3]})))
        rows = as_sample(read.assign(positive=[True, False, True]))
        assert rows.query.tolist() == [0, 0, 1]
        with pytest.raises(
            ValueError, match="'q' for --qid has missing values, the first in row 4"
        ):
            roles.read_others(Table(pd.DataFrame({"q": mixed})))

    def test_labels_of_bytes(self, tmp_path, capsys):
        frame = self.frame()
        labels = np.where(frame["y"] == 1, b"yes", b"no")
        np.savez(tmp_path / "t.npz", X=frame[["a"]].to_numpy(), y=labels)
        words = ["fit", str(tmp_path / "t.npz"), *FAST, "--pos-label", "yes"]
        assert main([*words, "--out", str(tmp_path / "m"), "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["labels"] == ["yes", "no"]


WORDS = ["1", "-2.5", "", "NA", "nan", "inf", "x", "é", '"', "'", ",", "\n", "\x00", "2020-01-01"]
WORDS += ["=1", "1e999", "0x1F", "1_0", " ", "\t", "[/b]", "true", "🜚", "1,5", "9" * 40]


def random_table(rng):
    """Bytes that may be a table: columns of random words, cut and damaged at random."""
    n_rows, n_columns = int(rng.integers(0, 30)), int(rng.integers(1, 6))
    names = [str(rng.choice([*WORDS, "a", "b", "y"])) for _ in range(n_columns)]
    kinds = [rng.choice(WORDS, size=int(rng.integers(1, 4))) for _ in names]
    rows = [[str(rng.choice(kind)) for kind in kinds] for _ in range(n_rows)]
    if rng.random() < 0.7:
        names, rows = [*names, "y"], [[*row, str(k % 2)] for k, row in enumerate(rows)]
    text = "\n".join([",".join(names), *(",".join(row) for row in rows)])
    content = bytearray(text.encode(str(rng.choice(["utf-8", "utf-16"])), errors="replace"))
    for _ in range(int(rng.integers(0, 3)) if content else 0):
        content[int(rng.integers(len(content)))] = int(rng.integers(256))
    return bytes(content[: int(rng.integers(1, len(content) + 2))])


@pytest.mark.parametrize("suffix", ["csv", "tsv", "svm", "npz", "parquet"])
@pytest.mark.parametrize("n_cases", [8, pytest.param(800, marks=pytest.mark.slow)])
@pytest.mark.filterwarnings("default")
def test_random_files_are_used_or_refused_in_words(tmp_path, capsys, suffix, n_cases):
    rng = np.random.default_rng(5)
    path, out = tmp_path / f"t.{suffix}", tmp_path / "m.aucuba"
    codes = set()
    for _ in range(n_cases):
        path.write_bytes(random_table(rng))
        code = main(["fit", str(path), *FAST, "--max-iter", "5", "--out", str(out)])
        complaint = capsys.readouterr().err
        assert code in (0, 2), complaint
        assert out.exists() == (code == 0)
        if code == 0:
            scores = str(tmp_path / "s.csv")
            assert main(["predict", str(out), str(path), "--out", scores]) in (0, 2)
            complaint += capsys.readouterr().err
            out.unlink()
        for line in complaint.splitlines():
            assert line.startswith(("error: ", "note: ")), complaint
        codes.add(code)
    assert 2 in codes
