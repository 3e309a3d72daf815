"""Limits of a value by every method."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import expit, ndtr
from scipy.stats import norm

from aucuba._base._typing import FloatArray
from aucuba._roc._prevalence import curve_through
from aucuba.metrics._best_of_thresholds import best_limits, limits_at_threshold
from aucuba.metrics._measures import bind
from aucuba.metrics._normal_model import NormalModel
from aucuba.metrics._rate_limits import (
    conservative_limits,
    limits_of_grouped_rate,
    limits_of_rate,
    limits_of_two_rates,
)
from aucuba.metrics._roc_measure import RocMeasure
from aucuba.metrics._study import NO_SPREAD, Study


@dataclass(frozen=True)
class ScoreInterval:
    """A value with an interval, and how it was found.

    ``n_resamples`` is 0 where nothing was resampled; ``method`` and ``sampling`` name what was used.
    ``about`` says which rows the value is about where that is not plain: those of an audit's plan.
    With ``alternative`` "greater" or "less" one limit is that of the measure itself, and the other has
    the whole error beyond it.
    """

    value: float
    low: float
    high: float
    confidence: float
    n_resamples: int
    method: str = "bootstrap"
    sampling: str = "by_class"
    alternative: str = "two-sided"
    about: str = ""

    def __str__(self) -> str:
        if self.alternative == "two-sided":
            limits = f"[{self.low:.4f}, {self.high:.4f}] ({self.confidence:.0%} interval"
        else:
            bound = f"> {self.low:.4f}" if self.alternative == "greater" else f"< {self.high:.4f}"
            limits = f"{bound} (one-sided {self.confidence:.0%} limit"
        about = f"; {self.about}" if self.about else ""
        return f"{self.value:.4f} {limits}, {self.method}{about})"


def interval_of(
    study: Study,
    confidence: float,
    method: str,
    alternative: str,
    n_resamples: int,
    random_state: Any,
) -> ScoreInterval:
    """Compute the interval of a study's first scorer by a method that `Study.choose` has returned."""
    value = float(study.values[0])
    tails = (1 - confidence) / (2 if alternative == "two-sided" else 1)
    drawn = n_resamples, random_state
    if study.measure.is_rate and study.measure.prevalence is not None and method != "bootstrap":
        low, high, used = _limits_at_prevalence(study, method, tails, *drawn)
    else:
        low, high, used = _drawn_limits(study, method, tails, *drawn)
    floor, ceiling = study.measure.limits
    low = floor if alternative == "less" else max(floor, min(low, value))
    high = ceiling if alternative == "greater" else min(ceiling, max(high, value))
    return ScoreInterval(value, low, high, confidence, used, method, study.sampling, alternative)


def _drawn_limits(
    study: Study, method: str, tail: float, n_draws: int, random_state: Any
) -> tuple[float, float, int]:
    """Return the limits, and the number of resamples that they took."""
    draws, used = None, 0
    if method == "simultaneous":
        low, high = best_limits(study, tail, n_draws, random_state)
        if high - low <= NO_SPREAD:
            value = float(study.values[0])
            low, high = _without_spread(study.measure, study.fewest, value, tail)
        return low, high, n_draws
    if needs_draws(study, method):
        draws, used = study.resampled(n_draws, random_state)[0], n_draws
    return *limits(study, method, float(study.values[0]), tail, draws), used


def _limits_at_prevalence(
    study: Study, method: str, tail: float, n_draws: int = 0, random_state: Any = None
) -> tuple[float, float, int]:
    """Limits of a rate that mixes two classes, from limits of TPR and FPR with half of the error each.

    The classes are independent, and a rate at a known prevalence is monotone in both.
    """
    params, found = study.measure.params, []
    for rate in ("tpr", "fpr"):
        part = replace(study, measure=bind("rate_at_threshold", {**params, "rate": rate}))
        found.append(_drawn_limits(part, method, tail / 2, n_draws, random_state))
    corners = curve_through(*np.meshgrid(found[0][:2], found[1][:2]), params["threshold"])
    values = study.measure.of_curve(corners, 1)
    # A corner where nothing is flagged has no precision; its neighbours have 0 and 1.
    return float(np.nanmin(values)), float(np.nanmax(values)), found[0][2]


def needs_draws(study: Study, method: str) -> bool:
    """Tell whether a method resamples."""
    if method != "wilson":
        return method in ("bootstrap", "bca")
    if study.measure.is_rate:
        return study.group is not None
    if study.measure.cells is not None:
        return False
    region = study.measure.region
    # With a lowest TPR the area may be flat at 0, where first-order errors say nothing.
    return region is None or region.min_tpr > 0


def limits(
    study: Study, method: str, value: float, tail: float, draws: FloatArray | None = None
) -> tuple[float, float]:
    """Lower and upper limit with a probability ``tail`` beyond each.

    ``draws`` are the values of resamples, for methods that need them.
    """
    if study.measure.bias is None:
        return _limits_around(study, method, value, tail, draws)
    found = []
    for one in study.excess():
        centre = value - one
        moved = None if draws is None else draws - draws.mean() + centre
        found.append(_limits_around(study, method, centre, tail, moved))
    # Which excess is nearer is not known: each limit allows for the one that moves it outwards.
    return found[1][0], found[0][1]


def _limits_around(
    study: Study, method: str, value: float, tail: float, draws: FloatArray | None
) -> tuple[float, float]:
    """Limits of a value that is not biased."""
    if method in ("bootstrap", "bca"):
        assert draws is not None
        return _percentiles(study, method, value, tail, draws)
    if method == "conservative":
        return conservative_limits(study, tail)
    if method == "delong":
        n_errors, fewest = study.quantile(1 - tail), study.fewest
        return normal_limits(value, study.error(), n_errors, tail, fewest, study.measure)
    if method == "influence":
        return _influence_limits(study, value, tail)
    if study.measure.cells is not None:
        return limits_of_two_rates(study, value, tail)
    if study.measure.is_rate and draws is None:
        return limits_of_rate(study, method, tail)
    # The tail of Student's t in as many standard errors as the model, which is normal, has for it.
    own_tail = float(ndtr(-study.quantile(1 - tail)))
    if draws is None:
        return _model_limits(study, value, study.error(), own_tail)
    error = float(draws.std())
    if study.group is not None:
        error *= float(np.sqrt(1 + 1 / study.degrees_of_freedom))
    find = limits_of_grouped_rate if study.measure.is_rate else _model_limits
    low, high = find(study, value, error, own_tail)
    # The model may not hold; resamples then show more spread.
    drawn = _percentiles(study, "bootstrap", value, tail, draws)
    return min(low, drawn[0]), max(high, drawn[1])


def _influence_limits(study: Study, value: float, tail: float) -> tuple[float, float]:
    """Limits from first-order effects; at a threshold no nearer than those of the rates there."""
    low, high = _first_order_limits(study, value, tail)
    if study.measure.cells is None:
        return low, high
    n_errors, rates = study.quantile(1 - tail), limits_at_threshold(study)
    below, above = (float(rates.reach(one)) for one in (-n_errors, n_errors))
    return min(low, value - below), max(high, value + above)


def _first_order_limits(study: Study, value: float, tail: float) -> tuple[float, float]:
    """Limits on the logit scale between the ends of what is possible."""
    measure, error = study.measure, study.error()
    n_errors = study.quantile(1 - tail, "influence")
    floor, ceiling = measure.limits
    below, above = value - floor, ceiling - value
    if not np.isfinite(below + above) or min(below, above) <= NO_SPREAD or error <= NO_SPREAD:
        return normal_limits(value, error, n_errors, tail, study.fewest, measure)
    # The derivative of log(below / above) by the value.
    reach = n_errors * error * (1 / below + 1 / above)
    low, high = (expit(np.log(below / above) + step) for step in (-reach, reach))
    return float(floor + (ceiling - floor) * low), float(floor + (ceiling - floor) * high)


def _model_limits(study: Study, value: float, error: float, tail: float) -> tuple[float, float]:
    """Limits with the variance of the normal model at the limit."""
    one = study.samples[0]
    most = 1.0 if study.group is None else one.n_rows / (study.degrees_of_freedom + 1)
    measure = study.measure
    if study.group is None and study.sampling != measure.sampling:
        measure = replace(measure, sampling="random" if study.sampling == "random" else "by_class")
    if measure.sampling == "random":
        rows = np.inf, study.n_effective()
    else:
        rows = study.n_effective(positive=False), study.n_effective(positive=True)
    totals = one.class_weight(positive=True), one.class_weight(positive=False)
    return model_limits(measure, totals, value, error, rows, tail, most)


def model_limits(
    measure: RocMeasure,
    totals: tuple[float, float],
    value: float,
    error: float,
    rows: tuple[float, float],
    tail: float,
    most: float = 1.0,
) -> tuple[float, float]:
    """Limits by the normal model of a measure on its own scale; see `NormalModel.limits`."""
    floor, ceiling = measure.limits
    size = ceiling - floor
    model = NormalModel.of(measure, *totals)
    low, high = model.limits((value - floor) / size, error / size, rows, tail, most)
    return floor + size * low, floor + size * high


def _percentiles(
    study: Study, method: str, value: float, tail: float, draws: FloatArray
) -> tuple[float, float]:
    """Limits from the values of resamples."""
    if np.ptp(draws) <= NO_SPREAD:
        if study.measure.prevalence is not None:
            return _unseen_at_prevalence(study, value, tail, draws.size)
        return _without_spread(study.measure, study.fewest, value, tail)
    tail = study.percentile(tail)
    levels = np.array([tail, 1 - tail])
    if method == "bca":
        levels = _corrected(levels, draws, value, study.acceleration())
    # With B draws the k-th smallest is at the level k / (B + 1).
    low, high = np.quantile(draws, levels, method="weibull")
    return float(low), float(high)


def normal_limits(
    value: float, error: float, n_errors: float, tail: float, fewest: float, measure: RocMeasure
) -> tuple[float, float]:
    """Limits at so many standard errors on either side, each with a probability ``tail`` beyond.

    ``fewest`` is the number of units of the rarest kind, for values without a standard error.
    """
    if error <= NO_SPREAD:
        return _without_spread(measure, fewest, value, tail)
    return value - n_errors * error, value + n_errors * error


def _without_spread(
    measure: RocMeasure, fewest: float, value: float, tail: float
) -> tuple[float, float]:
    """Limits of a value that no resample moves, such as that of a perfect scorer.

    If all of n rows agree, a fraction ``1 - tail^(1/n)`` of the population may differ (the rule of
    three); the interval extends by this fraction of the distance to the measure's limits.
    """
    floor, ceiling = measure.limits
    left_open = 1.0 - tail ** (1.0 / max(fewest, 1.0))
    low = value - left_open * (value - floor) if np.isfinite(floor) else value
    high = value + left_open * (ceiling - value) if np.isfinite(ceiling) else value
    return low, high


def _unseen_at_prevalence(
    study: Study, value: float, tail: float, n_draws: int
) -> tuple[float, float]:
    """Limits of a value that no resample moves, but that unseen rows of a rare class would."""
    if study.measure.is_rate:
        return _limits_at_prevalence(study, study.choose("auto"), tail, n_draws, 0)[:2]
    return _model_limits(study, value, 0.0, tail)


def _corrected(levels: FloatArray, draws: FloatArray, value: float, skew: float) -> FloatArray:
    """Levels of the bootstrap distribution corrected for bias and acceleration (Efron 1987)."""
    below = (np.sum(draws < value) + 0.5 * np.sum(draws == value)) / draws.size
    # If the value lies beyond all resamples, they only bound the bias.
    bias = norm.ppf(np.clip(below, 0.5 / draws.size, 1 - 0.5 / draws.size))
    moved = bias + norm.ppf(levels)
    return np.asarray(norm.cdf(bias + moved / (1 - skew * moved)))
