"""Coefficients of a linear model, each with its name and a bar."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from aucuba._base._typing import FloatArray
from aucuba.report._page import Section, paragraph

_TOP = 20
# Length of the longest bar in drawing units; the page stretches it.
_REACH = 100.0


def coefficient_section(model: Any, feature_names: Sequence[str] | None, sign: int = 1) -> Section:
    """List the largest coefficients, if the model has one per feature.

    Coefficients of scikit-learn's classifiers point towards ``classes_[1]``. Multiplied by ``sign``
    they point towards the positive class of the page.
    """
    key, title = "coefficients", "Coefficients"
    coef = vars(model).get("coef_")
    if coef is None or "feature_map_" in vars(model):
        return Section(
            key, title, paragraph("This model does not have one coefficient per feature.")
        )
    coef = sign * np.ravel(coef)
    if not coef.any():
        return Section(key, title, paragraph("All coefficients are zero."))
    names = feature_names
    if names is None:
        names = vars(model).get("feature_names_in_", [f"x{k}" for k in range(coef.size)])
    order = np.argsort(-np.abs(coef), kind="stable")[:_TOP]
    text = f"The {order.size} largest of {coef.size}, on the scale of the model's input."
    body = bar_table([str(names[k]) for k in order], coef[order]) + paragraph(text, "fine")
    return Section(key, title, body)


def last_step(model: Any, feature_names: Sequence[str] | None) -> tuple[Any, Sequence[str] | None]:
    """Return the last step of a pipeline, with the names of its input columns."""
    if not isinstance(model, Pipeline) or len(model.steps) == 1:
        return (model[-1] if isinstance(model, Pipeline) else model), feature_names
    try:
        return model[-1], list(model[:-1].get_feature_names_out(feature_names))
    except (AttributeError, ValueError):
        # A step cannot name its columns, or the names are not those of the training rows.
        return model[-1], None


def bar_table(names: Sequence[str], values: FloatArray) -> str:
    """Build a table of names, bars and numbers; long names wrap, so that numbers stay visible."""
    largest = float(np.abs(values).max())
    rows = "".join(
        f'<tr><th scope="row">{escape(name)}</th><td>{_bar(float(value) / largest)}</td>'
        f"<td>{value:+.4g}</td></tr>"
        for name, value in zip(names, values, strict=True)
    )
    head = '<th scope="col">feature</th><td></td><th scope="col">coefficient</th>'
    return f'<table class="bars"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'


def _bar(share: float) -> str:
    width = abs(share) * _REACH
    css = "rod positive" if share > 0 else "rod negative"
    left = _REACH if share > 0 else _REACH - width
    return (
        f'<svg class="rods" viewBox="0 0 {2 * _REACH:g} 12" preserveAspectRatio="none" '
        f'aria-hidden="true"><rect class="{css}" x="{left:.2f}" y="1" width="{width:.2f}" '
        f'height="10"/><path class="grid" d="M{_REACH:g} 0V12"/></svg>'
    )
