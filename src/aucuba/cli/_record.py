"""What ``aucuba fit`` keeps beside a model, so that the model finds its columns again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sklearn.pipeline import Pipeline

from aucuba._base._validation import check_fpr_range, check_fraction
from aucuba.changepoint import SupervisedChangepointDetector
from aucuba.cli._labels import Labels
from aucuba.cli._schema import Schema
from aucuba.persistence import SavedModel, load_model

_WRITER = "aucuba fit"
_COUNTS = ("file", "fingerprint", "rows", "positives", "features")


@dataclass(frozen=True)
class FitRecord:
    """Columns, labels and region of a training, with counts of its rows.

    ``kind`` is ``linear`` or ``stack``, and ``surrogate`` the loss of a linear model.
    """

    target: str
    labels: Labels
    fpr_range: tuple[float, float]
    min_tpr: float
    kind: str
    surrogate: str | None
    sample_weight: str | None
    qid: str | None
    schema: Schema
    training: dict[str, Any]

    def to_json(self) -> dict[str, Any]:
        """Write JSON's types."""
        return {
            "writer": _WRITER,
            "target": self.target,
            "pos_label": self.labels.positive,
            "neg_label": self.labels.negative,
            "labels": [self.labels.positive, *self.labels.others],
            "fpr_range": list(self.fpr_range),
            "min_tpr": self.min_tpr,
            "kind": self.kind,
            "surrogate": self.surrogate,
            "sample_weight": self.sample_weight,
            "qid": self.qid,
            "schema": self.schema.to_json(),
            "training": self.training,
        }

    @classmethod
    def from_json(cls, saved: dict[str, Any]) -> FitRecord:
        """Read what `to_json` has written."""
        positive, *others = map(str, saved["labels"])
        return cls(
            str(saved["target"]),
            Labels(positive, tuple(others)),
            check_fpr_range(saved["fpr_range"], "fpr_range"),
            check_fraction(saved["min_tpr"], "min_tpr", high_open=True),
            str(saved["kind"]),
            saved["surrogate"],
            saved["sample_weight"],
            None if saved["qid"] is None else str(saved["qid"]),
            Schema.from_json(saved["schema"]),
            {"queries": None, **{name: saved["training"][name] for name in _COUNTS}},
        )


def load_fitted(path: Path) -> tuple[SavedModel, FitRecord]:
    """Load a model file of ``aucuba fit`` with its record; any other is an error."""
    saved = load_model(path)
    return saved, fit_record(saved, path)


def was_fitted_here(saved: SavedModel) -> bool:
    """Tell whether ``aucuba fit`` wrote the model file."""
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
            f"{path} says that `aucuba fit` wrote it, but what it keeps beside the model is incomplete "
            "or damaged; train it again."
        ) from None
