"""Label error functions: how false positives and false negatives depend on each prediction."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from aucuba._base._typing import ArrayLike, FloatArray, IntArray
from aucuba._base._validation import (
    binary_target,
    check_length,
    finite_scores,
    row_weights,
)
from aucuba._rows._sample import Sample

# Thresholds are differences of predictions and breakpoints, and AUM sums their products with errors.
_LARGEST = 1e100

# Sums of rates such as 1/3 + 1/3 - 2/3 miss zero by a few rounding errors of the total.
_ROUNDING = 1e-9


class ErrorFunctions:
    r"""Hold piecewise constant false positives and false negatives of every example.

    .. math::
        \mathrm{FP}_i(\hat y) = \sum_{b:\, I_b = i,\, v_b \le \hat y} \Delta\mathrm{FP}_b, \qquad
        \mathrm{FN}_i(\hat y) = -\sum_{b:\, I_b = i,\, v_b > \hat y} \Delta\mathrm{FN}_b

    There is one entry per breakpoint ``b``. By construction FP starts at zero for very small
    predictions and FN ends at zero for very large ones; neither may go negative in between. Binary
    labels have one breakpoint per example, at zero; label errors of changepoint models have several,
    and their steps may go up and down.

    Parameters
    ----------
    example : array-like of int, shape (n_breakpoints,)
        Which example, from 0, the breakpoint belongs to.
    value : array-like of float, shape (n_breakpoints,)
        The predicted value ``v_b`` at which the errors change.
    fp_diff, fn_diff : array-like of float, shape (n_breakpoints,)
        Changes of FP and FN as the prediction passes ``value`` upwards. Their totals must be
        positive and negative, so that rates and a ROC curve exist.
    n_examples : int, optional
        Number of examples; examples without breakpoints make no errors. By default one more than
        the largest index.

    Attributes
    ----------
    example, value, fp_diff, fn_diff : ndarray of shape (n_breakpoints,)
        Sorted by example and value; breakpoints of one example at one value are joined.
    n_examples : int

    Examples
    --------
    A negative example, and one of two true changes that a larger prediction finds, loses and finds
    again:

    >>> from aucuba.aum import ErrorFunctions
    >>> errors = ErrorFunctions([0, 1, 1, 1], [0.0, -2.0, 0.5, 1.0], [1, 0, 0, 0], [0, -1, 1, -1])
    >>> errors.is_monotone
    False
    >>> ErrorFunctions.from_labels([0, 1, 1]).fn_diff
    array([ 0. , -0.5, -0.5])
    """

    def __init__(
        self,
        example: ArrayLike,
        value: ArrayLike,
        fp_diff: ArrayLike,
        fn_diff: ArrayLike,
        n_examples: int | None = None,
    ) -> None:
        columns = {
            name: finite_scores(column, name)
            for name, column in (("value", value), ("fp_diff", fp_diff), ("fn_diff", fn_diff))
        }
        index = _example_index(example, n_examples)
        for name, column in columns.items():
            check_length(column, index.size, name, "breakpoints")
        self.n_examples = int(index.max()) + 1 if n_examples is None else int(n_examples)
        self.example, self.value, self.fp_diff, self.fn_diff = _join_equal(index, **columns)
        self._check_totals()
        self._check_never_negative()

    @classmethod
    def from_labels(
        cls, y: ArrayLike, *, rate: bool = True, sample_weight: ArrayLike | None = None
    ) -> ErrorFunctions:
        """Build them from binary labels: negatives err above 0, positives below.

        Parameters
        ----------
        y : array-like of shape (n_examples,)
            Two labels; the larger in sorted order is positive.
        rate : bool, default=True
            Divide by the size of each class, so that FP and FN are rates in [0, 1].
        sample_weight : array-like of shape (n_examples,), optional
            An integer weight is a number of copies. Examples of weight zero get no breakpoint.
        """
        positive = binary_target(y, name="y")
        weight = row_weights(sample_weight, positive.size)
        return cls.from_sample(Sample(positive, weight), rate=rate)

    @classmethod
    def from_sample(cls, sample: Sample, *, rate: bool = True) -> ErrorFunctions:
        """Build them from labels that are already validated; see `from_labels`."""
        positive, weight = sample.positive, sample.weights
        totals = [sample.class_weight(positive=label) for label in (False, True)]
        if min(totals) == 0:
            missing = "negative" if totals[0] == 0 else "positive"
            raise ValueError(
                f"All {missing} examples have weight zero; a ROC curve needs both classes."
            )
        scale = totals if rate else (1.0, 1.0)
        kept = np.flatnonzero(weight)
        errors = cls.__new__(cls)
        errors.n_examples = sample.n_rows
        errors.example, errors.value = kept, np.zeros(kept.size)
        errors.fp_diff = np.where(positive, 0.0, weight / scale[0])[kept]
        errors.fn_diff = np.where(positive, -weight / scale[1], 0.0)[kept]
        return errors

    @property
    def n_breakpoints(self) -> int:
        return int(self.value.size)

    @property
    def total_fp(self) -> float:
        """FP of predictions that are all very large."""
        return float(self.fp_diff.sum())

    @property
    def total_fn(self) -> float:
        """FN of predictions that are all very small."""
        return float(0.0 - self.fn_diff.sum())

    @cached_property
    def is_monotone(self) -> bool:
        """Whether no FP step goes down and no FN step up; AUM is then convex in the predictions."""
        return bool(self.fp_diff.min() >= 0 and self.fn_diff.max() <= 0)

    def thresholds(self, predictions: FloatArray) -> FloatArray:
        """Compute the constants at which errors change, ``T_b = v_b - prediction``."""
        threshold: FloatArray = self.value - predictions[self.example]
        return threshold

    def check_predictions(self, predictions: ArrayLike, name: str = "predictions") -> FloatArray:
        """Check that there is one finite number per example, none too large to compute with."""
        values = finite_scores(predictions, name)
        check_length(values, self.n_examples, name, "examples")
        largest = float(np.abs(values).max())
        if largest > _LARGEST:
            raise ValueError(
                f"{name} has values up to {largest:.3g}, too large to compute with: sizes must be at "
                f"most {_LARGEST:g}. Divide all by one factor; the ranking does not depend on it."
            )
        return values

    def _check_totals(self) -> None:
        for total, what, need in (
            (self.total_fp, "fp_diff", "a negative example or another source of false positives"),
            (self.total_fn, "-fn_diff", "a positive example or another source of false negatives"),
        ):
            if total <= 0:
                raise ValueError(
                    f"The sum of {what} is {total:g}: with only one class of error there is no ROC "
                    f"curve; add {need}."
                )

    def _check_never_negative(self) -> None:
        if self.is_monotone:
            return
        start = np.flatnonzero(np.r_[True, self.example[1:] != self.example[:-1]])
        size = np.diff(np.r_[start, self.n_breakpoints])
        fp = np.cumsum(self.fp_diff)
        fp -= np.repeat(fp[start] - self.fp_diff[start], size)
        fn = np.cumsum(self.fn_diff[::-1])[::-1]
        end = start + size - 1
        fn = -(fn - np.repeat(fn[end] - self.fn_diff[end], size))
        for name, error, side, total in (
            ("FP", fp, "above", self.total_fp),
            ("FN", fn, "below", self.total_fn),
        ):
            worst = int(np.argmin(error))
            if error[worst] < -_ROUNDING * max(1.0, total):
                raise ValueError(
                    f"{name} of example {self.example[worst]} goes negative ({error[worst]:g}) "
                    f"{side} {self.value[worst]:g}. FP must start at 0 for small predictions, FN "
                    "must end at 0 for large ones, and neither may fall below 0; check the signs "
                    "of the diffs."
                )


def _example_index(example: ArrayLike, n_examples: int | None) -> IntArray:
    index: Any = np.asarray(example)
    if index.ndim != 1 or index.size == 0:
        raise ValueError(
            f"example must be a non-empty list of integers, got an array of shape {index.shape}."
        )
    if index.dtype.kind not in "iu":
        raise ValueError(f"example must hold integers from 0, got dtype {index.dtype}.")
    low, high = int(index.min()), int(index.max())
    limit = high + 1 if n_examples is None else n_examples
    if low < 0 or high >= limit:
        raise ValueError(
            f"example must lie in [0, {limit}), got {low if low < 0 else high}; examples count "
            "from 0."
        )
    checked: IntArray = index.astype(np.intp)
    return checked


def _join_equal(
    example: IntArray, value: FloatArray, fp_diff: FloatArray, fn_diff: FloatArray
) -> tuple[IntArray, FloatArray, FloatArray, FloatArray]:
    """Sort by example and value, and add up the diffs of breakpoints that agree in both."""
    if np.all(example[1:] > example[:-1]):
        return example, value, fp_diff, fn_diff
    order = np.lexsort((value, example))
    example, value = example[order], value[order]
    first = np.flatnonzero(np.r_[True, (example[1:] != example[:-1]) | (value[1:] != value[:-1])])
    return (
        example[first],
        value[first],
        np.add.reduceat(fp_diff[order], first),
        np.add.reduceat(fn_diff[order], first),
    )
