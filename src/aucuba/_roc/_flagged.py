"""Rates of flagged rows at a fixed threshold, counted as rows arrive."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from aucuba._base._typing import ArrayLike, FloatArray
from aucuba._roc._points import COUNTED_IN_RATES
from aucuba._roc._prevalence import prevalence_text, rate_at_prevalence, target_range
from aucuba._roc._standard_error import clopper_pearson, wilson_interval

# A prevalence, or the ends of an interval of prevalences.
Target = tuple[float, float]
# Rates that depend on the prevalence.
MIXED = ("precision", "npv", "alert_rate")
# Names of rates for tables, those of a threshold in this order.
RATE_NAMES = {
    "alert_rate": "flagged",
    "fpr": "FPR (false alarms)",
    "tpr": "TPR (sensitivity)",
    "precision": "precision",
}


@dataclass(frozen=True)
class FlaggedRate:
    """A rate at a threshold with its 95 % interval; nan, from 0 to 1, where it has no rows."""

    value: float
    low: float
    high: float

    def verdict(self, limit: float, *, at_most: bool) -> str:
        """Tell whether these rows show that a limit is kept: by the interval, not by the value.

        Examples
        --------
        >>> from aucuba._roc._flagged import FlaggedRate
        >>> rate = FlaggedRate(0.03, 0.02, 0.05)
        >>> [rate.verdict(limit, at_most=True) for limit in (0.01, 0.03, 0.06)]
        ['violated', 'not decided by these rows', 'within']
        """
        if (self.low > limit) if at_most else (self.high < limit):
            return "violated"
        if (self.high <= limit) if at_most else (self.low >= limit):
            return "within"
        return "not decided by these rows"


def rate_text(rate: FlaggedRate) -> str:
    """Write a rate with its interval in per cent.

    Examples
    --------
    >>> from aucuba._roc._flagged import FlaggedRate, rate_text
    >>> rate_text(FlaggedRate(0.0123, 0.01, 0.025))
    '1.23% [1.00%, 2.50%]'
    """
    if np.isnan(rate.value):
        return "no rows"
    return f"{rate.value:.2%} [{rate.low:.2%}, {rate.high:.2%}]"


class FlaggedRows:
    """Counts of flagged rows by class, from which every rate at the threshold follows.

    Intervals are exact binomial ones (Clopper and Pearson). With weights they are score intervals
    (Wilson) for the number of equally weighted rows that are as informative, ``sum(w)^2 / sum(w^2)``.

    Examples
    --------
    >>> import numpy as np
    >>> from aucuba._roc._flagged import FlaggedRows
    >>> rows = FlaggedRows()
    >>> rows.update(np.array([True, True, False, False]), np.array([True, False, False, False]))
    >>> rows.rate("tpr").value, rows.n_flagged
    (0.5, 1.0)
    """

    def __init__(self) -> None:
        self._weight = dict.fromkeys(("tp", "fp", "fn", "tn"), 0.0)
        self._squares = dict(self._weight)
        self._is_weighted = False

    def update(
        self,
        positive: ArrayLike,
        flagged: ArrayLike,
        weight: ArrayLike | None = None,
        *,
        frequency: bool = False,
    ) -> None:
        """Count some rows; with ``frequency`` a weight is a number of equal rows."""
        self._is_weighted |= weight is not None and not frequency
        positive, flagged = np.asarray(positive), np.asarray(flagged)
        weights = np.ones(len(positive)) if weight is None else np.asarray(weight)
        cells = {"tp": positive & flagged, "fp": ~positive & flagged}
        cells |= {"fn": positive & ~flagged, "tn": ~positive & ~flagged}
        for name, rows in cells.items():
            self._weight[name] += float(weights[rows].sum())
            self._squares[name] += float(np.sum(weights[rows] ** 2))

    @property
    def n_flagged(self) -> float:
        """Weight of the flagged rows."""
        return self._weight["tp"] + self._weight["fp"]

    def rate(self, name: str, target: Target | None = None) -> FlaggedRate:
        """Compute ``tpr``, ``fpr``, ``precision``, ``alert_rate`` or another rate by its name.

        With a ``target`` prevalence, rates that depend on it are those there, under label shift; of an
        interval the less favourable end counts.
        """
        if target is not None and name in MIXED:
            found = self.at_prevalences(name, np.array(target))
            end = np.argmax(found[0]) if name == "alert_rate" else np.argmin(found[0])
            return FlaggedRate(*found[:, end].tolist())
        return self._rate(name, 0.025)

    def at_prevalences(
        self, name: str, prevalence: FloatArray, confidence: float = 0.95
    ) -> FloatArray:
        """Return the value and the limits of a rate at each prevalence, as three rows.

        The limits join those of TPR and FPR, each with half of the error, and so hold at all
        prevalences together.
        """
        tpr, fpr = (self._rate(one, (1.0 - confidence) / 4) for one in ("tpr", "fpr"))
        corners = [(tpr.value, fpr.value)]
        corners += [(t, f) for t in (tpr.low, tpr.high) for f in (fpr.low, fpr.high)]
        value, *others = (rate_at_prevalence(name, *corner, prevalence) for corner in corners)
        # A corner without rows has no rate; its neighbours have 0 and 1.
        return np.stack([value, np.nanmin(others, axis=0), np.nanmax(others, axis=0)])

    def _rate(self, name: str, tail: float) -> FlaggedRate:
        hit, among = COUNTED_IN_RATES[name]
        hits = sum(self._weight[cell] for cell in hit.split())
        rows = sum(self._weight[cell] for cell in among.split())
        if rows == 0:
            return FlaggedRate(np.nan, 0.0, 1.0)
        if not self._is_weighted:
            return FlaggedRate(hits / rows, *clopper_pearson(hits, rows, tail))
        n_rows = rows**2 / sum(self._squares[cell] for cell in among.split())
        low, high = wilson_interval(hits / rows, n_rows, tail)
        return FlaggedRate(hits / rows, float(low), float(high))


@dataclass(frozen=True)
class StatedLimit:
    """A limit of a rate that a model's threshold was set for, or promises.

    ``target`` is the prevalence that it is for, if not that of the rows.
    """

    rate: str
    limit: float
    at_most: bool
    promised: bool
    target: Target | None = None

    def verdict(self, rows: FlaggedRows) -> str:
        """Tell whether counted rows show that the limit is kept."""
        return rows.rate(self.rate, self.target).verdict(self.limit, at_most=self.at_most)

    def __str__(self) -> str:
        word = "promised" if self.promised else "set in training"
        at = "" if self.target is None else f" at prevalence {prevalence_text(self.target)}"
        return f"at {'most' if self.at_most else 'least'} {self.limit:g}, {word}{at}"


# Parameters of the promised thresholds: the rate that each limits, and whether from above.
_PARAMETERS = {
    "max_fpr": ("fpr", True),
    "min_tpr": ("tpr", False),
    "min_precision": ("precision", False),
    "max_alert_rate": ("alert_rate", True),
}
# Classifiers with one promised threshold, by name: their package stands above this one.
_PROMISED = {
    "AlertBudgetClassifier": "alert_rate",
    "FixedFPRClassifier": "fpr",
    "FixedPrecisionClassifier": "precision",
    "FixedTPRClassifier": "tpr",
}


def promised_rate(classifier: Any) -> str | None:
    """Name the rate that a classifier with one promised threshold limits; None for any other."""
    kinds = (kind.__name__ for kind in type(classifier).__mro__)
    return next((_PROMISED[name] for name in kinds if name in _PROMISED), None)


def stated_limits(classifier: Any) -> list[StatedLimit]:
    """List the limits of a fitted classifier's own threshold; several at once have no single one."""
    known = vars(classifier)
    if "promise_" in known:
        # Of a triage, scores above 0 are blocked, which says nothing about what is cleared.
        known = {**known, "min_tpr": None} if "min_npv" in known else known
        given = known.get("target_prevalence")
        target = None if given is None else target_range(given)
        return [
            StatedLimit(
                *(rate, float(known[name]), at_most, bool(known["guarantee_"])),
                target if rate in MIXED else None,
            )
            for name, (rate, at_most) in _PARAMETERS.items()
            if isinstance(known.get(name), Real)
        ]
    rate = known.get("predict_fpr_", np.nan)
    return [] if np.isnan(rate) else [StatedLimit("fpr", float(rate), True, False)]
