"""The choice between simple and less simple models by their costs on held-out rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aucuba._base._typing import FloatArray, IntArray
from aucuba._rows._lead import Lead


@dataclass(frozen=True)
class Comparison:
    """Costs of two models on the same held-out rows.

    Attributes
    ----------
    before, after : float
        Their totals.
    error : float
        Standard error of the difference, over the rows.
    """

    before: float
    after: float
    error: float

    @classmethod
    def from_rows(cls, before: FloatArray, after: FloatArray) -> Comparison:
        """Compare the costs of single rows."""
        difference = before - after
        spread = float(difference.std(ddof=1)) if difference.size > 1 else np.inf
        return cls(float(before.sum()), float(after.sum()), spread * difference.size**0.5)

    def pays(self, standard_errors: float) -> bool:
        """Whether the second model is better by more than so many standard errors."""
        return Lead(self.before - self.after, self.error).exceeds(standard_errors)

    def describe(self, unit: str) -> str:
        """Say both totals and the standard error of their difference."""
        return (
            f"{self.after:.4g} instead of {self.before:.4g} {unit} on held-out rows, with a standard "
            f"error of {self.error:.2g}"
        )


def choose(costs: FloatArray, standard_errors: float) -> int:
    """Choose among models of growing complexity, the first of which is the fallback.

    Of the others the simplest is taken whose cost is within one standard error of the least; it must
    beat the fallback by more than ``standard_errors`` of them. With 0 the least cost decides.

    Parameters
    ----------
    costs : ndarray of shape (n_models, n_rows)
        Held-out costs, the simplest model first.
    standard_errors : float
        Of the differences over the rows.
    """
    best = int(np.argmin(costs.sum(axis=1)))
    if standard_errors == 0 or best == 0:
        return best
    within = [
        not Comparison.from_rows(costs[model], costs[best]).pays(1.0)
        for model in range(1, best + 1)
    ]
    chosen = 1 + within.index(True)
    gain = Comparison.from_rows(costs[0], costs[chosen])
    return chosen if gain.pays(standard_errors) else 0


def total_by_unit(costs: FloatArray, unit: IntArray) -> FloatArray:
    """Total costs of each group of rows that is drawn independently of the others."""
    place = np.unique(unit, return_inverse=True)[1]
    return np.stack([np.bincount(place, weights=row) for row in costs])
