"""The direct fit: logistic regression, then one anchored descent on the smooth ramp."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

from aucuba._core._typing import FloatArray
from aucuba._roc._region import Region
from aucuba.design import TableDesign
from aucuba.linear._logistic import logistic_regression, weighted_mean_and_sd
from aucuba.risks import Anchored, Sample, make_risk
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


def anchor_direction(X: Any, sample: Sample, C: float) -> tuple[FloatArray, int]:
    """The normalised coefficients of logistic regression, and its number of iterations."""
    model = logistic_regression(X, sample.positive, sample.weight, C)
    coef = normalised(model.coef_[0].astype("float64"), X, sample.weight)
    return coef, int(model.n_iter_[0])


def direct_fit(
    X: Any,
    sample: Sample,
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
    if not anchor.any() or reason_to_keep_anchor(sample, region):
        return DirectFit(anchor, anchor, None)
    design = TableDesign(X)
    wide = region.widened(sample.class_weight(positive=False))
    reference = design.scores(anchor)
    risk = Anchored(make_risk("direct", sample, wide), reference, ANCHOR_STRENGTH, sample.weight)
    solution = LBFGSSolver(max_iter=max_iter).solve(design, risk, start=anchor, monitor=monitor)
    return DirectFit(normalised(solution.coef, X, sample.weight), anchor, solution)


def reason_to_keep_anchor(sample: Sample, region: Region) -> str:
    """Why the data are too few for a direct fit, or an empty string."""
    n_positives = sample.class_weight(positive=True)
    in_range = sample.class_weight(positive=False) * region.weights.total
    if n_positives >= _FEWEST_POSITIVES and in_range >= _FEWEST_NEGATIVES:
        return ""
    reason = (
        f"the data have {n_positives:g} positives and {in_range:.2g} negatives in the range, and a "
        f"direct fit needs {_FEWEST_POSITIVES:g} and {_FEWEST_NEGATIVES:g}"
    )
    if sample.weight is not None:
        reason += (
            f" (sample_weight counts as rows: over {sample.weight.size} of them it adds up to "
            f"{sample.weight.sum():g})"
        )
    return reason


def warn_if_few(sample: Sample, region: Region) -> None:
    """Say how many negatives the range covers where they are few."""
    reason = reason_to_keep_anchor(sample, region)
    if reason:
        warnings.warn(
            f"Plain logistic regression is returned: {reason}. Widen fpr_range or add data.",
            UserWarning,
            stacklevel=4,
        )
        return
    n_negatives = sample.class_weight(positive=False)
    wide = region.widened(n_negatives)
    if wide is not region:
        assert wide.fpr_range is not None
        warnings.warn(
            f"The range covers only {n_negatives * region.weights.total:.2g} negatives; training on "
            f"[{wide.fpr_range[0]:.3g}, {wide.fpr_range[1]:.3g}], which covers 10.",
            UserWarning,
            stacklevel=4,
        )
