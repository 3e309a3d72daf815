"""Sections about models with several decisions: a selection per batch, and a triage."""

from __future__ import annotations

from typing import Any

import numpy as np

from aucuba._base._tables import html_table
from aucuba._base._typing import IntArray
from aucuba._roc._flagged import RATE_NAMES, FlaggedRows, rate_text
from aucuba.report._page import Section, facts, paragraph
from aucuba.report._scored_sample import ScoredSample, score_sign
from aucuba.threshold import FalseDiscoverySelector, TriageClassifier

_ACTIONS = ("cleared", "reviewed", "blocked")


def decision_section(model: Any, sample: ScoredSample, X: Any = None) -> Section | None:
    """Describe what a selector or a triage promises, and what it does to these rows."""
    if isinstance(model, FalseDiscoverySelector):
        return _selection_section(model, sample)
    if isinstance(model, TriageClassifier):
        return _triage_section(model, sample, X)
    return None


def _selection_section(model: FalseDiscoverySelector, sample: ScoredSample) -> Section:
    negatives = int(np.sum(model.n_negatives_))
    fewest = float(np.max(model.smallest_share_))
    entries = {
        "promise": model.promise_,
        "guaranteed": "yes" if model.guarantee_ else "no, a heuristic",
        "held-out negatives": f"{negatives:,}",
        "fewest alerts": f"{fewest:.3g} of the rows of a batch",
        "ties": "one random key per row" if model.ties == "random" else "count against the row",
        "base classifier": type(model.estimator_).__name__,
    }
    if model.strata_.size or model.calibration_groups_.size:
        kind = "strata" if model.strata_.size else "groups"
        shown = paragraph(f"Rows are selected with their {kind}, which this page does not know.")
    else:
        selected = model.select_scores(score_sign(model) * sample.score).mask
        counted = FlaggedRows()
        counted.update(sample.rows.positive, selected, sample.rows.weight)
        rows = [[title, rate_text(counted.rate(name))] for name, title in RATE_NAMES.items()]
        shown = html_table(["selected from these rows as one batch", "rate [95 %]"], rows)
    text = (
        "A row is selected by comparing its score with those of held-out negatives and with the other "
        "rows of its batch, so there is no threshold. The promise is about the expected fraction of "
        "false rows in each batch; a single batch may have more, and the fraction pooled over batches "
        "is not bounded."
    )
    return Section("selection", "Selection", facts(entries) + paragraph(text) + shown)


def _triage_section(model: TriageClassifier, sample: ScoredSample, X: Any) -> Section:
    entries = {
        "promise": model.promise_,
        "confidence": f"{model.confidence:.3g}",
        "guaranteed": "yes" if model.guarantee_ else "no, a heuristic",
        "thresholds of the base score": "; ".join(
            f"{low:.6g} and {high:.6g}" for low, high in np.atleast_2d(model.thresholds_)
        ),
        "bound on P(promise broken)": (
            f"{model.violation_probability_:.3g}" if model.guarantee_ else "none"
        ),
        "base classifier": type(model.estimator_).__name__,
    }
    held_out = [f"{share:.2%}" for share in model.level_shares_]
    level = _levels(model, sample, X)
    header = ["", "held-out rows"]
    rows = [[action, share] for action, share in zip(_ACTIONS, held_out, strict=True)]
    if level is not None:
        header += [
            "these rows [95 %]",
            "of the negatives",
            "of the positives",
            "positive among them",
        ]
        for place, row in enumerate(rows):
            counted = FlaggedRows()
            counted.update(sample.rows.positive, level == place, sample.rows.weight)
            names = ("alert_rate", "fpr", "tpr", "precision")
            row += [rate_text(counted.rate(name)) for name in names]
    text = (
        "Rows above the second threshold are blocked without review, rows up to the first are cleared, "
        "and a person reviews those between."
    )
    return Section("triage", "Triage", facts(entries) + paragraph(text) + html_table(header, rows))


def _levels(model: TriageClassifier, sample: ScoredSample, X: Any) -> IntArray | None:
    """Return 0, 1 or 2 for every row; None if the strata of the rows are unknown."""
    if X is not None:
        return model.decision_levels(X)
    if model.strata_.size:
        return None
    # Scores of the sample are relative to the second threshold.
    low, high = model.thresholds_
    return np.asarray((sample.score > 0).astype(np.intp) + (sample.score > low - high))
