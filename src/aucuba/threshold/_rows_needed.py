"""Number of rows that a promise needs."""

from __future__ import annotations

import math
from typing import Any

from aucuba._base._validation import check_choice, check_fraction, check_positive_number
from aucuba._roc._prevalence import fpr_per_tpr, target_range
from aucuba.threshold._betting import units_needed
from aucuba.threshold._conformal import negatives_for_selection
from aucuba.threshold._order_statistic import carried_by, rows_for_a_rank
from aucuba.threshold._promise import (
    ALERTS,
    FPR,
    PRECISION,
    TPR,
    Promise,
    check_precision_of_groups,
    promise_named,
)
from aucuba.threshold._units import Units

# For a promised precision, this part of the held-out rows places the thresholds that the others test,
# from this many starts.
PLACING = 0.1
N_STARTS = 2
# With a target prevalence the limit of FPR has this part of the error: flagged negatives are few.
PART_OF_FPR = 0.9


def rows_needed(
    promise: str,
    rate: float,
    confidence: float | None = 0.95,
    prevalence: float | None = None,
    *,
    target_prevalence: Any = None,
    group_rate: str | None = None,
    batch_size: int | None = None,
    n_alerts: int | None = None,
) -> int:
    """Compute the smallest number of held-out rows with which a promise can be made.

    With exactly that many rows, no violation is allowed; with more, the threshold comes closer to
    the plain quantile. Without ``prevalence`` the number is of the rows that the rate counts:
    negatives for ``"fpr"``, positives for ``"tpr"``, flagged rows for ``"precision"``, all rows for
    ``"alerts"``. With it, it is the number of all held-out rows that are expected to include as many.

    Parameters
    ----------
    promise : {"fpr", "tpr", "precision", "alerts", "fdr"}
        The rate to promise.
    rate : float
        The limit: ``max_fpr``, ``min_tpr``, ``min_precision``, ``max_alert_rate`` or ``max_fdr``, in
        (0, 1).
    confidence : float or None, default=0.95
        The probability that the promise is kept, in (0, 1). None, for ``"fdr"`` only, promises the
        rate on average over calibrations, as :class:`FalseDiscoverySelector` does unless it is given a
        confidence: pass None to plan for its default.
    prevalence : float, default=None
        Fraction of positives among the rows, in (0, 1). For precision the number assumes that every
        positive is flagged.
    target_prevalence : float or pair of float, default=None
        For ``"precision"``: the prevalence for which it is promised, whatever that of the held-out
        rows. The number is then of negatives, again assuming that every positive is flagged.
    group_rate : {"mean", "any", "row"}, default=None
        Count independent groups (``groups`` of ``fit``) instead of rows; for ``"row"``, groups of the
        largest size.
    batch_size, n_alerts : int, default=None
        For ``"fdr"``: the number of rows in a batch, and the smallest number of them that must be
        selectable. Without them, with fewer held-out rows nothing can ever be selected.

    Returns
    -------
    int
        Number of rows, or of groups.

    Examples
    --------
    >>> from aucuba.threshold import rows_needed
    >>> rows_needed("fpr", 0.05), rows_needed("tpr", 0.95)
    (59, 59)
    >>> rows_needed("tpr", 0.95, prevalence=0.02)
    2950
    >>> rows_needed("precision", 0.9)
    36
    >>> rows_needed("fpr", 0.05, group_rate="mean")
    69
    >>> rows_needed("fdr", 0.1, confidence=None, batch_size=1_000, n_alerts=5)
    1999
    """
    if promise == "fdr":
        return _negatives_for_fdr(rate, confidence, prevalence, group_rate, batch_size, n_alerts)
    if batch_size is not None or n_alerts is not None:
        raise ValueError(
            f"batch_size and n_alerts apply only to promise='fdr', not to {promise!r}; leave them out."
        )
    promised = promise_named(promise)
    allowed = promised.allowed(rate, "rate")
    confidence = check_fraction(confidence, "confidence", low_open=True, high_open=True)
    error = 1.0 - confidence
    if group_rate is not None:
        check_choice(group_rate, "group_rate", ("mean", "any", "row"))
    if promised is PRECISION:
        check_precision_of_groups(group_rate)
        error /= N_STARTS
    if target_prevalence is not None:
        if promised is not PRECISION or group_rate is not None:
            raise ValueError(
                f"target_prevalence applies only to promise='precision' of single rows, not to "
                f"{promise!r}{'' if group_rate is None else ' of groups'}; leave it out."
            )
        low, _ = target_range(target_prevalence)
        needed = negatives_at_prevalence(allowed, low, 1.0 - confidence)
        of_all = 1.0 if prevalence is None else 1.0 - check_fraction(prevalence, "prevalence")
        return math.ceil(round(needed / of_all, 9))
    needed = units_to_promise(allowed, error, is_exact=group_rate not in ("mean", "row"))
    if prevalence is None:
        return needed
    positives = check_fraction(prevalence, "prevalence", low_open=True, high_open=True)
    counted = {
        FPR: 1.0 - positives,
        TPR: positives,
        PRECISION: positives * (1.0 - PLACING),
        ALERTS: 1.0,
    }
    return math.ceil(round(needed / counted[promised], 9))


def negatives_at_prevalence(allowed: float, prevalence: float, error: float) -> int:
    """Return how many negatives can prove a precision at a prevalence if all positives are flagged."""
    odds = fpr_per_tpr(allowed, prevalence)
    return rows_for_a_rank(odds, PART_OF_FPR * error) if odds < 1 else 1


def _negatives_for_fdr(
    rate: float,
    confidence: float | None,
    prevalence: float | None,
    group_rate: str | None,
    batch_size: int | None,
    n_alerts: int | None,
) -> int:
    """Compute the fewest held-out negatives, or the rows that include them, for a selection."""
    if group_rate is not None:
        raise ValueError("promise='fdr' selects whole groups and has no group_rate; leave it out.")
    if (batch_size is None) != (n_alerts is None):
        raise ValueError(
            f"Give batch_size and n_alerts together or neither, got batch_size={batch_size} and "
            f"n_alerts={n_alerts}."
        )
    max_fdr = check_fraction(rate, "rate", low_open=True, high_open=True)
    error = None
    if confidence is not None:
        error = 1.0 - check_fraction(confidence, "confidence", low_open=True, high_open=True)
    size, alerts = 1.0, 1.0
    if batch_size is not None:
        size = check_positive_number(batch_size, "batch_size", integer=True)
        alerts = check_positive_number(n_alerts, "n_alerts", integer=True)
        if alerts > size:
            raise ValueError(f"n_alerts={n_alerts} is more than batch_size={batch_size}.")
    needed = negatives_for_selection(max_fdr, error, int(size), int(alerts))
    if prevalence is None:
        return needed
    positives = check_fraction(prevalence, "prevalence", low_open=True, high_open=True)
    return math.ceil(round(needed / (1.0 - positives), 9))


def units_to_promise(rate: float, error: float, *, is_exact: bool) -> int:
    """Return how many units, single rows if ``is_exact``, can promise ``rate``."""
    return rows_for_a_rank(rate, error) if is_exact else units_needed(rate, 1.0 - rate, error)


def shortfall(promise: Promise, units: Units, rate: float, needed: int | None, error: float) -> str:
    """Write the error for units that cannot carry the promise, and what to do.

    ``needed`` is the number that could, or None if their weights or sizes are the reason.
    """
    limit = f"{promise.parameter}={promise.limit(rate):g}"
    start = (
        f"Promising a {promise.words} of {promise.bound} {limit} with "
        f"confidence={1 - error:g} needs"
    )
    if needed is None:
        return (
            f"{start} more than these {units.n_units} held-out {units.noun}{units.rows.named}: "
            "their weights or sizes lie far below the limit that the bound must allow for. Hold out "
            "more, promise less, or lower max_weight or max_group_size if the population allows it."
        )
    counted = f"{units.noun}{units.rows.named}"
    message = f"{start} at least {needed} held-out {counted}, got {units.n_units}."
    more = f"{message} Hold out more {units.noun}"
    if units.n_units < 1 or not units.is_exact:
        return f"{more}, or promise less."
    lowest, highest = carried_by(units.n_units, rate, error)
    return (
        f"{more}, or promise less: {promise.parameter}={promise.limit(lowest):g} at this "
        f"confidence, or confidence={highest:g} at this {promise.parameter}, is what "
        f"{units.n_units} can carry."
    )
