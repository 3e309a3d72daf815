"""Sections about the model itself, by kind of model."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from aucuba._base._typing import FloatArray
from aucuba.ensemble import RegionReweighted, RegionStack
from aucuba.report._operating_points import rates_above_zero
from aucuba.report._page import Section, facts, paragraph, table
from aucuba.report._scored_sample import ScoredSample
from aucuba.report._training import training_section
from aucuba.threshold import (
    AlertBudgetClassifier,
    FixedFPRClassifier,
    FixedPrecisionClassifier,
    FixedTPRClassifier,
)

_TOP = 20
# Length of the longest bar in drawing units; the page stretches it.
_REACH = 100.0
PROMISED = (
    *(AlertBudgetClassifier, FixedFPRClassifier),
    *(FixedPrecisionClassifier, FixedTPRClassifier),
)


def model_sections(model: Any, feature_names: Sequence[str] | None, sign: int = 1) -> list[Section]:
    """Describe a model: its members, weights, or coefficients and training.

    ``sign`` is -1 if the model's scores decrease towards the positive class of the page.
    """
    if isinstance(model, PROMISED):
        return model_sections(*last_step(model.estimator_, feature_names), sign)
    if isinstance(model, RegionStack):
        return _stack_sections(model)
    if isinstance(model, RegionReweighted):
        return [_reweighted_section(model)]
    return [coefficient_section(model, feature_names, sign), training_section(model)]


def _stack_sections(model: RegionStack) -> list[Section]:
    rows = []
    for k, row in enumerate(model.report_):
        value = [row["member"], f"{row['partial_auc']:.4f}", f"{row['standard_error']:.4f}"]
        rows.append([*value, f"{row['coef']:+.3f}" if k < len(model.members_) else ""])
    text = (
        "Values on out-of-fold scores of the training rows, in the range that the stack was trained "
        "for. A weight multiplies the member's standardised score in the sum. Members that agree share "
        "their weight, so a small or negative weight does not make a member bad."
    )
    header = ["member", "partial AUC", "standard error", "weight"]
    members = Section("members", "Members", table(header, rows) + paragraph(text, "fine"))
    trained = {
        "estimator": type(model).__name__,
        "trained for": _range(model.fpr_range),
        "rows": f"{model.oof_scores_.shape[0]:,}",
        "folds": _folds(model.cv),
        "strength of the re-weighting": f"{model.strength:g}",
    }
    note = "The members are trained separately; their iterations are not shown."
    training = Section("training", "Training", facts(trained) + paragraph(note, "fine"))
    return [members, training]


def _reweighted_section(model: RegionReweighted) -> Section:
    weight = model.weights_[model.weights_ > 0]
    raised = weight > 1
    entries = {
        "estimator": _called(model.estimator),
        "trained for": _range(model.fpr_range),
        "strength": f"{model.strength:g}",
        "folds": _folds(model.cv),
        "training rows": f"{weight.size:,}",
        "of raised weight": f"{int(raised.sum()):,} ({raised.mean():.1%})",
        "their share of the weight": f"{weight[raised].sum() / weight.sum():.1%}",
        "largest factor": f"{weight.max():.3g}",
    }
    text = (
        "The score is the mean of two log-odds: of the plain estimator, and of the same estimator "
        "with more weight on rows near the thresholds of the range. Factors have mean 1 in each class."
    )
    return Section("training", "Training", facts(entries) + paragraph(text, "fine"))


def promise_section(model: Any, sample: ScoredSample) -> Section:
    """State the promise, its basis, and the rates of its threshold on these rows."""
    entries = {
        "promise": model.promise_,
        "confidence": f"{model.confidence:.3g}",
        "guaranteed": "yes" if model.guarantee_ else "no, a heuristic",
        "threshold of the base score": _listed(model.threshold_),
        "bound on P(promise broken)": (
            f"{model.violation_probability_:.3g}" if model.guarantee_ else "none"
        ),
        "base classifier": _called(model.estimator_),
    }
    if model.trivial_:
        entries["certified"] = "no: kept without flagging by the score, see the promise"
    if model.guarantee_:
        text = (
            f"At most {1 - model.confidence:.3g} of such studies break the promise on new rows. It "
            "holds for rows drawn like the held-out ones, and for one use of the held-out rows."
        )
    else:
        text = (
            "The held-out scores come from the models of several folds, but this model was fitted on "
            "all rows: no theorem covers that. Hold rows out (cv=0.5) if the promise must hold."
        )
    return Section(
        "promise", "Promise", facts(entries) + paragraph(text) + rates_above_zero(sample)
    )


def _listed(threshold: Any) -> str:
    """Write one threshold, or one per stratum."""
    return ", ".join(f"{one:.6g}" for one in np.atleast_1d(threshold))


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


def _called(estimator: Any) -> str:
    """Name the steps of an estimator."""
    steps = (
        [step for _, step in estimator.steps] if isinstance(estimator, Pipeline) else [estimator]
    )
    return ", ".join(type(step).__name__ for step in steps)


def _range(fpr_range: tuple[float, float]) -> str:
    return "FPR {:g} to {:g}".format(*fpr_range)


def _folds(cv: Any) -> str:
    return str(cv) if isinstance(cv, int) else type(cv).__name__
