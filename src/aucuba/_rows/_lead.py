"""How far one of two models leads on the same rows, and the one rule that acts on it.

Every choice between two models goes through `Lead`: the penalty C and the blend of the linear models,
the shrinkage and the weight of the region in a stack, the guard of the changepoint detector, and the
probe of the command line. The rule was chosen in ``benchmarks/results/one_comparison.md``; to change
how sure a choice must be, change it here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import erf


@dataclass(frozen=True)
class Lead:
    """Difference between two models on the same held-out rows, with its paired standard error.

    Parameters
    ----------
    difference : float
        Above 0 if the model in question is better.
    error : float
        Standard error of the difference. Both are nan if the rows allow no comparison, and then
        nothing favours the model.
    """

    difference: float
    error: float

    @property
    def z(self) -> float:
        """The difference in standard errors; 0 without a difference, infinite without an error."""
        with np.errstate(divide="ignore"):
            return 0.0 if self.difference == 0.0 else float(np.divide(self.difference, self.error))

    @property
    def weight(self) -> float:
        r"""The weight of the model in question against the other: 0 unless it leads, then

        .. math:: \Phi(z) - \Phi(-z) = 2 \Phi(z) - 1,

        the probability that the model is better on new rows minus the probability that it is worse, by
        the normal approximation. It is .38 at half a standard error, .68 at one and .95 at two. With
        the probability alone, noise would have the weight 1/2.
        """
        return float(erf(self.z / np.sqrt(2.0))) if self.difference > 0 else 0.0

    def is_clear(self, n_errors: float = 1.0) -> bool:
        """Return whether the model leads by more than a number of standard errors.

        This is the rule wherever one of the two must be chosen.
        """
        return bool(self.difference > 0 and self.difference > n_errors * self.error)
