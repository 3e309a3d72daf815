"""Classifiers whose promise depends on the prevalence: precision, and the rate of alerts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn.utils import check_random_state

from aucuba._roc._prevalence import target_range
from aucuba.threshold._classifier import PromisedThresholdClassifier
from aucuba.threshold._precision_rule import PrecisionRule
from aucuba.threshold._promise import ALERTS, PRECISION, check_precision_of_groups
from aucuba.threshold._rules import MonotoneRule, Rule
from aucuba.threshold._units import Population


class FixedPrecisionClassifier(PromisedThresholdClassifier):
    r"""Any classifier with a threshold whose precision is promised.

    .. math:: P(\text{precision of predict} < \mathtt{min\_precision}) \le 1 - \mathtt{confidence}

    Precision is not monotone in the threshold, so no order statistic exists. A random tenth of the
    held-out rows (at least 20) places candidate thresholds, by its scores alone. The labels of the
    other rows test them from the strictest downwards, by exact binomial tests in a fixed order, which
    need no correction for their number ("learn then test" [1]_). The rule takes the lowest certified
    threshold, because it finds the most positives. A model that flags nothing keeps its promise;
    ``trivial_`` reports it.

    The promise is for the prevalence at which the held-out rows were drawn, so they are a plain
    random part, not a stratified one; for another, give ``target_prevalence``.

    Parameters
    ----------
    estimator : estimator
        Binary classifier with ``decision_function`` or ``predict_proba``, or an outlier detector of
        scikit-learn or PyOD.
    min_precision : float or list of float, default=0.9
        The promised precision (fraction of flagged rows that are positive), in (0, 1). A list gives
        ``thresholds_``, one per rate; ``predict`` uses the highest of them.
    confidence : float, default=0.95
        Probability, over the draw of the held-out rows, that the rate is kept; in (0, 1).
    cv : float, "prefit", int, splitter, iterable or None, default=0.5
        Which rows are held out, as in :class:`FixedFPRClassifier`.
    target_prevalence : float or pair of float, default=None
        Promise the precision at this prevalence of positives, or at every prevalence in an interval,
        instead of that of the held-out rows. It assumes label shift: within each class
        scores are distributed as in the held-out rows. Then precision >= t at prevalence p means
        FPR <= TPR p (1 - t) / ((1 - p) t), which exact limits of both rates show at every candidate.
    joint : bool, default=True
        Whether several rates, or several strata, hold together at ``confidence``.
    strata : str, int or callable, default=None
        One threshold per stratum: a column of X, or a callable on X.
    group_rate : {"mean", "row"}, default="mean"
        With ``groups``: the precision with every group counted once, or per row.
    max_group_size : int, default=None
        Largest number of rows in any group of the population, for ``group_rate="row"``.
    weighted_promise : bool, default=False
        Whether the promise is about the population weighted by ``sample_weight``.
    max_weight : float, default=None
        Upper limit of the weights in the population, not only in these rows.
    on_failure : {"error", "trivial"}, default="error"
        What to do if no threshold is certified: raise an error, or warn and flag nothing.
    pos_label : label, default=None
        The positive class; None takes ``classes_[1]``.
    response_method : {"auto", "decision_function", "predict_proba"}, default="auto"
        Method of ``estimator`` that gives the scores.
    score_direction : {"auto", "high", "low"}, default="auto"
        The end of the base's scores that is flagged. "auto" takes the low end of scikit-learn's outlier
        detectors, and the high end of PyOD's and of classifiers.
    n_jobs : int, default=None
        Number of folds fitted in parallel.
    random_state : int, RandomState instance or None, default=None
        Seeds the draw of the held-out rows if ``cv`` is a fraction, and the rows that place thresholds.

    Attributes
    ----------
    estimator_ : estimator
        The fitted base classifier.
    threshold_ : float, or ndarray of shape (n_strata,)
        Scores strictly above it are positive.
    thresholds_ : ndarray of shape (n_rates,) or (n_strata, n_rates)
        One threshold per promised rate.
    level_shares_ : ndarray of shape (n_rates + 1,)
        Fractions of the held-out rows at each of the `decision_levels`.
    n_units_ : int
        Number of held-out rows, or groups, that tested thresholds.
    held_out_digest_ : str or None
        Digest of the held-out rows, by which `aucuba.export.to_onnx` recognises them; None for rows
        with groups or weights, and for tables that are not numeric.
    held_out_single_ : bool
        Whether single precision, in which ONNX graphs compute, represents these rows exactly.
    violation_probability_, guarantee_, trivial_, promise_, strata_, classes_, pos_label_
        As in :class:`FixedFPRClassifier`.

    See Also
    --------
    aucuba.threshold.rows_needed : How many flagged rows a promise needs.

    References
    ----------
    .. [1] Angelopoulos, Bates, Candès, Jordan and Lei (2025), Learn then test: calibrating predictive
       algorithms to achieve risk control, Annals of Applied Statistics 19(2).

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from aucuba.threshold import FixedPrecisionClassifier
    >>> X, y = make_classification(4000, weights=[0.8], class_sep=1.5, random_state=0)
    >>> forest = RandomForestClassifier(50, random_state=0)
    >>> sure = FixedPrecisionClassifier(forest, min_precision=0.9, random_state=0)
    >>> sure = sure.fit(X[:3000], y[:3000])
    >>> flagged = sure.predict(X[3000:]) == 1
    >>> bool(y[3000:][flagged].mean() > 0.9), bool(flagged.sum() > 100)
    (True, True)
    """

    _promise = PRECISION

    def __init__(
        self,
        estimator: Any,
        min_precision: float | Sequence[float] = 0.9,
        confidence: float = 0.95,
        cv: Any = 0.5,
        *,
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
        self.min_precision = min_precision
        self.target_prevalence = target_prevalence
        super().__init__(
            *(estimator, confidence, cv, joint, strata, group_rate, max_group_size),
            *(weighted_promise, max_weight, on_failure, pos_label, response_method),
            *(score_direction, n_jobs, random_state),
        )

    def _rule(self, population: Population) -> Rule:
        check_precision_of_groups(self.group_rate)
        rates = PRECISION.allowed_rates(self.min_precision)
        generator = check_random_state(self.random_state)
        target = None if self.target_prevalence is None else target_range(self.target_prevalence)
        return PrecisionRule(PRECISION, rates, population, self.joint, generator, target)


class AlertBudgetClassifier(PromisedThresholdClassifier):
    r"""Any classifier with a threshold that flags at most a promised fraction of all rows.

    .. math:: P(\text{fraction of new rows flagged} > \mathtt{max\_alert\_rate})
       \le 1 - \mathtt{confidence}

    For a team that can review only so many cases. The threshold is an order statistic of the scores
    of the held-out rows, by the rule of :class:`FixedFPRClassifier`; labels train the base and do
    not enter the threshold. The promise is for the prevalence at which the held-out rows were
    drawn, so they are a plain random part, not a stratified one.

    Parameters
    ----------
    estimator : estimator
        Binary classifier with ``decision_function`` or ``predict_proba``, or an outlier detector of
        scikit-learn or PyOD.
    max_alert_rate : float or list of float, default=0.05
        The promised fraction of rows flagged, in (0, 1). A list gives ``thresholds_``, one per
        rate; ``predict`` uses that of the lowest.
    confidence : float, default=0.95
        Probability, over the draw of the held-out rows, that the rate is kept; in (0, 1).
    cv : float, "prefit", int, splitter, iterable or None, default=0.5
        Which rows are held out, as in :class:`FixedFPRClassifier`; with ``"prefit"``
        ``fit`` needs no y.
    joint : bool, default=True
        Whether several rates, or several strata, hold together at ``confidence``.
    strata : str, int or callable, default=None
        One threshold per stratum: a column of X, or a callable on X.
    group_rate : {"mean", "any", "row"}, default="mean"
        With ``groups``: promise the expected fraction of flagged rows in a new group, the
        probability that it has any flagged row, or the rate per row.
    max_group_size : int, default=None
        Largest number of rows in any group of the population, for ``group_rate="row"``.
    weighted_promise : bool, default=False
        Whether the promise is about the population weighted by ``sample_weight``.
    max_weight : float, default=None
        Upper limit of the weights in the population, not only in these rows.
    on_failure : {"error", "trivial"}, default="error"
        What to do if the rows cannot carry the promise: raise an error, or warn and flag nothing.
    pos_label : label, default=None
        The positive class; None takes ``classes_[1]``.
    response_method : {"auto", "decision_function", "predict_proba"}, default="auto"
        Method of ``estimator`` that gives the scores.
    score_direction : {"auto", "high", "low"}, default="auto"
        The end of the base's scores that is flagged. "auto" takes the low end of scikit-learn's outlier
        detectors, and the high end of PyOD's and of classifiers.
    n_jobs : int, default=None
        Number of folds fitted in parallel.
    random_state : int, RandomState instance or None, default=None
        Seeds the draw of the held-out rows if ``cv`` is a fraction.

    Attributes
    ----------
    estimator_ : estimator
        The fitted base classifier.
    threshold_ : float, or ndarray of shape (n_strata,)
        Scores strictly above it are positive.
    thresholds_ : ndarray of shape (n_rates,) or (n_strata, n_rates)
        One threshold per promised rate.
    level_shares_ : ndarray of shape (n_rates + 1,)
        Fractions of the held-out rows at each of the `decision_levels`.
    n_units_ : int
        Number of held-out rows, or of held-out groups.
    held_out_digest_ : str or None
        Digest of the held-out rows, by which `aucuba.export.to_onnx` recognises them; None for rows
        with groups or weights, and for tables that are not numeric.
    held_out_single_ : bool
        Whether single precision, in which ONNX graphs compute, represents these rows exactly.
    rank_ : int
        Rank of the threshold among their scores, smallest first; only for the exact rule.
    violation_probability_, guarantee_, trivial_, promise_, strata_, classes_, pos_label_
        As in :class:`FixedFPRClassifier`.

    See Also
    --------
    FixedFPRClassifier : Promise the fraction of negatives flagged.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from aucuba.threshold import AlertBudgetClassifier
    >>> X, y = make_classification(2000, weights=[0.9], random_state=0)
    >>> model = LogisticRegression().fit(X[:1000], y[:1000])
    >>> budget = AlertBudgetClassifier(model, max_alert_rate=0.02, cv="prefit").fit(X[1000:])
    >>> budget.n_units_ - budget.rank_, int(budget.predict(X[1000:]).sum())
    (12, 12)
    """

    _promise = ALERTS
    _needs_labels = False

    def __init__(
        self,
        estimator: Any,
        max_alert_rate: float | Sequence[float] = 0.05,
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
        self.max_alert_rate = max_alert_rate
        super().__init__(
            *(estimator, confidence, cv, joint, strata, group_rate, max_group_size),
            *(weighted_promise, max_weight, on_failure, pos_label, response_method),
            *(score_direction, n_jobs, random_state),
        )

    def _rule(self, population: Population) -> Rule:
        rates = ALERTS.allowed_rates(self.max_alert_rate)
        return MonotoneRule(ALERTS, rates, population, self.joint)
