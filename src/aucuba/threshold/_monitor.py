"""Watch a promised rate after deployment."""

from __future__ import annotations

import datetime
import json
import re
from numbers import Integral
from typing import Any

import numpy as np

from aucuba._base._files import reading_text_of
from aucuba._base._typing import ArrayLike, IntArray
from aucuba._base._validation import (
    check_choice,
    check_fraction,
    check_positive_number,
    missing_entries,
    one_per_row,
    query_index,
)
from aucuba.threshold._cohorts import (
    DAYS,
    WAITING,
    Arrivals,
    Cohorts,
    Reading,
    days_until,
    event_days,
    group_names,
    shown_day,
)
from aucuba.threshold._monitor_history import STATUSES, History, Look, draw_history
from aucuba.threshold._promise import ALERTS, FPR, TPR, promise_named
from aucuba.threshold._rate_evidence import RateEvidence
from aucuba.threshold._stream_labels import StreamLabels

_PARAMETERS = (
    *("limit", "rate", "confidence", "average_run_length", "labels", "label_horizon", "cohort"),
    *("unlabelled", "ok_window"),
)
_UNREADABLE = (AttributeError, KeyError, TypeError, ValueError, RecursionError, OverflowError)
_DAYS = re.compile(r"\s*([0-9.]+)\s*days?\s*")
# How unlabelled rows count in the rate shown, and to the disadvantage of "ok" and of "broken".
_WAYS = {"worst": ("drop", "worst", "best")}
_ASSUMED = {"negative": "reported_within_horizon", "drop": "missing_at_random"}


class RateMonitor:
    r"""A running check of whether a deployed classifier keeps its rate.

    Feed it labelled batches as they come, and look as often as you like. Two signals are kept
    apart:

    - ``status`` is ``"broken"`` once the evidence against "the mean rate of the rows so far was always
      within the limit" has passed 1 / (1 - ``confidence``), and stays so. It is ``"ok"`` while the
      evidence for "the mean rate over all counted rows since the last restart is within the limit"
      has, and ``"unsure"`` otherwise. It is ``"unknown"`` while text labels have come of which none is
      known to be the positive one.
    - ``changed`` detects a rise after a long good history, whose evidence ``status`` would have to
      undo first. It bounds not the probability of a false alarm but the mean time until one:
      ``average_run_length``. Every good stream raises it sooner or later; ``ok`` is withheld from then
      on until `acknowledge` or the next restart of ``ok_window`` clears it.

    Let :math:`p_i` be the rate of row i given the rows before it. The probability that the monitor ever
    says ``"ok"`` at an n where the mean of :math:`p_1, \dots, p_n` lies beyond the limit is at most
    1 - ``confidence``, under any drift; so is the probability that it says ``"broken"`` while all
    these means keep the limit.

    Labels that come early are not a random part of all labels. With ``label_horizon`` rows are
    registered when they are scored, and count by whole cohorts in the order of their event times, once
    a cohort is older than the horizon, whatever their outcomes; this is what the theorem needs.
    ``"broken"`` may come earlier: for every prefix of cohorts that are over each waiting row is taken
    for the least harmful that it can be, which bounds the evidence with all labels from below.

    Parameters
    ----------
    limit : float
        ``max_fpr``, ``min_tpr``, ``min_precision`` or ``max_alert_rate``, in (0, 1).
    rate : {"fpr", "tpr", "precision", "alerts"}, default="fpr"
        What is watched.
    confidence : float, default=0.95
        One minus the largest probability of a false ``"broken"``, and of a false ``"ok"``.
    average_run_length : float, timedelta or str, default=100_000
        The smallest mean number of counted rows (or groups) until ``changed`` is raised falsely; or of
        days, as ``"730 days"``, with ``label_horizon``.
    labels : pair (negative, positive), default=None
        The labels in ``y_true`` and ``y_flag``; ``negative`` may be a list of classes. Any other value
        is an error. None takes booleans, or 0 and 1; of text it takes the positive label only if it
        is unmistakable, such as "fraud" or "yes". Booleans are understood beside all labels.
    label_horizon : float or timedelta, default=None
        Days after which no label is waited for any longer. None for labels that come with their rows.
    cohort : {"day", "week"}, default="day"
        Rows that count together, by their event time; weeks begin on Mondays.
    unlabelled : {"worst", "negative", "drop"}, default="worst"
        A row without a label at the horizon counts in the way least favourable to the statement made,
        which assumes nothing; or as a negative, so that a positive is one that was reported within
        the horizon, and the guarantee is about that rate; or not, which assumes that whether a label
        is missing does not depend on what the rate compares: the flag within a class (FPR, TPR), or
        the class among flagged rows (precision).
    ok_window : float or timedelta, default=None
        Restart the evidence for ``"ok"``, and the detector, after so many days, or without
        ``label_horizon`` counted rows. The j-th run has 1 / (j (j + 1)) of the error of ``"ok"``.

    Attributes
    ----------
    n_late : int
        Labels that came too late to change anything.

    See Also
    --------
    FixedFPRClassifier : Set the threshold in the first place.

    Examples
    --------
    >>> import numpy as np
    >>> from aucuba.threshold import RateMonitor
    >>> rng = np.random.default_rng(0)
    >>> monitor = RateMonitor(0.05, rate="fpr")
    >>> monitor.update(np.zeros(500), rng.uniform(size=500) < 0.02).status
    'ok'
    >>> for day in range(5):
    ...     monitor = monitor.update(np.zeros(200), rng.uniform(size=200) < 0.15)
    >>> monitor.status, monitor.changed
    ('broken', True)
    >>> RateMonitor.from_json(monitor.to_json()).status
    'broken'
    """

    def __init__(
        self,
        limit: float,
        rate: str = "fpr",
        confidence: float = 0.95,
        *,
        average_run_length: Any = 100_000,
        labels: Any = None,
        label_horizon: Any = None,
        cohort: str = "day",
        unlabelled: str = "worst",
        ok_window: Any = None,
    ) -> None:
        self._promise = promise_named(rate, "rate")
        self._allowed = self._promise.allowed(limit, "limit")
        self.limit = float(limit)
        self.rate = rate
        self.confidence = check_fraction(confidence, "confidence", low_open=True, high_open=True)
        self._labels = StreamLabels.named(labels)
        self.cohort = check_choice(cohort, "cohort", tuple(DAYS))
        self.unlabelled = check_choice(unlabelled, "unlabelled", ("worst", "negative", "drop"))
        self.label_horizon = _days(label_horizon, "label_horizon", least=0.0)
        self.ok_window = _days(ok_window, "ok_window")
        self.average_run_length, self._log_run_length = _run_length(average_run_length)
        self._in_days = isinstance(self.average_run_length, str)
        self._cohorts: Cohorts | None = None
        if self.label_horizon is not None:
            self._cohorts = Cohorts(self.cohort, self.label_horizon)
        if self._cohorts is not None and self._promise is ALERTS:
            raise ValueError("rate='alerts' needs no labels; leave label_horizon out.")
        if self._cohorts is None and self._in_days:
            raise ValueError(
                f"average_run_length={average_run_length!r} counts days, which need label_horizon."
            )
        self._evidence = RateEvidence(
            self._allowed,
            self.confidence,
            self.ok_window,
            DAYS[self.cohort] if self._in_days else None,
        )
        self.n_late = 0
        self._saw_unflagged_label = False
        self._day: float | None = None
        self._dated = False
        self._history = History()

    def update(
        self,
        y_true: ArrayLike | None,
        y_flag: ArrayLike,
        groups: ArrayLike | None = None,
        *,
        event_time: ArrayLike | None = None,
        label_time: ArrayLike | None = None,
        as_of: Any = None,
    ) -> RateMonitor:
        """Add a batch of rows in the order in which they came.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,)
            Labels. None for an alert rate, which needs none. With ``label_horizon``, NaN or None means
            not labelled yet.
        y_flag : array-like of shape (n_rows,)
            Which rows were flagged: booleans, 0 and 1, or predicted labels.
        groups : array-like of shape (n_rows,), default=None
            Each group counts once, by the mean over its rows, and must come whole in one batch; with
            ``label_horizon``, within one cohort.
        event_time : array-like of shape (n_rows,), default=None
            With ``label_horizon``: when the rows were scored, as dates or numbers of days.
        label_time : array-like of shape (n_rows,), default=None
            When the labels became known; by default in time.
        as_of : date or number, default=None
            With ``label_horizon``: the present day, never earlier than in the update before.

        Returns
        -------
        RateMonitor
            This monitor.
        """
        if self._cohorts is not None:
            return self._update_cohorts(y_true, y_flag, groups, event_time, label_time, as_of)
        if event_time is not None or label_time is not None or as_of is not None:
            raise ValueError(
                "event_time, label_time and as_of need RateMonitor(label_horizon=...)."
            )
        flagged, labels = self._labels.read(y_flag, "y_flag")
        positive = flagged
        if y_true is not None:
            positive, labels = labels.read(y_true, "y_true", flagged.size)
        elif self._promise is not ALERTS:
            raise ValueError(f"rate={self.rate!r} needs y_true, the labels of the rows.")
        counted = self._promise.counts(positive, flagged)
        losses = self._promise.against(positive, flagged)[counted].astype(np.float64)
        number = query_index(groups, flagged.size, "groups")
        if number is not None:
            _, first, group = np.unique(number[counted], return_index=True, return_inverse=True)
            means = np.bincount(group, losses) / np.bincount(group)
            # In the order in which groups first appear.
            losses = means[np.argsort(first)]
        self._labels = labels
        self._evidence.restart_if_due(self.n_counted)
        if losses.size:
            self._evidence.add_losses(losses)
        return self._record()

    def update_labels(
        self,
        y_true: ArrayLike,
        y_flag: ArrayLike,
        groups: ArrayLike | None = None,
        *,
        event_time: ArrayLike,
        label_time: ArrayLike,
        as_of: Any,
    ) -> RateMonitor:
        """Add labels of rows that were registered without one.

        Rows are told apart by cohort, flag and group alone. Labels of cohorts that are mature already
        are counted in ``n_late`` and change nothing.

        Parameters
        ----------
        y_true, y_flag : array-like of shape (n_labels,)
            The labels, and whether their rows were flagged.
        groups : array-like of shape (n_labels,), default=None
            Their groups, if the rows were registered with groups.
        event_time : array-like of shape (n_labels,)
            When the rows were scored.
        label_time : array-like of shape (n_labels,)
            When the labels became known.
        as_of : date or number
            The present day.

        Returns
        -------
        RateMonitor
            This monitor.
        """
        if self._cohorts is None:
            raise ValueError("update_labels needs RateMonitor(label_horizon=...).")
        return self._update_cohorts(
            y_true, y_flag, groups, event_time, label_time, as_of, are_registered=True
        )

    def acknowledge(self, as_of: Any = None) -> RateMonitor:
        """Clear ``changed``, so that ``"ok"`` may be said again; the history records it.

        Parameters
        ----------
        as_of : date or number, default=None
            The present day, with ``label_horizon``.

        Returns
        -------
        RateMonitor
            This monitor.
        """
        if self._cohorts is not None:
            self._day, self._dated = self._present(as_of)
        self._evidence.clear_detector()
        return self._record("acknowledged")

    def update_alerts(self, n_flagged: int, n_rows: int) -> RateMonitor:
        """Add a batch of which only the counts are known; for ``rate="alerts"``.

        Parameters
        ----------
        n_flagged : int
            Rows flagged.
        n_rows : int
            All rows.

        Returns
        -------
        RateMonitor
            This monitor.
        """
        if self._promise is not ALERTS:
            raise ValueError(
                f"update_alerts counts flagged rows, which says nothing about rate={self.rate!r}; use "
                "update with labels, or RateMonitor(rate='alerts')."
            )
        for value, name in ((n_flagged, "n_flagged"), (n_rows, "n_rows")):
            if isinstance(value, bool) or not isinstance(value, Integral) or value < 0:
                raise ValueError(f"{name} must be a whole number of at least 0, got {value!r}.")
        if n_flagged > n_rows:
            raise ValueError(f"n_flagged={n_flagged} is more than n_rows={n_rows}.")
        self._evidence.restart_if_due(self.n_counted)
        if n_rows:
            pair = np.array([float(n_rows), float(n_flagged)])
            self._evidence.add_counts(pair, pair, pair)
        return self._record()

    @property
    def labels(self) -> tuple[Any, Any] | None:
        """The labels (negative, positive) that were named or seen; None before any was."""
        return self._labels.pair

    @property
    def status(self) -> str:
        """``"broken"``, ``"ok"``, ``"unsure"``, or ``"unknown"`` without a known positive label."""
        return self._verdict()[0]

    @property
    def reason(self) -> str:
        """Why the status is withheld, or what it assumes; empty if neither.

        ``"positive_label"`` (none is known), ``"flagged_only"`` (no unflagged row ever had a label),
        ``"changed"`` (`acknowledge` it), ``"reported_within_horizon"`` or ``"missing_at_random"``.
        """
        return self._verdict()[1]

    @property
    def changed(self) -> bool:
        """Whether the detector has found a rise above the limit since it was cleared."""
        return bool(self._evidence.log_detector >= self._log_run_length)

    @property
    def n_counted(self) -> int:
        """Labelled rows (or groups) that the rate counted so far."""
        return int(self._evidence.known[0])

    @property
    def n_against(self) -> float:
        """How many of them counted against the limit; fractional for groups."""
        return self._evidence.known[1]

    @property
    def log_evidence(self) -> float:
        """Logarithm of the largest evidence for ``"broken"`` so far."""
        return self._evidence.log_evidence

    @property
    def log_detector(self) -> float:
        """Logarithm of the largest state of the detector of ``changed`` since it was cleared."""
        return self._evidence.log_detector

    @property
    def observed(self) -> float | None:
        """The rate of the labelled rows so far; None before the first counted row."""
        if self.n_counted == 0:
            return None
        return float(self._promise.limit(self.n_against / self.n_counted))

    @property
    def n_waiting(self) -> int:
        """How many rows wait for their labels."""
        return 0 if self._cohorts is None else self._cohorts.n_waiting

    @property
    def interval(self) -> tuple[float, float]:
        """Ends of the two confidence sequences of the mean rate, each at ``confidence``.

        The end that ``"ok"`` looks at is about the rows since its last restart.
        """
        row = self.summary()
        return row["lower"], row["upper"]

    @property
    def history(self) -> list[dict[str, Any]]:
        """One row per update; between changes of status only some of them after very many."""
        return self._rows(self._history)

    def summary(self) -> dict[str, Any]:
        """Return what the monitor says now.

        Returns
        -------
        dict
            One row of `to_frame`.
        """
        return self._rows(History([self._look()]))[0]

    def to_frame(self) -> Any:
        """Return the history as a pandas DataFrame, one row per update.

        Returns
        -------
        DataFrame
            Columns ``n_counted``, ``n_against``, ``observed``, ``lower``, ``upper``,
            ``log_evidence``, ``status``, ``changed``, ``as_of``, ``n_waiting``, ``n_late`` and
            ``event``.
        """
        import pandas as pd

        return pd.DataFrame(self.history, columns=list(self.summary()))

    def to_json(self) -> str:
        """Return parameters, state and history as text that `from_json` reads.

        Returns
        -------
        str
            A JSON object.
        """
        parameters = {name: getattr(self, name) for name in _PARAMETERS}
        state = {
            "evidence": self._evidence.to_json(),
            "cohorts": None if self._cohorts is None else self._cohorts.to_json(),
            "n_late": self.n_late,
            "saw_unflagged_label": self._saw_unflagged_label,
            "day": self._day,
            "dated": self._dated,
            "history": self._history.looks,
        }
        content = {"aucuba_monitor": 1, "parameters": parameters, "state": state}
        return json.dumps(content, allow_nan=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> RateMonitor:
        """Restore a monitor from the text of `to_json`.

        Parameters
        ----------
        text : str
            The JSON object.

        Returns
        -------
        RateMonitor
            A monitor that continues where the other stopped.
        """
        with reading_text_of("RateMonitor"):
            content = json.loads(text)
            if content["aucuba_monitor"] != 1:
                raise ValueError(f"format {content['aucuba_monitor']!r}")
            monitor = cls(**content["parameters"])
            monitor._restore(content["state"])
        return monitor

    def plot(self, ax: Any = None) -> Any:
        """Draw the observed rate with its confidence sequences and the limit.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib Axes
            The axes drawn into: by counted rows, or by date with the waiting rows shaded.
        """
        return draw_history(self.history, ax, self.rate, self.limit, self.confidence)

    def __repr__(self) -> str:
        start = f"RateMonitor(limit={self.limit:g}, rate={self.rate!r}): {self.status}"
        start += f" ({self.reason})" if self.reason else ""
        if self.observed is None:
            return start
        signal = ", changed" if self.changed else ""
        dated = self._cohorts is not None
        since = (
            f" since {self._shown(self._evidence.since)}" if dated or self._evidence.run > 1 else ""
        )
        return f"{start}{signal}, {self.observed:.4g} observed in {self.n_counted} counted{since}"

    def _restore(self, state: dict[str, Any]) -> None:
        self._evidence.restore(state["evidence"])
        if (self._cohorts is None) != (state["cohorts"] is None):
            raise ValueError("waiting cohorts and label_horizon do not go together")
        if self._cohorts is not None:
            self._cohorts.restore(state["cohorts"])
        day = state["day"]
        self._day = None if day is None else float(day)
        self._dated, self.n_late = bool(state["dated"]), int(state["n_late"])
        self._saw_unflagged_label = bool(state["saw_unflagged_label"])
        self._history = History.restored(state["history"])

    def _verdict(self) -> tuple[str, str]:
        """Return the status and the reason."""
        if self._labels.lack_a_positive:
            return "unknown", "positive_label"
        assumed = ""
        if self._cohorts is not None:
            if self._promise in (FPR, TPR) and not self._saw_unflagged_label:
                return "unsure", "flagged_only"
            assumed = _ASSUMED.get(self.unlabelled, "")
        if self._evidence.is_broken:
            return "broken", assumed
        if not self._evidence.is_ok:
            return "unsure", assumed
        return ("unsure", "changed") if self.changed else ("ok", assumed)

    def _look(self, event: str = "") -> Look:
        known = self._evidence
        pairs = (*known.for_ok, *known.for_broken)
        return Look(
            self._day,
            self.n_counted,
            self.n_against,
            None if pairs == (*known.known, *known.known) else pairs,
            known.run,
            round(known.log_evidence, 9),
            STATUSES.index(self._verdict()[0]),
            self.changed,
            self.n_waiting,
            self.n_late,
            event,
            False,
        )

    def _record(self, event: str = "") -> RateMonitor:
        self._history.add(self._look(event))
        return self

    def _rows(self, history: History) -> list[dict[str, Any]]:
        return history.rows(
            self._promise, 1.0 - self.confidence, self._evidence.ok_error, self._dated
        )

    def _shown(self, day: float) -> str:
        return shown_day(day) if self._dated else f"{day:g}"

    def _present(self, as_of: Any) -> tuple[float, bool]:
        """Return the present day, and whether it was given as a date."""
        day, dated = event_days([as_of], "as_of", 1)
        if self._day is not None and (dated != self._dated or day[0] < self._day):
            raise ValueError(
                f"as_of={as_of!r} follows {self._shown(self._day)} of an earlier update; updates must "
                "follow the calendar."
            )
        return float(day[0]), dated

    def _update_cohorts(
        self,
        y_true: ArrayLike | None,
        y_flag: ArrayLike,
        groups: ArrayLike | None,
        event_time: ArrayLike | None,
        label_time: ArrayLike | None,
        as_of: Any,
        *,
        are_registered: bool = False,
    ) -> RateMonitor:
        """Register rows, or move registered ones to their labels, and count the mature cohorts."""
        assert self._cohorts is not None
        if event_time is None or as_of is None or y_true is None:
            raise ValueError("With label_horizon, y_true, event_time and as_of are needed.")
        day, dated = self._present(as_of)
        flagged, labels = self._labels.read(y_flag, "y_flag")
        label, labels = _labels_or_waiting(y_true, flagged.size, labels)
        given = label != WAITING
        if are_registered and not given.all():
            raise ValueError(
                f"y_true has {int(np.sum(~given))} missing labels; leave these rows out."
            )
        event = days_until(event_time, "event_time", flagged.size, day, dated)
        made = event.copy()
        if label_time is not None:
            times = one_per_row(label_time, flagged.size, "label_time")[given]
            made[given] = days_until(times, "label_time", times.size, day, dated)
            if np.any(made[given] < np.floor(event[given])):
                raise ValueError("label_time lies before event_time in some rows.")
        rows = Arrivals(flagged, label, event, made, group_names(groups, flagged.size))
        take = self._cohorts.add_labels if are_registered else self._cohorts.register
        self.n_late += take(rows)
        self._labels, self._day, self._dated = labels, day, dated
        self._saw_unflagged_label |= bool(np.any(given & ~flagged))
        self._count_mature(self._cohorts, day)
        return self._record()

    def _count_mature(self, cohorts: Cohorts, day: float) -> None:
        """Count mature cohorts, and look for early evidence among the others."""
        ways = _WAYS.get(self.unlabelled, (self.unlabelled,) * 3)
        readings = [Reading.of(self._promise, way) for way in ways]
        for number, groups in cohorts.fold(day):
            start = float(cohorts.start(number))
            if not self._evidence.for_broken[0] and self._evidence.run == 1:
                self._evidence.since = start
            self._evidence.restart_if_due(start)
            self._evidence.add_counts(*(reading.pair(groups) for reading in readings))
        best = Reading.of(self._promise, "best")
        # Not of a cohort that is not over: its rows may be registered in any order.
        over = [number for number in sorted(cohorts.cells) if cohorts.start(number + 1) <= day]
        waiting = [best.pair(cohorts.cells[number]) for number in over]
        if waiting:
            self._evidence.add_early(np.array(waiting))


def _labels_or_waiting(
    y_true: ArrayLike, n_rows: int, labels: StreamLabels
) -> tuple[IntArray, StreamLabels]:
    """Read labels of which some may be missing."""
    column = one_per_row(y_true, n_rows, "y_true")
    given = ~missing_entries(column)
    label = np.full(n_rows, WAITING)
    if given.any():
        label[given], labels = labels.read(column[given], "y_true")
    return label, labels


def _days(value: Any, name: str, least: float | None = None) -> float | None:
    """Return a length of time in days, or a number as it is."""
    if value is None:
        return None
    if isinstance(value, datetime.timedelta | np.timedelta64):
        value = float(np.timedelta64(value) / np.timedelta64(1, "D"))
    if least is not None and value == least and not isinstance(value, bool):
        return least
    return check_positive_number(value, name)


def _run_length(value: Any) -> tuple[float | str, float]:
    """Return an average run length as JSON can hold it, and its logarithm."""
    in_days = isinstance(value, datetime.timedelta | np.timedelta64)
    if isinstance(value, str):
        found = _DAYS.fullmatch(value)
        if found is None:
            raise ValueError(f"average_run_length must be a number or '730 days', got {value!r}.")
        value, in_days = float(found[1]), True
    number = _days(value, "average_run_length")
    assert number is not None
    return (f"{number:g} days" if in_days else number), float(np.log(number))
