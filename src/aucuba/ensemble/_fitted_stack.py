"""Use a fitted stack: score rows, measure the importance of columns, distill a smaller model."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.validation import _num_samples, check_is_fitted

from aucuba._base._estimator import Classes
from aucuba._base._parallel import draw_seed, one_thread
from aucuba._base._typing import AnyArray, ArrayLike, FloatArray
from aucuba._base._validation import as_table
from aucuba._base._warnings import FewRowsWarning
from aucuba._roc._region import FprWeight, Region
from aucuba._rows._out_of_fold import partition
from aucuba._rows._sample import Sample
from aucuba.ensemble._base import RegionEnsemble
from aucuba.ensemble._blend import Blend, StackedBlend
from aucuba.ensemble._distill import (
    check_distillable,
    cross_taught,
    loss_of_student,
    student_for,
    taught,
)
from aucuba.ensemble._few_row_scores import FEW_ROWS, FewRowScorer
from aucuba.ensemble._importances import region_importances
from aucuba.ensemble._members import FittedMember
from aucuba.ensemble._table import TrainingTable, as_rows, check_columns, log_odds, make_table


class FittedStack(RegionEnsemble):
    """Members with fitted models, and the blend of their scores."""

    fpr_range: tuple[float, float]
    min_tpr: float
    fpr_weight: FprWeight
    members_: list[tuple[str, Any]]
    plan_: list[dict[str, Any]]
    report_: list[dict[str, Any]]
    shrinkage_: float
    region_weight_: float
    coef_: FloatArray
    intercept_: float
    mean_: FloatArray
    scale_: FloatArray

    def _region(self) -> Region:
        return Region.from_params(self.fpr_range, self.fpr_weight, self.min_tpr)

    def _adopt_stack(
        self,
        fits: list[FittedMember],
        blend: StackedBlend,
        sample: Sample,
        region: Region,
        classes: Classes,
    ) -> None:
        """Set the members, their blend, its threshold and its report on the scored rows."""
        self.classes_, self.pos_label_ = classes
        self.members_ = [(fit.name, fit.model) for fit in fits]
        self.plan_ = [{"member": fit.name, **fit.settings} for fit in fits]
        self.coef_, self.intercept_ = blend.blend.coef, blend.blend.intercept
        self.mean_, self.scale_ = blend.blend.mean, blend.blend.scale
        self.shrinkage_, self.region_weight_ = blend.shrinkage, blend.region_weight
        self._adopt_threshold(blend.log_odds, sample, region.upper_limit)
        scores = np.column_stack([fit.scores for fit in fits])
        self.report_ = blend.report([fit.name for fit in fits], scores, sample, region)

    def _adopt_scores(self, scores: FloatArray, distilled: dict[str, float] | None = None) -> None:
        """Set the out-of-fold scores of the members and, of a student, what they lose."""
        self.oof_scores_ = scores
        if distilled is not None:
            self.distilled_ = distilled

    def member_scores(self, X: Any) -> FloatArray:
        """Score rows by every member.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_members)
        """
        check_is_fitted(self)
        X = as_table(X)
        check_columns(self, X)
        return self._member_scores(X)

    def _member_scores(self, X: Any) -> FloatArray:
        X, models = as_rows(X), [model for _, model in self.members_]
        if _num_samples(X) <= FEW_ROWS and not sparse.issparse(X):
            return FewRowScorer.of(self, models).scores(X)
        return np.column_stack([log_odds(model, X) for model in models])

    def _log_odds(self, scores: FloatArray) -> FloatArray:
        # The blend is fitted by log-loss.
        return scores

    def _scores(self, X: Any) -> FloatArray:
        blend = Blend(self.coef_, self.intercept_, self.mean_, self.scale_)
        return blend.log_odds(self._member_scores(X))

    def feature_importances(
        self,
        X: Any,
        y: Any,
        *,
        columns: Mapping[str, Sequence[Any]] | None = None,
        sample_weight: ArrayLike | None = None,
        n_repeats: int = 5,
        confidence: float = 0.95,
        random_state: Any = None,
    ) -> list[dict[str, Any]]:
        """Measure the loss of partial AUC in the stack's region when columns of X are shuffled.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Rows that the stack was not trained on.
        y : array-like of shape (n_samples,)
        columns, sample_weight, n_repeats, confidence, random_state
            As in `region_importances`.

        Returns
        -------
        list of dict
            One per column or group of columns, the most important first, with intervals.
        """
        check_is_fitted(self)
        # With many small predictions, threads mostly wait for each other.
        with one_thread():
            return region_importances(
                self,
                X,
                y,
                fpr_range=self.fpr_range,
                min_tpr=self.min_tpr,
                fpr_weight=self.fpr_weight,
                columns=columns,
                sample_weight=sample_weight,
                n_repeats=n_repeats,
                confidence=confidence,
                random_state=random_state,
            )

    def distill(
        self,
        X: Any,
        y: Any,
        estimator: Any = None,
        *,
        n_synthetic: int | None = None,
        cv: Any = 3,
        groups: ArrayLike | None = None,
        time: ArrayLike | None = None,
        random_state: Any = None,
    ) -> Any:
        r"""Train one small model to score as the stack does.

        The student minimises its cross-entropy to the stack's probabilities p,

        .. math:: -\sum_i \bigl(p_i \log q_i + (1 - p_i) \log (1 - q_i)\bigr),

        over the training rows and synthetic ones, rows of X with about a third of their columns taken
        from another row. Its loss is measured, and its probabilities and threshold are set, on rows
        that neither it nor its stack has seen: stack and student are refitted for each of ``cv`` folds,
        which takes ``cv`` fits of the stack.

        Parameters
        ----------
        X : ndarray or pandas DataFrame of shape (n_samples, n_features)
            The rows that the stack was fitted on.
        y : array-like of shape (n_samples,)
        estimator : classifier with ``sample_weight`` in ``fit``, default=None
            The student; None is gradient boosting of 150 trees on the columns of X.
        n_synthetic : int, default=None
            Number of synthetic rows; None is three per row of X, at most 50,000.
        cv : int, splitter or iterable of splits, default=3
            Folds, as in the stack itself.
        groups, time : array-like of shape (n_samples,), default=None
            As in `fit`, for the folds here and those of the stacks fitted on them.
        random_state : int, RandomState instance or None, default=None

        Returns
        -------
        RegionStack
            A fitted stack whose only member is the student. Its ``distilled_`` is a dict of the
            cross-fitted partial AUC of ``"teacher"`` and ``"student"``, their difference ``"loss"``
            and its ``"standard_error"``. It can be saved, but a clone of it learns from labels.
        """
        check_is_fitted(self)
        check_distillable(X, n_synthetic)
        student = clone(self)
        table, kept, classes = make_table(student, X, y, None, groups, time)
        base, seed = student_for(estimator, X), draw_seed(random_state)
        folds = partition(cv, kept, seed)

        def teach(part: TrainingTable, labels: AnyArray, given: dict[str, Any]) -> tuple[Any, Any]:
            with warnings.catch_warnings():
                # The fit of the stack has already warned of few rows.
                warnings.simplefilter("ignore", FewRowsWarning)
                teacher = clone(self).fit(part.X, labels, **given)
            return teacher._scores, taught(base, teacher._scores, part.X, n_synthetic, seed)

        given = {"groups": groups, "time": time}
        given = {name: values for name, values in given.items() if values is not None}
        scores = cross_taught(teach, table, kept.labels, folds, given)
        sample, region = table.sample.take(folds.covered), self._region()
        fit = FittedMember(
            "student", taught(base, self._scores, table.X, n_synthetic, seed), scores[1]
        )
        student.set_params(estimators=[("student", base)], plan=None, time_limit=None)
        blend = StackedBlend.from_one_member(scores[1:].T, sample, folds.splits_of_scores())
        student._adopt_stack([fit], blend, sample, region, classes)
        student._adopt_scores(
            folds.among_rows(scores[1:].T, np.nan), loss_of_student(scores, sample, region)
        )
        return student
