"""One confidence for all calibrations of a threshold over its lifetime."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from joblib import hash as hashed
from sklearn.base import clone

from aucuba._base._drawing import axes_for
from aucuba._base._files import reading_json
from aucuba._base._typing import ArrayLike, FloatArray
from aucuba._base._validation import check_fraction
from aucuba.threshold._calendar import event_days, shown_day
from aucuba.threshold._class_rates import FixedFPRClassifier, FixedTPRClassifier
from aucuba.threshold._monitor import RateMonitor
from aucuba.threshold._population_rates import FixedPrecisionClassifier

_RATES: dict[type, tuple[str, str]] = {
    FixedFPRClassifier: ("fpr", "max_fpr"),
    FixedTPRClassifier: ("tpr", "min_tpr"),
    FixedPrecisionClassifier: ("precision", "min_precision"),
}
# Contents of the record of a calibration, besides its monitor.
_KINDS: dict[str, Any] = {
    **dict.fromkeys(("promise", "rate", "model_hash", "rows_hash"), str),
    **dict.fromkeys(("limit", "error", "monitor_error"), int | float),
    **dict.fromkeys(("n_rows", "n_units"), int),
    **dict.fromkeys(("first", "last", "threshold"), int | float | str),
    "is_guaranteed": bool,
}


class PromiseLedger:
    r"""Record of calibrations and monitors that share one confidence.

    With a = 1 - ``confidence``, the k-th calibration has the error a / (2 k (k + 1)), and its monitor
    the same, half of it for ``"broken"`` and half for ``"ok"``. All errors add up to at most a. So with
    probability ``confidence`` every recorded calibration kept its promise on the population that its
    rows came from, and no recorded monitor falsely said ``"broken"`` or ``"ok"``. The monitors detect
    drift after a calibration; nothing prevents it.

    A recalibration follows an alarm, and an alarm depends on the rows that the monitor counted. So
    these rows may not calibrate again: `calibrate` refuses rows up to the monitor's last day, unless
    ``reuse=True``, which records that there is no guarantee.

    Parameters
    ----------
    confidence : float, default=0.95
        Probability that everything recorded holds, in (0, 1).

    Attributes
    ----------
    entries : list of dict
        One per calibration: promise, rows, dates, threshold, errors, hashes of model and rows.
    monitor : RateMonitor or None
        The monitor of the latest calibration.

    See Also
    --------
    RateMonitor : Watch a promised rate after deployment.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from aucuba.threshold import FixedFPRClassifier, PromiseLedger
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(2000, 2)), np.arange(2000) % 2
    >>> X[:, 0] += 2 * y
    >>> ledger = PromiseLedger(confidence=0.95)
    >>> base = FixedFPRClassifier(LogisticRegression(), max_fpr=0.1, random_state=0)
    >>> alarm = ledger.calibrate(base, X, y, time=np.arange(2000) // 20)
    >>> round(alarm.confidence, 4), round(ledger.monitor.confidence, 5), round(ledger.spent, 4)
    (0.9875, 0.99375, 0.025)
    """

    def __init__(self, confidence: float = 0.95) -> None:
        self.confidence = check_fraction(confidence, "confidence", low_open=True, high_open=True)
        self.entries: list[dict[str, Any]] = []
        self.monitor: RateMonitor | None = None

    def calibrate(
        self,
        classifier: Any,
        X: Any,
        y: ArrayLike | None = None,
        *,
        time: ArrayLike,
        reuse: bool = False,
        label_horizon: Any = 0,
        **monitor_options: Any,
    ) -> Any:
        """Fit a promised threshold with the next part of the error, and start its monitor.

        Parameters
        ----------
        classifier : FixedFPRClassifier, FixedTPRClassifier or FixedPrecisionClassifier
            With one limit and without strata. It is cloned, unless its base is already fitted; its
            ``confidence`` is replaced.
        X, y : array-like
            The rows, and their labels.
        time : array-like of shape (n_rows,)
            When the rows were seen, as dates or numbers of days. Unless the base is fitted or ``cv`` is
            not a fraction, the latest rows are held out.
        reuse : bool, default=False
            Accept rows that an earlier monitor has counted, and record that nothing is guaranteed.
        label_horizon, **monitor_options
            Passed to the monitor.

        Returns
        -------
        classifier
            Fitted.
        """
        rate, parameter = _promise_of(classifier)
        day, dated = event_days(time, "time", len(np.asarray(time)))
        n_counted = self._n_counted_before(day, dated)
        if n_counted and not reuse:
            raise ValueError(
                f"{n_counted} rows are from days that the monitor of an earlier calibration has "
                "counted, and its alarm depends on them: calibrate on later rows, or give reuse=True, "
                "which records that there is no guarantee."
            )
        k = len(self.entries) + 1
        error = _part(self.confidence, k)
        is_prefit = isinstance(classifier.cv, str) and classifier.cv == "prefit"
        fitted = (
            type(classifier)(**classifier.get_params(deep=False))
            if is_prefit
            else clone(classifier)
        )
        fitted.set_params(confidence=1.0 - error)
        by_time = isinstance(classifier.cv, float)
        fitted.fit(X, y, **({"time": time} if by_time else {}))
        self._close_monitor()
        self.monitor = RateMonitor(
            getattr(classifier, parameter),
            rate,
            1.0 - error / 2,
            label_horizon=label_horizon,
            **monitor_options,
        )
        self.entries.append(
            {
                "promise": fitted.promise_,
                "rate": rate,
                "limit": float(getattr(classifier, parameter)),
                "error": error,
                "monitor_error": error,
                "is_guaranteed": bool(fitted.guarantee_ and not n_counted),
                "n_rows": int(day.size),
                "n_units": int(fitted.n_units_),
                "first": _shown(day.min(), dated),
                "last": _shown(day.max(), dated),
                "threshold": _as_json(float(fitted.threshold_)),
                "model_hash": hashed(fitted.estimator_),
                "rows_hash": hashed((np.asarray(X), None if y is None else np.asarray(y))),
                "monitor": None,
            }
        )
        return fitted

    @property
    def monitors(self) -> list[RateMonitor]:
        """The monitors of all calibrations; earlier ones are copies of their last state."""
        closed = [RateMonitor.from_json(json.dumps(one["monitor"])) for one in self.entries[:-1]]
        return [*closed, *([] if self.monitor is None else [self.monitor])]

    @property
    def spent(self) -> float:
        """The error spent on the recorded calibrations and monitors, recomputed from their number."""
        return sum(2 * _part(self.confidence, k + 1) for k in range(len(self.entries)))

    @property
    def is_guaranteed(self) -> bool:
        """Whether every entry is covered: none reused counted rows or pooled folds."""
        return all(entry["is_guaranteed"] for entry in self.entries)

    def summary(self) -> str:
        """Describe what is promised, in one sentence per calibration.

        Returns
        -------
        str
            Lines of text.
        """
        lines = [
            f"Confidence {self.confidence:g} for {len(self.entries)} calibrations and their monitors, "
            f"of which an error of {self.spent:.4g} is spent"
            f"{'' if self.is_guaranteed else '; NO GUARANTEE for those marked'}."
        ]
        for k, entry in enumerate(self.entries, 1):
            said = self._states()[k - 1]
            mark = "" if entry["is_guaranteed"] else " [no guarantee]"
            lines.append(
                f"{k}. {entry['first']} to {entry['last']}: {entry['promise']}{mark} Monitor: {said}"
            )
        return "\n".join(lines)

    def to_json(self) -> str:
        """Return everything as text that `from_json` reads.

        Returns
        -------
        str
            A JSON object.
        """
        entries = [dict(entry) for entry in self.entries]
        if self.monitor is not None:
            entries[-1]["monitor"] = json.loads(self.monitor.to_json())
        content = {"aucuba_ledger": 1, "confidence": self.confidence, "entries": entries}
        return json.dumps(content, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> PromiseLedger:
        """Restore a ledger from the text of `to_json`, after recomputing every error.

        Parameters
        ----------
        text : str
            The JSON object.

        Returns
        -------
        PromiseLedger
            A ledger that continues where the other stopped.
        """
        with reading_json(text, "aucuba_ledger", "PromiseLedger") as content:
            ledger = cls(content["confidence"])
            for k, entry in enumerate(content["entries"], 1):
                error = _part(ledger.confidence, k)
                monitor = RateMonitor.from_json(json.dumps(entry["monitor"]))
                stated = (entry["error"], entry["monitor_error"], 2 * (1.0 - monitor.confidence))
                if not np.allclose(stated, error, rtol=1e-9):
                    raise ValueError(f"calibration {k} has the error {entry['error']}, not {error}")
                _check_entry(entry, k)
                ledger.entries.append(entry)
                ledger.monitor = monitor
            if ledger.entries:
                ledger.entries[-1]["monitor"] = None
        return ledger

    def plot(self, ax: Any = None) -> Any:
        """Draw the calibrations, and what their monitors said, over time.

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
        colors = {"ok": "C2", "unsure": "0.7", "broken": "C3", "unknown": "0.4"}
        for k, history in enumerate(self._histories(), 1):
            entry = self.entries[k - 1]
            ends = _as_dates([entry["first"], entry["last"]])
            ax.plot(ends, [k, k], color="C0", linewidth=6, label="calibration" if k == 1 else None)
            dated = [row for row in history if row["as_of"] is not None]
            for status in dict.fromkeys(row["status"] for row in dated):
                days = _as_dates([row["as_of"] for row in dated if row["status"] == status])
                ax.plot(days, np.full(days.size, k), ".", color=colors[status], label=status)
        handles, labels = ax.get_legend_handles_labels()
        shown = dict(zip(labels, handles, strict=True))
        ax.set(ylabel="calibration", yticks=range(1, len(self.entries) + 1))
        ax.legend(shown.values(), shown.keys())
        return ax

    def _n_counted_before(self, day: FloatArray, dated: bool) -> int:
        """Count the rows up to the last day of any monitor; the latest monitor may have no rows."""
        last = [history[-1]["as_of"] for history in self._histories() if history]
        if not last:
            return 0
        seen, were_dated = event_days(last, "as_of", len(last))
        if dated != were_dated:
            raise ValueError("time and as_of of the monitors must both be dates, or both numbers.")
        # A date without an hour covers its whole day.
        return int(np.sum(np.floor(day) <= np.floor(seen.max())))

    def _close_monitor(self) -> None:
        if self.monitor is not None:
            self.entries[-1]["monitor"] = json.loads(self.monitor.to_json())

    def _histories(self) -> list[list[dict[str, Any]]]:
        return [monitor.history for monitor in self.monitors]

    def _states(self) -> list[str]:
        return [
            f"{one.status}{', changed' if one.changed else ''} after {one.n_counted} counted."
            for one in self.monitors
        ]

    def __repr__(self) -> str:
        return f"PromiseLedger(confidence={self.confidence:g}): {len(self.entries)} calibrations"


def _part(confidence: float, k: int) -> float:
    """Return the error of the k-th calibration, which its monitor has too; all add up to a."""
    return (1.0 - confidence) / (2 * k * (k + 1))


def _as_json(threshold: float) -> float | str:
    """Return a threshold as JSON can hold it: an infinite one as text."""
    return threshold if np.isfinite(threshold) else str(threshold)


def _check_entry(entry: dict[str, Any], k: int) -> None:
    """Raise an error if the record of a calibration lacks a part or has a wrong value."""
    for name, kinds in _KINDS.items():
        one = entry[name]
        if not isinstance(one, kinds) or isinstance(one, bool) is not (kinds is bool):
            raise ValueError(f"calibration {k} has {name}={one!r}")
    float(entry["threshold"])
    if not _as_dates([entry["first"]]) <= _as_dates([entry["last"]]):
        raise ValueError(f"calibration {k} ends before it begins")


def _promise_of(classifier: Any) -> tuple[str, str]:
    """Return the rate of a classifier and the parameter that limits it."""
    if type(classifier) not in _RATES:
        names = ", ".join(kind.__name__ for kind in _RATES)
        raise ValueError(
            f"A ledger records {names}, not {type(classifier).__name__}: its monitor must know the "
            "days of its rows, which a monitor of an alert rate does not."
        )
    rate, parameter = _RATES[type(classifier)]
    limit, second = getattr(classifier, parameter), getattr(classifier, "min_tpr", None)
    if np.ndim(limit) or classifier.strata is not None or (rate == "fpr" and second is not None):
        raise ValueError(
            "A ledger records one limit of one rate, without strata, since a monitor watches one rate; "
            "keep a ledger per limit or stratum, and divide the error among them."
        )
    return rate, parameter


def _shown(day: float, dated: bool) -> Any:
    if dated:
        return shown_day(day)
    return int(day) if day == np.floor(day) else float(day)


def _as_dates(values: list[Any]) -> FloatArray:
    column = np.array(values)
    return column.astype("datetime64[D]") if column.dtype.kind == "U" else column
