r"""The greedy combination of features for the partial AUC (Ricamato and Tortorella, 2011).

M. T. Ricamato and F. Tortorella. Partial AUC maximization in a linear combination of dichotomizers.
*Pattern Recognition*, 44(10-11):2669-2677, 2011. The method combines scorers by linear weights, a pair
at a time: with K scorers there are K - 1 problems in one unknown,

.. math::
    \max_{\lambda \in [0, 1]} \mathrm{pAUC}\big((1 - \lambda)\, z + \lambda\, x_k\big),

each solved on H equally spaced intervals. Narasimhan and Agarwal (2013) apply it to the features
themselves with H = 100 and, for a range [alpha, beta], maximise the partial AUC over that range.

The article was not at hand; its abstract, the experiments of Narasimhan and Agarwal (2013) and the
abstract of the method for the whole AUC (Marrocco, Duin and Tortorella, *Pattern Recognition* 41, 2008:
"iterative pairwise coupling of the features") fix the above. Decided here:

- features are scaled to [0, 1] on the training rows, and reversed where their training AUC is below
  1/2;
- the combination starts with the feature of largest partial AUC, and the others follow in decreasing
  order of theirs (of two equal ones the first);
- of several best weights the smallest is taken, so that a feature that does not help is left out.
"""

from __future__ import annotations

import numpy as np

from aucuba._base._typing import ArrayLike, BoolArray, FloatArray
from aucuba._base._validation import check_positive_number
from reproductions.baselines._ranker import BinaryRanker, partial_auc


class GreedyCombination(BinaryRanker):
    """Linear combination of features, one at a time, by a search over its weight.

    Parameters
    ----------
    fpr_range : (float, float), default=(0.0, 0.1)
        False positive rates whose partial AUC is maximised.
    n_intervals : int, default=100
        H, the number of equally spaced intervals of the weight.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights of the scaled features, not negative, with sum 1.
    """

    def __init__(
        self, fpr_range: tuple[float, float] = (0.0, 0.1), *, n_intervals: int = 100
    ) -> None:
        self.fpr_range = fpr_range
        self.n_intervals = n_intervals

    def _learn(self, X: FloatArray, positive: BoolArray) -> None:
        check_positive_number(self.n_intervals, "n_intervals", integer=True)
        self.low_ = X.min(axis=0)
        spread = X.max(axis=0) - self.low_
        self.scale_ = np.where(spread > 0, spread, 1.0)
        scaled = (X - self.low_) / self.scale_
        columns = range(X.shape[1])
        whole = np.array([partial_auc(positive, scaled[:, k], (0.0, 1.0)) for k in columns])
        self.reversed_ = whole < 0.5
        scaled = np.where(self.reversed_, 1.0 - scaled, scaled)
        single = np.array([partial_auc(positive, scaled[:, k], self.fpr_range) for k in columns])
        order = np.argsort(-single, kind="stable")
        self.coef_ = np.zeros(X.shape[1])
        self.coef_[order[0]] = 1.0
        combined = scaled[:, order[0]]
        weights = np.linspace(0.0, 1.0, self.n_intervals + 1)
        for column in order[1:]:
            tried = np.outer(combined, 1.0 - weights) + np.outer(scaled[:, column], weights)
            values = partial_aucs(positive, tried, self.fpr_range)
            best = weights[int(np.argmax(values > values.max() - 1e-12))]
            self.coef_ *= 1.0 - best
            self.coef_[column] += best
            combined = (1.0 - best) * combined + best * scaled[:, column]

    def decision_function(self, X: ArrayLike) -> FloatArray:
        """Combine the scaled features."""
        scaled = (np.asarray(X, dtype=float) - self.low_) / self.scale_
        scores: FloatArray = np.where(self.reversed_, 1.0 - scaled, scaled) @ self.coef_
        return scores


def partial_aucs(
    positive: BoolArray, scores: FloatArray, fpr_range: tuple[float, float]
) -> FloatArray:
    r"""Compute the partial AUC of many columns of scores at once.

    A positive with a negatives above it and b at or above it, as fractions of all negatives, is passed
    at false positive rate u with probability clip((u - a) / (b - a), 0, 1); its mean over the range,
    and then over the positives, is the partial AUC.
    """
    mine, theirs = scores[positive], scores[~positive]
    above = np.mean(theirs[None] > mine[:, None], axis=1)
    tied = np.mean(theirs[None] == mine[:, None], axis=1)

    def passed_until(u: float) -> FloatArray:
        beyond = np.clip(u - above, 0.0, None)
        inside = np.minimum(beyond, tied)
        ramp = inside**2 / (2.0 * np.where(tied > 0, tied, 1.0))
        return ramp + np.clip(beyond - tied, 0.0, None)

    low, high = fpr_range
    means: FloatArray = (passed_until(high) - passed_until(low)).mean(axis=0) / (high - low)
    return means
