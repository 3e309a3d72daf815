"""Report of a monitor: status, counts, history and picture."""

from __future__ import annotations

from typing import Any

from aucuba.threshold._monitor_history import History, draw_history
from aucuba.threshold._monitor_state import MonitorState


class MonitorReport:
    """Statements of a monitor about the rows that it has seen.

    `RateMonitor` sets these attributes.
    """

    limit: float
    rate: str
    confidence: float
    _state: MonitorState
    _history: History

    @property
    def labels(self) -> tuple[Any, Any] | None:
        """The labels (negative, positive) that were named or seen; None if there are none yet."""
        return self._state.labels.pair

    @property
    def status(self) -> str:
        """``"broken"``, ``"ok"``, ``"unsure"``, or ``"unknown"`` without a known positive label."""
        return self._state.verdict()[0]

    @property
    def reason(self) -> str:
        """Why the status is withheld, or what it assumes; else empty.

        ``"positive_label"`` (none is known), ``"flagged_only"`` (no unflagged row ever had a label),
        ``"changed"`` (`acknowledge` it), ``"reported_within_horizon"`` or ``"missing_at_random"``.
        """
        return self._state.verdict()[1]

    @property
    def changed(self) -> bool:
        """Whether the detector has found a rise above the limit since it was cleared."""
        return self._state.changed

    @property
    def n_counted(self) -> float:
        """Labelled rows (or groups) that the rate counted so far.

        With ``min_inclusion_probability`` a row counts in part.
        """
        return self._state.n_counted

    @property
    def n_against(self) -> float:
        """How many of them counted against the limit; fractional for groups."""
        return self._state.n_against

    @property
    def log_evidence(self) -> float:
        """Logarithm of the largest evidence for ``"broken"`` so far."""
        return self._state.evidence.log_evidence

    @property
    def log_detector(self) -> float:
        """Logarithm of the largest state of the detector of ``changed`` since it was cleared."""
        return self._state.evidence.log_detector

    @property
    def observed(self) -> float | None:
        """The rate of the labelled rows so far; None before the first counted row."""
        if self.n_counted == 0:
            return None
        return float(self._state.promise.limit(self.n_against / self.n_counted))

    @property
    def n_waiting(self) -> int:
        """How many rows wait for their labels."""
        return self._state.n_waiting

    @property
    def n_late(self) -> int:
        """Number of labels that arrived too late to change anything."""
        return self._state.n_late

    @property
    def interval(self) -> tuple[float, float]:
        """Ends of the two confidence sequences of the mean rate, each at ``confidence``.

        The end that decides about ``"ok"`` is about the rows since its last restart.
        """
        row = self.summary()
        return row["lower"], row["upper"]

    @property
    def history(self) -> list[dict[str, Any]]:
        """One row per update; after very many, only some of those between changes of status."""
        return self._rows(self._history)

    def summary(self) -> dict[str, Any]:
        """Return the current statements of the monitor.

        Returns
        -------
        dict
            One row of `to_frame`.
        """
        return self._rows(History([self._state.look()]))[0]

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
        if self.status == "ok":
            start += f" over all counted rows since {self._state.since}"
        signal = ", changed" if self.changed else ""
        return f"{start}{signal}, {self.observed:.4g} observed in {self.n_counted:.10g} counted"

    def _rows(self, history: History) -> list[dict[str, Any]]:
        state = self._state
        return history.rows(
            state.promise, 1.0 - self.confidence, state.evidence.ok_error, state.dated
        )
