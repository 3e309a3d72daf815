"""Base of all classifiers with a promised threshold."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from aucuba._base._callbacks import with_callbacks
from aucuba._base._estimator import BinaryClassifier, all_or_nothing
from aucuba._base._typing import ArrayLike, FloatArray, IntArray
from aucuba._base._validation import as_table, check_choice, check_fraction
from aucuba._base._warnings import warn_user
from aucuba._rows._sample import RankingSample, Sample
from aucuba.threshold._calibration import HeldOutCalibration
from aucuba.threshold._held_out import Strata
from aucuba.threshold._promise import Promise
from aucuba.threshold._rules import Cut, RateRule, Rule, flags_nothing
from aucuba.threshold._units import Population


def _has_probabilities(self: PromisedThresholdClassifier) -> bool:
    return hasattr(getattr(self, "estimator_", self.estimator), "predict_proba")


class PromisedThresholdClassifier(HeldOutCalibration, BinaryClassifier):
    """A base classifier with a threshold whose rate is promised; subclasses say which rate.

    `fit` holds rows out, fits the base on the others, and hands the held-out scores to the rule of
    the promise, once per stratum.
    """

    threshold_: Any
    _promise: Promise
    _remedy_for_weights = ", or set weighted_promise=True to weight the promise"

    def __init__(
        self,
        estimator: Any,
        confidence: float,
        cv: Any,
        joint: bool,
        strata: Any,
        group_rate: str,
        max_group_size: int | None,
        weighted_promise: bool,
        max_weight: float | None,
        on_failure: str,
        pos_label: Any,
        response_method: str,
        score_direction: str,
        n_jobs: int | None,
        random_state: Any,
    ) -> None:
        self.estimator = estimator
        self.confidence = confidence
        self.cv = cv
        self.joint = joint
        self.strata = strata
        self.group_rate = group_rate
        self.max_group_size = max_group_size
        self.weighted_promise = weighted_promise
        self.max_weight = max_weight
        self.on_failure = on_failure
        self.pos_label = pos_label
        self.response_method = response_method
        self.score_direction = score_direction
        self.n_jobs = n_jobs
        self.random_state = random_state

    @abstractmethod
    def _rule(self, population: Population) -> Rule:
        """Return the rule that sets the thresholds; check the promised rates."""

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
            Labels of two classes. An alert rate with ``cv="prefit"`` needs none. Nor do outlier
            detectors for a false positive rate, where all rows are then normal, and for an alert rate,
            where they are the population; ``predict`` returns 0, and 1 for outliers.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights for the base estimator and, with ``weighted_promise=True``, for the promise.
        groups : array-like of shape (n_samples,), default=None
            Groups of rows, such as patients: held out whole, and the independent units of the
            promise.
        time : array-like of shape (n_samples,), default=None
            When each row was seen: numbers, dates, or dates as ISO text. ``cv`` must be a fraction;
            the latest rows are held out instead of a random part, with all rows of their earliest
            time, and earlier rows of a held-out group do not train. The promise is then about rows
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
        population = Population(
            self.group_rate, self.max_group_size, self.weighted_promise, self.max_weight
        )
        rule = self._rule(population)

        def enough(held_out: Sample) -> None:
            population.check(held_out)
            self._require_enough(rule, held_out)

        scored, _ = self._hold_out(X, y, sample_weight, groups, time, params, enough)
        # Not every fit sets these, so remove those of an earlier fit.
        for name in ("rank_", "threshold_range_"):
            self.__dict__.pop(name, None)
        # The name of the column, such as "conversation", says what the groups are.
        self._set_thresholds(rule, scored, str(getattr(groups, "name", None) or "group"))
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
            Above 0 where ``classes_[1]`` is predicted; if ``pos_label_`` is ``classes_[0]``, also at 0.
        """
        check_is_fitted(self, "threshold_")
        X = as_table(X)
        scores = self._checked_scores(X)
        return self._oriented(scores - np.atleast_1d(self.threshold_)[self._strata_of(X)])

    def decision_levels(self, X: Any) -> IntArray:
        """Count how many of ``thresholds_`` each row passes.

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
        X = as_table(X)
        scores = self._checked_scores(X)
        limits = np.atleast_2d(self.thresholds_)[self._strata_of(X)]
        return np.asarray(np.sum(scores[:, None] > limits, axis=1))

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> FloatArray:
        """Compute the class probabilities of the base estimator, which the threshold does not change.

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
        return np.asarray(self.estimator_.predict_proba(as_table(X)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Accuracy is not the goal: at max_fpr=0.5 half of the negatives may be called positive.
        tags.classifier_tags.poor_score = True
        return tags

    @property
    def _counts_weights(self) -> bool:
        return bool(self.weighted_promise)

    @property
    def _stratified(self) -> bool:
        return self._promise.is_of_one_class

    def _raise_problems(self, rule: Rule, problems: list[list[str]]) -> None:
        """Raise the first problem of a stratum unless a trivial threshold solves it."""
        if self.on_failure == "error" or np.isnan(rule.trivial).any():
            for place, problem in enumerate(problems):
                if problem:
                    raise ValueError(Strata(self.strata_).named(problem[0], place))

    def _require_enough(self, rule: Rule, held_out: Sample) -> None:
        """Raise an error if the rows are too few for the promise."""
        strata = Strata(self.strata_)
        error = strata.error_of_one(self.confidence, self.joint)
        parts = strata.parts(held_out.with_scores(np.zeros(held_out.n_rows)))
        self._raise_problems(rule, [rule.shortfalls(part, error) for part in parts])

    def _set_thresholds(self, rule: Rule, scored: RankingSample, group: str) -> None:
        """Set the thresholds of every stratum by the rule."""
        strata = Strata(self.strata_)
        error = strata.error_of_one(self.confidence, self.joint)
        parts = strata.parts(scored)
        cuts = [rule.cut(part, error) for part in parts]
        self._raise_problems(rule, [cut.problems for cut in cuts])
        thresholds = np.stack([cut.thresholds for cut in cuts])
        missing = bool(np.isnan(thresholds).any())
        idle = any(flags_nothing(part, cut) for part, cut in zip(parts, cuts, strict=True))
        self.trivial_ = missing or (self._promise.flags_less and idle)
        thresholds = np.where(np.isnan(thresholds), rule.trivial, thresholds)
        strictest = thresholds.max(axis=1) if self._promise.flags_less else thresholds.min(axis=1)
        self.thresholds_ = strata.squeezed(thresholds)
        place = 0 if scored.stratum is None else scored.stratum
        level = np.sum(scored.score[:, None] > thresholds[place], axis=1)
        self.level_shares_ = np.bincount(level, minlength=thresholds.shape[1] + 1) / level.size
        self.threshold_ = strata.squeezed(strictest)
        self.n_units_ = strata.squeezed(np.array([cut.units.n_units for cut in cuts]))
        ranks = [cut.ranks for cut in cuts if cut.ranks is not None]
        if len(ranks) == len(cuts):
            listed = np.stack(ranks)
            self.rank_ = strata.squeezed(listed if listed.shape[1] > 1 else listed[:, 0])
        if cuts[0].highest is not None:
            ends = np.column_stack([strictest, [cut.highest for cut in cuts]])
            self.threshold_range_ = strata.squeezed(ends)
        violations = np.array([cut.violation for cut in cuts])
        violation = strata.error_of_all(violations, self.joint)
        self.violation_probability_ = violation if self.guarantee_ else float("nan")
        self.promise_ = self._sentence(rule, cuts, group)
        if self.trivial_:
            self._warn_of_trivial(rule, missing)

    def _warn_of_trivial(self, rule: Rule, missing: bool) -> None:
        where = " in some stratum" if self.strata_.size else ""
        reason = (
            f"The held-out rows cannot carry what is promised ({rule.words}){where}"
            if missing
            else f"No held-out positive{where} scores above the threshold that keeps what is promised "
            f"({rule.words})"
        )
        remedy = (
            "Hold out more rows or promise less; on_failure='error' says how many rows it takes."
            if missing
            else "Use a better base, or scores without ties at their end (decision_function instead of "
            "probabilities, double precision), or promise less."
        )
        kept = f"so {type(self).__name__} keeps it by {rule.trivially} there"
        warn_user(f"{reason}, {kept}. {remedy}")

    def _sentence(self, rule: Rule, cuts: list[Cut], group: str) -> str:
        """Write the promise for logs and reports."""
        words = rule.words
        if isinstance(rule, RateRule) and cuts[0].units.rows_are_groups:
            words = self._promise.of_groups_in_words(rule.rates, group)
        if not self.guarantee_:
            return (
                f"No promise: the threshold aims at a rate ({words}), but the scores of folds come "
                "from models other than the one that predicts; hold rows out (cv=0.5) for a promise."
            )
        several = len(cuts) > 1 or self.thresholds_.size > 1
        together = (", jointly" if self.joint else ", each singly") if several else ""
        where = f" in each of {len(cuts)} strata" if self.strata_.size else ""
        sure = f"with confidence {self.confidence:g}{together}"
        rows = f"from {sum(cut.units.n_units for cut in cuts)} held-out {cuts[0].units.noun}"
        kept = f" (kept by {rule.trivially})" if self.trivial_ else ""
        return f"{words[0].upper()}{words[1:]}{where}, {sure}, {rows}{kept}."
