"""Losses for neural networks: partial AUC with a memory of past scores, and AUM.

Needs PyTorch (``pip install torch``); everything is computed on the device of the scores.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from aucuba._base._validation import check_choice, check_positive_number
from aucuba._roc._region import FEWEST_TO_TRAIN, FprWeight
from aucuba.risks import Region, Sample, make_risk

try:
    import torch
    from torch import Tensor, nn

    from aucuba.objectives._aum_loss import AUMLoss
    from aucuba.objectives._batches import NewScores, ScoreBank, gather, require
    from aucuba.objectives._ranked_losses import (
        Limits,
        RankedTable,
        RankIntegral,
        Slots,
        smooth_ramp,
        tight_hinge,
    )
    from aucuba.objectives._step import Recorder, with_gradient
except ImportError as error:
    raise ImportError(
        "The torch losses of aucuba.objectives need PyTorch: pip install torch."
    ) from error

__all__ = ["AUMLoss", "PartialAUCLoss"]

_SURROGATES = ("tight", "direct")
# Tracked thresholds: the step for one negative too many above, in standard deviations of the batch's
# negatives, and the batches after which they are used.
_QUANTILE_STEP = 0.05
_FIRST_STEPS = 20


class PartialAUCLoss(nn.Module):
    r"""Loss of a region of the ROC curve on mini-batches.

    .. math::
        L = R\bigl(s_{\mathrm{batch}}, s_{\mathrm{bank}}\bigr), \qquad
        \frac{dL}{ds_i} = \frac{n_{\mathrm{batch}} + n_{\mathrm{bank}}}{n_{\mathrm{batch}}}\,
        \frac{\partial R}{\partial s_i} \quad (i \in \mathrm{batch})

    A false positive rate of 5 % means little among the 60 negatives of a batch, so scores of recent
    batches are kept in a bank and ranked together with the new ones. R is the tight hinge (margin 1) or
    the smooth ramp, in double precision on the device of the scores. Positives are kept as well, since
    a batch of rare positives may hold none.

    Gradients flow through the new scores only. They stand for all scores that were ranked, so each
    class's part is multiplied by (new + kept) / new, its own counts: without a bank this is the plain
    gradient, and with one the size of a step does not depend on how full the bank is.

    While batch and bank hold fewer than ten negatives in the range, the loss is that of the narrowest
    range with the same lower limit that holds ten (`is_warming_up`). Where even a full bank would hold
    fewer, the scores at the range's limits are tracked by stochastic quantile steps over all batches,
    and the negatives between them count.

    Parameters
    ----------
    fpr_range : (float, float), default=(0.0, 0.05)
        The false positive rates that matter.
    min_tpr : float, default=0.0
        The lowest true positive rate that matters.
    fpr_weight : callable, "log", ("exponential", alpha) or None, default=None
        How much the rates inside ``fpr_range`` count; None where all count alike. A callable is
        evaluated on the host, and needs ``validate=True``.
    surrogate : {"tight", "direct"}, default="tight"
        The hinge trains from scratch; the ramp is for the last epochs, since its gradient vanishes on
        pairs far apart.
    bank_size : int, default=2048
        Number of negatives kept, and of positives; 0 for none.
    width : float, default=1.0
        Half-width of the ramp in the unit of the scores.
    n_labels : int, default=1
        Number of labels of a row. With more than one, scores and targets have the shape
        (n, n_labels), every label has a bank of its own, a target of nan is not labelled, and the loss
        is the mean over labels.
    validate : bool, default=True
        Check targets and finiteness, at the cost of one wait for the device per call. False makes a
        training step that never waits: no operation depends on the data's values for its shape.
    process_group : torch.distributed.ProcessGroup or None, default=None
        Processes that train one model together: the scores of all of them, however many each has, are
        ranked and remembered together. Gradients are multiplied by the number of processes, since
        ``DistributedDataParallel`` takes their mean.

    Attributes
    ----------
    n_negatives_in_range : float
        Number of negatives in the range at the last call: ``(beta - alpha) n`` for the n negatives of
        batch and bank; the smallest over labels. Reading it waits for the device.
    is_warming_up : bool
        Whether the last call widened the range; reading it waits for the device.

    Notes
    -----
    The bank lives in buffers, so it is saved in ``state_dict`` and moves with ``.to(device)``. In
    evaluation mode it is read but not changed. Call `reset` when the scores change scale at once, for
    example after loading other weights.

    Examples
    --------
    >>> import torch
    >>> from aucuba.objectives import PartialAUCLoss
    >>> loss = PartialAUCLoss((0.0, 0.5), bank_size=0)
    >>> scores = torch.linspace(0.0, 2.0, 30)
    >>> round(float(loss(scores, torch.arange(30) % 3 == 0)), 4)
    1.6207
    """

    _thresholds: Tensor
    _n_in_range: Tensor

    def __init__(
        self,
        fpr_range: tuple[float, float] = (0.0, 0.05),
        *,
        min_tpr: float = 0.0,
        fpr_weight: FprWeight = None,
        surrogate: str = "tight",
        bank_size: int = 2048,
        width: float = 1.0,
        n_labels: int = 1,
        validate: bool = True,
        process_group: Any = None,
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
        self.n_labels = int(check_positive_number(n_labels, "n_labels", integer=True))
        self.validate, self.process_group = validate, process_group
        if callable(fpr_weight) and not validate:
            raise ValueError(
                "A callable fpr_weight is evaluated on the host; use 'log' or ('exponential', alpha) "
                "with validate=False."
            )
        self.bank = ScoreBank(self.bank_size, self.n_labels)
        self._integral = RankIntegral(self._region)
        self._recorder = Recorder()
        # Scores at the range's upper and lower limit, and the number of steps they have taken.
        self.register_buffer("_thresholds", torch.zeros(3, self.n_labels, 1, dtype=torch.float64))
        self.register_buffer(
            "_n_in_range", torch.zeros(self.n_labels, 1, dtype=torch.float64), persistent=False
        )

    @property
    def negatives(self) -> Tensor:
        """The negatives of the (first) bank, oldest first."""
        return self.bank.latest(positive=False)

    @property
    def positives(self) -> Tensor:
        """The positives of the (first) bank, oldest first."""
        return self.bank.latest(positive=True)

    @property
    def n_negatives_in_range(self) -> float:
        return float(self._n_in_range.min())

    @property
    def is_warming_up(self) -> bool:
        return not self._tracks and self.n_negatives_in_range < FEWEST_TO_TRAIN

    def forward(self, scores: Tensor, target: Tensor) -> Tensor:
        """Compute the loss of a batch.

        Parameters
        ----------
        scores : Tensor of shape (n,), (n, 1) or (n, n_labels)
            Raw scores, no sigmoid.
        target : Tensor of the same number of elements
            1 for positive, 0 (or -1) for negative; with several labels nan for not labelled.

        Returns
        -------
        Tensor
            A scalar; 0 while neither batch nor bank holds a positive.
        """
        table, positive, negative = self._table(scores, target)
        self._follow(scores.device)
        given = table.detach(), positive, negative
        if self.process_group is not None or callable(self.fpr_weight):
            value, gradient = self._step(*given)
        else:
            # A recorded step reads and writes the buffers where they were.
            state = (self.training, *(one.data_ptr() for one in self.buffers()))
            value, gradient = self._recorder.take(self._step, state, *given)
        return with_gradient(table, value, gradient)

    def _step(self, table: Tensor, positive: Tensor, negative: Tensor) -> tuple[Tensor, Tensor]:
        """Compute the value and its gradient in the scores of this process; remember the scores."""
        new = self._gathered(table.double(), positive, negative)
        positives = self._slots(new.scores, new.positive, positive=True)
        negatives = self._slots(new.scores, new.negative, positive=False)
        value, (on_positives, on_negatives) = self._risk(positives, negatives)
        # A new row stands for all rows of its class that were ranked.
        of_positives, of_negatives = (
            rows.count / mask.sum(-1, keepdim=True).clamp(min=1)
            for rows, mask in ((positives, new.positive), (negatives, new.negative))
        )
        if self.training:
            self._store(new)
        local = slice(new.first, new.first + table.shape[-1])
        gradient = of_positives * on_positives[:, local] + of_negatives * on_negatives[:, local]
        return value.mean(), gradient * new.n_processes / self.n_labels

    def remember(self, scores: Tensor, target: Tensor) -> None:
        """Put scores into the bank without computing a loss.

        Parameters
        ----------
        scores, target : Tensor
            As in `forward`.
        """
        table, positive, negative = self._table(scores, target)
        self._follow(scores.device)
        self._store(self._gathered(table.detach().double(), positive, negative))

    def reset(self) -> None:
        """Forget all scores."""
        self.bank.reset()
        self._thresholds.zero_()

    def extra_repr(self) -> str:
        return f"{self.fpr_range}, surrogate={self.surrogate!r}, bank_size={self.bank_size}"

    @property
    def _tracks(self) -> bool:
        """Whether a full bank would hold too few negatives in the range to rank by."""
        alpha, beta = self.fpr_range
        return self.bank_size > 0 and (beta - alpha) * self.bank_size < FEWEST_TO_TRAIN

    def _table(self, scores: Tensor, target: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return scores of shape (n_labels, n) and the masks of both classes."""
        if scores.numel() != target.numel():
            raise ValueError(f"{scores.numel()} scores for {target.numel()} targets.")
        if scores.numel() % self.n_labels or (self.n_labels > 1 and scores.ndim != 2):
            raise ValueError(
                f"Scores of shape {tuple(scores.shape)} for n_labels={self.n_labels}; they must have "
                f"the shape (n, {self.n_labels})."
            )
        table = scores.reshape(-1, self.n_labels).T
        labels = target.to(scores.device).reshape(-1, self.n_labels).T
        positive, negative = labels == 1, (labels == 0) | (labels == -1)
        if self.validate:
            known = positive | negative
            if self.n_labels > 1:
                known = known | labels.isnan()
            require(scores, known, labels)
        return table, positive, negative

    def _follow(self, device: torch.device) -> None:
        """Move the buffers to the device of the scores, where a user has not."""
        if self.bank.scores.device != device:
            self.to(device)

    def _gathered(self, scores: Tensor, positive: Tensor, negative: Tensor) -> NewScores:
        if self.process_group is None:
            return NewScores(scores, positive, negative, 0, 1)
        return gather(scores, positive, negative, self.process_group)

    def _slots(self, new: Tensor, mask: Tensor, *, positive: bool) -> Slots:
        """Return the new scores of a class, followed by its bank."""
        kept, held = self.bank.kept(positive)
        return Slots(torch.cat([new, kept], dim=-1), torch.cat([mask, held], dim=-1))

    def _risk(self, positives: Slots, negatives: Slots) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        alpha, beta = self.fpr_range
        self._n_in_range.copy_((beta - alpha) * negatives.count)
        if callable(self.fpr_weight):
            return self._on_host(positives, negatives)
        limits = self._limits(negatives)
        table = RankedTable.from_scores(positives, negatives, self.min_tpr, limits, self._integral)
        return tight_hinge(table) if self.surrogate == "tight" else smooth_ramp(table, self.width)

    def _limits(self, negatives: Slots) -> Limits:
        n, n_slots = negatives.count, negatives.held.shape[-1]
        alpha, beta = self.fpr_range
        # The rank at the upper limit grows with the number of negatives, at most that of the slots.
        most = math.ceil(max(beta * n_slots, alpha * n_slots + FEWEST_TO_TRAIN)) + 1
        most = n_slots if self._tracks else min(most, n_slots)
        limits = partial(Limits, from_top=alpha == 0, most=most)
        if self.fpr_weight is not None and not self._tracks:
            # A weight is not known beyond its range, which is left as it is.
            total = n * self._region.weights.total
            return limits(alpha * n, beta * n, total, weighted=True)
        if not self._tracks:
            # The narrowest range with this lower limit that holds enough negatives.
            width = torch.maximum((beta - alpha) * n, n.clamp(max=FEWEST_TO_TRAIN))
            low = torch.minimum(alpha * n, n - width)
            return limits(low, low + width, width, weighted=False)
        upper, lower, steps = self._thresholds
        scores, held = negatives.scores, negatives.held
        above = ((scores >= upper) & held).sum(-1, keepdim=True).double()
        far_above = ((scores > lower) & held).sum(-1, keepdim=True).double() * (alpha > 0)
        wide = n.clamp(max=FEWEST_TO_TRAIN)
        started = steps >= _FIRST_STEPS
        high = torch.where(
            started, torch.maximum(above, far_above), torch.minimum(alpha * n + wide, n)
        )
        low = torch.where(started, far_above, torch.minimum(alpha * n, n - wide))
        total = torch.where(started, (beta - alpha) * n, high - low)
        return limits(low, high, total.clamp(min=1e-300), weighted=False)

    def _store(self, new: NewScores) -> None:
        if self._tracks:
            self._step_thresholds(new)
        self.bank.store(new.scores, new.positive, new.negative)

    def _step_thresholds(self, new: NewScores) -> None:
        """Move the scores at the limits towards the quantiles of the negatives."""
        n = new.negative.sum(-1, keepdim=True).double()
        held = torch.where(new.negative, new.scores, 0.0)
        mean = held.sum(-1, keepdim=True) / n.clamp(min=1.0)
        spread = torch.where(new.negative, (new.scores - mean) ** 2, 0.0).sum(-1, keepdim=True)
        deviation = (spread / n.clamp(min=1.0)).sqrt()
        highest = torch.where(new.negative, new.scores, -torch.inf).amax(-1, keepdim=True)
        steps = self._thresholds[2]
        for number, rate in enumerate((self.fpr_range[1], self.fpr_range[0])):
            value = self._thresholds[number]
            above = ((new.scores > value) & new.negative).sum(-1, keepdim=True).double()
            moved = value + _QUANTILE_STEP * deviation * (above - rate * n)
            # The largest score of the first batch is near a small quantile.
            first = torch.where(n > 0, highest, value)
            self._thresholds[number] = torch.where(steps == 0, first, moved)
        self._thresholds[2] += (n > 0).double()

    def _on_host(self, positives: Slots, negatives: Slots) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Evaluate a region with any weight, label by label, by the library's risks."""
        on_positives, on_negatives = (
            torch.zeros_like(rows.scores) for rows in (positives, negatives)
        )
        values = on_positives.new_zeros(self.n_labels)
        for label in range(self.n_labels):
            p, q = (rows.scores[label, rows.held[label]] for rows in (positives, negatives))
            if len(p) == 0 or len(q) == 0:
                continue
            sample = Sample(np.arange(len(p) + len(q)) < len(p))
            risk = make_risk(self.surrogate, sample, self._region, ramp_width=self.width)
            value, gradient = risk.value_and_gradient(torch.cat([p, q]).cpu().numpy())
            slopes = torch.as_tensor(gradient, device=p.device)
            values[label] = value
            on_positives[label, positives.held[label]] = slopes[: len(p)]
            on_negatives[label, negatives.held[label]] = slopes[len(p) :]
        return values, (on_positives, on_negatives)
