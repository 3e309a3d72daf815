"""A classifier whose false positive rate is promised."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import (
    Bunch,
    _safe_indexing,
    assert_all_finite,
    column_or_1d,
    get_tags,
    indexable,
)
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from aucuba._core._callbacks import CallbackSupport, Progress, fit_monitor, with_callbacks
from aucuba._core._fit_guard import all_or_nothing
from aucuba._core._parallel import map_parallel
from aucuba._core._positive_scores import positive_scores, response_of
from aucuba._core._resampling import Split, require_both_classes
from aucuba._core._typing import AnyArray, ArrayLike, BoolArray, FloatArray
from aucuba._core._validation import binary_target, check_fraction, finite_scores
from aucuba.threshold._held_out import held_out_splits, params_of_rows, require_fitted
from aucuba.threshold._order_statistic import (
    threshold_rank,
    tie_safe_threshold,
    violation_probability,
)


def _estimator_has(method: str) -> Callable[[Any], bool]:
    def check(self: FixedFPRClassifier) -> bool:
        return hasattr(getattr(self, "estimator_", self.estimator), method)

    return check


class FixedFPRClassifier(CallbackSupport, ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    r"""P(FPR of ``predict`` > max_fpr) <= 1 - confidence, for any base classifier.

    The threshold is the k-th smallest score of n held-out negatives, with the smallest k for which
    the violation probability

    .. math:: P(\text{FPR} > a) \le \sum_{j=k}^{n} \binom{n}{j} (1 - a)^j a^{n-j}

    at a = ``max_fpr`` is at most 1 - ``confidence`` (the umbrella algorithm of [1]_). A row is
    positive when its score lies strictly above the threshold, so ties only lower the rate.

    The promise needs negatives that the model has not seen: ``cv="prefit"``, a fraction such as
    ``cv=0.5``, or a splitter with one split. Several folds (``cv=5``) pool the scores of several
    models and apply the threshold to another one, fitted on all rows; that uses the data better,
    but it is a heuristic, and ``guarantee_`` is then False.

    The promise is about new negatives drawn like the held-out ones and independent of them, and
    is made once: choosing among thresholds or models by looking at the same held-out rows voids it.

    Parameters
    ----------
    estimator : estimator
        Binary classifier with ``decision_function`` or ``predict_proba``.
    max_fpr : float, default=0.05
        The promised false positive rate, in (0, 1).
    confidence : float, default=0.95
        How sure the promise is, in (0, 1): the probability, over the held-out rows, that the rate
        is kept.
    cv : int, float, "prefit", splitter, iterable or None, default=5
        Where the held-out negatives come from.

        - a fraction in (0, 1): one stratified split holds out that part of the rows, the rest
          trains ``estimator_``; guaranteed;
        - ``"prefit"``: ``estimator`` is fitted, and all rows given to ``fit`` are held out (they
          may all be negative); guaranteed if ``estimator`` has not seen them;
        - a splitter or iterable with one split: as the fraction; guaranteed;
        - an int of at least 2, None (five folds), or a splitter or iterable with several
          disjoint folds: out-of-fold scores are pooled and ``estimator_`` is fitted on all rows;
          a heuristic.
    pos_label : label, default=None
        The positive class; None takes ``classes_[1]``, the larger label.
    response_method : {"auto", "decision_function", "predict_proba"}, default="auto"
        Where scores come from; "auto" takes the first of the two that ``estimator`` has.
    n_jobs : int, default=None
        Number of folds fitted at a time.
    random_state : int, RandomState instance or None, default=None
        Draws the held-out rows when ``cv`` is a fraction.

    Attributes
    ----------
    estimator_ : estimator
        The fitted base classifier.
    threshold_ : float
        Scores strictly above it are positive: the ``rank_``-th smallest held-out negative score,
        raised by a few floating-point roundings so that rows that tie with it stay negative.
    classes_ : ndarray of shape (2,)
        The labels.
    pos_label_ : label
        The positive one.
    n_negatives_ : int
        Number n of held-out negatives.
    rank_ : int
        Rank k of ``threshold_`` among their scores, smallest first.
    violation_probability_ : float
        The bound on P(FPR > max_fpr), at most 1 - ``confidence``.
    guarantee_ : bool
        Whether the bound is a theorem (held-out rows) or a heuristic (pooled folds).
    n_features_in_ : int
        Number of features; only if ``estimator_`` has it.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features; only if ``estimator_`` has it.

    See Also
    --------
    aucuba.threshold.negatives_needed : How many held-out negatives a promise needs.
    sklearn.model_selection.TunedThresholdClassifierCV : Threshold of the best score, no promise.

    Notes
    -----
    Rows are counted: the binomial rule has no weighted form, so ``sample_weight`` and other fit
    parameters reach the base estimator only. Without metadata routing ``groups`` goes to the
    splitter and everything else to ``estimator.fit``; with it, requests decide.

    References
    ----------
    .. [1] Tong, Feng and Li (2018), Neyman-Pearson classification algorithms and NP receiver
       operating characteristics, Science Advances 4(2), eaao1659.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from aucuba.threshold import FixedFPRClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), LogisticRegression())
    >>> alarm = FixedFPRClassifier(model, max_fpr=0.05, cv=0.5, random_state=0).fit(X, y)
    >>> alarm.n_negatives_, alarm.rank_, alarm.guarantee_
    (106, 105, True)
    >>> round(alarm.violation_probability_, 3)
    0.029
    """

    def __init__(
        self,
        estimator: Any,
        max_fpr: float = 0.05,
        confidence: float = 0.95,
        cv: Any = 5,
        *,
        pos_label: Any = None,
        response_method: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.max_fpr = max_fpr
        self.confidence = confidence
        self.cv = cv
        self.pos_label = pos_label
        self.response_method = response_method
        self.n_jobs = n_jobs
        self.random_state = random_state

    @with_callbacks
    @all_or_nothing
    def fit(self, X: Any, y: ArrayLike, **params: Any) -> FixedFPRClassifier:
        """Fit the base estimator, unless it is fitted, and set the threshold.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Rows to train on and to hold out; with ``cv="prefit"`` all are held out.
        y : array-like of shape (n_samples,)
            Labels of two classes.
        **params : dict
            Fit parameters of the base estimator, and ``groups`` of the splitter.

        Returns
        -------
        self : FixedFPRClassifier
            The fitted classifier.
        """
        check_fraction(self.max_fpr, "max_fpr", low_open=True, high_open=True)
        check_fraction(self.confidence, "confidence", low_open=True, high_open=True)
        response_of(self.estimator, self.response_method)
        X, target, negative = self._validate_rows(X, y)
        routed = self._route(params)
        if self._is_prefit:
            scores = self._prefit_scores(X, negative, params)
        else:
            scores = self._held_out_scores(X, target, negative, routed)
        self.threshold_ = tie_safe_threshold(scores, self.rank_)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Base score minus ``threshold_``, signed towards ``classes_[1]``.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        ndarray of shape (n_samples,)
            Above zero where ``classes_[1]`` is predicted; if ``pos_label`` is ``classes_[0]``, at
            zero too.
        """
        check_is_fitted(self, "threshold_")
        margin = self._margin(X)
        return margin if self._positive_index else -margin

    def predict(self, X: Any) -> AnyArray:
        """The positive label where the base score lies strictly above ``threshold_``.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Rows to classify.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels from ``classes_``.
        """
        check_is_fitted(self, "threshold_")
        index = self._positive_index
        labels: AnyArray = self.classes_[np.where(self._margin(X) > 0, index, 1 - index)]
        return labels

    @available_if(_estimator_has("predict_proba"))
    def predict_proba(self, X: Any) -> FloatArray:
        """Class probabilities of the base estimator, which the threshold does not change.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Probabilities in the order of ``classes_``.
        """
        check_is_fitted(self, "threshold_")
        probabilities: FloatArray = self.estimator_.predict_proba(X)
        return probabilities

    def get_metadata_routing(self) -> MetadataRouter:
        """Requests of the base estimator's ``fit`` and of the splitter's ``split``.

        Returns
        -------
        MetadataRouter
            Routing information of both.
        """
        return (
            MetadataRouter(owner=self)
            .add(
                estimator=self.estimator,
                method_mapping=MethodMapping().add(caller="fit", callee="fit"),
            )
            .add(
                splitter=self.cv,
                method_mapping=MethodMapping().add(caller="fit", callee="split"),
            )
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        base = get_tags(self.estimator).input_tags
        tags.input_tags.sparse = base.sparse
        tags.input_tags.allow_nan = base.allow_nan
        tags.input_tags.string = base.string
        tags.input_tags.categorical = base.categorical
        tags.classifier_tags.multi_class = False
        # Accuracy is not the aim: at max_fpr=0.5 half of the negatives may be called positive.
        tags.classifier_tags.poor_score = True
        return tags

    @property
    def _is_prefit(self) -> bool:
        return isinstance(self.cv, str) and self.cv == "prefit"

    @property
    def _positive_index(self) -> int:
        return int(self.classes_[1] == self.pos_label_)

    def _validate_rows(self, X: Any, y: ArrayLike) -> tuple[Any, AnyArray, BoolArray]:
        """Rows that can be indexed, labels, and which rows are negative; sets the classes."""
        if y is None:
            raise ValueError(
                "FixedFPRClassifier requires y to be passed, but the target y is None."
            )
        X, y = indexable(X, y)
        target: AnyArray = column_or_1d(y, warn=True)
        assert_all_finite(target, input_name="y")
        check_classification_targets(target)
        if self._is_prefit:
            require_fitted(self.estimator)
            self.classes_ = _binary_classes(self.estimator)
            unknown = np.setdiff1d(target, self.classes_)
            if unknown.size:
                raise ValueError(
                    f"y has labels {unknown[:5].tolist()} that the fitted estimator does not "
                    f"know; its classes are {self.classes_.tolist()}."
                )
        else:
            binary_target(target)
            self.classes_ = np.unique(target)
        labels = self.classes_.tolist()
        if self.pos_label is not None and self.pos_label not in labels:
            raise ValueError(f"pos_label={self.pos_label!r} is not one of the classes {labels}.")
        self.pos_label_ = labels[1 if self.pos_label is None else labels.index(self.pos_label)]
        return X, target, np.asarray(target != self.pos_label_, dtype=bool)

    def _route(self, params: dict[str, Any]) -> Bunch:
        if get_config()["enable_metadata_routing"]:
            return process_routing(self, "fit", **params)
        to_fit = {name: value for name, value in params.items() if name != "groups"}
        to_split = {name: value for name, value in params.items() if name == "groups"}
        return Bunch(estimator=Bunch(fit=to_fit), splitter=Bunch(split=to_split))

    def _choose_rank(self, n_negatives: int, guarantee: bool) -> None:
        self.rank_ = threshold_rank(n_negatives, self.max_fpr, self.confidence)
        self.n_negatives_ = n_negatives
        self.violation_probability_ = violation_probability(self.rank_, n_negatives, self.max_fpr)
        self.guarantee_ = guarantee

    def _prefit_scores(self, X: Any, negative: BoolArray, params: dict[str, Any]) -> AnyArray:
        if params:
            raise ValueError(
                f"cv='prefit' fits nothing and counts rows, so {sorted(params)} would have no "
                "effect; leave them out."
            )
        self._choose_rank(int(negative.sum()), guarantee=True)
        self.estimator_ = self.estimator
        return self._positive_scores(self.estimator, X)[negative]

    def _held_out_scores(self, X: Any, y: AnyArray, negative: BoolArray, routed: Bunch) -> AnyArray:
        splits = held_out_splits(self.cv, X, y, self.random_state, routed.splitter.split)
        fit_params = routed.estimator.fit
        require_both_classes(splits, y, fit_params.get("sample_weight"))
        held_out = np.concatenate([test for _, test in splits])
        # Before any model is fitted, since too few negatives is an error.
        self._choose_rank(int(negative[held_out].sum()), guarantee=len(splits) == 1)
        with fit_monitor(self, X, y, max_iter=len(splits) + 1) as monitor:
            progress = Progress(monitor)
            fitted = map_parallel(
                self._fit_and_score, splits, X, y, fit_params, n_jobs=self.n_jobs, progress=progress
            )
            if self.guarantee_:
                self.estimator_ = fitted[0][0]
            else:
                self.estimator_ = clone(self.estimator).fit(X, y, **fit_params)
        return np.concatenate([scores for _, scores in fitted])[negative[held_out]]

    def _fit_and_score(
        self, split: Split, X: Any, y: AnyArray, fit_params: dict[str, Any]
    ) -> tuple[Any, AnyArray]:
        train, test = split
        part = params_of_rows(fit_params, train, y.shape[0])
        model = clone(self.estimator).fit(_safe_indexing(X, train), y[train], **part)
        return model, self._positive_scores(model, _safe_indexing(X, test))

    def _positive_scores(self, estimator: Any, X: Any) -> AnyArray:
        return positive_scores(estimator, X, self._positive_index, self.response_method)[0]

    def _margin(self, X: Any) -> FloatArray:
        scores = finite_scores(self._positive_scores(self.estimator_, X), "The base score")
        return scores - self.threshold_


def _binary_classes(estimator: Any) -> AnyArray:
    classes = np.asarray(estimator.classes_)
    if classes.shape != (2,):
        raise ValueError(
            "Only binary classification is supported. The fitted estimator has the classes "
            f"{classes.tolist()}."
        )
    return classes
