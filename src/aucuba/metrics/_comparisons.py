"""Differences between scorers: intervals, tests, and tables of many comparisons."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from scipy.stats import norm
from scipy.stats import t as student
from sklearn.utils import check_random_state

from aucuba._base._tables import TabularResult
from aucuba._base._typing import ArrayLike, FloatArray
from aucuba._base._validation import check_choice
from aucuba.metrics._study import Study, check_draws, check_level, make_study

ALTERNATIVES = ("two-sided", "greater", "less", "non-inferior", "equivalent")


@dataclass(frozen=True)
class ScoreDifference:
    """Difference of two scorers (first minus second), with its uncertainty and how it was found."""

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


class ScoreComparison(TabularResult, tuple[ScoreDifference, ...]):
    """Differences of scorers, one per compared pair; printed as a table.

    ``to_frame()`` returns a pandas DataFrame, and a notebook shows the table by itself.

    Each entry has ``names``, ``values``, ``difference`` (first minus second), ``low``, ``high``,
    ``confidence``, ``p_value`` (that of ``alternative`` and ``margin``), ``p_holm`` (its value after
    Holm's correction over all pairs), ``method``, ``sampling``, ``n_resamples`` (0 where nothing was
    resampled) and ``smaller_is_better``: a negative difference favours the first scorer. The comparison
    of one pair offers the most used of these directly.
    """

    __slots__ = ()

    @property
    def pair(self) -> ScoreDifference:
        """The only pair."""
        if len(self) != 1:
            raise ValueError(
                f"{len(self)} pairs were compared; read the numbers of each in a loop."
            )
        return self[0]

    @property
    def difference(self) -> float:
        """Value of the first scorer minus that of the second."""
        return self.pair.difference

    @property
    def low(self) -> float:
        """Lower limit of the difference."""
        return self.pair.low

    @property
    def high(self) -> float:
        """Upper limit of the difference."""
        return self.pair.high

    @property
    def p_value(self) -> float:
        """P-value of the test."""
        return self.pair.p_value

    @property
    def values(self) -> tuple[float, float]:
        """Values of the two scorers."""
        return self.pair.values

    @property
    def method(self) -> str:
        """Name of the method that was used."""
        return self.pair.method

    def table_rows(self) -> list[dict[str, Any]]:
        """Return one mapping of names to values per pair."""
        rows = []
        for one in self:
            row = {
                "first": one.names[0],
                "second": one.names[1],
                "first value": float(one.values[0]),
                "second value": float(one.values[1]),
                "difference": float(one.difference),
                "low": float(one.low),
                "high": float(one.high),
                "p_value": float(one.p_value),
            }
            rows.append(row if one.p_holm is None else {**row, "p_holm": float(one.p_holm)})
        return rows

    def __str__(self) -> str:
        if len(self) == 1:
            return str(self[0])
        lines = [f"{' - '.join(one.names)}: {one}, corrected p = {one.p_holm:.3g}" for one in self]
        return "\n".join(lines)


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
) -> ScoreComparison:
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
        Largest difference that still counts as none; for the last two alternatives.
    alternative : {"two-sided", "greater", "less", "non-inferior", "equivalent"}
        ``"non-inferior"``: the first is not worse than the second by ``margin`` or more.
        ``"equivalent"``: neither is better by ``margin`` or more (two one-sided tests). Where smaller
        values are better, "worse" means larger, and the result says so.
    method : {"auto", "delong", "bootstrap"}, default="auto"
        As in `score_interval`.

    Returns
    -------
    ScoreComparison
        One entry per pair. With two scorers ``difference``, ``low``, ``high``, ``p_value``, ``values``
        and ``method`` can be read off directly.

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
    shared = {"pos_label": pos_label, "weight_kind": weight_kind, "sampling": sampling}
    options = {**shared, "qid": qid, "groups": groups, "sample_weight": sample_weight}
    design = method, alternative, float(margin), check_level(confidence), check_draws(n_resamples)
    test = _Test(metric, metric_params, *design, random_state)
    if isinstance(y_score_a, Mapping):
        if y_score_b is not None or y_true_b is not None:
            raise ValueError("Give several scorers as one dict, or two as y_score_a and y_score_b.")
        scores, pairs = y_score_a, _pairs(list(y_score_a), reference)
    elif y_score_b is None:
        raise ValueError("y_score_b is needed: the scores of the second scorer.")
    elif y_true_b is None:
        scores, pairs = {"a": y_score_a, "b": y_score_b}, [("a", "b")]
    elif qid is not None:
        raise ValueError("Independent samples are compared without qid.")
    else:
        other = {**options, "groups": groups_b, "sample_weight": sample_weight_b}
        first = test.study(y_true, [y_score_a], options)
        first.measure.check_comparable()
        return _corrected([test.compare([first, test.study(y_true_b, [y_score_b], other)])])
    found = [
        replace(test.compare([test.study(y_true, [scores[a], scores[b]], options)]), names=(a, b))
        for a, b in pairs
    ]
    return _corrected(found)


@dataclass(frozen=True)
class _Test:
    """Settings of a comparison, without its rows."""

    metric: Any
    params: Mapping[str, Any]
    method: str
    alternative: str
    margin: float
    confidence: float
    n_resamples: int
    random_state: Any

    def study(
        self, y_true: ArrayLike, scores: list[ArrayLike], options: Mapping[str, Any]
    ) -> Study:
        """Validate the rows of one sample."""
        return make_study(self.metric, self.params, y_true, scores, **options)

    def compare(self, studies: list[Study]) -> ScoreDifference:
        """Compare two scorers of one study, or one scorer of each of two."""
        for one in studies:
            one.warn_if_few()
        method = _for_difference(studies[0].choose(self.method))
        first, second = (float(value) for one in studies for value in one.values)
        estimate = _Estimate(first - second, (first, second))
        if method == "delong":
            error, df = _error(studies)
            estimate = replace(estimate, error=error, degrees_of_freedom=df)
            if estimate.lacks_spread:
                # A perfect scorer has no standard error; resamples still show how rare that is.
                method = "bootstrap"
        if method == "bootstrap":
            draws = self._draws(studies)
            estimate = replace(estimate, draws=draws[0] - draws[1])
        return self._judge(estimate, method, studies[0])

    def _draws(self, studies: list[Study]) -> FloatArray:
        """Return the values of both scorers on resamples, shape (2, n_resamples)."""
        if len(studies) == 1:
            return studies[0].resampled(self.n_resamples, self.random_state)
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        rng = np.random.RandomState(seed)
        return np.concatenate([one.resampled(self.n_resamples, rng) for one in studies])

    def _judge(self, estimate: _Estimate, method: str, study: Study) -> ScoreDifference:
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
        return ScoreDifference(
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

    def _p_value(self, estimate: _Estimate, smaller_is_better: bool) -> float:
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


@dataclass(frozen=True)
class _Estimate:
    """A difference with its law: a standard error, or resampled differences."""

    difference: float
    values: tuple[float, float]
    error: float = np.nan
    degrees_of_freedom: float = np.inf
    draws: FloatArray | None = None

    @property
    def lacks_spread(self) -> bool:
        """Whether the standard error is zero up to rounding although the scorers differ."""
        return self.difference != 0.0 and self.error <= 1e-9 * abs(self.difference)

    def quantile(self, level: float) -> float:
        """Quantile of the difference."""
        if self.draws is not None:
            return float(np.quantile(self.draws, level))
        df = self.degrees_of_freedom
        z = norm.ppf(level) if np.isinf(df) else student.ppf(level, df)
        return self.difference + float(z) * self.error

    def p_above(self, limit: float) -> float:
        """P-value of the claim that the difference is above a limit."""
        if self.draws is not None:
            # Counting one more resample keeps p-values above the resolution of the bootstrap.
            return float((np.sum(self.draws <= limit) + 1) / (self.draws.size + 1))
        return self._tail(self.difference - limit)

    def p_below(self, limit: float) -> float:
        """P-value of the claim that the difference is below a limit."""
        if self.draws is not None:
            return float((np.sum(self.draws >= limit) + 1) / (self.draws.size + 1))
        return self._tail(limit - self.difference)

    def _tail(self, distance: float) -> float:
        df, z = self.degrees_of_freedom, distance / self.error if self.error > 0 else 0.0
        return float(norm.sf(z) if np.isinf(df) else student.sf(z, df))


def _for_difference(method: str) -> str:
    if method in ("delong", "bootstrap"):
        return method
    if method in ("bca", "wilson"):
        return "bootstrap"
    raise ValueError(
        f"method={method!r} gives intervals of one value; compare with 'delong' or 'bootstrap'."
    )


def _error(studies: list[Study]) -> tuple[float, float]:
    """Return the standard error of a difference and its degrees of freedom, Welch's for two studies."""
    if len(studies) == 1:
        return studies[0].error(), studies[0].degrees_of_freedom
    errors = np.array([one.error() for one in studies])
    n_units = [
        one.samples[0].n_rows if np.isinf(one.degrees_of_freedom) else one.degrees_of_freedom + 1
        for one in studies
    ]
    total = float(np.sum(errors**2))
    below = float(np.sum(errors**4 / (np.array(n_units) - 1)))
    return float(np.sqrt(total)), total**2 / below if total > 0 else np.inf


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


def _pairs(names: list[str], reference: str | None) -> list[tuple[str, str]]:
    """Return all pairs of names, or each name with the reference."""
    if len(names) < 2:
        raise ValueError(f"At least two scorers are needed to compare, got {names}.")
    if reference is None:
        return list(combinations(names, 2))
    check_choice(reference, "reference", names)
    return [(name, reference) for name in names if name != reference]


def _corrected(pairs: list[ScoreDifference]) -> ScoreComparison:
    """Correct the p-values by Holm's method over all pairs."""
    corrected, largest = [0.0] * len(pairs), 0.0
    for place, index in enumerate(np.argsort([one.p_value for one in pairs], kind="stable")):
        largest = max(largest, min(1.0, pairs[index].p_value * (len(pairs) - place)))
        corrected[index] = largest
    return ScoreComparison(replace(one, p_holm=p) for one, p in zip(pairs, corrected, strict=True))
