"""The line-search explorer: AUM, AUC, thresholds and ROC curve as functions of the step."""

from __future__ import annotations

import json
from html import escape
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from aucuba._base._typing import FloatArray, IntArray
from aucuba._rows._sample import Sample
from aucuba.aum import AUMDescent, ErrorFunctions, LabelledData, Line, line_search_path
from aucuba.design import TableDesign
from aucuba.report._measures import ScoredSample, score_sign
from aucuba.report._page import Section
from aucuba.report._svg import Axes, padded

# Rows that the page's script sorts at every move of the slider, and lines worth drawing.
_MOST_ROWS = 1000
_MOST_LINES = 80
# Steps at which AUM and AUC are drawn. A path of no more rows is drawn with all its corners.
_MOST_STEPS = 400


def line_search_section(model: Any, sample: ScoredSample, X: Any, random_state: Any) -> Section:
    """Two lines to explore: the first step of the descent, and the step after the last."""
    rows = _chosen_rows(sample, random_state)
    X = X[rows] if sparse.issparse(X) else np.asarray(X, dtype=np.float64)[rows]
    y = sample.y[rows]
    weight = None if sample.weight is None else sample.weight[rows]
    errors = ErrorFunctions.from_sample(Sample(y == 1, weight))
    data = LabelledData(TableDesign(X), errors)
    starts = {
        "from the difference of class means": data.difference_of_means(),
        "from the fitted model": score_sign(model) * model.coef_[0],
    }
    searched = [_run(name, data, coef, model.step) for name, coef in starts.items()]
    runs = [run for run in searched if run is not None]
    if not runs:
        body = "<p>The gradient of AUM vanishes on these rows: there is no direction to search.</p>"
        return Section("linesearch", "Line-search explorer", body)
    fp, fn = errors.fp_diff.tolist(), (-errors.fn_diff).tolist()
    moving = {
        "fp": fp,
        "fn": fn,
        "runs": [{k: v for k, v in run.items() if k != "svg"} for run in runs],
    }
    body = _controls(runs, int(rows.size), int(sample.y.size))
    return Section("linesearch", "Line-search explorer", body, moving)


def _chosen_rows(sample: ScoredSample, random_state: Any) -> IntArray:
    """Return all rows, or a stratified choice of them, in their order."""
    positive_weight = np.ones(sample.y.size) if sample.weight is None else sample.weight
    usable = np.flatnonzero(positive_weight > 0)
    if usable.size <= _MOST_ROWS:
        return usable
    rng = check_random_state(random_state)
    kept = []
    for label in (0, 1):
        members = usable[sample.y[usable] == label]
        count = max(1, round(_MOST_ROWS * members.size / usable.size))
        kept.append(rng.choice(members, size=count, replace=False))
    return np.sort(np.concatenate(kept))


def _run(name: str, data: LabelledData, coef: FloatArray, rule: str) -> dict[str, Any] | None:
    """Return one line of predictions: that of the step which the descent takes from this model."""
    # These rows have no held-out part; the step of that rule is shown by its training twin.
    descent = AUMDescent(step="subtrain_auc" if rule == "validation_auc" else rule)
    found = descent.first_step(data, coef) if coef.any() else None
    if found is None:
        return None
    line, taken = found
    least = line.least_aum().step
    # The least AUM stands in the middle; at a minimum the model's own size is the scale.
    spread = float(np.std(line.predictions) / np.std(line.direction))
    end = max(2 * least, 1.25 * taken) or spread or 1.0
    return {
        "name": name,
        "prediction": line.predictions.tolist(),
        "direction": line.direction.tolist(),
        "end": end,
        "least_aum": least,
        "taken": taken,
        "greatest_auc": line.greatest_auc(end),
        **_pictures(line, end),
    }


def _pictures(line: Line, end: float) -> dict[str, Any]:
    path = line_search_path(
        line.errors, line.predictions, line.direction, stop=_MOST_STEPS, max_step=end
    )
    even = np.linspace(0, end, _MOST_STEPS)
    steps = np.union1d(path.step, even) if path.valid_to >= end else even
    points = [path.evaluate(float(step)) for step in steps]
    aum, auc = np.array([p.aum for p in points]), np.array([p.auc for p in points])
    drawn = {
        "aum": Axes((0, end), padded(aum, 0.0), height=220),
        "auc": Axes((0, end), padded(auc), height=220),
    }
    svg = {
        "aum": _chart(drawn["aum"], "AUM", drawn["aum"].path(steps, aum, "curve model"), "aum"),
        "auc": _chart(drawn["auc"], "AUC", drawn["auc"].path(steps, auc, "curve model"), "auc"),
    }
    drawn["thresholds"], lines = _threshold_lines(line, end)
    svg["thresholds"] = _chart(drawn["thresholds"], "threshold", lines, "thresholds")
    return {"svg": svg, "axes": {name: axes.geometry() for name, axes in drawn.items()}}


def _threshold_lines(line: Line, end: float) -> tuple[Axes, str]:
    """Thresholds against the step; an even choice of rows where there are many."""
    predictions, is_negative = line.predictions, line.errors.fp_diff != 0
    order = np.argsort(predictions)
    chosen = order[np.linspace(0, order.size - 1, min(order.size, _MOST_LINES)).astype(int)]
    start, finish = -predictions[chosen], -(predictions + end * line.direction)[chosen]
    # A few extreme rows must not squeeze all others into one band.
    axes = Axes((0, end), padded(*(np.quantile(edge, [0.03, 0.97]) for edge in (start, finish))))
    lines = "".join(
        axes.path([0, end], [a, b], "line negative" if is_negative[i] else "line positive")
        for i, a, b in zip(chosen, start, finish, strict=True)
    )
    return axes, lines


def _chart(axes: Axes, label: str, inside: str, key: str) -> str:
    inside += '<path class="cursor"/><circle class="dot" r="4.5" cx="-99" cy="-99"/>'
    return axes.svg(
        [axes.frame("step", label)],
        f"{label} against the step",
        attributes=f'data-ls="{key}"',
        clip=inside,
    )


def _controls(runs: list[dict[str, Any]], n_shown: int, n_rows: int) -> str:
    options = "".join(
        f'<option value="{index}">{run["name"]}</option>' for index, run in enumerate(runs)
    )
    roc = Axes((-0.01, 1.01), (-0.01, 1.01))
    moving = roc.svg(
        [roc.frame("false positive rate", "true positive rate")],
        "ROC curve at the chosen step",
        attributes=f'data-ls="roc" data-geometry="{_attribute(roc)}"',
        clip=f'<path class="curve chance" d="{roc.track([0, 1], [0, 1])}"/>'
        '<path class="curve model" id="ls-roc"/><circle class="dot" r="4.5" cx="-99" cy="-99"/>',
    )
    panels = "".join(_panel(index, run["svg"]) for index, run in enumerate(runs))
    return (
        "<p>One step of gradient descent on AUM, the area under min(FPR, FNR). "
        '<span class="hint">Move the slider: the model moves along the negative gradient, and the ROC '
        "curve with it. </span>AUM is piecewise linear in the step, AUC piecewise constant, so the "
        "best step is found exactly.</p>"
        '<div class="controls"><label>Line <select id="ls-run">' + options + "</select></label>"
        '<label class="wide">Step <input id="ls-slider" type="range" min="0" max="1000" value="0" '
        'step="1"></label>'
        '<label>exactly <input id="ls-step" type="number" min="0" step="any" value="0"></label>'
        '<button type="button" id="ls-taken">the model\'s step</button>'
        '<button type="button" id="ls-least">least AUM</button>'
        '<button type="button" id="ls-greatest">greatest AUC</button></div>'
        '<p class="readout" aria-live="polite">step <output id="ls-at"></output> · AUM '
        '<output id="ls-aum"></output> · AUC <output id="ls-auc"></output></p>'
        '<p class="fine hint"><output id="ls-hint" aria-live="polite"></output></p>'
        f'<div class="explorer"><figure>{moving}<figcaption>The dot is the threshold where FPR meets '
        f"FNR.</figcaption></figure>{panels}</div>"
        f'<p class="fine">{_rows_shown(n_shown, n_rows)}</p>'
    )


def _rows_shown(n_shown: int, n_rows: int) -> str:
    if n_shown == n_rows:
        return f"All {n_rows:,} rows, computed in this page."
    if n_shown < _MOST_ROWS:
        return f"The {n_shown:,} rows of positive weight out of {n_rows:,}, computed in this page."
    return (
        f"{n_shown:,} of {n_rows:,} rows, drawn at random within each class so that the page stays "
        "quick; AUM and AUC of all rows differ a little."
    )


def _panel(index: int, svg: dict[str, str]) -> str:
    """Return the pictures of one line; only the first is shown at the start."""
    return (
        f'<div class="run" data-run="{index}"{" hidden" if index else ""}>'
        f"<figure>{svg['thresholds']}<figcaption>Thresholds of "
        '<span class="negative">negative</span> and <span class="positive">positive</span> rows move '
        "along straight lines; where two cross, the ROC curve changes.</figcaption></figure>"
        f"<figure>{svg['aum']}</figure><figure>{svg['auc']}</figure></div>"
    )


def _attribute(axes: Axes) -> str:
    return escape(json.dumps(axes.geometry()), quote=True)
