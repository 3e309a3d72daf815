"""Partial AUC of torch tensors, computed where they live."""

from __future__ import annotations

from typing import Any

from aucuba._base._torch_arrays import distinct_labels
from aucuba._base._validation import binary_target
from aucuba._roc._curve import counted_range_average


def tensor_partial_auc(
    y_true: Any, y_score: Any, fpr_range: tuple[float, float], pos_label: Any
) -> float:
    """Compute the mean TPR over a range of rates from labels and scores on one device."""
    if y_true.device != y_score.device:
        raise ValueError(
            f"y_score lives on {y_score.device} and y_true on {y_true.device}; move both to one "
            "device."
        )
    labels, score = y_true.detach().reshape(-1), y_score.detach().reshape(-1).double()
    if len(labels) != len(score):
        raise ValueError(f"{len(score)} scores for {len(labels)} labels.")
    n_bad = int((~score.isfinite()).sum())
    if n_bad:
        raise ValueError(f"y_score contains {n_bad} NaN or infinite values. Scores must be finite.")
    distinct = distinct_labels(labels)
    # Reuse the array check: it chooses the positive class and words the errors.
    positive = binary_target(distinct.cpu().numpy(), pos_label)
    return counted_range_average(labels == distinct[int(positive.argmax())], score, *fpr_range)
