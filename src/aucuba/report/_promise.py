"""The section of a page about a promised threshold."""

from __future__ import annotations

from typing import Any

import numpy as np

from aucuba.report._measures import ScoredSample
from aucuba.report._models import called
from aucuba.report._operating_points import rates_above_zero
from aucuba.report._page import Section, facts, paragraph
from aucuba.threshold import (
    AlertBudgetClassifier,
    FixedFPRClassifier,
    FixedPrecisionClassifier,
    FixedTPRClassifier,
)

PROMISED = (
    AlertBudgetClassifier,
    FixedFPRClassifier,
    FixedPrecisionClassifier,
    FixedTPRClassifier,
)


def promise_section(model: Any, sample: ScoredSample) -> Section:
    """Return the promise, what it rests on, and what its threshold does on these rows."""
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
            "holds for rows drawn like the held-out ones, and is made once."
        )
    else:
        text = (
            "The held-out scores come from several folds, and the model is another one, fitted on all "
            "rows: no theorem covers that. Hold rows out (cv=0.5) where the promise must hold."
        )
    return Section(
        "promise", "Promise", facts(entries) + paragraph(text) + rates_above_zero(sample)
    )


def _listed(threshold: Any) -> str:
    """One threshold, or one per stratum."""
    return ", ".join(f"{one:.6g}" for one in np.atleast_1d(threshold))
