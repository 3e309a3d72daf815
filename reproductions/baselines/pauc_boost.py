r"""Boosting for the partial AUC (Komori and Eguchi, 2010).

O. Komori and S. Eguchi. A boosting method for maximizing the partial area under the ROC curve. *BMC
Bioinformatics*, 11:314, 2010. Markers are combined one by one, :math:`F = \sum_t \beta_t f_t`, where a
weak classifier :math:`f` is a natural cubic spline basis function of one continuous marker or a
decision stump of a discrete one. The Heaviside function of the partial AUC is replaced by the normal
distribution function :math:`\Phi`, and rough functions :math:`F_k` of a marker are penalised,

.. math::
    \frac1m \sum_{i=1}^m \sum_{j=1}^n \omega_j\, \Phi\big(F(x_i^+) - F(x_j^-)\big)
    - \lambda \sum_k J(F_k),

where :math:`\omega_j` is the part of the range [alpha, beta] that negative j fills in the ranking by F,
of sum one.

Two sources fix this: the article's abstract, which has the range and the weak classifiers, and the
public C++ program of Komori's AUCBoost, the same method for the whole AUC, with which Morii et al.
(*PASJ* 68:104, 2016) search for supernovae (github.com/moriiism/hsc, ``hsclib/aucboost.cc``). From the
program are

- :math:`\Phi` with scale one, and stumps of height one;
- the weak classifier of a step: the one of largest absolute derivative of the penalised objective;
- its coefficient: up to five steps of Newton's method, to a change below 1e-6, from 1 in the first
  three steps of boosting and later from the median of the last three coefficients;
- the roughness of stumps: the sum of squares of the second differences of F_k over the stretches
  between neighbouring cuts, with F_k constant beyond the outer cuts;
- :math:`\lambda` on a logarithmic grid from 1e-5 to 100, chosen on rows that are held out.

Decided here:

- a marker with up to five distinct training values is discrete, with one stump between any two
  neighbouring values; others have a basis with knots at five equally spaced quantiles, standardised on
  the training rows;
- the roughness of a spline: the integral of the squared second derivative, with the marker in units
  of the distance between the outer knots;
- :math:`\omega` is that of the ranking before the step; negatives of equal score have the mean of
  theirs. It changes with the ranking, so that the steps may cycle: their number is chosen on rows that
  are held out;
- a coefficient of Newton's method that does not raise the objective is halved until it does, from the
  first guess where its sign is wrong; boosting ends where nothing raises the objective.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import ndtr

from aucuba._base._typing import ArrayLike, BoolArray, FloatArray
from aucuba._base._validation import check_positive_number
from reproductions.baselines._ranker import BinaryRanker

_DISCRETE = 5
_KNOTS = np.array([0.05, 0.275, 0.5, 0.725, 0.95])
_NEWTON_STEPS = 5
_CLOSE = 1e-6


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

    def roughness(self) -> FloatArray:
        """Return the matrix of the penalty: ``w @ roughness @ w`` for coefficients ``w``."""
        if self.knots.size:
            return spline_roughness(self.knots)
        n = self.cuts.size
        # A stump of height one changes two second differences, by 1 and by -1.
        stumps: FloatArray = 2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
        return stumps


def spline_roughness(knots: FloatArray) -> FloatArray:
    """Integrate products of second derivatives of `natural_cubic_basis`, outer knots at 0 and 1.

    Second derivatives are linear between the knots, so that Simpson's rule is exact.
    """
    knots = (knots - knots[0]) / (knots[-1] - knots[0])
    steps = np.diff(knots)
    places = np.concatenate([knots[:-1], (knots[:-1] + knots[1:]) / 2, knots[1:]])
    weights = np.concatenate([steps, 4 * steps, steps]) / 6
    ramps = 6 * np.clip(places[:, None] - knots, 0.0, None)
    d = (ramps[:, :-1] - ramps[:, -1:]) / (knots[-1] - knots[:-1])
    bend = np.column_stack([np.zeros(places.size), d[:, :-1] - d[:, -1:]])
    product: FloatArray = bend.T @ (weights[:, None] * bend)
    return product


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
    roughness : float, default=1e-5
        Weight of the penalty.

    Attributes
    ----------
    steps_ : list of (int, float)
        Weak classifier and coefficient of each step.
    """

    def __init__(
        self,
        fpr_range: tuple[float, float] = (0.0, 0.1),
        *,
        n_steps: int = 100,
        roughness: float = 1e-5,
    ) -> None:
        self.fpr_range = fpr_range
        self.n_steps = n_steps
        self.roughness = roughness

    def _learn(self, X: FloatArray, positive: BoolArray) -> None:
        check_positive_number(self.n_steps, "n_steps", integer=True)
        weight = check_positive_number(self.roughness, "roughness")
        self.learners_ = [WeakLearners.from_values(k, X[:, k]) for k in range(X.shape[1])]
        basis = np.column_stack([learner(X) for learner in self.learners_])
        self._adopt_scale(basis)
        basis = (basis - self.mean_) / self.scale_
        penalty = weight * self._penalty()
        bend = penalty.diagonal()
        self.steps_: list[tuple[int, float]] = []
        scores, coef = np.zeros(len(X)), np.zeros(basis.shape[1])
        for _ in range(self.n_steps):
            objective = SmoothPartialAUC.at(scores, positive, self.fpr_range)
            rising = 2 * (penalty @ coef)
            slopes = basis.T @ objective.gradient(scores) - rising
            best = int(np.argmax(np.abs(slopes)))
            along = Ascent(objective, scores, basis[:, best], rising[best], bend[best])
            recent = [abs(step) for _, step in self.steps_[-3:]]
            guess = float(np.median(recent)) if len(self.steps_) >= 3 else 1.0
            step = along.best(np.sign(slopes[best]) * guess)
            if step == 0.0:
                break
            self.steps_.append((best, step))
            coef[best] += step
            scores = scores + step * basis[:, best]

    def _adopt_scale(self, basis: FloatArray) -> None:
        """Standardise spline functions; stumps stay as they are."""
        is_stump = np.concatenate([np.full(_width(w), not w.knots.size) for w in self.learners_])
        self.mean_ = np.where(is_stump, 0.0, basis.mean(axis=0))
        spread = basis.std(axis=0)
        self.scale_ = np.where(is_stump, 1.0, np.where(spread > 0, spread, np.inf))

    def _penalty(self) -> Any:
        """Join the penalties of the markers, for coefficients of the scaled functions."""
        blocks = [learner.roughness() for learner in self.learners_ if _width(learner)]
        inverse = sparse.diags_array(1.0 / self.scale_)
        return (inverse @ sparse.block_diag(blocks) @ inverse).tocsr()

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

    def value(self, scores: FloatArray) -> float:
        """Compute the value."""
        apart, used = self._apart(scores)
        return float((ndtr(apart) @ self.weight[used]).mean())

    def gradient(self, scores: FloatArray) -> FloatArray:
        """Compute the derivative with respect to the scores."""
        apart, used = self._apart(scores)
        density = _density(apart) * self.weight[used] / apart.shape[0]
        gradient = np.zeros(scores.size)
        gradient[self.positive] = density.sum(axis=1)
        gradient[np.flatnonzero(~self.positive)[used]] = -density.sum(axis=0)
        return gradient

    def derivatives(
        self, scores: FloatArray, direction: FloatArray, step: float
    ) -> tuple[float, float]:
        """Compute both derivatives along a direction, at a step from the scores."""
        apart, used = self._apart(scores)
        change, _ = self._apart(direction)
        moved = apart + step * change
        slope = _density(moved) * change
        first = (slope @ self.weight[used]).mean()
        second = ((-moved * slope * change) @ self.weight[used]).mean()
        return float(first), float(second)

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


def _width(learner: WeakLearners) -> int:
    """Number of functions of a marker."""
    return learner.cuts.size + max(learner.knots.size - 1, 0)


@dataclass(frozen=True)
class Ascent:
    """The penalised objective along one weak classifier: ``slope`` and ``bend`` are the penalty's."""

    objective: SmoothPartialAUC
    scores: FloatArray
    direction: FloatArray
    slope: float
    bend: float

    def value(self, step: float) -> float:
        """Compute the objective at a step, but for a constant."""
        penalty = step * self.slope + step**2 * self.bend
        return self.objective.value(self.scores + step * self.direction) - penalty

    def newton(self, step: float) -> float:
        """Take up to five of Newton's steps."""
        for _ in range(_NEWTON_STEPS):
            first, second = self.objective.derivatives(self.scores, self.direction, step)
            second -= 2 * self.bend
            if second == 0.0:
                break
            before = step
            step -= (first - self.slope - 2 * self.bend * step) / second
            if abs(step - before) <= _CLOSE:
                break
        return step

    def best(self, guess: float) -> float:
        """Choose the coefficient; 0 where none raises the objective."""
        step = self.newton(guess)
        if not np.isfinite(step) or step * guess <= 0:
            step = guess
        here = self.value(0.0)
        for _ in range(20):
            if self.value(step) > here:
                return step
            step /= 2
        return 0.0
