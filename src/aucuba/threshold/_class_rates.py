"""Classifiers that promise a rate of one class: false or true positives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aucuba.threshold._classifier import PromisedThresholdClassifier
from aucuba.threshold._promise import FPR, TPR
from aucuba.threshold._rules import MonotoneRule, Rule, TwoRatesRule
from aucuba.threshold._units import Population


class FixedFPRClassifier(PromisedThresholdClassifier):
    r"""Any classifier with a threshold whose false positive rate is promised.

    .. math:: P(\text{FPR of predict} > \mathtt{max\_fpr}) \le 1 - \mathtt{confidence}

    The threshold is the k-th smallest score of n held-out negatives, with the smallest k for which
    the violation probability

    .. math:: P(\text{FPR} > a) \le \sum_{j=k}^{n} \binom{n}{j} (1 - a)^j a^{n-j}

    at a = ``max_fpr`` is at most 1 - ``confidence`` (the umbrella algorithm of [1]_). A row is
    positive when its score lies strictly above the threshold, so ties only lower the rate.

    The promise is about new negatives, drawn like the held-out ones and independently of them. It is
    made once: choosing among thresholds or models by their results on the same held-out rows voids
    it.

    Parameters
    ----------
    estimator : estimator
        Binary classifier with ``decision_function`` or ``predict_proba``, or an outlier detector of
        scikit-learn or PyOD.
    max_fpr : float or list of float, default=0.05
        The promised false positive rate (false alarms among negatives), in (0, 1). A list gives
        ``thresholds_``, one per rate; ``predict`` uses that of the lowest.
    confidence : float, default=0.95
        Probability, over the draw of the held-out rows, that the rate is kept; in (0, 1).
    cv : float, "prefit", int, splitter, iterable or None, default=0.5
        Which rows are held out, by the same kinds of value as in scikit-learn's
        ``TunedThresholdClassifierCV``.

        - a fraction in (0, 1): one split holds out that part of the rows (of the groups, with
          ``groups``), the rest trains ``estimator_``; guaranteed;
        - ``"prefit"``: ``estimator`` is fitted, and all rows given to ``fit`` are held out (they
          may all be negative); guaranteed if ``estimator`` has not seen them;
        - a splitter or iterable with one split: as the fraction; guaranteed;
        - an int of at least 2, None (five folds), or a splitter or iterable with several
          disjoint folds: out-of-fold scores are pooled and ``estimator_`` is fitted on all rows.
          That is a heuristic: the scores come from models other than the one that predicts, and
          ``guarantee_`` is False.
    min_tpr : float, default=None
        Promise a true positive rate too, both together at ``confidence``. If no threshold keeps
        both, the error says which pair the rows could carry.
    joint : bool, default=True
        Whether several rates, or several strata, hold together at ``confidence``; if False, each
        on its own.
    strata : str, int or callable, default=None
        One threshold per stratum: a column of X by name or index, or a callable that maps X to one
        label per row.
    group_rate : {"mean", "any", "row"}, default="mean"
        What is promised when ``groups`` are given to ``fit``.

        - ``"mean"``: the expected fraction of flagged negatives in a new group;
        - ``"any"``: the probability that a new group has any flagged negative;
        - ``"row"``: the rate per row over groups of unequal size; needs ``max_group_size``.
    max_group_size : int, default=None
        Largest number of negatives in any group of the population.
    weighted_promise : bool, default=False
        Whether the promise is about the population weighted by ``sample_weight``. Weights that are
        constant within a class keep the exact rule; others need ``max_weight``.
    max_weight : float, default=None
        Upper limit of the weights in the population, not only in these rows.
    on_failure : {"error", "trivial"}, default="error"
        What to do if the rows cannot carry the promise: raise an error that says how many rows
        could, or warn and flag nothing.
    pos_label : label, default=None
        The positive class; None takes ``classes_[1]``, the larger label.
    response_method : {"auto", "decision_function", "predict_proba"}, default="auto"
        Method of ``estimator`` that gives the scores; "auto" takes the first of the two that it has.
    score_direction : {"auto", "high", "low"}, default="auto"
        Which scores of the base are flagged. "auto" takes the low ones of scikit-learn's outlier
        detectors, and the high ones of PyOD's detectors and of classifiers.
    n_jobs : int, default=None
        Number of folds fitted in parallel.
    random_state : int, RandomState instance or None, default=None
        Seeds the draw of the held-out rows if ``cv`` is a fraction.

    Attributes
    ----------
    estimator_ : estimator
        The fitted base classifier.
    threshold_ : float, or ndarray of shape (n_strata,)
        Scores strictly above it are positive: the ``rank_``-th smallest held-out negative score,
        raised by a few floating-point roundings so that rows that tie with it stay negative.
        Infinite if ``trivial_``.
    thresholds_ : ndarray of shape (n_rates,) or (n_strata, n_rates)
        One threshold per promised rate, in the order given.
    level_shares_ : ndarray of shape (n_rates + 1,)
        Fractions of the held-out rows at each of the `decision_levels`.
    threshold_range_ : ndarray of shape (2,)
        Every threshold between these two keeps both promises; only with ``min_tpr``.
    strata_ : ndarray
        The strata; empty without ``strata``.
    classes_ : ndarray of shape (2,)
        The labels.
    pos_label_ : label
        The positive one.
    n_negatives_, n_units_ : int
        Number n of held-out negatives, or of held-out groups with negatives.
    held_out_digest_ : str or None
        Digest of the held-out rows, by which `aucuba.export.to_onnx` recognises them; None for rows
        with groups or weights, and for tables that are not numeric.
    held_out_single_ : bool
        Whether single precision, in which ONNX graphs compute, represents these rows exactly.
    rank_ : int
        Rank k of ``threshold_`` among their scores, smallest first; only for the exact rule.
    violation_probability_ : float
        The bound on P(FPR > max_fpr), at most 1 - ``confidence``; nan for the heuristic.
    guarantee_ : bool
        Whether the bound is a theorem (held-out rows) or a heuristic (pooled folds).
    trivial_ : bool
        Whether some threshold keeps its promise by flagging nothing, or flags no held-out row although
        positives were held out.
    promise_ : str
        The promise in words.
    n_features_in_ : int
        Number of features; only if ``estimator_`` has it.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features; only if ``estimator_`` has it.

    See Also
    --------
    aucuba.threshold.rows_needed : How many held-out rows a promise needs.
    FixedTPRClassifier : Promise the sensitivity.
    aucuba.threshold.RateMonitor : Watch the rate after deployment.
    sklearn.model_selection.TunedThresholdClassifierCV : Threshold of the best score, no promise.

    Notes
    -----
    Without metadata routing, the splitter gets ``groups`` and ``estimator.fit`` everything else; with
    it, requests decide.

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
    >>> alarm = FixedFPRClassifier(model, max_fpr=0.05, random_state=0).fit(X, y)
    >>> alarm.n_negatives_, alarm.rank_, alarm.guarantee_
    (106, 105, True)
    >>> round(alarm.violation_probability_, 3)
    0.029
    >>> print(alarm.promise_)
    False positive rate at most 0.05, with confidence 0.95, from 106 held-out negatives.
    """

    _promise = FPR
    _takes_normal_rows = True

    def __init__(
        self,
        estimator: Any,
        max_fpr: float | Sequence[float] = 0.05,
        confidence: float = 0.95,
        cv: Any = 0.5,
        *,
        min_tpr: float | None = None,
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
            *(estimator, confidence, cv, joint, strata, group_rate, max_group_size),
            *(weighted_promise, max_weight, on_failure, pos_label, response_method),
            *(score_direction, n_jobs, random_state),
        )

    @property
    def n_negatives_(self) -> Any:
        """Number of held-out negatives, or of held-out groups with negatives."""
        return self.n_units_

    def _rule(self, population: Population) -> Rule:
        rates = FPR.allowed_rates(self.max_fpr)
        if self.min_tpr is None:
            return MonotoneRule(FPR, rates, population, self.joint)
        if len(rates) > 1:
            raise ValueError(f"min_tpr needs a single max_fpr, got the list {self.max_fpr!r}.")
        return TwoRatesRule(
            MonotoneRule(FPR, rates, population),
            MonotoneRule(TPR, [TPR.allowed(self.min_tpr)], population),
        )


class FixedTPRClassifier(PromisedThresholdClassifier):
    r"""Any classifier with a threshold whose true positive rate (sensitivity, recall) is promised.

    .. math:: P(\text{TPR of predict} < \mathtt{min\_tpr}) \le 1 - \mathtt{confidence}

    The threshold is the k-th largest score of n held-out positives, with the smallest k whose
    violation probability is at most 1 - ``confidence``: the rule of :class:`FixedFPRClassifier`
    with the classes and the direction exchanged. Rows at or above it are flagged, so ties only
    raise the rate.

    Parameters
    ----------
    estimator : estimator
        Binary classifier with ``decision_function`` or ``predict_proba``, or an outlier detector of
        scikit-learn or PyOD.
    min_tpr : float or list of float, default=0.95
        The promised true positive rate, in (0, 1). A list gives ``thresholds_``, one per rate;
        ``predict`` uses that of the highest.
    confidence : float, default=0.95
        Probability, over the draw of the held-out rows, that the rate is kept; in (0, 1).
    cv : float, "prefit", int, splitter, iterable or None, default=0.5
        Which rows are held out, as in :class:`FixedFPRClassifier`; with ``"prefit"`` they
        may all be positive.
    joint : bool, default=True
        Whether several rates, or several strata, hold together at ``confidence``.
    strata : str, int or callable, default=None
        One threshold per stratum: a column of X, or a callable on X.
    group_rate : {"mean", "any", "row"}, default="mean"
        With ``groups``: promise the expected fraction of missed positives in a new group, the
        probability that it has any missed positive, or the rate per row.
    max_group_size : int, default=None
        Largest number of positives in any group of the population, for ``group_rate="row"``.
    weighted_promise : bool, default=False
        Whether the promise is about the population weighted by ``sample_weight``.
    max_weight : float, default=None
        Upper limit of the weights in the population, not only in these rows.
    on_failure : {"error", "trivial"}, default="error"
        What to do if the rows cannot carry the promise: raise an error, or warn and flag everything.
    pos_label : label, default=None
        The positive class; None takes ``classes_[1]``.
    response_method : {"auto", "decision_function", "predict_proba"}, default="auto"
        Method of ``estimator`` that gives the scores.
    score_direction : {"auto", "high", "low"}, default="auto"
        Which scores of the base are flagged. "auto" takes the low ones of scikit-learn's outlier
        detectors, and the high ones of PyOD's detectors and of classifiers.
    n_jobs : int, default=None
        Number of folds fitted in parallel.
    random_state : int, RandomState instance or None, default=None
        Seeds the draw of the held-out rows if ``cv`` is a fraction.

    Attributes
    ----------
    estimator_ : estimator
        The fitted base classifier.
    threshold_ : float, or ndarray of shape (n_strata,)
        Scores strictly above it are positive; it lies a few roundings below the order statistic.
    thresholds_ : ndarray of shape (n_rates,) or (n_strata, n_rates)
        One threshold per promised rate.
    level_shares_ : ndarray of shape (n_rates + 1,)
        Fractions of the held-out rows at each of the `decision_levels`.
    n_positives_, n_units_ : int
        Number of held-out positives, or of held-out groups with positives.
    held_out_digest_ : str or None
        Digest of the held-out rows, by which `aucuba.export.to_onnx` recognises them; None for rows
        with groups or weights, and for tables that are not numeric.
    held_out_single_ : bool
        Whether single precision, in which ONNX graphs compute, represents these rows exactly.
    rank_ : int
        Rank k of the threshold among their scores, largest first; only for the exact rule.
    violation_probability_, guarantee_, trivial_, promise_, strata_, classes_, pos_label_
        As in :class:`FixedFPRClassifier`.

    See Also
    --------
    FixedFPRClassifier : Promise the false positive rate, or both.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from aucuba.threshold import FixedTPRClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), LogisticRegression())
    >>> screen = FixedTPRClassifier(model, min_tpr=0.95, pos_label=0, random_state=0).fit(X, y)
    >>> screen.n_positives_, screen.rank_, round(screen.violation_probability_, 3)
    (106, 105, 0.029)
    """

    _promise = TPR

    def __init__(
        self,
        estimator: Any,
        min_tpr: float | Sequence[float] = 0.95,
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
        self.min_tpr = min_tpr
        super().__init__(
            *(estimator, confidence, cv, joint, strata, group_rate, max_group_size),
            *(weighted_promise, max_weight, on_failure, pos_label, response_method),
            *(score_direction, n_jobs, random_state),
        )

    @property
    def n_positives_(self) -> Any:
        """Number of held-out positives, or of held-out groups with positives."""
        return self.n_units_

    def _rule(self, population: Population) -> Rule:
        return MonotoneRule(TPR, TPR.allowed_rates(self.min_tpr), population, self.joint)
