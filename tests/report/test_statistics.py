"""The sections of precision, gains and segments say what the metrics say."""

import numpy as np
import pytest

from aucuba.metrics import average_precision_score, gains_table, partial_auc_score
from aucuba.report import ScoredSample
from aucuba.report._statistics import precision_section, segment_section


def rows():
    rng = np.random.default_rng(0)
    y = rng.random(400) < 0.3
    return y, rng.normal(size=400) + y, rng.normal(size=400) + 0.5 * y


def test_precision_and_gains():
    y, score, base = rows()
    weight = np.random.default_rng(1).integers(1, 3, 400)
    sample = ScoredSample(y, score, base, sample_weight=weight)
    body = precision_section(sample, ("model", "rival"), 0).body
    for one in (score, base):
        assert f"{average_precision_score(y, one, sample_weight=weight):.4f}" in body
    assert f"share of positives, {np.average(y, weights=weight):.4f}" in body
    for row in gains_table(y, score, sample_weight=weight):
        assert f"{row.gain:.1%}" in body
        assert f"{row.lift:.2f}" in body


@pytest.mark.filterwarnings("error")
def test_segments_small_ones_included():
    y, score, _ = rows()
    by = np.where(np.arange(400) < 5, "<tiny>", np.where(np.arange(400) % 2, "east", "west"))
    y[:5] = False
    body = segment_section(ScoredSample(y, score), (0.0, 0.2), by, 0).body
    value = partial_auc_score(y[by == "east"], score[by == "east"], fpr_range=(0.0, 0.2))
    assert f"{value:.4f}" in body
    assert "&lt;tiny&gt;" in body
    assert "[0.0000, 1.0000]" in body
    assert "largest gap" in body
