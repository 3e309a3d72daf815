"""The direct fit: logistic regression, then one anchored descent on the smooth ramp."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

from aucuba._typing import FloatArray
from aucuba.design import TableDesign
from aucuba.linear._logistic import logistic_regression, weighted_mean_and_sd
from aucuba.linear._region import Region
from aucuba.risks import Anchored, Labels
from aucuba.solvers import LBFGSSolver, Monitor, Solution

# Strength of the pull towards the scores of logistic regression; results are flat from .03 to .3.
ANCHOR_STRENGTH = 0.1
# Fewer positives, or fewer negatives in the range, than this cannot be fitted directly.
_FEWEST_POSITIVES = 10.0
_FEWEST_NEGATIVES = 2.0


@dataclass(frozen=True)
class DirectFit:
    """Direction with scores of unit standard deviation, and how it was found.

    ``solution`` is None where the direct fit was not tried; the direction is then the anchor's.
    """

    coef: FloatArray
    anchor: FloatArray
    solution: Solution | None


def normalised(coef: FloatArray, X: Any, weight: FloatArray | None) -> FloatArray:
    """The coefficients scaled to scores of unit standard deviation; constant scores stay."""
    sd = weighted_mean_and_sd(TableDesign(X).scores(coef), weight)[1]
    return coef / sd if sd > 0 else coef


def anchor_direction(X: Any, labels: Labels, C: float) -> tuple[FloatArray, int]:
    """The normalised coefficients of logistic regression, and its number of iterations."""
    model = logistic_regression(X, labels.positive, labels.weight, C)
    coef = normalised(model.coef_[0].astype("float64"), X, labels.weight)
    return coef, int(model.n_iter_[0])


def direct_fit(
    X: Any,
    labels: Labels,
    region: Region,
    anchor: FloatArray,
    *,
    max_iter: int = 100,
    monitor: Monitor | None = None,
) -> DirectFit:
    r"""``min_w R(Xw) + lambda/2 mean ((Xw - Xu)^2)`` from the anchor u, then normalised.

    The anchor is what makes the bounded loss work: without it the fit chases the few top negatives of
    the sample and loses to logistic regression on new data.
    """
    if not anchor.any() or reason_to_keep_anchor(labels, region):
        return DirectFit(anchor, anchor, None)
    design = TableDesign(X)
    wide = region.widened(class_weight_sum(labels, positive=False))
    reference = design.scores(anchor)
    risk = Anchored(wide.direct(labels), reference, ANCHOR_STRENGTH, labels.weight)
    solution = LBFGSSolver(max_iter=max_iter).solve(design, risk, start=anchor, monitor=monitor)
    return DirectFit(normalised(solution.coef, X, labels.weight), anchor, solution)


def class_weight_sum(labels: Labels, *, positive: bool) -> float:
    """Number of rows of a class, counted by weight."""
    rows = labels.positive == positive
    return float(rows.sum() if labels.weight is None else labels.weight[rows].sum())


def reason_to_keep_anchor(labels: Labels, region: Region) -> str:
    """Why the data are too few for a direct fit, or an empty string."""
    n_positives = class_weight_sum(labels, positive=True)
    in_range = class_weight_sum(labels, positive=False) * region.weights.total
    if n_positives >= _FEWEST_POSITIVES and in_range >= _FEWEST_NEGATIVES:
        return ""
    reason = (
        f"the data have {n_positives:g} positives and {in_range:.2g} negatives in the range, and a "
        f"direct fit needs {_FEWEST_POSITIVES:g} and {_FEWEST_NEGATIVES:g}"
    )
    if labels.weight is not None:
        reason += (
            f" (sample_weight counts as rows: over {labels.weight.size} of them it adds up to "
            f"{labels.weight.sum():g})"
        )
    return reason


def warn_if_few(labels: Labels, region: Region) -> None:
    """Say how many negatives the range covers where they are few."""
    reason = reason_to_keep_anchor(labels, region)
    if reason:
        warnings.warn(
            f"Plain logistic regression is returned: {reason}. Widen fpr_range or add data.",
            UserWarning,
            stacklevel=4,
        )
        return
    n_negatives = class_weight_sum(labels, positive=False)
    wide = region.widened(n_negatives)
    if wide is not region:
        assert wide.fpr_range is not None
        warnings.warn(
            f"The range covers only {n_negatives * region.weights.total:.2g} negatives; training on "
            f"[{wide.fpr_range[0]:.3g}, {wide.fpr_range[1]:.3g}], which covers 10.",
            UserWarning,
            stacklevel=4,
        )
