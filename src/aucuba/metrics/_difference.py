"""A difference of two values and its law: a standard error, or resampled differences."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import norm
from scipy.stats import t as student

from aucuba._base._typing import FloatArray


@dataclass(frozen=True)
class DifferenceEstimate:
    """A difference with its law: a standard error, or resampled differences."""

    difference: float
    values: tuple[float, float]
    error: float = np.nan
    degrees_of_freedom: float = np.inf
    draws: FloatArray | None = None

    @property
    def lacks_spread(self) -> bool:
        """Whether a standard error that is zero up to rounding says nothing about a difference."""
        return self.difference != 0.0 and self.error <= 1e-9 * abs(self.difference)

    def quantile(self, level: float) -> float:
        if self.draws is not None:
            return float(np.quantile(self.draws, level))
        df = self.degrees_of_freedom
        z = norm.ppf(level) if np.isinf(df) else student.ppf(level, df)
        return self.difference + float(z) * self.error

    def p_above(self, limit: float) -> float:
        """P-value of the claim that the difference is above a limit."""
        if self.draws is not None:
            # One resample is added on the far side, so that no p-value is below what they resolve.
            return float((np.sum(self.draws <= limit) + 1) / (self.draws.size + 1))
        return self._tail(self.difference - limit)

    def p_below(self, limit: float) -> float:
        """P-value of the claim that the difference is below a limit."""
        if self.draws is not None:
            return float((np.sum(self.draws >= limit) + 1) / (self.draws.size + 1))
        return self._tail(limit - self.difference)

    def _tail(self, distance: float) -> float:
        df, z = self.degrees_of_freedom, distance / self.error if self.error > 0 else 0.0
        return float(norm.sf(z) if np.isinf(df) else student.sf(z, df))
