"""Measures of more than two classes or of several labels: one against the rest, or pair by pair."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from aucuba._base._arrays import on_host
from aucuba._base._typing import ArrayLike, FloatArray, IntArray
from aucuba._base._validation import check_choice, finite_scores, identifiers, row_weights
from aucuba._roc._runs import Runs
from aucuba._rows._sample import RankingSample, Sample
from aucuba.metrics._intervals import ScoreInterval, interval_of
from aucuba.metrics._measures import bind
from aucuba.metrics._resampling import Draw
from aucuba.metrics._score_interval import NamedInterval, ScoreIntervals
from aucuba.metrics._study import NO_SPREAD, Study, check_draws, check_level, count_copies

AVERAGES = (None, "macro", "weighted")
_MOST_TRIES = 1000


@dataclass(frozen=True)
class _Problem:
    """One class against others: its name, the rows that count, and the share that it averages with."""

    name: Any
    rows: IntArray
    sample: RankingSample
    share: float


def score_by_class(
    metric: str,
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    average: str | None = None,
    multi_class: str = "ovr",
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    weight_kind: str = "sampling",
    confidence: float = 0.95,
    n_resamples: int = 1000,
    random_state: Any = None,
    **metric_params: Any,
) -> ScoreInterval | ScoreIntervals:
    """Measure every class or label with an interval, or their average.

    Parameters
    ----------
    metric, sample_weight, weight_kind, confidence, random_state, **metric_params
        As in `score_interval`.
    y_true : array-like of shape (n_samples,) or (n_samples, n_labels)
        Classes; or for several labels per row an indicator of 0 and 1, with NaN where a label is not
        known: such a row does not count for that label.
    y_score : array-like of shape (n_samples, n_classes)
        A column of scores per class or label.
    average : {None, "macro", "weighted"}, default=None
        One entry per class; or their mean, plain or by the weights of the classes.
    multi_class : {"ovr", "ovo"}, default="ovr"
        Every class against all others; or against every other one by the scores of the first (Hand
        and Till), one entry per ordered pair.
    labels : array-like of shape (n_classes,), default=None
        Names of the columns; the sorted classes by default.
    n_resamples : int, default=1000
        For an average: rows are resampled once for all classes, since their values depend on the same
        rows.

    Returns
    -------
    ScoreIntervals or ScoreInterval
        Intervals of classes hold jointly (Bonferroni). That of an average of best values over all
        thresholds (``"youden"``, ...), and of one that no resample moves, is the average of theirs: it
        holds whatever the classes have in common, and is wider than it would have to be.
        Percentiles of resamples are too narrow for nearly perfect scorers; the intervals per class
        are not.

    Examples
    --------
    >>> import numpy as np
    >>> from aucuba.metrics import score_by_class
    >>> rng = np.random.default_rng(0)
    >>> y = rng.choice(["cat", "dog", "owl"], size=600)
    >>> score = rng.normal(size=(600, 3)) + 1.5 * (y[:, None] == ["cat", "dog", "owl"])
    >>> print(score_by_class("partial_auc", y, score, fpr_range=(0, 0.2)))
    class  rows  positives   value     low    high
    cat     600        188  0.5055  0.4124  0.5981
    dog     600        189  0.5573  0.4634  0.6467
    owl     600        223  0.5172  0.4254  0.6073
    >>> print(score_by_class("auc", y, score, average="macro", random_state=0))
    0.8440 [0.8239, 0.8619] (95% interval, bootstrap)
    """
    check_choice(multi_class, "multi_class", ("ovr", "ovo"))
    if average not in AVERAGES:
        raise ValueError(f"average must be one of {AVERAGES}, got {average!r}.")
    measure, level = bind(metric, metric_params), check_level(confidence)
    n_draws = check_draws(n_resamples)
    problems, weight = _problems(y_true, y_score, multi_class, labels, sample_weight)
    frequency = count_copies(weight_kind, weight)
    studies = [
        Study(measure, [one.sample], measure.sampling, frequency=frequency) for one in problems
    ]
    if average is not None:
        shares = np.array([one.share if average == "weighted" else 1.0 for one in problems])
        shares /= shares.sum()
        # Resamples of the best of all thresholds are as biased as the value.
        if measure.at_vertices is None:
            drawn = _resampled(problems, studies, weight, n_draws, random_state)
            mean = _mean_of(studies, shares, drawn @ shares, level)
            if mean is not None:
                return mean
    # Classes share rows, so that only Bonferroni's bound is safe.
    jointly, found = 1 - (1 - level) / len(problems), []
    for one, study in zip(problems, studies, strict=True):
        method = study.choose("auto")
        interval = interval_of(study, jointly, method, "two-sided", n_draws, random_state)
        size = one.sample.weights if frequency else np.ones(one.sample.n_rows)
        about = {"n_rows": round(size.sum()), "n_positives": round(size[one.sample.positive].sum())}
        found.append(NamedInterval(**vars(interval), **about, name=one.name, unit="class"))
    if average is None:
        return ScoreIntervals(found)
    first = found[0]
    value, low, high = (
        float(shares @ [getattr(one, end) for one in found]) for end in ("value", "low", "high")
    )
    return ScoreInterval(value, low, high, level, first.n_resamples, first.method, first.sampling)


def _mean_of(
    studies: list[Study], shares: FloatArray, drawn: FloatArray, level: float
) -> ScoreInterval | None:
    """Return the mean with percentiles of its resamples; None if they are all equal."""
    if np.ptp(drawn) <= NO_SPREAD:
        return None
    measure, value = studies[0].measure, float(shares @ [study.values[0] for study in studies])
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2], method="weibull")
    if measure.bias is not None:
        # As in one class: resamples around the value without its excess, of which each limit allows
        # for the estimate that moves it outwards.
        least, most = shares @ [study.excess() for study in studies]
        moved = value - drawn.mean()
        low, high = low + moved - most, high + moved - least
    low, high = max(measure.limits[0], min(low, value)), min(measure.limits[1], max(high, value))
    return ScoreInterval(value, float(low), float(high), level, drawn.size, "bootstrap", "random")


def _problems(
    y_true: ArrayLike,
    y_score: ArrayLike,
    multi_class: str,
    labels: ArrayLike | None,
    sample_weight: ArrayLike | None,
) -> tuple[list[_Problem], FloatArray | None]:
    """Return every class, or ordered pair of classes, as rows of two classes; and all weights."""
    score: FloatArray = np.asarray(on_host(y_score))
    if score.ndim != 2:
        raise ValueError(f"y_score must have one column per class, got shape {score.shape}.")
    score = finite_scores(score.reshape(-1)).reshape(len(score), -1)
    weight = row_weights(on_host(sample_weight), len(score))
    given = np.asarray(on_host(y_true))
    if given.ndim == 2:
        if multi_class == "ovo":
            raise ValueError("multi_class='ovo' is for one class per row, not for several labels.")
        return _of_indicator(given, score, labels, weight), weight
    known = identifiers(given, "y_true", len(score))
    names = np.unique(known) if labels is None else np.asarray(labels)
    strange = set(np.unique(known).tolist()) - set(names.tolist())
    n_columns = len(score.T)
    if names.size != n_columns or strange:
        raise ValueError(
            f"y_score has {n_columns} columns for the classes {names.tolist()}"
            f"{f' and y_true also has {sorted(strange)}' if strange else ''}; name the columns by "
            "labels."
        )
    found, every = [], np.arange(len(score))
    places = list(enumerate(names.tolist()))
    if multi_class == "ovr":
        found = [_problem(name, every, known == name, score[:, k], weight) for k, name in places]
        return found, weight
    for (k, name), (_, other) in permutations(places, 2):
        rows = np.flatnonzero((known == name) | (known == other))
        found.append(_problem((name, other), rows, known[rows] == name, score[rows, k], weight))
    return found, weight


def _of_indicator(
    given: Any, score: FloatArray, labels: ArrayLike | None, weight: FloatArray | None
) -> list[_Problem]:
    """Return the problems of several labels per row, without the rows that lack a label."""
    indicator = given.astype(np.float64)
    names = list(range(score.shape[1])) if labels is None else list(np.asarray(labels).tolist())
    known = ~np.isnan(indicator)
    if indicator.shape != score.shape or len(names) != score.shape[1]:
        raise ValueError(
            f"y_true has shape {indicator.shape} and y_score {score.shape}, for {len(names)} labels."
        )
    if not np.isin(indicator[known], (0.0, 1.0)).all():
        raise ValueError("With several labels per row, y_true must hold 0, 1 or NaN.")
    found = []
    for k, name in enumerate(names):
        rows = np.flatnonzero(known[:, k])
        found.append(_problem(name, rows, indicator[rows, k] == 1, score[rows, k], weight))
    return found


def _problem(
    name: Any, rows: IntArray, positive: Any, score: FloatArray, weight: FloatArray | None
) -> _Problem:
    if weight is not None:
        kept = weight[rows] > 0
        rows, positive, score = rows[kept], positive[kept], score[kept]
    if positive.all() or not positive.any():
        raise ValueError(
            f"{name!r} has {'no negative' if positive.all() else 'no positive'} row among those that "
            "count; leave it out."
        )
    sample = RankingSample(positive, None if weight is None else weight[rows], score=score)
    # A pair counts by the rows of both classes, as in scikit-learn.
    share = (
        float(sample.weights.sum())
        if isinstance(name, tuple)
        else sample.class_weight(positive=True)
    )
    return _Problem(name, rows, sample, share)


def _resampled(
    problems: list[_Problem],
    studies: list[Study],
    weight: FloatArray | None,
    n_draws: int,
    random_state: Any,
) -> FloatArray:
    """Compute the values of all problems on common resamples of the rows, one row per resample."""
    measure, rng = studies[0].measure, check_random_state(random_state)
    n_rows = max(int(one.rows[-1]) for one in problems) + 1 if weight is None else weight.size
    kept = np.arange(n_rows) if weight is None else np.flatnonzero(weight)
    rows = Sample(np.zeros(kept.size, dtype=bool), None if weight is None else weight[kept])
    draw = Draw(rows, by_class=False, frequency=studies[0].frequency)
    runs = [Runs.from_sample(one.sample, measure.cuts, measure.steps) for one in problems]
    found: list[list[float]] = []
    size = np.zeros(n_rows)
    for _ in range(n_draws + _MOST_TRIES):
        size[kept] = draw.weights(np.uint64(rng.randint(2**64, dtype=np.uint64)))
        values = []
        for one, run in zip(problems, runs, strict=True):
            totals = np.bincount(run.slot, size[one.rows], 2 * run.n_runs).astype(np.float64)
            if not totals.reshape(2, -1).any(axis=1).all():
                break
            values.append(float(measure.of_curve(run.curves(totals), one.rows.size)))
        if len(values) == len(problems):
            found.append(values)
        if len(found) == n_draws:
            return np.array(found)
    raise ValueError("Too many resamples lack a class; more rows of the rarest class are needed.")
