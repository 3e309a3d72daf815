"""``aucuba fit --promise``: a threshold that keeps a rate, set on rows that did not train."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from aucuba._base._typing import IntArray
from aucuba._base._validation import check_choice, check_fraction
from aucuba._rows._splits import held_out_split
from aucuba.cli._fit_models import Plan
from aucuba.cli._labelled_rows import LabelledTable
from aucuba.cli._options import FitOptions
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
# Rates of one class, for which the halves are stratified. The other rates depend on the prevalence,
# which random halves do not fix.
_STRATIFIED = ("fpr", "tpr")
_HELD_OUT = 0.5


@dataclass(frozen=True)
class PromisedPlan:
    """A plan whose threshold is set on a held-out half of the rows.

    ``name`` is the rate that is promised, and ``limit`` its limit.
    """

    plan: Plan
    name: str
    limit: float
    confidence: float
    random_state: int

    @classmethod
    def from_options(cls, plan: Plan, options: FitOptions) -> PromisedPlan:
        """Read ``fpr=0.01``."""
        name, _, value = (options.promise or "").partition("=")
        check_choice(name.strip(), "--promise", tuple(_CLASSIFIERS))
        try:
            limit = float(value)
        except ValueError:
            raise ValueError(
                f"--promise must read NAME=LIMIT, such as fpr=0.01, got {options.promise!r}."
            ) from None
        check_fraction(limit, "--promise", low_open=True, high_open=True)
        check_fraction(options.confidence, "--confidence", low_open=True, high_open=True)
        return cls(plan, name.strip(), limit, options.confidence, options.random_state)

    def train(self, table: LabelledTable) -> tuple[Pipeline, Pipeline]:
        """Train on one half of the rows, and set the threshold on the other."""
        if table.rows.query is not None:
            raise ValueError("--promise does not support --qid; leave one of the two out.")
        stratified = self.name in _STRATIFIED
        train, held_out = held_out_split(
            _HELD_OUT, table.y, self.random_state, stratified=stratified
        )
        model, baseline = self.plan.train(_part(table, train))
        rest = _part(table, held_out)
        promised = _CLASSIFIERS[self.name](
            model[-1], self.limit, self.confidence, cv="prefit", random_state=self.random_state
        )
        promised.fit(model[:-1].transform(rest.X), rest.y)
        return Pipeline([*model.steps[:-1], ("model", promised)]), baseline


def _part(table: LabelledTable, rows: IntArray) -> LabelledTable:
    return replace(table, rows=table.rows.take(rows), X=_safe_indexing(table.X, rows))
