"""Changepoints of signals: exact segmentation, and penalties learned from labels.

- segmentation: `segment`, `segment_penalty`, `Segmentation`, `model_selection`
- labels and their errors: `Label`, `label_errors`, `target_intervals`, `penalty_roc`, `best_shift`
- learning a penalty: `SupervisedChangepointDetector`, `IntervalRegression`, `IntervalRegressionCV`
- pictures: `ChangepointDisplay`
"""

from aucuba.changepoint._detector import SupervisedChangepointDetector
from aucuba.changepoint._display import ChangepointDisplay
from aucuba.changepoint._features import FEATURE_NAMES, signal_features
from aucuba.changepoint._interval_regression import IntervalRegression
from aucuba.changepoint._interval_regression_cv import IntervalRegressionCV
from aucuba.changepoint._interval_solver import interval_regression_path
from aucuba.changepoint._label_errors import (
    LabelErrors,
    best_shift,
    error_functions,
    label_errors,
    target_intervals,
)
from aucuba.changepoint._labels import LABEL_KINDS, Label
from aucuba.changepoint._roc import PenaltyROC, penalty_roc
from aucuba.changepoint._segment import segment, segment_penalty
from aucuba.changepoint._segmentation import ModelSelection, Segmentation, model_selection

__all__ = [
    "FEATURE_NAMES",
    "LABEL_KINDS",
    "ChangepointDisplay",
    "IntervalRegression",
    "IntervalRegressionCV",
    "Label",
    "LabelErrors",
    "ModelSelection",
    "PenaltyROC",
    "Segmentation",
    "SupervisedChangepointDetector",
    "best_shift",
    "error_functions",
    "interval_regression_path",
    "label_errors",
    "model_selection",
    "penalty_roc",
    "segment",
    "segment_penalty",
    "signal_features",
    "target_intervals",
]
