"""What a page says about the model itself, for each kind of model."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import Any

from sklearn.pipeline import Pipeline

from aucuba.ensemble import RegionReweighted, RegionStack
from aucuba.report._coefficients import coefficient_section, last_step
from aucuba.report._convergence import training_section
from aucuba.report._page import Section, facts, paragraph, table
from aucuba.threshold import (
    AlertBudgetClassifier,
    FixedFPRClassifier,
    FixedPrecisionClassifier,
    FixedTPRClassifier,
)


@singledispatch
def model_sections(model: Any, feature_names: Sequence[str] | None, sign: int = 1) -> list[Section]:
    """Coefficients and training; other kinds of models have other parts.

    ``sign`` is -1 where the model's scores grow away from the positive class of the page.
    """
    return [coefficient_section(model, feature_names, sign), training_section(model)]


@model_sections.register
def _stack_sections(
    model: RegionStack, feature_names: Sequence[str] | None, sign: int = 1
) -> list[Section]:
    rows = []
    for k, row in enumerate(model.report_):
        value = [row["member"], f"{row['partial_auc']:.4f}", f"{row['standard_error']:.4f}"]
        rows.append([*value, f"{row['coef']:+.3f}" if k < len(model.members_) else ""])
    text = (
        "Out-of-fold values of the training rows, in the range that the stack was trained for. A "
        "weight is that of the member's standardised score in the sum; members that say the same "
        "share it, so a small or negative weight does not make a member bad."
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
    note = "Each member has a training of its own; the page follows none of them step by step."
    training = Section("training", "Training", facts(trained) + paragraph(note, "fine"))
    return [members, training]


@model_sections.register
def _reweighted_sections(
    model: RegionReweighted, feature_names: Sequence[str] | None, sign: int = 1
) -> list[Section]:
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
        "The score is the mean of two log-odds: of the estimator as it is, and of the same estimator "
        "with more weight on rows near the thresholds of the range. Factors have mean 1 in each class."
    )
    body = facts(entries) + paragraph(text, "fine")
    return [Section("training", "Training", body)]


@model_sections.register(FixedFPRClassifier)
@model_sections.register(FixedTPRClassifier)
@model_sections.register(FixedPrecisionClassifier)
@model_sections.register(AlertBudgetClassifier)
def _promised_sections(
    model: Any, feature_names: Sequence[str] | None, sign: int = 1
) -> list[Section]:
    return model_sections(*last_step(model.estimator_, feature_names), sign)


def called(estimator: Any) -> str:
    """Return the names of an estimator's steps."""
    steps = (
        [step for _, step in estimator.steps] if isinstance(estimator, Pipeline) else [estimator]
    )
    return ", ".join(type(step).__name__ for step in steps)


def _range(fpr_range: tuple[float, float]) -> str:
    return "FPR {:g} to {:g}".format(*fpr_range)


def _folds(cv: Any) -> str:
    return str(cv) if isinstance(cv, int) else type(cv).__name__
