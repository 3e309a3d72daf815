"""Triage: block, clear or review, with a promise on either side."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from aucuba._base._typing import AnyArray, FloatArray
from aucuba._roc._prevalence import target_range
from aucuba._rows._sample import RankingSample
from aucuba.threshold._classifier import PromisedThresholdClassifier
from aucuba.threshold._precision_rule import PrecisionRule, at_prevalence
from aucuba.threshold._promise import FPR, NPV, PPV, TPR, Promise, check_precision_of_groups
from aucuba.threshold._rules import Cut, MonotoneRule, RateRule, Rule, TwoRules
from aucuba.threshold._units import Population

ACTIONS = ("clear", "review", "block")
# Default limits for a side without a promise of the user.
_MAX_FPR, _MIN_TPR = 0.01, 0.95


@dataclass(frozen=True)
class TriageRule(TwoRules):
    """Rule for two thresholds: ``flagged`` limits what is blocked, ``passed`` what is cleared."""

    target: tuple[float, float] | None = None

    @property
    def trivial(self) -> FloatArray:
        return np.array([-np.inf, np.inf])

    @property
    def trivially(self) -> str:
        return "blocking or clearing nothing"

    @property
    def words(self) -> str:
        blocked, cleared = self.flagged.rates[0], self.passed.rates[0]
        return (
            (
                f"at most {blocked:g} of the negatives are blocked and "
                if self.flagged.promise is FPR
                else f"at least {1 - blocked:g} of the blocked rows are positive and "
            )
            + (
                f"at most {cleared:g} of the positives are cleared"
                if self.passed.promise is TPR
                else f"at least {1 - cleared:g} of the cleared rows are negative"
            )
            + at_prevalence(self.target)
        )

    def cut(self, rows: RankingSample, error: float) -> Cut:
        errors = self.errors(rows, error)
        block, passed = self.flagged.cut(rows, errors[0]), self.passed
        high = block.thresholds[0]
        if isinstance(passed, PrecisionRule) and isinstance(self.flagged, PrecisionRule):
            # Neither threshold may move after its test, so the tests of one stop at the other.
            passed = replace(passed, stop=-np.inf if np.isnan(high) else -high)
        clear = passed.cut(rows, errors[1])
        thresholds = np.array(self._in_order(clear.thresholds[0], high))
        problems = [*block.problems, *clear.problems]
        return Cut(thresholds, block.units, self.violation(rows, block, clear), problems)

    def _in_order(self, low: float, high: float) -> tuple[float, float]:
        """Return thresholds that do not cross; a rate of one class holds at every stricter one."""
        if not low > high:
            return low, high
        if self.flagged.promise is FPR and self.passed.promise is TPR:
            low = high = (low + high) / 2
        return (low, low) if self.flagged.promise is FPR else (high, high)


class TriageClassifier(PromisedThresholdClassifier):
    r"""Any classifier with two promised thresholds: block, clear, and a review between them.

    A row is blocked if its score lies above the second threshold, cleared if it does not exceed the
    first, and reviewed by a person in between. With probability at least ``confidence`` over the
    held-out rows both hold:

    - at most ``max_fpr`` of the negatives are blocked without review, or at least ``min_ppv`` of the
      blocked rows are positive;
    - at most 1 - ``min_tpr`` of the positives are cleared without review, or at least ``min_npv`` of
      the cleared rows are negative.

    The thresholds for ``max_fpr`` and ``min_tpr`` are order statistics of the scores of one class, as
    in :class:`FixedFPRClassifier` and :class:`FixedTPRClassifier`; those for predictive values are
    tested in turn, as in :class:`FixedPrecisionClassifier`. If the classes are so far apart that the
    two cross, one threshold between them decides and nothing is reviewed (with two predictive values a
    few rows may still be).

    Parameters
    ----------
    estimator : estimator
        Binary classifier with ``decision_function`` or ``predict_proba``.
    max_fpr : float, default=None
        The promised limit of the fraction of negatives that are blocked, in (0, 1); None is 0.01 unless
        ``min_ppv`` is given.
    min_tpr : float, default=None
        The promised limit of the fraction of positives that are blocked or reviewed, in (0, 1); None is
        0.95 unless ``min_npv`` is given.
    confidence : float, default=0.95
        Probability, over the draw of the held-out rows, that both limits are kept; in (0, 1). The
        division of the error depends only on the numbers of rows of the classes; with a predictive
        value it is Bonferroni's.
    cv : float, "prefit", int, splitter, iterable or None, default=0.5
        Which rows are held out, as in :class:`FixedFPRClassifier`. With a predictive value a fraction
        is not stratified by class, since the prevalence enters the promise.
    min_ppv : float, default=None
        Instead of ``max_fpr``: the promised fraction of positives among the blocked rows.
    min_npv : float, default=None
        Instead of ``min_tpr``: the promised fraction of negatives among the cleared rows.
    target_prevalence : float or pair of float, default=None
        Promise predictive values at this prevalence of positives, as in
        :class:`FixedPrecisionClassifier`.
    joint : bool, default=True
        Whether several strata hold together at ``confidence``; if False, each on its own.
    strata : str, int or callable, default=None
        Two thresholds per stratum, as in :class:`FixedFPRClassifier`.
    group_rate, max_group_size, weighted_promise, max_weight
        As in :class:`FixedFPRClassifier`.
    on_failure : {"error", "trivial"}, default="error"
        What to do if the rows cannot carry a promise: raise an error that says how many rows could, or
        warn and block or clear nothing.
    pos_label : label, default=None
        The positive class; None takes ``classes_[1]``, the larger label.
    response_method : {"auto", "decision_function", "predict_proba"}, default="auto"
        Method of ``estimator`` that gives the scores; "auto" takes the first of the two that it has.
    score_direction : {"auto", "high", "low"}, default="auto"
        Which scores of the base are flagged, as in :class:`FixedFPRClassifier`.
    n_jobs : int, default=None
        Number of folds fitted in parallel.
    random_state : int, RandomState instance or None, default=None
        Seeds the draw of the held-out rows if ``cv`` is a fraction.

    Attributes
    ----------
    thresholds_ : ndarray of shape (2,) or (n_strata, 2)
        Scores at or below the first are cleared, scores above the second blocked.
    threshold_ : float, or ndarray of shape (n_strata,)
        The second threshold: ``predict`` returns the positive class if a row is blocked.
    level_shares_ : ndarray of shape (3,)
        Fractions of the held-out rows that are cleared, reviewed and blocked.
    review_share_ : float
        The fraction that is reviewed.
    estimator_, classes_, pos_label_, strata_, n_units_, guarantee_, trivial_, promise_
        As in :class:`FixedFPRClassifier`; ``n_units_`` counts the rows behind the second threshold.
    violation_probability_ : float
        The bound on the probability that some limit is broken; nan for the heuristic.

    See Also
    --------
    FixedFPRClassifier : One threshold, for one or both rates.
    FalseDiscoverySelector : Few false rows among those selected today.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from aucuba import TriageClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = TriageClassifier(
    ...     LogisticRegression(max_iter=10_000), max_fpr=0.05, min_tpr=0.95, random_state=0
    ... ).fit(X[:, :4], y == 0)
    >>> print(model.promise_)
    At most 0.05 of the negatives are blocked and at most 0.05 of the positives are cleared, with
    confidence 0.95, jointly, from 179 held-out negatives.
    >>> model.actions(X[[0, 19, 40], :4]).tolist(), round(model.review_share_, 2)
    (['block', 'review', 'review'], 0.36)
    """

    _promise = FPR

    def __init__(
        self,
        estimator: Any,
        max_fpr: float | None = None,
        min_tpr: float | None = None,
        confidence: float = 0.95,
        cv: Any = 0.5,
        *,
        min_ppv: float | None = None,
        min_npv: float | None = None,
        target_prevalence: Any = None,
        joint: bool = True,
        strata: Any = None,
        group_rate: str = "mean",
        max_group_size: int | None = None,
        weighted_promise: bool = False,
        max_weight: float | None = None,
        on_failure: str = "error",
        pos_label: Any = None,
        response_method: str = "auto",
        score_direction: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.max_fpr = max_fpr
        self.min_tpr = min_tpr
        self.min_ppv = min_ppv
        self.min_npv = min_npv
        self.target_prevalence = target_prevalence
        super().__init__(
            *(estimator, confidence, cv, joint, strata, group_rate, max_group_size),
            *(weighted_promise, max_weight, on_failure, pos_label, response_method),
            *(score_direction, n_jobs, random_state),
        )

    def actions(self, X: Any) -> AnyArray:
        """Decide what to do with every row.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Rows to classify.

        Returns
        -------
        ndarray of shape (n_samples,)
            "clear", "review" or "block": the words for `decision_levels` 0, 1 and 2.
        """
        return np.array(ACTIONS)[self.decision_levels(X)]

    @property
    def review_share_(self) -> float:
        """Fraction of the held-out rows that are reviewed."""
        return float(self.level_shares_[1])

    @property
    def _stratified(self) -> bool:
        return self.min_ppv is None and self.min_npv is None

    def _rule(self, population: Population) -> Rule:
        target = None if self.target_prevalence is None else target_range(self.target_prevalence)
        if target is not None and self._stratified:
            raise ValueError(
                f"target_prevalence={self.target_prevalence!r} has no effect on max_fpr and min_tpr; "
                "give min_ppv or min_npv with it."
            )
        if not self._stratified:
            check_precision_of_groups(self.group_rate)
        draw = check_random_state(self.random_state)

        def side(
            promise: Promise, limit: Any, value: Promise, value_limit: Any, usual: float
        ) -> RateRule:
            if value_limit is None:
                rate = promise.allowed(usual if limit is None else limit)
                return MonotoneRule(promise, [rate], population)
            if limit is not None:
                raise ValueError(
                    f"{promise.parameter}={limit!r} and {value.parameter}={value_limit!r} limit the "
                    "same side; give only one of them."
                )
            rate = value.allowed(value_limit)
            return PrecisionRule(value, [rate], population, True, draw, target)

        block = side(FPR, self.max_fpr, PPV, self.min_ppv, _MAX_FPR)
        return TriageRule(block, side(TPR, self.min_tpr, NPV, self.min_npv, _MIN_TPR), target)
