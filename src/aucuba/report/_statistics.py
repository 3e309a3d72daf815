"""Precision over recalls, gains by fraction, net benefit, and the region in every segment."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from aucuba._base._tables import count_text, html_table, p_text
from aucuba._base._typing import ArrayLike
from aucuba._base._warnings import FewRowsWarning
from aucuba._roc._points import n_ranked, precision_of
from aucuba._roc._standard_error import effective_rows, wilson_interval
from aucuba.metrics import (
    compare_scores,
    decision_curve,
    gains_table,
    largest_gap,
    operating_point,
    score_interval,
)
from aucuba.report._page import Section, figures, paragraph
from aucuba.report._roc import MOST_VERTICES, legend_of, widened
from aucuba.report._scored_sample import ScoredSample
from aucuba.report._svg import Axes, padded

_PARTS = 10
# Resamples of intervals; more do not change the digits shown.
_RESAMPLES = 500
_BENEFITS_AT = np.linspace(0.02, 0.5, 25)


def precision_section(sample: ScoredSample, names: tuple[str, str], random_state: Any) -> Section:
    """Show the average precision with its interval, and what each tenth of the ranking holds."""
    options: dict[str, Any] = {"sample_weight": sample.weight, "pos_label": 1}
    drawn = {"n_resamples": _RESAMPLES, "random_state": random_state}
    prevalence = np.average(sample.y, weights=sample.weight)
    with warnings.catch_warnings():
        # The page shows the number of rows.
        warnings.simplefilter("ignore", FewRowsWarning)
        one = score_interval("average_precision", sample.y, sample.score, **options, **drawn)
        said = (
            f"The average precision is {one.value:.4f} [{one.low:.4f}, {one.high:.4f}]; scores without "
            f"information have the share of positives, {prevalence:.4f}."
        )
        if sample.baseline is not None:
            other = compare_scores(
                "average_precision", sample.y, sample.score, sample.baseline, **options, **drawn
            )
            name = names[1][:1].upper() + names[1][1:]
            said += (
                f" {name} has {other.values[1]:.4f}, a difference of {other.difference:+.4f} "
                f"[{other.low:+.4f}, {other.high:+.4f}], p-value {p_text(other.p_value)}."
            )
    gains = gains_table(sample.y, sample.score, n_bins=_PARTS, **options)
    rows = [
        [
            f"{row.fraction:.0%}",
            f"{row.threshold:z.4f}",
            count_text(row.n_rows),
            f"{row.gain:.1%}",
            f"{row.lift:.2f}",
            f"{row.precision:.1%}",
        ]
        for row in gains
    ]
    header = ["highest rows", "score from", "rows", "positives found", "lift", "precision"]
    text = (
        "Rows are cumulative from the top. The gain is the part of all positives that they hold, the "
        "lift their share of positives relative to that of all rows. All queries are pooled."
        if sample.query is not None
        else "Rows are cumulative from the top. Lift is their share of positives relative to that of "
        "all rows."
    )
    picture = _precision_picture(sample, names, float(prevalence))
    body = paragraph(said) + picture + html_table(header, rows) + paragraph(text, "fine")
    return Section("precision", "Precision and gains", body)


def _precision_picture(sample: ScoredSample, names: tuple[str, str], prevalence: float) -> str:
    """Draw the precision over the recall, with limits of the model's at each threshold."""
    axes, curves = Axes(widened(0.0, 1.0), widened(0.0, 1.0)), {"model": sample.curve()}
    if sample.baseline is not None:
        curves["baseline"] = sample.curve(sample.baseline)
    inside = axes.path([0, 1], [prevalence, prevalence], "curve chance")
    for css, curve in reversed(curves.items()):
        # One step per threshold that finds a positive; if there are many, some along the curve.
        places = 1 + np.flatnonzero(np.diff(curve.true_positive))
        places = places[np.unique(np.linspace(0, places.size - 1, MOST_VERTICES).astype(int))]
        recall, precision = np.append(0.0, curve.tpr[places]), precision_of(curve)[places]
        x, y = np.repeat(recall, 2)[1:-1], np.repeat(precision, 2)
        if css == "model":
            weights = sample.rows.weights
            rows = n_ranked(curve)[places] * effective_rows(weights) / weights.sum()
            low, high = wilson_interval(precision, rows)
            inside += axes.area(x, np.repeat(low, 2), np.repeat(high, 2), "band")
        inside += axes.path(x, y, f"curve {css}")
    picture = axes.picture("recall (TPR)", "precision", inside, "Precision over recall")
    text = "The band shows 95 % Wilson intervals of the precision at each fixed threshold."
    return figures((picture, text)) + legend_of(curves, names)


def benefit_section(sample: ScoredSample, probability: ArrayLike) -> Section:
    """Draw the net benefit of acting on the model's probabilities, over thresholds."""
    curve = decision_curve(
        sample.y, probability, thresholds=_BENEFITS_AT, sample_weight=sample.weight, pos_label=1
    )
    at = [one.threshold for one in curve]
    low, high = ([getattr(one, end) for one in curve] for end in ("low", "high"))
    value, everyone = [one.values[0] for one in curve], [one.treat_all for one in curve]
    axes = Axes((0.0, float(at[-1])), padded([0.0], low, high))
    inside = axes.area(at, low, high, "band") + axes.path(at, value, "curve model")
    inside += axes.path(at, everyone, "curve baseline") + axes.path(
        at, [0.0] * len(at), "curve chance"
    )
    picture = axes.picture(
        "threshold probability", "net benefit", inside, "Net benefit over threshold probabilities"
    )
    text = (
        "True positives per row, less the false positives that the threshold counts as equally bad. "
        "The band holds at all thresholds together, with 95 % confidence. Acting on the model's "
        "probabilities is worth its harm where the curve lies above both lines; probabilities that are "
        "not calibrated lie lower."
    )
    names = ("the model", "acting on every row", "acting on none")
    legend = legend_of(("model", "baseline", "chance"), names)
    body = figures((picture, "")) + legend + paragraph(text, "fine")
    return Section("benefit", "Net benefit", body)


def segment_section(
    sample: ScoredSample, fpr_range: tuple[float, float], by: ArrayLike, random_state: Any
) -> Section:
    """Show the partial AUC of every segment and test the largest gap."""
    options: dict[str, Any] = {
        "fpr_range": fpr_range,
        "by": by,
        "sample_weight": sample.weight,
        "random_state": random_state,
        "pos_label": 1,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewRowsWarning)
        found = score_interval("partial_auc", sample.y, sample.score, **options)
        text = "Intervals hold in all segments jointly; small segments have wide ones."
        if sum(one.method != "none" for one in found) > 1:
            gap = largest_gap("partial_auc", sample.y, sample.score, **options)
            first, second = gap.segments
            text += (
                f" The largest gap is that of {first} and {second}, {gap.difference:+.4f}; if no two "
                f"segments differed, chance would make one as large with probability "
                f"{p_text(gap.p_value)}."
            )
    rows = [
        [
            str(one.name),
            f"{one.n_rows:,}",
            f"{one.n_positives:,}",
            "" if np.isnan(one.value) else f"{one.value:.4f}",
            f"[{one.low:.4f}, {one.high:.4f}]",
        ]
        for one in found
    ]
    low, high = fpr_range
    header = ["segment", "rows", "positives", f"pAUC[{low:g}, {high:g}]", "interval"]
    body = html_table(header, rows) + paragraph(text, "fine") + _points_by_segment(sample, high, by)
    return Section("segments", "By segment", body)


def _points_by_segment(sample: ScoredSample, fpr: float, by: ArrayLike) -> str:
    """Build a table of what one threshold for all rows does in every segment."""
    options: dict[str, Any] = {"sample_weight": sample.weight, "pos_label": 1}
    # At a rate of 1 every row may be flagged; the middle of the range says more.
    fpr = 0.5 if fpr == 1.0 else fpr
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewRowsWarning)
        points = operating_point(sample.y, sample.score, fpr=fpr, by=by, **options)
    if np.isinf(points[0].threshold):
        return paragraph(f"No threshold has a false positive rate of at most {fpr:g}.", "fine")
    rows = [
        [str(one.name), count_text(one.n_flagged)]
        + [
            "" if np.isnan(of.value) else f"{of.value:.1%} [{of.low:.1%}, {of.high:.1%}]"
            for of in (one.intervals[rate] for rate in ("fpr", "tpr", "precision"))
        ]
        for one in points
    ]
    text = (
        f"From the score {points[0].threshold:z.4f} on, which has a false positive rate of at most "
        f"{fpr:g} on all rows together; intervals of a rate hold in all segments jointly."
    )
    header = ["segment", "flagged", "FPR", "TPR", "precision"]
    return html_table(header, rows) + paragraph(text, "fine")
