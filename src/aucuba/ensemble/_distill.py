"""One small model that scores as a stack does, and what it loses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.utils import _safe_indexing

from aucuba._base._seeds import draw_seed, with_fixed_seed
from aucuba._base._threads import one_thread
from aucuba._base._typing import FloatArray, IntArray
from aucuba._base._validation import check_positive_number
from aucuba._columns._named import Columns
from aucuba._roc._comparison import RegionComparison
from aucuba._roc._region import Region
from aucuba._rows._out_of_fold import Folds, partition
from aucuba._rows._sample import Sample
from aucuba._rows._splits import KeptRows
from aucuba.ensemble._blend import Blender, cross_fitted, member_report
from aucuba.ensemble._scores import log_odds
from aucuba.ensemble._table import Table, fit_weighted, make_table, weight_keyword

_PER_ROW, _MOST = 3, 50_000
# Chance of a column to come from another row: most of a synthetic row is one that was seen.
_FROM_ANOTHER = 0.3
_ROUNDS = 150
# Where the stack is sure, probabilities near 0 or 1 have hardly any curvature, and without a penalty
# the leaves of boosting run away.
_L2 = 10.0


@dataclass(frozen=True)
class Distillation:
    """The settings of ``distill``, with the stack that teaches."""

    teacher: Any
    estimator: Any
    n_synthetic: int | None
    cv: Any
    random_state: Any

    def run(self, X: Any, y: Any, groups: Any, time: Any) -> Any:
        """Fit the student of all rows, and measure students of folds against their teachers."""
        if sparse.issparse(X) or not (isinstance(X, np.ndarray) or hasattr(X, "iloc")):
            raise ValueError(
                f"distill mixes the columns of rows and takes an array or a pandas DataFrame, got "
                f"{type(X).__name__}."
            )
        if self.n_synthetic is not None and self.n_synthetic != 0:
            check_positive_number(self.n_synthetic, "n_synthetic", integer=True)
        student = clone(self.teacher)
        table, kept = make_table(student, X, y, None)
        base, seed = self._student(X), draw_seed(self.random_state)
        kept = kept.resampled_by(groups, time)
        folds = partition(self.cv, kept, seed)
        teachers, students = self._cross_fitted(base, table, kept, folds, (groups, time), seed)
        model = self._taught(base, self.teacher, table.X, seed)
        student.set_params(estimators=[("student", base)], plan=None, time_limit=None)
        student.members_, student.plan_ = [("student", model)], [{"member": "student"}]
        self._adopt(student, students, table.sample.take(folds.covered), folds)
        compared = RegionComparison(
            table.sample.take(folds.covered), np.stack([teachers, students]), _region(student)
        )
        student.distilled_ = {
            "teacher": float(compared.values[0]),
            "student": float(compared.values[1]),
            "loss": float(compared.values[0] - compared.values[1]),
            "standard_error": compared.error(0, 1),
        }
        return student

    def _student(self, X: Any) -> Any:
        if self.estimator is not None:
            weight_keyword(self.estimator)
            return clone(self.estimator)
        columns = Columns.from_table(X)
        booster = HistGradientBoostingClassifier(
            max_iter=_ROUNDS,
            learning_rate=0.15,
            l2_regularization=_L2,
            early_stopping=False,
            categorical_features=columns.categorical or None,
        )
        return columns.for_trees(booster)

    def _cross_fitted(
        self,
        base: Any,
        table: Table,
        kept: KeptRows,
        folds: Folds,
        units: tuple[Any, Any],
        seed: int,
    ) -> tuple[FloatArray, FloatArray]:
        """Score the rows of every fold by a stack of the others, and by its student."""
        scores = np.full((2, folds.n_rows), np.nan)
        labels = kept.labels
        for train, test in folds.splits:
            part = table.take(train)
            given = {
                name: _safe_indexing(values, train)
                for name, values in zip(("groups", "time"), units, strict=True)
                if values is not None
            }
            teacher = clone(self.teacher).fit(part.X, labels[train], **given)
            student = self._taught(base, teacher, part.X, seed)
            tested = table.take(test).X
            scores[:, test] = teacher._scores(tested), log_odds(student, tested)
        return scores[0, folds.covered], scores[1, folds.covered]

    def _taught(self, base: Any, teacher: Any, X: Any, seed: int) -> Any:
        """Fit a student to the probabilities of a teacher on rows and synthetic ones."""
        n_rows = X.shape[0]
        n_new = min(_PER_ROW * n_rows, _MOST) if self.n_synthetic is None else self.n_synthetic
        generator = np.random.default_rng(seed)
        first = np.concatenate([np.arange(n_rows), generator.integers(n_rows, size=n_new)])
        other = np.concatenate([np.arange(n_rows), generator.integers(n_rows, size=n_new)])
        swapped = generator.random((first.size, X.shape[1])) < _FROM_ANOTHER
        rows = mixed_rows(X, np.where(swapped, other[:, np.newaxis], first[:, np.newaxis]))
        p = expit(teacher._scores(rows))
        twice = np.tile(np.arange(first.size), 2)
        sample = Sample(np.repeat([True, False], first.size), np.concatenate([p, 1.0 - p]))
        with one_thread():
            student = with_fixed_seed(clone(base), seed)
            return fit_weighted(student, Table(_safe_indexing(rows, twice), sample))

    def _adopt(self, student: Any, scores: FloatArray, sample: Sample, folds: Folds) -> None:
        """Set what a fitted stack has, from cross-fitted scores of the student."""
        column, region, blender = scores[:, np.newaxis], _region(student), Blender(0.0)
        blend = blender.fit(column, sample)
        student.coef_, student.intercept_ = blend.coef, blend.intercept
        student.mean_, student.scale_ = blend.mean, blend.scale
        student.shrinkage_, student.region_weight_ = 0.0, 1.0
        student.oof_scores_ = folds.among_rows(column, np.nan)
        stacked = cross_fitted(blender, column, sample, folds.splits_of_scores())
        student._adopt_threshold(stacked, sample, region.upper_limit)
        student.report_ = member_report(
            ["student"], column, stacked, blend, sample, region, folds.scored_group
        )


def mixed_rows(X: Any, source: IntArray) -> Any:
    """Make rows whose entry k comes from row ``source[:, k]`` of X."""
    if isinstance(X, np.ndarray):
        return np.take_along_axis(X, source, axis=0)
    columns = {
        name: X.iloc[:, k].take(source[:, k]).reset_index(drop=True)
        for k, name in enumerate(X.columns)
    }
    return type(X)(columns)


def _region(stack: Any) -> Region:
    return Region.from_params(stack.fpr_range, stack.fpr_weight, stack.min_tpr)
