"""Any classifier with sample weights, turned towards a range of false positive rates."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, check_memory

from aucuba._core._callbacks import Progress, fit_monitor, with_callbacks
from aucuba._core._fit_guard import all_or_nothing
from aucuba._core._typing import ArrayLike, FloatArray
from aucuba._core._validation import check_fpr_range
from aucuba.ensemble._base import LogOddsClassifier
from aucuba.ensemble._runner import Runner
from aucuba.ensemble._scores import log_odds
from aucuba.ensemble._table import (
    at_rows,
    check_columns,
    check_range_is_covered,
    check_strength,
    draw_seed,
    make_folds,
    make_table,
    seeded,
    weight_keyword,
)
from aucuba.ensemble._weights import region_weights


class RegionReweighted(MetaEstimatorMixin, LogOddsClassifier):
    r"""Half a plain model, half one trained with weights on the range's rows:

    .. math::
        s(x) = \tfrac12\, \mathrm{logit}\, p_{\mathrm{plain}}(x)
             + \tfrac12\, \mathrm{logit}\, p_{\mathrm{weighted}}(x)

    For any scikit-learn classifier that takes ``sample_weight``: boosting (LightGBM, XGBoost and
    CatBoost through their scikit-learn classes), forests, pipelines that end in one of them.
    Out-of-fold scores tell which rows lie around the thresholds of ``fpr_range``; these rows get up to
    ``strength`` times the weight in one refit. X is handed on as it is: categories and missing values
    are the estimator's concern (CatBoost wants ``cat_features`` as a tuple, so that it can be cloned).
    Cost: ``cv + 2`` fits of the estimator.

    For linear models use `PartialAUCClassifierCV` instead: there, re-weighting lost in our study.
    Probabilities are as good as the two models' own; wrap in scikit-learn's `CalibratedClassifierCV`
    where they must be calibrated.

    Parameters
    ----------
    estimator : classifier with ``sample_weight`` in ``fit``
        For a pipeline the weights go to its last step; with metadata routing switched on, to the steps
        that request them.
    fpr_range : (float, float), default=(0.0, 0.05)
        The false positive rates that matter. Only the upper limit shapes the weights.
    strength : float, default=3.0
        Largest weight before each class is rescaled to mean 1; at least 1.
    cv : int, splitter or iterable of splits, default=5
        Folds for the out-of-fold scores: stratified and shuffled for a number. Splits must test every
        row exactly once; to keep groups whole give ``list(GroupKFold(5).split(X, y, groups))``.
    n_jobs : int or None, default=None
        Number of fits that run in parallel, each on one thread of BLAS and OpenMP; the result does not
        depend on it. LightGBM, XGBoost and CatBoost have a thread number of their own: set it to 1.
    memory : str, joblib.Memory or None, default=None
        Where to keep fits, so that another range on the same rows need not repeat them.
    random_state : int, RandomState instance or None, default=None
        For the folds, and for every ``random_state`` that the estimator leaves at None.

    Attributes
    ----------
    estimator_, weighted_estimator_ : classifier
        The plain and the re-weighted model, both fitted on all rows.
    weights_ : ndarray of shape (n_samples,)
        The region's factor for every row, mean 1 in each class; 0 for rows of zero weight.
    oof_scores_ : ndarray of shape (n_samples,)
        Out-of-fold scores of the plain model; nan for rows of zero weight.
    classes_ : ndarray of shape (2,)
        The second is positive.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from aucuba.ensemble import RegionReweighted
    >>> X, y = make_classification(400, weights=[0.8], random_state=0)
    >>> forest = RandomForestClassifier(25)
    >>> model = RegionReweighted(forest, (0.0, 0.1), random_state=0).fit(X, y)
    >>> bool(abs(model.weights_[y == 0].mean() - 1) < 1e-9)
    True
    """

    def __init__(
        self,
        estimator: Any,
        fpr_range: tuple[float, float] = (0.0, 0.05),
        *,
        strength: float = 3.0,
        cv: Any = 5,
        n_jobs: int | None = None,
        memory: Any = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.fpr_range = fpr_range
        self.strength = strength
        self.cv = cv
        self.n_jobs = n_jobs
        self.memory = memory
        self.random_state = random_state

    @with_callbacks
    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> RegionReweighted:
        """Score out of fold, weigh, refit.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Whatever the estimator takes.
        y : array-like of shape (n_samples,)
            Two classes.
        sample_weight : array-like of shape (n_samples,), default=None
            A row of weight k counts as k equal rows (for given splits, and estimators that treat
            weights so).

        Returns
        -------
        RegionReweighted
            Fitted.
        """
        weight_keyword(self.estimator)
        check_strength(self.strength)
        fpr_range = check_fpr_range(self.fpr_range)
        table, kept = make_table(self, X, y, sample_weight)
        check_range_is_covered(table, fpr_range)
        seed = draw_seed(self.random_state)
        folds = make_folds(self.cv, table, kept, X, y, seed)
        memory = check_memory(self.memory)
        with fit_monitor(self, X, y, max_iter=len(folds) + 2) as monitor:
            runner = Runner(table, folds, self.n_jobs, memory, Progress(monitor))
            oof, factor = self._fit_on_folds(runner, seed, None)
        n_rows = np.asarray(y).shape[0]
        self.oof_scores_ = at_rows(kept, oof, n_rows, np.nan)
        self.weights_ = at_rows(kept, factor, n_rows, 0.0)
        return self

    def _fit_on_folds(
        self, runner: Runner, seed: int, oof: FloatArray | None
    ) -> tuple[FloatArray, FloatArray]:
        """Both models; out-of-fold scores (computed where ``oof`` is None) and the region's factors."""
        base = seeded(clone(self.estimator), seed)
        table = runner.table
        scores = runner.scores(base) if oof is None else oof
        factor = region_weights(
            scores, table.positive, table.weight, self.fpr_range[1], self.strength
        )
        tables = [table, table.reweighted(factor)]
        self.estimator_, self.weighted_estimator_ = runner.fit(base, tables)
        return scores, factor

    def _fit_in_stack(self, runner: Runner, seed: int, oof: FloatArray | None = None) -> FloatArray:
        """Fit on a stack's rows and folds; out-of-fold scores of the averaged model.

        The factors come from out-of-fold scores on all rows, so a held-out row has had a hand in the
        weights, but not in the labels, that its fold is trained with.
        """
        self.classes_ = np.array([0, 1])
        self.oof_scores_, self.weights_ = self._fit_on_folds(runner, seed, oof)
        base = seeded(clone(self.estimator), seed)
        weighted = runner.scores(base, runner.table.reweighted(self.weights_))
        return (self.oof_scores_ + weighted) / 2

    def decision_function(self, X: Any) -> FloatArray:
        """The mean of the two models' log-odds.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        if hasattr(self, "n_features_in_"):
            check_columns(self, X)
        return (log_odds(self.estimator_, X) + log_odds(self.weighted_estimator_, X)) / 2

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        return tags
