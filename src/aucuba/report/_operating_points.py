"""The section about thresholds: their rates on these rows, and the threshold of the model."""

from __future__ import annotations

from typing import Any

import numpy as np

from aucuba.report._page import Section, paragraph, table
from aucuba.report._scored_sample import ScoredSample

_RATES = (0.001, 0.01, 0.05, 0.1, 0.2)


def operating_point_section(
    model: Any, sample: ScoredSample, fpr_range: tuple[float, float], promise: bool
) -> Section:
    """List thresholds for a few rates, and the rates at the threshold of ``predict``.

    With ``promise``, another section shows the threshold of ``predict``.
    """
    rates = sorted({*_RATES, *(rate for rate in fpr_range if 0 < rate < 1)})
    rows = []
    for rate in rates:
        at, low, high = sample.point_at_fpr(rate)
        rows.append(
            [
                f"{rate:.1%}",
                "none" if np.isinf(at.threshold) else f"{at.threshold:.6g}",
                f"{at.fpr:.2%}",
                f"{at.tpr:.1%} [{low:.1%}, {high:.1%}]",
                "" if np.isnan(at.precision) else f"{at.precision:.1%}",
                f"{at.n_flagged:g}",
            ]
        )
    header = ["FPR at most", "score from", "FPR here", "TPR", "precision", "flagged"]
    text = (
        "The lowest threshold that keeps the false positive rate on these rows, with a 95 % interval "
        "of the TPR (sensitivity, recall) at that rate, which includes the uncertainty of the "
        "threshold. A threshold chosen and measured on the same rows is optimistic"
    )
    text += (
        "; this model's threshold is the score 0, with the promise above."
        if promise
        else "; for a promise on new rows use FixedFPRClassifier."
    )
    text += "" if promise else f" {_own_threshold(model, sample)}"
    body = table(header, rows) + paragraph(text, "fine")
    return Section("operating-points", "Operating points", body)


def _own_threshold(model: Any, sample: ScoredSample) -> str:
    rate = vars(model).get("predict_fpr_", np.nan)
    known = "" if np.isnan(rate) else f", set in training for a false positive rate of {rate:.3g}"
    here = " and ".join(f"{name} {value} {interval}" for name, value, interval in _rates(sample))
    return f"The threshold of predict is the score 0{known}; on these rows it has {here}."


def rates_above_zero(sample: ScoredSample) -> str:
    """Build a table of the rates at the score 0, the threshold of ``predict``."""
    flagged, weights, positive = sample.score > 0, sample.rows.weights, sample.rows.positive
    rows = _rates(sample)
    if flagged.any():
        precision = np.average(positive[flagged], weights=weights[flagged])
        rows.append(["precision", f"{precision:.2%}", ""])
    rows.append(["flagged", f"{np.average(flagged, weights=weights):.2%}", ""])
    return table(["at this threshold", "on these rows", "95 % interval"], rows)


def _rates(sample: ScoredSample) -> list[list[str]]:
    """Write FPR and TPR at the score 0 with their intervals."""
    rows = []
    for label, name in enumerate(("FPR", "TPR")):
        rows_of = sample.rows.positive == bool(label)
        rate = np.average(sample.score[rows_of] > 0, weights=sample.rows.weights[rows_of])
        low, high = sample.rate_interval(label, rate)
        rows.append([name, f"{rate:.2%}", f"[{low:.2%}, {high:.2%}]"])
    return rows
