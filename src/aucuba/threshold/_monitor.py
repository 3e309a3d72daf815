"""Watch a promised rate after deployment."""

from __future__ import annotations

import json
from numbers import Integral
from typing import Any

import numpy as np

from aucuba._base._files import reading_json
from aucuba._base._stream_labels import StreamLabels
from aucuba._base._typing import ArrayLike
from aucuba._base._validation import check_choice, check_fraction
from aucuba.threshold._calendar import length_in_days, run_length
from aucuba.threshold._cohorts import DAYS, Cohorts
from aucuba.threshold._monitor_history import History
from aucuba.threshold._monitor_report import MonitorReport
from aucuba.threshold._monitor_state import MonitorState, inclusion_share
from aucuba.threshold._promise import ALERTS, promise_named
from aucuba.threshold._rate_evidence import RateEvidence

_PARAMETERS = (
    *("limit", "rate", "confidence", "average_run_length", "labels", "label_horizon", "cohort"),
    *("unlabelled", "ok_window", "min_inclusion_probability"),
)


class RateMonitor(MonitorReport):
    r"""Running check of whether a deployed classifier keeps its rate.

    Feed it labelled batches as they arrive, and look as often as you like. There are two separate
    signals:

    - ``status`` becomes ``"broken"``, and stays so, once the evidence against "the mean rate of the
      rows so far was always within the limit" has passed 1 / (1 - ``confidence``). It is ``"ok"``
      while the evidence for "the mean rate over all counted rows since the last restart is within the
      limit" has passed it, and ``"unsure"`` otherwise. It is ``"unknown"`` while text labels have
      arrived but none is known to be positive. An FPR or a TPR is ``"unsure"`` until a row that was not
      flagged has a label: if only flagged rows are labelled, every positive seen is a hit.
    - ``changed`` detects a rise after a long good history, whose evidence ``status`` would have to
      undo first. It bounds not the probability of a false alarm but the mean time until one:
      ``average_run_length``. Every good stream raises it sooner or later; from then on ``ok`` is
      withheld until `acknowledge` or the next restart of ``ok_window`` clears it.

    Let :math:`p_i` be the rate of row i given the rows before it. The probability that the monitor ever
    says ``"ok"`` at an n where the mean of :math:`p_1, \dots, p_n` lies beyond the limit is at most
    1 - ``confidence``, under any drift; so is the probability that it says ``"broken"`` while all
    these means keep the limit.

    Early labels are not a random sample of all labels. With ``label_horizon`` rows are registered when
    they are scored, and whole cohorts of them count in the order of their event times once a cohort is
    older than the horizon, whatever their outcomes; this is what the theorem needs. ``"broken"`` may
    come earlier: for every prefix of past cohorts the evidence is bounded from below by counting each
    waiting row as the least harmful that it can be.

    Parameters
    ----------
    limit : float
        ``max_fpr``, ``min_tpr``, ``min_precision`` or ``max_alert_rate``, in (0, 1).
    rate : {"fpr", "tpr", "precision", "alerts"}, default="fpr"
        The rate to watch.
    confidence : float, default=0.95
        One minus the largest probability of a false ``"broken"``, and of a false ``"ok"``.
    average_run_length : float, timedelta or str, default=100_000
        Lower bound on the mean number of counted rows (or groups) until ``changed`` is raised falsely;
        with ``label_horizon`` also of days, as ``"730 days"``.
    labels : pair (negative, positive), default=None
        The labels in ``y_true`` and ``y_flag``; ``negative`` may be a list of classes. Any other value
        is an error. None takes booleans, or 0 and 1, and text if its positive label is unmistakable,
        such as "fraud" or "yes". Booleans are always understood.
    label_horizon : float or timedelta, default=None
        Days after which the monitor stops waiting for a label. None if labels arrive with their rows.
    cohort : {"day", "week"}, default="day"
        Which rows count together, by their event time; weeks begin on Mondays.
    unlabelled : {"worst", "negative", "drop"}, default="worst"
        How a row without a label at the horizon counts. "worst": in the way least favourable to the
        statement made, which assumes nothing. "negative": as a negative, so a positive is one reported
        within the horizon, and the guarantee is about that rate. "drop": not at all, which assumes that
        missing labels do not depend on what the rate compares: the flag within a class (FPR, TPR), or
        the class among flagged rows (precision).
    ok_window : float or timedelta, default=None
        Restart the evidence for ``"ok"``, and the detector, after this many days, or counted rows
        without ``label_horizon``. The j-th run has 1 / (j (j + 1)) of the error of ``"ok"``.
    min_inclusion_probability : float, default=None
        For partly labelled streams: the smallest probability, in (0, 1], that a row is labelled. The
        rows given are then the labelled ones, drawn independently of each other, and a row with the
        ``inclusion_probability`` p counts as ``min_inclusion_probability`` / p rows. The statements are
        about the mean rate of all rows, labelled or not.

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
        min_inclusion_probability: float | None = None,
    ) -> None:
        promise = promise_named(rate, "rate")
        allowed = promise.allowed(limit, "limit")
        self.limit = float(limit)
        self.rate = rate
        self.confidence = check_fraction(confidence, "confidence", low_open=True, high_open=True)
        self.cohort = check_choice(cohort, "cohort", tuple(DAYS))
        self.unlabelled = check_choice(unlabelled, "unlabelled", ("worst", "negative", "drop"))
        self.label_horizon = length_in_days(label_horizon, "label_horizon", least=0.0)
        self.ok_window = length_in_days(ok_window, "ok_window")
        self.min_inclusion_probability = min_inclusion_probability
        if min_inclusion_probability is not None:
            check_fraction(min_inclusion_probability, "min_inclusion_probability", low_open=True)
            if self.label_horizon is not None or promise is ALERTS:
                other = "rate='alerts'" if promise is ALERTS else "label_horizon"
                raise ValueError(
                    f"min_inclusion_probability does not go with {other}, which knows every row; leave "
                    "one of the two out."
                )
        length, in_days = run_length(average_run_length)
        # A form that JSON can hold.
        self.average_run_length = f"{length:g} days" if in_days else length
        if self.label_horizon is not None and promise is ALERTS:
            raise ValueError("rate='alerts' needs no labels; leave label_horizon out.")
        if self.label_horizon is None and in_days:
            raise ValueError(
                f"average_run_length={average_run_length!r} counts days, which need label_horizon; "
                "give that, or a number of rows."
            )
        joining = DAYS[self.cohort] if in_days else None
        self._state = MonitorState(
            promise,
            StreamLabels.named(labels),
            RateEvidence(allowed, self.confidence, self.ok_window, joining),
            None if self.label_horizon is None else Cohorts(self.cohort, self.label_horizon),
            self.unlabelled,
            float(np.log(length)),
        )
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
        inclusion_probability: ArrayLike | None = None,
    ) -> RateMonitor:
        """Add a batch of rows in the order in which they arrived.

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
            With ``label_horizon``: when the rows were scored, as dates or numbers of days. Days are
            those of UTC; times without a zone are used unchanged. Rows have no identifiers here: the
            rows of a past day must come in one update, since a later one for that day is an error, and
            rows given twice on their own day count twice.
        label_time : array-like of shape (n_rows,), default=None
            When the labels became known; by default in time.
        as_of : date or number, default=None
            With ``label_horizon``: the present day, never earlier than in the update before.
        inclusion_probability : array-like of shape (n_rows,), default=None
            With ``min_inclusion_probability``: the probability with which each row was chosen to be
            labelled.

        Returns
        -------
        RateMonitor
            This monitor.
        """
        share = inclusion_share(inclusion_probability, self.min_inclusion_probability, groups)
        if self._state.cohorts is not None:
            self._state.add_arrivals(
                y_true, y_flag, groups, event_time, label_time, as_of, are_registered=False
            )
        elif event_time is not None or label_time is not None or as_of is not None:
            raise ValueError(
                "event_time, label_time and as_of need RateMonitor(label_horizon=...)."
            )
        else:
            self._state.add_rows(y_true, y_flag, groups, share)
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

        Rows are distinguished only by cohort, flag and group. Labels of cohorts that have already been
        counted change only ``n_late``. Every call counts the cohorts that have matured by ``as_of``, so
        give labels before the new rows of the day, or of the week.

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
        if self._state.cohorts is None:
            raise ValueError("update_labels needs RateMonitor(label_horizon=...).")
        self._state.add_arrivals(
            y_true, y_flag, groups, event_time, label_time, as_of, are_registered=True
        )
        return self._record()

    def acknowledge(self, as_of: Any = None) -> RateMonitor:
        """Clear ``changed``, so that the status can be ``"ok"`` again; the history records it.

        Parameters
        ----------
        as_of : date or number, default=None
            The present day, with ``label_horizon``.

        Returns
        -------
        RateMonitor
            This monitor.
        """
        self._state.acknowledge(as_of)
        return self._record("acknowledged")

    def update_alerts(self, n_flagged: int, n_rows: int) -> RateMonitor:
        """Add a batch by its counts alone, for ``rate="alerts"``.

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
        if self._state.promise is not ALERTS:
            raise ValueError(
                f"update_alerts counts flagged rows, which says nothing about rate={self.rate!r}; use "
                "update with labels, or RateMonitor(rate='alerts')."
            )
        for value, name in ((n_flagged, "n_flagged"), (n_rows, "n_rows")):
            if isinstance(value, bool) or not isinstance(value, Integral) or value < 0:
                raise ValueError(f"{name} must be a whole number of at least 0, got {value!r}.")
        if n_flagged > n_rows:
            raise ValueError(f"n_flagged={n_flagged} is more than n_rows={n_rows}.")
        self._state.add_counts(int(n_rows), int(n_flagged))
        return self._record()

    def to_json(self) -> str:
        """Return parameters, state and history as text that `from_json` reads.

        Returns
        -------
        str
            A JSON object.
        """
        parameters = {name: getattr(self, name) for name in _PARAMETERS}
        state = {**self._state.to_json(), "history": self._history.looks}
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
        with reading_json(text, "aucuba_monitor", "RateMonitor") as content:
            monitor = cls(**content["parameters"])
            monitor._state.restore(content["state"])
            monitor._history = History.restored(content["state"]["history"])
        return monitor

    def _record(self, event: str = "") -> RateMonitor:
        self._history.add(self._state.look(event))
        return self
