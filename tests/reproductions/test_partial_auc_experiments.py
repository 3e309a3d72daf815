"""The partial AUC experiments tune, split and measure as the paper's supplement says."""

import re
from dataclasses import replace

import numpy as np
import pytest

from aucuba.metrics import partial_auc_score
from aucuba.risks import PairwiseHinge, Sample
from reproductions.baselines import PAUCBoost, svm_rank
from reproductions.experiments import (
    _partial_auc,
    _queries,
    pauc_cheminformatics,
    pauc_figure4,
    pauc_medical,
    pauc_protein,
    pauc_retrieval,
    pauc_table1,
)


def table(seed=0, n=200):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 5 == 0
    X = rng.normal(size=(n, 3))
    X[:, 0] += 2 * y
    return X, y


class Fixed:
    """A model whose scores are one column, chosen by its parameter."""

    def __init__(self, column):
        self.column = int(column)

    def fit(self, X, y):
        return self

    def decision_function(self, X):
        return X[:, self.column]


def test_the_value_of_best_mean_is_chosen():
    X, y = table()
    splits = _partial_auc.folds(y, 0)
    assert _partial_auc.by_grid(Fixed, (1, 2, 0), X, y, splits, (0.0, 0.2)) == 0
    assert _partial_auc.by_grid(Fixed, (1, 1.5), X, y, splits, (0.0, 0.2)) == 1


def test_five_folds_hold_out_every_row_once():
    _, y = table()
    splits = _partial_auc.folds(y, 3)
    held = np.concatenate([test for _, test in splits])
    np.testing.assert_array_equal(np.sort(held), np.arange(y.size))
    assert all(y[test].sum() == 8 for _, test in splits)


def test_steps_and_roughness_are_the_best_of_all_by_refitting():
    X, y = table(2, 100)
    splits = _partial_auc.folds(y, 0)
    tuning = _partial_auc.Tuning(n_steps=6, roughness=(1e-5, 1.0))
    best = _partial_auc.best_boosting(X, y, splits, (0.0, 0.3), tuning)
    means = {}
    for roughness in tuning.roughness:
        for steps in range(1, 7):
            values = []
            for rows, held in splits:
                model = PAUCBoost((0.0, 0.3), n_steps=steps, roughness=roughness)
                scores = model.fit(X[rows], y[rows]).decision_function(X[held])
                values.append(partial_auc_score(y[held], scores, fpr_range=(0.0, 0.3)))
            means[roughness, steps] = np.mean(values)
    assert means[best] == pytest.approx(max(means.values()), abs=1e-12)


def trial(y, splits, **tuning):
    X, _ = table()
    options = {"n_intervals": 10, "n_steps": 5, "grid": (0.1, 10.0), **tuning}
    return _partial_auc.Trial(
        X, y, splits, (X[::2], y[::2]), (0.0, 0.2), _partial_auc.Tuning(**options)
    )


@pytest.mark.parametrize("method", ["greedy", "pAUCBoost", "logistic regression", "SVM_pAUC"])
def test_a_validation_set_is_not_trained_on(method):
    _, y = table()
    rows, held = np.arange(100), np.arange(100, 200)
    spoiled = y.copy()
    spoiled[held] = ~y[held]
    # One value each: there is nothing to choose by the spoiled labels.
    tuning = {"n_steps": 1, "grid": (1.0,), "roughness": (1e-5,)}
    test = (table()[0][::2], y[::2])
    found = [
        replace(trial(labels, [(rows, held)], **tuning), test=test).measured(method)["pauc"]
        for labels in (y, spoiled)
    ]
    assert found[0] == found[1] > 0


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_svms_are_solved_by_both_rules():
    _, y = table()
    splits = _partial_auc.folds(y, 0)
    row = trial(y, splits, tol=0.1).measured("SVM_pAUC")
    assert row["pauc"] != row["tight_pauc"]
    paper = _partial_auc.svm((0.0, 0.2), _partial_auc.Tuning(), "paper")(3.0)
    tight = _partial_auc.svm((0.0, 0.2), _partial_auc.Tuning(), "tight")(3.0)
    assert (paper.solver, paper.tol, paper.rtol, paper.C) == ("cutting_plane", 1e-4, None, 3.0)
    assert (tight.solver, tight.tol, tight.rtol, tight.C) == ("bundle", 1e-4, 1e-3, 3.0)


def test_svm_rank_by_the_papers_rule_is_algorithm_2():
    X, y = table()
    options = {"C": 10, "fpr_range": (0.0, 0.2), "tol": 0.1}
    early = svm_rank(X, y, solver="cutting_plane", rtol=None, **options)
    tight = svm_rank(X, y, **options)
    assert tight.gap < 1e-2 < early.gap <= 0.1
    with pytest.raises(ValueError, match="solver must be one of 'bundle', 'cutting_plane'"):
        svm_rank(X, y, solver="plane")


def test_stars_and_differences():
    rows = [
        {"cell": f"{k} / {method}", "method": method, "pauc": value + 0.001 * k, "seconds": 1.0}
        for k in range(10)
        for method, value in (
            ("SVM_pAUC", 0.5),
            ("SVM_AUC", 0.4),
            ("greedy", 0.5 + 0.01 * (-1) ** k),
        )
    ]
    for row in rows[::3]:
        row |= {"tight_pauc": row["pauc"] + 0.01, "planes_pauc": row["pauc"] + 0.03}
    paper = {"SVM_pAUC": "1", "ASVM": "2", "SVM_AUC": "3 \\*"}
    text = _partial_auc.report(rows, paper, "0, 1", 9.0)
    lines = {line.split(" | ")[0].strip("| "): line for line in text.splitlines()}
    assert "| 50.45 |  |  |  | 51.45 / 53.45 (2.00) | 1.0 | 1 |" in lines["SVM_pAUC"]
    assert "| not run |  |  |  |  |  | 2 |" in lines["ASVM"]
    assert re.search(
        r"\| 40.45 \\\* \| -10.00 ± 0.00 \| 0.002 \| \S+ \|  \| 1.0 \|", lines["SVM_AUC"]
    )
    assert "| 50.45 | +0.00 ± 0.33 | 1 | 1 |  | 1.0 |  |" in lines["greedy"]


def test_the_papers_example():
    rows = [pauc_table1.compute(cell, None)[0] for cell in pauc_table1.cells(None)]
    # 14 of 20 and 12 of 20 pairs; the first negative stands below 1 and below 2 positives.
    assert [row["auc"] for row in rows] == pytest.approx([14 / 20, 12 / 20])
    assert [row["pauc"] for row in rows] == pytest.approx([1 / 4, 2 / 4])


def test_partial_auc_of_queries_by_hand():
    relevant = np.array([True, False, False, True, False])
    data = _queries.Documents(np.zeros((5, 1)), relevant, np.array([1, 1, 1, 2, 2]))
    scores = np.array([2.0, 3.0, 1.0, 1.0, 0.0])
    # First query: one of two negatives above the positive; second: none.
    assert pauc_retrieval.mean_partial_auc(data, scores, 1.0) == pytest.approx((0.5 + 1) / 2)
    assert pauc_retrieval.mean_partial_auc(data, scores, "1/n") == pytest.approx((0 + 1) / 2)
    assert pauc_retrieval.mean_partial_auc(data, scores, "5/n") == pytest.approx((0.5 + 1) / 2)


def test_queries_are_split_whole(needs):
    needs("letor_sample")
    data = _queries.load("letor sample")
    parts = _queries.random_split(data, 4)
    sets = [set(part.qid) for part in parts]
    assert not (sets[0] & sets[1]) | (sets[0] & sets[2]) | (sets[1] & sets[2])
    assert sum(map(len, sets)) == np.unique(data.qid).size
    assert len(sets[0]) == int(0.6 * np.unique(data.qid).size)
    assert sum(len(part.qid) for part in parts) == len(data.qid)


def test_the_range_of_svm_rank():
    X, y = table()
    whole = svm_rank(X, y, C=10)
    narrow = svm_rank(X, y, C=10, fpr_range=(0.0, 0.2))
    assert not np.allclose(whole.coef, narrow.coef, rtol=1e-2)
    assert partial_auc_score(y, X @ narrow.coef, fpr_range=(0.0, 0.2)) > 0.5


def test_a_timed_risk_is_the_risk():
    risk = PairwiseHinge(Sample(np.array([True, False, False])))
    timed = pauc_figure4.TimedRisk(risk)
    scores = np.array([0.3, 0.1, 0.2])
    value, gradient = timed.value_and_gradient(scores)
    assert value == risk.value_and_gradient(scores)[0]
    np.testing.assert_array_equal(gradient, risk.value_and_gradient(scores)[1])
    assert len(timed.seconds) == 1
    assert timed.is_convex
    assert timed.lower_bound == risk.lower_bound


def test_sizes_of_the_splits(needs, monkeypatch):
    needs("adbench", "chemistry_fp2")
    seen = {}

    def keep(name):
        def measured(trial, method):
            parts = [len(rows) for rows, _ in trial.splits]
            seen[name] = (len(trial.y), parts, len(trial.test[1]), trial.fpr_range)
            return {"method": method, "pauc": 0.5, "seconds": 0.0}

        return measured

    for module, cell in (
        (pauc_cheminformatics, (116, 0, "greedy")),
        (pauc_protein, (0, "greedy")),
        (pauc_medical, (0, "greedy")),
    ):
        name = module.__name__.rpartition("_")[2]
        monkeypatch.setattr(_partial_auc.Trial, "measured", keep(name))
        module.compute(cell, module.EXPERIMENT.settings["full"])
    rows, folds, test, _ = seen["cheminformatics"]
    assert (rows, len(folds), test) == (214, 5, 1928)
    rows, folds, test, _ = seen["protein"]
    assert (rows, folds, test) == (28604, [2860], 257444)
    rows, folds, test, limits = seen["medical"]
    assert (rows, len(folds), test) == (559, 5, 10624)
    assert limits == pytest.approx((0.2 * 6848 / 101671, 0.3 * 6848 / 101671))
