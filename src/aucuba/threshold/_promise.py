"""The four rates that can be promised, and their wording.

Each is the mean of a loss over the rows that it counts: a flagged negative, a missed positive, a
negative among the flagged, or a flagged row. The promise keeps that mean at or below an allowed
rate.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np

from aucuba._base._typing import BoolArray
from aucuba._base._validation import check_choice, check_fraction


@dataclass(frozen=True)
class Promise:
    """One rate, the rows that it counts, and its words.

    Parameters
    ----------
    name : str
        Short name, as in `rows_needed`.
    parameter : str
        The parameter that sets the limit.
    words, counted_rows : str
        The rate and the rows that it counts, in words.
    limit_is_upper : bool
        Whether the rate must stay at or below the limit.
    flags_less : bool
        Whether a higher threshold keeps the promise more safely.
    counts, against : callable
        Which rows count, and which of them count against the promise, given (positive, flagged).
    sought : str
        The class of the rows that are sought.
    """

    name: str
    parameter: str
    words: str
    counted_rows: str
    limit_is_upper: bool
    flags_less: bool
    counts: Callable[[BoolArray, BoolArray], BoolArray]
    against: Callable[[BoolArray, BoolArray], BoolArray]
    sought: str = "positive"

    def allowed(self, limit: Any, name: str | None = None) -> float:
        """Return the highest mean loss that keeps the limit, which must lie in (0, 1)."""
        rate = check_fraction(limit, name or self.parameter, low_open=True, high_open=True)
        # 1 - 0.95 is not 0.05 in binary, so without rounding the promise would need one more row.
        return rate if self.limit_is_upper else round(1.0 - rate, 15)

    def allowed_rates(self, limits: Any) -> list[float]:
        """Return the highest mean losses that keep one limit, or a list of them."""
        listed = [limits] if isinstance(limits, Real | str) or limits is None else list(limits)
        if not listed:
            raise ValueError(f"{self.parameter} is an empty list; promise at least one rate.")
        rates = [self.allowed(limit) for limit in listed]
        if len(set(rates)) < len(rates):
            raise ValueError(f"{self.parameter} has equal rates: {listed}; give each rate once.")
        return rates

    def limit(self, allowed: Any) -> Any:
        """Return the limit whose highest mean loss is ``allowed``, a number or an array."""
        return allowed if self.limit_is_upper else 1.0 - allowed

    def in_words(self, allowed: Sequence[float]) -> str:
        """Write out the rate and its limits."""
        limits = ", ".join(f"{self.limit(rate):g}" for rate in allowed)
        return f"{self.words} {self.bound} {limits}"

    def of_groups_in_words(self, allowed: Sequence[float], group: str) -> str:
        """Write out the promise about groups, in which a single row breaks it."""
        rates = ", ".join(f"{1.0 / rate:,.4g}" for rate in allowed)
        row = {"fpr": "a flagged negative", "tpr": "a missed positive"}.get(
            self.name, "a flagged row"
        )
        return f"at most one {group} in {rates} has {row}"

    @property
    def bound(self) -> str:
        return "at most" if self.limit_is_upper else "at least"

    @property
    def is_of_one_class(self) -> bool:
        """Whether the rate counts rows of one class, whatever the prevalence."""
        return self.name in ("fpr", "tpr")

    @property
    def verb(self) -> str:
        """What happens to rows of the class that is sought."""
        return "flagged" if self.sought == "positive" else "cleared"

    @property
    def trivial(self) -> float:
        """The threshold that keeps the promise for any data."""
        return np.inf if self.flags_less else -np.inf

    @property
    def trivially(self) -> str:
        """What the trivial threshold flags."""
        return "nothing" if self.flags_less else "everything"


FPR = Promise(
    name="fpr",
    parameter="max_fpr",
    words="false positive rate",
    counted_rows="negatives",
    limit_is_upper=True,
    flags_less=True,
    counts=lambda positive, flagged: ~positive,
    against=lambda positive, flagged: flagged,
)
TPR = Promise(
    name="tpr",
    parameter="min_tpr",
    words="true positive rate (sensitivity)",
    counted_rows="positives",
    limit_is_upper=False,
    flags_less=False,
    counts=lambda positive, flagged: positive,
    against=lambda positive, flagged: ~flagged,
)
PRECISION = Promise(
    name="precision",
    parameter="min_precision",
    words="precision",
    counted_rows="flagged rows",
    limit_is_upper=False,
    flags_less=True,
    counts=lambda positive, flagged: flagged,
    against=lambda positive, flagged: ~positive,
)
# The two precisions of a triage: of the rows that are blocked, and of those that are cleared.
PPV = replace(PRECISION, parameter="min_ppv", words="positive predictive value")
NPV = replace(PRECISION, parameter="min_npv", words="negative predictive value", sought="negative")
ALERTS = Promise(
    name="alerts",
    parameter="max_alert_rate",
    words="alert rate",
    counted_rows="rows",
    limit_is_upper=True,
    flags_less=True,
    counts=lambda positive, flagged: np.ones(flagged.shape, dtype=bool),
    against=lambda positive, flagged: flagged,
)
PROMISES = {promise.name: promise for promise in (FPR, TPR, PRECISION, ALERTS)}


def check_precision_of_groups(group_rate: Any) -> None:
    """Raise an error for the group rate that no precision has."""
    if group_rate == "any":
        raise ValueError(
            "A precision can be promised for group_rate='mean' or 'row', not 'any', since one flagged "
            "negative does not break it; choose one of the two."
        )


def promise_named(name: Any, parameter: str = "promise") -> Promise:
    """Return one of the four promises by its short name."""
    return PROMISES[check_choice(name, parameter, tuple(PROMISES))]
