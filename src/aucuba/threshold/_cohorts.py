"""Rows that wait for their labels, by the day or week in which they were scored.

Early labels are not a random sample of all labels: an alarm is checked at once, a miss is found weeks
later. So the rows of a cohort count together, in the order of the cohorts, when the wait for their
labels is over.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, NoReturn

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
# Some two million years of days.
_LAST_COHORT = 10**9


@dataclass(frozen=True)
class Arrivals:
    """Rows, or labels of rows, that arrive on one day.

    Parameters
    ----------
    flagged : ndarray of bool
    label : ndarray of int
        NEGATIVE, POSITIVE or WAITING.
    event, made : ndarray of float
        The days on which rows were scored and labels were made; one array for both if the labels came
        with their rows.
    group : ndarray of str
        Names of groups; a single empty text if rows count individually.
    """

    flagged: BoolArray
    label: IntArray
    event: FloatArray
    made: FloatArray
    group: AnyArray

    @property
    def has_label(self) -> BoolArray:
        return np.asarray(self.label != WAITING)

    def parts(self, number: IntArray, rows: IntArray) -> list[tuple[int, IntArray, list[str]]]:
        """Split some rows by their cohort; return cohorts in order, with their rows and groups."""
        of_rows = number[rows]
        if not rows.size:
            return []
        if (of_rows == of_rows[0]).all():
            each = [rows]
        else:
            order = np.argsort(of_rows, kind="stable")
            each = np.split(rows[order], np.flatnonzero(np.diff(of_rows[order])) + 1)
        alone = self.group.size == 1
        return [
            (int(number[own[0]]), own, (self.group if alone else self.group[own]).tolist())
            for own in each
        ]


@dataclass
class Cells:
    """Numbers of rows of one cohort.

    Parameters
    ----------
    places : dict
        The index of every group; the only group is empty text if rows count individually.
    counts : ndarray of int
        By index, flag and label: negative, positive, waiting.
    at_best : ndarray or None
        Cached result of the reading "best", until the counts change.
    """

    places: dict[str, int] = field(default_factory=dict)
    counts: IntArray = field(default_factory=lambda: np.zeros((0, 2, 3), dtype=np.int64))
    at_best: FloatArray | None = None

    @property
    def n_waiting(self) -> int:
        return int(self.counts[:, :, WAITING].sum())

    def add(self, names: list[str], cell: IntArray) -> None:
        """Add rows by group, and by flag and label as one number."""
        known = self.places
        place = np.array([known.setdefault(name, len(known)) for name in names])
        counts = _counted(place, cell, len(known))
        counts[: len(self.counts)] += self.counts
        self.counts, self.at_best = counts, None

    def moves(self, names: list[str], cell: IntArray) -> tuple[IntArray, tuple[str, int] | None]:
        """Return the change by labels, and the first group and flag with too few waiting rows."""
        n_groups = len(self.places)
        place = np.array([self.places.get(name, n_groups) for name in names])
        found = _counted(place, cell, n_groups + 1)
        waiting = np.zeros((n_groups + 1, 2), dtype=np.int64)
        waiting[:n_groups] = self.counts[:, :, WAITING]
        excess = np.argwhere(found.sum(axis=2) > waiting)
        if excess.size:
            at, flag = excess[0].tolist()
            return found, (names[int(np.argmax(place == at))], flag)
        found[:, :, WAITING] = -found.sum(axis=2)
        return found[:n_groups], None


@dataclass
class Cohorts:
    """Numbers of rows per waiting cohort, flag and label.

    Parameters
    ----------
    cohort : {"day", "week"}
    horizon : float
        Days after the end of a cohort at which it is mature.
    cells : dict of Cells
        The rows of every waiting cohort.
    folded : int or None
        The last cohort that was counted; labels for it or an earlier one are too late.
    closed : int or None
        The last cohort that a look treated as complete; no row may join it or an earlier one, since
        the row could have been chosen by its label.
    n_waiting : int
        Rows without a label.
    """

    cohort: str
    horizon: float
    cells: dict[int, Cells] = field(default_factory=dict)
    folded: int | None = None
    closed: int | None = None
    n_waiting: int = 0
    # The last cohort of every group that waits.
    _homes: dict[str, int] = field(default_factory=dict)

    def start(self, number: Any) -> Any:
        """Return the first day of a cohort."""
        return number * DAYS[self.cohort] - _MONDAY[self.cohort]

    def register(self, rows: Arrivals) -> int:
        """Add rows; return how many of their labels are too late to count."""
        number = self._numbers(rows.event)
        if self.closed is not None and (number <= self.closed).any():
            n_rows, day = int(np.sum(number <= self.closed)), self.start(self.closed + 1)
            raise ValueError(
                f"event_time has {n_rows} rows from before day {day} ({shown_day(day)}), "
                f"but an earlier update treated those {self.cohort}s as complete. Register rows when "
                "they are scored, and rows of past days together in one update; their labels may come "
                "later by update_labels. Rows that come with their labels could be chosen by them."
            )
        late = self._is_late(rows, number)
        label = np.where(late, WAITING, rows.label)
        cell = rows.flagged * 3 + label
        arrived = rows.parts(number, np.arange(number.size))
        self._homes |= self._checked_homes(arrived)
        for key, own, names in arrived:
            self.cells.setdefault(key, Cells()).add(names, cell[own])
        self.n_waiting += int(np.sum(label == WAITING))
        return int(late.sum())

    def _checked_homes(self, arrived: list[tuple[int, IntArray, list[str]]]) -> dict[str, int]:
        """Return the cohorts of groups; raise if a group lies in several, since it must count once."""
        homes: dict[str, int] = {}
        for number, _, names in arrived:
            if names == [_ALONE]:
                continue
            for known in (self._homes, homes):
                for other in {*map(known.get, names)} - {None, number}:
                    apart = abs(self.start(number) - self.start(other))
                    # A cohort that matures before the other begins may only be waiting for its update.
                    if apart > self.horizon + DAYS[self.cohort]:
                        continue
                    name = next(one for one in names if known.get(one) == other)
                    first, second = sorted((self.start(number), self.start(other)))
                    raise ValueError(
                        f"The group {name!r} has rows of the {self.cohort}s that begin on days {first} "
                        f"and {second}; a group counts once, so it must lie within one {self.cohort}: "
                        "give it a new name in each, or count by longer cohorts."
                    )
            homes.update(dict.fromkeys(names, number))
        return homes

    def add_labels(self, labels: Arrivals) -> int:
        """Move rows from waiting to labelled; return how many labels were too late."""
        number = self._numbers(labels.event)
        made_late = self._is_late(labels, number)
        late = made_late | self._is_folded(number)
        cell = labels.flagged * 3 + labels.label
        moved = []
        for key, own, names in labels.parts(number, np.flatnonzero(~late)):
            cells = self.cells.get(key, Cells())
            change, lacking = cells.moves(names, cell[own])
            if lacking is not None:
                self._refuse_labels(key, cells, change, *lacking)
            moved.append((key, change, own.size))
        n_missed = int(np.sum(late & ~made_late))
        if n_missed:
            warn_user(
                f"{n_missed} labels were made in time, but an earlier call has counted their "
                f"{self.cohort}s without them. Give labels before that: update_labels before update."
            )
        for key, change, n_labels in moved:
            self.cells[key].counts += change
            self.cells[key].at_best = None
            self.n_waiting -= n_labels
        return int(late.sum())

    def _refuse_labels(
        self, number: int, cells: Cells, found: IntArray, name: str, flag: int
    ) -> NoReturn:
        """Raise an error if there are more labels than rows that wait for one."""
        place, n_waiting = cells.places.get(name), 0
        if place is not None:
            n_waiting = int(cells.counts[place, flag, WAITING])
        n_labels = int(found[-1 if place is None else place, flag].sum())
        raise ValueError(
            f"{n_labels} labels of {'flagged' if flag else 'unflagged'} rows"
            f"{f' of the group {name!r}' if name else ''} come for the {self.cohort} that "
            f"begins on day {self.start(number)} ({shown_day(self.start(number))}), in which "
            f"{n_waiting} such rows wait for one; register rows with update first."
        )

    def fold(self, as_of: float) -> list[tuple[int, Cells]]:
        """Remove the mature cohorts and return them in order."""
        # A cohort without rows is also over.
        last = self._present(max(as_of - self.horizon, -_LAST_COHORT)) - 1
        self.folded = last if self.folded is None else max(self.folded, last)
        mature = [
            (number, self.cells.pop(number)) for number in sorted(self.cells) if number <= last
        ]
        for number, cells in mature:
            self.n_waiting -= cells.n_waiting
            for name in cells.places:
                if self._homes.get(name) == number:
                    del self._homes[name]
        return mature

    def close(self, as_of: float) -> list[int]:
        """Return the waiting cohorts that are over, in order, and close all up to the last of them."""
        present = self._present(as_of)
        over = sorted(one for one in self.cells if one < present)
        ends = (self.folded, self.closed, *over[-1:])
        self.closed = max((one for one in ends if one is not None), default=None)
        return over

    def to_json(self) -> dict[str, Any]:
        """Convert the waiting rows to JSON's types."""
        cells = {
            str(number): dict(zip(one.places, one.counts.tolist(), strict=True))
            for number, one in self.cells.items()
        }
        return {"cells": cells, "folded": self.folded, "closed": self.closed}

    def restore(self, state: dict[str, Any]) -> None:
        """Restore waiting rows, after checking that their counts are possible."""
        for name in ("folded", "closed"):
            setattr(self, name, None if state[name] is None else _checked(state[name]))
        for text, groups in state["cells"].items():
            number, counts = _checked(text), np.array(list(groups.values()))
            if counts.shape[1:] != (2, 3) or counts.dtype.kind != "i" or counts.min() < 0:
                raise ValueError(f"impossible counts {counts.tolist()} in a waiting cohort")
            self.cells[number] = Cells({name: place for place, name in enumerate(groups)}, counts)
            self.n_waiting += self.cells[number].n_waiting
        for number in sorted(self.cells):
            self._homes |= {name: number for name in self.cells[number].places if name != _ALONE}

    def _present(self, day: float) -> int:
        """Return the number of the cohort of a day."""
        return (math.floor(day) + _MONDAY[self.cohort]) // DAYS[self.cohort]

    def _numbers(self, day: FloatArray) -> IntArray:
        whole = np.floor(day).astype(np.int64)
        return np.asarray((whole + _MONDAY[self.cohort]) // DAYS[self.cohort])

    def _is_folded(self, number: IntArray) -> BoolArray:
        return np.asarray(number <= (self.folded if self.folded is not None else number - 1))

    def _is_late(self, rows: Arrivals, number: IntArray) -> BoolArray:
        """Return a mask of the labels made after their cohort had matured."""
        if rows.made is rows.event:
            return np.zeros(number.shape, dtype=bool)
        return np.asarray(rows.has_label & (rows.made >= self.start(number + 1) + self.horizon))


def _checked(number: Any) -> int:
    """Return the number of a cohort; refuse one outside the calendar."""
    if abs(found := int(number)) > _LAST_COHORT:
        raise ValueError(f"impossible number {found} of a cohort")
    return found


def _counted(place: IntArray, cell: IntArray, n_places: int) -> IntArray:
    """Count rows by group, flag and label."""
    found = np.bincount(place * 6 + cell, minlength=6 * n_places)
    return found.astype(np.int64, copy=False).reshape(-1, 2, 3)


def group_names(groups: Any, n_rows: int) -> AnyArray:
    """Return the groups as text, or a single empty text without groups."""
    if groups is None:
        return np.array([_ALONE])
    names = identifiers(groups, "groups", n_rows).astype(str)
    if np.any(names == _ALONE):
        raise ValueError("groups has an empty name; name every group.")
    return names


@dataclass(frozen=True)
class Reading:
    """How rows count, by flag and label: whether they count, and whether against the limit."""

    counts: IntArray
    against: IntArray

    @classmethod
    def of(cls, promise: Promise, waiting: str) -> Reading:
        """Return how the rows of a promise count.

        ``waiting`` says how a row without a label counts: as "negative", not at all ("drop"), or as the
        label that is "worst" or "best" for the rate.
        """
        label, flag = np.meshgrid([False, True], [False, True])
        counts = np.column_stack([promise.counts(label, flag).astype(np.int64), [0, 0]])
        against = counts * np.column_stack([promise.against(label, flag).astype(np.int64), [0, 0]])
        for flagged in (0, 1):
            could = [(counts[flagged, one], against[flagged, one]) for one in (NEGATIVE, POSITIVE)]
            # From worst to best for the rate: counted against it, not counted, counted in its favour.
            ranked = sorted(could, key=lambda pair: (pair[0] - 2 * pair[1], pair[0]))
            chosen = {
                "negative": could[NEGATIVE],
                "drop": (0, 0),
                "worst": ranked[0],
                "best": ranked[-1],
            }
            counts[flagged, WAITING], against[flagged, WAITING] = chosen[waiting]
        return cls(counts, against)

    def pair(self, cells: Cells) -> FloatArray:
        """Return how many rows of a cohort count, and how many against; a group counts once."""
        ways = np.column_stack([self.counts.ravel(), self.against.ravel()])
        n, s = (cells.counts.reshape(-1, 6) @ ways).T
        alone = cells.places.get(_ALONE)
        total, once = np.zeros(2), n > 0
        if alone is not None:
            total += n[alone], s[alone]
            once[alone] = False
        if once.any():
            total += once.sum(), (s[once] / n[once]).sum()
        return total
