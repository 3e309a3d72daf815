"""The sections of precision, gains and segments say what the metrics say."""

import re

import numpy as np
import pytest
from scipy.special import expit
from sklearn.metrics import precision_recall_curve

from aucuba import PartialAUCClassifierCV
from aucuba._base._warnings import FewRowsWarning
from aucuba.metrics import (
    average_precision_score,
    decision_curve,
    gains_table,
    operating_point,
    partial_auc_score,
)
from aucuba.report import ScoredSample, classifier_report
from aucuba.report._roc import widened
from aucuba.report._statistics import benefit_section, precision_section, segment_section
from aucuba.report._svg import Axes
from tests.report.helpers import body_of, small_table


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
    with pytest.warns(FewRowsWarning):
        tiny, east, west = operating_point(y, score, fpr=0.2, by=by)
    for one in (east, west):
        limits = one.intervals["tpr"]
        assert f"{one.tpr:.1%} [{limits.low:.1%}, {limits.high:.1%}]" in body
    assert f"From the score {east.threshold:.4f} on" in body
    assert f"<td>{tiny.n_flagged:g}</td>" in body
    tied = segment_section(ScoredSample(y, np.zeros(400)), (0.0, 0.2), by, 0).body
    assert "No threshold has a false positive rate of at most 0.2" in tied


def corners(body, css):
    """Coordinates of the vertices of a curve, relative to the picture."""
    track = re.search(f'<path class="{css}" d="M(.*?)Z?"/>', body)[1]
    return np.array([[float(one) for one in pair.split()] for pair in track.split("L")])


def test_precision_is_drawn_over_recall():
    y, score, base = rows()
    body = precision_section(ScoredSample(y, score, base), ("model", "rival"), 0).body
    axes = Axes(widened(0.0, 1.0), widened(0.0, 1.0))
    for css, values in (("model", score), ("baseline", base)):
        precision, recall, _ = precision_recall_curve(y, values)
        drawn = corners(body, f"curve {css}")
        # Every point of the curve ends a step that is drawn.
        found = {tuple(one) for one in drawn.round(1)}
        rises = np.flatnonzero(np.diff(recall))
        x, y_ = axes.column(recall[rises]), axes.row(precision[rises])
        near = [
            min(np.hypot(*(np.array(list(found)) - pair).T)) for pair in zip(x, y_, strict=True)
        ]
        assert max(near) < 0.2
    band = corners(body, "band")
    top, bottom = band[: len(band) // 2, 1], band[len(band) // 2 :, 1][::-1]
    assert np.all(top >= bottom)


def test_net_benefit_of_probabilities():
    y, score, _ = rows()
    risk = expit(score - 1.5)
    section = benefit_section(ScoredSample(y, score), risk)
    lines = {css: corners(section.body, f"curve {css}") for css in ("model", "baseline", "chance")}
    curve = decision_curve(y, risk, thresholds=[0.1])
    # Heights are measured from the line of acting on none.
    place = 4
    heights = [lines["chance"][0, 1] - lines[css][place, 1] for css in ("model", "baseline")]
    assert heights[0] / heights[1] == pytest.approx(
        curve[0].values[0] / curve[0].treat_all, rel=0.02
    )
    X, labels, _ = small_table()
    for pos_label in (0, 1):
        model = PartialAUCClassifierCV((0.0, 0.5), pos_label=pos_label, cv=2).fit(X, labels)
        sample = ScoredSample.from_models(model, X, labels)
        found = body_of(classifier_report(model, sample, X=X), "benefit")
        own = model.predict_proba(X)[:, pos_label]
        assert found == benefit_section(ScoredSample(labels == pos_label, own), own).body
    assert "benefit" not in [one.key for one in classifier_report(model, sample).sections]
