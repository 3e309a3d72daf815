"""Thresholds that keep a promise: false alarms, sensitivity, precision, alert budget."""

from aucuba.threshold._alert_budget import AlertBudgetClassifier
from aucuba.threshold._display import GuaranteedRocDisplay
from aucuba.threshold._fixed_fpr import FixedFPRClassifier
from aucuba.threshold._fixed_precision import FixedPrecisionClassifier
from aucuba.threshold._fixed_tpr import FixedTPRClassifier
from aucuba.threshold._monitor import RateMonitor
from aucuba.threshold._rows_needed import rows_needed

__all__ = [
    "AlertBudgetClassifier",
    "FixedFPRClassifier",
    "FixedPrecisionClassifier",
    "FixedTPRClassifier",
    "GuaranteedRocDisplay",
    "RateMonitor",
    "rows_needed",
]
