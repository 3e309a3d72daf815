"""The four rates that can be promised, and the words for them.

Each is the mean of a loss over the rows that it counts: a flagged negative, a missed positive, a
flagged row, or a negative among the flagged. The promise keeps that mean at or below an allowed
rate.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aucuba._base._typing import BoolArray
from aucuba._base._validation import check_choice, check_fraction


@dataclass(frozen=True)
class Promise:
    """One rate: how its limit is called, which rows it counts, and what counts against it."""

    name: str
    parameter: str
    words: str
    counted_rows: str
    limit_is_upper: bool
    flags_less: bool
    """Whether a higher threshold keeps the promise more safely."""
    counts: Callable[[BoolArray, BoolArray], BoolArray]
    """Which rows count, given (positive, flagged)."""
    against: Callable[[BoolArray, BoolArray], BoolArray]
    """Which of them count against the promise, given (positive, flagged)."""

    def allowed(self, limit: Any, name: str | None = None) -> float:
        """The highest mean loss that keeps the limit, which is checked to lie in (0, 1)."""
        limit = check_fraction(limit, name or self.parameter, low_open=True, high_open=True)
        # 1 - 0.95 is not 0.05 in binary, and one negative more would be asked for.
        return limit if self.limit_is_upper else round(1.0 - limit, 15)

    def limit(self, allowed: float) -> float:
        """The limit of which ``allowed`` is the highest mean loss."""
        return allowed if self.limit_is_upper else 1.0 - allowed

    def in_words(self, allowed: Sequence[float]) -> str:
        limits = ", ".join(f"{self.limit(rate):g}" for rate in allowed)
        return f"{self.words} {self.bound} {limits}"

    @property
    def bound(self) -> str:
        return "at most" if self.limit_is_upper else "at least"

    @property
    def trivial(self) -> float:
        """The threshold that keeps the promise whatever the data."""
        return np.inf if self.flags_less else -np.inf


def _all_rows(positive: BoolArray, flagged: BoolArray) -> BoolArray:
    return np.ones(flagged.shape, dtype=bool)


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
ALERTS = Promise(
    name="alerts",
    parameter="max_alert_rate",
    words="alert rate",
    counted_rows="rows",
    limit_is_upper=True,
    flags_less=True,
    counts=_all_rows,
    against=lambda positive, flagged: flagged,
)
PROMISES = {promise.name: promise for promise in (FPR, TPR, PRECISION, ALERTS)}


def promise_named(name: Any, parameter: str = "promise") -> Promise:
    """One of the four by its short name."""
    return PROMISES[check_choice(name, parameter, tuple(PROMISES))]
