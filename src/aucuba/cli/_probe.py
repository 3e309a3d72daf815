"""A quick look at whether boosted trees see more than a linear model."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from aucuba._columns._named import Columns
from aucuba._roc._comparison import RegionComparison
from aucuba._roc._region import Region
from aucuba._rows._splits import shuffled_folds
from aucuba.cli._leaks import sampled_rows
from aucuba.cli._samples import LabelledTable
from aucuba.linear import PartialAUCClassifier

_MOST_ROWS = 20_000
_FEWEST_PER_CLASS = 30
_FOLDS = 3
_ROUNDS = 60
# Boosted trees must be ahead by this many paired standard errors.
_ERRORS = 2.0


@dataclass(frozen=True)
class Probe:
    """Out-of-fold partial AUC of boosted trees and of a linear model on the same rows."""

    boosting: float
    linear: float
    standard_error: float
    n_rows: int

    @property
    def is_clear(self) -> bool:
        """Whether the trees are ahead by more than two paired standard errors."""
        return bool(self.boosting - self.linear > _ERRORS * self.standard_error)

    def to_json(self) -> dict[str, Any]:
        """Write JSON's types."""
        return {
            "boosting": self.boosting,
            "linear": self.linear,
            "standard_error": self.standard_error,
            "rows": self.n_rows,
        }


def run_probe(
    table: LabelledTable, region: Region, C: float, budget_s: float, random_state: int
) -> Probe | None:
    """Compare both models out of fold, on at most 20,000 rows.

    Parameters
    ----------
    table : LabelledTable
        Named columns, without queries.
    region : Region
    C : float
        Penalty of the linear model.
    budget_s : float
        No fold is begun after so many seconds.
    random_state : int

    Returns
    -------
    Probe or None
        None with too few rows, or where time ran out.
    """
    started = time.monotonic()
    rows = sampled_rows(table, _MOST_ROWS, random_state)
    sample, X = table.rows.take(rows), table.X.iloc[rows]
    y = sample.positive.astype(np.intp)
    if np.bincount(y, minlength=2).min() < _FEWEST_PER_CLASS:
        return None
    columns = Columns.from_table(X)
    booster = HistGradientBoostingClassifier(
        max_iter=_ROUNDS,
        early_stopping=False,
        categorical_features=columns.categorical or None,
        random_state=random_state,
    )
    linear = PartialAUCClassifier(
        region.fpr_range, min_tpr=region.min_tpr, C=C, random_state=random_state
    )
    models = columns.for_linear(linear, sparse=True), columns.for_trees(booster)
    scores = np.empty((2, y.size))
    for train, test in shuffled_folds(y, _FOLDS, random_state):
        if time.monotonic() - started > budget_s:
            return None
        weight = None if sample.weight is None else sample.weight[train]
        for row, model in zip(scores, models, strict=True):
            with warnings.catch_warnings():
                # The fit of the whole file has said what is to be said.
                warnings.simplefilter("ignore")
                model.fit(X.iloc[train], y[train], model__sample_weight=weight)
            row[test] = model.decision_function(X.iloc[test])
    comparison = RegionComparison(sample, scores, region)
    linear_value, boosted_value = map(float, comparison.values)
    return Probe(boosted_value, linear_value, comparison.error(1, 0), y.size)
