"""The ROC section: the whole curve and the band, with intervals under the pointer."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from aucuba._base._typing import FloatArray, IntArray
from aucuba._roc._curve import RocCurve
from aucuba.report._measures import ScoredSample
from aucuba.report._page import Section
from aucuba.report._svg import Axes

# More vertices than a screen has pixels only make the file larger.
_MOST_VERTICES = 1500


def roc_section(
    sample: ScoredSample, fpr_range: tuple[float, float], names: tuple[str, str]
) -> Section:
    """Two pictures of one curve, and the readout that the pointer or the arrow keys move."""
    curve = sample.curve()
    base = None if sample.baseline is None else sample.curve(sample.baseline)
    views = {"whole": (0.0, 1.0), "band": fpr_range}
    axes = {name: Axes(_widened(*view), (-0.01, 1.01)) for name, view in views.items()}
    figures = "".join(
        f"<figure>{_picture(axes[name], curve, base, fpr_range, name)}"
        f"<figcaption>{_CAPTION[name]}</figcaption></figure>"
        for name in views
    )
    legend = _key("model", names[0])
    if base is not None:
        legend += _key("baseline", names[1])
    pooled = "" if sample.query is None else " The curve pools the rows of all queries."
    body = (
        f'<div class="figures">{figures}</div><p class="legend">{legend}</p>'
        '<p class="readout"><output id="roc-readout" aria-live="polite">'
        "Point at a curve, or focus it and use the arrow keys.</output></p>"
        '<p class="fine">Intervals are 95 % Wilson intervals of each rate at a fixed threshold.'
        f"{pooled}</p>"
    )
    data: dict[str, Any] = {"points": _points(sample, curve)}
    data["axes"] = {name: one.geometry() for name, one in axes.items()}
    return Section("roc", "ROC curve", body, data)


_CAPTION = {
    "whole": "The whole curve; the band that matters is shaded.",
    "band": "The band, enlarged.",
}


def _picture(
    axes: Axes, curve: RocCurve, base: RocCurve | None, band: tuple[float, float], name: str
) -> str:
    inside = axes.span(*band, "band")
    if base is not None:
        inside += axes.path(*_thinned(base), "curve baseline")
    fpr, tpr = _thinned(curve)
    inside += axes.path(fpr, tpr, "curve model")
    inside += '<path class="curve chance" d="' + axes.track([0, 1], [0, 1]) + '"/>'
    inside += '<path class="whisker"/><circle class="dot" r="4.5" cx="-99" cy="-99"/>'
    return axes.svg(
        [axes.frame("false positive rate", "true positive rate")],
        f"ROC curve, {_CAPTION[name]}",
        attributes=f'data-roc="{name}" tabindex="0"',
        clip=inside,
    )


def _key(css: str, name: str) -> str:
    """Build a piece of the curve and its name; drawn, since browsers do not print backgrounds."""
    line = f'<path class="curve {css}" d="M0 5H26"/>'
    return (
        f'<span><svg class="key" viewBox="0 0 26 10" aria-hidden="true">{line}</svg>'
        f"{escape(name)}</span>"
    )


def _widened(low: float, high: float) -> tuple[float, float]:
    room = 0.01 * (high - low)
    return low - room, high + room


def _kept(curve: RocCurve) -> IntArray:
    """Vertices to draw: corners only, and of those an even choice along the curve."""
    x, y = curve.false_positive, curve.true_positive
    turns = np.diff(x[1:]) * np.diff(y[:-1]) != np.diff(x[:-1]) * np.diff(y[1:])
    corners = np.flatnonzero(np.r_[True, turns, True])
    if corners.size <= _MOST_VERTICES:
        return corners
    along = (curve.fpr + curve.tpr)[corners]
    even = np.searchsorted(along, np.linspace(0, 2, _MOST_VERTICES))
    return corners[np.unique(np.minimum(even, corners.size - 1))]


def _thinned(curve: RocCurve) -> tuple[FloatArray, FloatArray]:
    kept = _kept(curve)
    return curve.fpr[kept], curve.tpr[kept]


def _points(sample: ScoredSample, curve: RocCurve) -> dict[str, list[Any]]:
    """Vertices with thresholds and intervals; the first has no finite threshold."""
    kept = _kept(curve)
    fpr, tpr = curve.fpr[kept], curve.tpr[kept]
    threshold = [None if k == 0 else float(curve.threshold[k - 1]) for k in kept]
    columns = {"fpr": fpr, "tpr": tpr}
    columns["fpr_low"], columns["fpr_high"] = sample.rate_interval(0, fpr)
    columns["tpr_low"], columns["tpr_high"] = sample.rate_interval(1, tpr)
    return {"threshold": threshold, **{name: values.tolist() for name, values in columns.items()}}
