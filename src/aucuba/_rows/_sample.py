"""Rows with their class, weight, query, group, time and stratum, with or without scores."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from aucuba._base._arrays import NUMPY, Arrays, arrays_of, on_host
from aucuba._base._typing import AnyArray, ArrayLike, BoolArray, FloatArray, IntArray
from aucuba._base._validation import binary_target, finite_scores, query_index, row_weights
from aucuba._base._warnings import warn_user


@dataclass(frozen=True)
class Sample:
    """Class of every row and, if given, its weight, query, group, time and stratum.

    Parameters
    ----------
    positive : ndarray of bool
        Whether a row belongs to the positive class.
    weight : ndarray of float or None
        How often a row counts; None where every row counts once.
    query : ndarray of int or None
        Number of a row's query, 0, 1, ... without gaps. Only pairs within a query are compared;
        None where all rows are one query.
    group : ndarray of int or None
        Number of a row's group, 0, 1, ... without gaps. Rows of a group are not independent, so
        splits keep groups whole.
    time : ndarray of int or None
        Rank of a row's time.
    stratum : ndarray of int or None
        Number of a row's stratum. Strata are treated separately, and one may have no rows.
    label : label or None
        The positive class, which messages name unless it is 1 or True.
    """

    positive: BoolArray
    weight: FloatArray | None = None
    query: IntArray | None = None
    group: IntArray | None = None
    time: IntArray | None = None
    stratum: IntArray | None = None
    label: Any = None

    @property
    def n_rows(self) -> int:
        return len(self.positive)

    @cached_property
    def n_positives(self) -> int:
        """Number of rows of the positive class."""
        return arrays_of(self.positive).count(self.positive)

    @property
    def y(self) -> IntArray:
        """Labels: 1 for the positive class, else 0."""
        return self.positive.astype(np.intp)

    @property
    def weights(self) -> FloatArray:
        """Weight of every row, ones where none was given."""
        if self.weight is None:
            ones: FloatArray = arrays_of(self.positive).ones(self.n_rows)
            return ones
        return self.weight

    @property
    def has_pairs(self) -> bool:
        """Whether some positive row has a negative row to compare with."""
        if self.query is not None:
            return bool(self.rankable.any())
        return bool(self.positive.any() and not self.positive.all())

    def class_weight(self, *, positive: bool) -> float:
        """Total weight of the rows of a class."""
        if self.weight is None:
            return float(self.n_positives if positive else self.n_rows - self.n_positives)
        return float(self.weight[self.positive == positive].sum())

    @property
    def named(self) -> str:
        """Text that names the positive class after a count of rows; empty if it is 1 or True."""
        said = self.label is None or (not isinstance(self.label, str) and self.label == 1)
        return "" if said else f" (positive class: {self.label!r})"

    def _columns(self) -> dict[str, Any]:
        names = (one.name for one in fields(self) if one.name != "label")
        return {name: getattr(self, name) for name in names}

    def take(self, rows: AnyArray) -> Self:
        """Select rows and renumber their queries and groups."""
        taken: dict[str, Any] = {
            name: None if one is None else one[rows] for name, one in self._columns().items()
        }
        for name in ("query", "group"):
            if taken[name] is not None:
                taken[name] = np.unique(taken[name], return_inverse=True)[1]
        return replace(self, **taken)

    def as_one_query(self, rows: AnyArray) -> Self:
        """Select rows and treat them as a single query."""
        return replace(self, query=None).take(rows)

    def with_scores(self, score: AnyArray) -> RankingSample:
        """Return the rows with their scores."""
        columns = {one.name: getattr(self, one.name) for one in fields(Sample)}
        return RankingSample(**columns, score=score)

    def moved_to(self, arrays: Arrays) -> Sample:
        """Copy class and weight of the rows to the device of scores; other columns stay on the host."""
        if arrays is NUMPY:
            return self.on_host()
        weight = None if self.weight is None else arrays.vector(self.weight)
        positive = arrays.index(self.positive)
        moved = (positive, weight, self.query, self.group, self.time, self.stratum)
        return Sample(*moved, label=self.label)

    def on_host(self) -> Self:
        """Return the sample as NumPy arrays, wherever it lives."""
        arrays = arrays_of(self.positive)
        if arrays is NUMPY:
            return self
        moved: dict[str, Any] = {
            name: None if one is None else arrays.host(one) for name, one in self._columns().items()
        }
        return replace(self, **moved)

    @cached_property
    def class_in_query(self) -> IntArray:
        """Twice the number of a row's query, plus 1 for a row of the positive class."""
        assert self.query is not None
        number: IntArray = 2 * self.query + on_host(self.positive)
        return number

    @cached_property
    def query_sizes(self) -> tuple[IntArray, IntArray]:
        """Number of rows and number of positive rows of every query."""
        counts = np.bincount(self.class_in_query)
        if counts.size % 2:
            # The last query has no positive row.
            counts = np.append(counts, 0)
        n_positives = counts[1::2]
        return counts[::2] + n_positives, n_positives

    @cached_property
    def rankable(self) -> BoolArray:
        """Which queries have a positive and a negative row."""
        size, n_positives = self.query_sizes
        return (n_positives > 0) & (n_positives < size)


@dataclass(frozen=True)
class SortedRows:
    """Rows in decreasing order of score, with the last position of each block of equal score."""

    order: IntArray
    block_end: IntArray
    threshold: FloatArray

    @classmethod
    def from_scores(cls, score: FloatArray) -> SortedRows:
        order = np.argsort(score)[::-1]
        ranked = score[order]
        block_end = np.flatnonzero(ranked[1:] != ranked[:-1])
        block_end = np.append(block_end, ranked.size - 1)
        return cls(order, block_end, ranked[block_end])

    def blocks(self) -> IntArray:
        """Return the number of every row's block, from the top."""
        block = np.empty(self.order.size, dtype=np.intp)
        block[self.order] = np.repeat(
            np.arange(self.threshold.size), np.diff(self.block_end, prepend=-1)
        )
        return block


@dataclass(frozen=True)
class RankingSample(Sample):
    """A `Sample` with a score for every row."""

    score: FloatArray = field(kw_only=True)

    @cached_property
    def ranked(self) -> SortedRows:
        """The rows in decreasing order of score, sorted once."""
        return SortedRows.from_scores(self.score)

    @classmethod
    def from_arrays(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        sample_weight: ArrayLike | None = None,
        qid: ArrayLike | None = None,
        pos_label: Any = None,
        name: str = "y_true",
    ) -> RankingSample:
        """Validate the inputs of a metric, copied to the host, and drop rows of zero weight.

        ``name`` is the name of the caller's parameter for the labels.
        """
        y_true, y_score = on_host(y_true), on_host(y_score)
        sample_weight, qid = on_host(sample_weight), on_host(qid)
        score = finite_scores(y_score)
        positive = binary_target(y_true, pos_label, score.size, name)
        weight = row_weights(sample_weight, score.size)
        query = query_index(qid, score.size)
        sample = cls(positive, weight, query, score=score)
        if weight is None or weight.all():
            return sample
        sample = sample.take(weight > 0)
        if sample.positive.all() or not sample.positive.any():
            present = "positive" if sample.positive.all() else "negative"
            raise ValueError(
                f"After dropping rows of zero weight only the {present} class is left; "
                "a ROC curve needs both."
            )
        return sample


def warn_about_queries(sample: Sample) -> None:
    """Warn about queries that cannot be ranked; raise an error if none can."""
    if sample.query is None:
        return
    rankable = sample.rankable
    n_queries, skipped = rankable.size, int(np.count_nonzero(~rankable))
    if skipped == n_queries:
        raise ValueError(
            f"None of the {n_queries} queries in qid has both a positive and a negative row."
        )
    if skipped:
        warn_user(
            f"{skipped} of {n_queries} queries have only one class and do not count in training."
        )
