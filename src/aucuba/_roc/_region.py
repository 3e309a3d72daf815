"""The region of the ROC curve that counts, and how much each false positive rate in it weighs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any, TypeAlias

import numpy as np

from aucuba._base._arrays import arrays_of
from aucuba._base._typing import FloatArray, IntArray
from aucuba._base._validation import check_fpr_range, check_fraction
from aucuba._base._warnings import FewRowsWarning, warn_user
from aucuba._rows._sample import Sample

# A weight function is sampled at this many equally spaced rates and taken as linear between them;
# 1e-4 of the FPR axis is finer than what a hundred thousand negatives resolve at the top.
_GRID_SIZE = 10_001

# Values of the parameter ``fpr_weight`` in every metric and estimator.
FprWeight: TypeAlias = Callable[[FloatArray], FloatArray] | str | tuple[str, float] | None

# A bounded loss on fewer negatives than this fits their noise; the range is widened to hold them.
FEWEST_TO_TRAIN = 10.0


@dataclass(frozen=True)
class RankWeights:
    r"""A density ``g`` on the FPR axis through its integral ``G(u) = int_0^u g``, ``max g = 1``.

    The negatives of rank ``a`` to ``b`` of ``n`` together weigh ``n (G(b/n) - G(a/n))``. For a range
    [alpha, beta] this is the length of ``(a, b] ∩ [n alpha, n beta]``: the paper's three terms and
    its footnote 4 in one formula.

    Parameters
    ----------
    knots, integral : ndarray
        ``G`` at increasing rates, from 0 to 1.
    density : ndarray or None
        ``g`` at the knots where it is linear between them; None where ``g`` is constant between
        knots, so that ``G`` is linear.
    """

    knots: FloatArray
    integral: FloatArray
    density: FloatArray | None = None

    @classmethod
    def from_range(cls, fpr_range: tuple[float, float] = (0.0, 1.0)) -> RankWeights:
        """Weight 1 inside [alpha, beta], 0 outside."""
        alpha, beta = check_fpr_range(fpr_range)
        knots = np.array([0.0, alpha, beta, 1.0])
        return cls(knots, np.array([0.0, 0.0, beta - alpha, beta - alpha]))

    @classmethod
    def from_weight(
        cls, fpr_weight: FprWeight, fpr_range: tuple[float, float] = (0.0, 1.0)
    ) -> RankWeights:
        """Weight the rates inside [alpha, beta], up to a constant factor.

        Parameters
        ----------
        fpr_weight : callable, "log", ("exponential", alpha) or None
            A non-negative function of the false positive rate u; 1/u; exp(-alpha u); or 1.
        fpr_range : (float, float), default=(0.0, 1.0)
            Rates outside it weigh nothing.
        """
        if fpr_weight is None:
            return cls.from_range(fpr_range)
        alpha, beta = check_fpr_range(fpr_range)
        knots = np.linspace(alpha, beta, _GRID_SIZE)
        if callable(fpr_weight):
            density = _sampled(fpr_weight, knots)
        elif isinstance(fpr_weight, str) and fpr_weight == "log":
            if alpha == 0:
                raise ValueError(
                    "fpr_weight='log' weights a false positive rate u by 1/u, so fpr_range must start "
                    f"above 0, got ({alpha}, {beta}); for example (0.001, {beta})."
                )
            knots = np.geomspace(alpha, beta, _GRID_SIZE)
            density = alpha / knots
        else:
            rate = _exponential_rate(fpr_weight)
            # Knots of equal weight resolve a steep decay near alpha; evenly spaced ones its tail.
            part = np.linspace(0.0, -np.expm1(-rate * (beta - alpha)), _GRID_SIZE)
            steep = alpha - np.log1p(-part[1:-1]) / rate
            knots = np.unique(np.concatenate([knots, steep[(steep > alpha) & (steep < beta)]]))
            density = np.exp(-rate * (knots - alpha))
        # Two knots in one place are a jump of the density.
        before, after = [0.0, alpha][: 2 * (alpha > 0)], [beta, 1.0][: 2 * (beta < 1)]
        knots = np.concatenate([before, knots, after])
        density = np.concatenate([np.zeros(len(before)), density, np.zeros(len(after))])
        return cls._from_density(knots, density / density.max())

    @classmethod
    def _from_density(cls, knots: FloatArray, density: FloatArray) -> RankWeights:
        steps = (density[1:] + density[:-1]) / 2 * np.diff(knots)
        return cls(knots, np.concatenate([[0.0], np.cumsum(steps)]), density)

    @property
    def total(self) -> float:
        """``G(1)``: beta - alpha for a range."""
        return float(self.integral[-1])

    @property
    def is_uniform(self) -> bool:
        """Whether every rate counts alike, as in the full AUC."""
        return self.total == 1.0

    @property
    def last_rate(self) -> float:
        """The rate beyond which nothing counts: beta for a range."""
        return float(self.knots[np.searchsorted(self.integral, self.total)])

    def envelope(self) -> RankWeights:
        """Return the smallest non-increasing density at or above g: 1 on [0, beta] for a range."""
        if self.density is None:
            return RankWeights.from_range((0.0, self.last_rate))
        return self._from_density(self.knots, np.maximum.accumulate(self.density[::-1])[::-1])

    def cumulated(self, rate: FloatArray) -> FloatArray:
        """``G(rate)``; rates beyond 1 count as 1."""
        rate = np.minimum(rate, 1.0)
        if self.density is None:
            return np.interp(rate, self.knots, self.integral)
        cell = self._cell(rate)
        step = rate - self.knots[cell]
        width = self.knots[cell + 1] - self.knots[cell]
        slope = (self.density[cell + 1] - self.density[cell]) / width
        return self.integral[cell] + step * (self.density[cell] + slope * step / 2)

    def mean_cumulated(self, low: FloatArray, high: FloatArray) -> FloatArray:
        """Compute the mean of ``G`` between two rates, exactly; ``G`` itself where they are equal."""
        low = np.minimum(low, high)
        first, last = self._cell(low), self._cell(high)
        alone = first == last
        if alone.all():
            return self._mean_in(first, low, high)
        # Areas divided by a small gap would lose digits, so the parts of the cells at either end are
        # means too; cells that lie between them are wide.
        before = self._area_before
        head, tail = self.knots[first + 1], self.knots[last]
        across = (head - low) * self._mean_in(first, low, head)
        across += before[last] - before[first + 1]
        across += (high - tail) * self._mean_in(last, tail, high)
        gap = np.where(alone, 1.0, high - low)
        return np.where(alone, self._mean_in(first, low, high), across / gap)

    @cached_property
    def _area_before(self) -> FloatArray:
        """Area under ``G`` before every knot."""
        every = np.arange(self.knots.size - 1)
        area = self._mean_in(every, self.knots[:-1], self.knots[1:]) * np.diff(self.knots)
        return np.concatenate([[0.0], np.cumsum(area)])

    @cached_property
    def _lines(self) -> tuple[FloatArray, FloatArray]:
        """``g`` at the beginning of every cell, and its slope there."""
        width = np.diff(self.knots)
        width = np.where(width > 0, width, 1.0)
        if self.density is None:
            return np.diff(self.integral) / width, np.zeros_like(width)
        return self.density[:-1], np.diff(self.density) / width

    def _cell(self, rate: FloatArray) -> IntArray:
        """Return the knot at or below a rate, the last excepted."""
        cell: IntArray = np.searchsorted(self.knots, rate, side="right") - 1
        return np.clip(cell, 0, self.knots.size - 2)

    def _mean_in(self, cell: IntArray, low: FloatArray, high: FloatArray) -> FloatArray:
        """Compute the mean of ``G`` between two rates of one cell, where it is a parabola."""
        start, slope = self._lines
        a, b = low - self.knots[cell], high - self.knots[cell]
        mean: FloatArray = self.integral[cell] + start[cell] * (a + b) / 2
        return mean + slope[cell] * (a * a + a * b + b * b) / 6

    def between(self, edges: FloatArray, n: float) -> FloatArray:
        """Return the weight of the ranks between neighbouring edges, of ``n`` in all."""
        if self.density is None:
            # The overlap itself, so that ranks inside the range weigh exactly 1.
            sums = edges.clip(float(self.knots[1] * n), float(self.knots[2] * n))
        else:
            arrays = arrays_of(edges)
            sums = arrays.vector(n * self.cumulated(arrays.host(edges) / n))
        parts: FloatArray = sums[..., 1:] - sums[..., :-1]
        return parts

    def cuts(self, n: float) -> FloatArray:
        """Ranks between which one rank weighs as much as the next, of ``n`` in all."""
        if self.density is not None:
            return np.arange(1.0, n)
        limits = self.knots[1:-1] * n
        return np.concatenate([np.floor(limits), np.ceil(limits)])


def _sampled(weight: Callable[[FloatArray], FloatArray], knots: FloatArray) -> FloatArray:
    """Return the values of a user's weight function, which may take one rate or many."""
    try:
        density = np.asarray(weight(knots), dtype=np.float64)
    except (TypeError, ValueError):
        # The function takes one rate at a time.
        density = np.empty(0)
    if density.shape != knots.shape:
        density = np.array([float(weight(rate)) for rate in knots])
    if not np.all(np.isfinite(density)) or density.min() < 0 or density.max() == 0:
        raise ValueError(
            "fpr_weight must return finite, non-negative weights, not all zero, for rates in "
            f"[{knots[0]:g}, {knots[-1]:g}]; its values lie between {density.min()} and "
            f"{density.max()}."
        )
    return density


def _exponential_rate(fpr_weight: Any) -> float:
    """Return the alpha of ``("exponential", alpha)``, or one error for every other value."""
    if isinstance(fpr_weight, tuple | list) and len(fpr_weight) == 2:
        name, rate = fpr_weight
        if name == "exponential" and isinstance(rate, Real) and 0 < float(rate) < np.inf:
            return float(rate)
    raise ValueError(
        "fpr_weight must be None, a function of the false positive rate, 'log' or ('exponential', "
        f"alpha) with alpha above 0, got {fpr_weight!r}."
    )


@dataclass(frozen=True)
class Region:
    """Describe the part of the ROC plane that counts.

    Parameters
    ----------
    fpr_range : (float, float)
        The false positive rates that count.
    fpr_weight : callable, str, tuple or None
        How much each of them counts; None where all count alike.
    min_tpr : float
        The lowest true positive rate that counts.
    weights : RankWeights
        Range and weight as a density on the FPR axis.
    """

    fpr_range: tuple[float, float]
    fpr_weight: FprWeight
    min_tpr: float
    weights: RankWeights

    @classmethod
    def from_params(
        cls, fpr_range: Any = (0.0, 0.05), fpr_weight: FprWeight = None, min_tpr: Any = 0.0
    ) -> Region:
        """Check the parameters ``fpr_range``, ``fpr_weight`` and ``min_tpr`` of an estimator."""
        lowest = check_fraction(min_tpr, "min_tpr", high_open=True)
        limits = check_fpr_range(fpr_range)
        return cls(limits, fpr_weight, lowest, RankWeights.from_weight(fpr_weight, limits))

    @property
    def params(self) -> dict[str, Any]:
        """Parameters of an estimator for this region."""
        return {
            "fpr_range": self.fpr_range,
            "min_tpr": self.min_tpr,
            "fpr_weight": self.fpr_weight,
        }

    @property
    def is_plain_range(self) -> bool:
        """Whether every rate inside the range counts alike."""
        return self.fpr_weight is None

    @property
    def is_whole_curve(self) -> bool:
        """Whether every rate counts alike, so that the partial AUC is the AUC."""
        return self.weights.is_uniform and self.min_tpr == 0

    @property
    def upper_limit(self) -> float:
        """The highest false positive rate that counts."""
        return self.weights.last_rate

    def n_negatives_in(self, sample: Sample) -> float:
        """Count the negatives in the range, by weight; a rate of half the weight counts half."""
        return sample.class_weight(positive=False) * self.weights.total

    def widened(self, n_negatives: float) -> Region:
        """Widen the range just enough to hold ten negatives to train on."""
        low, high = self.fpr_range
        # The width of [0.2, 0.3] is a rounding error below 0.1.
        if n_negatives * (high - low) >= FEWEST_TO_TRAIN * (1.0 - 1e-9):
            return self
        width = min(1.0, FEWEST_TO_TRAIN / n_negatives)
        low = min(low, 1.0 - width)
        return Region.from_params((low, min(1.0, low + width)), self.fpr_weight, self.min_tpr)

    def for_training(self, sample: Sample) -> Region | None:
        """Decide what to train for where rows are few: the one rule of all models that fall back.

        Parameters
        ----------
        sample : Sample
            The training rows, counted by weight.

        Returns
        -------
        Region or None
            This region; a wider one if it holds fewer than ten negatives; None with fewer than ten rows
            of a class, where only a model that is not trained for a region can be fitted.
        """
        counts = [sample.class_weight(positive=one) for one in (True, False)]
        return None if min(counts) < FEWEST_TO_TRAIN else self.widened(counts[1])

    def warned_for_training(self, sample: Sample, fallback: str) -> Region | None:
        """Decide as `for_training` does, with one `FewRowsWarning` where this region is not the answer.

        ``fallback`` names what the model is instead if it cannot be trained for a region, such as
        "Plain logistic regression".
        """
        trained_on = self.for_training(sample)
        if trained_on is None:
            warn_user(f"{fallback} is returned: {_counted(sample)}. Add data.", FewRowsWarning)
        elif trained_on is not self:
            low, high = trained_on.fpr_range
            warn_user(
                f"The range covers only {self.n_negatives_in(sample):.2g} negatives"
                f"{sample.named}; training on [{low:.3g}, {high:.3g}], which covers "
                f"{FEWEST_TO_TRAIN:g}.",
                FewRowsWarning,
            )
        return trained_on

    def warn_if_few(self, sample: Sample) -> None:
        """Warn where `for_training` would decide otherwise: of models that solve what was asked."""
        trained_on = self.for_training(sample)
        if trained_on is None:
            found = f"{_counted(sample)}. Add data."
        elif trained_on is not self:
            found = (
                f"the range covers only {self.n_negatives_in(sample):.2g} negatives"
                f"{sample.named}. Add data or widen fpr_range."
            )
        else:
            return
        warn_user(f"The model may follow the noise of single rows: {found}", FewRowsWarning)


def _counted(sample: Sample) -> str:
    """Say how many rows of each class there are, and how weights count."""
    n_positives, n_negatives = (sample.class_weight(positive=one) for one in (True, False))
    counted = ""
    if sample.weight is not None:
        counted = (
            f" (sample_weight counts as rows: over {sample.n_rows} of them it adds up to "
            f"{float(sample.weight.sum()):g})"
        )
    return (
        f"the data have {n_positives:g} positives and {n_negatives:g} negatives{sample.named}, "
        f"and at least {FEWEST_TO_TRAIN:g} of each are needed{counted}"
    )
