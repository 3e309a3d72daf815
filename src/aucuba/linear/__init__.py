"""Classifiers with one weight a feature, or kernels, trained for a region of the ROC curve."""

from aucuba.linear.aum_classifier import AUMClassifier
from aucuba.linear.partial_auc import PartialAUCClassifier
from aucuba.linear.partial_auc_cv import PartialAUCClassifierCV

__all__ = ["AUMClassifier", "PartialAUCClassifier", "PartialAUCClassifierCV"]
