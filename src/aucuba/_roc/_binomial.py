"""Confidence limits of rates."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import beta, norm

from aucuba._base._typing import FloatArray


def clopper_pearson(hits: float, rows: float, tail: float) -> tuple[float, float]:
    """Exact binomial limits with a probability of at most ``tail`` beyond each."""
    low = 0.0 if hits == 0 else float(beta.ppf(tail, hits, rows - hits + 1))
    high = 1.0 if hits == rows else float(beta.ppf(1 - tail, hits + 1, rows - hits))
    return low, high


def wilson_interval(rate: Any, n: float, tail: float = 0.025) -> tuple[FloatArray, FloatArray]:
    r"""Compute the score interval of rates of n rows.

    .. math::
        \frac{p + z^2/2n \pm z \sqrt{p(1-p)/n + z^2/4n^2}}{1 + z^2/n}

    Parameters
    ----------
    rate : float or ndarray
        Rates p.
    n : float
        Number of rows, or of equally weighted rows that are as informative.
    tail : float, default=0.025
        Probability beyond each limit.

    Examples
    --------
    >>> from aucuba._roc._binomial import wilson_interval
    >>> low, high = wilson_interval(0.5, 100)
    >>> print(f"{low:.3f} {high:.3f}")
    0.404 0.596
    """
    z = float(norm.isf(tail))
    p = np.asarray(rate, dtype=float)
    middle = p + z**2 / (2 * n)
    half = z * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    size = 1 + z**2 / n
    return np.clip((middle - half) / size, 0, 1), np.clip((middle + half) / size, 0, 1)
