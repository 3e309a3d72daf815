"""What ``aucuba fit`` keeps beside a model, so that the model finds its columns again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sklearn.pipeline import Pipeline

from aucuba._core._validation import check_fpr_range
from aucuba.cli._labels import Labels
from aucuba.cli._schema import Schema
from aucuba.persistence import SavedModel, load_model

_WRITER = "aucuba fit"
_COUNTS = ("file", "rows", "positives", "features")


@dataclass(frozen=True)
class FitRecord:
    """Columns, labels and range of a training, with counts of its rows."""

    target: str
    labels: Labels
    fpr_range: tuple[float, float]
    surrogate: str
    weight: str | None
    group: str | None
    schema: Schema
    training: dict[str, Any]

    def to_json(self) -> dict[str, Any]:
        return {
            "writer": _WRITER,
            "target": self.target,
            "positive": self.labels.positive,
            "negative": self.labels.negative,
            "labels": [self.labels.positive, *self.labels.others],
            "fpr_range": list(self.fpr_range),
            "surrogate": self.surrogate,
            "weight": self.weight,
            "group": self.group,
            "schema": self.schema.to_json(),
            "training": self.training,
        }

    @classmethod
    def from_json(cls, saved: dict[str, Any]) -> FitRecord:
        positive, *others = map(str, saved["labels"])
        return cls(
            str(saved["target"]),
            Labels(positive, tuple(others)),
            check_fpr_range(saved["fpr_range"], "fpr_range"),
            saved["surrogate"],
            saved["weight"],
            None if saved["group"] is None else str(saved["group"]),
            Schema.from_json(saved["schema"]),
            {"queries": None, **{name: saved["training"][name] for name in _COUNTS}},
        )


def load_fitted(path: Path) -> tuple[SavedModel, FitRecord]:
    """A model file of ``aucuba fit`` with its record; any other is an error."""
    saved = load_model(path)
    return saved, record_of(saved, path)


def was_fitted_here(saved: SavedModel) -> bool:
    """Whether the model file says that ``aucuba fit`` wrote it."""
    return saved.metadata.get("writer") == _WRITER


def record_of(saved: SavedModel, path: Path) -> FitRecord:
    """The record of a model file of ``aucuba fit``."""
    if not was_fitted_here(saved):
        raise ValueError(
            f"{path} is not a model of `aucuba fit`: it was saved from Python, without the names of "
            "its columns. Use it from Python, or train it with `aucuba fit`."
        )
    try:
        if not isinstance(saved.model, Pipeline) or saved.baseline is None:
            raise TypeError
        return FitRecord.from_json(saved.metadata)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise ValueError(
            f"{path} says that `aucuba fit` wrote it, but what it keeps beside the model is incomplete "
            "or damaged; train it again."
        ) from None
