"""Losses for neural networks: partial AUC with a memory of past scores, and AUM.

Needs PyTorch (``pip install torch``), which nothing else in the library imports.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from aucuba._core._typing import FloatArray
from aucuba._core._validation import check_choice, check_positive_number
from aucuba._roc._rank_weights import FprWeight
from aucuba.risks import Region, Risk, Sample, make_risk

try:
    import torch
    from torch import Tensor, nn
except ImportError as error:
    raise ImportError(
        "The torch losses of aucuba.objectives need PyTorch: pip install torch."
    ) from error

_SURROGATES = ("tight", "direct")


class PartialAUCLoss(nn.Module):
    r"""Loss of a region of the ROC curve on mini-batches.

    .. math::
        L = R\bigl(s_{\mathrm{batch}}, s_{\mathrm{bank}}\bigr), \qquad
        \frac{dL}{ds_i} = \frac{n_{\mathrm{batch}} + n_{\mathrm{bank}}}{n_{\mathrm{batch}}}\,
        \frac{\partial R}{\partial s_i} \quad (i \in \mathrm{batch})

    A false positive rate of 5 % means little among the 60 negatives of a batch, so scores of recent
    batches are kept in a bank and ranked together with the new ones. R is the tight hinge (margin 1) or
    the smooth ramp. Positives are kept as well, since a batch of rare positives may hold none.

    Gradients flow through the new scores only. They stand for all scores that were ranked, so each
    class's part is multiplied by (new + kept) / new, its own counts: without a bank this is the plain
    gradient, and with one the size of a step does not depend on how full the bank is.

    Parameters
    ----------
    fpr_range : (float, float), default=(0.0, 0.05)
        The false positive rates that matter.
    min_tpr : float, default=0.0
        The lowest true positive rate that matters.
    fpr_weight : callable, "log", ("exponential", alpha) or None, default=None
        How much the rates inside ``fpr_range`` count; None where all count alike.
    surrogate : {"tight", "direct"}, default="tight"
        The hinge trains from scratch; the ramp is for the last epochs, since its gradient vanishes on
        pairs far apart.
    bank_size : int, default=2048
        Number of negatives kept, and of positives; 0 for none.
    width : float, default=1.0
        Half-width of the ramp in the unit of the scores.

    Attributes
    ----------
    n_negatives_in_range : float
        Number of negatives in the range at the last call: ``(beta - alpha) n`` for the n negatives of
        batch and bank. Below about 10 the range is mostly noise.

    Notes
    -----
    The bank lives in buffers, so it is saved in ``state_dict`` and moves with ``.to(device)``. In
    evaluation mode it is read but not changed. Call `reset` when the scores change scale at once, for
    example after loading other weights.

    Examples
    --------
    >>> import torch
    >>> from aucuba.objectives import PartialAUCLoss
    >>> loss = PartialAUCLoss((0.0, 0.5))
    >>> round(float(loss(torch.tensor([0.0, 2.0, 1.0]), torch.tensor([0, 0, 1]))), 6)
    2.0
    """

    negatives: Tensor
    positives: Tensor

    def __init__(
        self,
        fpr_range: tuple[float, float] = (0.0, 0.05),
        *,
        min_tpr: float = 0.0,
        fpr_weight: FprWeight = None,
        surrogate: str = "tight",
        bank_size: int = 2048,
        width: float = 1.0,
    ) -> None:
        super().__init__()
        self._region = Region.from_params(fpr_range, fpr_weight, min_tpr)
        self.fpr_range, self.min_tpr = self._region.fpr_range, self._region.min_tpr
        self.fpr_weight = fpr_weight
        self.surrogate = check_choice(surrogate, "surrogate", _SURROGATES)
        self.width = check_positive_number(width, "width")
        self.bank_size = (
            int(check_positive_number(bank_size + 1, "bank_size + 1", integer=True)) - 1
        )
        self.n_negatives_in_range = 0.0
        self.register_buffer("negatives", torch.empty(0))
        self.register_buffer("positives", torch.empty(0))

    def forward(self, scores: Tensor, target: Tensor) -> Tensor:
        """Compute the loss of a batch.

        Parameters
        ----------
        scores : Tensor of shape (n,) or (n, 1)
            Raw scores, no sigmoid.
        target : Tensor of the same number of elements
            1 for positive, 0 (or -1) for negative.

        Returns
        -------
        Tensor
            A scalar; 0 while neither batch nor bank holds a positive.
        """
        scores, positive = _checked(scores, target)
        bank = torch.cat([self.positives, self.negatives]).to(scores)
        in_bank = torch.arange(bank.numel(), device=positive.device) < self.positives.numel()
        everything = torch.cat([scores, bank])
        labels = torch.cat([positive, in_bank])
        n_negatives = int((~labels).sum())
        self._check_covered(n_negatives)
        self._remember(scores.detach(), positive)
        if not bool(labels.any()):
            return scores.sum() * 0.0
        known = labels.cpu().numpy()
        new = known[: scores.numel()]
        of_positives, of_negatives = (
            rows.sum() / max(int(fresh.sum()), 1) for rows, fresh in ((known, new), (~known, ~new))
        )
        factor = np.where(known, of_positives, of_negatives)
        risk = make_risk(self.surrogate, Sample(known), self._region, ramp_width=self.width)
        loss: Tensor = _RiskOfScores.apply(everything, factor, risk)
        return loss

    def reset(self) -> None:
        """Forget all scores."""
        self.negatives, self.positives = self.negatives[:0], self.positives[:0]

    def extra_repr(self) -> str:
        return f"{self.fpr_range}, surrogate={self.surrogate!r}, bank_size={self.bank_size}"

    def _check_covered(self, n_negatives: int) -> None:
        alpha, beta = self.fpr_range
        self.n_negatives_in_range = (beta - alpha) * n_negatives
        if self.n_negatives_in_range < 1.0:
            needed = int(np.ceil(1.0 / (beta - alpha)))
            raise ValueError(
                f"The range {self.fpr_range} holds {self.n_negatives_in_range:.2g} of the "
                f"{n_negatives} negatives of this batch and the bank. At least {needed} negatives are "
                "needed from the first batch on: use larger batches, widen the range, or fill the bank "
                "with `remember(scores, target)` before training."
            )

    def remember(self, scores: Tensor, target: Tensor) -> None:
        """Put scores into the bank without computing a loss.

        Parameters
        ----------
        scores, target : Tensor
            As in `forward`.
        """
        scores, positive = _checked(scores, target)
        self._store(scores.detach(), positive)

    def _remember(self, scores: Tensor, positive: Tensor) -> None:
        if self.training:
            self._store(scores, positive)

    def _store(self, scores: Tensor, positive: Tensor) -> None:
        kept = slice(-self.bank_size, None) if self.bank_size else slice(0, 0)
        self.negatives = torch.cat([self.negatives.to(scores), scores[~positive]])[kept]
        self.positives = torch.cat([self.positives.to(scores), scores[positive]])[kept]

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *args: Any) -> None:
        # The number of scores kept differs from that of a new module.
        for name in ("negatives", "positives"):
            saved = state_dict.get(prefix + name)
            if saved is not None:
                setattr(self, name, torch.empty_like(saved, device=getattr(self, name).device))
        super()._load_from_state_dict(state_dict, prefix, *args)


class AUMLoss(nn.Module):
    r"""Area under the minimum of false positive and false negative rates, as a loss.

    .. math::
        \mathrm{AUM} = \int_{-\infty}^{\infty} \min\{\mathrm{FPR}(c), \mathrm{FNR}(c)\}\, dc

    in O(n log n), by torch operations alone, so it runs where the scores are. Constant scores have AUM
    0: the loss is meant for descents with a moderate rate from a network that tells rows apart.

    Examples
    --------
    >>> import torch
    >>> from aucuba.objectives import AUMLoss
    >>> float(AUMLoss()(torch.tensor([3.0, 1.0]), torch.tensor([0, 1])))
    2.0
    """

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
        scores, positive = _checked(scores, target)
        n_positives = int(positive.sum())
        if n_positives in (0, positive.numel()):
            return scores.sum() * 0.0
        ranked, order = torch.sort(scores, descending=True)
        # Half precision cannot count beyond some hundreds of rows.
        ranked = ranked.to(torch.promote_types(ranked.dtype, torch.float32))
        found = torch.cumsum(positive[order].to(ranked.dtype), dim=0)
        passed = torch.arange(1, ranked.numel() + 1, device=ranked.device) - found
        fpr = passed / (ranked.numel() - n_positives)
        fnr = 1.0 - found / n_positives
        area = torch.sum((ranked[:-1] - ranked[1:]) * torch.minimum(fpr, fnr)[:-1])
        return area.to(scores.dtype)


class _RiskOfScores(torch.autograd.Function):
    """A Risk of the library as a torch function of the scores."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, factor: FloatArray, risk: Risk) -> Tensor:
        # In double precision on the processor, whatever the type of the scores.
        value, gradient = risk.value_and_gradient(scores.detach().double().cpu().numpy())
        ctx.save_for_backward(torch.as_tensor(gradient * factor).to(scores))
        return scores.new_tensor(value)

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor, None, None]:
        (gradient,) = ctx.saved_tensors
        return upstream[0] * gradient, None, None


def _checked(scores: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    flat, labels = scores.reshape(-1), target.reshape(-1)
    if flat.numel() != labels.numel():
        raise ValueError(f"{flat.numel()} scores for {labels.numel()} targets.")
    if not bool(torch.isfinite(flat).all()):
        raise ValueError("The scores hold NaN or infinite values; lower the learning rate.")
    labels = labels.to(flat.device)
    positive = labels == 1
    if not bool((positive | (labels == 0) | (labels == -1)).all()):
        wrong = labels[~(positive | (labels == 0) | (labels == -1))][0].item()
        raise ValueError(f"Targets must be 1 for positives and 0 or -1 for negatives, got {wrong}.")
    return flat, positive
