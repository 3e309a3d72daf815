"""Rows that wait for their labels, by the day or week in which they were scored.

Labels that come early are not a random part of all labels: an alarm is checked at once, a miss is
found weeks later. So the rows of a cohort count together, when all labels that will be waited for are
in, in the order of the cohorts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from aucuba._base._typing import AnyArray, BoolArray, FloatArray, IntArray
from aucuba._base._validation import identifiers
from aucuba._base._warnings import warn_user
from aucuba.threshold._calendar import shown_day
from aucuba.threshold._promise import Promise

NEGATIVE, POSITIVE, WAITING = range(3)
DAYS = {"day": 1, "week": 7}
# Weeks begin on Mondays, and 1 January 1970 was a Thursday.
_MONDAY = {"day": 0, "week": 3}
_ALONE = ""


@dataclass(frozen=True)
class Arrivals:
    """Rows, or labels of rows, that come on one day.

    Parameters
    ----------
    flagged : ndarray of bool
    label : ndarray of int
        NEGATIVE, POSITIVE or WAITING.
    event, made : ndarray of float
        The days on which rows were scored and labels were made.
    group : ndarray of str
        Names of groups; of one entry, empty text, where rows count by themselves.
    """

    flagged: BoolArray
    label: IntArray
    event: FloatArray
    made: FloatArray
    group: AnyArray

    @property
    def has_label(self) -> BoolArray:
        return np.asarray(self.label != WAITING)

    def take(self, rows: BoolArray) -> Arrivals:
        return Arrivals(
            self.flagged[rows],
            self.label[rows],
            self.event[rows],
            self.made[rows],
            self.group if self.group.size == 1 else self.group[rows],
        )


@dataclass
class Cohorts:
    """Numbers of rows per waiting cohort, flag and label.

    Parameters
    ----------
    cohort : {"day", "week"}
    horizon : float
        Days after the end of a cohort at which it is mature.
    cells : dict of dict
        For every waiting cohort and group an array of flag by label: negative, positive, waiting. The
        group is empty text for rows that count by themselves.
    folded : int or None
        The last cohort that was taken out; labels for it or an earlier one come too late.
    closed : int or None
        The last cohort that a look took for complete; no row may join it or an earlier one, since it
        could have been chosen by its label.
    """

    cohort: str
    horizon: float
    cells: dict[int, dict[str, IntArray]] = field(default_factory=dict)
    folded: int | None = None
    closed: int | None = None

    def start(self, number: Any) -> Any:
        """Return the first day of a cohort."""
        return number * DAYS[self.cohort] - _MONDAY[self.cohort]

    @property
    def n_waiting(self) -> int:
        return int(
            sum(one[:, WAITING].sum() for group in self.cells.values() for one in group.values())
        )

    def register(self, rows: Arrivals) -> int:
        """Add rows; return how many of their labels were made too late to count."""
        number = self._numbers(rows.event)
        if self.closed is not None and (number <= self.closed).any():
            n_rows, day = int(np.sum(number <= self.closed)), self.start(self.closed + 1)
            raise ValueError(
                f"event_time has {n_rows} rows from before day {day} ({shown_day(day)}), "
                f"but an earlier update looked at those {self.cohort}s as complete. Register rows when "
                "they are scored, and rows of past days together in one update; their labels may come "
                "later by update_labels. Rows that come with their labels could be chosen by them."
            )
        late = self._is_late(rows, number)
        known = replace(rows, label=np.where(late, WAITING, rows.label))
        arrived = list(_counted(number, known))
        self._refuse_spread(arrived)
        for key, name, counts in arrived:
            groups = self.cells.setdefault(key, {})
            groups[name] = groups[name] + counts if name in groups else counts
        return int(late.sum())

    def _refuse_spread(self, arrived: list[tuple[int, str, IntArray]]) -> None:
        """Raise if a group lies in several cohorts that wait, in each of which it would count."""
        place: dict[str, int] = {}
        for number, name, _ in arrived:
            if name == _ALONE:
                continue
            others = [
                key
                for key, groups in self.cells.items()
                # A cohort that matures before the other begins may wait for its update only.
                if key != number
                and name in groups
                and abs(self.start(number) - self.start(key)) <= self.horizon + DAYS[self.cohort]
            ]
            if others or place.setdefault(name, number) != number:
                first = min([*others, place.get(name, number), number])
                raise ValueError(
                    f"The group {name!r} has rows of the {self.cohort}s that begin on days "
                    f"{self.start(first)} and {self.start(number)}; a group counts once, so it must "
                    f"lie within one {self.cohort}: name it anew in each, or count by longer cohorts."
                )

    def add_labels(self, labels: Arrivals) -> int:
        """Move rows from waiting to labelled; return how many labels were too late."""
        number = self._numbers(labels.event)
        made_late = self._is_late(labels, number)
        late = made_late | self._is_folded(number)
        moved = list(_counted(number[~late], labels.take(~late)))
        nothing = np.zeros((2, 3), dtype=np.int64)
        for key, name, counts in moved:
            waiting = self.cells.get(key, {}).get(name, nothing)[:, WAITING]
            for flag in np.flatnonzero(counts.sum(axis=1) > waiting).tolist():
                raise ValueError(
                    f"{counts[flag].sum()} labels of {'flagged' if flag else 'unflagged'} rows"
                    f"{f' of the group {name!r}' if name else ''} come for the {self.cohort} that "
                    f"begins on day {self.start(key)} ({shown_day(self.start(key))}), in which "
                    f"{waiting[flag]} such rows wait for one; register rows with update first."
                )
        n_missed = int(np.sum(late & ~made_late))
        if n_missed:
            warn_user(
                f"{n_missed} labels were made in time, but an earlier call has counted their "
                f"{self.cohort}s without them. Give labels before that: update_labels before update."
            )
        for key, name, counts in moved:
            counts[:, WAITING] = -counts.sum(axis=1)
            self.cells[key][name] = self.cells[key][name] + counts
        return int(late.sum())

    def fold(self, as_of: float) -> Iterator[tuple[int, dict[str, IntArray]]]:
        """Take out the cohorts that are mature, in order."""
        # A cohort without rows is over too.
        last = int(self._numbers(np.array(as_of - self.horizon))) - 1
        self.folded = last if self.folded is None else max(self.folded, last)
        for number in sorted(one for one in self.cells if one <= last):
            yield number, self.cells.pop(number)

    def close(self, as_of: float) -> list[int]:
        """Return the cohorts that are over and wait, in order, and close all up to the last of them."""
        over = sorted(one for one in self.cells if self.start(one + 1) <= as_of)
        ends = (self.folded, self.closed, *over[-1:])
        self.closed = max((one for one in ends if one is not None), default=None)
        return over

    def to_json(self) -> dict[str, Any]:
        """Return the waiting rows in JSON's types."""
        cells = {
            str(number): {name: one.tolist() for name, one in groups.items()}
            for number, groups in self.cells.items()
        }
        return {"cells": cells, "folded": self.folded, "closed": self.closed}

    def restore(self, state: dict[str, Any]) -> None:
        """Restore waiting rows, after checking that their counts are possible."""
        for name in ("folded", "closed"):
            setattr(self, name, None if state[name] is None else int(state[name]))
        for number, groups in state["cells"].items():
            self.cells[int(number)] = {name: np.array(one) for name, one in groups.items()}
            for one in self.cells[int(number)].values():
                if one.shape != (2, 3) or one.dtype.kind != "i" or one.min() < 0:
                    raise ValueError(f"impossible counts {one.tolist()} in a waiting cohort")

    def _numbers(self, day: FloatArray) -> IntArray:
        whole = np.floor(day).astype(np.int64)
        return np.asarray((whole + _MONDAY[self.cohort]) // DAYS[self.cohort])

    def _is_folded(self, number: IntArray) -> BoolArray:
        return np.asarray(number <= (self.folded if self.folded is not None else number - 1))

    def _is_late(self, rows: Arrivals, number: IntArray) -> BoolArray:
        """Tell which labels were made after their cohort had matured."""
        return np.asarray(rows.has_label & (rows.made >= self.start(number + 1) + self.horizon))


def _counted(number: IntArray, rows: Arrivals) -> Iterator[tuple[int, str, IntArray]]:
    """Count rows by flag and label within every cohort and group."""
    if not number.size:
        return
    first, (names, place) = int(number.min()), np.unique(rows.group, return_inverse=True)
    unit = (number - first) * names.size + place
    used = np.arange(int(unit.max()) + 1)
    if names.size > 1:
        used, unit = np.unique(unit, return_inverse=True)
    cell = unit * 6 + rows.flagged * 3 + rows.label
    counts = np.bincount(cell, minlength=used.size * 6).astype(np.int64).reshape(-1, 2, 3)
    for one, cells in zip(used.tolist(), counts, strict=True):
        if cells.any():
            yield first + one // names.size, str(names[one % names.size]), cells


def group_names(groups: Any, n_rows: int) -> AnyArray:
    """Return the groups as text; empty text where there are none."""
    if groups is None:
        return np.array([_ALONE])
    names = identifiers(groups, "groups", n_rows).astype(str)
    if np.any(names == _ALONE):
        raise ValueError("groups has empty text as a name; name every group.")
    return names


@dataclass(frozen=True)
class Reading:
    """How cells count: whether a row counts, and counts against, for each flag and label."""

    counts: IntArray
    against: IntArray

    @classmethod
    def of(cls, promise: Promise, waiting: str) -> Reading:
        """Return how the rows of a promise count.

        ``waiting`` says what a row without a label is: "negative", "drop" (not counted), or the label
        that is "worst" for the rate, or "best".
        """
        label, flag = np.meshgrid([False, True], [False, True])
        counts = np.column_stack([promise.counts(label, flag).astype(np.int64), [0, 0]])
        against = counts * np.column_stack([promise.against(label, flag).astype(np.int64), [0, 0]])
        for flagged in (0, 1):
            could = [(counts[flagged, one], against[flagged, one]) for one in (NEGATIVE, POSITIVE)]
            # From the worst for the rate to the best: against it, not counted, counted in favour.
            ranked = sorted(could, key=lambda pair: (pair[0] - 2 * pair[1], pair[0]))
            chosen = {
                "negative": could[NEGATIVE],
                "drop": (0, 0),
                "worst": ranked[0],
                "best": ranked[-1],
            }
            counts[flagged, WAITING], against[flagged, WAITING] = chosen[waiting]
        return cls(counts, against)

    def pair(self, groups: dict[str, IntArray]) -> FloatArray:
        """Return how many rows of a cohort count, and how many against; a group counts once."""
        total = np.zeros(2)
        for name, cells in groups.items():
            n, s = float((cells * self.counts).sum()), float((cells * self.against).sum())
            if name != _ALONE and n:
                n, s = 1.0, s / n
            total += (n, s)
        return total
