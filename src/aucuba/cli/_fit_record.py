"""The record that ``aucuba fit`` saves with a model: its columns, labels and region."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from sklearn.pipeline import Pipeline

from aucuba._base._validation import check_fpr_range, check_fraction
from aucuba.changepoint import SupervisedChangepointDetector
from aucuba.cli._options import Range
from aucuba.cli._roles import Labels
from aucuba.cli._table_schema import Schema
from aucuba.persistence import SavedModel, load_model

SIGNAL_WRITER = "aucuba fit --model changepoint"
_WRITER = "aucuba fit"
_COUNTS = ("file", "fingerprint", "rows", "positives", "features", "queries", "outside")


@dataclass(frozen=True)
class FitRecord:
    """Columns, labels and region of a fit, with counts of its rows.

    ``kind`` is the value of ``--model``, and ``loss`` that of ``--loss``, for models that have one.
    """

    target: str
    labels: Labels
    fpr_range: Range
    min_tpr: float
    kind: str
    loss: str | None
    sample_weight: str | None
    qid: str | None
    groups: str | None
    time: str | None
    schema: Schema
    training: dict[str, Any]

    @property
    def chance(self) -> float:
        """Partial AUC of scores without information."""
        return chance_level(self.fpr_range, self.min_tpr)

    def to_json(self) -> dict[str, Any]:
        """Convert to JSON's types."""
        return {
            **vars(self),
            "writer": _WRITER,
            "pos_label": self.labels.positive,
            "neg_label": self.labels.negative,
            "labels": [self.labels.positive, *self.labels.others],
            "fpr_range": list(self.fpr_range),
            "schema": self.schema.to_json(),
        }

    @classmethod
    def from_json(cls, saved: dict[str, Any]) -> FitRecord:
        """Read the output of `to_json`."""
        positive, *others = map(str, saved["labels"])
        checked = {
            "labels": Labels(positive, tuple(others)),
            "fpr_range": check_fpr_range(saved["fpr_range"], "fpr_range"),
            "min_tpr": check_fraction(saved["min_tpr"], "min_tpr", high_open=True),
            "schema": Schema.from_json(saved["schema"]),
            "training": {name: saved["training"][name] for name in _COUNTS},
        }
        return cls(**{one.name: saved[one.name] for one in fields(cls)} | checked)


def load_fitted(path: Path) -> tuple[SavedModel, FitRecord]:
    """Load a model file of ``aucuba fit`` with its record; any other is an error."""
    saved = load_model(path)
    return saved, fit_record(saved, path)


def was_fitted_here(saved: SavedModel) -> bool:
    """Return whether ``aucuba fit`` wrote the model file."""
    return saved.metadata.get("writer") == _WRITER


def fit_record(saved: SavedModel, path: Path) -> FitRecord:
    """Read the record of a model file of ``aucuba fit``."""
    if isinstance(saved.model, SupervisedChangepointDetector):
        raise ValueError(
            f"{path} is a changepoint model, which has no scores; use `aucuba predict` or "
            "`aucuba report`."
        )
    if not was_fitted_here(saved):
        raise ValueError(
            f"{path} is not a model of `aucuba fit`: it was saved from Python, without the names of "
            "its columns. Use it from Python, or train it with `aucuba fit`."
        )
    try:
        if not all(isinstance(one, Pipeline) for one in (saved.model, saved.baseline)):
            raise TypeError
        return FitRecord.from_json(saved.metadata)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise ValueError(
            f"{path} names `aucuba fit` as its writer, but its metadata are incomplete or damaged; "
            "train the model again."
        ) from None


def chance_level(fpr_range: Range, min_tpr: float = 0.0) -> float:
    """Compute the partial AUC of scores without information, whose ROC curve is the diagonal.

    Examples
    --------
    >>> from aucuba.cli._fit_record import chance_level
    >>> print(f"{chance_level((0.0, 0.05)):.3f} {chance_level((0.0, 1.0), min_tpr=0.5):.3f}")
    0.025 0.250
    """
    low, high = fpr_range
    start = min(max(low, min_tpr), high)
    height = (high - min_tpr) ** 2 - (start - min_tpr) ** 2 if high > min_tpr else 0.0
    return height / 2 / (high - low) / (1 - min_tpr)


def described_signals(metadata: dict[str, Any]) -> str:
    """Describe what a changepoint detector was trained on."""
    training = metadata.get("training", {})
    counts = [f"{training.get(name)} {name}" for name in ("sequences", "samples", "labels")]
    return ", ".join([str(training.get("file")), *counts])
