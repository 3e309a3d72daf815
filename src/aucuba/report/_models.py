"""Sections about the model itself, by kind of model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn.pipeline import Pipeline

from aucuba.ensemble import RegionReweighted, RegionStack
from aucuba.report._coefficients import coefficient_section, last_step
from aucuba.report._page import Section, facts, paragraph, table
from aucuba.report._training import training_section
from aucuba.threshold import (
    AlertBudgetClassifier,
    FixedFPRClassifier,
    FixedPrecisionClassifier,
    FixedTPRClassifier,
)

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
        "estimator": called(model.estimator),
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


def called(estimator: Any) -> str:
    """Name the steps of an estimator."""
    steps = (
        [step for _, step in estimator.steps] if isinstance(estimator, Pipeline) else [estimator]
    )
    return ", ".join(type(step).__name__ for step in steps)


def _range(fpr_range: tuple[float, float]) -> str:
    return "FPR {:g} to {:g}".format(*fpr_range)


def _folds(cv: Any) -> str:
    return str(cv) if isinstance(cv, int) else type(cv).__name__
