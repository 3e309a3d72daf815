"""The scores of a batch: checks, and gathering over processes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, distributed, nn


@dataclass(frozen=True)
class NewScores:
    """The scores of all processes, of which this one's begin at ``first``."""

    scores: Tensor
    positive: Tensor
    negative: Tensor
    first: int
    n_processes: int


def gather(scores: Tensor, positive: Tensor, negative: Tensor, group: Any) -> NewScores:
    """Gather batches of any sizes, padded to the largest, in the order of the processes."""
    world, rank = distributed.get_world_size(group), distributed.get_rank(group)
    size = torch.tensor([scores.shape[-1]], device=scores.device)
    sizes = [torch.zeros_like(size) for _ in range(world)]
    distributed.all_gather(sizes, size, group=group)
    most = max(int(one) for one in sizes)
    packed = torch.stack([scores, positive.to(scores), negative.to(scores)])
    packed = nn.functional.pad(packed, (0, most - scores.shape[-1])).contiguous()
    parts = [torch.zeros_like(packed) for _ in range(world)]
    distributed.all_gather(parts, packed, group=group)
    joined = torch.cat(parts, dim=-1)
    return NewScores(joined[0], joined[1] > 0, joined[2] > 0, rank * most, world)


def require(scores: Tensor, known: Tensor, labels: Tensor) -> None:
    """Check that scores are finite and targets known, with one wait for the device."""
    finite = torch.isfinite(scores).all()
    if bool(finite & known.all()):
        return
    if not bool(finite):
        raise ValueError("The scores hold NaN or infinite values; lower the learning rate.")
    wrong = labels[~known][0].item()
    raise ValueError(f"Targets must be 1 for positives and 0 or -1 for negatives, got {wrong}.")
