"""A classifier whose true positive rate is promised."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aucuba.threshold._classifier import PromisedThresholdClassifier
from aucuba.threshold._promise import TPR
from aucuba.threshold._rules import MonotoneRule, Rule
from aucuba.threshold._units import Population


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
        Binary classifier with ``decision_function`` or ``predict_proba``.
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
    n_positives_, n_units_ : int
        Number of held-out positives, or of held-out groups with positives.
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
    _stratified = True

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
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
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
            n_jobs,
            random_state,
        )

    @property
    def n_positives_(self) -> Any:
        """Number of held-out positives, or of groups with positives."""
        return self.n_units_

    def _rule(self, population: Population) -> Rule:
        return MonotoneRule(TPR, TPR.allowed_rates(self.min_tpr), population, self.joint)
