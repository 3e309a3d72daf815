"""Measures of the ROC curve, its regions and its thresholds, with intervals and tests."""

from aucuba.metrics._by_class import score_by_class
from aucuba.metrics._comparisons import ScoreComparison, compare_scores
from aucuba.metrics._counts import from_counts
from aucuba.metrics._curve_displays import (
    DecisionCurveDisplay,
    GainsDisplay,
    PrecisionRecallBandDisplay,
)
from aucuba.metrics._decision_curve import DecisionCurve, decision_curve
from aucuba.metrics._decisions import (
    detection_cost_score,
    expected_cost_score,
    kolmogorov_smirnov_score,
    net_benefit_score,
    youden_score,
)
from aucuba.metrics._display import RocRegionDisplay
from aucuba.metrics._gains import GainsTable, gains_table, value_recall
from aucuba.metrics._intervals import ScoreInterval
from aucuba.metrics._operating_points import (
    OperatingPoint,
    equal_error_rate_score,
    fpr_at_tpr_score,
    precision_at_recall_score,
    rates_at_threshold,
    recall_at_precision_score,
    tpr_at_fpr_score,
)
from aucuba.metrics._partial_auc import (
    aum_score,
    froc_to_fpr_range,
    log_auc_score,
    partial_auc_score,
    two_way_partial_auc_score,
)
from aucuba.metrics._planning import power_of, sample_size_for
from aucuba.metrics._precision_recall import average_precision_score, f_measure_score
from aucuba.metrics._predictive_values import PredictiveValueDisplay
from aucuba.metrics._score_interval import ScoreIntervals, score_interval
from aucuba.metrics._scorers import make_metric_scorer
from aucuba.metrics._segment_gap import SegmentGap, largest_gap
from aucuba.metrics._sketch import RocSketch
from aucuba.metrics._threshold_search import OperatingPoints, operating_point
from aucuba.metrics._top_ranks import (
    auc_at_k_score,
    bedroc_score,
    binned_auc_score,
    enrichment_factor_score,
    precision_at_k_score,
    recall_at_k_score,
    rie_score,
)

__all__ = [
    "DecisionCurve",
    "DecisionCurveDisplay",
    "GainsDisplay",
    "GainsTable",
    "OperatingPoint",
    "OperatingPoints",
    "PrecisionRecallBandDisplay",
    "PredictiveValueDisplay",
    "RocRegionDisplay",
    "RocSketch",
    "ScoreComparison",
    "ScoreInterval",
    "ScoreIntervals",
    "SegmentGap",
    "auc_at_k_score",
    "aum_score",
    "average_precision_score",
    "bedroc_score",
    "binned_auc_score",
    "compare_scores",
    "decision_curve",
    "detection_cost_score",
    "enrichment_factor_score",
    "equal_error_rate_score",
    "expected_cost_score",
    "f_measure_score",
    "fpr_at_tpr_score",
    "froc_to_fpr_range",
    "from_counts",
    "gains_table",
    "kolmogorov_smirnov_score",
    "largest_gap",
    "log_auc_score",
    "make_metric_scorer",
    "net_benefit_score",
    "operating_point",
    "partial_auc_score",
    "power_of",
    "precision_at_k_score",
    "precision_at_recall_score",
    "rates_at_threshold",
    "recall_at_k_score",
    "recall_at_precision_score",
    "rie_score",
    "sample_size_for",
    "score_by_class",
    "score_interval",
    "tpr_at_fpr_score",
    "two_way_partial_auc_score",
    "value_recall",
    "youden_score",
]
