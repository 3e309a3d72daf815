r"""The largest gap between segments, with a permutation test.

With :math:`v_k` the value of segment k and :math:`s_k` its standard error, the statistic is

.. math:: T = \max_{k, l} \frac{|v_k - v_l|}{\sqrt{s_k^2 + s_l^2}}.

The labels of the segments are permuted among the rows that count. If the rows of all segments come from
one population, every permutation is as likely as the labels seen, and the p-value is exact whatever the
sizes. If only the values agree and the populations differ, dividing by the standard errors keeps the
level in large segments (Chung and Romano 2013).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from aucuba._base._typing import ArrayLike, BoolArray, FloatArray, IntArray
from aucuba._base._validation import check_positive_number
from aucuba._roc._standard_error import effective_rows, row_terms
from aucuba.metrics._rate_limits import rows_behind
from aucuba.metrics._segments import Segments, value_of
from aucuba.metrics._study import Study, make_study

# The spread of a segment is averaged with that of all segments, which counts as so many rows: five
# positives of which none is misplaced have no spread of their own.
_SHARED_ROWS = 5.0
# Statistics that differ by less are equal.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class SegmentGap:
    """The two segments that differ most, and whether chance explains it.

    ``difference`` is the value of the first of ``segments`` minus that of the second, ``statistic`` the
    same in standard errors; ``p_value`` is that of the hypothesis that no two segments differ.
    """

    segments: tuple[Any, Any]
    values: tuple[float, float]
    difference: float
    statistic: float
    p_value: float
    n_permutations: int

    def __str__(self) -> str:
        (a, b), (first, second) = self.segments, self.values
        return (
            f"{a} - {b}: {first:.4f} - {second:.4f} = {self.difference:+.4f}, "
            f"p = {self.p_value:.3g} ({self.n_permutations} permutations)"
        )


def largest_gap(
    metric: str | Callable[..., float],
    y_true: ArrayLike,
    y_score: ArrayLike,
    y_score_b: ArrayLike | None = None,
    *,
    by: ArrayLike,
    pos_label: Any = None,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    weight_kind: str = "sampling",
    n_permutations: int = 999,
    random_state: Any = None,
    **metric_params: Any,
) -> SegmentGap:
    """Find the two segments that differ most in a measure, and test whether any differ.

    The test permutes the labels of the segments among the rows that count: rows of a class among
    themselves for measures of the ROC curve, the negatives for a false positive rate, all rows for
    measures that depend on the prevalence. Groups move whole; within groups that cross segments the
    labels of rows are permuted. "Most" is counted in standard errors, so that a small segment does not
    win by its noise.

    Parameters
    ----------
    metric, y_true, y_score, pos_label, groups, sample_weight, weight_kind
        As in `score_interval`.
    y_score_b : array-like of shape (n_samples,), default=None
        Scores of a second scorer. The gap is then that of the difference of the two: is the lead of the
        first the same in all segments?
    by : array-like of shape (n_samples,)
        Segment of each row.
    n_permutations : int, default=999
        Number of permutations; the least p-value is ``1 / (n_permutations + 1)``.
    random_state : int, RandomState instance or None, default=None
        Seed of the permutations.
    **metric_params
        Parameters of the measure.

    Returns
    -------
    SegmentGap
        With ``segments``, ``values``, ``difference``, ``statistic`` and ``p_value``.

    Examples
    --------
    >>> import numpy as np
    >>> from aucuba.metrics import largest_gap
    >>> rng = np.random.default_rng(0)
    >>> y, region = np.arange(900) % 3 == 0, np.repeat(["east", "north", "south"], 300)
    >>> score = rng.normal(size=900) + np.where(region == "south", 0.5, 1.5) * y
    >>> print(largest_gap("auc", y, score, by=region, random_state=0))
    north - south: 0.8652 - 0.5784 = +0.2869, p = 0.001 (999 permutations)
    """
    n_draws = int(check_positive_number(n_permutations, "n_permutations", integer=True))
    scores = [y_score] if y_score_b is None else [y_score, y_score_b]
    options = {"pos_label": pos_label, "groups": groups, "sample_weight": sample_weight}
    study = make_study(metric, metric_params, y_true, scores, weight_kind=weight_kind, **options)
    segments = _copied(Segments.split(study, by, sample_weight))
    if len(segments.names) < 2:
        raise ValueError(f"by names one segment ({segments.names[0]!r}); a gap needs two.")
    seen = _Spread(segments)
    statistic = seen.statistic
    if not np.isfinite(seen.values).sum() > 1:
        raise ValueError(
            "Fewer than two segments have the rows that the measure needs, so there is no gap."
        )
    rng, permuted = check_random_state(random_state), _Permutations(segments)
    n_beyond = 0
    for _ in range(n_draws):
        drawn = _Spread(replace(segments, index=permuted.draw(rng)))
        n_beyond += drawn.statistic >= statistic * (1 - _ROUNDING)
    first, second = seen.pair
    values = float(seen.values[first]), float(seen.values[second])
    return SegmentGap(
        segments=(segments.names[first], segments.names[second]),
        values=values,
        difference=values[0] - values[1],
        statistic=statistic,
        p_value=(n_beyond + 1) / (n_draws + 1),
        n_permutations=n_draws,
    )


def _copied(segments: Segments) -> Segments:
    """Repeat rows that stand for several, since each copy may get another label."""
    study = segments.study
    weight = study.samples[0].weight
    if not study.frequency or weight is None:
        return segments
    rows = np.repeat(np.arange(weight.size), weight.astype(np.intp))
    samples = [replace(one.take(rows), weight=None) for one in study.samples]
    group = None if study.group is None else study.group[rows]
    study = replace(study, samples=samples, group=group, frequency=False)
    return replace(segments, study=study, index=segments.index[rows])


class _Permutations:
    """Labels of segments permuted among the rows that count, with groups whole."""

    def __init__(self, segments: Segments) -> None:
        study = segments.study
        self._index, self._group = segments.index, study.group
        counted = _counted(study)
        n_rows = self._index.size
        stratum = np.zeros(n_rows, dtype=np.intp)
        if not study.measure.is_rate and study.measure.sampling == "by_class":
            stratum = study.samples[0].y
        nested = np.zeros(n_rows, dtype=bool)
        if self._group is not None:
            size = np.bincount(self._group)
            first = np.full(size.size, n_rows, dtype=np.intp)
            np.minimum.at(first, self._group, self._index)
            last = np.zeros(size.size, dtype=np.intp)
            np.maximum.at(last, self._group, self._index)
            # A group moves whole if all of its rows lie in one segment; another permutes inside.
            is_nested = first == last
            nested = is_nested[self._group]
            counts = np.bincount(self._group, counted) > 0
            self._whole, self._label = np.flatnonzero(is_nested & counts), first
            stratum = stratum + 2 * self._group
        inside = np.flatnonzero(counted & ~nested)
        self._nested = np.flatnonzero(nested & counted)
        self._inside = inside[np.argsort(stratum[inside], kind="stable")]
        self._stratum = stratum[self._inside]

    def draw(self, rng: np.random.RandomState) -> IntArray:
        """Return one permutation of the labels."""
        index = self._index.copy()
        shuffled = np.lexsort((rng.random_sample(self._inside.size), self._stratum))
        index[self._inside] = self._index[self._inside[shuffled]]
        if self._nested.size:
            assert self._group is not None
            label = self._label.copy()
            label[self._whole] = rng.permutation(label[self._whole])
            index[self._nested] = label[self._group[self._nested]]
        return index


def _counted(study: Study) -> BoolArray:
    """Tell which rows a rate is a rate of, for any scorer; all rows for other measures."""
    if not study.measure.is_rate:
        return np.ones(study.samples[0].n_rows, dtype=bool)
    rate, threshold = (study.measure.params[name] for name in ("rate", "threshold"))
    behind = [rows_behind(one, rate, threshold) for one in study.samples]
    return np.asarray(np.any(behind, axis=0))


@dataclass(frozen=True)
class _Spread:
    """Values of all segments and their standard errors."""

    segments: Segments

    @cached_property
    def values(self) -> FloatArray:
        values = [
            [value_of(part, scorer) for scorer in range(len(part.samples))]
            for part in self.segments.parts
        ]
        first, *others = np.array(values).T
        return np.asarray(first - others[0] if others else first)

    @cached_property
    def _variances(self) -> FloatArray:
        """Squared standard errors, to first order; the spread is shared with the other segments."""
        n_parts = len(self.segments.names)
        known = [
            _units(part) if np.isfinite(value) else []
            for part, value in zip(self.segments.parts, self.values, strict=True)
        ]
        variances = np.zeros(n_parts)
        # By class where rows are drawn by class, else over all units.
        for place in range(max(map(len, known))):
            found = np.array([one[place] if one else (0.0, 0.0) for one in known])
            squares, n = found.T
            free = np.maximum(n - 1.0, 0.0)
            shared = squares.sum() / max(free.sum(), 1.0)
            spread = (squares + _SHARED_ROWS * shared) / (free + _SHARED_ROWS)
            variances += np.where(n > 0, spread / np.where(n > 0, n, 1.0), 0.0)
        return variances

    @cached_property
    def _apart(self) -> FloatArray:
        """Difference of every two segments in standard errors; 0 where one has no value."""
        difference = self.values[:, np.newaxis] - self.values
        variance = self._variances[:, np.newaxis] + self._variances
        known = np.isfinite(difference) & (variance > 0)
        return np.where(known, difference, 0.0) / np.sqrt(np.where(known, variance, 1.0))

    @property
    def statistic(self) -> float:
        return float(self._apart.max())

    @property
    def pair(self) -> tuple[int, int]:
        first, second = np.unravel_index(np.argmax(self._apart), self._apart.shape)
        return int(first), int(second)


def _units(part: Study) -> list[tuple[float, float]]:
    r"""Sums of squares of the units of a segment and their number, per class or over all.

    With n units of influences :math:`c_i` the first is :math:`\sum (c_i - \bar c)^2`, so that its
    quotient by n (n - 1) is the squared standard error.
    """
    one = part.samples[0]
    terms = [_terms(part, scorer) for scorer in range(len(part.samples))]
    term = terms[0] - terms[1] if len(terms) > 1 else terms[0]
    if part.group is not None:
        sums = np.bincount(part.group, term)
        return [(float(np.sum(sums**2)) * sums.size**2, float(sums.size))]
    if part.measure.is_rate:
        groups = [_counted(part)]
    elif part.measure.effects is None and part.measure.sampling == "by_class":
        groups = [one.positive, ~one.positive]
    else:
        groups = [np.ones(one.n_rows, dtype=bool)]
    found = []
    for rows in groups:
        if not rows.any():
            found.append((0.0, 0.0))
            continue
        weight = one.weights[rows]
        n = effective_rows(weight)
        found.append((float(np.sum(term[rows] ** 2)) * n**2, n))
    return found


def _terms(part: Study, scorer: int) -> FloatArray:
    """First-order effect of every row on a value; equal effects where the measure has none."""
    one, measure = part.samples[scorer], part.measure
    if measure.region is not None:
        return row_terms(one, part.influences[scorer])
    if measure.effects is not None:
        return measure.effects(one)
    if not measure.is_rate:
        # Up to a factor that all segments share.
        return np.asarray(one.weights / one.weights.sum())
    rate, threshold = measure.params["rate"], measure.params["threshold"]
    rows = rows_behind(one, rate, threshold)
    hit = {
        "tpr": one.score >= threshold,
        "fpr": one.score >= threshold,
        "alert_rate": one.score >= threshold,
        "specificity": one.score < threshold,
        "precision": one.positive,
        "npv": ~one.positive,
    }[rate]
    total = one.weights[rows].sum()
    return np.where(rows, one.weights * (hit - measure.value(one)), 0.0) / (total or 1.0)
