"""Thresholds that keep a promise about the false positive rate."""

from aucuba.threshold._fixed_fpr import FixedFPRClassifier
from aucuba.threshold._order_statistic import (
    negatives_needed,
    threshold_rank,
    violation_probability,
)

__all__ = [
    "FixedFPRClassifier",
    "negatives_needed",
    "threshold_rank",
    "violation_probability",
]
