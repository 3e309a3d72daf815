"""What a fitted classifier says of its promise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from aucuba._base._warnings import warn_user
from aucuba.threshold._rules import Cut

if TYPE_CHECKING:
    from aucuba.threshold._base import PromisedThresholdClassifier


def sentence(model: PromisedThresholdClassifier, words: str, cuts: Sequence[Cut]) -> str:
    """Write the promise for logs and reports; ``words`` says which rates."""
    if not model.guarantee_:
        return (
            f"No promise: the threshold aims at a rate ({words}), but the scores of folds come from "
            "models other than the one that predicts; hold rows out (cv=0.5) for a promise."
        )
    several = len(cuts) > 1 or model.thresholds_.size > 1
    together = (", jointly" if model.joint else ", each singly") if several else ""
    where = f" in each of {len(cuts)} strata" if model.strata_.size else ""
    start = f"{words[0].upper()}{words[1:]}{where}, with confidence {model.confidence:g}{together}"
    n_units = sum(cut.n_units for cut in cuts)
    kept = f" (kept by flagging {_flagged(model)})" if model.trivial_ else ""
    return f"{start}, from {n_units} held-out {cuts[0].noun}{kept}."


def warn_trivial(model: PromisedThresholdClassifier) -> None:
    """Say that a promise is kept without looking at the scores."""
    where = " in some stratum" if model.strata_.size else ""
    warn_user(
        f"The held-out rows cannot carry the promised {model._promise.words}{where}, so "
        f"{type(model).__name__} keeps it by flagging {_flagged(model)} there. Hold out more rows or "
        "promise less; on_failure='error' says how many rows it takes.",
    )


def _flagged(model: PromisedThresholdClassifier) -> str:
    return "nothing" if model._promise.flags_less else "everything"
