"""The experiments run on a part of their data and report what they measured."""

from __future__ import annotations

import numpy as np
import pytest

from reproductions.data.changepoints import LabelledSequences
from reproductions.experiments import changepoint_figure6, changepoint_neuroblastoma


def part_of(problem, rows):
    return LabelledSequences(
        [problem.name[i] for i in rows],
        problem.features[rows],
        problem.feature_name,
        problem.subset(rows),
        problem.fold[rows],
    )


def test_figure6_protocol(chipseq, monkeypatch):
    monkeypatch.setattr(changepoint_figure6, "METHODS", ("grid", "first_min"))
    small = part_of(chipseq, np.flatnonzero(chipseq.fold <= 2)[::2])
    results = list(changepoint_figure6.runs(small, n_seeds=1))
    assert len(results) == 2 * 2 * 2
    assert all(run.best_auc >= run.first_auc and run.n_steps >= 1 for run in results)
    by_start = {
        start: np.mean([run.first_auc for run in results if run.start == start])
        for start in ("published", "negated")
    }
    assert by_start["negated"] > by_start["published"]
    text = changepoint_figure6.conclusion(results)
    assert f"{by_start['negated']:.4f}" in text
    assert len(changepoint_figure6.table(results).splitlines()) == 2 + 8
    assert len(changepoint_figure6.summary(results).splitlines()) == 2 + 4


def test_subtrain_and_validation_alternate(chipseq):
    subtrain, validation = changepoint_figure6.split(chipseq, 3)
    assert not set(subtrain) & set(validation)
    assert np.all(chipseq.fold[np.concatenate([subtrain, validation])] != 3)
    assert abs(subtrain.size - validation.size) <= 1


def test_neuroblastoma_methods(neuroblastoma, monkeypatch):
    small = part_of(neuroblastoma, np.arange(0, 3418, 12))
    monkeypatch.setattr(changepoint_neuroblastoma, "load_neuroblastoma", lambda scheme: small)
    rows = list(changepoint_neuroblastoma.results(("sequenceID",)))
    total = {
        name: sum(row.fp + row.fn for row in rows if row.method == name)
        for name in dict.fromkeys(row.method for row in rows)
    }
    assert total["interval regression"] < total["constant"]
    assert total["detector"] < total["BIC"]
    assert sum(row.n_labels for row in rows if row.method == "BIC") == len(small.name)
    table = changepoint_neuroblastoma.table(rows).splitlines()
    assert len(table) == 2 + 6
    assert f"{total['BIC']:.0f} / {len(small.name)}" in table[3]


@pytest.mark.slow
def test_whole_figure6_reproduces_the_repair_of_the_sign(chipseq, monkeypatch):
    monkeypatch.setattr(changepoint_figure6, "METHODS", ("grid", "first_min"))
    results = list(changepoint_figure6.runs(chipseq))
    first = {run.start: run.first_auc for run in results}
    assert first["negated"] - first["published"] > 0.04
    for start in ("published", "negated"):
        best = [run.best_auc for run in results if run.start == start]
        assert min(best) > 0.9
