"""State of a monitor: waiting rows, evidence, and the status that follows."""

from __future__ import annotations

from typing import Any

import numpy as np

from aucuba._base._stream_labels import StreamLabels
from aucuba._base._typing import ArrayLike, FloatArray, IntArray
from aucuba._base._validation import finite_scores, missing_entries, one_per_row, query_index
from aucuba.threshold._calendar import days_until, event_days, is_day, shown_day
from aucuba.threshold._cohorts import WAITING, Arrivals, Cohorts, Reading, group_names
from aucuba.threshold._monitor_history import STATUSES, Look
from aucuba.threshold._promise import ALERTS, FPR, TPR, Promise
from aucuba.threshold._rate_evidence import RateEvidence

# How unlabelled rows count: in the rate shown, against "ok", and against "broken".
_WAYS = {"worst": ("drop", "worst", "best")}
_ASSUMED = {"negative": "reported_within_horizon", "drop": "missing_at_random"}


class MonitorState:
    """Rows that wait for labels, evidence about one rate, and the present day.

    Parameters
    ----------
    promise : Promise
        The rate that is watched.
    labels : StreamLabels
        The named labels; labels seen later are added.
    evidence : RateEvidence
    cohorts : Cohorts or None
        The waiting rows; None if labels arrive with their rows.
    unlabelled : {"worst", "negative", "drop"}
        How a row without a label at the horizon counts.
    log_run_length : float
        The level at which the detector raises ``changed``.
    """

    def __init__(
        self,
        promise: Promise,
        labels: StreamLabels,
        evidence: RateEvidence,
        cohorts: Cohorts | None,
        unlabelled: str,
        log_run_length: float,
    ) -> None:
        self.promise = promise
        self.labels = labels
        self.evidence = evidence
        self.cohorts = cohorts
        self.log_run_length = log_run_length
        self._assumed = _ASSUMED.get(unlabelled, "")
        ways = _WAYS.get(unlabelled, (unlabelled,) * 3)
        self._readings = [Reading.of(promise, way) for way in ways]
        self._best = Reading.of(promise, "best")
        self.n_late = 0
        self.saw_unflagged_label = False
        self.day: float | None = None
        self.dated = False

    @property
    def changed(self) -> bool:
        return bool(self.evidence.log_detector >= self.log_run_length)

    @property
    def n_counted(self) -> float:
        n = self.evidence.known[0]
        return int(n) if float(n).is_integer() else n

    @property
    def n_against(self) -> float:
        return self.evidence.known[1]

    @property
    def n_waiting(self) -> int:
        return 0 if self.cohorts is None else self.cohorts.n_waiting

    def add_rows(
        self,
        y_true: ArrayLike | None,
        y_flag: ArrayLike,
        groups: ArrayLike | None,
        share: FloatArray | None = None,
    ) -> None:
        """Count rows that arrive with their labels, in their order."""
        flagged, labels = self.labels.read(y_flag, "y_flag")
        positive = flagged
        if y_true is not None:
            positive, labels = labels.read(y_true, "y_true", flagged.size)
        elif self.promise is not ALERTS:
            raise ValueError(f"rate={self.promise.name!r} needs y_true, the labels of the rows.")
        counted = self.promise.counts(positive, flagged)
        losses = self.promise.against(positive, flagged)[counted].astype(np.float64)
        number = query_index(groups, flagged.size, "groups")
        if number is not None:
            _, first, group = np.unique(number[counted], return_index=True, return_inverse=True)
            means = np.bincount(group, losses) / np.bincount(group)
            # In the order in which groups first appear.
            losses = means[np.argsort(first)]
        if share is not None:
            share = one_per_row(share, flagged.size, "inclusion_probability")[counted]
        self.labels = labels
        self.saw_unflagged_label = self.saw_unflagged_label or not flagged.all()
        self.evidence.restart_if_due(self.n_counted)
        if losses.size:
            self.evidence.add_losses(losses, share)

    def add_counts(self, n_rows: int, n_against: int) -> None:
        """Count rows of which only the total numbers are known."""
        self.evidence.restart_if_due(self.n_counted)
        if n_rows:
            pair = np.array([float(n_rows), float(n_against)])
            self.evidence.add_counts(pair, pair, pair)

    def add_arrivals(
        self,
        y_true: ArrayLike | None,
        y_flag: ArrayLike,
        groups: ArrayLike | None,
        event_time: ArrayLike | None,
        label_time: ArrayLike | None,
        as_of: Any,
        *,
        are_registered: bool,
    ) -> None:
        """Register rows, or add labels of registered ones, and count the mature cohorts."""
        assert self.cohorts is not None
        if event_time is None or as_of is None or y_true is None:
            raise ValueError(
                "With label_horizon, y_true, event_time and as_of are needed; give all."
            )
        day, dated = self._present(as_of)
        flagged, labels = self.labels.read(y_flag, "y_flag")
        label, labels = _labels_or_waiting(y_true, flagged.size, labels)
        given = label != WAITING
        if are_registered and not given.all():
            raise ValueError(
                f"y_true has {int(np.sum(~given))} missing labels; leave these rows out."
            )
        event = days_until(event_time, "event_time", flagged.size, day, dated)
        made = event
        if label_time is not None:
            made = event.copy()
            times = one_per_row(label_time, flagged.size, "label_time")[given]
            made[given] = days_until(times, "label_time", times.size, day, dated)
            n_early = int(np.sum(made[given] < np.floor(event[given])))
            if n_early:
                raise ValueError(
                    f"label_time lies before event_time in {n_early} rows; correct these rows."
                )
        rows = Arrivals(flagged, label, event, made, group_names(groups, flagged.size))
        take = self.cohorts.add_labels if are_registered else self.cohorts.register
        self.n_late += take(rows)
        self.labels, self.day, self.dated = labels, day, dated
        self.saw_unflagged_label = self.saw_unflagged_label or bool(np.any(given & ~flagged))
        self._count_mature(self.cohorts, day, are_registered)

    def acknowledge(self, as_of: Any) -> None:
        """Clear the detector of ``changed``."""
        if self.cohorts is not None:
            self.day, self.dated = self._present(as_of)
        self.evidence.clear_detector()

    def verdict(self) -> tuple[str, str]:
        """Return the status, and why it is withheld or what it assumes."""
        if self.labels.lack_a_positive:
            return "unknown", "positive_label"
        if self.promise in (FPR, TPR) and not self.saw_unflagged_label:
            return "unsure", "flagged_only"
        assumed = "" if self.cohorts is None else self._assumed
        if self.evidence.is_broken:
            return "broken", assumed
        if not self.evidence.is_ok:
            return "unsure", assumed
        return ("unsure", "changed") if self.changed else ("ok", assumed)

    def look(self, event: str = "") -> Look:
        """Return the current statements, as the history stores them."""
        known = self.evidence
        pairs = (*known.for_ok, *known.for_broken)
        return Look(
            self.day,
            self.n_counted,
            self.n_against,
            None if pairs == (*known.known, *known.known) else pairs,
            known.run,
            round(known.log_evidence, 9),
            STATUSES.index(self.verdict()[0]),
            self.changed,
            self.n_waiting,
            self.n_late,
            event,
            False,
        )

    @property
    def since(self) -> str:
        """The day, or number, of the first row that counts for "ok"."""
        since = self.evidence.since
        if self.cohorts is not None:
            return self.shown(since) if self.dated else f"day {since:g}"
        return "the first" if self.evidence.run == 1 else f"number {since + 1:g}"

    def shown(self, day: float) -> str:
        """Format a day, as a date if days were given as dates."""
        return shown_day(day) if self.dated else f"{day:g}"

    def to_json(self) -> dict[str, Any]:
        """Convert the state to JSON's types."""
        return {
            "evidence": self.evidence.to_json(),
            "cohorts": None if self.cohorts is None else self.cohorts.to_json(),
            "n_late": self.n_late,
            "saw_unflagged_label": self.saw_unflagged_label,
            "day": self.day,
            "dated": self.dated,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Restore a state, after checking that it is consistent."""
        self.evidence.restore(state["evidence"])
        if (self.cohorts is None) != (state["cohorts"] is None):
            raise ValueError("waiting cohorts and label_horizon do not go together")
        if self.cohorts is not None:
            self.cohorts.restore(state["cohorts"])
        day = state["day"]
        self.day = None if day is None else float(day)
        if not isinstance(state["dated"], bool):
            raise ValueError(f"dated={state['dated']!r}")
        self.dated, self.n_late = state["dated"], int(state["n_late"])
        self.saw_unflagged_label = bool(state["saw_unflagged_label"])

    def _present(self, as_of: Any) -> tuple[float, bool]:
        """Return the present day, and whether it was given as a date."""
        if is_day(as_of):
            day, dated = float(as_of), False
        else:
            days, dated = event_days(np.array([as_of]), "as_of", 1)
            day = float(days[0])
        if self.day is not None and (dated != self.dated or day < self.day):
            raise ValueError(
                f"as_of={as_of!r} follows {self.shown(self.day)} of an earlier update; updates must "
                "follow the calendar."
            )
        return day, dated

    def _count_mature(self, cohorts: Cohorts, day: float, have_labels_moved: bool) -> None:
        """Count mature cohorts, and look for early evidence among the others."""
        closed, mature = cohorts.closed, cohorts.fold(day)
        for number, cells in mature:
            start = float(cohorts.start(number))
            if not self.evidence.for_broken[0] and self.evidence.run == 1:
                self.evidence.since = start
            self.evidence.restart_if_due(start)
            self.evidence.add_counts(*(reading.pair(cells) for reading in self._readings))
        # Leave out cohorts that are not over, whose rows may still be registered in any order. No row
        # joins a cohort after such a look, so its evidence changes only with new labels.
        over = cohorts.close(day)
        if over and (mature or have_labels_moved or cohorts.closed != closed):
            waiting = [cohorts.cells[number] for number in over]
            for cells in waiting:
                if cells.at_best is None:
                    cells.at_best = self._best.pair(cells)
            self.evidence.add_early(np.array([cells.at_best for cells in waiting]))


def inclusion_share(probability: Any, least: float | None, groups: Any) -> FloatArray | None:
    """Return how much each labelled row counts: ``least`` divided by its inclusion probability."""
    if (probability is None) != (least is None):
        raise ValueError(
            "inclusion_probability needs RateMonitor(min_inclusion_probability=...)."
            if least is None
            else f"A monitor with min_inclusion_probability={least:g} needs inclusion_probability, the "
            "probability with which each row was labelled."
        )
    if probability is None or least is None:
        return None
    if groups is not None:
        raise ValueError("inclusion_probability is about single rows; leave groups out.")
    given = finite_scores(probability, "inclusion_probability").astype(np.float64)
    if given.size and (given.min() < least or given.max() > 1):
        raise ValueError(
            f"inclusion_probability must lie in [min_inclusion_probability, 1] = [{least:g}, 1], got "
            f"values from {given.min():g} to {given.max():g}. The bets were fixed by the "
            "smallest, so a smaller one needs another monitor."
        )
    return np.asarray(least / given)


def _labels_or_waiting(
    y_true: ArrayLike, n_rows: int, labels: StreamLabels
) -> tuple[IntArray, StreamLabels]:
    """Read labels, some of which may be missing."""
    column = one_per_row(y_true, n_rows, "y_true")
    if column.dtype.kind in "biu":
        # None can be missing.
        positive, labels = labels.read(column, "y_true")
        return positive.astype(np.int64), labels
    given = ~missing_entries(column)
    label = np.full(n_rows, WAITING)
    if given.any():
        label[given], labels = labels.read(column[given], "y_true")
    return label, labels
