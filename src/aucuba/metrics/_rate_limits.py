"""Limits of rates, and of sums of two, from counts of rows at a threshold."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.stats import binom

from aucuba._base._typing import BoolArray
from aucuba._roc._points import RATES, vertex_of_threshold
from aucuba._roc._standard_error import clopper_pearson, effective_rows, wilson_interval
from aucuba._rows._sample import RankingSample
from aucuba.metrics._study import NO_SPREAD, Study


def limits_of_rate(study: Study, method: str, tail: float) -> tuple[float, float]:
    """Binomial limits of a rate at a fixed threshold."""
    sample, params = study.samples[0], study.measure.params
    curve = study.measure.summary(sample)
    hits, rows = RATES[params["rate"]](curve, vertex_of_threshold(curve, params["threshold"]))
    if rows == 0:
        return 0.0, 1.0
    behind = rows_behind(sample, params["rate"], params["threshold"])
    n = rows if study.frequency else effective_rows(sample.weights[behind])
    if method == "exact":
        return clopper_pearson(hits / rows * n, n, tail)
    low, high = wilson_interval(hits / rows, n, tail)
    return float(low), float(high)


def limits_of_grouped_rate(
    study: Study, value: float, error: float, tail: float
) -> tuple[float, float]:
    """Binomial limits of the rows that a rate of grouped rows counts for (Korn and Graubard 1998)."""
    one, params = study.samples[0], study.measure.params
    behind = one.weights[rows_behind(one, params["rate"], params["threshold"])]
    n, most = study.degrees_of_freedom + 1, effective_rows(behind) if behind.size else 1.0
    if error > NO_SPREAD:
        n = max(value * (1 - value) / error**2, 1.0)
    n = min(n, most)
    return clopper_pearson(value * n, n, tail)


def limits_of_two_rates(study: Study, value: float, tail: float) -> tuple[float, float]:
    """Limits of a sum of two rates at a threshold from Wilson's limits of both (Zou and Donner 2008).

    Rates of one class each are independent; shares of all rows are those of a multinomial.
    """
    one, measure, cells = study.samples[0], study.measure, study.measure.cells
    assert cells is not None
    by_class = measure.prevalence is not None or study.sampling == "by_class"
    flagged, rates = one.score >= cells.threshold, {}
    for name in cells.above:
        is_positive = name in ("tp", "fn")
        rows = one.positive == is_positive if by_class else np.ones(one.n_rows, dtype=bool)
        hit = (one.positive == is_positive) & (flagged == (name in ("tp", "fp")))
        weight = one.weights[rows]
        n = float(weight.sum()) if study.frequency else effective_rows(weight)
        rates[name] = float(one.weights[hit].sum() / weight.sum()), n
    share = one.class_weight(positive=True) / one.weights.sum()
    # Of an interval of prevalences the end counts that gives the value.
    found = (
        _sum_of_rates(cells.above, rates, end if by_class else None, tail)
        for end in measure.prevalence or (share,)
    )
    middle, below, above = min(found, key=lambda one: abs(one[0] - value))
    return middle - below, middle + above


def _sum_of_rates(
    sizes: Mapping[str, float],
    rates: Mapping[str, tuple[float, float]],
    share: float | None,
    tail: float,
) -> tuple[float, float, float]:
    """Return the sum of two rates in given sizes, and how far its limits lie below and above."""
    of_class = 1.0 if share is None else share
    (p, n), (q, m) = rates.values()
    scales = [
        size * (of_class if name in ("tp", "fn") or share is None else 1 - of_class)
        for name, size in sizes.items()
    ]
    ends = [
        np.sort(np.array(wilson_interval(rate, rows, tail)) * scale) - rate * scale
        for (rate, rows), scale in zip(((p, n), (q, m)), scales, strict=True)
    ]
    common = 0.0 if share is not None else -np.sqrt(p * q / max((1 - p) * (1 - q), NO_SPREAD))
    common *= np.sign(scales[0] * scales[1])
    below, above = (
        float(np.sqrt(max(a**2 + b**2 + 2 * common * a * b, 0.0)))
        for a, b in zip(*ends, strict=True)
    )
    return p * scales[0] + q * scales[1], below, above


def conservative_limits(study: Study, tail: float) -> tuple[float, float]:
    """Limits of the TPR at an FPR: half of the error for the threshold, half for the TPR there.

    The number of negatives above the population's threshold is binomial, which brackets the threshold
    between two order statistics; the positives above these are binomial too.
    """
    sample = study.samples[0]
    negatives = np.repeat(
        sample.score[~sample.positive], sample.weights[~sample.positive].astype(int)
    )
    positives = np.repeat(
        sample.score[sample.positive], sample.weights[sample.positive].astype(int)
    )
    ranked, fpr = np.sort(negatives)[::-1], study.measure.params["fpr"]
    fewest = int(binom.ppf(tail / 2, ranked.size, fpr))
    most = int(binom.isf(tail / 2, ranked.size, fpr))
    strict = ranked[fewest - 1] if fewest > 0 else np.inf
    loose = ranked[most] if most < ranked.size else -np.inf
    m = positives.size
    low = clopper_pearson(float(np.sum(positives > strict)), m, tail / 2)[0]
    high = clopper_pearson(float(np.sum(positives >= loose)), m, tail / 2)[1]
    return low, high


def rows_behind(sample: RankingSample, rate: str, threshold: float) -> BoolArray:
    """Return the rows that a rate is a rate of."""
    flagged = sample.score >= threshold
    if rate in ("precision", "npv"):
        return np.asarray(flagged == (rate == "precision"))
    if rate == "alert_rate":
        return np.ones(sample.n_rows, dtype=bool)
    return np.asarray(sample.positive == (rate == "tpr"))
