"""Supervised changepoint detection: from signals and labels to changepoints."""

from aucuba.changepoint.detector import SupervisedChangepointDetector
from aucuba.changepoint.display import ChangepointDisplay, plot_label_errors
from aucuba.changepoint.features import FEATURE_NAMES, signal_features
from aucuba.changepoint.interval_regression import IntervalRegression, IntervalRegressionCV
from aucuba.changepoint.interval_solver import interval_regression_path
from aucuba.changepoint.label_errors import (
    LabelErrors,
    error_functions,
    label_errors,
    target_intervals,
)
from aucuba.changepoint.labels import Label
from aucuba.changepoint.model_selection import ModelSelection, model_selection
from aucuba.changepoint.roc import PenaltyROC, penalty_roc
from aucuba.changepoint.segmentation import Segmentation, segment

__all__ = [
    "FEATURE_NAMES",
    "ChangepointDisplay",
    "IntervalRegression",
    "IntervalRegressionCV",
    "Label",
    "LabelErrors",
    "ModelSelection",
    "PenaltyROC",
    "Segmentation",
    "SupervisedChangepointDetector",
    "error_functions",
    "interval_regression_path",
    "label_errors",
    "model_selection",
    "penalty_roc",
    "plot_label_errors",
    "segment",
    "signal_features",
    "target_intervals",
]
