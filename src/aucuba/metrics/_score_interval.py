"""Values with intervals: of one scorer, or one per segment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, overload

from aucuba._base._tables import TabularResult
from aucuba._base._typing import ArrayLike
from aucuba._base._validation import check_choice
from aucuba.metrics._intervals import ScoreInterval, interval_of
from aucuba.metrics._segments import Segments, is_measurable, value_of
from aucuba.metrics._study import check_draws, check_level, make_study

_SIDES = ("two-sided", "greater", "less")


@dataclass(frozen=True)
class NamedInterval(ScoreInterval):
    """The interval of one segment or class, with its name and its numbers of rows."""

    name: Any = None
    n_rows: int = 0
    n_positives: int = 0
    unit: str = "segment"


class ScoreIntervals(TabularResult, tuple[NamedInterval, ...]):
    """Values with intervals, one per segment or class; printed as a table.

    ``to_frame()`` returns a pandas DataFrame, and a notebook shows the table by itself.

    Each entry has ``name``, ``n_rows``, ``n_positives`` and what a `ScoreInterval` has. The intervals
    hold jointly: ``confidence`` of an entry is the level of that interval alone.
    """

    __slots__ = ()

    def table_rows(self) -> list[dict[str, Any]]:
        """Return one mapping of names to values per segment or class."""
        return [
            {
                one.unit: one.name,
                "rows": one.n_rows,
                "positives": one.n_positives,
                "value": one.value,
                "low": one.low,
                "high": one.high,
            }
            for one in self
        ]

    def __str__(self) -> str:
        return self._text()


@overload
def score_interval(
    metric: str | Callable[..., float],
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    by: None = None,
    **options: Any,
) -> ScoreInterval: ...
@overload
def score_interval(
    metric: str | Callable[..., float],
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    by: ArrayLike,
    **options: Any,
) -> ScoreIntervals: ...
def score_interval(
    metric: str | Callable[..., float],
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    by: ArrayLike | None = None,
    pos_label: Any = None,
    qid: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    weight_kind: str = "sampling",
    confidence: float = 0.95,
    method: str = "auto",
    sampling: str = "auto",
    alternative: str = "two-sided",
    n_resamples: int = 2000,
    random_state: Any = None,
    **metric_params: Any,
) -> ScoreInterval | ScoreIntervals:
    r"""Estimate any measure with a confidence interval.

    Parameters
    ----------
    metric : str or callable
        Name of a measure without ``_score``: ``"partial_auc"``, ``"tpr_at_fpr"``, ``"bedroc"``, ...;
        ``"rate_at_threshold"`` with ``rate=`` (``"tpr"``, ``"fpr"``, ``"specificity"``,
        ``"precision"``, ``"npv"``, ``"alert_rate"``) and ``threshold=``; or a function
        ``f(y_true, y_score, *, sample_weight, **params)`` of the ROC curve (bootstrap only).
    y_true, y_score, pos_label
        As in `partial_auc_score`.
    by : array-like of shape (n_samples,), default=None
        Segment of each row (a region, a device, an age group): one value and interval per segment. The
        intervals hold jointly with ``confidence``: each has the level ``confidence ** (1 / K)`` of K
        segments, or ``1 - (1 - confidence) / K`` where groups cross them. Small segments stay, with
        wide intervals. `largest_gap` tests whether segments differ.
    qid : array-like of shape (n_samples,), default=None
        Query of each row. The value is a mean over queries, and queries are what is drawn.
    groups : array-like of shape (n_samples,), default=None
        Group of each row (a patient, an account), in statistics a cluster: rows of one group may depend
        on each other, and whole groups are drawn.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows. A drawn row keeps its weight.
    weight_kind : {"sampling", "frequency"}, default="sampling"
        Whether a row is one independent unit whatever its weight, or as many equal rows.
    confidence : float, default=0.95
        Coverage of the interval, in (0, 1).
    method : str, default="auto"
        ``"wilson"``: the values that a test would not reject, with the variance that they imply
        themselves, which also holds for very good scorers; areas of the ROC curve need no resamples
        for it. ``"delong"``: standard errors from placement values on either side, for areas
        (``"normal"`` is an alias); with ``qid`` or ``groups`` Student's t over the units.
        ``"bootstrap"``: percentiles. ``"bca"``: percentiles corrected for bias and skewness, for smooth
        measures. ``"exact"`` (Clopper-Pearson, of effective rows if weighted): for
        ``"rate_at_threshold"``. ``"conservative"``: for ``"tpr_at_fpr"``, order statistics of the
        threshold and binomial bounds of the TPR. ``"influence"``: standard errors from the first-order
        effects of the rows, for smooth measures that are not areas. ``"simultaneous"``: for the best of
        all thresholds (``"youden"``, ...), a band that holds at all of them. The result names the
        method that ``"auto"`` chose.
    sampling : {"auto", "by_class", "random"}, default="auto"
        Whether a fresh sample has the same numbers of positives and negatives, or random rows, so that
        the prevalence is uncertain too. "auto": by class for measures of the ROC curve alone.
    alternative : {"two-sided", "greater", "less"}, default="two-sided"
        "greater" gives a lower bound only, "less" an upper bound.
    n_resamples : int, default=2000
        Number of bootstrap samples.
    random_state : int, RandomState instance or None, default=None
        Seed of the resampling.
    **metric_params
        Parameters of the measure, such as ``fpr_range=(0, 0.05)``; for those that depend on the
        prevalence ``target_prevalence=``, which assumes label shift (see `rates_at_threshold`).

    Returns
    -------
    ScoreInterval
        With ``value``, ``low``, ``high``, ``method`` and ``sampling``; with ``by`` a `ScoreIntervals`
        of such entries, one per segment.

    Examples
    --------
    >>> import numpy as np
    >>> from aucuba.metrics import score_interval
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], [900, 100])
    >>> score = rng.normal(size=1000) + 2 * y
    >>> print(score_interval("tpr_at_fpr", y, score, fpr=0.05, random_state=0))
    0.6100 [0.4700, 0.7259] (95% interval, wilson)

    By segment:

    >>> print(score_interval("auc", y, score, by=np.where(np.arange(1000) % 3, "north", "south")))
    segment  rows  positives   value     low    high
    north     666         66  0.9067  0.8560  0.9403
    south     334         34  0.8934  0.7915  0.9479
    """
    level = check_level(confidence)
    n_draws = check_draws(n_resamples)
    check_choice(alternative, "alternative", _SIDES)
    study = make_study(
        metric,
        metric_params,
        y_true,
        [y_score],
        sample_weight=sample_weight,
        qid=qid,
        groups=groups,
        pos_label=pos_label,
        sampling=sampling,
        weight_kind=weight_kind,
    )
    design = alternative, n_draws, random_state
    if by is not None:
        segments = Segments.split(study, by, sample_weight)
        segments.warn_if_few()
        return intervals_by_segment(segments, level, method, *design)
    study.warn_if_few()
    chosen = study.choose(method)
    study.warn_if_few_for(chosen)
    return interval_of(study, level, chosen, *design)


def intervals_by_segment(
    segments: Segments,
    confidence: float,
    method: str = "auto",
    alternative: str = "two-sided",
    n_resamples: int = 2000,
    random_state: Any = None,
) -> ScoreIntervals:
    """Compute one interval per segment, which hold jointly."""
    design = alternative, n_resamples, random_state
    level, found = segments.level(confidence), []
    for number, part in enumerate(segments.parts):
        if is_measurable(part):
            interval = interval_of(part, level, part.choose(method), *design)
        else:
            # Nothing is known, and the whole range says so.
            limits = value_of(part), *part.measure.limits
            interval = ScoreInterval(*limits, level, 0, "none", part.sampling, alternative)
        found.append(NamedInterval(**vars(interval), **segments.described(number)))
    return ScoreIntervals(found)
