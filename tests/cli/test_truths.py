"""What ``fit`` and ``evaluate`` say about a table: chance, stronger models, leaks, training rows."""

import itertools
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from aucuba.cli._fit_record import chance_level
from aucuba.metrics import partial_auc_score

FAST = ["--cv", "0", "--model", "svc", "--loss", "tight", "--fpr-range", "0", "0.5", "--no-probe"]


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    y = rng.random(300) < 0.3
    frame = pd.DataFrame({"a": rng.normal(size=300) + y, "b": rng.normal(size=300)})
    return frame.assign(city=rng.choice(["Oslo", "Rome"], 300), y=y.astype(int))


@pytest.fixture
def fit(run, tmp_path):
    def call(frame, *options):
        frame.to_csv(tmp_path / "train.csv", index=False)
        return run("fit", tmp_path / "train.csv", *options, "--out", tmp_path / "m.aucuba")

    return call


class TestChance:
    @pytest.mark.parametrize("fpr_range", [(0.0, 0.05), (0.1, 0.3), (0.0, 1.0), (0.5, 1.0)])
    @pytest.mark.parametrize("min_tpr", [0.0, 0.2, 0.6])
    def test_it_is_the_value_of_scores_without_information(self, fpr_range, min_tpr):
        y = np.tile([0, 1], 4000)
        scores = np.repeat(np.arange(4000), 2)
        value = partial_auc_score(y, scores, fpr_range=fpr_range, min_tpr=min_tpr)
        assert chance_level(fpr_range, min_tpr) == pytest.approx(value, abs=1e-3)

    def test_it_stands_beside_every_value(self, run, fit, rows, tmp_path):
        done = fit(rows, "--cv", "2", "--fpr-range", "0", "0.3", "--no-probe")
        assert "chance" in done.out
        table = done.out.partition("out-of-sample")[2].splitlines()[1:4]
        assert all(line.split()[-1] == "0.1500" for line in table)
        rows[::2].to_csv(tmp_path / "half.csv", index=False)
        result = run("evaluate", tmp_path / "m.aucuba", tmp_path / "half.csv", "--json").json
        assert (result["partial_auc"]["chance"], result["auc"]["chance"]) == (0.15, 0.5)
        assert (
            "chance 0.1500"
            in run(
                "compare", tmp_path / "m.aucuba", tmp_path / "m.aucuba", tmp_path / "half.csv"
            ).out
        )

    def test_min_tpr_counts_in_evaluation(self, run, fit, rows, tmp_path):
        assert fit(rows, *FAST, "--min-tpr", "0.3").code == 0
        rows[::2].to_csv(tmp_path / "half.csv", index=False)
        words = ["evaluate", tmp_path / "m.aucuba", tmp_path / "half.csv", "--json"]
        own, none = run(*words).json, run(*words, "--min-tpr", "0").json
        assert (own["min_tpr"], none["min_tpr"]) == (0.3, 0.0)
        assert own["partial_auc"]["value"] < none["partial_auc"]["value"]
        assert own["partial_auc"]["chance"] == pytest.approx(0.02 / 0.5 / 0.7)


class TestLeaks:
    def names(self, done):
        return [line.split("'")[1] for line in done.err.splitlines() if "gives the target" in line]

    def test_an_honest_table_has_none(self, fit, rows):
        assert self.names(fit(rows, *FAST)) == []

    @pytest.mark.parametrize(
        ("name", "leak"),
        [
            ("copy", lambda y: y),
            ("turned", lambda y: 5 - 2 * y),
            ("word", lambda y: np.where(y == 1, "closed", "open")),
            ("only_then", lambda y: np.where(y == 1, 3.5, np.nan)),
            ("number", lambda y: np.argsort(np.argsort(-y, kind="stable")) + 1000),
            ("name", lambda y: [f"id{k:05}" for k in np.argsort(np.argsort(y, kind="stable"))]),
            (
                "when",
                lambda y: (
                    pd.Timestamp("2020-01-01")
                    + pd.to_timedelta(np.argsort(np.argsort(y, kind="stable")), unit="h")
                ),
            ),
        ],
    )
    def test_a_column_that_gives_the_target_away(self, fit, rows, name, leak):
        done = fit(rows.assign(**{name: leak(rows["y"].to_numpy())}), *FAST)
        assert done.code == 0
        assert self.names(done) == [name]
        assert f"leave it out with --drop {name}" in done.err

    def test_row_numbers_in_random_order_are_fine(self, fit, rows):
        assert self.names(fit(rows.assign(row=np.arange(300)), *FAST)) == []

    def test_categories_of_few_rows_are_not_trusted(self, fit, rows):
        many = [f"c{k % 100}" for k in range(300)]
        assert self.names(fit(rows.assign(code=many), *FAST)) == []


class TestTrainingRows:
    @pytest.mark.parametrize("suffix", ["csv", "parquet"])
    def test_evaluation_on_them_is_noted(self, run, fit, rows, tmp_path, suffix):
        dated = rows.assign(day=pd.date_range("2024-01-01", periods=300, freq="7h"))
        dated.loc[3, "city"] = None
        fit(dated, *FAST)
        same, other = tmp_path / f"same.{suffix}", tmp_path / f"other.{suffix}"
        for path, part in ((same, dated), (other, dated[:200])):
            part.to_csv(path, index=False) if suffix == "csv" else part.to_parquet(path)
        for command in (["evaluate"], ["report", "--out", tmp_path / "r.html"]):
            words = [command[0], tmp_path / "m.aucuba"]
            noted = run(*words, same, *command[1:])
            assert f"same.{suffix} contains training rows" in noted.err
            assert "trained on" not in run(*words, other, *command[1:]).err


class TestProbe:
    def curved(self, n_rows=1500):
        """A target that no linear model sees."""
        rng = np.random.default_rng(1)
        X = rng.normal(size=(n_rows, 2))
        y = (np.abs(X[:, 0]) + 0.3 * rng.normal(size=n_rows) > 1.4).astype(int)
        return pd.DataFrame(X, columns=["a", "b"]).assign(y=y)

    @pytest.fixture
    def no_clock(self, monkeypatch):
        """However slow the machine, the probe is done."""
        monkeypatch.setattr("aucuba.cli._fit_hints.time", SimpleNamespace(monotonic=lambda: 0.0))

    @pytest.mark.usefixtures("no_clock")
    def test_trees_that_see_more_are_named(self, fit):
        options = ["--cv", "0", "--fpr-range", "0", "0.2"]
        done = fit(self.curved(), *options)
        assert done.code == 0
        assert "try --model stack" in done.out
        assert "try --model stack" not in fit(self.curved(), *options, "--no-probe").out

    @pytest.mark.usefixtures("no_clock")
    def test_a_linear_table_names_none(self, run, fit, rows, tmp_path):
        done = fit(rows, "--cv", "0", "--fpr-range", "0", "0.3")
        assert "--model stack" not in done.out
        words = ["--cv", "0", "--fpr-range", "0", "0.3", "--json", "--out", tmp_path / "m"]
        probe = run("fit", tmp_path / "train.csv", *words).json["probe"]
        assert probe["rows"] == 300
        assert 0 < probe["boosting"] < probe["linear"] + 2 * probe["standard_error"]

    def test_no_time_no_probe(self, fit, monkeypatch):
        clock = itertools.count(step=1000)
        slow = SimpleNamespace(monotonic=lambda: next(clock))
        monkeypatch.setattr("aucuba.cli._fit_hints.time", slow)
        done = fit(self.curved(), "--cv", "0", "--fpr-range", "0", "0.2")
        assert "--model stack" not in done.out

    def test_queries_and_sparse_files_are_not_probed(self, run, files, tmp_path):
        words = ["--cv", "0", "--fpr-range", "0", "0.3", "--json", "--out", tmp_path / "m"]
        assert run("fit", files / "train_plain.svm", *words).json["probe"] is None
