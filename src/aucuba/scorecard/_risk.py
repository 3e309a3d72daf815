"""Points to risk: counted rows and rates for every total."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from aucuba._base._typing import AnyArray, FloatArray, IntArray
from aucuba._roc._logistic import logistic_calibration
from aucuba._roc._standard_error import effective_rows, wilson_interval
from aucuba._rows._sample import Sample
from aucuba.scorecard._conditions import Condition
from aucuba.scorecard._lines import by_column


def possible_totals(items: Sequence[tuple[Condition, int]]) -> FloatArray:
    """List every total that a row can have, in ascending order."""
    totals = {0}
    for of_column in by_column(items):
        values = _telling_values([one for one, _ in of_column])
        sums = np.sum([points * one.met(values) for one, points in of_column], axis=0)
        totals = {total + more for total in totals for more in np.unique(sums).tolist()}
    return np.array(sorted(totals), dtype=np.float64)


def _telling_values(tests: list[Condition]) -> AnyArray:
    """List values of a column that between them meet the tests in every possible way."""
    groups = [one.value for one in tests if isinstance(one.value, tuple)]
    if groups:
        names = {name for group in groups for name in group}
        return np.array([*names, "".join(names) + "other", None], dtype=object)
    # A cut's own value is below it, and infinity is above all cuts.
    cuts = {one.value for one in tests if one.value is not None}
    return np.array([*cuts, np.inf, np.nan])


def risks_of(calibration: FloatArray, totals: FloatArray) -> FloatArray:
    """Compute the risks of totals from the slope and the intercept of their log-odds."""
    return np.asarray(1.0 / (1.0 + np.exp(-(calibration[0] * totals + calibration[1]))))


def calibrated_risks(
    items: Sequence[tuple[Condition, int]],
    totals: FloatArray,
    sample: Sample,
    held_out: FloatArray | None = None,
    scored: IntArray | None = None,
) -> tuple[FloatArray, list[dict[str, Any]]]:
    """Calibrate the totals of a card, and count the rows of every total.

    Parameters
    ----------
    items : sequence of (Condition, int)
        The card.
    totals : ndarray of shape (n_rows,)
    sample : Sample
        The training rows.
    held_out, scored : ndarray, default=None
        Log-odds of held-out rows by cards of other folds, which correct the optimism of the training
        rows, and the indices of these rows; without them the training rows are counted.

    Returns
    -------
    (ndarray of shape (2,), list of dict)
        Slope and intercept, and the rows of `risk_rows`.
    """
    slope, intercept = logistic_calibration(totals, sample)
    shrunk = np.array([1.0, 0.0])
    counted, log_odds = sample, slope * totals + intercept
    if held_out is not None and scored is not None:
        counted, log_odds = sample.take(scored), held_out
        shrunk = logistic_calibration(held_out, counted)
    calibration = np.array([slope * shrunk[0], intercept * shrunk[0] + shrunk[1]])
    levels = possible_totals(items)
    places = totals_of_equal_risk(log_odds, slope * levels + intercept)
    return calibration, risk_rows(levels, risks_of(calibration, levels), levels[places], counted)


def totals_of_equal_risk(log_odds: FloatArray, of_totals: FloatArray) -> IntArray:
    """Find for every row the total whose log-odds are nearest to the row's.

    Rows held out were scored by the cards of other folds, whose totals mean other risks; this places
    them beside the totals of the card of all rows.
    """
    middles = (of_totals[1:] + of_totals[:-1]) / 2
    return np.asarray(np.searchsorted(middles, log_odds), dtype=np.intp)


def risk_rows(
    levels: FloatArray, risks: FloatArray, totals: FloatArray, sample: Sample
) -> list[dict[str, Any]]:
    """Count rows and positives at every total, with the Wilson interval of their rate.

    Parameters
    ----------
    levels, risks : ndarray
        The possible totals, and the risk that the card gives to each.
    totals : ndarray of shape (n_rows,)
    sample : Sample
        Class and weight of these rows.
    """
    listed = []
    for level, risk in zip(levels, risks, strict=True):
        here = totals == level
        weight = sample.weights[here]
        rows, positives = float(weight.sum()), float(weight[sample.positive[here]].sum())
        low, high = 0.0, 1.0
        if rows:
            # Weights are copies of rows unless they are fractions, which tell less.
            n = rows if weight.min() >= 1.0 else min(rows, effective_rows(weight))
            low, high = (float(limit) for limit in wilson_interval(positives / rows, n))
        listed.append(
            {
                "total": int(level),
                "risk": float(risk),
                "rows": rows,
                "positives": positives,
                "low": low,
                "high": high,
            }
        )
    return listed
