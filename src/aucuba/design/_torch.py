"""Designs on torch tensors, on the processor or a graphics card."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from aucuba._base._arrays import NUMPY, Arrays, Vector
from aucuba._base._torch_arrays import TorchArrays
from aucuba._base._typing import FloatArray

# Entries per block that is multiplied as it is, and per block that is converted first. Larger blocks
# run faster; converted blocks need memory.
_ENTRIES_TO_SUM = 2**29
_ENTRIES_TO_CONVERT = 2**27
# Tables in half precision are those that hardly fit: their blocks shall be small beside them.
_BYTES_TO_WIDEN = 2**26


class TorchDesign:
    r"""A dense tensor: ``scores = X @ w``, computed where X lives.

    X is never copied as a whole. Models are float64 vectors on the host; scores and their gradients
    are float64 vectors on the device of X. A float64 tensor is multiplied in double precision. A
    float32 tensor is multiplied in single precision, never in TF32, and sums over blocks of rows are
    added in double precision. Half-precision tensors are widened to float32, block by block, and parts
    of them are not copied. With ``exact`` all products are in double precision; solvers compute their
    certificates with it.

    Parameters
    ----------
    X : Tensor of shape (n_rows, n_features)
        Finite floats, already validated by the caller.
    exact_products : bool, default=False
        Whether to multiply in double precision, whatever the precision of X.
    rows : Tensor of int64, default=None
        The rows in use, of a tensor in half precision; None is all of them.

    Examples
    --------
    >>> import numpy as np, torch
    >>> from aucuba.design import TorchDesign
    >>> TorchDesign(torch.eye(2)).scores(np.array([1.0, 2.0]))
    tensor([1., 2.], dtype=torch.float64)
    """

    def __init__(self, X: Tensor, exact_products: bool = False, rows: Tensor | None = None) -> None:
        self.X, self.rows = X, rows
        self.arrays = TorchArrays(X.device)
        wide = exact_products or X.dtype == torch.float64
        self.dtype = torch.float64 if wide else torch.float32

    @property
    def n_rows(self) -> int:
        return len(self.X if self.rows is None else self.rows)

    @property
    def is_exact(self) -> bool:
        return bool(self.dtype == torch.float64)

    def exact(self) -> TorchDesign:
        return self if self.is_exact else TorchDesign(self.X, True, self.rows)

    def on_host(self) -> _HostScores:
        return _HostScores(self)

    def in_single_precision(self) -> TorchDesign:
        return self

    @property
    def table(self) -> Any:
        return None

    @cached_property
    def largest(self) -> float:
        low, high = torch.aminmax(self.X)
        return float(torch.maximum(-low, high))

    def zeros(self) -> FloatArray:
        return np.zeros(self.X.shape[1])

    def scores(self, model: FloatArray) -> Tensor:
        w = torch.as_tensor(model, dtype=self.dtype, device=self.X.device)
        with _full_precision():
            if self.X.dtype == self.dtype:
                return _scores(self.X, w).double()
            parts = [_scores(block, w).double() for _, block in self._blocks()]
        return torch.cat(parts, dim=-1)

    def adjoint(self, gradient: Tensor | Sequence[Tensor]) -> FloatArray:
        several = not isinstance(gradient, Tensor)
        gradients = list(gradient) if several else [gradient]
        stacked = self.X.new_empty(len(gradients), self.n_rows, dtype=self.dtype)
        for row, one in zip(stacked, gradients, strict=True):
            row.copy_(one)
        total = torch.zeros(
            len(stacked), self.X.shape[1], dtype=torch.float64, device=self.X.device
        )
        with _full_precision():
            for rows, block in self._blocks():
                total += stacked[:, rows] @ block
        result: FloatArray = total.cpu().numpy()
        return result if several else result[0]

    def inner(self, models: FloatArray, model: FloatArray) -> FloatArray:
        return np.asarray(models @ model)

    def take(self, rows: Any) -> TorchDesign:
        rows = torch.as_tensor(rows, device=self.X.device)
        if self.X.itemsize > 2:
            return TorchDesign(self.X[rows])
        return TorchDesign(self.X, rows=rows if self.rows is None else self.rows[rows])

    def some_rows(self, count: int) -> Any:
        rows = slice(None, None, -(-self.n_rows // count))
        return self._part(rows).double().cpu().numpy()

    def gram(self, weight: Tensor) -> FloatArray:
        n_features = self.X.shape[1]
        total = torch.zeros(n_features, n_features, dtype=torch.float64, device=self.X.device)
        root = weight.sqrt().to(self.dtype)
        with _full_precision():
            for rows, block in self._blocks():
                weighted = block * root[rows, None]
                total += weighted.T @ weighted
        result: FloatArray = total.cpu().numpy()
        return result

    def beside(self, *columns: Vector) -> None:
        return None

    def _blocks(self) -> Iterator[tuple[slice, Tensor]]:
        """Convert the rows to the precision of the products, block by block."""
        entries = _ENTRIES_TO_SUM if self.X.dtype == self.dtype else _ENTRIES_TO_CONVERT
        entries = _BYTES_TO_WIDEN // self.dtype.itemsize if self.X.itemsize == 2 else entries
        size = max(entries // max(self.X.shape[1], 1), 1)
        for start in range(0, self.n_rows, size):
            rows = slice(start, start + size)
            yield rows, self._part(rows).to(self.dtype)

    def _part(self, rows: slice) -> Tensor:
        return self.X[rows] if self.rows is None else self.X[self.rows[rows]]


def _scores(X: Tensor, w: Tensor) -> Tensor:
    return torch.mv(X, w) if w.ndim == 1 else w @ X.T


class _HostScores:
    """A `TorchDesign` whose products run on its device and whose scores are copied to the host.

    For algorithms that process scores in NumPy: every product copies one entry per row.
    """

    def __init__(self, design: TorchDesign) -> None:
        self.design = design
        self.arrays: Arrays = NUMPY
        self.n_rows, self.is_exact = design.n_rows, design.is_exact

    @property
    def largest(self) -> float:
        return self.design.largest

    def exact(self) -> _HostScores:
        return self.design.exact().on_host()

    def on_host(self) -> _HostScores:
        return self

    def zeros(self) -> FloatArray:
        return self.design.zeros()

    def scores(self, model: FloatArray) -> FloatArray:
        scores: FloatArray = self.design.scores(model).cpu().numpy()
        return scores

    def adjoint(self, gradient: FloatArray | Sequence[FloatArray]) -> FloatArray:
        vector = self.design.arrays.vector
        if isinstance(gradient, Sequence):
            return self.design.adjoint([vector(one) for one in gradient])
        return self.design.adjoint(vector(gradient))

    def inner(self, models: FloatArray, model: FloatArray) -> FloatArray:
        return self.design.inner(models, model)


@contextmanager
def _full_precision() -> Iterator[None]:
    """Keep single-precision products from being rounded to TF32, whatever the user has set."""
    settings = torch.backends.cuda.matmul
    name, value = "fp32_precision", "ieee"
    if not hasattr(settings, name):
        name, value = "allow_tf32", False  # type: ignore[assignment]
    before = getattr(settings, name)
    setattr(settings, name, value)
    try:
        yield
    finally:
        setattr(settings, name, before)
