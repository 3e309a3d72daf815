"""``aucuba fit --promise``: a threshold that keeps a rate, set on rows that did not train."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from aucuba._base._typing import IntArray
from aucuba._base._validation import check_choice, check_fraction
from aucuba.cli._samples import LabelledTable
from aucuba.cli._training import Plan
from aucuba.threshold import (
    AlertBudgetClassifier,
    FixedFPRClassifier,
    FixedPrecisionClassifier,
    FixedTPRClassifier,
)

_CLASSIFIERS = {
    "fpr": FixedFPRClassifier,
    "tpr": FixedTPRClassifier,
    "precision": FixedPrecisionClassifier,
    "alerts": AlertBudgetClassifier,
}
# Rates of one class. The others are promised for the prevalence of the rows, so their part is random.
_STRATIFIED = ("fpr", "tpr")
_HELD_OUT = 0.5


@dataclass(frozen=True)
class PromiseOption:
    """What to promise, and how the held-out half of the rows is drawn."""

    name: str
    limit: float
    confidence: float
    random_state: int

    @classmethod
    def from_text(cls, text: str, confidence: float, random_state: int) -> PromiseOption:
        """Read ``fpr=0.01``."""
        name, _, value = text.partition("=")
        check_choice(name.strip(), "--promise", tuple(_CLASSIFIERS))
        try:
            limit = float(value)
        except ValueError:
            raise ValueError(
                f"--promise must read NAME=LIMIT, such as fpr=0.01, got {text!r}."
            ) from None
        check_fraction(limit, "--promise", low_open=True, high_open=True)
        check_fraction(confidence, "--confidence", low_open=True, high_open=True)
        return cls(name.strip(), limit, confidence, random_state)

    def train(self, plan: Plan, table: LabelledTable) -> tuple[Pipeline, Pipeline]:
        """Train on one half of the rows, and set the threshold on the other."""
        if table.rows.query is not None:
            raise ValueError("--promise does not support --qid; leave one of the two out.")
        kind = StratifiedShuffleSplit if self.name in _STRATIFIED else ShuffleSplit
        halves = kind(1, test_size=_HELD_OUT, random_state=self.random_state)
        train, held_out = next(halves.split(np.zeros(table.rows.n_rows), table.y))
        model, baseline = plan.train(_part(table, train))
        rest = _part(table, held_out)
        promised = _CLASSIFIERS[self.name](
            model[-1], self.limit, self.confidence, cv="prefit", random_state=self.random_state
        )
        promised.fit(model[:-1].transform(rest.X), rest.y)
        return Pipeline([*model.steps[:-1], ("model", promised)]), baseline


def promise_of(classifier: Any) -> str | None:
    """The promise of a classifier in words, where it has one."""
    words: str | None = vars(classifier).get("promise_")
    return words


def _part(table: LabelledTable, rows: IntArray) -> LabelledTable:
    return replace(table, rows=table.rows.take(rows), X=_safe_indexing(table.X, rows))
