"""Differences between scorers: intervals, tests, and tables of many comparisons."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from aucuba._base._tables import TabularResult
from aucuba._base._typing import ArrayLike, FloatArray
from aucuba._base._validation import check_choice
from aucuba.metrics._difference_law import Estimate, welch
from aucuba.metrics._segments import Segments, is_measurable, value_of
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
    segment: Any = None
    n_rows: int = 0
    n_positives: int = 0

    @property
    def level(self) -> float:
        """Level that the p-value is to be compared with."""
        tail = 1 - self.confidence
        return tail / 2 if self.alternative == "non-inferior" else tail

    @property
    def _limits(self) -> str:
        """The limits with their name: two one-sided tests at 5 % leave a 90 % interval."""
        level = f"{self.confidence:.0%}"
        if self.alternative == "two-sided":
            return f"[{self.low:+.4f}, {self.high:+.4f}] ({level} interval"
        if self.alternative == "equivalent":
            inner = f"{2 * self.confidence - 1:.0%}"
            shown = f"[{self.low:+.4f}, {self.high:+.4f}] ({inner} interval"
        else:
            bound = f"> {self.low:+.4f}" if np.isfinite(self.low) else f"< {self.high:+.4f}"
            if self.alternative in ("greater", "less"):
                return f"{bound} (one-sided {level} limit"
            shown = f"{bound} (limit of the {level} interval"
        return f"{shown}, margin {self.margin:g}"

    def __str__(self) -> str:
        return (
            f"{self.values[0]:.4f} - {self.values[1]:.4f} = {self.difference:+.4f} {self._limits}, "
            f"{self.method}), p = {self.p_value:.3g} at level {self.level:.3g}"
        )


class ScoreComparison(TabularResult, tuple[ScoreDifference, ...]):
    """Differences of scorers, one per compared pair; printed as a table.

    ``to_frame()`` returns a pandas DataFrame, and a notebook shows the table by itself.

    Each entry has ``names``, ``values``, ``difference`` (first minus second), ``low``, ``high``,
    ``confidence``, ``p_value`` (that of ``alternative`` and ``margin``), ``level`` (what it is compared
    with), ``p_holm`` (its value after Holm's correction over all pairs), ``method``, ``sampling``,
    ``n_resamples`` (0 where nothing was resampled) and ``smaller_is_better``: a negative difference
    favours the first scorer. The comparison of one pair has all of these too. By segment there is one
    entry per pair and segment, with ``segment``, ``n_rows`` and ``n_positives``; their intervals hold
    jointly, and Holm's correction runs over all entries.
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

    def __getattr__(self, name: str) -> Any:
        if name in ScoreDifference.__dataclass_fields__ or name == "level":
            return getattr(self.pair, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def table_rows(self) -> list[dict[str, Any]]:
        """Return one mapping of names to values per pair."""
        rows = []
        for one in self:
            row: dict[str, Any] = {}
            if one.n_rows:
                row = {"segment": one.segment, "rows": one.n_rows, "positives": one.n_positives}
            row |= {
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
        if self[0].n_rows:
            return self._text()
        lines = [f"{' - '.join(one.names)}: {one}, corrected p = {one.p_holm:.3g}" for one in self]
        return "\n".join(lines)


def compare_scores(
    metric: str | Callable[..., float],
    y_true: ArrayLike,
    y_score_a: ArrayLike | Mapping[str, ArrayLike],
    y_score_b: ArrayLike | None = None,
    *,
    by: ArrayLike | None = None,
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
    by : array-like of shape (n_samples,), default=None
        Segment of each row: every pair is compared in every segment, with intervals that hold jointly
        as in `score_interval`. `largest_gap` with both scores tests whether the lead differs between
        segments.
    y_true_b, sample_weight_b, groups_b : array-like, default=None
        Labels, weights and groups of a second, independent sample.
    reference : str, default=None
        With several scorers: compare each of the others with this one only.
    margin : float, default=0.0
        Largest difference that still counts as none; for the last two alternatives.
    alternative : {"two-sided", "greater", "less", "non-inferior", "equivalent"}
        ``"greater"`` and ``"less"`` have a one-sided limit at level ``1 - confidence``.
        ``"non-inferior"``: the first is not worse than the second by ``margin`` or more, tested at
        ``(1 - confidence) / 2`` by the limit of the two-sided interval (ICH E9). ``"equivalent"``:
        neither is better by ``margin`` or more; two one-sided tests at ``1 - confidence``, hence a 90 %
        interval with the default. Where smaller values are better, "worse" means larger, and the
        result says so.
    method : {"auto", "delong", "influence", "bootstrap"}, default="auto"
        As in `score_interval`.

    Returns
    -------
    ScoreComparison
        One entry per pair. With two scorers ``difference``, ``low``, ``high``, ``p_value`` and the rest
        can be read off directly.

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
    test = _Test(*design, random_state)
    if isinstance(y_score_a, Mapping):
        if y_score_b is not None or y_true_b is not None:
            raise ValueError("Give several scorers as one dict, or two as y_score_a and y_score_b.")
        scores, pairs = y_score_a, _pairs(list(y_score_a), reference)
    elif y_score_b is None:
        raise ValueError("y_score_b is needed: the scores of the second scorer.")
    else:
        scores, pairs = {"a": y_score_a, "b": y_score_b}, [("a", "b")]
    if y_true_b is None:
        study = make_study(metric, metric_params, y_true, list(scores.values()), **options)
        places = {name: place for place, name in enumerate(scores)}
        compared = [(places[a], places[b]) for a, b in pairs]
        if by is not None:
            segments = Segments.split(study, by, sample_weight)
            return _corrected(test.by_segment(segments, compared), pairs * len(segments.names))
        study.warn_if_few()
        return _corrected(test.paired(study, compared), pairs)
    if by is not None:
        raise ValueError("Independent samples are compared without by.")
    if qid is not None:
        raise ValueError("Independent samples are compared without qid.")
    other = {**options, "groups": groups_b, "sample_weight": sample_weight_b}
    first = make_study(metric, metric_params, y_true, [scores["a"]], **options)
    first.measure.check_comparable()
    second = make_study(metric, metric_params, y_true_b, [scores["b"]], **other)
    for one in (first, second):
        one.warn_if_few()
    return _corrected([test.independent(first, second)], pairs)


@dataclass(frozen=True)
class _Test:
    """Settings of a comparison, without its rows."""

    method: str
    alternative: str
    margin: float
    confidence: float
    n_resamples: int
    random_state: Any

    def paired(self, study: Study, pairs: list[tuple[int, int]]) -> list[ScoreDifference]:
        """Compare scorers on the same rows; all pairs share one set of resamples."""
        method = study.choose(self.method, difference=True)
        draws: FloatArray | None = None
        found = []
        for a, b in pairs:
            values = float(study.values[a]), float(study.values[b])
            estimate = Estimate(values, study, are_one=study.rank_alike(a, b))
            if method != "bootstrap":
                error = study.error(a, b)
                estimate = replace(estimate, error=error, df=study.df_of(method))
            if method == "bootstrap" or estimate.lacks_spread:
                # A perfect scorer has no standard error; resamples still show how rare that is.
                if draws is None:
                    draws = study.resampled(self.n_resamples, self.random_state)
                estimate = replace(estimate, draws=draws[a] - draws[b])
            found.append(self._judge(estimate, method))
        return found

    def by_segment(self, segments: Segments, pairs: list[tuple[int, int]]) -> list[ScoreDifference]:
        """Compare scorers in every segment, segment by segment; the intervals hold jointly."""
        segments.warn_if_few()
        test = replace(self, confidence=segments.level(self.confidence))
        found = []
        for number, part in enumerate(segments.parts):
            about = segments.described(number)
            about["segment"] = about.pop("name")
            known = is_measurable(part)
            compared = test.paired(part, pairs) if known else test.unknown(part, pairs)
            found += [replace(one, **about) for one in compared]
        return found

    def unknown(self, study: Study, pairs: list[tuple[int, int]]) -> list[ScoreDifference]:
        """Return differences of a segment that lacks rows: any difference is possible."""
        floor, ceiling = study.measure.limits
        room = ceiling - floor
        found = []
        for a, b in pairs:
            values = value_of(study, a), value_of(study, b)
            limits = values[0] - values[1], -room, room
            found.append(
                ScoreDifference(*limits, 1.0, values, self.confidence, 0, "none", study.sampling)
            )
        return found

    def independent(self, *studies: Study) -> ScoreDifference:
        """Compare one scorer of each of two samples; standard errors add."""
        method = studies[0].choose(self.method, difference=True)
        first, second = (float(one.values[0]) for one in studies)
        estimate = Estimate((first, second), min(studies, key=lambda one: one.fewest))
        if method != "bootstrap":
            error, df = welch(studies, method)
            estimate = replace(estimate, error=error, df=df)
        if method == "bootstrap" or estimate.lacks_spread:
            seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
            rng = np.random.RandomState(seed)
            draws = [one.resampled(self.n_resamples, rng)[0] for one in studies]
            estimate = replace(estimate, draws=draws[0] - draws[1])
        return self._judge(estimate, method)

    def _judge(self, estimate: Estimate, method: str) -> ScoreDifference:
        tail, smaller = 1 - self.confidence, estimate.study.measure.smaller_is_better
        if self.alternative in ("two-sided", "non-inferior"):
            # ICH E9: non-inferiority is tested at half the level, by the two-sided interval.
            tail /= 2
        low, high = estimate.quantile(tail), estimate.quantile(1 - tail)
        worse_is_below = self.alternative == "non-inferior" and not smaller
        if self.alternative == "greater" or worse_is_below:
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
            method=method if estimate.draws is None else "bootstrap",
            sampling=estimate.study.sampling,
            alternative=self.alternative,
            margin=self.margin,
            smaller_is_better=smaller,
        )

    def _p_value(self, estimate: Estimate, smaller_is_better: bool) -> float:
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


def _corrected(found: list[ScoreDifference], names: list[tuple[str, str]]) -> ScoreComparison:
    """Name the pairs and correct their p-values by Holm's method over all of them."""
    corrected, largest = [0.0] * len(found), 0.0
    for place, index in enumerate(np.argsort([one.p_value for one in found], kind="stable")):
        largest = max(largest, min(1.0, found[index].p_value * (len(found) - place)))
        corrected[index] = largest
    return ScoreComparison(
        replace(one, names=pair, p_holm=p)
        for one, pair, p in zip(found, names, corrected, strict=True)
    )
