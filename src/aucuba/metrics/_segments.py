"""Rows split into segments, and the level at which intervals hold in all of them jointly."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from aucuba._base._arrays import on_host
from aucuba._base._typing import ArrayLike, BoolArray, IntArray
from aucuba._base._validation import identifiers
from aucuba._base._warnings import FewRowsWarning, warn_user
from aucuba.metrics._study import Study

# More names than this would hide the message.
_NAMES_SHOWN = 5
# Fewer rows than this in the mean segment are those of an identifier or of a number.
_FEWEST_PER_SEGMENT = 5


@dataclass(frozen=True)
class Segments:
    """The rows of a study, split by a column.

    Parameters
    ----------
    study : Study
        All rows.
    names : list
        The values of the column, in sorted order.
    index : ndarray of int
        Number of each row's segment, 0, 1, ... without gaps.
    """

    study: Study
    names: list[Any]
    index: IntArray

    @classmethod
    def split(cls, study: Study, by: ArrayLike, sample_weight: ArrayLike | None) -> Segments:
        """Split a study, whose rows of zero weight are gone."""
        if study.sampling == "queries":
            raise ValueError(
                "by= does not take qid: a query may lie in several segments. Give the queries as "
                "groups, or measure the rows of every segment by themselves."
            )
        kept: Any = slice(None)
        n_rows = study.samples[0].n_rows
        if sample_weight is not None:
            kept = np.asarray(on_host(sample_weight)) > 0
            n_rows = kept.size
        column = identifiers(on_host(by), "by", n_rows)[kept]
        names, index = np.unique(column, return_inverse=True)
        # A frequency weight counts rows.
        size = round(study.samples[0].weights.sum()) if study.frequency else column.size
        if _FEWEST_PER_SEGMENT * names.size > size and names.size > _NAMES_SHOWN:
            raise ValueError(
                f"by has {names.size} different values in {size} rows, too many for segments. "
                "Give a column of few values, such as a region, a month or a tenth of a number."
            )
        return cls(study, names.tolist(), index.astype(np.intp))

    def rows_of(self, number: int) -> BoolArray:
        """Tell which rows lie in a segment."""
        return np.asarray(self.index == number)

    @cached_property
    def parts(self) -> list[Study]:
        """The study of every segment."""
        return [self._part(self.rows_of(number)) for number in range(len(self.names))]

    def _part(self, rows: BoolArray) -> Study:
        group = self.study.group
        if group is not None:
            group = np.unique(group[rows], return_inverse=True)[1]
        samples = [one.take(rows) for one in self.study.samples]
        return replace(self.study, samples=samples, group=group)

    @property
    def are_independent(self) -> bool:
        """Whether no group has rows in two segments."""
        group = self.study.group
        if group is None:
            return True
        pairs = np.unique(np.stack([group, self.index]), axis=1)
        return int(pairs.shape[1]) == int(group.max()) + 1

    def level(self, confidence: float) -> float:
        """Return the level of one interval at which those of all segments hold jointly.

        The product rule is exact for independent segments; where groups cross them, Bonferroni's
        bound holds whatever their dependence.
        """
        n_segments = len(self.names)
        if self.are_independent:
            return float(confidence ** (1.0 / n_segments))
        return 1.0 - (1.0 - confidence) / n_segments

    def described(self, number: int) -> dict[str, Any]:
        """Return the name of a segment and its numbers of rows and positives."""
        part = self.parts[number]
        one = part.samples[0]
        # A frequency weight counts rows.
        size = one.weights if part.frequency else np.ones(one.n_rows)
        return {
            "name": self.names[number],
            "n_rows": round(size.sum()),
            "n_positives": round(size[one.positive].sum()),
        }

    def warn_if_few(self) -> None:
        """Warn once of all segments whose rows are too few for an interval to keep its level."""
        few = [
            str(name)
            for name, part in zip(self.names, self.parts, strict=True)
            if not is_measurable(part) or part.too_few()
        ]
        if few:
            more = f" and {len(few) - _NAMES_SHOWN} more" if len(few) > _NAMES_SHOWN else ""
            warn_user(
                f"The segments {', '.join(few[:_NAMES_SHOWN])}{more} have too few rows of a class for "
                "intervals and p-values to keep their level; their intervals are wide and rough.",
                FewRowsWarning,
            )


def is_measurable(part: Study) -> bool:
    """Tell whether a segment has an interval: rows of both classes, or a rate, and two groups."""
    one = part.samples[0]
    has_both = bool(one.positive.any() and not one.positive.all())
    if part.group is None:
        return has_both or _is_of_one_class(part)
    return has_both and int(part.group.max()) > 0


def value_of(part: Study, scorer: int = 0) -> float:
    """Compute the value of a segment, nan where it lacks the rows that the measure needs."""
    one, measure = part.samples[scorer], part.measure
    lacks_positives, lacks_negatives = not one.positive.any(), bool(one.positive.all())
    lacking = {"both": lacks_positives or lacks_negatives, "positive": lacks_positives}
    if lacking.get(measure.needs, False) and not _is_of_one_class(part):
        return np.nan
    return measure.value(one)


def _is_of_one_class(part: Study) -> bool:
    """Tell whether the rows of one class may be enough: a rate among the rows themselves."""
    return part.measure.is_rate and part.measure.prevalence is None
