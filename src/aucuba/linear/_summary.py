"""A fitted classifier in one paragraph."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted


def describe(model: Any) -> str:
    """Describe a fitted `PartialAUCClassifier`: region, surrogate, size, certificate, status."""
    check_is_fitted(model)
    weighted = "" if model.fpr_weight is None else "weighted "
    region = f"{weighted}false positive rates in [{model.fpr_range[0]:g}, {model.fpr_range[1]:g}]"
    if model.min_tpr > 0:
        region += f" and true positive rates from {model.min_tpr:g}"
    if hasattr(model, "dual_coef_"):
        size = f"a {model.kernel} kernel model on {model.dual_coef_.size} training rows"
    else:
        used = int(np.count_nonzero(model.coef_))
        size = f"a linear model with {used} of {model.coef_.size} coefficients in use"
    if np.isnan(model.gap_):
        certificate = "The problem is not convex, so there is no certificate."
    else:
        certificate = (
            f"The objective is {model.objective_:.6g}; no model is below {model.lower_bound_:.6g} "
            f"(gap {model.gap_:.2g} in units of the risk)."
        )
    return (
        f"Trained for {region} with the {model.surrogate} surrogate (C={model.C:g}): {size}, after "
        f"{model.n_iter_} iterations. {certificate} {model.status_}"
    )
