"""The threshold that keeps a limit: for all rows, or one per segment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, overload

import numpy as np

from aucuba._base._tables import TabularResult
from aucuba._base._typing import ArrayLike
from aucuba._base._validation import check_choice
from aucuba._roc._curve import roc_curve
from aucuba._roc._prevalence import curve_at_prevalence, target_range
from aucuba._rows._sample import RankingSample
from aucuba.metrics._intervals import ScoreInterval
from aucuba.metrics._measures import bind
from aucuba.metrics._operating_points import OperatingPoint, point_at, vertex_keeping
from aucuba.metrics._score_interval import intervals_by_segment
from aucuba.metrics._segments import Segments, is_measurable
from aucuba.metrics._study import check_level, make_study

_RATES = ("fpr", "tpr", "precision")
# By the limit of a threshold: the rate that is then uncertain, its measure, and the parameters of that.
_UNCERTAIN: dict[str, tuple[str, str, dict[str, Any]]] = {
    "fpr": ("tpr", "tpr_at_fpr", {"attainable": True}),
    "tpr": ("fpr", "fpr_at_tpr", {"attainable": True}),
    "precision": ("tpr", "recall_at_precision", {}),
    "k": ("precision", "precision_at_k", {}),
}


@dataclass(frozen=True)
class SegmentPoint(OperatingPoint):
    """The operating point of one segment, with the intervals of its rates by their names."""

    name: Any = None
    n_rows: int = 0
    n_positives: int = 0
    intervals: Mapping[str, ScoreInterval] = field(default_factory=dict)


class OperatingPoints(TabularResult, tuple[SegmentPoint, ...]):
    """Thresholds and what they do, one per segment; printed as a table.

    ``to_frame()`` returns a pandas DataFrame, and a notebook shows the table by itself. Each entry has
    ``name``, ``n_rows``, ``n_positives``, what an `OperatingPoint` has, and ``intervals`` of rates.
    """

    __slots__ = ()

    def table_rows(self) -> list[dict[str, Any]]:
        """Return one mapping of names to values per segment."""
        rows = []
        for one in self:
            row = {"segment": one.name, "rows": one.n_rows, "positives": one.n_positives}
            row |= {"threshold": one.threshold, "flagged": one.n_flagged}
            for rate in _RATES:
                row[rate] = getattr(one, rate)
                if rate in one.intervals:
                    limits = one.intervals[rate]
                    row |= {f"{rate} low": limits.low, f"{rate} high": limits.high}
            rows.append(row)
        return rows

    def __str__(self) -> str:
        return self._text()


@overload
def operating_point(
    y_true: ArrayLike, y_score: ArrayLike, *, by: None = None, **options: Any
) -> OperatingPoint: ...
@overload
def operating_point(
    y_true: ArrayLike, y_score: ArrayLike, *, by: ArrayLike, **options: Any
) -> OperatingPoints: ...
def operating_point(  # type: ignore[misc]  # The overloads leave the other parameters out.
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    fpr: float | None = None,
    tpr: float | None = None,
    precision: float | None = None,
    k: int | None = None,
    by: ArrayLike | None = None,
    thresholds: str = "shared",
    target_prevalence: Any = None,
    sample_weight: ArrayLike | None = None,
    weight_kind: str = "sampling",
    groups: ArrayLike | None = None,
    pos_label: Any = None,
    confidence: float = 0.95,
    random_state: Any = None,
) -> OperatingPoint | OperatingPoints:
    """Find the threshold that keeps one limit, and its rates on these rows.

    Only thresholds that exist count: rows of equal score are flagged together or not at all. A
    threshold chosen and measured on the same rows is optimistic; for a promise about new rows see
    `aucuba.FixedFPRClassifier`.

    Parameters
    ----------
    y_true, y_score, sample_weight, pos_label
        As in `partial_auc_score`.
    fpr : float, default=None
        Lowest threshold whose false positive rate is at most this.
    tpr : float, default=None
        Highest threshold whose true positive rate is at least this.
    precision : float, default=None
        Lowest threshold whose precision is at least this.
    k : int, default=None
        Lowest threshold that flags at most this many rows (with weights: this much weight).
    by : array-like of shape (n_samples,), default=None
        Segment of each row: one operating point per segment, with intervals that hold jointly as in
        `score_interval`.
    thresholds : {"shared", "per_stratum"}, default="shared"
        With ``by``: one threshold, which keeps the limit on all rows together, and the rates of every
        segment there, with exact intervals at that threshold; or a threshold per segment, which keeps
        the limit in each, with an interval of the rate that the limit leaves open.
    target_prevalence : float or pair of float, default=None
        As in `rates_at_threshold`, without ``by``. ``precision`` is that at the lower end of an
        interval; ``n_flagged`` counts as many rows as these, at the end where more are flagged.
    weight_kind, groups, confidence, random_state
        As in `score_interval`, for the intervals by segment.

    Returns
    -------
    OperatingPoint
        With ``threshold``, ``fpr``, ``tpr``, ``precision`` and ``n_flagged``; with ``by`` an
        `OperatingPoints` of such entries, one per segment.

    Examples
    --------
    >>> from aucuba.metrics import operating_point
    >>> point = operating_point([0, 1, 0, 1], [1, 2, 3, 4], fpr=0.0)
    >>> point.threshold, point.tpr, point.n_flagged
    (4.0, 0.5, 1.0)
    """
    limits = {"fpr": fpr, "tpr": tpr, "precision": precision, "k": k}
    given = [name for name, limit in limits.items() if limit is not None]
    if len(given) != 1:
        raise ValueError(
            f"operating_point takes exactly one of fpr, tpr, precision and k, got {given or 'none'}."
        )
    limit = given[0], limits[given[0]]
    check_choice(thresholds, "thresholds", ("shared", "per_stratum"))
    if by is None:
        if groups is not None:
            raise ValueError(
                "groups enter the intervals by segment; give by=, or leave groups out."
            )
        sample = RankingSample.from_arrays(y_true, y_score, sample_weight, None, pos_label)
        return _point(sample, *limit, target_prevalence)
    if target_prevalence is not None:
        raise ValueError("target_prevalence is about all rows and cannot be given with by.")
    options = {"sample_weight": sample_weight, "groups": groups, "pos_label": pos_label}
    # The measure is set later; this one takes any rows.
    study = make_study("auc", {}, y_true, [y_score], weight_kind=weight_kind, **options)
    segments = Segments.split(study, by, sample_weight)
    segments.warn_if_few()
    of_limit = _shared if thresholds == "shared" else _per_stratum
    return OperatingPoints(of_limit(segments, *limit, check_level(confidence), random_state))


def _point(
    sample: RankingSample, name: str, limit: Any, target_prevalence: Any = None
) -> OperatingPoint:
    curves = [roc_curve(sample)]
    if target_prevalence is not None:
        curves = [curve_at_prevalence(curves[0], end) for end in target_range(target_prevalence)]
    vertex = min(vertex_keeping(one, name, limit, sample.n_rows) for one in curves)
    points = [point_at(one, vertex) for one in curves]
    return replace(points[0], n_flagged=max(one.n_flagged for one in points))


def _shared(
    segments: Segments, name: str, limit: Any, confidence: float, random_state: Any
) -> list[SegmentPoint]:
    """Choose one threshold on all rows, and measure every segment there."""
    threshold = _point(segments.study.samples[0], name, limit).threshold
    tables = {
        rate: intervals_by_segment(
            _measured(segments, "rate_at_threshold", rate=rate, threshold=threshold),
            confidence,
            random_state=random_state,
        )
        for rate in _RATES
    }
    found = []
    for number, part in enumerate(segments.parts):
        one = part.samples[0]
        intervals = {rate: tables[rate][number] for rate in _RATES}
        rates = {rate: interval.value for rate, interval in intervals.items()}
        flagged = float(one.weights[one.score >= threshold].sum())
        point = OperatingPoint(threshold=threshold, n_flagged=flagged, **rates)
        about = segments.described(number)
        found.append(SegmentPoint(**vars(point), **about, intervals=intervals))
    return found


def _per_stratum(
    segments: Segments, name: str, limit: Any, confidence: float, random_state: Any
) -> list[SegmentPoint]:
    """Choose a threshold in every segment."""
    rate, measure, params = _UNCERTAIN[name]
    measured = _measured(segments, measure, **{name: limit}, **params)
    table = intervals_by_segment(measured, confidence, random_state=random_state)
    found = []
    for part, interval in zip(segments.parts, table, strict=True):
        point = OperatingPoint(np.nan, np.nan, np.nan, np.nan, np.nan)
        if is_measurable(part):
            point = _point(part.samples[0], name, limit)
        about = {one: getattr(interval, one) for one in ("name", "n_rows", "n_positives")}
        found.append(SegmentPoint(**vars(point), **about, intervals={rate: interval}))
    return found


def _measured(segments: Segments, name: str, **params: Any) -> Segments:
    """Return the segments with another measure and the sampling that it asks for."""
    measure, study = bind(name, params), segments.study
    unit = study.sampling if study.group is not None else measure.sampling
    return replace(segments, study=replace(study, measure=measure, sampling=unit))
