"""Scores of any classifier on one scale: log-odds where it has probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.ensemble import BaggingClassifier, ExtraTreesClassifier, RandomForestClassifier
from sklearn.pipeline import Pipeline
from sklearn.tree import BaseDecisionTree

from aucuba._base._estimator import positive_scores
from aucuba._base._typing import AnyArray, FloatArray


def log_odds(model: Any, X: Any) -> FloatArray:
    """Compute ``log(p / (1 - p))`` of the second class, or take the model's own raw scores.

    Probabilities of 0 and 1 have no finite log-odds. A forest of T trees cannot resolve probabilities
    below ``1 / (2 T)``, so it is clipped there; other models are clipped at the precision of their
    floating-point type.
    """
    scores, are_probabilities = positive_scores(model, X)
    if not are_probabilities:
        return scores.astype(np.float64)
    n_trees = _n_trees(model)
    end = 0.5 / n_trees if n_trees else max(float(np.finfo(scores.dtype).eps), 1e-12)
    return bounded_log_odds(scores, end)


def bounded_log_odds(probability: AnyArray, end: float) -> FloatArray:
    """Compute the log-odds of probabilities clipped at a distance from 0 and 1."""
    p = np.clip(probability.astype(np.float64), end, 1.0 - end)
    return np.asarray(np.log(p) - np.log1p(-p))


def final_step(model: Any) -> Any:
    """Return the estimator at the end of a pipeline; any other estimator itself."""
    return final_step(model.steps[-1][1]) if isinstance(model, Pipeline) else model


def _n_trees(model: Any) -> int:
    """Count the trees over which a probability is averaged; 0 for other models."""
    last = final_step(model)
    if hasattr(last, "best_estimator_"):
        return _n_trees(last.best_estimator_)
    forest = isinstance(last, RandomForestClassifier | ExtraTreesClassifier)
    bagged = isinstance(last, BaggingClassifier) and isinstance(last.estimator_, BaseDecisionTree)
    return len(last.estimators_) if forest or bagged else 0
