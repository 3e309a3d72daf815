"""Forests as members of a stack, scored out of bag where possible, else by smaller forests per fold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sklearn.base import clone

from aucuba._base._parallel import with_fixed_seed
from aucuba._base._typing import FloatArray
from aucuba._roc._region import Region
from aucuba._rows._out_of_fold import Folds
from aucuba.ensemble._members import Member, StackedFit
from aucuba.ensemble._runner import Runner
from aucuba.ensemble._scores import bounded_log_odds, final_step

# More trees resolve probabilities near 0 and 1, where narrow ranges lie. Out-of-fold scores need fewer,
# because they only tell the blend how much a member is worth: 300 trees per fold cost three times as
# much and blended no better.
_TREES_PER_FOLD_TREE = 3
_FEWEST_TREES = 50


@dataclass(frozen=True)
class ForestMember(Member):
    """A pipeline that ends in a forest.

    A tree grown on a bootstrap sample has not seen a third of the rows, and its votes on them are
    out-of-fold scores that cost nothing. They cannot be used with groups or times, which bootstrap
    samples do not respect, nor with weights, since a heavy row may be in every sample.
    """

    estimator: Any

    def ranker(self) -> Any:
        return self.estimator

    @property
    def settings(self) -> dict[str, Any]:
        return {"n_trees": final_step(self.estimator).n_estimators}

    def reduced(self, fraction: float) -> Member | None:
        n_trees = int(final_step(self.estimator).n_estimators * fraction)
        if n_trees < _FEWEST_TREES:
            return None
        smaller = clone(self.estimator)
        final_step(smaller).set_params(n_estimators=n_trees)
        return ForestMember(smaller)

    def fit(self, runner: Runner, region: Region, seed: int) -> StackedFit:
        base = with_fixed_seed(clone(self.estimator), seed)
        if self._is_free(runner.folds, every_row=runner.every_row):
            return self._out_of_bag(base, runner)
        smaller = clone(base)
        n_trees = final_step(base).n_estimators
        final_step(smaller).set_params(n_estimators=-(-n_trees // _TREES_PER_FOLD_TREE))
        scores = runner.scores(smaller)
        return StackedFit(_grown(base, runner), scores)

    def n_fits(self, folds: Folds, *, every_row: bool) -> int:
        return 1 if self._is_free(folds, every_row=every_row) else len(folds.splits) + 1

    def _is_free(self, folds: Folds, *, every_row: bool) -> bool:
        # Out-of-bag scores exist only for rows that train.
        bootstrap: bool = final_step(self.estimator).bootstrap
        return folds.interchangeable and bootstrap and every_row

    def _out_of_bag(self, base: Any, runner: Runner) -> StackedFit:
        final_step(base).set_params(oob_score=True)
        model = _grown(base, runner)
        forest = final_step(model)
        scores: FloatArray = bounded_log_odds(
            forest.oob_decision_function_[:, 1], 0.5 / forest.n_estimators
        )
        # A saved model has no use for one entry per training row.
        del forest.oob_decision_function_, forest.oob_score_
        forest.set_params(oob_score=False)
        return StackedFit(model, scores)


def _grown(base: Any, runner: Runner) -> Any:
    """Fit on all rows with trees in parallel, since a single fit would leave the other jobs idle."""
    final_step(base).set_params(n_jobs=runner.n_jobs)
    (model,) = runner.fit(base, [runner.table])
    # The trees do not depend on n_jobs, and a saved model should not carry it.
    final_step(model).set_params(n_jobs=None)
    return model
