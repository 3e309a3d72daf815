"""The answers of R's pROC and of RDKit to rows of ours, by the scripts beside them."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from aucuba.metrics import (
    bedroc_score,
    compare_scores,
    enrichment_factor_score,
    partial_auc_score,
    rie_score,
    score_interval,
)

FOLDER = Path(__file__).parent / "proc"
ANSWERS = json.loads((FOLDER / "answers.json").read_text(encoding="utf-8"))
RDKIT = json.loads((FOLDER.parent / "rdkit" / "answers.json").read_text(encoding="utf-8"))


def rows(case):
    with (FOLDER / "rows.csv").open(encoding="utf-8", newline="") as file:
        found = [row for row in csv.DictReader(file) if row["case"] == case]
    columns = {
        name: np.array([float(row[name]) for row in found]) for name in ("y", "a", "b", "part")
    }
    return columns, (float(found[0]["low"]), float(found[0]["high"]))


@pytest.mark.parametrize("case", ANSWERS)
@pytest.mark.filterwarnings("ignore:The uncertainty rests on")
@pytest.mark.filterwarnings("ignore:Intervals by method='delong' are too narrow")
def test_values_intervals_and_tests_are_procs(case):
    want, (columns, limits) = ANSWERS[case], rows(case)
    y, a, b = (columns[name] for name in ("y", "a", "b"))
    assert partial_auc_score(y, a) == pytest.approx(want["auc"], abs=1e-9)
    area = partial_auc_score(y, a, fpr_range=limits) * (limits[1] - limits[0])
    assert area == pytest.approx(want["partial"], abs=1e-9)
    scaled = partial_auc_score(y, a, fpr_range=limits, standardized=True)
    assert scaled == pytest.approx(want["corrected"], abs=1e-9)
    interval = score_interval("partial_auc", y, a, method="delong")
    assert (interval.low, interval.high) == pytest.approx(
        (want["low"], min(1, want["high"])), abs=1e-6
    )
    paired = compare_scores("partial_auc", y, a, b, method="delong")
    assert paired.p_value == pytest.approx(want["paired_p"], abs=1e-6)


@pytest.mark.filterwarnings("ignore:The uncertainty rests on")
@pytest.mark.parametrize("case", ANSWERS)
def test_independent_samples_are_procs(case):
    want, (columns, _) = ANSWERS[case], rows(case)
    y, a, b, part = (columns[name] for name in ("y", "a", "b", "part"))
    first, second = part == 1, part == 2
    apart = compare_scores(
        "partial_auc", y[first], a[first], b[second], y_true_b=y[second], method="delong"
    )
    assert apart.p_value == pytest.approx(want["apart_p"], abs=1e-6)


@pytest.mark.parametrize("case", RDKIT)
def test_early_recognition_is_rdkits(case):
    want, (columns, _) = RDKIT[case], rows(case)
    y, score = columns["y"], columns["a"]
    assert bedroc_score(y, score, alpha=20.0) == pytest.approx(want["bedroc"], abs=1e-9)
    assert rie_score(y, score, alpha=20.0) == pytest.approx(want["rie"], abs=1e-9)
    got = enrichment_factor_score(y, score, fraction=0.1)
    assert got == pytest.approx(want["enrichment"], abs=1e-9)
