"""The area under the minimum of both error rates as a loss for networks."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from aucuba.objectives._batches import require
from aucuba.objectives._step import Recorder, with_gradient


class AUMLoss(nn.Module):
    r"""Area under the minimum of false positive and false negative rates, as a loss.

    .. math::
        \mathrm{AUM} = \int_{-\infty}^{\infty} \min\{\mathrm{FPR}(c), \mathrm{FNR}(c)\}\, dc

    in O(n log n), by torch operations alone, so it runs where the scores are. Constant scores have AUM
    0: the loss is meant for descents with a moderate rate from a network that tells rows apart.

    Parameters
    ----------
    validate : bool, default=True
        Check targets and finiteness, at the cost of one wait for the device per call.

    Examples
    --------
    >>> import torch
    >>> from aucuba.objectives import AUMLoss
    >>> float(AUMLoss()(torch.tensor([3.0, 1.0]), torch.tensor([0, 1])))
    2.0
    """

    def __init__(self, validate: bool = True) -> None:
        super().__init__()
        self.validate = validate
        self._recorder = Recorder()

    def forward(self, scores: Tensor, target: Tensor) -> Tensor:
        """Compute the AUM of a batch.

        Parameters
        ----------
        scores : Tensor of shape (n,) or (n, 1)
        target : Tensor of the same number of elements
            1 for positive, 0 (or -1) for negative.

        Returns
        -------
        Tensor
            A scalar; 0 for a batch of one class.
        """
        scores, labels = scores.reshape(-1), target.to(scores.device).reshape(-1)
        if scores.numel() != labels.numel():
            raise ValueError(f"{scores.numel()} scores for {labels.numel()} targets.")
        positive = labels == 1
        if self.validate:
            require(scores, positive | (labels == 0) | (labels == -1), labels)
        value, gradient = self._recorder.take(_aum, None, scores.detach(), positive)
        return with_gradient(scores, value, gradient)


def _aum(scores: Tensor, positive: Tensor) -> tuple[Tensor, Tensor]:
    """Compute the area and its gradient: a score widens the gap below it and narrows the one above."""
    ranked, order = torch.sort(scores, descending=True)
    # Half precision cannot count beyond some hundreds of rows.
    ranked = ranked.to(torch.promote_types(ranked.dtype, torch.float32))
    found = torch.cumsum(positive[order].to(ranked.dtype), dim=0)
    passed = torch.arange(1, ranked.numel() + 1, device=ranked.device) - found
    fpr = passed / passed[-1:].clamp(min=1.0)
    fnr = 1.0 - found / found[-1:].clamp(min=1.0)
    # A batch of one class has no error to trade for another.
    both = (found[-1:] > 0) & (passed[-1:] > 0)
    height = torch.minimum(fpr, fnr)[:-1] * both
    value = torch.sum((ranked[:-1] - ranked[1:]) * height)
    slope = nn.functional.pad(height, (0, 1)) - nn.functional.pad(height, (1, 0))
    return value, torch.zeros_like(slope).scatter(0, order, slope)
