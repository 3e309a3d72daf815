"""What columns are taken for, in every format."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import dump_svmlight_file

from aucuba.cli._table_file import TableFile
from aucuba.persistence import load_model

FAST = ["--cv", "0", "--model", "svc", "--loss", "tight", "--fpr-range", "0", "0.5"]


def rejected(result, text):
    assert (result.code, result.err.count("\n")) == (2, 1), result.err
    assert text in result.err


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    return pd.DataFrame({"a": rng.normal(size=60) + y, "b": rng.normal(size=60), "y": y})


@pytest.fixture
def fit(run, tmp_path):
    def call(frame, *options, name="train.csv"):
        path = tmp_path / name
        if name.endswith("parquet"):
            frame.to_parquet(path)
        else:
            frame.to_csv(path, index=False)
        return run("fit", path, *FAST, *options, "--out", tmp_path / "m.aucuba")

    return call


class TestNumbersAndCategories:
    @pytest.mark.parametrize("word", ["?", "oops", "1,5"])
    def test_a_word_among_numbers(self, fit, rows, word):
        rows = rows.astype({"b": object})
        rows.loc[7, "b"] = word
        rejected(fit(rows), f"59 of its 60 values are numbers; row 8 has '{word}'")
        assert fit(rows, "--drop", "b").code == 0
        done = fit(rows, "--category", "b")
        assert "1 numeric and 1 categorical columns" in done.out

    def test_numbers_as_text(self, fit, rows):
        done = fit(rows.astype({"b": str}), name="train.parquet")
        rejected(done, "all its values are numbers. Store it as numbers, or give --category b")

    def test_numbers_as_categories(self, fit, rows, tmp_path):
        rows["zip"] = np.where(rows["y"] == 1, "01234", "00017")
        done = fit(rows, "--category", "zip")
        assert "2 numeric and 1 categorical columns" in done.out
        names = load_model(tmp_path / "m.aucuba").model[:-1].get_feature_names_out()
        assert {"zip_00017", "zip_01234"} <= set(names)
        rejected(fit(rows, "--category", "zap"), "no column 'zap' for --category")

    def test_texts_that_all_differ_are_noted(self, fit, rows):
        done = fit(rows.assign(b=[f"row {k}" for k in range(60)]))
        assert done.code == 0
        assert "'b' has 60 different texts in 60 rows" in done.err

    @pytest.mark.parametrize("pattern", ["%d.%m.%Y", "%m/%d/%y", "%d-%m-%Y %H:%M"])
    def test_dates_in_another_notation_are_noted(self, fit, rows, pattern):
        days = pd.date_range("2024-01-01", periods=6).strftime(pattern)
        done = fit(rows.assign(b=np.resize(days, 60)))
        assert f"'b' seems to hold dates, such as '{days[0]}'; write them as 2024-12-31" in done.err
        versions = fit(rows.assign(b=np.resize(["1.2.3", "10-20/30"], 60)))
        assert "seems to hold dates" not in versions.err

    def test_decimal_commas(self, run, fit, rows, tmp_path):
        commas = rows.assign(b=[f"{value:.3f}".replace(".", ",") for value in rows["b"]])
        done = fit(commas)
        assert done.code == 0
        assert "'b' seems to hold numbers with decimal commas" in done.err
        assert "--decimal ," in done.err
        rejected(fit(commas, "--decimal", ","), "other than the separator ','")
        path = tmp_path / "german.csv"
        commas.assign(a=rows["a"].map(str).str.replace(".", ",")).to_csv(path, index=False, sep=";")
        words = ["fit", path, *FAST, "--delimiter", ";", "--decimal", ",", "--out"]
        assert "2 numeric and 0 categorical" in run(*words, tmp_path / "g.aucuba").out
        scored = ["predict", tmp_path / "g.aucuba", path, "--delimiter", ";", "--decimal", ","]
        assert run(*scored, "--out", tmp_path / "s.csv").code == 0

    def test_encodings(self, run, rows, tmp_path):
        path, out = tmp_path / "t.csv", tmp_path / "m.aucuba"
        rows.assign(city=["Køln", "Zürich"] * 30).to_csv(path, index=False, encoding="latin-1")
        words = ["fit", path, *FAST, "--out", out]
        rejected(run(*words), "is not UTF-8 text; name its encoding with --encoding")
        rejected(run(*words, "--encoding", "utf-99"), "--encoding utf-99 is not known")
        assert run(*words, "--encoding", "latin-1").code == 0
        names = load_model(out).model[:-1].get_feature_names_out()
        assert {"city_Køln", "city_Zürich"} <= set(names)

    def test_several_columns_in_one_option(self, fit, rows):
        more = rows.assign(c=1.5, **{"d,e": 2.5, "d": 3.5})
        done = fit(more, "--drop", "b,c", "--drop", "d,e", "--json")
        assert [name for name, _ in done.json["schema"]["columns"]] == ["a", "d"]
        done = fit(more, "--category", "c,d", "--json")
        assert dict(done.json["schema"]["columns"])["d"] == "category"

    def test_an_index_without_a_name(self, run, rows, tmp_path):
        rows.to_csv(tmp_path / "train.csv")
        words = ["fit", tmp_path / "train.csv", *FAST, "--out", tmp_path / "m.aucuba"]
        rejected(run(*words), "leave it out with --drop 'Unnamed: 0'")
        assert run(*words, "--drop", "Unnamed: 0").code == 0
        scored = ["predict", tmp_path / "m.aucuba", tmp_path / "train.csv"]
        assert run(*scored, "--out", tmp_path / "s.csv").code == 0

    def test_a_number_too_large(self, fit, rows):
        rejected(fit(rows.assign(a=rows["a"] * 1e300)), "(too large); 60 such rows")

    def test_info_lists_the_columns(self, run, fit, rows, tmp_path):
        fit(rows.assign(city=["Oslo", "Rome"] * 30, **{"[bold]": 1.5}))
        shown = run("info", tmp_path / "m.aucuba").out
        assert "[bold] (1.5 to 1.5)" in " ".join(shown.split())
        assert "city" in shown


class TestParquet:
    def test_decimals_are_numbers(self, fit, rows):
        decimals = rows.assign(b=[Decimal(f"{value:.4f}") for value in rows["b"]])
        done = fit(decimals, name="train.parquet")
        assert "2 numeric and 0 categorical columns" in done.out

    @pytest.mark.parametrize(
        ("value", "what"),
        [
            (datetime.time(1), "times of day"),
            (b"raw", "bytes"),
            ([1, 2], "lists"),
            ({"k": 1}, "lists or mixed"),
        ],
        ids=["time", "bytes", "list", "struct"],
    )
    def test_neither_numbers_nor_text(self, run, fit, rows, tmp_path, value, what):
        strange = rows.assign(b=[value] * 60)
        rejected(fit(strange, name="train.parquet"), f"'b' holds {what}")
        assert fit(strange, "--drop", "b", name="train.parquet").code == 0
        fit(rows)
        strange.to_parquet(tmp_path / "test.parquet")
        scored = ["predict", tmp_path / "m.aucuba", tmp_path / "test.parquet"]
        done = run(*scored, "--out", tmp_path / "s.csv")
        rejected(done, f"'b' must be numeric, but holds {what}")

    def test_durations_are_numbers(self, fit, rows):
        spans = rows.assign(b=pd.to_timedelta(rows["b"], unit="h"))
        assert "2 numeric and 0 categorical" in fit(spans, name="train.parquet").out

    def test_repeated_names(self, run, rows, tmp_path):
        pa = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        columns = [pa.array(rows[name]) for name in ("a", "b", "y")]
        parquet.write_table(pa.table(columns, names=["a", "a", "y"]), tmp_path / "t.parquet")
        done = run("fit", tmp_path / "t.parquet", *FAST, "--out", tmp_path / "m.aucuba")
        rejected(done, "'a' more than once")


class TestDates:
    @pytest.fixture
    def dated(self, rows):
        days = pd.date_range("2023-11-01", periods=60, freq="36h")
        return rows.assign(b=days)

    @pytest.fixture
    def trained(self, run, dated, tmp_path):
        """Two models of one table, and the csv and Parquet files that they were trained on."""
        dated.to_csv(tmp_path / "t.csv", index=False)
        dated.to_parquet(tmp_path / "t.parquet")
        dated.assign(b=dated["b"].astype(object)).to_parquet(tmp_path / "objects.parquet")
        for name in ("t.csv", "t.parquet", "objects.parquet"):
            done = run("fit", tmp_path / name, *FAST, "--out", tmp_path / f"{name}.aucuba")
            assert "1 numeric and 0 categorical columns and 1 of dates" in done.out
        return tmp_path

    def test_all_formats_give_one_model(self, trained):
        models = [load_model(path).model for path in sorted(trained.glob("*.aucuba"))]
        names = models[0][:-1].get_feature_names_out().tolist()
        # Three months cover neither all months nor, at noon and midnight, all hours.
        assert names == ["a", "b", "b_year", "b_weekday"]
        for model in models[1:]:
            np.testing.assert_allclose(model[-1].coef_, models[0][-1].coef_, rtol=1e-9)

    def test_later_files(self, run, trained, dated):
        scores = trained / "s.csv"
        words = ["predict", trained / "t.csv.aucuba"]
        assert run(*words, trained / "t.parquet", "--out", scores).code == 0
        expected = pd.read_csv(scores)
        for wrong, row in (("tomorrow", 5), ("2023-02-30", 1)):
            texts = dated.assign(b=dated["b"].astype(str))
            texts.loc[row - 1, "b"] = wrong
            texts.to_csv(trained / "wrong.csv", index=False)
            done = run(*words, trained / "wrong.csv", "--out", scores)
            rejected(done, f"'b' must hold dates, but in row {row} '{wrong}' is not a date")
        texts.loc[row - 1, "b"] = dated["b"].dt.strftime("%Y-%m-%dT%H:%M:%S").iloc[row - 1]
        texts.to_csv(trained / "right.csv", index=False)
        assert run(*words, trained / "right.csv", "--out", scores).code == 0
        pd.testing.assert_frame_equal(pd.read_csv(scores), expected)

    def test_info_lists_them_with_their_ranges(self, run, trained, dated):
        shown = " ".join(run("info", trained / "t.csv.aucuba").out.split())
        assert "dates b (2023-11-01 to 2024-01-28)" in shown
        low, high = dated["a"].min(), dated["a"].max()
        assert f"numeric a ({low:.6g} to {high:.6g})" in shown
        ranges = run("info", trained / "t.csv.aucuba", "--json").json["ranges"]
        assert ranges == {"a": f"{low:.6g} to {high:.6g}", "b": "2023-11-01 to 2024-01-28"}

    def test_later_rows_are_counted_and_not_extrapolated(self, run, trained, dated):
        words = ["predict", trained / "t.csv.aucuba", trained / "later.csv", "--json"]
        # The range is 88.5 days wide, so that dates up to 12 March are near; weekdays stay.
        moved = {"near": 42, "far": 329}
        scores = {}
        for name, days in moved.items():
            later = dated.assign(b=pd.Timestamp("2024-01-28") + pd.Timedelta(days, unit="D"))
            later.to_csv(trained / "later.csv", index=False)
            done = run(*words, "--out", trained / "s.csv")
            assert done.json["outside"] == (60 if name == "far" else 0)
            scores[name] = pd.read_csv(trained / "s.csv")["score"]
            assert ("'b' 60 (trained on 2023-11-01 to 2024-01-28)" in done.err) == (name == "far")
        np.testing.assert_array_equal(scores["far"], scores["near"])
        done = run("evaluate", trained / "t.csv.aucuba", trained / "later.csv", "--json")
        assert done.json["data"]["outside"] == 60
        later.iloc[:1].to_csv(trained / "one.csv", index=False)
        one = run(*words[:2], trained / "one.csv", "--out", trained / "s.csv")
        assert "1 of 1 rows lies outside" in one.err
        page = trained / "page.html"
        run("report", trained / "t.csv.aucuba", trained / "later.csv", "--out", page)
        assert "60 of 60 rows lie outside the training range" in page.read_text()

    def test_held_out_rows_are_counted_in_fit(self, run, dated, tmp_path):
        dated.assign(when=np.arange(60)).to_csv(tmp_path / "t.csv", index=False)
        words = ["fit", tmp_path / "t.csv", *FAST, "--promise", "alerts=0.5", "--time", "when"]
        done = run(*words, "--out", tmp_path / "m.aucuba", "--json")
        # The first half of 30 rows spans 43.5 days; 16 of the later rows lie over 21.75 days later.
        assert done.json["training"]["outside"] == 16, done.err
        assert "'b' 16 (trained on" in done.err
        assert (
            "16 of 60 rows lie far outside the ranges below"
            in run("info", tmp_path / "m.aucuba").out
        )


class TestNpz:
    @pytest.mark.parametrize(
        ("extra", "message"),
        [
            ({"feature_names": ["q", "q"]}, "'q' more than once"),
            ({"feature_names": ["a", "y"]}, "'y' more than once"),
            ({"x0": np.zeros(60)}, "'x0' more than once"),
            ({"w": np.zeros(60, dtype=complex)}, "'w' in"),
        ],
        ids=["repeated", "target", "overwriting", "complex"],
    )
    def test_clashes(self, run, rows, tmp_path, extra, message):
        X = rows[["a", "b"]].to_numpy()
        np.savez(tmp_path / "t.npz", X=X, y=rows["y"], **extra)
        done = run("fit", tmp_path / "t.npz", *FAST, "--out", tmp_path / "m.aucuba")
        rejected(done, message)

    def test_complex_features(self, run, rows, tmp_path):
        np.savez(tmp_path / "t.npz", X=rows[["a", "b"]].to_numpy() * 1j, y=rows["y"])
        done = run("fit", tmp_path / "t.npz", *FAST, "--out", tmp_path / "m.aucuba")
        rejected(done, "is complex")


class TestDelimiter:
    @pytest.mark.parametrize("word", ["\t", "\\t", "tab"])
    def test_tab(self, run, rows, tmp_path, word):
        rows.to_csv(tmp_path / "t.csv", index=False, sep="\t")
        words = ["fit", tmp_path / "t.csv", *FAST, "--out", tmp_path / "m.aucuba"]
        rejected(run(*words), "try --delimiter '\\t'")
        assert run(*words, "--delimiter", word).code == 0

    @pytest.mark.parametrize("word", ["", "||"])
    def test_not_one_character(self, fit, rows, word):
        rejected(fit(rows, "--delimiter", word), "--delimiter must be one character")


class TestSvmlight:
    @pytest.fixture
    def written(self, rows, tmp_path):
        """Write rows that count from 0 or 1; without the first feature if asked."""

        def write(name, zero_based, first=True):
            X = rows[["a", "b"]].to_numpy(copy=True)
            X[:, 0] *= first
            path = tmp_path / name
            dump_svmlight_file(X, rows["y"], str(path), zero_based=zero_based)
            return path

        return write

    @pytest.fixture
    def model(self, run, tmp_path):
        def train(path):
            out = tmp_path / "m.aucuba"
            assert run("fit", path, *FAST, "--out", out).code == 0
            return out

        return train

    @pytest.mark.parametrize("zero_based", [True, False])
    def test_columns_stay_in_place(self, run, written, model, tmp_path, zero_based):
        fitted = model(written("train.svm", zero_based))
        data, out = written("test.svm", zero_based, first=False), tmp_path / "s.csv"
        assert run("predict", fitted, data, "--out", out).code == 0
        saved = load_model(fitted).model
        matrix = TableFile.from_options(data).read().matrix
        # Read by itself, the file seems to begin at its second feature where it counts from 0.
        assert matrix.shape[1] == (1 if zero_based else 2)
        b = matrix.toarray()[:, -1]
        expected = saved.decision_function(np.stack([np.zeros(60), b], axis=1))
        np.testing.assert_allclose(pd.read_csv(out)["score"], expected, rtol=1e-12)
        assert run("evaluate", fitted, data).code == 0

    def test_an_index_zero_contradicts_a_one_based_model(self, run, written, model, tmp_path):
        fitted = model(written("train.svm", zero_based=False))
        words = ["predict", fitted, written("test.svm", zero_based=True)]
        done = run(*words, "--out", tmp_path / "s.csv")
        rejected(done, "trained on features that count from 1")

    def test_other_widths(self, run, written, model, tmp_path):
        fitted, out = model(written("train.svm", zero_based=False)), tmp_path / "s.csv"
        (tmp_path / "wide.svm").write_text("1 1:0.5 9:1\n")
        done = run("predict", fitted, tmp_path / "wide.svm", "--out", out)
        rejected(done, "features up to index 9, but the model knows only those up to 2")
        (tmp_path / "narrow.svm").write_text("1 1:0.5\n0\n")
        assert run("predict", fitted, tmp_path / "narrow.svm", "--out", out).code == 0
        assert len(pd.read_csv(out)) == 2

    @pytest.mark.parametrize("value", ["nan", "inf", "1e300"])
    def test_values_that_are_no_numbers(self, run, tmp_path, value):
        (tmp_path / "t.svm").write_text(f"1 1:2\n0 1:1 2:{value}\n")
        done = run("fit", tmp_path / "t.svm", *FAST, "--out", tmp_path / "m.aucuba")
        rejected(done, f"The feature 2 in row 2 is {float(value)}")

    def test_no_features(self, run, tmp_path):
        (tmp_path / "t.svm").write_text("1\n0\n")
        done = run("fit", tmp_path / "t.svm", *FAST, "--out", tmp_path / "m.aucuba")
        rejected(done, "No row has a feature")

    @pytest.mark.parametrize(
        "option", ["--target", "--qid", "--sample-weight", "--drop", "--category"]
    )
    def test_names_of_columns(self, run, written, tmp_path, option):
        words = ["fit", written("t.svm", zero_based=True), *FAST, option, "nonsense"]
        rejected(run(*words, "--out", tmp_path / "m.aucuba"), f"leave {option} out")

    def test_a_model_of_queries_needs_queries(self, run, rows, model, tmp_path):
        X, path = rows[["a", "b"]].to_numpy(), tmp_path / "q.svm"
        dump_svmlight_file(X, rows["y"], str(path), query_id=np.repeat([1, 2], 30))
        fitted = model(path)
        dump_svmlight_file(X, rows["y"], str(tmp_path / "plain.svm"))
        rejected(run("evaluate", fitted, tmp_path / "plain.svm"), "no column 'qid' for --qid")
