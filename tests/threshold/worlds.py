"""Populations whose true rates are known for every threshold."""

from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

SHIFT, PREVALENCE = 1.5, 0.3
EFFECTS = np.linspace(-7, 7, 400)
DENSITY = norm.pdf(EFFECTS) / norm.pdf(EFFECTS).sum()
WITHIN = np.sqrt(0.7)  # intraclass correlation .3


@dataclass
class World:
    """Rows with the score in the first column, and their groups or weights."""

    X: np.ndarray
    y: np.ndarray
    groups: np.ndarray | None = None
    weight: np.ndarray | None = None


def plain(rng, n):
    y = (rng.uniform(size=n) < PREVALENCE).astype(int)
    return World((rng.normal(size=n) + SHIFT * y)[:, None], y)


def grouped(rng, n_groups):
    """Every group has 1 to 4 rows, a common effect, and labels of its own."""
    groups = np.repeat(np.arange(n_groups), rng.integers(1, 5, size=n_groups))
    y = (rng.uniform(size=groups.size) < PREVALENCE).astype(int)
    effect = np.sqrt(0.3) * rng.normal(size=n_groups)[groups]
    score = effect + WITHIN * rng.normal(size=groups.size) + SHIFT * y
    return World(score[:, None], y, groups=groups)


def weighted(rng, n):
    """Rows of weight 3 have scores that are higher by one half."""
    world = plain(rng, n)
    world.weight = np.where(rng.uniform(size=n) < 0.4, 3.0, 0.5)
    world.X[:, 0] += 0.5 * (world.weight > 1)
    return world


def rates(threshold, weighted=False):
    """True rates of flagging scores above the threshold, by the names of the promises."""
    sizes = [(0.6 * 0.5, 0.0), (0.4 * 3.0, 0.5)] if weighted else [(1.0, 0.0)]
    total = sum(size for size, _ in sizes)
    fpr = sum(size * norm.sf(threshold - shift) for size, shift in sizes) / total
    tpr = sum(size * norm.sf(threshold - SHIFT - shift) for size, shift in sizes) / total
    alerts = PREVALENCE * tpr + (1 - PREVALENCE) * fpr
    precision = PREVALENCE * tpr / alerts if alerts > 0 else 1.0
    return {"fpr": fpr, "tpr": tpr, "alerts": alerts, "precision": precision}


def any_flagged_negative(threshold):
    """P(a group with negatives has a flagged one), by quadrature over the group's effect."""
    kept = norm.cdf((threshold - np.sqrt(0.3) * EFFECTS) / WITHIN)
    # Every row is a negative with probability 1 - PREVALENCE; groups without any do not count.
    unflagged = PREVALENCE + (1 - PREVALENCE) * kept
    none = np.mean([unflagged**size - PREVALENCE**size for size in range(1, 5)], axis=0)
    counted = np.mean([1 - PREVALENCE**size for size in range(1, 5)])
    return 1 - none @ DENSITY / counted
