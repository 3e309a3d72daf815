"""The scores of a batch: checks, gathering over processes, and a bank of past scores."""

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


class ScoreBank(nn.Module):
    """The latest scores of both classes, per label, in buffers of fixed size.

    Parameters
    ----------
    size : int
        Number of scores kept per class and label; 0 for none.
    n_labels : int
        Number of labels.

    Attributes
    ----------
    scores : Tensor of shape (2, n_labels, size + 1)
        Of negatives and of positives; the last slot takes what is not to be kept.
    n_seen : Tensor of shape (2, n_labels, 1)
        Number of scores that were put in so far.
    """

    scores: Tensor
    n_seen: Tensor

    def __init__(self, size: int, n_labels: int) -> None:
        super().__init__()
        self.size = size
        self.register_buffer("scores", torch.zeros(2, n_labels, size + 1, dtype=torch.float64))
        self.register_buffer("n_seen", torch.zeros(2, n_labels, 1, dtype=torch.int64))

    def kept(self, positive: bool) -> tuple[Tensor, Tensor]:
        """Return the scores of a class and which slots hold one, shapes (n_labels, size)."""
        slots = torch.arange(self.size, device=self.scores.device)
        return self.scores[int(positive), :, :-1], slots < self.n_seen[int(positive)]

    def store(self, scores: Tensor, positive: Tensor, negative: Tensor) -> None:
        """Put in scores of shape (n_labels, n_rows), the oldest out where there is no room."""
        if not self.size:
            return
        for number, mask in enumerate((negative, positive)):
            count = torch.cumsum(mask, dim=-1)
            total = count[:, -1:]
            # Of more scores than there is room for, the last count; none is written over.
            lasting = mask & (count > total - self.size)
            slot = (self.n_seen[number] + count - 1) % self.size
            slot = torch.where(lasting, slot, self.size)
            self.scores[number].scatter_(-1, slot, scores.to(self.scores.dtype))
            self.n_seen[number] += total

    def latest(self, positive: bool, label: int = 0) -> Tensor:
        """Return the scores of a class and label in the order of their arrival."""
        seen = int(self.n_seen[int(positive), label])
        places = torch.arange(max(seen - self.size, 0), seen) % max(self.size, 1)
        return self.scores[int(positive), label, places.to(self.scores.device)]

    def reset(self) -> None:
        """Forget all scores."""
        self.scores.zero_()
        self.n_seen.zero_()

    def replace(self, positive: bool, label: int, values: Tensor) -> None:
        """Hold these scores, the oldest first, and no others; the last count where room is short."""
        values = values.reshape(-1)[max(values.numel() - self.size, 0) :]
        self.scores[int(positive), label, : len(values)] = values.to(self.scores)
        self.n_seen[int(positive), label] = len(values)

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *args: Any) -> None:
        """Load a bank of any size, and keep as many of its scores as this one holds."""
        saved, seen = state_dict.get(prefix + "scores"), state_dict.get(prefix + "n_seen")
        n_labels, room = self.scores.shape[1:]
        if saved is not None and saved.shape[1] == n_labels and saved.shape[2] != room:
            other = ScoreBank(saved.shape[2] - 1, n_labels)
            other.scores.copy_(saved)
            other.n_seen.copy_(seen)
            state_dict[prefix + "scores"], state_dict[prefix + "n_seen"] = self._refilled(other)
        super()._load_from_state_dict(state_dict, prefix, *args)

    def _refilled(self, other: ScoreBank) -> tuple[Tensor, Tensor]:
        n_labels = self.scores.shape[1]
        fresh = ScoreBank(self.size, n_labels)
        for positive in (False, True):
            for label in range(n_labels):
                fresh.replace(positive, label, other.latest(positive, label))
        return fresh.scores, fresh.n_seen
