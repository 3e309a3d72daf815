"""Registry of measures: how each is computed, and where its uncertainty comes from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from aucuba._base._typing import ArrayLike, FloatArray
from aucuba._base._validation import (
    check_choice,
    check_fraction,
    did_you_mean,
)
from aucuba._roc._curve import (
    RocCurve,
    at_vertex,
    curve_at_threshold,
    curve_below_threshold,
    region_average,
)
from aucuba._roc._points import (
    RATES,
    best_precision,
    equal_error_rate,
    fpr_reaching_tpr,
    precision_on_curve,
    recall_on_curve,
    tpr_within_fpr,
    vertex_of_precision,
    vertex_of_threshold,
)
from aucuba._roc._region import Region
from aucuba._rows._sample import RankingSample
from aucuba.metrics._decision_measures import (
    check_threshold,
    of_average_precision,
    of_detection_cost,
    of_expected_cost,
    of_f_measure,
    of_kolmogorov_smirnov,
    of_net_benefit,
    of_youden,
)
from aucuba.metrics._roc_measure import RocMeasure, Sampling
from aucuba.metrics._top_measures import (
    COUNTS_ROWS,
    of_auc_at_k,
    of_bedroc,
    of_binned_auc,
    of_enrichment_factor,
    of_precision_at_k,
    of_recall_at_k,
    of_rie,
)

# Differences of scores beyond it may overflow.
_LARGE = 1e300
_SCORE_UNITS = (
    "it is measured in units of the score, and doubling all scores doubles it. Bring the scores to "
    "one scale (all log-odds, say) and confirm it with same_scale=True."
)


def evaluate(
    name: str,
    y_true: ArrayLike,
    y_score: ArrayLike,
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    pos_label: Any = None,
    **params: Any,
) -> float:
    """Validate a measure's parameters and rows, and compute it."""
    measure = bind(name, params)
    return measure.value(RankingSample.from_arrays(y_true, y_score, sample_weight, qid, pos_label))


def bind(name: str, params: Mapping[str, Any]) -> RocMeasure:
    """Look a measure up by name and check its parameters.

    ``target_prevalence`` is a parameter of all measures that depend on the prevalence.
    """
    known = MEASURES | ALIASES
    if not isinstance(name, str) or name not in known:
        plain = str(name).removesuffix("_score")
        options = ", ".join(map(repr, known))
        meant = did_you_mean(_MEANT.get(plain.lower(), plain), known, cutoff=0.5)
        raise ValueError(f"metric must be one of {options}, got {name!r}.{meant}")
    own = dict(params)
    target = own.pop("target_prevalence", None)
    try:
        measure = known[name](**own)
    except TypeError as error:
        raise ValueError(f"Parameters of the measure {name!r}: {_reason(error)}.") from None
    return measure if target is None else measure.at_prevalence(target)


def _reason(error: TypeError) -> str:
    text = str(error)
    return text[text.find("()") + 3 :] if "()" in text else text


def _partial_auc(
    *,
    fpr_range: Any = (0.0, 1.0),
    min_tpr: Any = 0.0,
    fpr_weight: Any = None,
    standardized: bool = False,
) -> RocMeasure:
    region = Region.from_params(fpr_range, fpr_weight, min_tpr)
    parts = (1.0, region.weights.total)
    if not standardized:
        return RocMeasure(
            "partial_auc",
            lambda curve, _: region_average(curve, region),
            region=region,
            parts=parts,
        )
    if region.min_tpr > 0 or not region.is_plain_range:
        raise ValueError(
            "standardized=True is McClish's scale of a plain range of false positive rates; use it "
            "without min_tpr and fpr_weight."
        )
    chance = sum(region.fpr_range) / 2

    def mcclish(curve: RocCurve, n_rows: int) -> FloatArray:
        return 0.5 * (1 + (region_average(curve, region) - chance) / (1 - chance))

    slope = 0.5 / (1 - chance)
    limits = (0.5 - slope * chance, 1.0)
    return RocMeasure("partial_auc", mcclish, region, limits=limits, slope=slope, parts=parts)


def _two_way_partial_auc(*, min_tpr: Any, max_fpr: Any) -> RocMeasure:
    return _partial_auc(
        fpr_range=(0.0, check_fraction(max_fpr, "max_fpr", low_open=True)), min_tpr=min_tpr
    )


def _log_auc(*, fpr_range: Any = (0.001, 0.1)) -> RocMeasure:
    return _partial_auc(fpr_range=fpr_range, fpr_weight="log")


def _tpr_at_fpr(*, fpr: Any, attainable: bool = False) -> RocMeasure:
    limit = check_fraction(fpr, "fpr")
    return RocMeasure(
        "tpr_at_fpr",
        lambda curve, n_rows: tpr_within_fpr(curve, limit, n_rows, attainable),
        of_population=lambda curve, n_rows: tpr_within_fpr(curve, limit, n_rows, False),
        parts=(1.0, limit),
        params={"fpr": limit},
    )


def _fpr_at_tpr(*, tpr: Any, attainable: bool = False) -> RocMeasure:
    limit = check_fraction(tpr, "tpr")
    return RocMeasure(
        "fpr_at_tpr",
        lambda curve, n_rows: fpr_reaching_tpr(curve, limit, n_rows, attainable),
        of_population=lambda curve, n_rows: fpr_reaching_tpr(curve, limit, n_rows, False),
        smaller_is_better=True,
        parts=(1.0 - limit, 1.0),
    )


def _sensitivity_at_specificity(*, specificity: Any, attainable: bool = False) -> RocMeasure:
    limit = check_fraction(specificity, "specificity")
    # One minus a rate of few digits has few digits too.
    return _tpr_at_fpr(fpr=round(1.0 - limit, 15), attainable=attainable)


def _specificity_at_sensitivity(*, sensitivity: Any, attainable: bool = False) -> RocMeasure:
    limit = check_fraction(sensitivity, "sensitivity")
    return RocMeasure(
        "specificity_at_sensitivity",
        lambda curve, n_rows: 1.0 - fpr_reaching_tpr(curve, limit, n_rows, attainable),
        of_population=lambda curve, n_rows: 1.0 - fpr_reaching_tpr(curve, limit, n_rows, False),
        parts=(1.0 - limit, 1.0),
    )


def _equal_error_rate() -> RocMeasure:
    return RocMeasure(
        "equal_error_rate", lambda curve, _: equal_error_rate(curve), smaller_is_better=True
    )


def _precision_at_recall(*, recall: Any) -> RocMeasure:
    limit = check_fraction(recall, "recall")
    return RocMeasure(
        "precision_at_recall",
        lambda curve, n_rows: best_precision(curve, limit, n_rows),
        sampling="random",
        of_population=lambda curve, n_rows: precision_on_curve(curve, limit, n_rows),
    )


def _recall_at_precision(*, precision: Any) -> RocMeasure:
    limit = check_fraction(precision, "precision", low_open=True)
    return RocMeasure(
        "recall_at_precision",
        lambda curve, n_rows: at_vertex(curve.tpr, vertex_of_precision(curve, limit, n_rows)),
        sampling="random",
        of_population=lambda curve, n_rows: recall_on_curve(curve, limit, n_rows),
        # False alarms that the precision allows if every positive is found.
        parts=(min((1.0 - limit) / limit, 1.0), 1.0),
    )


def _aum(*, rate: bool = True, same_scale: bool = False) -> RocMeasure:
    def area(curve: RocCurve, n_rows: int) -> FloatArray:
        false_positive, false_negative = curve.fpr, 1.0 - curve.tpr
        if not rate:
            false_positive = curve.false_positive
            false_negative = curve.true_positive[..., -1:] - curve.true_positive
        # Differences of scores near the largest float overflow; a power of two changes no digit.
        unit = 2.0**-4 if np.abs(curve.threshold).max() > _LARGE else 1.0
        # Between the thresholds of two neighbouring blocks the errors are those of the vertex between.
        gap = unit * curve.threshold[..., :-1] - unit * curve.threshold[..., 1:]
        least = np.minimum(false_positive, false_negative)[..., 1:-1]
        total: FloatArray = least @ gap if gap.ndim == 1 else np.sum(least * gap, axis=-1)
        return total / unit

    return RocMeasure(
        "aum",
        area,
        smaller_is_better=True,
        limits=(0.0, np.inf),
        cuts=None,
        incomparable="" if same_scale else _SCORE_UNITS,
        unplannable="" if rate else COUNTS_ROWS.format("the area"),
        is_modelled=False,
    )


def _rate_at_threshold(*, rate: Any, threshold: Any) -> RocMeasure:
    check_choice(rate, "rate", tuple(RATES))
    limit = check_threshold(threshold)

    def value(curve: RocCurve, n_rows: int) -> FloatArray:
        hits, rows = RATES[rate](curve, vertex_of_threshold(curve, limit))
        return np.where(rows > 0, hits / np.where(rows > 0, rows, 1.0), np.nan)

    unit: Sampling = "by_class" if rate in ("tpr", "fpr", "specificity") else "random"
    params = {"rate": rate, "threshold": limit}
    cuts = (limit,)
    return RocMeasure(
        "rate_at_threshold",
        value,
        sampling=unit,
        smaller_is_better=rate in ("fpr", "alert_rate"),
        is_rate=True,
        cuts=cuts,
        params=params,
        summary=partial(
            curve_below_threshold if rate == "npv" else curve_at_threshold,
            threshold=limit,
        ),
    )


MEASURES: dict[str, Callable[..., RocMeasure]] = {
    "partial_auc": _partial_auc,
    "two_way_partial_auc": _two_way_partial_auc,
    "log_auc": _log_auc,
    "rate_at_threshold": _rate_at_threshold,
    "tpr_at_fpr": _tpr_at_fpr,
    "fpr_at_tpr": _fpr_at_tpr,
    "equal_error_rate": _equal_error_rate,
    "precision_at_recall": _precision_at_recall,
    "recall_at_precision": _recall_at_precision,
    "precision_at_k": of_precision_at_k,
    "recall_at_k": of_recall_at_k,
    "enrichment_factor": of_enrichment_factor,
    "rie": of_rie,
    "bedroc": of_bedroc,
    "auc_at_k": of_auc_at_k,
    "binned_auc": of_binned_auc,
    "aum": _aum,
    "average_precision": of_average_precision,
    "f_measure": of_f_measure,
    "net_benefit": of_net_benefit,
    "expected_cost": of_expected_cost,
    "detection_cost": of_detection_cost,
    "youden": of_youden,
    "kolmogorov_smirnov": of_kolmogorov_smirnov,
}

# Names of other fields and packages; the measures are the same.
ALIASES: dict[str, Callable[..., RocMeasure]] = {
    "auc": lambda: _partial_auc(),
    "lift": of_enrichment_factor,
    "sensitivity_at_specificity": _sensitivity_at_specificity,
    "specificity_at_sensitivity": _specificity_at_sensitivity,
}

# Names that are asked for by mistake; parameters or scales may differ, so they are no aliases.
_MEANT = {
    "pauc": "partial_auc",
    "roc_auc": "auc",
    "auroc": "auc",
    "auprc": "average_precision",
    "pr_auc": "average_precision",
    "eer": "equal_error_rate",
    "f1": "f_measure",
    "ks": "kolmogorov_smirnov",
}
