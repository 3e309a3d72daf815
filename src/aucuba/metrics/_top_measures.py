"""Measures of the highest rows: precision and recall at k, enrichment, area by place."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from aucuba._base._typing import FloatArray
from aucuba._base._validation import check_fraction, check_k, check_positive_number
from aucuba._roc._curve import RocCurve, roc_curve, top_rows_of_curve
from aucuba._roc._enhancement import (
    bedroc,
    bedroc_effects,
    enhancement_effects,
    initial_enhancement,
)
from aucuba._roc._points import enrichment, hits_in_top, n_ranked
from aucuba.metrics._bins import Bins, binned_area, check_bin_sizes, check_credit
from aucuba.metrics._roc_measure import RocMeasure

COUNTS_ROWS = "{} counts rows, so a study of another size would measure something else."
_AS_FRACTION = (
    " Plan 'enrichment_factor' with fraction = k / rows, which is the recall at k divided by that "
    "fraction, and the precision at k divided by the prevalence."
)


def of_precision_at_k(*, k: Any) -> RocMeasure:
    rows = check_k(k)

    def precision(curve: RocCurve, n_rows: int) -> FloatArray:
        cut = np.minimum(float(rows), n_ranked(curve)[..., -1])
        return hits_in_top(curve, cut) / cut

    return RocMeasure(
        "precision_at_k",
        precision,
        sampling="random",
        needs="any",
        n_top=rows,
        summary=partial(top_rows_of_curve, k=rows),
        unplannable=COUNTS_ROWS.format("k") + _AS_FRACTION,
    )


def of_recall_at_k(*, k: Any) -> RocMeasure:
    rows = check_k(k)
    return RocMeasure(
        "recall_at_k",
        lambda curve, _: hits_in_top(curve, rows) / curve.true_positive[..., -1],
        sampling="random",
        needs="positive",
        n_top=rows,
        summary=partial(top_rows_of_curve, k=rows),
        unplannable=COUNTS_ROWS.format("k") + _AS_FRACTION,
    )


def of_enrichment_factor(*, fraction: Any) -> RocMeasure:
    top = check_fraction(fraction, "fraction", low_open=True)
    return RocMeasure(
        "enrichment_factor",
        lambda curve, _: enrichment(curve, top),
        sampling="random",
        limits=(0.0, 1.0 / top),
    )


def of_rie(*, alpha: Any = 20.0) -> RocMeasure:
    decay = check_positive_number(alpha, "alpha")
    return RocMeasure(
        "rie",
        lambda curve, _: initial_enhancement(curve, decay),
        sampling="random",
        effects=lambda sample: enhancement_effects(sample, decay),
        # That of positives so few that all of them lie at the top.
        limits=(0.0, decay / -np.expm1(-decay)),
    )


def of_bedroc(*, alpha: Any = 20.0) -> RocMeasure:
    decay = check_positive_number(alpha, "alpha")
    return RocMeasure(
        "bedroc",
        lambda curve, _: bedroc(curve, decay),
        sampling="random",
        effects=lambda sample: bedroc_effects(sample, decay),
    )


def of_auc_at_k(*, k: Any, in_bin_credit: Any = 0.5) -> RocMeasure:
    rows, credit = check_k(k), check_credit(in_bin_credit)
    return RocMeasure(
        "auc_at_k",
        lambda curves, _: curves.each(lambda one: binned_area(one, Bins.top(rows, one), credit)),
        sampling="random",
        unplannable=COUNTS_ROWS.format("k"),
        is_modelled=False,
        has_a_prevalence=False,
        # Another credit depends on the ties among all rows.
        summary=partial(top_rows_of_curve, k=rows) if credit == 0.5 else roc_curve,
    )


def of_binned_auc(*, bin_sizes: Any, in_bin_credit: Any = 0.5) -> RocMeasure:
    sizes, credit = check_bin_sizes(bin_sizes), check_credit(in_bin_credit)

    def area(curves: RocCurve, n_rows: int) -> FloatArray:
        resampled = curves.true_positive.ndim > curves.threshold.ndim
        return curves.each(
            lambda one: binned_area(one, Bins.from_sizes(sizes, one, resampled=resampled), credit)
        )

    reason = COUNTS_ROWS.format("bin_sizes")
    return RocMeasure(
        "binned_auc",
        area,
        sampling="random",
        unplannable=reason,
        is_modelled=False,
        has_a_prevalence=False,
    )
