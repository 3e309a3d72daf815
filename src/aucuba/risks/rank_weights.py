"""Which false positive rates matter, and how much."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from aucuba._typing import FloatArray
from aucuba._validation import check_fpr_range

# A weight function is sampled at this many equally spaced rates and taken as linear between them;
# 1e-4 of the FPR axis is finer than any range that data of this size can resolve.
_GRID_SIZE = 10_001


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
    def from_range(cls, fpr_range: tuple[float, float]) -> RankWeights:
        """Weight 1 inside [alpha, beta], 0 outside."""
        alpha, beta = check_fpr_range(fpr_range)
        knots = np.array([0.0, alpha, beta, 1.0])
        return cls(knots, np.array([0.0, 0.0, beta - alpha, beta - alpha]))

    @classmethod
    def from_function(cls, weight: Callable[[FloatArray], FloatArray]) -> RankWeights:
        """Any non-negative function of the false positive rate, up to a constant factor."""
        knots = np.linspace(0.0, 1.0, _GRID_SIZE)
        density = np.asarray(weight(knots), dtype=np.float64)
        if density.shape != knots.shape:
            density = np.array([float(weight(rate)) for rate in knots])
        if not np.all(np.isfinite(density)) or density.min() < 0 or density.max() == 0:
            raise ValueError(
                "fpr_weight must return finite, non-negative weights, not all zero, for rates in "
                f"[0, 1]; its values lie between {density.min()} and {density.max()}."
            )
        density = density / density.max()
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

    @property
    def first_rate(self) -> float:
        """The rate up to which nothing counts: alpha for a range."""
        return float(self.knots[np.searchsorted(self.integral, 0.0, side="right") - 1])

    def cumulated(self, rate: FloatArray) -> FloatArray:
        """``G(rate)``."""
        if self.density is None:
            return np.interp(rate, self.knots, self.integral)
        cell = np.clip(np.searchsorted(self.knots, rate, side="right") - 1, 0, self.knots.size - 2)
        step = rate - self.knots[cell]
        slope = (self.density[cell + 1] - self.density[cell]) / (
            self.knots[cell + 1] - self.knots[cell]
        )
        return self.integral[cell] + step * (self.density[cell] + slope * step / 2)

    def between(self, edges: FloatArray) -> FloatArray:
        """Weight of the negatives between neighbouring ranks; the last edge is their number n."""
        n = edges[-1]
        # Rates beyond 1 by rounding would extrapolate.
        mass: FloatArray = n * np.diff(self.cumulated(np.minimum(edges / n, 1.0)))
        return mass
