"""Columns that give the target away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from aucuba._base._typing import BoolArray, FloatArray
from aucuba._base._warnings import warn_user
from aucuba._columns._plain import CATEGORY, DATE
from aucuba.cli._samples import LabelledTable
from aucuba.metrics import partial_auc_score

# An honest column hardly ranks so well by itself.
_SUSPICIOUS = 0.99
# The order of names or numbers of rows should say nothing.
_SUSPICIOUS_ORDER = 0.9
_MOST_ROWS = 20_000
_FEWEST_PER_CLASS = 10
# Mean number of rows per category from which its rate of positives is more than its own label.
_ROWS_PER_CATEGORY = 20


@dataclass(frozen=True)
class Leak:
    """A column that ranks the target by itself, with its AUC.

    ``is_order`` tells that all its values differ, as those of row numbers do.
    """

    column: str
    auc: float
    is_order: bool


def find_leaks(table: LabelledTable, random_state: int) -> list[Leak]:
    """Look at each column alone, on at most 20,000 rows."""
    if table.schema.n_features is not None:
        return []
    rows = sampled_rows(table, _MOST_ROWS, random_state)
    positive = table.rows.positive[rows]
    found = []
    for name, kind in table.schema.kinds.items():
        column = table.X[name].iloc[rows]
        leak = _leak(column, kind, positive)
        if leak is not None:
            found.append(leak)
    return found


def warn_of_leaks(leaks: list[Leak]) -> None:
    """Warn of each column, with the remedy."""
    for leak in leaks:
        what = "its order" if leak.is_order else "it"
        warn_user(
            f"The column {leak.column!r} gives the target away: {what} alone ranks the rows with an "
            f"AUC of {leak.auc:.3f}. If it is known only after the outcome, or numbers the rows, leave "
            f"it out with --drop {leak.column}.",
        )


def sampled_rows(table: LabelledTable, n_rows: int, random_state: int) -> Any:
    """Draw at most so many rows of positive weight, in their order, both classes in proportion."""
    weight = table.rows.weight
    counted = np.arange(table.rows.n_rows) if weight is None else np.flatnonzero(weight > 0)
    if counted.size <= n_rows:
        return counted
    generator = np.random.default_rng(random_state)
    drawn = []
    for positive in (False, True):
        rows = counted[table.rows.positive[counted] == positive]
        size = max(_FEWEST_PER_CLASS, round(n_rows * rows.size / counted.size))
        drawn.append(generator.choice(rows, min(size, rows.size), replace=False))
    return np.sort(np.concatenate(drawn))


def _leak(column: pd.Series, kind: str, positive: BoolArray) -> Leak | None:
    name, known = str(column.name), column.notna().to_numpy()
    if 0 < known.sum() < known.size:
        missing = _auc(known.astype(np.float64), positive)
        if missing > _SUSPICIOUS:
            return Leak(name, missing, is_order=False)
    values, labels = column[known], positive[known]
    distinct = bool(values.nunique() == len(values))
    if kind == CATEGORY:
        if distinct:
            order = np.argsort(np.argsort(values.astype(str).to_numpy())).astype(np.float64)
            auc = _auc(order, labels)
            return Leak(name, auc, is_order=True) if auc > _SUSPICIOUS_ORDER else None
        if len(values) < _ROWS_PER_CATEGORY * values.nunique():
            return None
        numbers = pd.Series(labels).groupby(values.to_numpy()).transform("mean").to_numpy()
        auc = _auc(numbers, labels)
        return Leak(name, auc, is_order=False) if auc > _SUSPICIOUS else None
    numbers = values.astype(np.int64 if kind == DATE else np.float64).to_numpy(dtype=np.float64)
    is_order = distinct and bool((numbers == np.round(numbers)).all())
    auc = _auc(numbers, labels)
    return (
        Leak(name, auc, is_order)
        if auc > (_SUSPICIOUS_ORDER if is_order else _SUSPICIOUS)
        else None
    )


def _auc(numbers: FloatArray, positive: BoolArray) -> float:
    """AUC of a column in its better direction; 0.5 with too few rows to tell."""
    if min(positive.sum(), (~positive).sum()) < _FEWEST_PER_CLASS:
        return 0.5
    auc = partial_auc_score(positive, numbers)
    return max(auc, 1.0 - auc)
