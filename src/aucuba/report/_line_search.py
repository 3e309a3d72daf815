"""The line-search explorer: AUM, AUC, thresholds and ROC curve as functions of the step."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from aucuba._base._tables import escaped
from aucuba._base._typing import FloatArray
from aucuba._rows._splits import drawn_within_classes
from aucuba.aum import AUMDescent, ErrorFunctions, LabelledData, Line, line_search_path
from aucuba.design import TableDesign
from aucuba.report._page import Section, filled, paragraph
from aucuba.report._scored_sample import ScoredSample, score_sign
from aucuba.report._svg import HIDDEN_DOT, Axes, padded

# Limits on the rows that the script sorts at every move of the slider, and on the lines drawn.
_MOST_ROWS = 1000
_MOST_LINES = 80
# Steps at which AUM and AUC are drawn, besides the corners of a path with no more of them.
_MOST_STEPS = 400


def line_search_section(model: Any, sample: ScoredSample, X: Any, random_state: Any) -> Section:
    """Explore two lines: the first step of the descent, and the step after the last."""
    usable, rng = np.flatnonzero(sample.rows.weights > 0), check_random_state(random_state)
    rows = drawn_within_classes(sample.rows.positive, usable, _MOST_ROWS, rng)
    X = X[rows] if sparse.issparse(X) else np.asarray(X, dtype=np.float64)[rows]
    errors = ErrorFunctions.from_sample(sample.rows.as_one_query(rows))
    data = LabelledData(TableDesign(X), errors)
    starts = {
        "from the difference of class means": data.difference_of_means(),
        "from the fitted model": score_sign(model) * model.coef_[0],
    }
    searched = [_run(name, data, coef, model.step) for name, coef in starts.items()]
    runs = [run for run in searched if run is not None]
    key, title = "linesearch", "Line-search explorer"
    if not runs:
        why = "The gradient of AUM vanishes on these rows: there is no direction to search."
        return Section(key, title, paragraph(why))
    roc = Axes((-0.01, 1.01), (-0.01, 1.01))
    moving = roc.picture(
        *("false positive rate", "true positive rate"),
        roc.path([0, 1], [0, 1], "curve chance")
        + '<path class="curve model" id="ls-roc"/>'
        + HIDDEN_DOT,
        "ROC curve at the chosen step",
        attributes=f'data-ls="roc" data-geometry="{escaped(json.dumps(roc.geometry()), quote=True)}"',
    )
    body = filled(
        "line_search.html",
        options="".join(
            f'<option value="{k}">{run["name"]}</option>' for k, run in enumerate(runs)
        ),
        roc=moving,
        panels="".join(_panel(k, run.pop("svg")) for k, run in enumerate(runs)),
        rows=_rows_shown(rows.size, sample.y.size),
    )
    moved = {"fp": errors.fp_diff.tolist(), "fn": (-errors.fn_diff).tolist(), "runs": runs}
    return Section(key, title, body, moved)


def _run(name: str, data: LabelledData, coef: FloatArray, rule: str) -> dict[str, Any] | None:
    """Describe the line along which the descent takes its step from this model; None without one."""
    # These rows have no held-out part, so the rule for training rows stands in.
    descent = AUMDescent(step="subtrain_auc" if rule == "validation_auc" else rule)
    found = descent.first_step(data, coef) if coef.any() else None
    if found is None:
        return None
    line, taken = found
    least = line.least_aum().step
    # Put the least AUM in the middle; at a minimum, scale by the spread of the predictions.
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
    axes = {
        "aum": Axes((0, end), padded(aum, 0.0), height=220),
        "auc": Axes((0, end), padded(auc), height=220),
    }
    inside = {
        "aum": axes["aum"].path(steps, aum, "curve model"),
        "auc": axes["auc"].path(steps, auc, "curve model"),
    }
    axes["thresholds"], inside["thresholds"] = _threshold_lines(line, end)
    labels = {"aum": "AUM", "auc": "AUC", "thresholds": "threshold"}
    svg = {
        key: axes[key].picture(
            *("step", label, inside[key] + '<path class="cursor"/>' + HIDDEN_DOT),
            f"{label} against the step",
            attributes=f'data-ls="{key}"',
        )
        for key, label in labels.items()
    }
    return {"svg": svg, "axes": {key: one.geometry() for key, one in axes.items()}}


def _threshold_lines(line: Line, end: float) -> tuple[Axes, str]:
    """Draw thresholds against the step, for an even choice of rows if there are many."""
    predictions, is_negative = line.predictions, line.errors.fp_diff != 0
    order = np.argsort(predictions)
    chosen = order[np.linspace(0, order.size - 1, min(order.size, _MOST_LINES)).astype(int)]
    start, finish = -predictions[chosen], -(predictions + end * line.direction)[chosen]
    # Leave out the extremes, so that a few rows do not flatten all others.
    axes = Axes((0, end), padded(*(np.quantile(edge, [0.03, 0.97]) for edge in (start, finish))))
    lines = "".join(
        axes.path([0, end], [a, b], "line negative" if is_negative[i] else "line positive")
        for i, a, b in zip(chosen, start, finish, strict=True)
    )
    return axes, lines


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
    """Arrange the pictures of one line; only the first line is visible at the start."""
    return (
        f'<div class="run" data-run="{index}"{" hidden" if index else ""}>'
        f"<figure>{svg['thresholds']}<figcaption>Thresholds of "
        '<span class="negative">negative</span> and <span class="positive">positive</span> rows move '
        "along straight lines; where two cross, the ROC curve changes.</figcaption></figure>"
        f"<figure>{svg['aum']}</figure><figure>{svg['auc']}</figure></div>"
    )
