"""The model that cross-validation chose, with its held-out scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aucuba._base._logistic import log_loss, mean_and_scale
from aucuba._base._typing import FloatArray, IntArray
from aucuba._roc._calibration import logistic_calibration
from aucuba._roc._comparison import RegionComparison
from aucuba._roc._region import Region
from aucuba._rows._out_of_fold import OutOfFold
from aucuba.risks import Sample

# Another C replaces the one of best log-loss if it leads in the region by this many paired standard
# errors. With few positives near the top the analytic error is too small: one standard error let
# noise choose C on satimage-2.
_ERRORS_FOR_C = 2.0


@dataclass(frozen=True)
class ChosenModel:
    """Coefficients, and the scores they give to held-out rows; rows is None if nothing was held out."""

    coef: FloatArray
    rows: IntArray | None = None
    held_out: FloatArray | None = None

    def calibration(self, scores: FloatArray, sample: Sample) -> FloatArray:
        """Calibrate on the held-out rows, or on training scores if a class is missing there."""
        if self.rows is not None and self.held_out is not None:
            tested = sample.take(self.rows)
            if tested.positive.any() and not tested.positive.all():
                slope, at_mean = logistic_calibration(self.held_out, tested)
                mean = np.average(scores, weights=sample.weight)
                return np.array([slope, at_mean - slope * mean])
        return logistic_calibration(scores, sample)


@dataclass(frozen=True)
class ChosenBlend:
    """The weight of the region's own model beside logistic regression, and what decided it."""

    weight: float
    status: str
    partial_auc: dict[str, float]
    errors: dict[str, float]

    @classmethod
    def from_scores(
        cls, tested: Sample, region: Region, logistic: FloatArray, own: FloatArray
    ) -> ChosenBlend:
        """Weigh the region's own model by the probability that it ranks new rows better.

        A step from one model to the other would be decided by noise wherever the two are close; this
        weight moves with the evidence, and has no constant to choose.
        """
        first, second = (_standardised(scores, tested.weight) for scores in (logistic, own))
        comparison = RegionComparison(tested, np.stack([first, second]), region)
        lead = comparison.lead(1, 0)
        weight = lead.probability()
        blended = RegionComparison(tested, ((1 - weight) * first + weight * second)[None], region)
        plain, best = map(float, comparison.values)
        values = {"logistic": plain, "blend": float(blended.values[0]), "region": best}
        if np.isnan(lead.error):
            status = (
                "Logistic regression kept: no held-out positive has a negative to compare with."
            )
        else:
            status = (
                f"The region's own model has weight {weight:.2f}, the probability that it is better "
                f"than logistic regression: {lead.difference:+.4f} of held-out partial AUC, standard "
                f"error {lead.error:.4f}."
            )
        return cls(weight, status, values, {"region - logistic": lead.error})


def choose_C(
    logistic: OutOfFold, sample: Sample, region: Region, Cs: FloatArray
) -> tuple[int, dict[str, FloatArray]]:
    """Choose the C of best log-loss, unless another is clearly ahead in the region.

    Returns its place, and what every C reached.
    """
    tested = sample.take(logistic.covered)
    losses = np.array([log_loss(row, tested.positive, tested.weight) for row in logistic.scores])
    comparison = RegionComparison(tested, logistic.scores, region)
    results = {"C": Cs, "log_loss": losses, "logistic": comparison.values}
    best = int(np.argmin(losses))
    # Standard errors are slow to compute and matter only for values of C that are ahead.
    better = np.flatnonzero(comparison.values > comparison.values[best])
    ahead = [int(k) for k in better if comparison.lead(int(k), best).exceeds(_ERRORS_FOR_C)]
    return max(ahead, key=lambda k: float(comparison.values[k])) if ahead else best, results


def _standardised(scores: FloatArray, weight: FloatArray | None) -> FloatArray:
    mean, scale = mean_and_scale(scores, weight)
    standardised: FloatArray = (scores - mean) / scale
    return standardised
