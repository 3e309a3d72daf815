"""Torch tensors as input of the linear classifiers."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from sklearn.utils.validation import validate_data
from torch import Tensor

from aucuba._base._arrays import on_host
from aucuba._base._estimator import Classes, two_classes
from aucuba._base._torch_arrays import distinct_labels
from aucuba._base._typing import ArrayLike
from aucuba._base._validation import check_length, query_index, row_weights
from aucuba._rows._sample import warn_about_queries
from aucuba._rows._splits import KeptRows
from aucuba.design import RowDesign, TorchDesign
from aucuba.linear._base import check_largest
from aucuba.risks import Sample

_FLOATS = (torch.float64, torch.float32, torch.float16, torch.bfloat16)


class TorchInput:
    """Take dense tensors on any device; labels and weights are tensors there or NumPy arrays."""

    def for_training(
        self, estimator: Any, X: Any, y: Any, sample_weight: ArrayLike | None, qid: ArrayLike | None
    ) -> tuple[RowDesign, Sample, KeptRows, Classes]:
        _check_table(X, least_rows=2)
        validate_data(estimator, X, reset=True, skip_check_array=True)
        labels = _column(y, "y", X)
        weight = None if sample_weight is None else _weights(sample_weight, X)
        design = TorchDesign(X.detach())
        _check_entries(design)
        classes, positive = _two_classes(labels, weight, estimator.pos_label)
        query = query_index(on_host(qid), X.shape[0])
        sample, kept = (
            Sample(positive, weight, query, label=classes.pos_label),
            np.arange(X.shape[0]),
        )
        if weight is not None and not bool((weight > 0).all()):
            kept = np.flatnonzero(on_host(weight))
            design, sample = design.take(kept), sample.on_host().take(kept)
        # Queries are compared on the host.
        warn_about_queries(sample if query is None else sample.on_host())
        rows = KeptRows(kept, None, labels, on_host(qid))
        return design, sample.moved_to(design.arrays), rows, classes

    def scores(self, estimator: Any, X: Any) -> Any:
        _check_table(X, least_rows=1)
        validate_data(estimator, X, reset=False, skip_check_array=True)
        design = TorchDesign(X.detach())
        _check_entries(design)
        return design.exact().scores(estimator.coef_[0])


def _check_table(X: Tensor, least_rows: int) -> None:
    if X.layout != torch.strided or X.ndim != 2:
        raise ValueError(
            f"X must be a dense tensor of two dimensions, got shape {tuple(X.shape)} and layout "
            f"{X.layout}; give sparse tables as SciPy CSR matrices."
        )
    if X.dtype not in _FLOATS:
        raise ValueError(f"X must hold floating point numbers, got {X.dtype}; use X.float().")
    if X.shape[0] < least_rows or X.shape[1] == 0:
        raise ValueError(
            f"X has shape {tuple(X.shape)}; at least {least_rows} rows and one column are needed."
        )


def _check_entries(design: TorchDesign) -> None:
    if not np.isfinite(design.largest):
        finite = torch.isfinite(design.X).all(dim=1)
        raise ValueError(
            f"X contains NaN or infinity in {int((~finite).sum())} rows, the first in row "
            f"{int(finite.int().argmin())}; drop these rows or fill the values."
        )
    check_largest(design.largest, "float64" if design.is_exact else "float32")


def _column(values: Any, name: str, X: Tensor) -> Tensor:
    """Bring a column to the device of X; tensors must be there already."""
    if isinstance(values, Tensor):
        if values.device != X.device:
            raise ValueError(
                f"X lives on {X.device} and {name} on {values.device}; move both to one device."
            )
        column = values.detach()
    else:
        array = np.asarray(values)
        if array.dtype.kind not in "biuf":
            raise ValueError(
                f"With a tensor X, {name} must be a tensor or an array of numbers, got dtype "
                f"{array.dtype}; encode the labels as 0 and 1."
            )
        column = torch.as_tensor(np.ascontiguousarray(array), device=X.device)
    if column.is_complex():
        raise ValueError(f"{name} must be real, got {column.dtype}.")
    if column.ndim != 1 and max(column.shape, default=0) != column.numel():
        raise ValueError(
            f"{name} must have one entry per row, got an array of shape {tuple(column.shape)}."
        )
    column = column.reshape(-1)
    check_length(column, X.shape[0], name, "rows")
    return column


def _weights(sample_weight: Any, X: Tensor) -> Any:
    weight = _column(sample_weight, "sample_weight", X).double()
    low, high = torch.aminmax(weight)
    if not (float(low) >= 0 and float(high) > 0 and bool(torch.isfinite(weight.sum()))):
        # Reuse the array check for its error message.
        row_weights(on_host(weight), X.shape[0])
    return weight


def _two_classes(labels: Tensor, weight: Any, pos_label: Any) -> tuple[Classes, Any]:
    """Find the classes among the distinct labels; return them, and which rows are positive."""
    if labels.is_floating_point() and not bool(torch.isfinite(labels).all()):
        raise ValueError("Input y contains NaN or infinity; drop these rows.")
    distinct, present = distinct_labels(labels), None
    if weight is not None and len(distinct) <= 2:
        present = np.array([float(weight[labels == one].max()) for one in distinct])
    classes, positive, _ = two_classes(on_host(distinct), present, pos_label)
    return classes, labels == distinct[int(np.argmax(positive))]
