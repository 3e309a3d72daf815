"""Features of a signal, for learning its penalty."""

from __future__ import annotations

import numpy as np

from aucuba._base._typing import ArrayLike, FloatArray
from aucuba.changepoint._signals import check_signal

_SERIES = ("data", "residual", "diff")
_STATISTICS = ("sum", "mean", "sd", "quantile.0%", "quantile.25%", "quantile.50%", "quantile.75%",
               "quantile.100%")  # fmt: skip
_ABSOLUTE = tuple(
    f"{series} abs.{transform}.{statistic}"
    for series in _SERIES
    for transform in ("identity", "sqrt", "log")
    for statistic in _STATISTICS
)
_SQUARED = tuple(
    f"{series} square.{transform}.{statistic}"
    for series in _SERIES
    for transform in ("sqrt", "log")
    for statistic in _STATISTICS[:3]
)
FEATURE_NAMES: tuple[str, ...] = ("n.sqrt", "n.log", "n.loglog", *_ABSOLUTE, *_SQUARED)
"""Names of the entries of `signal_features`, in order."""

# Logarithms stop this far below the root mean square of their signal, so that zeros stay finite.
_LOG_FLOOR = 1e-8


def signal_features(signal: ArrayLike, *, name: str = "signal") -> FloatArray:
    r"""Describe a signal by 93 finite numbers: length, location and noise on several scales.

    With :math:`y` the signal, :math:`y - \bar y` its residuals and :math:`y_{i+1} - y_i` its
    differences:

    - ``n.sqrt``, ``n.log``, ``n.loglog``: the number of samples;
    - for each series, of its absolute values: sum, mean, standard deviation and quartiles, as they are,
      under the square root and under the logarithm;
    - for each series, of its squares: sum, mean and standard deviation, under the square root and the
      logarithm.

    Statistics are taken first, transforms second. Where they are defined they equal those of the same
    name in the R package penaltyLearning. A logarithm of less than 1e-8 times the root mean square of
    the signal (its square, for squares) is taken at that value; one sample has standard deviation and
    differences zero; ``n.loglog`` is that of at least 3 samples.

    Parameters
    ----------
    signal : array-like of shape (n_samples,)
    name : str, default="signal"
        How errors call the signal.

    Returns
    -------
    ndarray of shape (93,)
        Named by ``FEATURE_NAMES``.

    Examples
    --------
    >>> from aucuba.changepoint import FEATURE_NAMES, signal_features
    >>> value = dict(zip(FEATURE_NAMES, signal_features([1.0, 3.0, 2.0]), strict=True))
    >>> float(value["diff abs.identity.mean"])
    1.5
    """
    return features_of(check_signal(signal, name))


def features_of(y: FloatArray) -> FloatArray:
    """`signal_features` of a signal that is already validated."""
    differences = np.diff(y) if y.size > 1 else np.zeros(1)
    series: list[FloatArray] = [np.abs(part) for part in (y, y - y.mean(), differences)]
    scale = float(np.sqrt(np.mean(y**2)))
    # Below this, squares underflow; the signal is zero for all purposes.
    scale = scale if scale > 1e-100 else 1.0
    absolute = np.stack([_statistics(part) for part in series])
    squared = np.stack([_statistics(part**2)[:3] for part in series])
    length = [np.sqrt(y.size), np.log(y.size), np.log(np.log(max(y.size, 3)))]
    log_absolute = np.log(np.maximum(absolute, _LOG_FLOOR * scale))
    log_squared = np.log(np.maximum(squared, (_LOG_FLOOR * scale) ** 2))
    return np.concatenate(
        [
            length,
            np.stack([absolute, np.sqrt(absolute), log_absolute], axis=1).ravel(),
            np.stack([np.sqrt(squared), log_squared], axis=1).ravel(),
        ]
    )


def _statistics(values: FloatArray) -> FloatArray:
    spread = np.std(values, ddof=1) if values.size > 1 else 0.0
    quartiles = np.quantile(values, [0.0, 0.25, 0.5, 0.75, 1.0])
    return np.concatenate([[values.sum(), values.mean(), spread], quartiles])
