r"""Boosting for the partial AUC (Komori and Eguchi, 2010).

O. Komori and S. Eguchi. A boosting method for maximizing the partial area under the ROC curve. *BMC
Bioinformatics*, 11:314, 2010. Markers are combined one by one, :math:`F = \sum_t \beta_t f_t`, where a
weak classifier :math:`f` is a natural cubic spline basis function of one continuous marker or a
decision stump of a discrete one. The Heaviside function of the partial AUC is replaced by the normal
distribution function :math:`\Phi`,

.. math::
    \mathrm{pAUC}_\sigma(F) = \frac1m \sum_{i=1}^m \sum_{j=1}^n \omega_j\,
    \Phi\!\left(\frac{F(x_i^+) - F(x_j^-)}{\sigma}\right),

where :math:`\omega_j` is the part of the range [alpha, beta] that negative j fills in the ranking by F,
of sum one. The number of steps is chosen by cross-validation (Narasimhan and Agarwal 2013, supplement
C).

Only the abstract was at hand, which fixes the weak classifiers and that a smooth partial AUC is
boosted; the smoothing by :math:`\Phi` is from memory of the article. Decided here:

- :math:`\sigma = 1`, weak classifiers standardised on the training rows;
- a marker with up to five distinct training values is discrete, with one stump between any two
  neighbouring values; others have a basis with knots at five equally spaced quantiles;
- no penalty on roughness: few knots and early stopping do that work;
- the weak classifier of a step is the one of steepest ascent, that is of largest absolute derivative
  of :math:`\mathrm{pAUC}_\sigma(F + \beta f)` at :math:`\beta = 0`; its coefficient is one Newton step
  of length at most 1 (length 1 where the second derivative is not negative), halved until
  :math:`\mathrm{pAUC}_\sigma` rises;
- :math:`\omega` is that of the ranking before the step; negatives of equal score have the mean of
  theirs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from aucuba._base._typing import ArrayLike, BoolArray, FloatArray
from aucuba._base._validation import check_positive_number
from reproductions.baselines._ranker import BinaryRanker

_DISCRETE = 5
_KNOTS = np.array([0.05, 0.275, 0.5, 0.725, 0.95])


@dataclass(frozen=True)
class WeakLearners:
    """The functions of one marker: stumps (``cuts``) or a natural cubic spline basis (``knots``)."""

    column: int
    cuts: FloatArray
    knots: FloatArray

    @classmethod
    def from_values(cls, column: int, values: FloatArray) -> WeakLearners:
        """Choose the functions by the training values of a marker."""
        levels = np.unique(values)
        if levels.size <= _DISCRETE:
            return cls(column, (levels[1:] + levels[:-1]) / 2, np.zeros(0))
        knots = np.unique(np.quantile(values, _KNOTS))
        if knots.size < 3:
            knots = levels[np.linspace(0, levels.size - 1, 5).astype(int)]
        return cls(column, np.zeros(0), knots)

    def __call__(self, X: FloatArray) -> FloatArray:
        """Evaluate all functions; one column each."""
        values = X[:, self.column]
        if not self.knots.size:
            return (values[:, None] > self.cuts).astype(float)
        return natural_cubic_basis(values, self.knots)


def natural_cubic_basis(values: FloatArray, knots: FloatArray) -> FloatArray:
    r"""Evaluate x and the functions :math:`d_k(x) - d_{K-1}(x)`, linear beyond the outer knots.

    :math:`d_k(x) = \big((x - \xi_k)_+^3 - (x - \xi_K)_+^3\big) / (\xi_K - \xi_k)` for knots
    :math:`\xi_1 < \dots < \xi_K`.
    """
    cubes = np.clip(values[:, None] - knots, 0.0, None) ** 3
    d = (cubes[:, :-1] - cubes[:, -1:]) / (knots[-1] - knots[:-1])
    return np.column_stack([values, d[:, :-1] - d[:, -1:]])


class PAUCBoost(BinaryRanker):
    """Additive model of single markers, grown step by step.

    Parameters
    ----------
    fpr_range : (float, float), default=(0.0, 0.1)
        False positive rates whose partial AUC is maximised.
    n_steps : int, default=100
        Number of weak classifiers; fewer where no step raises the objective.

    Attributes
    ----------
    steps_ : list of (int, float)
        Weak classifier and coefficient of each step.
    """

    def __init__(self, fpr_range: tuple[float, float] = (0.0, 0.1), *, n_steps: int = 100) -> None:
        self.fpr_range = fpr_range
        self.n_steps = n_steps

    def _learn(self, X: FloatArray, positive: BoolArray) -> None:
        check_positive_number(self.n_steps, "n_steps", integer=True)
        self.learners_ = [WeakLearners.from_values(k, X[:, k]) for k in range(X.shape[1])]
        basis = np.column_stack([learner(X) for learner in self.learners_])
        self.mean_ = basis.mean(axis=0)
        spread = basis.std(axis=0)
        self.scale_ = np.where(spread > 0, spread, np.inf)
        basis = (basis - self.mean_) / self.scale_
        self.steps_: list[tuple[int, float]] = []
        scores = np.zeros(len(X))
        for _ in range(self.n_steps):
            objective = SmoothPartialAUC.at(scores, positive, self.fpr_range)
            value, gradient = objective.value_and_gradient(scores)
            slopes = basis.T @ gradient
            best = int(np.argmax(np.abs(slopes)))
            step = _ascent(objective, scores, basis[:, best], value, slopes[best])
            if step == 0.0:
                break
            self.steps_.append((best, step))
            scores = scores + step * basis[:, best]

    def decision_function(self, X: ArrayLike) -> FloatArray:
        """Sum the weak classifiers."""
        basis = self._basis(X)
        total = np.zeros(basis.shape[1])
        for index, step in self.steps_:
            total[index] += step
        scores: FloatArray = basis @ total
        return scores

    def staged_decision_function(self, X: ArrayLike) -> Iterator[FloatArray]:
        """Yield the scores after each step."""
        basis = self._basis(X)
        scores = np.zeros(len(basis))
        for index, step in self.steps_:
            scores = scores + step * basis[:, index]
            yield scores

    def _basis(self, X: ArrayLike) -> FloatArray:
        table = np.asarray(X, dtype=float)
        basis = np.column_stack([learner(table) for learner in self.learners_])
        scaled: FloatArray = (basis - self.mean_) / self.scale_
        return scaled


@dataclass(frozen=True)
class SmoothPartialAUC:
    """pAUC with the normal distribution function for the step, and the negatives' parts held fixed."""

    positive: BoolArray
    weight: FloatArray

    @classmethod
    def at(
        cls, scores: FloatArray, positive: BoolArray, fpr_range: tuple[float, float]
    ) -> SmoothPartialAUC:
        """Take the parts of the negatives from a ranking."""
        return cls(positive, range_weights(scores[~positive], fpr_range))

    def value_and_gradient(self, scores: FloatArray) -> tuple[float, FloatArray]:
        """Compute the value and its derivative with respect to the scores."""
        apart, used = self._apart(scores)
        m = apart.shape[0]
        density = _density(apart) * self.weight[used] / m
        gradient = np.zeros(scores.size)
        gradient[self.positive] = density.sum(axis=1)
        negative = np.flatnonzero(~self.positive)[used]
        gradient[negative] = -density.sum(axis=0)
        return float((ndtr(apart) @ self.weight[used]).mean()), gradient

    def second_derivative(self, scores: FloatArray, direction: FloatArray) -> float:
        """Compute the second derivative along a direction."""
        apart, used = self._apart(scores)
        change, _ = self._apart(direction)
        bend = -apart * _density(apart) * change**2
        return float((bend @ self.weight[used]).mean())

    def _apart(self, scores: FloatArray) -> tuple[FloatArray, BoolArray]:
        """Differences between the positives and the negatives that count."""
        used: BoolArray = self.weight > 0
        return scores[self.positive][:, None] - scores[~self.positive][used], used


def range_weights(scores: FloatArray, fpr_range: tuple[float, float]) -> FloatArray:
    """Return the part of the range that each negative fills, of sum one; equal scores fill alike."""
    n = scores.size
    order = np.argsort(-scores, kind="stable")
    place = np.arange(n + 1) / n
    low, high = fpr_range
    filled = np.diff(np.clip(place, low, high)) / (high - low)
    _, index = np.unique(scores, return_inverse=True)
    parts = np.zeros(n)
    parts[order] = filled
    means: FloatArray = (np.bincount(index, parts) / np.bincount(index))[index]
    return means


def _density(values: FloatArray) -> FloatArray:
    density: FloatArray = np.exp(-(values**2) / 2) / np.sqrt(2 * np.pi)
    return density


def _ascent(
    objective: SmoothPartialAUC,
    scores: FloatArray,
    direction: FloatArray,
    value: float,
    slope: float,
) -> float:
    """Choose the coefficient of a step; 0 where none raises the objective."""
    bend = objective.second_derivative(scores, direction)
    step = float(np.clip(-slope / bend, -1.0, 1.0)) if bend < 0 else float(np.sign(slope))
    for _ in range(20):
        if objective.value_and_gradient(scores + step * direction)[0] > value:
            return step
        step /= 2
    return 0.0
