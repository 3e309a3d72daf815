"""Torch tensors as input of the linear classifiers."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import torch
from sklearn.utils.validation import validate_data
from torch import Tensor

from aucuba._base._arrays import on_host
from aucuba._base._torch_arrays import distinct_labels
from aucuba._base._typing import ArrayLike
from aucuba._base._validation import query_index, row_weights
from aucuba._roc._queries import warn_about_queries
from aucuba._rows._splits import KeptRows
from aucuba.design import RowDesign, TorchDesign
from aucuba.linear._inputs import check_largest
from aucuba.risks import Sample

_FLOATS = (torch.float64, torch.float32, torch.float16, torch.bfloat16)


class TorchInput:
    """Dense tensors on any device; labels and weights are tensors there, or arrays of the host."""

    def for_training(
        self, estimator: Any, X: Any, y: Any, sample_weight: ArrayLike | None, qid: ArrayLike | None
    ) -> tuple[RowDesign, Sample, Any]:
        _check_table(X, least_rows=2)
        validate_data(estimator, X, reset=True, skip_check_array=True)
        labels = _column(y, "y", X)
        weight = None if sample_weight is None else _weights(sample_weight, X)
        design = TorchDesign(X.detach())
        _check_entries(design)
        positive = _adopt_classes(estimator, labels, weight)
        query = query_index(on_host(qid), X.shape[0])
        sample = Sample(positive, weight, query)
        kept = None
        if weight is not None and not bool((weight > 0).all()):
            kept = torch.nonzero(weight > 0).ravel()
            design, sample = design.take(kept), sample.on_host().take(on_host(kept))
        if query is not None:
            # Queries are compared on the host.
            sample = sample.on_host()
            warn_about_queries(sample)
        sample = Sample(_on_device(sample.positive, X), _on_device(sample.weight, X), sample.query)
        return design, sample, _TensorRows(kept, labels, on_host(qid))

    def scores(self, estimator: Any, X: Any) -> Any:
        _check_table(X, least_rows=1)
        validate_data(estimator, X, reset=False, skip_check_array=True)
        design = TorchDesign(X.detach())
        _check_entries(design)
        return design.exact().scores(estimator.coef_[0])


class _TensorRows:
    """The kept rows and the labels as NumPy arrays, copied from the device where splits are drawn."""

    def __init__(self, kept: Tensor | None, labels: Tensor, groups: Any) -> None:
        self._kept, self._labels, self._groups = kept, labels, groups

    @cached_property
    def _rows(self) -> KeptRows:
        y = on_host(self._labels)
        kept = np.arange(y.size) if self._kept is None else on_host(self._kept)
        return KeptRows(kept, y[:, np.newaxis], y, self._groups)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._rows, name)


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
    if column.numel() != X.shape[0] or max(column.shape) != X.shape[0]:
        raise ValueError(
            f"{name} must have one entry for each of the {X.shape[0]} rows of X, got shape "
            f"{tuple(column.shape)}."
        )
    return column.reshape(-1)


def _weights(sample_weight: Any, X: Tensor) -> Any:
    weight = _column(sample_weight, "sample_weight", X).double()
    low, high = torch.aminmax(weight)
    if not (float(low) >= 0 and float(high) > 0 and bool(torch.isfinite(weight.sum()))):
        # The check of arrays has the words for what is wrong.
        row_weights(on_host(weight), X.shape[0])
    return weight


def _adopt_classes(estimator: Any, labels: Tensor, weight: Any) -> Any:
    """Set the classes of an estimator from the distinct labels; return which rows are positive."""
    if labels.is_floating_point() and not bool(torch.isfinite(labels).all()):
        raise ValueError("Input y contains NaN or infinity; drop these rows.")
    distinct, present = distinct_labels(labels), None
    if weight is not None and len(distinct) <= 2:
        present = np.array([float(weight[labels == one].max()) for one in distinct])
    estimator._adopt_classes(on_host(distinct), present)
    return labels == distinct[estimator._positive_index]


def _on_device(values: Any, X: Tensor) -> Any:
    return None if values is None else torch.as_tensor(values, device=X.device)
