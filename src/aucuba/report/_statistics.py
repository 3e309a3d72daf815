"""Precision over recalls and gains by fraction, and the region in every segment."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from aucuba._base._tables import count_text, p_text
from aucuba._base._typing import ArrayLike
from aucuba._base._warnings import FewRowsWarning
from aucuba.metrics import compare_scores, gains_table, largest_gap, score_interval
from aucuba.report._page import Section, paragraph, table
from aucuba.report._scored_sample import ScoredSample

_PARTS = 10
# Resamples of intervals; more do not change the digits shown.
_RESAMPLES = 500


def precision_section(sample: ScoredSample, names: tuple[str, str], random_state: Any) -> Section:
    """Show the average precision with its interval, and what each tenth of the ranking holds."""
    options: dict[str, Any] = {"sample_weight": sample.weight, "pos_label": 1}
    drawn = {"n_resamples": _RESAMPLES, "random_state": random_state}
    prevalence = np.average(sample.y, weights=sample.weight)
    with warnings.catch_warnings():
        # The page shows the number of rows.
        warnings.simplefilter("ignore", FewRowsWarning)
        one = score_interval("average_precision", sample.y, sample.score, **options, **drawn)
        said = (
            f"The average precision is {one.value:.4f} [{one.low:.4f}, {one.high:.4f}]; scores without "
            f"information have the share of positives, {prevalence:.4f}."
        )
        if sample.baseline is not None:
            other = compare_scores(
                "average_precision", sample.y, sample.score, sample.baseline, **options, **drawn
            )
            name = names[1][:1].upper() + names[1][1:]
            said += (
                f" {name} has {other.values[1]:.4f}, a difference of {other.difference:+.4f} "
                f"[{other.low:+.4f}, {other.high:+.4f}], p-value {p_text(other.p_value)}."
            )
    gains = gains_table(sample.y, sample.score, n_bins=_PARTS, **options)
    rows = [
        [
            f"{row.fraction:.0%}",
            f"{row.threshold:.4f}",
            count_text(row.n_rows),
            f"{row.gain:.1%}",
            f"{row.lift:.2f}",
            f"{row.precision:.1%}",
        ]
        for row in gains
    ]
    header = ["highest rows", "score from", "rows", "positives found", "lift", "precision"]
    text = (
        "Rows are cumulative from the top. The gain is the part of all positives that they hold, the "
        "lift their share of positives relative to that of all rows. All queries are pooled."
        if sample.query is not None
        else "Rows are cumulative from the top. Lift is their share of positives relative to that of "
        "all rows."
    )
    body = paragraph(said) + table(header, rows) + paragraph(text, "fine")
    return Section("precision", "Precision and gains", body)


def segment_section(
    sample: ScoredSample, fpr_range: tuple[float, float], by: ArrayLike, random_state: Any
) -> Section:
    """Show the partial AUC of every segment and test the largest gap."""
    options: dict[str, Any] = {
        "fpr_range": fpr_range,
        "by": by,
        "sample_weight": sample.weight,
        "random_state": random_state,
        "pos_label": 1,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewRowsWarning)
        found = score_interval("partial_auc", sample.y, sample.score, **options)
        text = "Intervals hold in all segments together; small segments have wide ones."
        if sum(one.method != "none" for one in found) > 1:
            gap = largest_gap("partial_auc", sample.y, sample.score, **options)
            first, second = gap.segments
            text += (
                f" The largest gap is that of {first} and {second}, {gap.difference:+.4f}; if no two "
                f"segments differed, chance would make one as large with probability "
                f"{p_text(gap.p_value)}."
            )
    rows = [
        [
            str(one.name),
            f"{one.n_rows:,}",
            f"{one.n_positives:,}",
            "" if np.isnan(one.value) else f"{one.value:.4f}",
            f"[{one.low:.4f}, {one.high:.4f}]",
        ]
        for one in found
    ]
    low, high = fpr_range
    header = ["segment", "rows", "positives", f"pAUC[{low:g}, {high:g}]", "interval"]
    return Section("segments", "By segment", table(header, rows) + paragraph(text, "fine"))
