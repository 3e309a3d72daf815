"""Linear models."""

from aucuba.linear.aum_classifier import AUMClassifier

__all__ = ["AUMClassifier"]
