"""Differences between scorers: intervals, tests, and tables of many comparisons."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from aucuba._base._typing import ArrayLike
from aucuba._base._validation import check_choice
from aucuba._roc._rank_weights import FprWeight
from aucuba.metrics._difference import DifferenceEstimate
from aucuba.metrics._study import Study, check_draws, check_level, make_study

ALTERNATIVES = ("two-sided", "greater", "less", "non-inferior", "equivalent")


@dataclass(frozen=True)
class ScoreComparison:
    """Difference of two scorers (first minus second), with its uncertainty and how it was found.

    ``p_value`` is that of ``alternative``; in a table of several comparisons ``p_holm`` is its value
    after Holm's correction, and ``names`` says who is compared. ``smaller_is_better`` tells that a
    negative difference speaks for the first scorer, as for error rates.
    """

    difference: float
    low: float
    high: float
    p_value: float
    values: tuple[float, float]
    confidence: float
    n_resamples: int
    method: str = "bootstrap"
    sampling: str = "by_class"
    alternative: str = "two-sided"
    margin: float = 0.0
    smaller_is_better: bool = False
    names: tuple[str, str] = ("a", "b")
    p_holm: float | None = None

    def __str__(self) -> str:
        return (
            f"{self.values[0]:.4f} - {self.values[1]:.4f} = {self.difference:+.4f} "
            f"[{self.low:+.4f}, {self.high:+.4f}] ({self.confidence:.0%} interval), "
            f"p = {self.p_value:.3g}"
        )


def compare_scores(
    metric: str | Callable[..., float],
    y_true: ArrayLike,
    y_score_a: ArrayLike | Mapping[str, ArrayLike],
    y_score_b: ArrayLike | None = None,
    *,
    y_true_b: ArrayLike | None = None,
    sample_weight_b: ArrayLike | None = None,
    groups_b: ArrayLike | None = None,
    reference: str | None = None,
    margin: float = 0.0,
    alternative: str = "two-sided",
    pos_label: Any = None,
    qid: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    weight_kind: str = "sampling",
    confidence: float = 0.95,
    method: str = "auto",
    sampling: str = "auto",
    n_resamples: int = 2000,
    random_state: Any = None,
    **metric_params: Any,
) -> Any:
    """Test the difference of two scorers, or of many, in any measure.

    Two scorers on the same rows are compared in pairs: what the rows have in common cancels. With
    ``y_true_b`` the samples are independent (standard errors add, with Welch's degrees of freedom).

    Parameters
    ----------
    metric, pos_label, qid, groups, sample_weight, weight_kind, confidence, sampling, n_resamples
        As in `score_interval`.
    random_state, **metric_params
        As in `score_interval`.
    y_true : array-like of shape (n_samples,)
        Binary labels.
    y_score_a : array-like of shape (n_samples,), or dict of such by name
        Scores of the first scorer; or of several, which are compared in all pairs.
    y_score_b : array-like, default=None
        Scores of the second scorer, on the same rows or on those of ``y_true_b``.
    y_true_b, sample_weight_b, groups_b : array-like, default=None
        Labels, weights and clusters of a second, independent sample.
    reference : str, default=None
        With several scorers: compare each of the others with this one only.
    margin : float, default=0.0
        How much worse still counts as not worse; for the last two alternatives.
    alternative : {"two-sided", "greater", "less", "non-inferior", "equivalent"}
        ``"non-inferior"``: the first is not worse than the second by ``margin`` or more.
        ``"equivalent"``: neither is better by ``margin`` or more (two one-sided tests). Where smaller
        values are better, "worse" means larger, and the result says so.
    method : {"auto", "delong", "bootstrap"}, default="auto"
        As in `score_interval`.

    Returns
    -------
    ScoreComparison or list of ScoreComparison
        A list where ``y_score_a`` is a dict, with ``p_holm`` corrected over its rows.

    Examples
    --------
    >>> import numpy as np
    >>> from aucuba.metrics import compare_scores
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], [400, 100])
    >>> good, noise = rng.normal(size=500) + 2 * y, rng.normal(size=500)
    >>> found = compare_scores("partial_auc", y, good, noise, fpr_range=(0, 0.1), method="delong")
    >>> found.p_value < 0.001
    True
    """
    check_choice(alternative, "alternative", ALTERNATIVES)
    _check_margin(margin, alternative)
    options: dict[str, Any] = {
        "pos_label": pos_label,
        "qid": qid,
        "groups": groups,
        "sample_weight": sample_weight,
        "weight_kind": weight_kind,
        "sampling": sampling,
    }
    test = _Test(
        metric,
        metric_params,
        method,
        alternative,
        float(margin),
        check_level(confidence),
        check_draws(n_resamples),
        random_state,
    )
    if isinstance(y_score_a, Mapping):
        if y_score_b is not None or y_true_b is not None:
            raise ValueError("Give several scorers as one dict, or two as y_score_a and y_score_b.")
        return _table(test, y_true, y_score_a, reference, options)
    if y_score_b is None:
        raise ValueError("y_score_b is needed: the scores of the second scorer.")
    if y_true_b is None:
        return test.paired(y_true, y_score_a, y_score_b, options)
    if qid is not None:
        raise ValueError("Independent samples are compared without qid.")
    other = {**options, "groups": groups_b, "sample_weight": sample_weight_b}
    return test.independent((y_true, y_score_a, options), (y_true_b, y_score_b, other))


def compare_partial_auc(
    y_true: ArrayLike,
    y_score_a: ArrayLike,
    y_score_b: ArrayLike,
    *,
    fpr_range: tuple[float, float] = (0.0, 1.0),
    min_tpr: float = 0.0,
    fpr_weight: FprWeight = None,
    **options: Any,
) -> ScoreComparison:
    """Test the difference of two scorers in partial AUC on the same rows.

    Short for ``compare_scores("partial_auc", y_true, y_score_a, y_score_b, fpr_range=fpr_range, ...)``.

    Parameters
    ----------
    y_true, fpr_range, min_tpr, fpr_weight
        As in `partial_auc_score`.
    y_score_a, y_score_b : array-like of shape (n_samples,)
        Scores of the two scorers on the same rows.
    **options
        As in `compare_scores`.

    Returns
    -------
    ScoreComparison
        With ``difference``, ``low``, ``high``, ``p_value`` and the two ``values``.

    Examples
    --------
    >>> import numpy as np
    >>> from aucuba.metrics import compare_partial_auc
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], [400, 100])
    >>> good, noise = rng.normal(size=500) + 2 * y, rng.normal(size=500)
    >>> compare_partial_auc(y, good, noise, fpr_range=(0, 0.1), random_state=0).p_value < 0.01
    True
    """
    region: dict[str, Any] = {
        "fpr_range": fpr_range,
        "min_tpr": min_tpr,
        "fpr_weight": fpr_weight,
    }
    found: ScoreComparison = compare_scores(
        "partial_auc", y_true, y_score_a, y_score_b, **region, **options
    )
    return found


@dataclass(frozen=True)
class _Test:
    """Everything about a comparison but its rows."""

    metric: Any
    params: Mapping[str, Any]
    method: str
    alternative: str
    margin: float
    confidence: float
    n_resamples: int
    random_state: Any

    def paired(
        self, y_true: ArrayLike, a: ArrayLike, b: ArrayLike, options: Mapping[str, Any]
    ) -> ScoreComparison:
        """Compare two scorers on the same rows."""
        study = make_study(self.metric, self.params, y_true, [a, b], **options)
        study.warn_if_few()
        method = _for_difference(study.choose(self.method))
        values = (float(study.values[0]), float(study.values[1]))
        estimate = DifferenceEstimate(values[0] - values[1], values)
        if method == "delong":
            error, df = study.error(), study.degrees_of_freedom
            estimate = replace(estimate, error=error, degrees_of_freedom=df)
            if estimate.lacks_spread:
                # Scorers without any spread, such as a perfect one: resamples know how rare that is.
                method = "bootstrap"
        if method == "bootstrap":
            draws = study.resampled(self.n_resamples, self.random_state)
            estimate = replace(estimate, draws=draws[0] - draws[1])
        return self._judge(estimate, method, study)

    def independent(self, first: tuple[Any, ...], second: tuple[Any, ...]) -> ScoreComparison:
        """Compare two scorers on two samples."""
        studies = [
            make_study(self.metric, self.params, y, [score], **options)
            for y, score, options in (first, second)
        ]
        for one in studies:
            one.measure.check_comparable()
            one.warn_if_few()
        method = _for_difference(studies[0].choose(self.method))
        values = (float(studies[0].values[0]), float(studies[1].values[0]))
        estimate = DifferenceEstimate(values[0] - values[1], values)
        if method == "delong":
            errors = np.array([one.error() for one in studies])
            n_units = np.array([_n_units(one) for one in studies])
            total = float(np.sum(errors**2))
            welch = total**2 / float(np.sum(errors**4 / (n_units - 1))) if total > 0 else np.inf
            estimate = replace(estimate, error=float(np.sqrt(total)), degrees_of_freedom=welch)
            if estimate.lacks_spread:
                method = "bootstrap"
        if method == "bootstrap":
            rng = np.random.RandomState(_seed(self.random_state))
            draws = [one.resampled(self.n_resamples, rng)[0] for one in studies]
            estimate = replace(estimate, draws=draws[0] - draws[1])
        return self._judge(estimate, method, studies[0])

    def _judge(self, estimate: DifferenceEstimate, method: str, study: Study) -> ScoreComparison:
        tail = 1 - self.confidence
        one_sided = self.alternative in ("greater", "less", "non-inferior", "equivalent")
        low = estimate.quantile(tail if one_sided else tail / 2)
        high = estimate.quantile(1 - tail if one_sided else 1 - tail / 2)
        smaller = study.measure.smaller_is_better
        bounded_below = self.alternative == "greater" or (
            self.alternative == "non-inferior" and not smaller
        )
        if bounded_below:
            high = np.inf
        elif self.alternative in ("less", "non-inferior"):
            low = -np.inf
        return ScoreComparison(
            difference=estimate.difference,
            low=low,
            high=high,
            p_value=self._p_value(estimate, smaller),
            values=estimate.values,
            confidence=self.confidence,
            n_resamples=0 if estimate.draws is None else self.n_resamples,
            method=method,
            sampling=study.sampling,
            alternative=self.alternative,
            margin=self.margin,
            smaller_is_better=smaller,
        )

    def _p_value(self, estimate: DifferenceEstimate, smaller_is_better: bool) -> float:
        if self.alternative == "two-sided":
            if estimate.difference == 0.0 and estimate.draws is None:
                return 1.0
            return min(1.0, 2 * min(estimate.p_above(0.0), estimate.p_below(0.0)))
        if self.alternative == "greater":
            return estimate.p_above(0.0)
        if self.alternative == "less":
            return estimate.p_below(0.0)
        if self.alternative == "equivalent":
            return max(estimate.p_above(-self.margin), estimate.p_below(self.margin))
        if smaller_is_better:
            return estimate.p_below(self.margin)
        return estimate.p_above(-self.margin)


def _for_difference(method: str) -> str:
    if method in ("delong", "bootstrap"):
        return method
    if method in ("bca", "wilson"):
        return "bootstrap"
    raise ValueError(
        f"method={method!r} gives intervals of one value; compare with 'delong' or 'bootstrap'."
    )


def _n_units(study: Study) -> float:
    if np.isfinite(study.degrees_of_freedom):
        return study.degrees_of_freedom + 1
    return float(study.samples[0].n_rows)


def _seed(random_state: Any) -> int:
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def _check_margin(margin: Any, alternative: str) -> None:
    needs = alternative in ("non-inferior", "equivalent")
    if needs and not margin > 0:
        raise ValueError(
            f"alternative={alternative!r} needs margin > 0, got {margin!r}: the difference that still "
            "counts as none."
        )
    if not needs and margin != 0:
        raise ValueError(
            f"margin={margin!r} is for alternative='non-inferior' or 'equivalent', not {alternative!r}."
        )


def _table(
    test: _Test,
    y_true: ArrayLike,
    scores: Mapping[str, ArrayLike],
    reference: str | None,
    options: Mapping[str, Any],
) -> list[ScoreComparison]:
    """Return all pairs, or each against the reference, with Holm's correction over the rows."""
    names = list(scores)
    if len(names) < 2:
        raise ValueError(f"At least two scorers are needed to compare, got {names}.")
    if reference is not None:
        check_choice(reference, "reference", names)
        pairs = [(name, reference) for name in names if name != reference]
    else:
        pairs = list(combinations(names, 2))
    rows = [
        replace(test.paired(y_true, scores[a], scores[b], options), names=(a, b)) for a, b in pairs
    ]
    order = np.argsort([row.p_value for row in rows], kind="stable")
    corrected, largest = [0.0] * len(rows), 0.0
    for place, index in enumerate(order):
        largest = max(largest, min(1.0, rows[index].p_value * (len(rows) - place)))
        corrected[index] = largest
    return [replace(row, p_holm=p) for row, p in zip(rows, corrected, strict=True)]
