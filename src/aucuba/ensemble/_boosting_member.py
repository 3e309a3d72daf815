"""Gradient boosting as a member of a stack, with the number of rounds that is best out of fold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from aucuba._base._callbacks import Progress
from aucuba._base._logistic import log_loss
from aucuba._base._parallel import with_fixed_seed
from aucuba._base._typing import FloatArray
from aucuba._columns._table_columns import Columns
from aucuba._roc._comparison import region_placements
from aucuba._roc._region import Region
from aucuba._rows._out_of_fold import Folds
from aucuba._rows._sample import Sample
from aucuba.ensemble._members import Member, StackedFit, fit_on_stack
from aucuba.ensemble._region_reweighted import RegionReweighted
from aucuba.ensemble._runner import Runner

_ROUND_STEP = 10
_FEWEST_ROUNDS = 20
# Rounds added at a time, and rounds without improvement after which boosting stops.
_CHUNK = 60
_PATIENCE = 40
# Neighbours on either side over which partial AUC is averaged, since a single value is noisy.
_NEIGHBOURS = 2
# Decimals of partial AUC compared; smaller differences are rounding error.
_DIGITS = 12


@dataclass(frozen=True)
class BoostingMember(Member):
    """Gradient boosting with the number of rounds that is best out of fold.

    Log-loss would stop boosting too early for a ranking, so every tenth number of rounds is judged by
    the partial AUC of its out-of-fold scores, averaged over neighbouring numbers. Log-loss breaks ties,
    which occur above all where the region is ranked perfectly; the fewest rounds would be a poor choice
    there. The models of the folds grow until 40 rounds have brought no improvement.

    Parameters
    ----------
    columns : Columns
    max_rounds : int
    strength : float, default=1.0
        Strength of the re-weighting for the region; 1 fits the booster as it is.
    by_log_loss : bool, default=False
        Whether log-loss alone chooses the rounds.
    """

    columns: Columns
    max_rounds: int
    strength: float = 1.0
    by_log_loss: bool = False

    def ranker(self) -> Any:
        return self._booster(min(int(self.max_rounds), _CHUNK))

    @property
    def settings(self) -> dict[str, Any]:
        return {"max_rounds": self.max_rounds}

    def reduced(self, fraction: float) -> Member | None:
        rounds = int(self.max_rounds * fraction) // _ROUND_STEP * _ROUND_STEP
        return replace(self, max_rounds=rounds) if rounds >= _FEWEST_ROUNDS else None

    def fit(self, runner: Runner, region: Region, seed: int) -> StackedFit:
        rounds, scores = self._tuned(runner, region, seed)
        booster = self._booster(rounds)
        if self.strength == 1.0:
            (model,) = runner.fit(with_fixed_seed(booster, seed), [runner.table])
            return StackedFit(model, scores)
        reweighted = RegionReweighted(booster, **region.params, strength=self.strength)
        return fit_on_stack(reweighted, runner, seed, scores, every_fold=False)

    def n_fits(self, folds: Folds, *, every_row: bool) -> int:
        n_folds = len(folds.splits)
        return n_folds + 1 if self.strength == 1.0 else n_folds + 3

    def _tuned(self, runner: Runner, region: Region, seed: int) -> tuple[int, FloatArray]:
        """Return the best number of rounds and its out-of-fold scores."""
        last = int(self.max_rounds)
        judged = list(range(_ROUND_STEP, last + 1, _ROUND_STEP)) or [last]
        models: list[Any] = [None] * len(runner.folds.splits)
        stages: list[FloatArray] = []
        best = 0
        while len(stages) < len(judged) and (len(stages) - 1 - best) * _ROUND_STEP < _PATIENCE:
            added = judged[len(stages) : len(stages) + _CHUNK // _ROUND_STEP]
            grown = with_fixed_seed(self._booster(added[-1], warm_start=True), seed)
            models, scores = runner.more_stages(grown, models, added)
            # A model that continues to grow does not count as another fit.
            runner = replace(runner, progress=Progress(None))
            stages += list(scores)
            best = self._best_stage(np.array(stages), runner.scored, region)
        return judged[best], stages[best]

    def _best_stage(self, stages: FloatArray, sample: Sample, region: Region) -> int:
        losses = np.array([log_loss(stage, sample.positive, sample.weight) for stage in stages])
        if self.by_log_loss:
            return int(np.argmin(losses))
        values = [region_placements(sample, stage, region).value for stage in stages]
        smooth = moving_mean(np.array(values)).round(_DIGITS)
        equal = np.flatnonzero(smooth == smooth.max())
        return int(equal[np.argmin(losses[equal])])

    def _booster(self, rounds: int, *, warm_start: bool = False) -> Any:
        # Early stopping would hold rows out and stop by log-loss. Small trees on half of the columns
        # ranked better in the region than the defaults, and are cheaper.
        booster = HistGradientBoostingClassifier(
            learning_rate=0.12,
            max_iter=rounds,
            max_leaf_nodes=15,
            max_features=0.5,
            early_stopping=False,
            warm_start=warm_start,
            categorical_features=self.columns.categorical or None,
        )
        return self.columns.for_trees(booster)


def moving_mean(values: FloatArray) -> FloatArray:
    """Average every value with its neighbours, fewer of them at the ends."""
    window = np.ones(2 * _NEIGHBOURS + 1)
    total = np.convolve(values, window)[_NEIGHBOURS : _NEIGHBOURS + values.size]
    count = np.convolve(np.ones_like(values), window)[_NEIGHBOURS : _NEIGHBOURS + values.size]
    return np.asarray(total / count)
