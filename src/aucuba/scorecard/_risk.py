"""Points to risk: counted rows and rates for every total."""

from __future__ import annotations

from typing import Any

import numpy as np

from aucuba._base._typing import FloatArray, IntArray
from aucuba._roc._standard_error import effective_rows, wilson_interval
from aucuba._rows._sample import Sample


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
