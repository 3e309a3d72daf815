"""Tests of gains that are paired over random splits of the same rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from aucuba._base._typing import FloatArray


def corrected_p(gains: ArrayLike, test_over_train: float = 1.0) -> float:
    r"""Test a mean gain over random splits, which overlap, as Nadeau and Bengio (2003) do.

    The variance of the mean of n gains is that of the gains times

    .. math:: \frac1n + \frac{n_\text{test}}{n_\text{train}}.

    Returns the two-sided p-value of Student's t with n - 1 degrees of freedom: nan for one split, and
    1 where all gains are equal, which says nothing about their spread.
    """
    gain = np.asarray(gains, dtype=float)
    if gain.size < 2:
        return float("nan")
    if np.ptp(gain) == 0:
        return 1.0
    error = np.sqrt(gain.var(ddof=1) * (1.0 / gain.size + test_over_train))
    return float(2 * stats.t.sf(abs(gain.mean()) / error, gain.size - 1))


def wilcoxon_p(gains: ArrayLike) -> float:
    """Test gains by the two-sided Wilcoxon test of the ICML 2013 paper; 1 where all are zero.

    It takes the splits as independent, which they are not: their training rows overlap.
    """
    gain = np.asarray(gains, dtype=float)
    return float(stats.wilcoxon(gain).pvalue) if gain.any() else 1.0


def tests_of(gains: ArrayLike, test_over_train: float) -> list[str]:
    """Write the p-values of `wilcoxon_p` and of `corrected_p` for a table."""
    return [f"{p:.2g}" for p in (wilcoxon_p(gains), corrected_p(gains, test_over_train))]


def holm(p_values: ArrayLike) -> FloatArray:
    """Adjust p-values for their number by Holm's step-down method."""
    p = np.asarray(p_values, dtype=float)
    order = np.argsort(p)
    adjusted = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))
    out = np.empty(p.size)
    out[order] = np.minimum(adjusted, 1.0)
    return out
