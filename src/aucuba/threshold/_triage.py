"""Triage: block, clear or review, with a promise on either side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from aucuba._base._typing import AnyArray, FloatArray
from aucuba._rows._sample import RankingSample
from aucuba.threshold._classifier import PromisedThresholdClassifier
from aucuba.threshold._promise import FPR, TPR
from aucuba.threshold._rules import Cut, MonotoneRule, Rule, split_error
from aucuba.threshold._units import Population

ACTIONS = ("clear", "review", "block")


@dataclass(frozen=True)
class TriageRule:
    """Two thresholds: at most ``clear`` of the positives lie at or below the first, at most ``block``
    of the negatives above the second, together.
    """

    block: MonotoneRule
    clear: MonotoneRule

    @property
    def trivial(self) -> FloatArray:
        """Clear nothing and block nothing."""
        return np.array([-np.inf, np.inf])

    @property
    def words(self) -> str:
        blocked, missed = self.block.rates[0], self.clear.rates[0]
        return (
            f"at most {blocked:g} of the negatives are blocked and at most {missed:g} of the "
            "positives are cleared"
        )

    def shortfalls(self, rows: RankingSample, error: float) -> list[str]:
        errors = split_error(self.block, self.clear, rows, error)
        each = zip((self.block, self.clear), errors, strict=True)
        return [problem for rule, one in each for problem in rule.shortfalls(rows, one)]

    def cut(self, rows: RankingSample, error: float) -> Cut:
        errors = split_error(self.block, self.clear, rows, error)
        block, clear = (
            rule.cut(rows, one) for rule, one in zip((self.block, self.clear), errors, strict=True)
        )
        low, high = clear.thresholds[0], block.thresholds[0]
        if low >= high:
            # Both promises hold at every threshold between the two, so no row needs a review.
            low = high = (low + high) / 2
        violation = min(clear.violation + block.violation, error)
        problems = [*block.problems, *clear.problems]
        return Cut(np.array([low, high]), block.units, violation, problems)


class TriageClassifier(PromisedThresholdClassifier):
    r"""Any classifier with two promised thresholds: block, clear, and a review between them.

    A row is blocked where its score lies above the second threshold, cleared where it does not exceed
    the first, and reviewed by a person in between. With probability of at least ``confidence`` over the
    held-out rows both hold:

    - at most ``max_fpr`` of the negatives are blocked without a look;
    - at most 1 - ``min_tpr`` of the positives are cleared without a look.

    Each threshold is an order statistic of the scores of its class, as in :class:`FixedFPRClassifier`
    and :class:`FixedTPRClassifier`. If the classes are so far apart that the two cross, one threshold
    between them decides and nothing is reviewed.

    Parameters
    ----------
    estimator : estimator
        Binary classifier with ``decision_function`` or ``predict_proba``.
    max_fpr : float, default=0.01
        The promised limit of the fraction of negatives that are blocked, in (0, 1).
    min_tpr : float, default=0.95
        The promised limit of the fraction of positives that are blocked or reviewed, in (0, 1).
    confidence : float, default=0.95
        Probability, over the draw of the held-out rows, that both limits are kept; in (0, 1). The
        error is divided by the numbers of rows of the classes alone.
    cv : float, "prefit", int, splitter, iterable or None, default=0.5
        Which rows are held out, as in :class:`FixedFPRClassifier`.
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
        The end of the base's scores that is flagged, as in :class:`FixedFPRClassifier`.
    n_jobs : int, default=None
        Number of folds fitted in parallel.
    random_state : int, RandomState instance or None, default=None
        Seeds the draw of the held-out rows if ``cv`` is a fraction.

    Attributes
    ----------
    thresholds_ : ndarray of shape (2,) or (n_strata, 2)
        Scores at or below the first are cleared, scores above the second blocked.
    threshold_ : float, or ndarray of shape (n_strata,)
        The second: ``predict`` returns the positive class where a row is blocked.
    level_shares_ : ndarray of shape (3,)
        Fractions of the held-out rows that are cleared, reviewed and blocked.
    review_share_ : float
        The second of them.
    estimator_, classes_, pos_label_, strata_, n_units_, guarantee_, trivial_, promise_
        As in :class:`FixedFPRClassifier`; ``n_units_`` counts the negatives.
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
        max_fpr: float = 0.01,
        min_tpr: float = 0.95,
        confidence: float = 0.95,
        cv: Any = 0.5,
        *,
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
        super().__init__(
            estimator,
            confidence,
            cv,
            joint,
            strata,
            group_rate,
            max_group_size,
            weighted_promise,
            max_weight,
            on_failure,
            pos_label,
            response_method,
            score_direction,
            n_jobs,
            random_state,
        )

    def actions(self, X: Any) -> AnyArray:
        """Say what to do with every row.

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

    def _rule(self, population: Population) -> Rule:
        return TriageRule(
            MonotoneRule(FPR, [FPR.allowed(self.max_fpr)], population),
            MonotoneRule(TPR, [TPR.allowed(self.min_tpr)], population),
        )
