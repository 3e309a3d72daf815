"""What a fitted stack can do: score rows, say what its columns are worth, and teach a smaller model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from aucuba._base._threads import one_thread
from aucuba._base._typing import ArrayLike, FloatArray
from aucuba.ensemble._base import RegionEnsemble
from aucuba.ensemble._blend import Blend
from aucuba.ensemble._distill import Distillation
from aucuba.ensemble._importances import region_importances
from aucuba.ensemble._scores import log_odds
from aucuba.ensemble._table import as_rows, check_columns


class FittedStack(RegionEnsemble):
    """Members with fitted models, and the blend of their scores."""

    members_: list[tuple[str, Any]]
    coef_: FloatArray
    intercept_: float
    mean_: FloatArray
    scale_: FloatArray

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
        check_columns(self, X)
        return self._member_scores(X)

    def _member_scores(self, X: Any) -> FloatArray:
        X = as_rows(X)
        return np.column_stack([log_odds(model, X) for _, model in self.members_])

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
        # Many small predictions: threads would spend their time waiting for each other.
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
        from another row. What it loses is measured, and its probabilities and threshold are set, on
        rows that neither it nor its stack has seen: stack and student are fitted anew for each of
        ``cv`` folds, so that this takes ``cv`` fits of the stack.

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
            Folds, as of the stack itself.
        groups, time : array-like of shape (n_samples,), default=None
            As in `fit`, for the folds here and those of the stacks fitted on them.
        random_state : int, RandomState instance or None, default=None

        Returns
        -------
        RegionStack
            A fitted stack whose only member is the student. Its ``distilled_`` is a dict of the
            cross-fitted partial AUC of ``"teacher"`` and ``"student"``, their difference ``"loss"``
            and its ``"standard_error"``. It is saved as any other; a clone would be fitted to labels.
        """
        check_is_fitted(self)
        distillation = Distillation(self, estimator, n_synthetic, cv, random_state)
        return distillation.run(X, y, groups, time)
