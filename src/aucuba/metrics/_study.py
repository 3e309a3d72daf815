"""Rows, sampling units and method of an interval or a test."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from aucuba._base._typing import ArrayLike, FloatArray, IntArray
from aucuba._base._validation import (
    check_choice,
    check_fraction,
    check_positive_number,
    query_index,
)
from aucuba._base._warnings import FewRowsWarning, warn_user
from aucuba._roc._curve import RocCurve, placements
from aucuba._roc._standard_error import (
    WeightMeaning,
    effective_rows,
    error_of_effects,
    error_of_mean,
    row_terms,
    standard_error,
)
from aucuba._rows._sample import RankingSample, Sample
from aucuba.metrics._measures import bind
from aucuba.metrics._methods import chosen_method
from aucuba.metrics._resampling import Draw, bootstrap, bootstrap_means
from aucuba.metrics._roc_measure import RocMeasure

# With fewer positives, or fewer of them misplaced, limits that rest on the rows seen are too narrow.
_POSITIVES_FOR_NORMAL = 100
_MISPLACED_FOR_NORMAL = 10
# Below these numbers of effective rows, in the range positives and negatives, some measures left the
# limits of coverage in our simulations.
FEWEST_POSITIVES = 30
FEWEST_IN_RANGE = (3, 6)
FEWEST_UNITS = 10
# A spread of values, or of differences, below this is rounding.
NO_SPREAD = 1e-12


@dataclass(frozen=True)
class Study:
    """Scorers on the same rows, and how a fresh sample would be drawn.

    Parameters
    ----------
    measure : RocMeasure
    samples : list of RankingSample
        Equal rows, one per scorer.
    sampling : {"by_class", "random", "queries", "groups"}
        The units that are drawn.
    group : ndarray of int or None
        Number of each row's group.
    frequency : bool
        Whether weights are numbers of equal rows.
    label : label or None
        The positive class, if it was named.
    """

    measure: RocMeasure
    samples: list[RankingSample]
    sampling: str
    group: IntArray | None = None
    frequency: bool = False
    label: Any = None

    @cached_property
    def values(self) -> FloatArray:
        """Value of every scorer."""
        if self.sampling == "queries":
            return np.asarray(self.by_query.mean(axis=1))
        return np.array([self.measure.value(one) for one in self.samples])

    @cached_property
    def degrees_of_freedom(self) -> float:
        """Infinite unless the units are queries or groups; groups count by their weight."""
        if self.sampling == "queries":
            return float(self.by_query.shape[1] - 1)
        if self.group is None:
            return np.inf
        sizes = np.bincount(self.group, self.samples[0].weights).astype(np.float64)
        # One group that outweighs all others leaves next to none, and quantiles must stay finite.
        return max(effective_rows(sizes) - 1, 0.05)

    def df_of(self, method: str) -> float:
        """Degrees of freedom of the standard error of a method.

        The spread of first-order effects is itself an estimate, from the rows of the rarer class above
        all.
        """
        if method != "influence":
            return self.degrees_of_freedom
        n_rarer = min(self.n_effective(positive=one) for one in (True, False))
        return min(self.degrees_of_freedom, max(n_rarer - 1.0, 1.0))

    @cached_property
    def by_query(self) -> FloatArray:
        """Values per query, shape (n_scorers, n_queries)."""
        return np.array([self.measure.by_query(one) for one in self.samples])

    def quantile(self, level: float, method: str = "auto") -> float:
        """Quantile of the estimate's distribution in standard errors of a method."""
        df = self.df_of(method)
        return float(ndtri(level) if np.isinf(df) else stdtrit(df, level))

    def percentile(self, tail: float) -> float:
        """Return the level of resamples that corresponds to a tail of the estimate's distribution.

        The variance over resamples of C groups is (C - 1)/C of the true one, and their tails are
        normal instead of Student's t; the level corrects both (Hesterberg 2015).
        """
        df = self.degrees_of_freedom
        if np.isinf(df):
            return tail
        return float(ndtr(np.sqrt((df + 1) / df) * stdtrit(df, tail)))

    def tail_of(self, percentile: float) -> float:
        """Return the tail of the estimate's distribution for a level of resamples."""
        df = self.degrees_of_freedom
        if np.isinf(df):
            return percentile
        return float(stdtr(df, ndtri(percentile) / np.sqrt((df + 1) / df)))

    def error(self, first: int = 0, second: int | None = None) -> float:
        """Standard error of one value, or of the difference of two, to first order."""
        if self.sampling == "queries":
            values = self.by_query
            return error_of_mean(values[first] - (0.0 if second is None else values[second]))
        sample = self.samples[0]
        if self.measure.region is None:
            effect = self.effects[first] - (0.0 if second is None else self.effects[second])
            return self._error_of(effect)
        influence = self.influences[first]
        if second is not None:
            influence = influence - self.influences[second]
        if self.frequency:
            return standard_error(sample, influence, meaning="frequency")
        return standard_error(sample, influence, meaning="sampling", group=self.group)

    def _error_of(self, effect: FloatArray) -> float:
        """Standard error of a statistic from the first-order effects of its rows."""
        one = self.samples[0]
        if self.group is None and self.sampling == "by_class":
            totals = [one.class_weight(positive=positive) for positive in (False, True)]
            influence = effect * np.take(totals, one.y) / one.weights
            meaning: WeightMeaning = "frequency" if self.frequency else "sampling"
            return standard_error(one, influence, meaning=meaning)
        return error_of_effects(effect, one.weights if self.frequency else None, self.group)

    @cached_property
    def effects(self) -> list[FloatArray]:
        """First-order effects of every scorer's rows."""
        assert self.measure.effects is not None
        return [self.measure.effects(one) for one in self.samples]

    @cached_property
    def influences(self) -> list[FloatArray]:
        """Placement values of every scorer's rows, up to a constant per class."""
        return [self._influence_of(one) for one in self.samples]

    def _influence_of(self, sample: RankingSample) -> FloatArray:
        region = self.measure.region
        assert region is not None
        # Copies are rows. Of other weights only relations matter, and sums stay far from overflow.
        scale = 1.0 if self.frequency else sample.weights.mean()
        even = replace(sample, weight=sample.weights / scale)
        placed = placements(even, sample.ranked, region.weights, region.min_tpr)
        return self.measure.slope * placed.influence

    def rank_alike(self, first: int, second: int) -> bool:
        """Whether two scorers rank all rows alike, and nothing but ranks matters."""
        one, other = self.samples[first], self.samples[second]
        if self.measure.cuts != ():
            return np.array_equal(one.score, other.score)
        return np.array_equal(one.ranked.blocks(), other.ranked.blocks())

    def excess(self) -> tuple[float, float]:
        """Estimate the mean excess of the first value over the population's, at least and at most."""
        if self.measure.bias is None:
            return 0.0, 0.0
        copies = self.n_effective(positive=True), self.n_effective(positive=False)
        return self.measure.bias(self.samples[0], copies if self.frequency else None)

    def acceleration(self) -> float:
        r"""Skewness of the estimate of the first scorer, for BCa.

        ``a = sum l^3 / (6 (sum l^2)^{3/2})`` with l the first-order effects of the rows or groups.
        """
        one = self.samples[0]
        if self.measure.effects is not None:
            effect = self.effects[0]
        else:
            effect = row_terms(one, self.influences[0])
        units = effect if self.group is None else np.bincount(self.group, effect)
        spread = float(np.sum(units**2))
        return float(np.sum(units**3) / (6 * spread**1.5)) if spread > 0 else 0.0

    def resampled(self, n_resamples: int, random_state: Any) -> FloatArray:
        """Return the values of the scorers on resamples, shape (n_scorers, n_resamples)."""
        if self.sampling == "queries":
            return bootstrap_means(self.by_query, n_resamples, random_state)
        return bootstrap(self.measure, self.samples, self.draw, n_resamples, random_state)

    @property
    def draw(self) -> Draw:
        """How a fresh sample of rows or groups would be drawn."""
        rows = Sample(self.samples[0].positive, self.samples[0].weight)
        return Draw(rows, self.sampling == "by_class", self.group, self.frequency)

    def choose(self, method: str, *, difference: bool = False) -> str:
        """Resolve "auto" to a method for one value or for differences; refuse one that does not fit."""
        return chosen_method(self, method, difference)

    @property
    def fewest(self) -> float:
        """Number of queries or groups, or of deciding rows of the rarer class."""
        if np.isfinite(self.degrees_of_freedom):
            return self.degrees_of_freedom + 1
        return min(self.deciding())

    def deciding(self) -> tuple[float, float]:
        """Count the positives and the negatives that decide the value."""
        of_positives, of_negatives = self.measure.parts
        return (
            round(self.n_effective(positive=True) * of_positives, 9),
            round(self.n_effective(positive=False) * of_negatives, 9),
        )

    def n_effective(self, *, positive: bool | None = None) -> float:
        """Count the rows of a class, or of both, as so many of equal weight.

        Where weights are numbers of rows, the copies count.
        """
        one = self.samples[0]
        if one.weight is None:
            found = int(np.count_nonzero(one.positive))
            return float({None: one.n_rows, True: found, False: one.n_rows - found}[positive])
        rows = slice(None) if positive is None else one.positive == positive
        weight = one.weights[rows]
        return float(weight.sum()) if self.frequency else round(effective_rows(weight), 9)

    def warn_if_few(self) -> None:
        """Warn if units or rows are too few for an interval or test to keep its level."""
        for reason in self.too_few():
            warn_user(reason, FewRowsWarning)

    def too_few(self) -> list[str]:
        """Say which units or rows are too few for an interval or test to keep its level."""
        n_units, found = self.degrees_of_freedom + 1, []
        if n_units < FEWEST_UNITS:
            found.append(
                f"Only {n_units:.3g} {self.sampling} are drawn{_as_if(self.sampling)}; intervals and "
                f"p-values from fewer than {FEWEST_UNITS} are rough."
            )
        if self.sampling != "queries":
            found += few_rows(self.n_effective(positive=True), *self.deciding(), self.label)
        return found

    def warn_if_few_for(self, method: str) -> None:
        """Warn if positives are too few for limits that rest on those seen alone."""
        if method not in ("delong", "bca") or self.sampling not in ("by_class", "groups"):
            return
        n_positives = self.n_effective(positive=True)
        few = method == "delong" and FEWEST_POSITIVES <= n_positives < _POSITIVES_FOR_NORMAL
        misplaced = self._n_misplaced() if self.measure.region is not None else np.inf
        if few or misplaced < _MISPLACED_FOR_NORMAL:
            warn_user(
                f"Intervals by method={method!r} are too narrow with {n_positives:.3g} positives, of "
                f"which about {misplaced:.3g} decide how far the value is from its best; "
                "method='auto' avoids this.",
                FewRowsWarning,
            )

    def _n_misplaced(self) -> float:
        """Count the positives that the distance to a perfect value rests on, by their shares in it."""
        one = self.samples[0]
        placed = self.influences[0][one.positive]
        lost = one.weights[one.positive] * (placed.max() - placed)
        return effective_rows(lost) if lost.any() else 0.0


def _as_if(sampling: str) -> str:
    return ", counted as if of equal size" if sampling == "groups" else ""


def few_rows(
    n_positives: float, positives: float, negatives: float, label: Any = None
) -> list[str]:
    """Say whether the positives, or the rows of a class that decide, are too few to keep the level."""
    of_positives, of_negatives = FEWEST_IN_RANGE
    if n_positives >= FEWEST_POSITIVES and positives >= of_positives and negatives >= of_negatives:
        return []
    named = "" if label is None else f" ({label!r})"
    return [
        f"The uncertainty rests on {positives:.3g} positives{named} and {negatives:.3g} negatives in "
        f"the range; with fewer than {FEWEST_POSITIVES} positives in all, {of_positives} positives or "
        f"{of_negatives} negatives in the range, intervals are too narrow."
    ]


def make_study(
    metric: str | Callable[..., float],
    params: Mapping[str, Any],
    y_true: ArrayLike,
    y_scores: list[ArrayLike],
    *,
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    pos_label: Any = None,
    sampling: str = "auto",
    weight_kind: str = "sampling",
) -> Study:
    """Validate rows, measure and units of an interval or a test."""
    check_choice(sampling, "sampling", ("auto", "by_class", "random"))
    measure = _of_function(metric, params) if callable(metric) else bind(metric, params)
    samples = [
        RankingSample.from_arrays(y_true, score, sample_weight, qid, pos_label)
        for score in y_scores
    ]
    if len(samples) > 1:
        measure.check_comparable()
    if qid is not None and groups is not None:
        raise ValueError("Give qid or groups, not both: either queries or groups are drawn.")
    frequency = count_copies(weight_kind, samples[0].weight)
    if qid is not None:
        if samples[0].query is not None and int(samples[0].query.max()) < 1:
            raise ValueError(
                "qid names one query; the uncertainty of a mean over queries needs at least two. Leave "
                "qid out to treat the rows as independent."
            )
        study = Study(measure, samples, "queries", frequency=frequency, label=pos_label)
        if study.by_query.shape[1] < 2:
            raise ValueError("Only one query counts; the uncertainty of their mean needs two.")
        return study
    group = query_index(groups, np.size(np.asarray(y_true)), "groups")
    if group is not None:
        if sample_weight is not None:
            kept = np.asarray(sample_weight) > 0
            group = np.unique(group[kept], return_inverse=True)[1]
        if int(group.max()) < 1:
            raise ValueError("groups names one group; at least two are needed.")
        return Study(measure, samples, "groups", group, frequency, pos_label)
    unit = measure.sampling if sampling == "auto" else sampling
    return Study(measure, samples, unit, frequency=frequency, label=pos_label)


def count_copies(weight_kind: str, weight: FloatArray | None) -> bool:
    """Tell whether a weight is a number of equal rows; refuse one that is then not whole."""
    check_choice(weight_kind, "weight_kind", ("sampling", "frequency"))
    frequency = weight_kind == "frequency"
    if frequency and weight is not None and np.any(weight != np.floor(weight)):
        raise ValueError("weight_kind='frequency' needs whole-number weights: numbers of rows.")
    return frequency


def check_level(confidence: Any) -> float:
    """Check a confidence level."""
    return check_fraction(confidence, "confidence", low_open=True, high_open=True)


def check_draws(n_resamples: Any) -> int:
    """Check a number of resamples."""
    return int(check_positive_number(n_resamples, "n_resamples", integer=True))


def _of_function(function: Callable[..., float], params: Mapping[str, Any]) -> RocMeasure:
    """Return a user's own ``f(y_true, y_score, *, sample_weight, **params)`` as a measure of a curve.

    The value depends on the rows through the curve alone, so it is computed from one weighted row
    per class and block of equal score.
    """

    def of_one(curve: RocCurve) -> float:
        weight = np.concatenate([np.diff(curve.true_positive), np.diff(curve.false_positive)])
        y = np.repeat([1, 0], curve.threshold.size)
        kept = weight > 0
        score = np.tile(curve.threshold, 2)
        return float(function(y[kept], score[kept], sample_weight=weight[kept], **params))

    name = getattr(function, "__name__", type(function).__name__)
    return RocMeasure(
        name,
        lambda curve, _: curve.each(of_one),
        sampling="random",
        limits=(-np.inf, np.inf),
        cuts=None,
        is_modelled=False,
    )
