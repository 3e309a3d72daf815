"""What all classifiers with a promised threshold have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.utils import Bunch, _safe_indexing, get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from aucuba._base._callbacks import Progress, fit_monitor, with_callbacks
from aucuba._base._estimator import BinaryClassifier
from aucuba._base._fit_guard import all_or_nothing
from aucuba._base._parallel import map_parallel
from aucuba._base._positive_scores import positive_scores, response_of
from aucuba._base._typing import AnyArray, ArrayLike, FloatArray, IntArray
from aucuba._base._validation import check_choice, check_fraction, finite_scores
from aucuba._rows._splits import Split, require_both_classes
from aucuba.threshold._held_out import held_out_splits, params_of_rows
from aucuba.threshold._promise import Promise
from aucuba.threshold._rows import CalibrationTable, validated_table
from aucuba.threshold._rules import Cut, Rule
from aucuba.threshold._sentences import sentence, warn_trivial
from aucuba.threshold._strata import Strata, stratum_index, stratum_labels
from aucuba.threshold._units import Population


def _estimator_has(method: str) -> Callable[[Any], bool]:
    def check(self: PromisedThresholdClassifier) -> bool:
        return hasattr(getattr(self, "estimator_", self.estimator), method)

    return check


class PromisedThresholdClassifier(MetaEstimatorMixin, BinaryClassifier, ABC):
    """A base classifier with a threshold whose rate is promised; members say which rate.

    `fit` holds rows out, fits the base on the others, and hands the held-out scores to the rule of
    the promise, once per stratum.
    """

    estimator: Any
    confidence: float
    cv: Any
    joint: bool
    strata: Any
    group_rate: str
    max_group_size: int | None
    weighted_promise: bool
    max_weight: float | None
    on_failure: str
    response_method: str
    n_jobs: int | None
    random_state: Any

    threshold_: Any
    _promise: Promise
    _stratified: bool

    @abstractmethod
    def _rule(self, population: Population) -> Rule:
        """The rule that sets the thresholds; checks the promised rates."""

    def _store(self, arguments: Mapping[str, Any]) -> None:
        """Set every constructor argument as the attribute of its name."""
        for name, value in arguments.items():
            if name not in ("self", "__class__"):
                setattr(self, name, value)

    @with_callbacks
    @all_or_nothing
    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        time: ArrayLike | None = None,
        **params: Any,
    ) -> PromisedThresholdClassifier:
        """Fit the base estimator, unless it is fitted, and set the threshold.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Rows to train on and to hold out; with ``cv="prefit"`` all are held out.
        y : array-like of shape (n_samples,)
            Labels of two classes. An alert rate with ``cv="prefit"`` needs none.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights for the base estimator and, with ``weighted_promise=True``, for the promise.
        groups : array-like of shape (n_samples,), default=None
            Groups of rows, such as patients: held out whole, and the independent units of the
            promise.
        time : array-like of shape (n_samples,), default=None
            When each row was seen: numbers, dates, or dates as ISO text. With ``cv`` a fraction, the
            latest rows are held out instead of a random part, with all rows of the earliest time among
            them, and earlier rows of a group held out do not train. The promise is then about rows
            like these latest ones.
        **params : dict
            Further fit parameters of the base estimator.

        Returns
        -------
        PromisedThresholdClassifier
            This classifier, fitted.
        """
        check_fraction(self.confidence, "confidence", low_open=True, high_open=True)
        check_choice(self.on_failure, "on_failure", ("error", "trivial"))
        response_of(self.estimator, self.response_method)
        population = Population(
            self.group_rate, self.max_group_size, self.weighted_promise, self.max_weight
        )
        rule = self._rule(population)
        table = validated_table(self, X, y, sample_weight, groups, time)
        population.check(table.group is not None, table.weight is not None)
        strata = Strata.from_rows(self.strata, table.X)
        self.strata_ = strata.names
        if self._is_prefit:
            held_out, scores = self._score_prefit(table, strata, rule, params)
        else:
            routed = self._route(table.weight, groups, time, params)
            held_out, scores = self._fit_and_score_splits(table, strata, rule, routed)
        self._set_thresholds(self._cuts(rule, table, held_out, scores, strata), rule)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Compute the base score minus ``threshold_``, signed towards ``classes_[1]``.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        ndarray of shape (n_samples,)
            Above zero where ``classes_[1]`` is predicted; if ``pos_label_`` is ``classes_[0]``, at
            zero too.
        """
        check_is_fitted(self, "threshold_")
        scores = self._checked_scores(X)
        return self._oriented(scores - np.atleast_1d(self.threshold_)[self._strata_of(X)])

    def decision_levels(self, X: Any) -> IntArray:
        """Count the thresholds in ``thresholds_`` that every row passes.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Rows to classify.

        Returns
        -------
        ndarray of shape (n_samples,)
            Numbers from 0 to the number of promised rates.
        """
        check_is_fitted(self, "threshold_")
        scores = self._checked_scores(X)
        limits = np.atleast_2d(self.thresholds_)[self._strata_of(X)]
        return np.asarray(np.sum(scores[:, None] > limits, axis=1))

    @available_if(_estimator_has("predict_proba"))
    def predict_proba(self, X: Any) -> FloatArray:
        """Compute the class probabilities of the base estimator, which the threshold does not move.

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
        return np.asarray(self.estimator_.predict_proba(X))

    def get_metadata_routing(self) -> MetadataRouter:
        """Collect the requests of this ``fit``, the base estimator's and the splitter's.

        Returns
        -------
        MetadataRouter
            Routing information of all three.
        """
        to_fit = MethodMapping().add(caller="fit", callee="fit")
        to_split = MethodMapping().add(caller="fit", callee="split")
        router = MetadataRouter(owner=self).add_self_request(self)
        router.add(estimator=self.estimator, method_mapping=to_fit)
        return router.add(splitter=self.cv, method_mapping=to_split)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        base = get_tags(self.estimator).input_tags
        tags.input_tags.sparse = base.sparse
        tags.input_tags.allow_nan = base.allow_nan
        tags.input_tags.string = base.string
        tags.input_tags.categorical = base.categorical
        # Accuracy is not the aim: at max_fpr=0.5 half of the negatives may be called positive.
        tags.classifier_tags.poor_score = True
        return tags

    @property
    def _is_prefit(self) -> bool:
        return isinstance(self.cv, str) and self.cv == "prefit"

    def _allowed_rates(self, limits: Any) -> list[float]:
        """The mean losses that one limit, or a list of them, allows."""
        listed = [limits] if isinstance(limits, Real | str) or limits is None else list(limits)
        if not listed:
            raise ValueError(
                f"{self._promise.parameter} is an empty list; promise at least one rate."
            )
        rates = [self._promise.allowed(limit) for limit in listed]
        if len(set(rates)) < len(rates):
            raise ValueError(f"{self._promise.parameter} has equal rates: {listed}.")
        return rates

    def _strata_of(self, X: Any) -> Any:
        if not self._has_strata:
            return 0
        return stratum_index(stratum_labels(self.strata, X), self.strata_)

    def _route(self, sample_weight: Any, groups: Any, time: Any, params: dict[str, Any]) -> Bunch:
        given = {"sample_weight": sample_weight, "groups": groups, "time": time}
        given = {name: value for name, value in given.items() if value is not None}
        if get_config()["enable_metadata_routing"]:
            return process_routing(self, "fit", **given, **params)
        given.pop("time", None)
        to_split = {name: given.pop(name) for name in ("groups",) if name in given}
        if self.weighted_promise and not has_fit_parameter(self.estimator, "sample_weight"):
            # A pipeline takes weights under the name of a step; the promise takes them here.
            given.pop("sample_weight", None)
        return Bunch(estimator=Bunch(fit=given | params), splitter=Bunch(split=to_split))

    def _score_prefit(
        self, table: CalibrationTable, strata: Strata, rule: Rule, params: Any
    ) -> tuple[IntArray, AnyArray]:
        useless = sorted(params) + ["time"] * (table.time is not None)
        if table.weight is not None and not self.weighted_promise:
            useless.append("sample_weight")
        if useless:
            raise ValueError(
                f"cv='prefit' fits nothing and counts rows, so {useless} would have no effect; "
                "leave them out, or set weighted_promise=True to weight the promise."
            )
        self.guarantee_ = True
        everything = np.arange(table.positive.size)
        self._check_shortfalls(rule, table, everything, strata)
        self.estimator_ = self.estimator
        return everything, self._positive_scores(self.estimator, table.X)

    def _fit_and_score_splits(
        self, table: CalibrationTable, strata: Strata, rule: Rule, routed: Bunch
    ) -> tuple[IntArray, AnyArray]:
        X, y, fit_params = table.X, table.y, routed.estimator.fit
        splits = held_out_splits(
            self.cv,
            X,
            y,
            self.random_state,
            table.group,
            self._stratified,
            routed.splitter.split,
            table.time,
        )
        require_both_classes(splits, y, fit_params.get("sample_weight"))
        held_out = np.concatenate([test for _, test in splits])
        self.guarantee_ = len(splits) == 1
        # Before any model is fitted, since too few rows is an error.
        self._check_shortfalls(rule, table, held_out, strata)
        with fit_monitor(self, X, y, max_iter=len(splits) + 1) as monitor:
            progress = Progress(monitor)
            fitted = map_parallel(
                self._fit_and_score, splits, X, y, fit_params, n_jobs=self.n_jobs, progress=progress
            )
            if self.guarantee_:
                self.estimator_ = fitted[0][0]
            else:
                self.estimator_ = clone(self.estimator).fit(X, y, **fit_params)
        return held_out, np.concatenate([scores for _, scores in fitted])

    def _fit_and_score(
        self, split: Split, X: Any, y: AnyArray, fit_params: dict[str, Any]
    ) -> tuple[Any, AnyArray]:
        train, test = split
        part = params_of_rows(fit_params, train, y.shape[0])
        model = clone(self.estimator).fit(_safe_indexing(X, train), y[train], **part)
        return model, self._positive_scores(model, _safe_indexing(X, test))

    def _check_shortfalls(
        self, rule: Rule, table: CalibrationTable, held_out: IntArray, strata: Strata
    ) -> None:
        """Stop before any model is fitted where the number of rows cannot carry the promise."""
        if self.on_failure == "trivial" and not np.isnan(rule.trivial):
            return
        rows = table.held_out_rows(held_out, np.zeros(held_out.size))
        error = strata.error_of_each(self.confidence, self.joint)
        for place, part in enumerate(strata.parts(rows, held_out)):
            for problem in rule.shortfalls(part, error):
                raise ValueError(strata.problem_in(place, problem))

    def _cuts(
        self,
        rule: Rule,
        table: CalibrationTable,
        held_out: IntArray,
        scores: AnyArray,
        strata: Strata,
    ) -> list[Cut]:
        rows, cuts = table.held_out_rows(held_out, scores), []
        error = strata.error_of_each(self.confidence, self.joint)
        for place, part in enumerate(strata.parts(rows, held_out)):
            cut = rule.cut(part, error)
            for problem in cut.problems:
                if self.on_failure == "error" or np.isnan(rule.trivial):
                    raise ValueError(strata.problem_in(place, problem))
            cuts.append(cut)
        return cuts

    def _set_thresholds(self, cuts: list[Cut], rule: Rule) -> None:
        thresholds = np.stack([cut.thresholds for cut in cuts])
        self.trivial_ = bool(np.isnan(thresholds).any())
        thresholds = np.where(np.isnan(thresholds), rule.trivial, thresholds)
        strictest = thresholds.max(axis=1) if self._promise.flags_less else thresholds.min(axis=1)
        per_stratum = self._has_strata
        self.thresholds_ = thresholds if per_stratum else thresholds[0]
        self.threshold_ = strictest if per_stratum else float(strictest[0])
        n_units = np.array([cut.n_units for cut in cuts])
        self.n_units_ = n_units if per_stratum else int(n_units[0])
        ranks = [cut.ranks for cut in cuts if cut.ranks is not None]
        if len(ranks) == len(cuts):
            self._set_ranks(np.stack(ranks), per_stratum)
        if cuts[0].highest is not None:
            ends = np.column_stack([strictest, [cut.highest for cut in cuts]])
            self.threshold_range_ = ends if per_stratum else ends[0]
        self.violation_probability_ = self._violation(cuts) if self.guarantee_ else float("nan")
        self.promise_ = sentence(self, rule.words, cuts)
        if self.trivial_:
            warn_trivial(self)

    def _violation(self, cuts: list[Cut]) -> float:
        violations = np.array([cut.violation for cut in cuts])
        if len(cuts) == 1 or not self.joint:
            return float(violations.max())
        return float(-np.expm1(np.log1p(-violations).sum()))

    def _set_ranks(self, ranks: IntArray, per_stratum: bool) -> None:
        """One number, or an array without the axes that there is nothing to tell apart in."""
        listed = ranks if ranks.shape[1] > 1 else ranks[:, 0]
        chosen = listed if per_stratum else listed[0]
        self.rank_ = int(chosen) if np.ndim(chosen) == 0 else chosen

    @property
    def _has_strata(self) -> bool:
        return self.strata_.size > 0

    def _positive_scores(self, estimator: Any, X: Any) -> AnyArray:
        return positive_scores(estimator, X, self._positive_index, self.response_method)[0]

    def _checked_scores(self, X: Any) -> FloatArray:
        return finite_scores(self._positive_scores(self.estimator_, X), "The base score")
