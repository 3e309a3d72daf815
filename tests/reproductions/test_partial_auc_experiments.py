"""The partial AUC experiments tune, split and measure as the paper's supplement says."""

import numpy as np
import pytest

from aucuba.metrics import partial_auc_score
from aucuba.risks import PairwiseHinge, Sample
from reproductions.baselines import svm_rank
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


def test_the_number_of_steps_is_the_best_of_all_by_refitting():
    X, y = table(2, 100)
    splits = _partial_auc.folds(y, 0)
    best = _partial_auc.best_number_of_steps(X, y, splits, (0.0, 0.3), 6)
    means = []
    for steps in range(1, 7):
        values = []
        for rows, held in splits:
            model = _partial_auc.PAUCBoost((0.0, 0.3), n_steps=steps).fit(X[rows], y[rows])
            scores = model.decision_function(X[held])
            values.append(partial_auc_score(y[held], scores, fpr_range=(0.0, 0.3)))
        means.append(np.mean(values))
    assert means[best - 1] == pytest.approx(max(means), abs=1e-12)


def test_a_validation_set_is_not_trained_on():
    X, y = table()
    rows, held = np.arange(100), np.arange(100, 200)
    spoiled = y.copy()
    spoiled[held] = ~y[held]
    tuning = _partial_auc.Tuning(n_intervals=10)
    fits = [
        _partial_auc.fitted("greedy", X, labels, [(rows, held)], (0.0, 0.2), tuning)[0]
        for labels in (y, spoiled)
    ]
    np.testing.assert_array_equal(fits[0].coef_, fits[1].coef_)


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
    text = _partial_auc.report(rows, {"SVM_pAUC": "1", "ASVM": "2", "SVM_AUC": "3 \\*"}, "0, 1")
    lines = {line.split(" | ")[0].strip("| "): line for line in text.splitlines()}
    assert "| 50.45 |  | 1.0 | 1 |" in lines["SVM_pAUC"]
    assert "| not run |  |  | 2 |" in lines["ASVM"]
    assert "| 40.45 \\* | -10.00 ± 0.00 | 1.0 | 3 \\* |" in lines["SVM_AUC"]
    assert "| 50.45 | +0.00 ± 0.33 | 1.0 |  |" in lines["greedy"]


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
        def measured(method, data, test, fpr_range, tuning):
            seen[name] = (len(data[1]), [len(s[0]) for s in data[2]], len(test[1]), fpr_range)
            return {"method": method, "pauc": 0.5, "seconds": 0.0}

        return measured

    for module, cell in (
        (pauc_cheminformatics, (116, 0, "greedy")),
        (pauc_protein, (0, "greedy")),
        (pauc_medical, (0, "greedy")),
    ):
        monkeypatch.setattr(module, "measured", keep(module.__name__.rpartition("_")[2]))
        module.compute(cell, module.EXPERIMENT.settings["full"])
    rows, folds, test, _ = seen["cheminformatics"]
    assert (rows, len(folds), test) == (214, 5, 1928)
    rows, folds, test, _ = seen["protein"]
    assert (rows, folds, test) == (28604, [2860], 257444)
    rows, folds, test, limits = seen["medical"]
    assert (rows, len(folds), test) == (559, 5, 10624)
    assert limits == pytest.approx((0.2 * 6848 / 101671, 0.3 * 6848 / 101671))
