"""Score space on a torch device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from aucuba._core._arrays import NumpyArrays

_HOST = NumpyArrays()


class TorchArrays:
    """Vectors in double precision on one device, which is the processor's memory or a graphics card."""

    def __init__(self, device: torch.device) -> None:
        self.device = device

    def vector(self, values: Any) -> Tensor:
        if not isinstance(values, Tensor):
            values = torch.as_tensor(np.ascontiguousarray(values))
        return values.to(self.device, torch.float64)

    def host(self, values: Tensor) -> Any:
        return values.cpu().numpy() if isinstance(values, Tensor) else values

    def empty(self, size: int) -> Tensor:
        return torch.empty(size, dtype=torch.float64, device=self.device)

    def zeros(self, size: int) -> Tensor:
        return torch.zeros(size, dtype=torch.float64, device=self.device)

    def ones(self, size: int) -> Tensor:
        return torch.ones(size, dtype=torch.float64, device=self.device)

    def places(self, mask: Tensor) -> Tensor:
        return torch.nonzero(mask).ravel()

    def order(self, values: Tensor) -> Tensor:
        return torch.argsort(values)

    def kth_largest(self, values: Tensor, k: int) -> Tensor:
        # torch.kthvalue works with one block of threads for the whole vector.
        return torch.topk(values, k, sorted=False).values.min()

    def search(self, ranked: Tensor, values: Tensor, side: str = "left") -> Tensor:
        return torch.searchsorted(ranked.contiguous(), values.contiguous(), right=side == "right")

    def count_at_or_below(self, ranked: Tensor, values: Tensor) -> Tensor:
        return self.search(ranked, values, "right")

    def running_sum(self, values: Tensor) -> Tensor:
        sums = self.zeros(len(values) + 1)
        torch.cumsum(values, dim=0, out=sums[1:])
        return sums

    def sums_by_group(self, group: Tensor, values: Tensor | None, n_groups: int) -> Tensor:
        if values is None:
            values = torch.ones((), dtype=torch.float64, device=self.device).expand(len(group))
        return self.zeros(n_groups).index_add_(0, group, values)

    def mean_over_ties(self, ranked: Tensor, mass: Tensor | None, values: Tensor) -> Tensor:
        differs = ranked[1:] != ranked[:-1]
        if bool(differs.all()):
            return values
        block = torch.zeros(len(ranked), dtype=torch.int64, device=self.device)
        torch.cumsum(differs, dim=0, out=block[1:])
        n_blocks = int(block[-1]) + 1
        total = self.sums_by_group(block, mass, n_blocks)
        sums = self.sums_by_group(block, values if mass is None else mass * values, n_blocks)
        return (sums / torch.where(total > 0, total, 1.0))[block]

    def decreasing_regression(self, target: Tensor, mass: Tensor) -> Tensor:
        # Pooling is sequential, so it is done on the host.
        return self.vector(_HOST.decreasing_regression(self.host(target), self.host(mass)))

    def join(self, parts: Sequence[Tensor]) -> Tensor:
        return torch.cat(list(parts))

    def flip(self, values: Tensor) -> Tensor:
        return torch.flip(values, (0,))

    def unique(self, values: Tensor) -> Tensor:
        return torch.unique(values)

    def where(self, condition: Tensor, yes: Any, no: Any) -> Tensor:
        return torch.where(condition, yes, no)

    def log1p_exp(self, values: Tensor) -> Tensor:
        return torch.logaddexp(values, torch.zeros((), dtype=values.dtype, device=self.device))

    def expit(self, values: Tensor) -> Tensor:
        return torch.special.expit(values)
