"""Labels, queries and weights: what counts as what, and one sample for all models."""

import numpy as np
import pandas as pd
import pytest

from aucuba.cli._console import TableError
from aucuba.cli._roles import Labels

FAST = ["--cv", "0", "--model", "svc", "--loss", "tight", "--fpr-range", "0", "0.5"]


def rejected(result, text):
    assert (result.code, result.err.count("\n")) == (2, 1), result.err
    assert text in result.err


def table(labels, n=40):
    """One feature that tells the first label from the others, imperfectly."""
    rng = np.random.default_rng(0)
    chosen = [labels[i % len(labels)] for i in range(n)]
    shift = np.array([label == labels[0] for label in chosen], dtype=float)
    return pd.DataFrame({"x": rng.normal(size=n) + shift, "z": rng.normal(size=n), "y": chosen})


@pytest.fixture
def fit(run, tmp_path):
    """Fit a frame or csv text; gives the result and the model's path."""

    def call(data, *options, name="m.aucuba"):
        path = tmp_path / "train.csv"
        path.write_text(data if isinstance(data, str) else data.to_csv(index=False))
        model = tmp_path / name
        return run("fit", path, *FAST, *options, "--out", model, "--json"), model

    return call


@pytest.fixture
def evaluate(run, tmp_path):
    def call(model, frame, *options):
        path = tmp_path / "test.csv"
        frame.to_csv(path, index=False)
        return run("evaluate", model, path, *options, "--json")

    return call


class TestWhatIsEqual:
    @pytest.mark.parametrize(
        ("labels", "named", "positive"),
        [
            (["01", "00"], "01", "01"),
            (["01", "00"], "1", "01"),
            (["1.0", "0.0"], "1", "1.0"),
            (["1", "0"], "1.0", "1"),
            (["True", "False"], "true", "True"),
            (["None", "yes"], "None", "None"),
            (["NA", "B"], "NA", "NA"),
            (["1_0", "10"], "10", "10"),
        ],
    )
    def test_the_positive_label(self, fit, labels, named, positive):
        done, _ = fit(table(labels), "--pos-label", named)
        assert done.code == 0, done.err
        assert done.json["pos_label"] == positive
        assert done.json["training"]["positives"] == 20

    def test_predictions_are_labels_as_written(self, run, fit, tmp_path):
        _, model = fit(table(["01", "00"]))
        out = tmp_path / "s.csv"
        run("predict", model, tmp_path / "train.csv", "--out", out)
        assert set(pd.read_csv(out, dtype=str)["predicted"]) == {"00", "01"}

    def test_only_an_empty_cell_is_missing(self, fit):
        rows = table(["NA", "null"])
        assert fit(rows, "--pos-label", "NA")[0].code == 0
        rows.loc[6, "y"] = ""
        done, _ = fit(rows, "--pos-label", "NA")
        rejected(done, "missing in 1 rows, the first of them row 7")

    def test_other_columns_keep_their_missing_words(self, fit):
        done, _ = fit(table(["yes", "no"]).astype({"x": object}).assign(z="NA", w=1))
        rejected(done, "'z' has no values at all")

    def test_numbers_of_other_files_are_equal(self, run, fit, evaluate, tmp_path):
        _, model = fit(table(["1", "0"]))
        assert evaluate(model, table(["1.0", "0.0"])).code == 0
        table([1.0, 0.0]).to_parquet(tmp_path / "t.parquet")
        assert run("evaluate", model, tmp_path / "t.parquet").code == 0

    @pytest.mark.parametrize(
        ("labels", "positive"),
        [
            (["yes", "no"], "yes"),
            (["Yes", "No"], "Yes"),
            (["legal", "FRAUD"], "FRAUD"),
            (["negative", "positive"], "positive"),
            (["True", "False"], "True"),
            (["unknown", "1"], "1"),
            (["5", "-3.5"], "5"),
        ],
    )
    def test_a_label_that_can_mean_nothing_else(self, labels, positive):
        for column in (labels, labels[::-1]):
            assert Labels.from_column(pd.Series(column), None).positive == positive

    @pytest.mark.parametrize("labels", [["good", "bad"], ["yes", "true"], ["0", "x"], ["A", "B"]])
    def test_other_texts_need_an_option(self, fit, labels):
        done, _ = fit(table(labels))
        rejected(done, "is the positive one; give --pos-label")
        done, _ = fit(table(labels), "--pos-label", labels[1])
        assert done.json["pos_label"] == labels[1]

    def test_the_choice_is_printed_before_training(self, run, tmp_path, monkeypatch):
        table(["yes", "no"]).to_csv(tmp_path / "t.csv", index=False)
        monkeypatch.setattr("aucuba.cli._fit_models.Plan.train", None)
        done = run("fit", tmp_path / "t.csv", *FAST, "--out", tmp_path / "m")
        first = "note: The positive class is y = yes: 20 of 40 rows (50.00%)."
        assert done.err.splitlines()[0] == first

    def test_larger_is_by_value(self):
        labels = Labels.from_column(pd.Series(["9", "10", "9"]), None)
        assert (labels.negative, labels.positive) == ("9", "10")


class TestUnseen:
    def test_two_labels(self, fit, evaluate):
        _, model = fit(table(["1", "0"]))
        done = evaluate(model, table(["1", "2"]))
        rejected(done, "not trained with: 2 (first in row 2). It knows 1, 0;")
        rejected(evaluate(model, table(["1", "0", "9"])), "not trained with: 9")

    @pytest.mark.parametrize("command", ["compare", "report"])
    def test_elsewhere(self, run, fit, tmp_path, command):
        _, model = fit(table(["1", "0"]))
        table(["1", "2"]).to_csv(tmp_path / "t.csv", index=False)
        words = [model, tmp_path / "t.csv", "--out", tmp_path / "r.html"]
        if command == "compare":
            words = [model, model, tmp_path / "t.csv"]
        rejected(run(command, *words), "not trained with: 2")

    def test_one_against_the_rest(self, fit, evaluate):
        fitted, model = fit(table(["a", "b", "c"]), "--pos-label", "a")
        assert fitted.json["neg_label"] == "other"
        assert evaluate(model, table(["a", "c"])).json["data"]["positives"] == 20
        rejected(evaluate(model, table(["a", "b", "d"])), "not trained with: d")

    def test_every_command_takes_one_against_the_rest(self, run, fit, tmp_path):
        rows = table(["a", "b", "c"], 300)
        _, model = fit(rows, "--pos-label", "a", "--promise", "fpr=0.3")
        train, scored = tmp_path / "train.csv", tmp_path / "scored.csv"
        assert run("predict", model, train, "--id", "y", "--out", scored).code == 0
        shown = pd.read_csv(scored)
        assert set(shown["predicted"]) == {"a", "other"}
        rate = (shown["predicted"] == "a")[shown["y"] != "a"].mean()
        watched = run("monitor", scored, "--model", model, "--json").json["batches"][0]
        assert (watched["n_counted"], watched["observed"]) == (200, pytest.approx(rate))
        assert "at its threshold" in run("compare", model, model, train).out
        page = tmp_path / "r.html"
        assert run("report", model, train, "--out", page).code == 0
        assert "<dt>positive (a)</dt><dd>100" in page.read_text()

    def test_binary_keeps_the_order_of_rows(self):
        labels = Labels("b", ("a", "c"))
        np.testing.assert_array_equal(
            labels.is_positive(pd.Series(["b", "a", "c", "b"])), [1, 0, 0, 1]
        )
        with pytest.raises(TableError, match="first in row 3"):
            labels.is_positive(pd.Series(["b", "a", "d"], name="y"))


class TestOneSample:
    @pytest.fixture
    def rows(self):
        return table(["1", "0"]).assign(q=np.repeat(np.arange(5), 8), other=["1", "0"] * 20)

    def test_flipped_labels(self, run, fit, rows, tmp_path):
        _, first = fit(rows)
        _, second = fit(rows, "--pos-label", "0", name="flipped.aucuba")
        done = run("compare", first, second, tmp_path / "train.csv")
        rejected(done, "differ in their positive label")
        assert "flipped.aucuba has 0" in done.err

    def test_another_target(self, run, fit, rows, tmp_path):
        _, first = fit(rows, "--drop", "other")
        _, second = fit(rows, "--target", "other", "--drop", "y", name="other.aucuba")
        words = ["compare", first, second, tmp_path / "train.csv"]
        rejected(run(*words), "other.aucuba has other. Give --target.")
        assert run(*words, "--target", "y").code == 0

    def test_queries_in_one_only(self, run, fit, rows, tmp_path):
        _, first = fit(rows, "--drop", "q")
        _, second = fit(rows, "--qid", "q", name="grouped.aucuba")
        words = ["compare", first, second, tmp_path / "train.csv"]
        rejected(run(*words), "grouped.aucuba has q. Give --qid.")
        both = run(*words, "--qid", "q", "--json").json["models"]
        alone = run("evaluate", first, tmp_path / "train.csv", "--qid", "q", "--json").json
        assert both[0]["partial_auc"] == {
            name: alone["partial_auc"][name] for name in both[0]["partial_auc"]
        }


class TestWeightsAndQueries:
    @pytest.mark.parametrize(
        ("value", "shown"), [("-1", "-1"), ("heavy", "heavy"), ("inf", "inf"), ("", "nan")]
    )
    def test_a_bad_weight_is_named(self, fit, value, shown):
        rows = table(["1", "0"]).assign(w=1).astype({"w": object})
        rows.loc[4, "w"] = value
        done, _ = fit(rows, "--sample-weight", "w")
        rejected(
            done,
            f"'w' for --sample-weight must hold numbers of at least 0, but row 5 has '{shown}'",
        )

    def test_weights_that_leave_one_class(self, fit):
        rows = table(["1", "0"])
        rejected(
            fit(rows.assign(w=0), "--sample-weight", "w")[0], "--sample-weight is zero in every row"
        )
        done, _ = fit(rows.assign(w=(rows["y"] == "1") * 1), "--sample-weight", "w")
        rejected(done, "only one class among the rows of positive --sample-weight 'w': 1.")

    def test_queries_of_one_class(self, fit, evaluate):
        rows = table(["1", "0"])
        done, _ = fit(rows.assign(q=rows["y"]), "--qid", "q")
        rejected(done, "None of the 2 queries in the column 'q' for --qid")
        _, model = fit(rows)
        done = evaluate(model, rows.assign(q=rows["y"]), "--qid", "q")
        rejected(done, "None of the 2 queries in the column 'q' for --qid")

    @pytest.mark.parametrize(
        "options",
        [
            ["--drop", "y"],
            ["--sample-weight", "y"],
            ["--qid", "y"],
            ["--category", "y"],
            ["--sample-weight", "z", "--qid", "z"],
            ["--sample-weight", "z", "--drop", "z"],
            ["--category", "z", "--drop", "z"],
        ],
    )
    def test_one_column_in_two_roles(self, fit, options):
        rejected(fit(table(["1", "0"]), *options)[0], "choose one")

    def test_folds_of_whole_queries(self, run, fit, tmp_path):
        rows = table(["1", "0"], 120).assign(q=np.repeat(np.arange(12), 10))
        path = tmp_path / "train.csv"
        rows.to_csv(path, index=False)
        words = [
            "fit",
            path,
            "--qid",
            "q",
            "--out",
            tmp_path / "m.aucuba",
            "--fpr-range",
            "0",
            "0.5",
        ]
        done = run(*words, "--cv", "3")
        assert done.code == 0
        assert "StratifiedKFold" not in done.err
        assert run("info", tmp_path / "m.aucuba").code == 0
        rejected(run(*words, "--cv", "13"), "--cv 13 needs at least 13 queries; there are 12")
        words = ["fit", path, "--drop", "q", "--out", tmp_path / "m.aucuba"]
        rejected(run(*words, "--cv", "61"), "61 rows in the smaller class; there are 60")
