"""The changepoint experiments do what their protocols say."""

import numpy as np
import pytest

from reproductions.experiments import aum_figure6, neuroblastoma


def test_figure6_protocol(needs):
    needs("chipseq")
    settings = aum_figure6.Settings((1, 2), 1, ("grid", "first_min"), 2)
    rows = [
        row for cell in aum_figure6.cells(settings) for row in aum_figure6.compute(cell, settings)
    ]
    assert len(rows) == 2 * 2 * 2
    assert all(row["best_auc"] >= row["first_auc"] and row["n_steps"] >= 1 for row in rows)
    by_start = {
        start: np.mean([row["first_auc"] for row in rows if row["start"] == start])
        for start in ("published", "negated")
    }
    assert by_start["negated"] > by_start["published"]
    text = aum_figure6.conclusion(rows)
    assert f"{by_start['negated']:.4f}" in text
    assert len(aum_figure6.table(rows).splitlines()) == 2 + 8
    assert len(aum_figure6.summary(rows).splitlines()) == 2 + 4


def test_times_within_their_spread_are_called_equal():
    def rows(times):
        return [
            {"start": "published", "method": method, "seconds": value}
            for method, values in times.items()
            for value in values
        ]

    near = rows({"grid": [1.0, 1.2, 0.9, 1.1], "first_min": [1.1, 0.9, 1.0, 1.1]})
    assert "equal within their spread" in aum_figure6._quickest(near, "published")
    apart = rows({"grid": [5.0, 5.2, 4.9], "first_min": [1.1, 0.9, 1.0]})
    assert aum_figure6._quickest(apart, "published") == "first_min (`grid` takes 5 times as long)"


def test_subtrain_and_validation_alternate(needs):
    needs("chipseq")
    problem = aum_figure6.load(1)
    subtrain, validation = aum_figure6.split(problem, 3)
    assert not set(subtrain) & set(validation)
    assert np.all(problem.fold[np.concatenate([subtrain, validation])] != 3)
    assert abs(subtrain.size - validation.size) <= 1


def test_neuroblastoma_methods(needs):
    needs("neuroblastoma")
    settings = neuroblastoma.Settings(("sequenceID",), 12)
    rows = [
        row
        for cell in neuroblastoma.cells(settings)
        for row in neuroblastoma.compute(cell, settings)
    ]
    total = {
        name: sum(row["fp"] + row["fn"] for row in rows if row["method"] == name)
        for name in dict.fromkeys(row["method"] for row in rows)
    }
    assert total["interval regression"] < total["constant"]
    assert total["detector"] < total["BIC"]
    n_sequences = len(range(0, 3418, 12))
    assert sum(row["n_labels"] for row in rows if row["method"] == "BIC") == n_sequences
    shown = neuroblastoma.report(rows, settings).splitlines()
    assert len(shown) == 4 + 2 + 6
    assert f"{total['BIC']:.0f} / {n_sequences}" in shown[7]


@pytest.mark.slow
def test_whole_figure6_reproduces_the_repair_of_the_sign(needs):
    needs("chipseq")
    settings = aum_figure6.Settings((1, 2, 3, 4), 4, ("grid", "first_min"))
    rows = [
        row for cell in aum_figure6.cells(settings) for row in aum_figure6.compute(cell, settings)
    ]
    first = {row["start"]: row["first_auc"] for row in rows}
    assert first["negated"] - first["published"] > 0.04
    assert min(row["best_auc"] for row in rows) > 0.9
