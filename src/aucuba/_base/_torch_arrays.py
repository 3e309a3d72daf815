"""Score space on a torch device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from aucuba._base._arrays import NumpyArrays

_HOST = NumpyArrays()


class TorchArrays:
    """Vectors in double precision on one device: the processor or a graphics card."""

    def __init__(self, device: torch.device) -> None:
        self.device = device

    def vector(self, values: Any) -> Tensor:
        vector: Tensor = self.index(values).to(torch.float64)
        return vector

    def host(self, values: Tensor) -> Any:
        return values.cpu().numpy() if isinstance(values, Tensor) else values

    def index(self, places: Any) -> Any:
        if not isinstance(places, Tensor):
            # NumPy calls a single entry contiguous even if it comes from a reversed view, whose stride
            # torch refuses.
            rows = np.asarray(places)
            places = torch.as_tensor(np.ascontiguousarray(rows) if rows.size > 1 else rows.copy())
        # A wider type would be made before the copy, and take more bytes on the way.
        return places.to(self.device)

    def empty(self, size: int) -> Tensor:
        return torch.empty(size, dtype=torch.float64, device=self.device)

    def zeros(self, size: int) -> Tensor:
        return torch.zeros(size, dtype=torch.float64, device=self.device)

    def ones(self, size: int) -> Tensor:
        return torch.ones(size, dtype=torch.float64, device=self.device)

    def places(self, mask: Tensor) -> Tensor:
        return torch.nonzero(mask).ravel()

    def count(self, mask: Tensor) -> int:
        return int(mask.sum())

    def order(self, values: Tensor) -> Tensor:
        return torch.argsort(values)

    def ordered(self, values: Tensor) -> tuple[Tensor, Tensor]:
        ranked, order = torch.sort(values)
        return ranked, order

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
        sums = self.zeros(n_groups)
        first, last = torch.aminmax(group)
        if int(first) == int(last):
            # A graphics card adds the rows of one sum one by one, which is slow if all rows belong to
            # the same sum, as they do if all scores are tied.
            sums[first] = values.sum()
            return sums
        return sums.index_add_(0, group, values)

    def mean_over_ties(self, ranked: Tensor, mass: Tensor | None, values: Tensor) -> Tensor:
        differs = ranked[1:] != ranked[:-1]
        if bool(differs.all()):
            return values
        ends = torch.cat(
            [self.places(differs) + 1, torch.tensor([len(ranked)], device=self.device)]
        )
        starts = torch.cat([torch.zeros_like(ends[:1]), ends[:-1]])
        mass = self.ones(len(ranked)) if mass is None else mass
        of_mass, of_values = self.running_sum(mass), self.running_sum(mass * values)
        total = of_mass[ends] - of_mass[starts]
        means = (of_values[ends] - of_values[starts]) / torch.where(total > 0, total, 1.0)
        return torch.repeat_interleave(means, ends - starts)

    def decreasing_regression(self, target: Tensor, mass: Tensor) -> Tensor:
        # Pooling is sequential, so it is done on the host.
        return self.vector(_HOST.decreasing_regression(self.host(target), self.host(mass)))

    def join(self, parts: Sequence[Tensor]) -> Tensor:
        return torch.cat(list(parts))

    def stack(self, rows: Sequence[Tensor]) -> Tensor:
        return torch.stack(list(rows))

    def flip(self, values: Tensor) -> Tensor:
        return torch.flip(values, (0,))

    def unique(self, values: Tensor) -> Tensor:
        distinct: Tensor = torch.unique(values)
        return distinct

    def where(self, condition: Tensor, yes: Any, no: Any) -> Tensor:
        return torch.where(condition, yes, no)

    def log1p_exp(self, values: Tensor) -> Tensor:
        return torch.logaddexp(values, torch.zeros((), dtype=values.dtype, device=self.device))

    def expit(self, values: Tensor) -> Tensor:
        rate: Tensor = torch.special.expit(values)
        return rate


def distinct_labels(labels: Tensor) -> Tensor:
    """Return the distinct labels in increasing order, without a sort if there are at most two."""
    values = labels.to(torch.uint8) if labels.dtype == torch.bool else labels
    low, high = torch.aminmax(values)
    two = bool(((values == low) | (values == high)).all())
    distinct: Tensor = torch.unique(torch.stack([low, high])) if two else torch.unique(values)
    return distinct.to(labels.dtype)
