"""Hints after a fit: columns that give the target away, and whether boosted trees would do better."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier

from aucuba._base._typing import BoolArray, FloatArray, IntArray
from aucuba._base._warnings import warn_user
from aucuba._columns._kinds import CATEGORY, DATE
from aucuba._columns._table_columns import Columns
from aucuba._roc._comparison import RegionComparison
from aucuba._roc._curve import counted_range_average
from aucuba._roc._region import Region
from aucuba._rows._lead import Lead
from aucuba._rows._splits import drawn_within_classes, shuffled_folds
from aucuba.cli._console import pasted, progress_bar
from aucuba.cli._fit_models import Plan
from aucuba.cli._labelled_rows import LabelledTable
from aucuba.linear import PartialAUCClassifier

_MOST_ROWS = 20_000
# No honest column ranks this well alone.
_SUSPICIOUS = 0.99
# The order of names or row numbers should carry no information.
_SUSPICIOUS_ORDER = 0.9
_FEWEST_TO_RANK = 10
# With fewer rows per category on average, rates of positives mostly repeat the rows' own labels.
_ROWS_PER_CATEGORY = 20
_FEWEST_TO_PROBE = 30
_FOLDS = 3
_ROUNDS = 60


def warn_of_leaks(table: LabelledTable, random_state: int) -> None:
    """Warn about each column that alone ranks a sample of 20,000 rows almost perfectly."""
    if table.schema.n_features is not None or not table.rows.positive.any():
        return
    rows = _sampled_rows(table, random_state)
    for name, kind in table.schema.kinds.items():
        column, positive = table.X[name].iloc[rows], table.rows.positive[rows]
        what, auc = _leak(column, kind, positive)
        if auc > (_SUSPICIOUS_ORDER if what == "its order" else _SUSPICIOUS):
            warn_user(
                f"The column {name!r} gives the target away: {what} alone ranks the rows with an AUC "
                f"of {auc:.3f}. If it is known only after the outcome, or numbers the rows, leave it "
                f"out with {pasted('--drop', name)}."
            )


def _leak(column: pd.Series, kind: str, positive: BoolArray) -> tuple[str, float]:
    """Return what ranks the rows, the column or only its order, and the AUC of that."""
    known = column.notna().to_numpy()
    missing = _auc(known.astype(np.float64), positive)
    if missing > _SUSPICIOUS:
        return "it", missing
    values, labels = column[known], positive[known]
    is_order = bool(values.nunique() == len(values))
    if kind != CATEGORY:
        numbers = values.astype(np.int64 if kind == DATE else np.float64).to_numpy(dtype=np.float64)
        is_order = is_order and bool((numbers == np.round(numbers)).all())
    elif is_order:
        numbers = np.argsort(np.argsort(values.astype(str).to_numpy())).astype(np.float64)
    elif len(values) < _ROWS_PER_CATEGORY * values.nunique():
        return "it", 0.5
    else:
        numbers = pd.Series(labels).groupby(values.to_numpy()).transform("mean").to_numpy()
    return "its order" if is_order else "it", _auc(numbers, labels)


def _auc(numbers: FloatArray, positive: BoolArray) -> float:
    """Compute the AUC of a column in its better direction; 0.5 if there are too few rows."""
    if min(positive.sum(), (~positive).sum()) < _FEWEST_TO_RANK:
        return 0.5
    auc = counted_range_average(positive, numbers, 0.0, 1.0)
    return max(auc, 1.0 - auc)


def _sampled_rows(table: LabelledTable, random_state: int) -> IntArray:
    """Draw at most 20,000 rows of positive weight."""
    counted, rng = np.flatnonzero(table.rows.weights > 0), np.random.default_rng(random_state)
    positive = table.rows.positive
    return drawn_within_classes(positive, counted, _MOST_ROWS, rng, fewest=_FEWEST_TO_RANK)


@dataclass(frozen=True)
class Probe:
    """Out-of-fold partial AUC of boosted trees and of a linear model on the same rows."""

    boosting: float
    linear: float
    standard_error: float
    rows: int

    @property
    def is_clear(self) -> bool:
        """Whether the trees are ahead by more than one paired standard error."""
        return Lead(self.boosting - self.linear, self.standard_error).is_clear()


def run_probe(plan: Plan, table: LabelledTable, budget_s: float, random_state: int) -> Probe | None:
    """Compare boosted trees with a linear model out of fold, on at most 20,000 rows.

    Returns None for models that a stack cannot replace, for too few rows, or if ``budget_s`` seconds
    pass before the last fold starts.
    """
    replaceable = table.schema.n_features is None and table.rows.query is None
    if plan.kind not in ("linear", "svc") or not replaceable:
        return None
    started = time.monotonic()
    rows = _sampled_rows(table, random_state)
    sample, X = table.rows.take(rows), table.X.iloc[rows]
    y = sample.y
    if np.bincount(y, minlength=2).min() < _FEWEST_TO_PROBE:
        return None
    models = _probed_models(plan, X, random_state)
    scores = np.empty((2, y.size))
    with progress_bar("Probing with boosted trees"), warnings.catch_warnings():
        # The full fit has already issued these warnings.
        warnings.simplefilter("ignore")
        for train, test in shuffled_folds(y, _FOLDS, random_state, sample.group):
            if time.monotonic() - started > budget_s:
                return None
            weight = sample.take(train).weight
            for row, model in zip(scores, models, strict=True):
                model.fit(X.iloc[train], y[train], model__sample_weight=weight)
                row[test] = model.decision_function(X.iloc[test])
    region = Region.from_params(plan.fpr_range, None, plan.min_tpr)
    comparison = RegionComparison(sample, scores, region)
    linear_value, boosted_value = map(float, comparison.values)
    return Probe(boosted_value, linear_value, comparison.error(1, 0), y.size)


def _probed_models(plan: Plan, X: pd.DataFrame, random_state: int) -> tuple[Any, Any]:
    columns = Columns.from_table(X)
    linear = PartialAUCClassifier(plan.fpr_range, min_tpr=plan.min_tpr, C=plan.logistic_C)
    booster = HistGradientBoostingClassifier(
        max_iter=_ROUNDS,
        early_stopping=False,
        categorical_features=columns.categorical or None,
        random_state=random_state,
    )
    return columns.for_linear(linear, sparse=True), columns.for_trees(booster)
