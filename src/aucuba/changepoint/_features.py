"""Features of a signal for learning its penalty, and how they are cleaned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from aucuba._base._typing import ArrayLike, BoolArray, FloatArray, IntArray
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
    - for each series, of its absolute values: sum, mean, standard deviation and quartiles, unchanged,
      their square roots and their logarithms;
    - for each series, of its squares: sum, mean and standard deviation, their square roots and their
      logarithms.

    Transforms apply to the statistics, not to the samples. The values equal those of the same name in
    the R package penaltyLearning, where that package defines them. To stay finite, logarithms use at
    least 1e-8 times the root mean square of the signal (its square, for squares), ``n.loglog`` uses at
    least 3 samples, and a single sample has standard deviation and differences 0.

    Parameters
    ----------
    signal : array-like of shape (n_samples,)
    name : str, default="signal"
        Name of the signal in error messages.

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
    """Compute `signal_features` of a validated signal."""
    differences = np.diff(y) if y.size > 1 else np.zeros(1)
    series: list[FloatArray] = [np.abs(part) for part in (y, y - y.mean(), differences)]
    scale = float(np.sqrt(np.mean(y**2)))
    # Squares of smaller values underflow; treat the signal as zero.
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


@dataclass(frozen=True)
class FeatureCleaning:
    """Ranges and medians of the training features.

    Columns that do not vary, or that are not finite in more than half of the training rows, are
    dropped. In the others NaN becomes the median, and values, infinite ones included, are clipped to
    the range of the finite training values, so that penalties are not extrapolated.

    Attributes
    ----------
    used : ndarray of bool
        Columns that are kept.
    low, high, median : ndarray
        Statistics of the finite training values of each column; 0 if there are none.
    """

    used: BoolArray
    low: FloatArray
    high: FloatArray
    median: FloatArray

    @classmethod
    def from_training(cls, X: FloatArray) -> FeatureCleaning:
        """Learn ranges and medians."""
        finite = np.isfinite(X)
        known = np.ma.masked_array(X, ~finite)
        # NumPy has no type hints for this function.
        masked_median: Any = np.ma.median
        low, high, median = (
            np.asarray(np.ma.filled(part, 0.0), dtype=np.float64)
            for part in (known.min(axis=0), known.max(axis=0), masked_median(known, axis=0))
        )
        used = (finite.mean(axis=0) >= 0.5) & (high > low)
        return cls(used, low, high, median)

    def apply(self, X: FloatArray) -> FloatArray:
        """Return the used columns, all finite."""
        filled = np.where(np.isnan(X), self.median, X)
        clean: FloatArray = np.clip(filled, self.low, self.high)[:, self.used]
        return clean


def feature_table(X: ArrayLike, n_rows: int | None) -> FloatArray:
    """Check that there is one row of features per sequence."""
    features = np.asarray(X, dtype=np.float64)
    if features.ndim != 2 or (n_rows is not None and len(features) != n_rows):
        raise ValueError(
            f"X must have one row per sequence, got shape {features.shape}"
            + ("." if n_rows is None else f" for {n_rows} sequences.")
        )
    if n_rows == 0:
        raise ValueError("errors is empty: give the label errors of at least one sequence.")
    return features


def listed(numbers: IntArray) -> str:
    """List the first few numbers, and how many there are."""
    shown = ", ".join(map(str, numbers[:5]))
    return f"{shown}, ... ({numbers.size} in all)" if numbers.size > 5 else shown
