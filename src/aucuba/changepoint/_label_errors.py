"""Label errors as functions of the penalty: for AUM, for interval regression, for scoring."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from aucuba._base._typing import ArrayLike, FloatArray, IntArray
from aucuba.changepoint._labels import label_table
from aucuba.changepoint._segmentation import Segmentation, model_selection

if TYPE_CHECKING:
    from aucuba.aum import ErrorFunctions


@dataclass(frozen=True)
class LabelErrors:
    """Label errors of one sequence, a step function of the log penalty.

    Row i is valid for log penalties in ``(min_log_penalty[i], max_log_penalty[i])``; the intervals
    cover the real line.

    Attributes
    ----------
    min_log_penalty, max_log_penalty : ndarray of shape (n_models,)
    fp, fn : ndarray of shape (n_models,)
        Total weight of the labels with too many and with too few changes.
    possible_fp, possible_fn : float
        The largest values that the labels allow.
    n_labels : float
        Total weight of all labels.
    model : ndarray of int or None
        Indices of the models in the segmentation, if there is one.
    """

    min_log_penalty: FloatArray
    max_log_penalty: FloatArray
    fp: FloatArray
    fn: FloatArray
    possible_fp: float
    possible_fn: float
    n_labels: float
    model: IntArray | None = None

    @property
    def errors(self) -> FloatArray:
        """False positives plus false negatives."""
        return self.fp + self.fn

    def at(self, log_penalty: float) -> tuple[float, float]:
        """Return the false positives and false negatives at one log penalty."""
        row = int(np.searchsorted(self.max_log_penalty[:-1], log_penalty, side="right"))
        return float(self.fp[row]), float(self.fn[row])

    @classmethod
    def from_table(
        cls,
        min_log_penalty: ArrayLike,
        max_log_penalty: ArrayLike,
        fp: ArrayLike,
        fn: ArrayLike,
        *,
        possible_fp: float,
        possible_fn: float,
        n_labels: float,
        name: str = "The sequence",
    ) -> LabelErrors:
        """Read a published table, rows in any order; the intervals must cover the real line."""
        columns = [
            np.atleast_1d(np.asarray(column, dtype=np.float64))
            for column in (min_log_penalty, max_log_penalty, fp, fn)
        ]
        if any(column.shape != columns[0].shape for column in columns) or not columns[0].size:
            raise ValueError(f"{name}: the columns of an error table need one entry per model.")
        order = np.argsort(columns[0], kind="stable")
        low, high, false_positive, false_negative = (column[order] for column in columns)
        _check_tiling(low, high, name)
        for column, most, kind in (
            (false_positive, possible_fp, "fp"),
            (false_negative, possible_fn, "fn"),
        ):
            if not np.all((column >= 0) & (column <= most)):
                raise ValueError(f"{name}: {kind} must lie between 0 and possible_{kind}={most:g}.")
        return cls(low, high, false_positive, false_negative, possible_fp, possible_fn, n_labels)


def _check_tiling(low: FloatArray, high: FloatArray, name: str) -> None:
    repeated = low[1:] == low[:-1]
    if repeated.any():
        raise ValueError(
            f"{name}: two models begin at the log penalty {low[1:][repeated][0]:g}; keep one row "
            "per interval of penalties."
        )
    if np.any(np.isnan(low) | np.isnan(high)) or np.any(low >= high):
        raise ValueError(f"{name}: every interval of log penalties must have min below max.")
    if low[0] != -np.inf or high[-1] != np.inf or not np.allclose(low[1:], high[:-1], atol=1e-9):
        raise ValueError(
            f"{name}: the intervals of log penalties must follow each other from -inf to inf."
        )


def label_errors(
    segmentation: Segmentation, labels: Any, *, name: str = "The sequence"
) -> LabelErrors:
    """Count the label errors of the models that each penalty selects.

    A label is a false positive if its region has more predicted changes than allowed, and a false
    negative if it has fewer.

    Parameters
    ----------
    segmentation : Segmentation
    labels : list of Label, or DataFrame with columns start, end, kind
    name : str, default="The sequence"
        Name of the sequence in error messages.

    Returns
    -------
    LabelErrors

    Examples
    --------
    >>> from aucuba.changepoint import Label, label_errors, segment
    >>> found = segment([1, 1, 1, 5, 5, 2, 2, 2], 3)
    >>> errors = label_errors(found, [Label(0, 2, "none"), Label(2, 4, "one")])
    >>> errors.fn
    array([0., 1.])
    """
    table = label_table(labels, segmentation.positions, name=name)
    selected = model_selection(segmentation.losses, segmentation.sizes)
    counts = [
        [part.sum() for part in table.errors(segmentation.change_positions(model))]
        for model in selected.index
    ]
    false_positive, false_negative = np.array(counts, dtype=np.float64).T
    return LabelErrors(
        selected.min_log_penalty,
        selected.max_log_penalty,
        false_positive,
        false_negative,
        table.possible_fp,
        table.possible_fn,
        float(table.weight.sum()),
        selected.index,
    )


def error_functions(errors: Sequence[LabelErrors], *, rate: bool = True) -> ErrorFunctions:
    r"""Compute the breakpoints of the label errors as functions of :math:`f = -\log\lambda`.

    Towards smaller penalties, that is larger f, the errors jump by :math:`(\Delta FP, \Delta FN)`
    where the selected model changes. A sequence whose errors never jump keeps its number and has no
    breakpoint.

    AUM is finite only if FP starts at zero (f = -inf) and FN ends at zero (f = inf). The model without
    changes has no false positives. False negatives that no penalty removes are constant and do not
    count here; if a sequence has fewer at some penalty than at the smallest penalties, the lowest
    number is used there. `LabelErrors` keeps the true counts.

    Parameters
    ----------
    errors : list of LabelErrors
        One per sequence.
    rate : bool, default=True
        Divide by the errors of all these sequences at the smallest penalty (FP) and at the largest
        (FN), so that both rates reach 1.

    Returns
    -------
    aucuba.aum.ErrorFunctions
    """
    from aucuba.aum import ErrorFunctions

    if not len(errors):
        raise ValueError("errors is empty: give the label errors of at least one sequence.")
    example, value, fp_diff, fn_diff = [], [], [], []
    for i, table in enumerate(errors):
        false_negative = table.fn.copy()
        false_negative[0] = false_negative.min()
        # Rows by increasing f: from the largest penalty down.
        jump_fp, jump_fn = -np.diff(table.fp)[::-1], -np.diff(false_negative)[::-1]
        at = -table.max_log_penalty[:-1][::-1]
        moves = (jump_fp != 0) | (jump_fn != 0)
        example.append(np.full(int(moves.sum()), i))
        value.append(at[moves])
        # Adding zero turns -0.0 into 0.0.
        fp_diff.append(jump_fp[moves] + 0.0)
        fn_diff.append(jump_fn[moves] + 0.0)
    steps = {
        "example": np.concatenate(example),
        "value": np.concatenate(value),
        "fp_diff": np.concatenate(fp_diff),
        "fn_diff": np.concatenate(fn_diff),
    }
    for column, kind in (("fp_diff", "positive"), ("fn_diff", "negative")):
        total = float(abs(steps[column].sum()))
        if total == 0:
            raise ValueError(
                f"No penalty makes a false {kind} in these {len(errors)} sequences, so there is no ROC "
                "curve. Add labels that can have too many changes and labels that can have too few."
            )
        if rate:
            steps[column] /= total
    return ErrorFunctions(**steps, n_examples=len(errors))


def target_intervals(errors: Sequence[LabelErrors]) -> FloatArray:
    """Find the widest interval of log penalties with the fewest label errors, for each sequence.

    Returns
    -------
    ndarray of shape (n_sequences, 2)
        Lower and upper limits, possibly infinite. Of equally wide intervals, the one with the smaller
        penalties.

    Examples
    --------
    >>> from aucuba.changepoint import Label, label_errors, segment, target_intervals
    >>> found = segment([1, 1, 1, 5, 5, 2, 2, 2], 3)
    >>> target_intervals([label_errors(found, [Label(1, 4, "one")])]).round(2)
    array([[-inf,  2.3]])
    """
    limits = [widest_minimum(table.max_log_penalty[:-1], table.errors)[:2] for table in errors]
    return np.array(limits).reshape(-1, 2)


@dataclass(frozen=True)
class ErrorTotals:
    """The error tables of several sequences, concatenated.

    Row r belongs to sequence ``owner[r]`` and is valid up to the log penalty ``end[r]``; the rows of a
    sequence begin at ``first``. All methods are functions of a common shift of the penalties.
    """

    owner: IntArray
    end: FloatArray
    fp: FloatArray
    fn: FloatArray
    first: IntArray

    @classmethod
    def from_tables(cls, errors: Sequence[LabelErrors]) -> ErrorTotals:
        """Join the tables of several sequences."""
        size = np.array([table.fp.size for table in errors], dtype=np.intp)
        return cls(
            np.repeat(np.arange(size.size), size),
            np.concatenate([table.max_log_penalty for table in errors]),
            np.concatenate([table.fp for table in errors]),
            np.concatenate([table.fn for table in errors]),
            np.concatenate([[0], np.cumsum(size)[:-1]]).astype(np.intp),
        )

    @classmethod
    def from_intervals(cls, limits: FloatArray) -> ErrorTotals:
        """Count one error below each lower limit and one above each upper limit."""
        n = len(limits)
        end = np.column_stack([limits, np.full(n, np.inf)])
        # An infinite limit has no row: the row between the limits then begins or ends the table.
        exists = np.column_stack([np.isfinite(limits), np.ones(n, dtype=bool)])
        fp, fn = np.zeros((n, 3)), np.zeros((n, 3))
        fp[:, 0] = 1.0
        fn[:, 2] = exists[:, 1]
        size = exists.sum(axis=1)
        first = np.concatenate([[0], np.cumsum(size)[:-1]]).astype(np.intp)
        return cls(np.repeat(np.arange(n), size), end[exists], fp[exists], fn[exists], first)

    @property
    def n_sequences(self) -> int:
        return int(self.first.size)

    def weighted(self, weight: FloatArray) -> ErrorTotals:
        """Multiply the errors of each sequence by its weight."""
        factor = weight[self.owner]
        return ErrorTotals(self.owner, self.end, factor * self.fp, factor * self.fn, self.first)

    def take(self, rows: IntArray) -> ErrorTotals:
        """Return the tables of some sequences."""
        size = np.diff(np.append(self.first, self.owner.size))[rows]
        first = np.concatenate([[0], np.cumsum(size)[:-1]]).astype(np.intp)
        index = np.arange(size.sum()) + np.repeat(self.first[rows] - first, size)
        owner = np.repeat(np.arange(len(rows)), size)
        return ErrorTotals(owner, self.end[index], self.fp[index], self.fn[index], first)

    def at(self, log_penalty: FloatArray) -> FloatArray:
        """Return the label errors of each sequence at its log penalty."""
        passed = self.end <= log_penalty[self.owner]
        row = self.first + np.bincount(self.owner[passed], minlength=self.n_sequences)
        errors: FloatArray = self.fp[row] + self.fn[row]
        return errors

    def along(self, f: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the totals as functions of a constant added to ``f = -log(penalty)``.

        These are the increasing shifts at which totals change, and the false positives and false
        negatives before, between and after them (one entry more).
        """
        inside = np.flatnonzero(self.owner[1:] == self.owner[:-1])
        at = -self.end[inside] - f[self.owner[inside]]
        jumps = [-(part[inside + 1] - part[inside]) for part in (self.fp, self.fn)]
        moves = np.flatnonzero((jumps[0] != 0) | (jumps[1] != 0))
        order = moves[np.argsort(at[moves], kind="stable")]
        shift, start = np.unique(at[order], return_index=True)
        last = np.append(self.first[1:], self.owner.size) - 1
        totals = []
        for part, jump in zip((self.fp, self.fn), jumps, strict=True):
            steps = np.add.reduceat(jump[order], start) if shift.size else np.empty(0)
            totals.append(part[last].sum() + np.concatenate([[0.0], np.cumsum(steps)]))
        return shift, totals[0], totals[1]

    def best_shift(self, f: FloatArray) -> float:
        """Return the shift with the fewest errors; see `best_shift`."""
        shift, fp, fn = self.along(f)
        low, high, _ = widest_minimum(shift, fp + fn)
        if np.isfinite(low) and np.isfinite(high):
            return (low + high) / 2
        if np.isfinite(low):
            return low + 1.0
        return high - 1.0 if np.isfinite(high) else 0.0


def best_shift(errors: Sequence[LabelErrors], f: FloatArray) -> float:
    """Find the constant that, added to ``f = -log(penalty)``, makes the fewest label errors.

    It is the middle of the widest interval of such constants; if that is unbounded on one side, the
    point one unit inside its finite end.

    Parameters
    ----------
    errors : list of LabelErrors
    f : ndarray of shape (n_sequences,)
        Minus the log penalties; zeros for the best constant penalty.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> from aucuba.changepoint import Label, best_shift, label_errors, segment
    >>> step = label_errors(segment([0, 0, 0, 9, 9, 9], 4), [Label(1, 4, "one")])
    >>> bool(step.at(-best_shift([step], np.zeros(1))) == (0.0, 0.0))
    True
    """
    return ErrorTotals.from_tables(errors).best_shift(np.asarray(f, dtype=np.float64))


def widest_minimum(shift: FloatArray, total: FloatArray) -> tuple[float, float, int]:
    """Return the widest interval of fewest errors, and the entry of ``total`` where it begins."""
    edges = np.concatenate([[-np.inf], shift, [np.inf]])
    # Sums of weighted labels have rounding errors.
    best = total <= total.min() + 1e-9 * max(1.0, float(total.max()))
    change = np.diff(np.concatenate([[False], best, [False]]).astype(np.int8))
    first, end = np.flatnonzero(change == 1), np.flatnonzero(change == -1)
    widest = int(np.argmax(edges[end] - edges[first]))
    return float(edges[first[widest]]), float(edges[end[widest]]), int(first[widest])
