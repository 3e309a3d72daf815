"""Re-weight any classifier that takes sample weights for a region of the ROC curve."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_memory

from aucuba._base._callbacks import Progress, fit_monitor, with_callbacks
from aucuba._base._estimator import all_or_nothing
from aucuba._base._parallel import draw_seed, with_fixed_seed
from aucuba._base._typing import ArrayLike, FloatArray
from aucuba._roc._logistic import logistic_calibration
from aucuba._roc._region import FprWeight, Region
from aucuba.ensemble._base import RegionEnsemble
from aucuba.ensemble._reweighting import ReweightedPair, fit_reweighted
from aucuba.ensemble._runner import Runner
from aucuba.ensemble._sampling import check_max_rows, sample_rows
from aucuba.ensemble._table import (
    check_columns,
    check_strength,
    checked_table,
    log_odds,
    weight_keyword,
)


class RegionReweighted(MetaEstimatorMixin, RegionEnsemble):
    r"""Average of a plain model and the same model re-weighted for the region.

    .. math::
        s(x) = \tfrac12\, \mathrm{logit}\, p_{\mathrm{plain}}(x)
             + \tfrac12\, \mathrm{logit}\, p_{\mathrm{weighted}}(x)

    For any scikit-learn classifier that takes ``sample_weight``: boosting (LightGBM, XGBoost and
    CatBoost through their scikit-learn classes), forests, pipelines that end in one of them.
    Out-of-fold scores show which rows lie around the thresholds of the region; one refit gives these
    rows up to ``strength`` times the weight. X is passed on unchanged, so the estimator must handle
    categories and missing values (CatBoost can be cloned only if ``cat_features`` is a tuple).
    Cost: ``2 cv + 2`` fits of the estimator.

    For linear models use `PartialAUCClassifierCV` instead: re-weighting made them worse in our study.
    Probabilities are calibrated by logistic regression on the out-of-fold scores of the average.
    A range that holds fewer than ten negatives is widened to ten for the weights, with a warning; with
    fewer than ten rows of a class both models are the plain one.

    Parameters
    ----------
    estimator : classifier with ``sample_weight`` in ``fit``
        For a pipeline the weights go to its last step; with metadata routing switched on, to the steps
        that request them.
    fpr_range : (float, float), default=(0.0, 0.05)
        The false positive rates that matter. Only the upper limit shapes the weights of the rows.
    min_tpr : float, default=0.0
        Lowest true positive rate that matters (two-way partial AUC): positives that rank above it get
        no additional weight.
    fpr_weight : callable, "log", ("exponential", alpha) or None, default=None
        Weight of the false positive rates u inside ``fpr_range``: a non-negative function of u, 1/u
        (the range must start above 0), exp(-alpha u), or None to weight all rates equally. It changes
        the weights of the rows only through the highest rate of positive weight.
    strength : float, default=3.0
        Largest weight before each class is rescaled to mean 1; at least 1.
    cv : int, splitter or iterable of splits, default=5
        Folds for the out-of-fold scores. A number gives stratified and shuffled folds, folds of whole
        ``groups``, or blocks of ``time``, if `fit` gets them. Other splits must test every row exactly
        once.
    max_rows : int, default=None
        Train every model on at most this many rows, for large tables and narrow regions: all positives
        (a sample if they exceed half), the negatives that a first model ranks highest, up to 20 times
        the upper limit of the region or half of the rest, and a uniform sample of the others with
        weights that make up for those left out. Thresholds, weights and out-of-fold scores still come
        from all rows. This takes one more fit; None trains on all rows.
    pos_label : label, default=None
        The positive class, to which the region refers; None means ``classes_[1]``. Scores and the
        columns of ``predict_proba`` keep scikit-learn's order of the classes.
    n_jobs : int or None, default=None
        Number of fits that run in parallel, each on one thread of BLAS and OpenMP; the result does not
        depend on it. LightGBM, XGBoost and CatBoost have their own number of threads: set it to 1.
    memory : str, joblib.Memory or None, default=None
        Where to cache fits, so that another region on the same rows need not repeat them.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds, and of every ``random_state`` that the estimator leaves at None.

    Attributes
    ----------
    estimator_, weighted_estimator_ : classifier
        The plain and the re-weighted model, both fitted on all rows (to train on).
    weights_ : ndarray of shape (n_samples,)
        The region's factor for every row, mean 1 in each class; 1 for rows that are not scored out of
        fold, 0 for rows of zero weight.
    oof_scores_ : ndarray of shape (n_samples,)
        Out-of-fold scores of the plain model, towards ``pos_label_``; nan for rows of zero weight and
        for the first block of time.
    calibration_ : ndarray of shape (2,)
        Slope and intercept of the log-odds of ``pos_label_`` as a function of its score.
    threshold_ : float
        The score of ``pos_label_`` above which it is predicted: the FPR of out-of-fold scores is the
        upper limit of the region; for a limit of 1, their balanced accuracy is best.
    predict_fpr_ : float
        The false positive rate that ``threshold_`` was set for.
    classes_ : ndarray of shape (2,)
        The labels in sorted order.
    pos_label_ : label
        The positive class.

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
        min_tpr: float = 0.0,
        fpr_weight: FprWeight = None,
        strength: float = 3.0,
        cv: Any = 5,
        max_rows: int | None = None,
        pos_label: Any = None,
        n_jobs: int | None = None,
        memory: Any = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.fpr_range = fpr_range
        self.min_tpr = min_tpr
        self.fpr_weight = fpr_weight
        self.strength = strength
        self.cv = cv
        self.max_rows = max_rows
        self.pos_label = pos_label
        self.n_jobs = n_jobs
        self.memory = memory
        self.random_state = random_state

    @with_callbacks
    @all_or_nothing
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        time: ArrayLike | None = None,
    ) -> RegionReweighted:
        """Score out of fold, weight the region's rows and refit.

        Parameters
        ----------
        X : {array-like, DataFrame, Dask collection} of shape (n_samples, n_features)
            Whatever the estimator takes. A Dask array or DataFrame stays in its blocks: the estimator
            is then that of ``xgboost.dask`` or ``lightgbm.dask``, a number ``cv`` splits by a hash of
            the row number, and the fitted models are plain ones that need no cluster. If a worker is
            lost and the fit does not recover within ``aucuba.lost-worker-timeout`` of Dask's
            configuration (20 seconds by default), an error is raised.
        y : array-like of shape (n_samples,)
            Two classes.
        sample_weight : array-like of shape (n_samples,), default=None
            A row of weight k counts as k equal rows (if the splits are given, and the estimator treats
            weights this way).
        groups : array-like of shape (n_samples,), default=None
            Rows of one group, such as a patient or an account, stay together in every split.
        time : array-like of shape (n_samples,), default=None
            When each row was seen: numbers, dates, or dates as ISO text. The rows are cut into
            ``cv + 1`` blocks of equal count in order of time, equal times together, and each block is
            scored by models of earlier blocks alone; the first has no score and factor 1. With
            ``groups`` too, earlier rows of a tested group do not train. Final models are fitted on
            all rows.

        Returns
        -------
        RegionReweighted
            The fitted classifier.
        """
        weight_keyword(self.estimator)
        check_strength(self.strength)
        max_rows = check_max_rows(self.max_rows)
        region = Region.from_params(self.fpr_range, self.fpr_weight, self.min_tpr)
        table, kept, classes = checked_table(self, X, y, sample_weight, groups, time)
        self.classes_, self.pos_label_ = classes
        seed = draw_seed(self.random_state)
        folds = table.folds(self.cv, kept, seed)
        trained_on = region.warned_for_training(
            table.sample, f"The plain {type(self.estimator).__name__}"
        )
        memory = check_memory(self.memory)
        n_fits = (len(folds.splits) + 1) * (1 if trained_on is None else 2)
        with fit_monitor(self, X, y, max_iter=n_fits) as monitor:
            base = with_fixed_seed(clone(self.estimator), seed)
            sampling = sample_rows(base, table, trained_on or region, max_rows, seed)
            progress = Progress(monitor)
            runner = Runner(table, folds, kept, self.n_jobs, memory, progress, sampling)
            pair = fit_reweighted(base, runner, trained_on, self.strength)
            self._adopt_pair(pair, runner, region)
        return self

    def _fit_on_stack(
        self, runner: Runner, seed: int, scores: FloatArray | None, *, every_fold: bool
    ) -> FloatArray:
        """Fit on the rows and folds of a stack; return the out-of-fold scores of the rows.

        These are shifted as `decision_function` is. Labels are 1 for the positive class, else 0.
        """
        region = Region.from_params(self.fpr_range, self.fpr_weight, self.min_tpr)
        base = with_fixed_seed(clone(self.estimator), seed)
        trained_on = region.for_training(runner.table.sample)
        pair = fit_reweighted(
            base, runner, trained_on, self.strength, scores, every_fold=every_fold
        )
        check_columns(self, runner.table.X, reset=True)
        self.classes_, self.pos_label_ = np.array([0, 1]), 1
        self._adopt_pair(pair, runner, region)
        return pair.mean_scores - self.threshold_

    def _adopt_pair(self, pair: ReweightedPair, runner: Runner, region: Region) -> None:
        """Set both models, what their weights come from, the threshold and the calibration."""
        self.estimator_, self.weighted_estimator_ = pair.plain, pair.weighted
        self._adopt_threshold(pair.mean_scores, runner.scored, region.upper_limit)
        self.calibration_ = logistic_calibration(pair.mean_scores, runner.scored)
        self.oof_scores_ = runner.among_all(pair.scores)
        self.weights_ = runner.among_given(pair.factors, 0.0)

    def _log_odds(self, scores: FloatArray) -> FloatArray:
        slope, intercept = self.calibration_
        log_odds: FloatArray = slope * scores + intercept
        return log_odds

    def _scores(self, X: Any) -> FloatArray:
        return (log_odds(self.estimator_, X) + log_odds(self.weighted_estimator_, X)) / 2

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        return tags
