"""The training section: the course of the fit and its certificate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from aucuba._base._typing import FloatArray
from aucuba.report._page import Section, facts, figures, paragraph, table
from aucuba.report._svg import Axes, padded

_SMALLEST_GAP = 1e-16
_NAMES = {
    "objective": "objective",
    "aum": "AUM",
    "auc": "AUC of the training rows",
    "validation_auc": "AUC of the held-out rows",
}


def training_section(model: Any) -> Section:
    """Report the status and certificate of a model, with pictures of the history it kept."""
    known = vars(model)
    body = facts(_summary(model, known))
    if known.get("partial_auc_"):
        body += _candidates(known)
    pictures = _pictures(known.get("history_") or [])
    if pictures:
        body += figures(*pictures)
    if known.get("cv_results_"):
        body += _cross_validation(known["cv_results_"], known["C_"])
    return Section("training", "Training", body)


def _summary(model: Any, known: Mapping[str, Any]) -> dict[str, Any]:
    entries: dict[str, Any] = {"estimator": type(model).__name__}
    for name, text in (("loss", "loss"), ("step", "line search"), ("kernel", "kernel")):
        if name in known:
            entries[text] = known[name]
    if known.get("fpr_weight") is not None:
        entries["trained for"] = "a weighting of the false positive rates"
    elif "fpr_range" in known:
        entries["trained for"] = "FPR {:g} to {:g}".format(*known["fpr_range"])
    if "n_iter_" in known:
        entries["iterations"] = ", ".join(map(str, np.ravel(known["n_iter_"])))
    if np.isfinite(known.get("gap_", np.nan)):
        for name, text in (("objective_", "objective"), ("lower_bound_", "certified lower bound")):
            if name in known:
                entries[text] = f"{known[name]:.6g}"
        entries["certified gap"] = f"{known['gap_']:.2g}"
    elif "objective_" in known:
        entries["certified gap"] = "none: the problem is not convex"
    if "C_" in known:
        entries["C chosen"] = f"{known['C_']:g}"
    if "blend_" in known:
        entries["weight of the region's model"] = f"{known['blend_']:.3g}"
    if "status_" in known:
        entries["status"] = known["status_"]
    return entries


def _pictures(history: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Draw each quantity that the history follows, with its caption."""
    if len(history) < 2:
        return []
    iteration = np.array([row.get("iteration", k) for k, row in enumerate(history)], dtype=float)
    pictures = []
    gap = _followed(history, "gap")
    known = np.isfinite(gap)
    if known.sum() > 1:
        pictures.append(_gap_picture(iteration[known], np.maximum(gap[known], _SMALLEST_GAP)))
    for name, text in _NAMES.items():
        values = _followed(history, name)
        known = np.isfinite(values)
        if known.sum() > 1:
            bound = _followed(history, "lower_bound" if name == "objective" else "")
            pictures.append(_picture(iteration[known], values[known], bound[known], text))
    return pictures


def _followed(history: Sequence[Mapping[str, Any]], name: str) -> FloatArray:
    """Return one quantity over the iterations, with NaN where the history lacks it."""
    return np.array([row.get(name, np.nan) for row in history], dtype=np.float64)


def _picture(
    iteration: FloatArray, values: FloatArray, bound: FloatArray, name: str
) -> tuple[str, str]:
    # The first bounds of a bundle method lie far below and would flatten the rest.
    floor = values.min() - 1.5 * max(float(np.ptp(values)), 1e-9 * abs(float(values.min())))
    near = np.isfinite(bound) & (bound > floor)
    axes = Axes(_iterations(iteration), padded(values, bound[near]), height=260)
    inside = axes.path(iteration[near], bound[near], "curve baseline") if near.any() else ""
    inside += axes.path(iteration, values, "curve model")
    caption = f"{name}; dashed: its certified lower bound" if near.any() else name
    return axes.picture("iteration", name, inside, name), caption


def _gap_picture(iteration: FloatArray, gap: FloatArray) -> tuple[str, str]:
    name, power = "certified gap", np.log10(gap)
    low, high = float(np.floor(power.min())), float(np.ceil(power.max()))
    axes = Axes(_iterations(iteration), (low, high if high > low else low + 1), height=260)
    marks = np.arange(low, high + 1, max(1, int(np.ceil((high - low) / 6)))).tolist()
    inside, text = axes.path(iteration, power, "curve model"), [f"1e{mark:g}" for mark in marks]
    drawn = axes.picture("iteration", name, inside, name, y_ticks=marks, y_text=text)
    return drawn, f"{name}, logarithmic"


def _iterations(iteration: FloatArray) -> tuple[float, float]:
    return float(iteration[0]) - 0.5, float(iteration[-1]) + 0.5


def _candidates(known: Mapping[str, Any]) -> str:
    values = known["partial_auc_"]
    errors = known["partial_auc_error_"]
    rows = [[name, f"{value:.4f}"] for name, value in values.items()]
    why = "; ".join(f"{name} ± {error:.4f}" for name, error in errors.items())
    shown = table(
        ["candidate", "out-of-sample partial AUC"], rows, "Candidates of the cross-validation."
    )
    return shown + (paragraph(f"Standard errors of the differences: {why}.", "fine") * bool(why))


def _cross_validation(results: Mapping[str, Any], chosen: float) -> str:
    names = [name for name in results if name != "C"]
    rows = [
        [
            f"{C:g}{' (chosen)' if chosen == C else ''}",
            *(f"{results[name][k]:.4f}" for name in names),
        ]
        for k, C in enumerate(results["C"])
    ]
    header = ["C", *(name.replace("_", " ") for name in names)]
    return table(header, rows, "Cross-validation over C.")
