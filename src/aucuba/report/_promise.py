"""The section about a promised threshold."""

from __future__ import annotations

from typing import Any

import numpy as np

from aucuba.report._models import called
from aucuba.report._operating_points import rates_above_zero
from aucuba.report._page import Section, facts, paragraph
from aucuba.report._scored_sample import ScoredSample


def promise_section(model: Any, sample: ScoredSample) -> Section:
    """State the promise, its basis, and the rates of its threshold on these rows."""
    entries = {
        "promise": model.promise_,
        "confidence": f"{model.confidence:.3g}",
        "guaranteed": "yes" if model.guarantee_ else "no, a heuristic",
        "threshold of the base score": _listed(model.threshold_),
        "bound on P(promise broken)": (
            f"{model.violation_probability_:.3g}" if model.guarantee_ else "none"
        ),
        "base classifier": called(model.estimator_),
    }
    if model.trivial_:
        entries["certified"] = "no: kept without flagging by the score, see the promise"
    if model.guarantee_:
        text = (
            f"At most {1 - model.confidence:.3g} of such studies break the promise on new rows. It "
            "holds for rows drawn like the held-out ones, and for one use of the held-out rows."
        )
    else:
        text = (
            "The held-out scores come from the models of several folds, but this model was fitted on "
            "all rows: no theorem covers that. Hold rows out (cv=0.5) if the promise must hold."
        )
    return Section(
        "promise", "Promise", facts(entries) + paragraph(text) + rates_above_zero(sample)
    )


def _listed(threshold: Any) -> str:
    """Write one threshold, or one per stratum."""
    return ", ".join(f"{one:.6g}" for one in np.atleast_1d(threshold))
