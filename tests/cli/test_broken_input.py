"""Broken input: exit code 2, one line that says what to do, no traceback, no output file."""

import datetime
import json
import pickle
import zipfile

import numpy as np
import pytest

import aucuba.cli._formats

FIT = ["--target", "outcome", "--pos-label", "bad"]


def rejected(result, text):
    assert result.code == 2, result.out + result.err
    assert result.err.startswith("error: ")
    assert result.err.count("\n") == 1
    assert "Traceback" not in result.err
    assert text in result.err


@pytest.fixture
def refuse_fit(run, tmp_path):
    """Check that fitting a file fails with a text and leaves the folder as it was."""

    def check(path, text, *options):
        out = tmp_path / "out"
        out.mkdir()
        rejected(run("fit", path, *(options or FIT), "--out", out / "model.aucuba"), text)
        assert list(out.iterdir()) == []

    return check


@pytest.fixture
def refuse_predict(run, tmp_path, model):
    """The same for scoring with a good model."""

    def check(path, text, *options, with_model=model):
        out = tmp_path / "out"
        out.mkdir()
        rejected(run("predict", with_model, path, *options, "--out", out / "s.csv"), text)
        assert list(out.iterdir()) == []

    return check


def written(frame, tmp_path, name="data.csv", **options):
    path = tmp_path / name
    frame.to_csv(path, index=False, **options)
    return path


class TestFit:
    def test_no_such_file(self, refuse_fit, tmp_path):
        refuse_fit(tmp_path / "nothing.csv", "There is no file")

    def test_empty_file(self, refuse_fit, tmp_path):
        (tmp_path / "data.csv").touch()
        refuse_fit(tmp_path / "data.csv", "is empty")

    def test_header_without_rows(self, refuse_fit, frame, tmp_path):
        refuse_fit(written(frame[:0], tmp_path), "has no rows")

    def test_unknown_suffix(self, refuse_fit, frame, tmp_path):
        refuse_fit(written(frame, tmp_path, "data.xyz"), "give --format")

    def test_missing_target(self, refuse_fit, files):
        refuse_fit(files / "train.csv", "no column 'label' for --target", "--target", "label")

    def test_one_class(self, refuse_fit, frame, tmp_path):
        refuse_fit(written(frame.assign(outcome="bad"), tmp_path), "only one class")

    def test_too_many_classes(self, refuse_fit, frame, tmp_path):
        refuse_fit(written(frame, tmp_path), "name the positive one", "--target", "query")

    def test_positive_label_not_there(self, refuse_fit, files):
        options = ["--target", "outcome", "--pos-label", "ugly"]
        refuse_fit(files / "train.csv", "--pos-label ugly is not among the labels", *options)

    def test_missing_labels(self, refuse_fit, frame, tmp_path):
        labels = frame["outcome"].where(frame.index != 6)
        refuse_fit(written(frame.assign(outcome=labels), tmp_path), "first of them row 7")

    def test_all_missing_column(self, refuse_fit, frame, tmp_path):
        refuse_fit(written(frame.assign(b=np.nan), tmp_path), "--drop b")

    def test_infinite_values(self, refuse_fit, frame, tmp_path):
        path = written(frame.assign(b=np.where(frame.index == 3, np.inf, frame["b"])), tmp_path)
        refuse_fit(path, "row 4 has 'inf' (infinite)")

    def test_wrong_delimiter(self, refuse_fit, frame, tmp_path):
        refuse_fit(written(frame, tmp_path, sep=";"), "try --delimiter ';'")

    def test_ragged_rows(self, refuse_fit, tmp_path):
        (tmp_path / "data.csv").write_text("a,outcome\n1,bad,9\n2,good,9\n")
        refuse_fit(tmp_path / "data.csv", "cannot be read as csv")

    def test_one_ragged_row(self, refuse_fit, tmp_path):
        (tmp_path / "data.csv").write_text("a,outcome\n1,bad\n2,good,9\n")
        refuse_fit(tmp_path / "data.csv", "cannot be read as csv")

    def test_repeated_column_name(self, refuse_fit, tmp_path):
        (tmp_path / "data.csv").write_text("a,a,outcome\n1,2,bad\n2,3,good\n")
        refuse_fit(tmp_path / "data.csv", "'a' more than once")

    def test_binary_rubbish(self, refuse_fit, tmp_path):
        (tmp_path / "data.csv").write_bytes(bytes(range(128, 256)) * 20)
        refuse_fit(tmp_path / "data.csv", "not UTF-8")

    def test_truncated_parquet(self, refuse_fit, files, tmp_path):
        whole = (files / "train.parquet").read_bytes()
        (tmp_path / "data.parquet").write_bytes(whole[: len(whole) // 2])
        refuse_fit(tmp_path / "data.parquet", "cannot be read as parquet")

    def test_truncated_npz(self, refuse_fit, files, tmp_path):
        whole = (files / "train.npz").read_bytes()
        (tmp_path / "data.npz").write_bytes(whole[: len(whole) // 2])
        refuse_fit(tmp_path / "data.npz", "cannot be read as npz")

    def test_npz_with_python_objects(self, refuse_fit, tmp_path):
        np.savez(tmp_path / "data.npz", X=np.array([[object()]]), y=np.array([1]))
        refuse_fit(tmp_path / "data.npz", "cannot be read as npz")

    def test_npz_without_X(self, refuse_fit, tmp_path):
        np.savez(tmp_path / "data.npz", features=np.eye(3))
        refuse_fit(tmp_path / "data.npz", "no array 'X'")

    def test_broken_svmlight(self, refuse_fit, tmp_path):
        (tmp_path / "data.svm").write_text("1 1:0.5 2:x\n0 1:0.2\n")
        refuse_fit(tmp_path / "data.svm", "cannot be read as svmlight")

    def test_nothing_left_to_learn_from(self, refuse_fit, frame, tmp_path):
        refuse_fit(written(frame[["outcome"]], tmp_path), "No column is left")

    def test_times_of_day(self, refuse_fit, frame, tmp_path):
        frame.assign(at=datetime.time(12)).to_parquet(tmp_path / "data.parquet")
        refuse_fit(tmp_path / "data.parquet", "'at' holds times of day")

    def test_all_problems_at_once(self, run, frame, tmp_path):
        broken = frame.assign(b=np.nan, c=np.inf, times=-1, outcome="bad")
        path = written(broken, tmp_path)
        done = run("fit", path, *FIT, "--sample-weight", "times", "--out", tmp_path / "m", "--json")
        assert done.code == 2
        lines = done.err.splitlines()
        assert [line.split(":")[0] for line in lines] == ["error"] * 4
        for part in (
            "'b' has no values",
            "'c' must be numeric",
            "one class (bad)",
            "row 1 has '-1'",
        ):
            assert part in done.err
            assert part in json.loads(done.out)["error"]
        options = ["--target", "outcom", "--drop", "citi,timse", "--qid", "a", "--out", tmp_path]
        lines = run("fit", path, *options, "--out", tmp_path / "m").err.splitlines()
        assert len(lines) == 3
        for line, name in zip(lines, ("outcome", "city", "times"), strict=True):
            assert f"did you mean {name!r}?" in line

    def test_negative_weights(self, refuse_fit, frame, tmp_path):
        path = written(frame.assign(times=-1), tmp_path)
        refuse_fit(path, "row 1 has '-1'; 400 such rows", *FIT, "--sample-weight", "times")

    def test_weights_that_are_words(self, refuse_fit, files):
        refuse_fit(
            files / "train.csv",
            "for --sample-weight must hold numbers",
            *FIT,
            "--sample-weight",
            "city",
        )

    def test_missing_queries(self, refuse_fit, files):
        refuse_fit(files / "train.csv", "for --qid has missing", *FIT, "--qid", "city")

    def test_rates_in_percent(self, refuse_fit, files):
        refuse_fit(files / "train.csv", "write 0.05 for 5 %", *FIT, "--fpr-range", "0", "5")

    def test_rates_upside_down(self, refuse_fit, files):
        refuse_fit(files / "train.csv", "lower limit below", *FIT, "--fpr-range", "0.5", "0.1")

    def test_unknown_loss(self, refuse_fit, files):
        words = [*FIT, "--model", "svc", "--loss", "hinge"]
        refuse_fit(files / "train.csv", "--loss must be one of", *words)

    def test_unknown_option(self, refuse_fit, files):
        refuse_fit(files / "train.csv", "No such option", *FIT, "--speed")

    def test_one_fold(self, refuse_fit, files):
        refuse_fit(files / "train.csv", "--cv must be 0 or at least 2", *FIT, "--cv", "1")

    def test_queries_with_aum(self, refuse_fit, files):
        options = ["--qid", "query", "--model", "aum"]
        refuse_fit(files / "train.csv", "aum does not support --qid", *FIT, *options)

    def test_output_folder_missing(self, run, files, tmp_path):
        out = tmp_path / "no" / "model.aucuba"
        rejected(run("fit", files / "train.csv", *FIT, "--cv", "0", "--out", out), "does not exist")

    def test_output_is_a_folder(self, run, files, tmp_path):
        rejected(run("fit", files / "train.csv", *FIT, "--cv", "0", "--out", tmp_path), "a folder")


class TestPredict:
    def test_missing_column(self, refuse_predict, frame, tmp_path):
        path = written(frame.drop(columns="b"), tmp_path)
        refuse_predict(path, "needs the column 'b'")

    def test_words_in_a_numeric_column(self, refuse_predict, frame, tmp_path):
        column = frame["b"].astype(object).where(frame.index != 9, "high")
        refuse_predict(written(frame.assign(b=column), tmp_path), "row 10 has 'high'")

    def test_unknown_category(self, refuse_predict, frame, tmp_path):
        city = frame["city"].where(frame.index != 9, "Atlantis")
        path = written(frame.assign(city=city), tmp_path)
        refuse_predict(path, "such as 'Atlantis'; give --unknown ignore")

    def test_broken_in_a_late_chunk(self, refuse_predict, frame, tmp_path, monkeypatch):
        monkeypatch.setattr(aucuba.cli._formats, "CHUNK_ROWS", 50)
        column = frame["b"].astype(object).where(frame.index != 333, "high")
        path = written(frame.assign(b=column), tmp_path)
        refuse_predict(path, "row 334 has 'high'")

    def test_cut_off_in_the_middle_of_a_row(self, refuse_predict, frame, tmp_path):
        path = written(frame, tmp_path)
        path.write_text(path.read_text() + "1.0,2.0,3.0,Rome,bad,1,2,3,4\n")
        refuse_predict(path, "cannot be read as csv")

    def test_another_format(self, refuse_predict, files):
        refuse_predict(files / "test.svmlight", "trained on named columns")

    def test_wrong_id(self, refuse_predict, files):
        refuse_predict(files / "test.csv", "no column 'name' for --id", "--id", "name")

    def test_wider_svmlight(self, run, files, tmp_path, refuse_predict):
        model = tmp_path / "m.aucuba"
        run("fit", files / "train_plain.svm", "--cv", "0", "--out", model)
        (tmp_path / "wide.svm").write_text("1 9:0.5\n")
        refuse_predict(
            tmp_path / "wide.svm", "up to index 9, but the model knows", with_model=model
        )


class TestEvaluate:
    def test_one_class(self, run, model, frame, tmp_path):
        path = written(frame.assign(outcome="good"), tmp_path)
        rejected(run("evaluate", model, path), "only one class: good")

    def test_one_model_to_compare(self, run, model, files):
        rejected(run("compare", model, files / "test.csv"), "at least two model files")

    def test_report_of_a_broken_file(self, run, model, tmp_path):
        (tmp_path / "data.csv").write_text("a\n1\n")
        out = tmp_path / "report.html"
        rejected(
            run("report", model, tmp_path / "data.csv", "--out", out), "needs the columns 'b', 'c'"
        )
        assert not out.exists()


class Bomb:
    """Leaves a mark if it is ever unpickled."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return open, (str(self.mark), "w")


class TestModelFile:
    @pytest.fixture
    def refuse_model(self, run, files, tmp_path):
        def check(path, text):
            rejected(run("info", path), text)
            out = tmp_path / "scores.csv"
            rejected(run("predict", path, files / "test.csv", "--out", out), text)
            assert not out.exists()

        return check

    def rewritten(self, model, path, **entries):
        """A copy of a model file with some entries replaced."""
        with zipfile.ZipFile(model) as old, zipfile.ZipFile(path, "w") as new:
            for name in old.namelist():
                new.writestr(name, entries.get(name, old.read(name)))
        return path

    def test_missing(self, refuse_model, tmp_path):
        refuse_model(tmp_path / "nothing", "There is no model file")

    def test_a_table(self, refuse_model, files):
        refuse_model(files / "test.csv", "not a model file of aucuba")

    def test_a_foreign_archive(self, refuse_model, files):
        refuse_model(files / "test.npz", "not a model file of aucuba")

    def test_a_pickle_is_not_executed(self, refuse_model, tmp_path):
        mark = tmp_path / "executed"
        (tmp_path / "m.pkl").write_bytes(pickle.dumps(Bomb(mark)))
        refuse_model(tmp_path / "m.pkl", "not a model file of aucuba")
        assert not mark.exists()

    @pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
    def test_truncated(self, refuse_model, model, tmp_path, share):
        whole = model.read_bytes()
        (tmp_path / "m.aucuba").write_bytes(whole[: int(share * len(whole))])
        refuse_model(tmp_path / "m.aucuba", "not a model file of aucuba, or only part")

    @pytest.mark.parametrize("place", [*range(60, 400, 20)])
    def test_flipped_bits(self, refuse_model, model, tmp_path, place):
        content = bytearray(model.read_bytes())
        with zipfile.ZipFile(model) as archive:
            entry = archive.getinfo("model.json")
        # Of one bit alone a compressed file may unpack to the same content.
        for byte in range(entry.header_offset + place, entry.header_offset + place + 4):
            content[byte] ^= 255
        (tmp_path / "m.aucuba").write_bytes(content)
        refuse_model(tmp_path / "m.aucuba", "is damaged (in an entry")

    def test_newer_format(self, refuse_model, model, tmp_path):
        header = json.dumps({"format": 99, "versions": {"aucuba": "7.0"}, "metadata": {}})
        path = self.rewritten(model, tmp_path / "m.aucuba", **{"aucuba.json": header})
        refuse_model(path, "written by aucuba 7.0 in format 99")

    def test_foreign_class_is_not_built(self, refuse_model, model, tmp_path):
        with zipfile.ZipFile(model) as archive:
            schema = json.loads(archive.read("model.json"))
        text = json.dumps(schema).replace(
            "sklearn.preprocessing.StandardScaler", "subprocess.Popen"
        )
        path = self.rewritten(model, tmp_path / "m.aucuba", **{"model.json": text})
        refuse_model(path, "subprocess.Popen")

    def test_nonsense_inside(self, refuse_model, model, tmp_path):
        path = self.rewritten(model, tmp_path / "m.aucuba", **{"model.json": "{}"})
        refuse_model(path, "damaged")

    @pytest.mark.parametrize(
        "change",
        [
            {"metadata": "text"},
            {"versions": 3},
            {"format": -5},
            {"format": 0},
            {"format": 1.0},
            {"format": "1"},
        ],
        ids=str,
    )
    def test_crafted_header(self, refuse_model, model, tmp_path, change):
        with zipfile.ZipFile(model) as archive:
            header = json.loads(archive.read("aucuba.json"))
        text = json.dumps({**header, **change})
        path = self.rewritten(model, tmp_path / "m.aucuba", **{"aucuba.json": text})
        refuse_model(path, "not a model file of aucuba")

    @pytest.mark.parametrize(
        "name", ["target", "labels", "fpr_range", "min_tpr", "qid", "schema", "training"]
    )
    @pytest.mark.parametrize("value", [None, 7], ids=["missing", "number"])
    def test_incomplete_metadata(self, run, files, model, tmp_path, name, value):
        with zipfile.ZipFile(model) as archive:
            header = json.loads(archive.read("aucuba.json"))
        header["metadata"][name] = value
        if value is None:
            del header["metadata"][name]
        text = json.dumps(header)
        path = self.rewritten(model, tmp_path / "m.aucuba", **{"aucuba.json": text})
        # A target or a query column may be called 7, but these tables have no such column.
        expected = "" if value and name in ("target", "qid") else "incomplete or damaged"
        rejected(run("evaluate", path, files / "test.csv"), expected)
        if expected:
            rejected(run("info", path), expected)
