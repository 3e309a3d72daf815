"""Ring buffers of past scores that are written without waiting for the device."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn


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
        """Load banks of any size: what is saved for another size is kept as far as there is room."""
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
