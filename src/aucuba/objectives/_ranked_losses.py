"""Losses of ranked scores by torch operations of fixed shapes, which never wait for the device.

The scores of a class come as a padded table of shape (n_labels, n_slots) with a mask that tells which
slots hold one, so that no shape depends on the data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from aucuba.risks import Region


@dataclass(frozen=True)
class Slots:
    """Scores of one class, and which slots hold one; the slots of the new rows come first."""

    scores: Tensor
    held: Tensor

    @property
    def count(self) -> Tensor:
        """Number of scores per label, shape (n_labels, 1)."""
        return self.held.sum(dim=-1, keepdim=True).double()


@dataclass(frozen=True)
class Limits:
    """The ranks of the negatives between which a loss counts, per label, and their weight in all.

    ``weighted`` tells whether the weight of the region's rates applies to them, ``from_top`` whether
    they start at the first rank. No rank from ``most`` on counts, however many negatives there are.
    """

    low: Tensor
    high: Tensor
    total: Tensor
    weighted: bool
    from_top: bool
    most: int


class RankIntegral(nn.Module):
    """Weights of ranks: the integral of the region's density over the false positive rates."""

    knots: Tensor
    integral: Tensor
    density: Tensor

    def __init__(self, region: Region) -> None:
        super().__init__()
        weights = region.weights
        density = weights.integral * 0.0 if weights.density is None else weights.density
        for name, values in (
            ("knots", weights.knots),
            ("integral", weights.integral),
            ("density", density),
        ):
            self.register_buffer(name, torch.tensor(values), persistent=False)

    def up_to(self, rank: Tensor, n: Tensor, limits: Limits) -> Tensor:
        """Return the weight of the first ``rank`` of n negatives."""
        if not limits.weighted:
            return torch.clamp(rank, limits.low, limits.high) - limits.low
        rate = torch.clamp(rank / n.clamp(min=1.0), max=1.0)
        cell = torch.searchsorted(self.knots, rate, right=True) - 1
        cell = cell.clamp(0, len(self.knots) - 2)
        step = rate - self.knots[cell]
        width = self.knots[cell + 1] - self.knots[cell]
        slope = (self.density[cell + 1] - self.density[cell]) / width
        return n * (self.integral[cell] + step * (self.density[cell] + slope * step / 2))


@dataclass(frozen=True)
class RankedTable:
    """Positives in increasing, negatives in decreasing order of score, with their weights by rank.

    Of the negatives only those at the top are ranked that can count. ``counted`` is the weight of the
    positives, 0 for empty slots; ``n`` is the number of negatives, ``scale`` the product of both
    classes' weights in all.
    """

    p: Tensor
    q: Tensor
    p_order: Tensor
    q_order: Tensor
    counted: Tensor
    n: Tensor
    scale: Tensor
    limits: Limits
    integral: RankIntegral
    beyond: Tensor
    negatives: Slots

    @classmethod
    def from_scores(
        cls,
        positives: Slots,
        negatives: Slots,
        min_tpr: float,
        limits: Limits,
        integral: RankIntegral,
    ) -> RankedTable:
        # Larger than every score, so that empty slots come last on either side.
        beyond = 1.0 + torch.maximum(
            *(one.scores.abs().amax(dim=-1, keepdim=True) for one in (positives, negatives))
        )
        p, p_order = torch.sort(torch.where(positives.held, positives.scores, beyond))
        key = torch.where(negatives.held, -negatives.scores, beyond)
        if limits.most < key.shape[-1]:
            key, q_order = torch.topk(key, limits.most, largest=False)
        else:
            key, q_order = torch.sort(key)
        n, lowest = negatives.count, positives.count * (1.0 - min_tpr)
        if min_tpr > 0:
            counted = mean_over_ties(p, lambda rank: torch.minimum(rank.double(), lowest))
        else:
            counted = (torch.arange(p.shape[-1], device=p.device) < lowest).double()
        scale = (lowest * limits.total).clamp(min=torch.finfo(torch.float64).tiny)
        order = p_order, q_order
        return cls(p, -key, *order, counted, n, scale, limits, integral, beyond, negatives)

    def up_to(self, rank: Tensor) -> Tensor:
        return self.integral.up_to(rank.double(), self.n, self.limits)

    def gradient(self, on_p: Tensor, on_q: Tensor) -> tuple[Tensor, Tensor]:
        """Bring gradients by rank back to the slots of either class."""
        of_p = torch.zeros_like(on_p).scatter(-1, self.p_order, on_p)
        of_q = torch.zeros_like(self.negatives.scores).scatter(-1, self.q_order, on_q)
        if self.limits.most < of_q.shape[-1]:
            # Negatives that tie with the last one ranked share what was computed for those ranked.
            last = self.q[..., -1:]
            tied = self.negatives.held & (self.negatives.scores == last)
            ranked, held = (one.sum(-1, keepdim=True).double() for one in (self.q == last, tied))
            of_q = torch.where(tied, on_q[..., -1:] * (ranked / held), of_q)
        return of_p / self.scale, of_q / self.scale


def mean_over_ties(ranked: Tensor, up_to: Callable[[Tensor], Tensor]) -> Tensor:
    """Average over every block of equal entries of a rising vector, given sums up to each rank."""
    first = torch.searchsorted(ranked, ranked)
    last = torch.searchsorted(ranked, ranked, right=True)
    return (up_to(last) - up_to(first)) / (last - first)


def tight_hinge(table: RankedTable) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """Compute `aucuba.risks.TightHinge` per label, and its gradients in the slots of both classes."""
    ranks = torch.arange(table.q.shape[-1] + 1, device=table.q.device)
    counts = table.up_to(ranks[1:]) - table.up_to(ranks[:-1])
    low, high = table.limits.low, table.limits.high
    # Ranks before the range weigh 1 in the hinge, but have no margin.
    before = torch.clamp(ranks.double(), max=low)
    mass = counts + before[..., 1:] - before[..., :-1]
    inside = ranks[:-1] >= low
    margin = torch.where(inside, 1.0, counts / torch.where(mass > 0, mass, 1.0))
    target = margin + table.q
    mass = mass * (ranks[:-1] < high)
    slopes = target
    if not table.limits.from_top:
        slopes = _pooled(target, mass, ranks[1:] <= low, inside, table.beyond + 2.0)
    slopes = torch.where(mass > 0, slopes, -table.beyond - 2.0)
    rising = slopes.flip(-1).contiguous()
    reached = rising.shape[-1] - torch.searchsorted(rising, table.p)
    mass_above, sums = _at(_running(mass, mass * target), reached)
    excess = sums - mass_above * table.p
    value = (table.counted * excess).sum(-1, keepdim=True) / table.scale
    below = _at(_running(table.counted), torch.searchsorted(table.p, slopes, right=True))[0]
    on_ranks = _running(mass * below)
    on_q = mean_over_ties(-table.q, lambda rank: _at(on_ranks, rank)[0])
    return value.squeeze(-1), table.gradient(-table.counted * mass_above, on_q)


def _pooled(target: Tensor, mass: Tensor, before: Tensor, inside: Tensor, end: Tensor) -> Tensor:
    """Return the decreasing isotonic regression of targets whose margins rise once, from 0 to 1.

    Two falling sequences, before and inside the range, with at most one rank between: what is pooled is
    one block around the rise, of value v with ``sum_before u min(t - v, 0) + u (e - v) + sum_inside u
    max(t - v, 0) = 0``. The left side falls in v and is linear between targets.
    """
    # Before the range and inside it in increasing order; what belongs to neither has no mass.
    falling = target.flip(-1)
    weight = mass.flip(-1)
    ascending = torch.where(weight > 0, falling, -end)
    lower = torch.where(before.flip(-1), ascending, -end)
    # Inside ranks come before the others in this order, and rise whatever their mass.
    upper = torch.where(inside.flip(-1), falling, end)
    weight_lower = weight * before.flip(-1)
    weight_upper = weight * inside.flip(-1)
    middle = ~(before | inside)
    weight_middle = (mass * middle).sum(-1, keepdim=True)
    value_middle = (mass * middle * target).sum(-1, keepdim=True)
    places = torch.sort(ascending).values
    below = _running(weight_lower, weight_lower * lower)
    above = _running(weight_upper, weight_upper * upper)

    def sides(at: Tensor) -> tuple[Tensor, Tensor]:
        """Return the sum of targets to be pooled at a level, and their mass."""
        in_lower, of_lower = _at(below, torch.searchsorted(lower, at))
        in_upper, of_upper = above[..., -1:] - _at(above, torch.searchsorted(upper, at, right=True))
        return of_lower + of_upper + value_middle, in_lower + in_upper + weight_middle

    total, pooled = sides(places)
    k = ((total - pooled * places) > 0).sum(-1, keepdim=True).clamp(min=1) - 1
    start = places.gather(-1, k)
    # Just above the last place where the sum is positive the sets no longer change.
    step = places.gather(-1, (k + 1).clamp(max=places.shape[-1] - 1))
    total, pooled = sides((start + step) / 2)
    level = torch.where(pooled > 0, total / pooled.clamp(min=1e-300), start)
    level = torch.minimum(torch.maximum(level, start), torch.maximum(step, start))
    return torch.where(
        before,
        torch.maximum(target, level),
        torch.where(inside, torch.minimum(target, level), level),
    )


def smooth_ramp(table: RankedTable, h: float) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """Compute `aucuba.risks.SmoothRamp` of half-width h per label, and its gradients likewise."""
    weights = mean_over_ties(-table.q, table.up_to).flip(-1)
    q = table.q.flip(-1).contiguous()
    # Sums of squares lose digits far from zero; the loss only knows differences.
    centre = (q * weights).sum(-1, keepdim=True) / weights.sum(-1, keepdim=True).clamp(min=1e-300)
    p, q = table.p - centre, q - centre
    left, right, beyond = _around(p, q, weights, h, most=2)
    rising = _squared(left, h - p) / (2 * h**2)
    falling = right[0] - _squared(right, -h - p) / (2 * h**2)
    value = (table.counted * (rising + falling + beyond)).sum(-1, keepdim=True) / table.scale
    on_p = -table.counted * _tent(left, right, p, h)
    left, right, _ = _around(q, p, table.counted, h, most=1)
    on_q = weights * _tent(left, right, q, h)
    return value.squeeze(-1), table.gradient(on_p, on_q.flip(-1))


def _around(
    at: Tensor, x: Tensor, weight: Tensor, h: float, most: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Sum ``weight * x**k``, k up to ``most``, over h on either side of places.

    Returns both sums, and the weights that lie beyond.
    """
    places = [torch.searchsorted(x, place, right=True) for place in (at - h, at, at + h)]
    # Empty slots lie far out and have no weight: they must not make infinities.
    x = torch.where(weight > 0, x, 0.0)
    sums = _running(*(weight * x**power for power in range(most + 1)))
    low, middle, high = (_at(sums, place) for place in places)
    return middle - low, high - middle, sums[0, ..., -1:] - high[0]


def _squared(sums: Tensor, shift: Tensor) -> Tensor:
    return sums[2] + shift * (2 * sums[1] + shift * sums[0])


def _tent(left: Tensor, right: Tensor, at: Tensor, h: float) -> Tensor:
    return (left[1] + (h - at) * left[0] + ((h + at) * right[0] - right[1])) / h**2


def _running(*parts: Tensor) -> Tensor:
    """Return the sums of the first 0, 1, ..., n entries of every part."""
    return nn.functional.pad(torch.cumsum(torch.stack(parts), -1), (1, 0))


def _at(sums: Tensor, places: Tensor) -> Tensor:
    return sums.gather(-1, places.expand(len(sums), *places.shape))
