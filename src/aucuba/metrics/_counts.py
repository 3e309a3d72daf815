"""Rows from counts by score, as a database groups them."""

from __future__ import annotations

import numpy as np

from aucuba._base._arrays import on_host
from aucuba._base._typing import ArrayLike, FloatArray, IntArray
from aucuba._base._validation import finite_scores, row_weights


def from_counts(
    score: ArrayLike, positives: ArrayLike, negatives: ArrayLike
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Turn counts of positives and negatives by score into labels, scores and weights.

    ``SELECT score, SUM(y), SUM(1 - y) FROM scored GROUP BY score`` is all that a measure of the ROC
    curve needs. Measures, intervals and tests of these rows are those of the rows that were counted;
    give intervals and tests ``weight_kind="frequency"``.

    Parameters
    ----------
    score : array-like of shape (n_scores,)
        Scores; one may occur in several lines.
    positives, negatives : array-like of shape (n_scores,)
        Numbers of positive and of negative rows with this score.

    Returns
    -------
    y_true, y_score, sample_weight : ndarray
        One entry per score and class that has rows; positives first.

    Examples
    --------
    >>> from aucuba.metrics import from_counts, partial_auc_score, score_interval
    >>> y, score, weight = from_counts([0.1, 0.5, 0.9], [5, 20, 75], [800, 150, 50])
    >>> print(f"{partial_auc_score(y, score, sample_weight=weight):.4f}")
    0.9263
    >>> print(score_interval("auc", y, score, sample_weight=weight, weight_kind="frequency"))
    0.9263 [0.8949, 0.9484] (95% interval, wilson)
    """
    values = finite_scores(on_host(score), "score")
    counts = []
    for name, given in (("positives", positives), ("negatives", negatives)):
        try:
            found = row_weights(on_host(given), values.size, "scores")
        except ValueError as error:
            raise ValueError(str(error).replace("sample_weight", name)) from None
        assert found is not None
        if np.any(found != np.floor(found)):
            raise ValueError(
                f"{name} must be whole numbers of rows, got {found[found % 1 > 0][0]}."
            )
        counts.append(found)
    y = np.repeat([1, 0], values.size)
    weight = np.concatenate(counts)
    kept = weight > 0
    return y[kept], np.tile(values, 2)[kept], weight[kept]
