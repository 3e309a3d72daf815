"""Entries of the registry for precision and recall, for decisions and costs, and for gaps of rates."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from numbers import Real
from typing import Any

import numpy as np

from aucuba._base._typing import FloatArray
from aucuba._base._validation import (
    check_choice,
    check_fpr_range,
    check_fraction,
    check_positive_number,
)
from aucuba._roc._average_precision import (
    average_precision,
    average_precision_bias,
    average_precision_effects,
    expected_average_precision,
    mean_precision,
)
from aucuba._roc._cells import CellRatio
from aucuba._roc._curve import RocCurve, curve_at_threshold
from aucuba._roc._points import n_ranked
from aucuba.metrics._roc_measure import OfCurve, RocMeasure

# From so many rows on the influence function gives intervals of the average precision.
_ROWS_FOR_EFFECTS = 2000
_COUNTS_ROWS = (
    "ties='expected' counts the rows of equal score, whatever their number in a population."
)


def of_average_precision(*, ties: str = "step", recall_range: Any = (0.0, 1.0)) -> RocMeasure:
    check_choice(ties, "ties", ("step", "expected"))
    limits = check_fpr_range(recall_range, "recall_range")
    if ties == "step":
        return RocMeasure(
            "average_precision",
            lambda curve, _: average_precision(curve, limits),
            sampling="random",
            effects=partial(average_precision_effects, recall_range=limits),
            rows_for_effects=_ROWS_FOR_EFFECTS,
            bias=partial(average_precision_bias, recall_range=limits),
            of_population=lambda curve, _: mean_precision(curve, limits),
            needs="positive",
            steps=True,
        )
    if limits != (0.0, 1.0):
        raise ValueError(f"ties='expected' does not support recall_range, got {recall_range!r}.")
    return RocMeasure(
        "average_precision",
        lambda curve, _: expected_average_precision(curve),
        sampling="random",
        of_population=lambda curve, _: mean_precision(curve),
        needs="positive",
        has_a_prevalence=False,
        unplannable=_COUNTS_ROWS,
    )


def _at_threshold(name: str, cells: CellRatio, **known: Any) -> RocMeasure:
    threshold = cells.threshold
    return RocMeasure(
        name,
        cells.of_curve,
        sampling="random",
        effects=cells.effects,
        rows_for_effects=0.0,
        cells=cells,
        cuts=(threshold,),
        params={"threshold": threshold},
        is_modelled=False,
        summary=partial(curve_at_threshold, threshold=threshold),
        **known,
    )


def _best(name: str, at_vertices: OfCurve, **known: Any) -> RocMeasure:
    """Return the best value of all thresholds, the largest or the smallest."""
    best = np.min if known.get("smaller_is_better") else np.max
    return RocMeasure(
        name,
        lambda curve, n_rows: best(at_vertices(curve, n_rows), axis=-1),
        at_vertices=at_vertices,
        is_modelled=False,
        **known,
    )


def of_f_measure(*, threshold: Any = None, beta: Any = 1.0) -> RocMeasure:
    square = check_positive_number(beta, "beta") ** 2
    if threshold is not None:
        below = {"tp": 1.0 + square, "fn": square, "fp": 1.0}
        cells = CellRatio(check_threshold(threshold), {"tp": 1.0 + square}, below)
        return _at_threshold("f_measure", cells)

    def at_vertices(curve: RocCurve, n_rows: int) -> FloatArray:
        found = curve.true_positive
        return np.asarray((1 + square) * found / (square * found[..., -1:] + n_ranked(curve)))

    return _best("f_measure", at_vertices, sampling="random", needs="positive")


def of_net_benefit(*, threshold: Any, standardized: bool = False) -> RocMeasure:
    limit = check_fraction(threshold, "threshold", high_open=True)
    odds = limit / (1.0 - limit)
    below = {"tp": 1.0, "fn": 1.0} if standardized else None
    cells = CellRatio(limit, {"tp": 1.0, "fp": -odds}, below)
    limits = (-np.inf if standardized else -odds, 1.0)
    return _at_threshold("net_benefit", cells, of_probabilities=True, limits=limits)


def of_expected_cost(
    *, threshold: Any, cost_false_positive: Any = 1.0, cost_false_negative: Any = 1.0
) -> RocMeasure:
    costs = {
        "fn": check_positive_number(cost_false_negative, "cost_false_negative"),
        "fp": check_positive_number(cost_false_positive, "cost_false_positive"),
    }
    cells = CellRatio(check_threshold(threshold), costs)
    limits = (0.0, max(costs.values()))
    return _at_threshold("expected_cost", cells, smaller_is_better=True, limits=limits)


def of_detection_cost(
    *,
    target_prior: Any = 0.01,
    cost_miss: Any = 1.0,
    cost_false_alarm: Any = 1.0,
    threshold: Any = "bayes",
) -> RocMeasure:
    prior = check_fraction(target_prior, "target_prior", low_open=True, high_open=True)
    miss = prior * check_positive_number(cost_miss, "cost_miss")
    alarm = (1.0 - prior) * check_positive_number(cost_false_alarm, "cost_false_alarm")
    least = min(miss, alarm)
    if threshold == "best":
        # Flagging all rows or none costs 1.

        def at_vertices(curve: RocCurve, n_rows: int) -> FloatArray:
            return np.asarray((miss * (1.0 - curve.tpr) + alarm * curve.fpr) / least)

        return _best("detection_cost", at_vertices, smaller_is_better=True, limits=(0.0, 1.0))
    limit = np.log(alarm / miss) if threshold == "bayes" else check_threshold(threshold)
    # A mean over rows of which the prior is the share of positives.
    costs = {"fn": miss / prior / least, "fp": alarm / (1.0 - prior) / least}
    cells = CellRatio(float(limit), costs)
    limits = (0.0, (miss + alarm) / least)
    cost = _at_threshold("detection_cost", cells, smaller_is_better=True, limits=limits)
    # The prior is part of the measure: it is known, and not that of the rows or of a query.
    return replace(cost.at_prevalence(prior), has_a_prevalence=False)


def of_youden() -> RocMeasure:
    return _best("youden", lambda curve, _: curve.tpr - curve.fpr)


def of_kolmogorov_smirnov() -> RocMeasure:
    return _best("kolmogorov_smirnov", lambda curve, _: np.abs(curve.tpr - curve.fpr))


def check_threshold(threshold: Any) -> float:
    """Check a threshold of the score."""
    if isinstance(threshold, bool) or not isinstance(threshold, Real):
        raise ValueError(f"threshold must be a number, got {threshold!r}.")
    return float(threshold)
