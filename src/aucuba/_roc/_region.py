"""The part of the ROC plane that counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from aucuba._base._validation import check_fpr_range, check_fraction
from aucuba._roc._rank_weights import FprWeight, RankWeights
from aucuba._rows._sample import Sample

# A bounded loss on fewer negatives than this fits their noise; the range is widened to hold them.
FEWEST_TO_TRAIN = 10.0


@dataclass(frozen=True)
class Region:
    """Describe the part of the ROC plane that counts.

    Parameters
    ----------
    fpr_range : (float, float)
        The false positive rates that count.
    fpr_weight : callable, str, tuple or None
        How much each of them counts; None where all count alike.
    min_tpr : float
        The lowest true positive rate that counts.
    weights : RankWeights
        Range and weight as a density on the FPR axis.
    """

    fpr_range: tuple[float, float]
    fpr_weight: FprWeight
    min_tpr: float
    weights: RankWeights

    @classmethod
    def from_params(
        cls, fpr_range: Any = (0.0, 0.05), fpr_weight: FprWeight = None, min_tpr: Any = 0.0
    ) -> Region:
        """Check the parameters ``fpr_range``, ``fpr_weight`` and ``min_tpr`` of an estimator."""
        lowest = check_fraction(min_tpr, "min_tpr", high_open=True)
        limits = check_fpr_range(fpr_range)
        return cls(limits, fpr_weight, lowest, RankWeights.from_weight(fpr_weight, limits))

    @property
    def params(self) -> dict[str, Any]:
        """Parameters of an estimator for this region."""
        return {
            "fpr_range": self.fpr_range,
            "min_tpr": self.min_tpr,
            "fpr_weight": self.fpr_weight,
        }

    @property
    def is_plain_range(self) -> bool:
        """Whether every rate inside the range counts alike."""
        return self.fpr_weight is None

    @property
    def is_whole_curve(self) -> bool:
        """Whether every rate counts alike, so that the partial AUC is the AUC."""
        return self.weights.is_uniform and self.min_tpr == 0

    @property
    def upper_limit(self) -> float:
        """The highest false positive rate that counts."""
        return self.weights.last_rate

    def n_negatives_in(self, sample: Sample) -> float:
        """Count the negatives in the range, by weight; a rate of half the weight counts half."""
        return sample.class_weight(positive=False) * self.weights.total

    def widened(self, n_negatives: float) -> Region:
        """Widen the range just enough to hold ten negatives to train on."""
        low, high = self.fpr_range
        if n_negatives * (high - low) >= FEWEST_TO_TRAIN:
            return self
        width = min(1.0, FEWEST_TO_TRAIN / n_negatives)
        low = min(low, 1.0 - width)
        return Region.from_params((low, min(1.0, low + width)), self.fpr_weight, self.min_tpr)

    def for_training(self, sample: Sample, fallback: str) -> tuple[Region | None, str]:
        """Decide what to train for where rows are few: the one rule of all models for a region.

        Parameters
        ----------
        sample : Sample
            The training rows, counted by weight.
        fallback : str
            What the model is instead if no region can be trained for, such as "Logistic regression".

        Returns
        -------
        region : Region or None
            This region; a wider one if it holds fewer than ten negatives; None with fewer than ten rows
            of a class.
        notice : str
            Text of a `FewRowsWarning`; empty where the region is this one.
        """
        n_positives, n_negatives = (sample.class_weight(positive=one) for one in (True, False))
        if min(n_positives, n_negatives) < FEWEST_TO_TRAIN:
            counted = ""
            if sample.weight is not None:
                counted = (
                    f" (sample_weight counts as rows: over {sample.n_rows} of them it adds up to "
                    f"{float(sample.weight.sum()):g})"
                )
            return None, (
                f"{fallback} is returned: the data have {n_positives:g} positives and {n_negatives:g} "
                f"negatives, and training for a range needs {FEWEST_TO_TRAIN:g} of each{counted}. "
                "Add data."
            )
        wide = self.widened(n_negatives)
        if wide is self:
            return self, ""
        low, high = wide.fpr_range
        return wide, (
            f"The range covers only {self.n_negatives_in(sample):.2g} negatives; training on "
            f"[{low:.3g}, {high:.3g}], which covers {FEWEST_TO_TRAIN:g}."
        )
