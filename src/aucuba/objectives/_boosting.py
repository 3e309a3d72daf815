"""Gradients, curvatures and partial AUC in the calling conventions of LightGBM and XGBoost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from aucuba._base._typing import ArrayLike, FloatArray, IntArray
from aucuba._base._validation import (
    binary_target,
    check_choice,
    check_positive_number,
    finite_scores,
    row_weights,
)
from aucuba._roc._region import FprWeight
from aucuba.metrics import partial_auc_score
from aucuba.risks import Region, Risk, Sample, make_risk

# Curvature of a row that the risk leaves alone; log-loss has at most 1/4.
_LEAST_CURVATURE = 0.1
# XGBoost minimises what it does not know, and knows names that begin with "auc".
_METRIC_NAME = "auc_partial"


@dataclass(frozen=True)
class PartialAUCObjective:
    r"""Boosting objective of a region of the ROC curve.

    .. math::
        g = \frac{\sum_j w_j}{4}\, \nabla R(s), \qquad h_i = |g_i| / \tau + 0.1\, w_i

    R is the tight hinge or the smooth ramp. The first is piecewise linear and the second bounded, so
    true second derivatives are zero or negative somewhere; the curvature ``h`` instead bounds the
    Newton step of a leaf by ``step`` (tau), with full length where all rows of the leaf pull one way.
    The first factor, n/4 without weights, gives gradients the size of log-loss, for which the defaults
    of boosting are made.

    **What to expect.** In our study no form of this objective gave a reliable gain over log-loss with
    the same booster (``benchmarks/results/any_model_objectives.md``). `RegionReweighted` gives a
    booster more, and `RegionStack` much more. Rounds chosen by `PartialAUCMetric` are worth having in
    any case.

    Call conventions: the object itself is an objective for the scikit-learn classes,
    ``LGBMClassifier(objective=objective)`` and ``XGBClassifier(objective=objective)``; the method
    `native` is one for ``lightgbm.train`` and ``xgboost.train``.

    Parameters
    ----------
    fpr_range : (float, float), default=(0.0, 0.05)
        The false positive rates that matter.
    min_tpr : float, default=0.0
        The lowest true positive rate that matters.
    fpr_weight : callable, "log", ("exponential", alpha) or None, default=None
        How much the rates inside ``fpr_range`` count; None where all count alike.
    surrogate : {"tight", "direct"}, default="tight"
        Hinge on the range's negatives, or the smooth ramp.
    width : float, default=1.0
        Half-width of the ramp in the unit of the scores, log-odds for a warm start.
    step : float, default=1.0
        Largest Newton step of a leaf, before the learning rate.

    Examples
    --------
    >>> import numpy as np
    >>> from aucuba.objectives import PartialAUCObjective
    >>> gradient, curvature = PartialAUCObjective((0.0, 0.5))(np.array([0, 0, 1]), np.zeros(3))
    >>> print(gradient)
    [ 0.375  0.375 -0.75 ]
    """

    fpr_range: tuple[float, float] = (0.0, 0.05)
    surrogate: str = "tight"
    width: float = 1.0
    step: float = 1.0
    min_tpr: float = 0.0
    fpr_weight: FprWeight = None

    def __post_init__(self) -> None:
        self._region()
        check_choice(self.surrogate, "surrogate", ("tight", "direct"))
        check_positive_number(self.width, "width")
        check_positive_number(self.step, "step")

    def __call__(
        self,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        sample_weight: ArrayLike | None = None,
        group: ArrayLike | None = None,
    ) -> tuple[FloatArray, FloatArray]:
        """Compute gradient and curvature with respect to the scores.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,)
            Two labels, the larger is positive.
        y_pred : array-like of shape (n_rows,)
            Raw scores.
        sample_weight : array-like of shape (n_rows,), default=None
            A row of weight k counts as k equal rows, one of weight 0 as none.
        group : array-like of shape (n_queries,), default=None
            Sizes of consecutive queries, LightGBM's convention; the risk is the mean over queries.

        Returns
        -------
        (ndarray, ndarray)
        """
        scores = finite_scores(y_pred)
        weight = row_weights(sample_weight, scores.size)
        mass = np.ones(scores.size) if weight is None else weight
        scaled, rows = np.zeros(scores.size), np.flatnonzero(mass)
        risk = self.risk(y_true, weight, group)
        scaled[rows] = risk.value_and_gradient(scores[rows])[1] * (mass.sum() / 4)
        return scaled, np.abs(scaled) / self.step + _LEAST_CURVATURE * mass

    def native(self, y_pred: FloatArray, data: Any) -> tuple[FloatArray, FloatArray]:
        """Compute gradient and curvature for ``lightgbm.train`` and ``xgboost.train``.

        Parameters
        ----------
        y_pred : ndarray
            Raw scores.
        data : lightgbm.Dataset or xgboost.DMatrix

        Returns
        -------
        (ndarray, ndarray)
        """
        return self(data.get_label(), y_pred, *_weight_and_group(data))

    def risk(
        self,
        y_true: ArrayLike,
        sample_weight: ArrayLike | None = None,
        group: ArrayLike | None = None,
    ) -> Risk:
        """Return the risk whose gradient is used, a function of the scores of rows with weight."""
        target = np.asarray(y_true)
        weight, query = row_weights(sample_weight, target.size), _query_of_row(group, target.size)
        counted = np.flatnonzero(np.ones(target.size) if weight is None else weight)
        positive = np.zeros(target.size, dtype=bool)
        positive[counted] = binary_target(target[counted])
        sample = Sample(positive, weight, query).take(counted)
        return make_risk(self.surrogate, sample, self._region(), ramp_width=self.width)

    def _region(self) -> Region:
        return Region.from_params(self.fpr_range, self.fpr_weight, self.min_tpr)


@dataclass(frozen=True)
class PartialAUCMetric:
    """Partial AUC as the evaluation metric that chooses the number of boosting rounds.

    For LightGBM ``LGBMClassifier.fit(..., eval_metric=metric.lightgbm)`` and
    ``lightgbm.train(..., feval=metric.native)``; for XGBoost ``XGBClassifier(eval_metric=metric)`` and
    ``xgboost.train(..., custom_metric=metric.xgboost)``; for CatBoost
    ``CatBoostClassifier(eval_metric=metric.catboost)``. All three maximise it in early stopping,
    XGBoost because its name begins with "auc".

    Parameters
    ----------
    fpr_range : (float, float), default=(0.0, 0.05)
        The false positive rates that matter.
    min_tpr : float, default=0.0
        The lowest true positive rate that matters.
    fpr_weight : callable, "log", ("exponential", alpha) or None, default=None
        How much the rates inside ``fpr_range`` count; None where all count alike.

    Examples
    --------
    >>> from aucuba.objectives import PartialAUCMetric
    >>> PartialAUCMetric((0.0, 0.5)).lightgbm([0, 0, 1], [0.0, 2.0, 1.0])
    ('auc_partial', 0.0, True)
    """

    fpr_range: tuple[float, float] = (0.0, 0.05)
    min_tpr: float = 0.0
    fpr_weight: FprWeight = None

    def __post_init__(self) -> None:
        Region.from_params(self.fpr_range, self.fpr_weight, self.min_tpr)

    @property
    def __name__(self) -> str:
        """XGBoost takes the metric's name from here."""
        return _METRIC_NAME

    def __call__(
        self,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        sample_weight: ArrayLike | None = None,
        group: ArrayLike | None = None,
    ) -> float:
        """Compute the partial AUC of scores; queries count alike."""
        score = finite_scores(y_pred)
        qid = _query_of_row(group, score.size)
        return partial_auc_score(
            y_true,
            score,
            fpr_range=self.fpr_range,
            min_tpr=self.min_tpr,
            fpr_weight=self.fpr_weight,
            sample_weight=sample_weight,
            qid=qid,
        )

    def lightgbm(
        self,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        weight: ArrayLike | None = None,
        group: ArrayLike | None = None,
    ) -> tuple[str, float, bool]:
        """Return (name, value, higher is better) for LightGBM's scikit-learn classes."""
        return _METRIC_NAME, self(y_true, y_pred, weight, group), True

    def native(self, y_pred: FloatArray, data: Any) -> tuple[str, float, bool]:
        """Return (name, value, higher is better) for ``lightgbm.train``."""
        return self.lightgbm(data.get_label(), y_pred, *_weight_and_group(data))

    def xgboost(self, y_pred: FloatArray, data: Any) -> tuple[str, float]:
        """Return (name, value) for ``xgboost.train``."""
        return _METRIC_NAME, self(data.get_label(), y_pred, *_weight_and_group(data))

    @property
    def catboost(self) -> Any:
        """The metric as the object that ``CatBoostClassifier(eval_metric=...)`` takes."""
        return _CatBoostMetric(self)


class _CatBoostMetric:
    """A metric for CatBoost, which sets attributes of its own on it."""

    def __init__(self, metric: PartialAUCMetric) -> None:
        self.metric = metric

    def is_max_optimal(self) -> bool:
        """Tell that higher is better."""
        return True

    def evaluate(self, approxes: Any, target: Any, weight: Any) -> tuple[float, float]:
        """Return (value, 1) for a whole data set."""
        (scores,) = approxes
        weights = None if weight is None or len(weight) == 0 else np.asarray(weight)
        return self.metric(np.asarray(target), np.asarray(scores), weights), 1.0

    def get_final_error(self, error: float, weight: float) -> float:
        """Return the value to report."""
        return error


def _weight_and_group(data: Any) -> tuple[FloatArray | None, Any]:
    """Return the weights and query sizes of a ``lightgbm.Dataset`` or ``xgboost.DMatrix``."""
    weight = data.get_weight()
    # XGBoost keeps the edges of the queries, LightGBM their sizes.
    if hasattr(data, "get_uint_info"):
        edges = data.get_uint_info("group_ptr")
        group = np.diff(edges) if len(edges) else None
    else:
        group = data.get_group()
    if weight is None or len(weight) == 0:
        return None, group
    # XGBoost keeps one weight per query.
    if group is not None and len(weight) == len(group):
        weight = np.repeat(weight, group)
    return weight, group


def _query_of_row(group: ArrayLike | None, n_rows: int) -> IntArray | None:
    if group is None:
        return None
    sizes = np.asarray(group, dtype=np.intp)
    if sizes.sum() != n_rows:
        raise ValueError(f"The query sizes in group add up to {sizes.sum()}, for {n_rows} rows.")
    return np.repeat(np.arange(sizes.size), sizes)
