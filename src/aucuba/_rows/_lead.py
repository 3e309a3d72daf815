"""How far one of two models is ahead on the same rows, and the rules that act on it.

Every choice between two models goes through `Lead`: the penalty C and the blend of the linear models,
the shrinkage and the weight of the region in a stack, the guard of the changepoint detector, and the
probe of the command line. To change how sure a choice must be, change a rule here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr


@dataclass(frozen=True)
class Lead:
    """Difference of two models on the same held-out rows, with its paired standard error.

    Parameters
    ----------
    difference : float
        Above 0 where the model in question is better.
    error : float
        Standard error of the difference. Both are nan where the rows allow no comparison, and then no
        rule favours the model.
    """

    difference: float
    error: float

    @property
    def z(self) -> float:
        """The difference in standard errors; 0 without a difference, infinite without an error."""
        with np.errstate(divide="ignore"):
            return 0.0 if self.difference == 0.0 else float(np.divide(self.difference, self.error))

    def exceeds(self, n_errors: float) -> bool:
        """Tell whether z is above a number, and the difference above 0."""
        return bool(self.difference > 0 and self.difference > n_errors * self.error)

    def probability(self) -> float:
        """Compute the probability that the model is better on new rows, ``Phi(z)``.

        This is the normal approximation of the fraction of resamples of the rows in which the model is
        ahead: 1/2 where neither is. It is 0 where the rows do not tell the two apart at all.
        """
        if not self.error > 0:
            return float(self.difference > 0)
        return float(ndtr(self.difference / self.error))

    def ramp(self) -> float:
        """Compute the weight ``(1 + z) / 2``, limited to 0 and 1.

        A difference within its error gives the model a part of the weight.
        """
        return float(np.clip((1.0 + self.z) / 2.0, 0.0, 1.0))
