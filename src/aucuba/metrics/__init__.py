"""Measures of regions of the ROC curve."""

from aucuba.metrics._aum import aum_score
from aucuba.metrics._binned import auc_at_k_score, binned_auc_score
from aucuba.metrics._display import RocBandDisplay
from aucuba.metrics._intervals import (
    ScoreComparison,
    ScoreInterval,
    compare_partial_auc,
    partial_auc_interval,
)
from aucuba.metrics._partial_auc import (
    froc_to_fpr_range,
    partial_auc_score,
    tpr_at_fpr_score,
    two_way_partial_auc_score,
)
from aucuba.metrics._scorers import (
    make_auc_at_k_scorer,
    make_partial_auc_scorer,
    make_tpr_at_fpr_scorer,
    make_two_way_partial_auc_scorer,
)

__all__ = [
    "RocBandDisplay",
    "ScoreComparison",
    "ScoreInterval",
    "auc_at_k_score",
    "aum_score",
    "binned_auc_score",
    "compare_partial_auc",
    "froc_to_fpr_range",
    "make_auc_at_k_scorer",
    "make_partial_auc_scorer",
    "make_tpr_at_fpr_scorer",
    "make_two_way_partial_auc_scorer",
    "partial_auc_interval",
    "partial_auc_score",
    "tpr_at_fpr_score",
    "two_way_partial_auc_score",
]
