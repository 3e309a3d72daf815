"""The law of a difference of two scorers: quantiles and p-values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import norm
from scipy.stats import t as student

from aucuba._base._typing import FloatArray
from aucuba.metrics._study import NO_SPREAD, Study

# No data make a difference certain; smaller p-values have no digits in floating point.
_LEAST_P = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True)
class Estimate:
    """A difference with its law: a standard error, or resampled differences.

    ``are_one`` says that both scorers rank all rows alike, so that no sample tells them apart.
    """

    values: tuple[float, float]
    study: Study
    error: float = np.nan
    df: float = np.inf
    draws: FloatArray | None = None
    are_one: bool = False

    @property
    def difference(self) -> float:
        return self.values[0] - self.values[1]

    @property
    def lacks_spread(self) -> bool:
        """Whether the standard error is zero up to rounding although the scorers differ."""
        return self.difference != 0.0 and self.error <= 1e-9 * abs(self.difference)

    def quantile(self, level: float) -> float:
        """Quantile of the difference."""
        if self.draws is None:
            z = norm.ppf(level) if np.isinf(self.df) else student.ppf(level, self.df)
            return self.difference + float(z) * self.error
        if self.are_one:
            return 0.0
        if np.ptp(self.draws) <= NO_SPREAD:
            side = -1.0 if level < 0.5 else 1.0
            part = 1.0 - min(level, 1 - level) ** (1.0 / max(self.study.fewest, 1.0))
            return float(self.difference + side * part * self._room(side))
        tail = self.study.percentile(min(level, 1 - level))
        return float(np.quantile(self.draws, tail if level < 0.5 else 1 - tail))

    def _room(self, side: float) -> float:
        """Distance to the largest or smallest difference that the measure allows."""
        floor, ceiling = self.study.measure.limits
        room = ceiling - floor - side * self.difference
        return float(room) if np.isfinite(room) else 0.0

    def p_above(self, limit: float) -> float:
        """P-value of the claim that the difference is above a limit."""
        return self._p(limit, 1.0)

    def p_below(self, limit: float) -> float:
        """P-value of the claim that the difference is below a limit."""
        return self._p(limit, -1.0)

    def _p(self, limit: float, side: float) -> float:
        distance = side * (self.difference - limit)
        if self.draws is None:
            z = distance / self.error if self.error > 0 else 0.0
            p = float(norm.sf(z) if np.isinf(self.df) else student.sf(z, self.df))
            return max(p, _LEAST_P)
        # Counting one more resample keeps p-values above the resolution of the bootstrap.
        n_beyond = np.sum(side * (self.draws - limit) <= 0) + 1
        p = self.study.tail_of(float(n_beyond / (self.draws.size + 1)))
        if np.ptp(self.draws) <= NO_SPREAD and distance > 0:
            # The rule of three, as in `quantile`: the tail at which the limit is just reached.
            room = self._room(-side)
            part = max(1.0 - distance / room, 0.0) if room > 0 else 0.0
            p = max(p, float(part**self.study.fewest))
        return p


def welch(studies: tuple[Study, ...], method: str) -> tuple[float, float]:
    """Return the standard error of a difference of two samples and Welch's degrees of freedom."""
    errors = np.array([one.error() for one in studies])
    known = [one.df_of(method) for one in studies]
    n_units = [
        one.samples[0].n_rows if np.isinf(df) else df + 1
        for one, df in zip(studies, known, strict=True)
    ]
    total = float(np.sum(errors**2))
    below = float(np.sum(errors**4 / (np.array(n_units) - 1)))
    return float(np.sqrt(total)), total**2 / below if total > 0 else np.inf
