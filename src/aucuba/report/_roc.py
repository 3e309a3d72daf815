"""The ROC curve, whole and in the region, and the rates of thresholds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from aucuba._base._tables import count_text, escaped, html_table
from aucuba._base._typing import IntArray
from aucuba._roc._curve import RocCurve
from aucuba._roc._flagged import MIXED, RATE_NAMES, rate_text, stated_limits
from aucuba._roc._prevalence import prevalence_text
from aucuba.report._page import Section, figures, paragraph
from aucuba.report._scored_sample import ScoredSample
from aucuba.report._svg import HIDDEN_DOT, Axes, padded

# More vertices than a screen has pixels only make the file larger.
MOST_VERTICES = 1500
_CAPTIONS = {
    "whole": "The whole curve, with the region shaded.",
    "region": "The region, on its own scale.",
}
_RATES = (0.001, 0.01, 0.05, 0.1, 0.2)


# Rates in a sentence, after their percentage.
_PROSE = {
    "fpr": "false alarms",
    "tpr": "of the positives found",
    "precision": "of the flagged rows are positive",
    "alert_rate": "flagged",
}


def roc_section(
    sample: ScoredSample, fpr_range: tuple[float, float], names: tuple[str, str]
) -> Section:
    """Draw one curve twice, above a readout that the pointer or the arrow keys move."""
    curves = {"model": sample.curve()}
    if sample.baseline is not None:
        curves["baseline"] = sample.curve(sample.baseline)
    kept = {css: _kept(curve) for css, curve in curves.items()}
    points = _points(sample, curves["model"], kept["model"])
    reached = [np.interp(fpr_range, curve.fpr, curve.tpr) for curve in curves.values()]
    top = np.interp(fpr_range[1], points["fpr"], points["tpr_high"])
    # Curves rise from 0 at the rate 0, where np.interp takes the last vertex.
    bottom = np.min(reached) if fpr_range[0] > 0 else 0.0
    axes = {
        "whole": Axes(widened(0.0, 1.0), widened(0.0, 1.0)),
        "region": Axes(widened(*fpr_range), _scale(bottom, max(np.max(reached), top))),
    }
    drawn = []
    for name, one in axes.items():
        inside = one.span(*fpr_range, "fpr-range") if name == "whole" else ""
        inside += one.area(points["fpr"], points["tpr_low"], points["tpr_high"], "band")
        for css, curve in reversed(curves.items()):
            inside += one.path(curve.fpr[kept[css]], curve.tpr[kept[css]], f"curve {css}")
        inside += one.path([0, 1], [0, 1], "curve chance") + '<path class="whisker"/>' + HIDDEN_DOT
        picture = one.picture(
            *("false positive rate", "true positive rate", inside),
            f"ROC curve, {_CAPTIONS[name]}",
            attributes=f'data-roc="{name}" tabindex="0"',
        )
        drawn.append((picture, _CAPTIONS[name]))
    legend = legend_of(curves, names)
    pooled = "" if sample.query is None else " The curve pools the rows of all queries."
    body = (
        f"{figures(*drawn)}{legend}"
        '<p class="readout"><output id="roc-readout" aria-live="polite">'
        "Point at a curve, or focus it and use the arrow keys.</output></p>"
        '<p class="fine">Intervals are 95 % Wilson intervals of each rate at a fixed threshold; the '
        "band shows those of the true positive rate."
        f"{pooled}</p>"
    )
    data: dict[str, Any] = {"points": points}
    data["axes"] = {name: one.geometry() for name, one in axes.items()}
    return Section("roc", "ROC curve", body, data)


def legend_of(curves: Iterable[str], names: Sequence[str]) -> str:
    """Name the curves of a picture, by their classes in the style sheet."""
    keys = "".join(_key(css, name) for css, name in zip(curves, names, strict=False))
    return f'<p class="legend">{keys}</p>'


def _key(css: str, name: str) -> str:
    """Draw a piece of the curve next to its name, since browsers do not print backgrounds."""
    line = f'<path class="curve {css}" d="M0 5H26"/>'
    return (
        f'<span><svg class="key" viewBox="0 0 26 10" aria-hidden="true">{line}</svg>'
        f"{escaped(name)}</span>"
    )


def _scale(low: float, high: float) -> tuple[float, float]:
    """Return limits of the vertical axis around the heights in the region, within [0, 1]."""
    low, high = padded(low, high)
    return max(low, -0.01), min(high, 1.01)


def widened(low: float, high: float) -> tuple[float, float]:
    room = 0.01 * (high - low)
    return low - room, high + room


def _kept(curve: RocCurve) -> IntArray:
    """Choose the vertices to draw: only corners and, if there are many, an even choice of them."""
    x, y = curve.false_positive, curve.true_positive
    turns = np.diff(x[1:]) * np.diff(y[:-1]) != np.diff(x[:-1]) * np.diff(y[1:])
    corners = np.flatnonzero(np.r_[True, turns, True])
    if corners.size <= MOST_VERTICES:
        return corners
    along = (curve.fpr + curve.tpr)[corners]
    even = np.searchsorted(along, np.linspace(0, 2, MOST_VERTICES))
    return np.asarray(corners[np.unique(np.minimum(even, corners.size - 1))])


def _points(sample: ScoredSample, curve: RocCurve, kept: IntArray) -> dict[str, list[Any]]:
    """List the vertices with thresholds and intervals; the first has no finite threshold."""
    columns = {"fpr": curve.fpr[kept], "tpr": curve.tpr[kept]}
    columns["fpr_low"], columns["fpr_high"] = sample.rate_interval(0, columns["fpr"])
    columns["tpr_low"], columns["tpr_high"] = sample.rate_interval(1, columns["tpr"])
    threshold = [None if k == 0 else float(curve.threshold[k - 1]) for k in kept]
    return {"threshold": threshold, **{name: values.tolist() for name, values in columns.items()}}


def operating_point_section(
    model: Any,
    sample: ScoredSample,
    fpr_range: tuple[float, float],
    promise: bool,
    target: tuple[float, float] | None = None,
) -> Section:
    """List thresholds for a few rates, and the rates at the threshold of ``predict``.

    With ``promise``, another section shows how the model decides. Precision and flagged rows are those
    at the ``target`` prevalence.
    """
    rates = sorted({*_RATES, *(rate for rate in fpr_range if 0 < rate < 1)})
    rows = []
    for rate in rates:
        at, low, high = sample.point_at_fpr(rate, target=target)
        rows.append(
            [
                f"{100 * rate:.3g}%",
                "none" if np.isinf(at.threshold) else f"{at.threshold:z.4f}",
                f"{at.fpr:.2%}",
                f"{at.tpr:.1%} [{low:.1%}, {high:.1%}]",
                "" if np.isnan(at.precision) else f"{at.precision:.1%}",
                count_text(at.n_flagged),
            ]
        )
    header = ["FPR at most", "score from", "FPR here", "TPR", "precision", "flagged"]
    text = (
        "The lowest threshold that keeps the false positive rate on these rows, with a 95 % interval "
        "of the TPR (sensitivity, recall) at that rate, which includes the uncertainty of the "
        "threshold. A threshold chosen and measured on the same rows is optimistic"
    )
    text += (
        "; how this model decides, and what it promises, stands above."
        if promise
        else "; for a promise on new rows use FixedFPRClassifier."
    )
    text += "" if promise else f" {_own_threshold(model, sample)}"
    if target is not None:
        text += (
            f" Precision and flagged rows are those at prevalence {prevalence_text(target)}, if the "
            "scores within each class are distributed as in these rows; of an interval the less "
            "favourable end counts."
        )
    body = html_table(header, rows) + paragraph(text, "fine")
    return Section("operating-points", "Operating points", body)


def _own_threshold(model: Any, sample: ScoredSample) -> str:
    rate = vars(model).get("predict_fpr_", np.nan)
    known = "" if np.isnan(rate) else f", set in training for a false positive rate of {rate:.3g}"
    rows = sample.flagged()
    here = " and ".join(f"{name.upper()} {rate_text(rows.rate(name))}" for name in ("fpr", "tpr"))
    return f"The threshold of predict is the score 0{known}; on these rows it has {here}."


def rates_above_zero(
    model: Any, sample: ScoredSample, target: tuple[float, float] | None = None
) -> str:
    """Build a table of the rates at the score 0, the threshold of ``predict``, and of its limits.

    Rates are those at the ``target`` prevalence, or else at that of the limit.
    """
    counted, limits = sample.flagged(), {one.rate: one for one in stated_limits(model)}
    own = {name: one.target for name, one in limits.items()}
    at = "" if target is None else f" at prevalence {prevalence_text(target)}"
    rows = [
        [
            title + at * (name in MIXED),
            rate_text(counted.rate(name, target or own.get(name))),
            str(limits[name]) if name in limits else "",
            limits[name].verdict(counted) if name in limits else "",
        ]
        for name, title in RATE_NAMES.items()
    ]
    return html_table(["at this threshold", "on these rows [95 %]", "limit", "verdict"], rows)


def verdict_on(model: Any, sample: ScoredSample) -> str:
    """Return a sentence per limit of the model's threshold on whether these rows keep it."""
    counted, sentences = sample.flagged(), []
    for one in stated_limits(model):
        found, here = one.verdict(counted), counted.rate(one.rate, one.target)
        # One digit more than the limit shows.
        digits = max(1, 2 - math.floor(math.log10(100 * one.limit))) if one.limit > 0 else 2
        value, *ends = (f"{100 * x:.{digits}f}" for x in (here.value, here.low, here.high))
        where = "" if one.target is None else f" at prevalence {prevalence_text(one.target)}"
        side = f"at {'most' if one.at_most else 'least'} {100 * one.limit:g} %"
        sentences.append(
            f" At its own threshold {value} % {_PROSE[one.rate]} on these rows "
            f"[{', '.join(ends)}], {'promised' if one.promised else 'set for'} {side}{where}: "
            f"{'VIOLATED' if found == 'violated' else found}."
        )
    return "".join(sentences)
