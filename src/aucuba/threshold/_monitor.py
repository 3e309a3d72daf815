"""Watch a promised rate after deployment."""

from __future__ import annotations

import json
from numbers import Integral
from typing import Any

import numpy as np

from aucuba._base._drawing import axes_for
from aucuba._base._typing import ArrayLike, FloatArray
from aucuba._base._validation import check_fraction, check_positive_number, query_index
from aucuba.threshold._promise import ALERTS, promise_named
from aucuba.threshold._sequences import (
    CHANGES,
    advance_detector,
    advance_detector_by_counts,
    log_evidence_above,
    log_evidence_below,
    lower_limit,
    upper_limit,
)
from aucuba.threshold._stream_labels import StreamLabels

_STATE = ("n_counted", "n_against", "log_evidence", "log_detector", "detector", "history")


class RateMonitor:
    """A running check of whether a deployed classifier keeps its rate.

    Feed it labelled batches as they come, and look as often as you like. Two signals are kept
    apart:

    - ``status`` is ``"broken"`` once the evidence against "at every row the rate was within the
      limit" has passed 1 / (1 - ``confidence``). A rate within the limit is called broken with
      probability of at most 1 - ``confidence`` over any number of looks, under any drift within the
      limit. It is ``"ok"`` while the upper confidence sequence lies within the limit, which assumes a
      constant rate, and ``"unsure"`` otherwise. It is ``"unknown"`` while text labels have come of
      which none is known to be the positive one.
    - ``changed`` detects a rise after a long good history, whose evidence ``status`` would have to
      undo first. It bounds not the probability of a false alarm but the mean time until one: at
      least ``average_run_length`` counted rows.

    Parameters
    ----------
    limit : float
        ``max_fpr``, ``min_tpr``, ``min_precision`` or ``max_alert_rate``, in (0, 1).
    rate : {"fpr", "tpr", "precision", "alerts"}, default="fpr"
        What is watched.
    confidence : float, default=0.95
        One minus the largest probability of a false ``"broken"``.
    average_run_length : float, default=100_000
        The smallest mean number of counted rows (or groups) until ``changed`` is raised falsely.
    labels : pair (negative, positive), default=None
        The labels in ``y_true`` and ``y_flag``; ``negative`` may be a list of classes. Any other value
        is an error. None takes booleans, or 0 and 1; of text it takes the positive label only if it
        is unmistakable, such as "fraud" or "yes". Booleans are understood beside all labels.

    Attributes
    ----------
    n_counted : int
        Rows (or groups) that the rate counted so far.
    n_against : float
        How many of them counted against the limit; fractional for groups.
    history : list of dict
        One row per update.

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
        average_run_length: float = 100_000,
        labels: Any = None,
    ) -> None:
        self._promise = promise_named(rate, "rate")
        self._allowed = self._promise.allowed(limit, "limit")
        self.limit = float(limit)
        self.rate = rate
        self.confidence = check_fraction(confidence, "confidence", low_open=True, high_open=True)
        self.average_run_length = check_positive_number(average_run_length, "average_run_length")
        self._labels = StreamLabels.named(labels)
        self.n_counted = 0
        self.n_against = 0.0
        self.log_evidence = 0.0
        self.log_detector = -np.inf
        self.detector: FloatArray = np.full(len(CHANGES), -np.inf)
        self.history: list[dict[str, Any]] = []

    def update(
        self, y_true: ArrayLike | None, y_flag: ArrayLike, groups: ArrayLike | None = None
    ) -> RateMonitor:
        """Add a batch of rows in the order in which they came.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,)
            Labels. None for an alert rate, which needs none.
        y_flag : array-like of shape (n_rows,)
            Which rows were flagged: booleans, 0 and 1, or predicted labels.
        groups : array-like of shape (n_rows,), default=None
            Each group counts once, by the mean over its rows, and must come whole in one batch.

        Returns
        -------
        RateMonitor
            This monitor.
        """
        flagged, labels = self._labels.read(y_flag, "y_flag")
        positive = np.zeros(flagged.shape, dtype=bool)
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
        if losses.size:
            n = self.n_counted + np.arange(1.0, losses.size + 1)
            s = self.n_against + np.cumsum(losses)
            # Rows with less than the allowed loss only lower the evidence, so it peaks at the others.
            peaks = losses > self._allowed
            states = advance_detector(self.detector, losses, self._allowed)
            self._advance(n[peaks], s[peaks], states)
            self.n_counted, self.n_against = int(n[-1]), float(s[-1])
        return self._record()

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
        if n_rows:
            state = advance_detector_by_counts(self.detector, n_rows, n_flagged, self._allowed)
            n, s = self.n_counted + int(n_rows), self.n_against + int(n_flagged)
            self._advance(np.array([float(n)]), np.array([float(s)]), state[None, :])
            self.n_counted, self.n_against = n, float(s)
        return self._record()

    @property
    def labels(self) -> tuple[Any, Any] | None:
        """The labels (negative, positive) that were named or seen; None before any was."""
        return self._labels.pair

    @property
    def status(self) -> str:
        """``"broken"``, ``"ok"``, ``"unsure"``, or ``"unknown"`` without a known positive label."""
        if self._labels.lack_a_positive:
            return "unknown"
        needed = -np.log1p(-self.confidence)
        if self.log_evidence >= needed:
            return "broken"
        n, s = np.array([float(self.n_counted)]), np.array([self.n_against])
        return "ok" if log_evidence_below(n, s, self._allowed)[0] >= needed else "unsure"

    @property
    def changed(self) -> bool:
        """Whether the detector has found a rise above the limit."""
        return bool(self.log_detector >= np.log(self.average_run_length))

    @property
    def observed(self) -> float | None:
        """The rate so far; None before the first counted row."""
        if self.n_counted == 0:
            return None
        return self._promise.limit(self.n_against / self.n_counted)

    @property
    def interval(self) -> tuple[float, float]:
        """Ends of the two confidence sequences, each at ``confidence``, for a constant rate."""
        error = 1.0 - self.confidence
        ends = [
            self._promise.limit(end(self.n_counted, self.n_against, error))
            for end in (lower_limit, upper_limit)
        ]
        return min(ends), max(ends)

    def to_frame(self) -> Any:
        """Return the history as a pandas DataFrame, one row per update.

        Returns
        -------
        DataFrame
            Columns ``n_counted``, ``n_against``, ``observed``, ``lower``, ``upper``,
            ``log_evidence``, ``status`` and ``changed``.
        """
        import pandas as pd

        return pd.DataFrame(self.history, columns=list(self._row()))

    def to_json(self) -> str:
        """Return parameters, state and history as text that `from_json` reads.

        Returns
        -------
        str
            A JSON object.
        """
        names = ("limit", "rate", "confidence", "average_run_length", "labels")
        state = {name: getattr(self, name) for name in _STATE}
        # JSON has no infinity: before the first row the detector's logarithms are null.
        state["detector"] = [None if np.isinf(one) else one for one in self.detector.tolist()]
        state["log_detector"] = None if np.isinf(self.log_detector) else self.log_detector
        parameters = {name: getattr(self, name) for name in names}
        content = {"aucuba_monitor": 1, "parameters": parameters, "state": state}
        return json.dumps(content, allow_nan=False)

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
        try:
            content = json.loads(text)
            if content["aucuba_monitor"] != 1:
                raise ValueError(f"format {content['aucuba_monitor']!r}")
            monitor = cls(**content["parameters"])
            for name in _STATE:
                setattr(monitor, name, content["state"][name])
            listed = [-np.inf if one is None else one for one in monitor.detector]
            monitor.detector = np.array(listed, dtype=np.float64)
            if monitor.log_detector is None:
                monitor.log_detector = -np.inf
            if monitor.detector.shape != (len(CHANGES),):
                raise ValueError(f"a detector of shape {monitor.detector.shape}")
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"This is not the text of RateMonitor.to_json: {error}.") from error
        return monitor

    def plot(self, ax: Any = None) -> Any:
        """Draw the observed rate with its confidence sequences and the limit, by counted rows.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib Axes
            The axes drawn into.
        """
        ax = axes_for(ax, layout="constrained")
        rows = [row for row in self.history if row["n_counted"]]
        n, observed, lower, upper = (
            np.array([row[name] for row in rows], dtype=float)
            for name in ("n_counted", "observed", "lower", "upper")
        )
        ax.plot(n, observed, color="C0", label=f"observed {self.rate}")
        label = f"confidence sequences, {self.confidence:.0%} each"
        ax.fill_between(n, lower, upper, color="C0", alpha=0.2, linewidth=0, label=label)
        ax.axhline(self.limit, color="black", linestyle="--", label=f"limit {self.limit:g}")
        for name, color, happened in (
            ("broken", "C3", [row["status"] == "broken" for row in rows]),
            ("changed", "C1", [row["changed"] for row in rows]),
        ):
            if any(happened):
                first = n[int(np.argmax(happened))]
                ax.axvline(
                    first, color=color, linestyle=":", label=f"{name} after {first:,.0f} counted"
                )
        ax.set(xlabel="counted rows", ylabel=self.rate, xlim=(0, None))
        ax.legend()
        return ax

    def __repr__(self) -> str:
        start = f"RateMonitor(limit={self.limit:g}, rate={self.rate!r}): {self.status}"
        if self.observed is None:
            return start
        signal = ", changed" if self.changed else ""
        return f"{start}{signal}, {self.observed:.4g} observed in {self.n_counted} counted"

    def _advance(self, n: FloatArray, s: FloatArray, states: FloatArray) -> None:
        evidence = log_evidence_above(n, s, self._allowed)
        self.log_evidence = max(self.log_evidence, float(evidence.max(initial=-np.inf)))
        averages = np.logaddexp.reduce(states, axis=1) - np.log(len(CHANGES))
        self.log_detector = max(self.log_detector, float(averages.max()))
        self.detector = states[-1]

    def _row(self) -> dict[str, Any]:
        lower, upper = self.interval
        return {
            "n_counted": self.n_counted,
            "n_against": self.n_against,
            "observed": self.observed,
            "lower": lower,
            "upper": upper,
            "log_evidence": self.log_evidence,
            "status": self.status,
            "changed": self.changed,
        }

    def _record(self) -> RateMonitor:
        self.history.append(self._row())
        return self
