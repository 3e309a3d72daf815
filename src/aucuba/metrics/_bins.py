"""AUC of a ranking that is only read in bins (Rosenfeld et al., AISTATS 2014, Section 5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from aucuba._base._typing import FloatArray
from aucuba._roc._curve import RocCurve, of_unit_size
from aucuba._roc._points import n_ranked


def check_credit(credit: Any) -> float:
    """Check the credit of a pair inside one bin."""
    if isinstance(credit, bool) or not isinstance(credit, Real) or not 0 <= float(credit) <= 1:
        raise ValueError(
            f"in_bin_credit must be a number between 0 and 1, got {credit!r}: 0.5 counts pairs inside "
            "a bin like ties, 1.0 counts only pairs swapped between bins."
        )
    return float(credit)


def check_bin_sizes(bin_sizes: int | Sequence[float]) -> float | FloatArray:
    """Return one size for all bins, or the size of each."""
    if isinstance(bin_sizes, Integral) and not isinstance(bin_sizes, bool):
        if bin_sizes < 1:
            raise ValueError(f"bin_sizes must be at least 1, got {bin_sizes!r}.")
        return float(bin_sizes)
    sizes = np.asarray(bin_sizes, dtype=object)
    try:
        sizes = sizes.astype(np.float64)
    except (TypeError, ValueError):
        sizes = np.full(1, np.nan)
    if sizes.ndim != 1 or sizes.size == 0 or not np.all(np.isfinite(sizes)) or sizes.min() <= 0:
        raise ValueError(
            f"bin_sizes must be a whole number or a list of sizes above 0, got {bin_sizes!r}."
        )
    return sizes


@dataclass(frozen=True)
class Bins:
    """Ends of bins as numbers of top-ranked rows, and the size of the bins up to each end.

    The ROC curve is straight inside a block of equal scores, so equal bins within one block need no
    ends between them, and the cost does not grow with the weight of a row.
    """

    ends: FloatArray
    size: FloatArray

    @classmethod
    def from_sizes(cls, sizes: float | FloatArray, curve: RocCurve, *, resampled: bool) -> Bins:
        """Check the sizes against the number of rows, to which those of a resample are scaled."""
        total = n_ranked(curve)[-1]
        if isinstance(sizes, float):
            return cls.equal(sizes, curve, total)
        ends: FloatArray = np.cumsum(sizes)
        if resampled:
            return cls(ends * (total / ends[-1]), sizes * (total / ends[-1]))
        if not np.isclose(ends[-1], total, rtol=1e-9, atol=0.0):
            raise ValueError(
                f"bin_sizes sum to {ends[-1]:g} but there are {total:g} rows to place. Give sizes "
                "that sum to the number of rows, or one integer for bins of equal size."
            )
        return cls(ends, sizes)

    @classmethod
    def equal(cls, size: float, curve: RocCurve, stop: float) -> Bins:
        """Cut into bins of one size down to ``stop``, which is the last end."""
        crossed = n_ranked(curve) / size
        ends = size * np.unique(np.concatenate([np.floor(crossed), np.ceil(crossed)]))
        ends = np.append(ends[(ends > 0) & (ends < stop)], stop)
        return cls(ends, np.full(ends.size, size))

    @classmethod
    def top(cls, k: int, curve: RocCurve) -> Bins:
        """Cut into k bins of one row and one bin with the rest."""
        total = n_ranked(curve)[-1]
        first = cls.equal(1.0, curve, min(k, total))
        return cls(np.append(first.ends, total), np.append(first.size, max(total - k, 1.0)))


def binned_area(curve: RocCurve, bins: Bins, credit: float) -> float:
    """Return the area under the curve drawn through the bins, moved to another credit."""
    ends, ranked = np.append(0.0, bins.ends), n_ranked(curve)
    positives = np.interp(ends, ranked, of_unit_size(curve.true_positive))
    negatives = np.interp(ends, ranked, of_unit_size(curve.false_positive))
    area = np.diff(negatives) @ (positives[1:] + positives[:-1]) / 2
    value = float(area / (positives[-1] * negatives[-1]))
    if credit == 0.5:
        return value
    return value + (credit - 0.5) * _pairs_in_one_bin(curve, bins)


def _pairs_in_one_bin(curve: RocCurve, bins: Bins) -> float:
    r"""Return the fraction of pairs that are in one bin, on average over the orders of equal scores.

    Rows of two blocks fall into the bins independently. Of a block of ``n`` rows with ``s`` places in
    a bin, two given rows are both in the bin with probability :math:`s(s-1) / (n(n-1))`.
    """
    ranked = n_ranked(curve)
    total = ranked[-1]
    ends = np.append(0.0, np.minimum(bins.ends, total))
    ends[-1] = total
    points = np.unique(np.append(ends, ranked))
    middle = (points[1:] + points[:-1]) / 2
    block = np.searchsorted(ranked, middle) - 1
    group = np.searchsorted(ends, middle) - 1
    n_bins = np.maximum(np.rint(np.diff(ends) / bins.size), 1.0)
    rows = np.diff(ranked)[block]
    part = np.diff(points) / n_bins[group] / rows
    positives = np.diff(of_unit_size(curve.true_positive))[block]
    negatives = np.diff(of_unit_size(curve.false_positive))[block]
    in_bin = [
        np.bincount(group, part * one, minlength=n_bins.size) for one in (positives, negatives)
    ]
    # So far rows of one block were placed independently; correct for places that only one row takes.
    unit = 1.0 if curve.row_weight is None else curve.row_weight[block]
    other = np.divide(
        np.maximum(part * rows - unit, 0.0), rows - unit, out=part.copy(), where=rows > unit
    )
    tied = n_bins[group] * part * (other - part) * positives * negatives
    pairs = in_bin[0] @ (n_bins * in_bin[1]) + tied.sum()
    scale = of_unit_size(curve.true_positive)[-1] * of_unit_size(curve.false_positive)[-1]
    return float(pairs / scale)
