"""Units that a selection compares: rows, or groups of rows by their highest score."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from aucuba._base._typing import AnyArray, FloatArray, IntArray
from aucuba._base._validation import identifiers, query_index
from aucuba._base._warnings import FewRowsWarning, warn_user
from aucuba._rows._sample import RankingSample


def negative_units(rows: RankingSample) -> RankingSample:
    """Return the negative rows, or the groups without a positive row by their highest score."""
    if rows.group is None:
        return rows.take(~rows.positive)
    has_positive = np.zeros(int(rows.group.max(initial=-1)) + 1, dtype=bool)
    has_positive[rows.group[rows.positive]] = True
    return highest_of_groups(rows.take(~has_positive[rows.group]))


def highest_of_groups(rows: RankingSample) -> RankingSample:
    """Return the row of the highest score of every group; return rows without groups unchanged."""
    if rows.group is None:
        return rows
    if rows.stratum is not None:
        first = np.unique(rows.group, return_index=True)[1]
        if (rows.stratum[first][rows.group] != rows.stratum).any():
            raise ValueError("A group lies in several strata; its rows must have one stratum.")
    # The last row of each group in order of score.
    order = np.lexsort((rows.score, rows.group))
    last = np.append(np.flatnonzero(np.diff(rows.group[order])), order.size - 1)
    return replace(rows, group=None).take(order[last] if order.size else order)


def new_groups(groups: Any, n_rows: int, held_out: AnyArray) -> IntArray | None:
    """Number the groups of a batch; refuse groups that were held out, or missing ones."""
    if (groups is None) == bool(held_out.size):
        missing = (
            "needs groups, as fit had them" if groups is None else "has groups and fit had none"
        )
        raise ValueError(f"select {missing}: the unit of the promise must be the same.")
    if groups is None:
        return None
    seen = np.intersect1d(identifiers(groups, "groups", n_rows), held_out)
    if seen.size:
        raise ValueError(
            f"groups has {seen.size} that were held out to calibrate, such as {seen[:3].tolist()}; "
            "their scores have been used. Select among new groups."
        )
    return query_index(groups, n_rows, "groups")


def warn_if_too_few_negatives(p: FloatArray, max_fdr: float, smallest_possible: float) -> None:
    """Warn if a batch of this size needs more rows above all held-out negatives than it has.

    ``smallest_possible`` is the p-value of a row above all negatives.
    """
    if not p.size:
        return
    smallest = p.min()
    fewest = math.ceil(p.size * smallest / max_fdr)
    n_above_all = int(np.sum(p == smallest))
    if smallest <= smallest_possible * (1 + 1e-9) and n_above_all < fewest:
        warn_user(
            f"{n_above_all} of {p.size} rows score above every held-out negative, but with these "
            f"negatives a selection must have at least {fewest} rows, so nothing is selected. Hold "
            "out more negatives, or select from smaller batches.",
            FewRowsWarning,
        )
