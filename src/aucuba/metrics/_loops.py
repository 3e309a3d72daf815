"""Compiled loops of resampling. Import this module only where a loop is about to be called."""

from __future__ import annotations

from typing import Any

import numpy as np

from aucuba._base._compiled import compiled

# SplitMix64 (Steele, Lea and Flood 2014): one addition and one hash per number.
_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST_FACTOR = np.uint64(0xBF58476D1CE4E5B9)
_SECOND_FACTOR = np.uint64(0x94D049BB133111EB)
_SHIFTS = (np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11))


@compiled
def _hashed(state: Any) -> Any:
    bits = (state ^ (state >> _SHIFTS[0])) * _FIRST_FACTOR
    bits = (bits ^ (bits >> _SHIFTS[1])) * _SECOND_FACTOR
    return np.float64(np.int64((bits ^ (bits >> _SHIFTS[2])) >> _SHIFTS[3]))


@compiled
def count_drawn(seeds: Any, slot: Any, totals: Any) -> None:
    """Draw as many rows as there are, with replacement, and count them by slot; once per seed.

    Parameters
    ----------
    seeds : ndarray of uint64, shape (n_resamples,)
    slot : ndarray of int
        Place in a row of ``totals`` of every row.
    totals : ndarray of float, shape (n_resamples, n_slots)
        Grows by one with every row drawn.
    """
    scale = slot.size / 2.0**53
    for resample in range(seeds.size):
        state, total = seeds[resample], totals[resample]
        for _ in range(slot.size):
            state += _STEP
            total[slot[np.int64(_hashed(state) * scale)]] += 1.0


@compiled
def sum_drawn(seeds: Any, slot: Any, weight: Any, totals: Any) -> None:
    """Draw the same rows as `count_drawn` and sum their weights by slot."""
    scale = slot.size / 2.0**53
    for resample in range(seeds.size):
        state, total = seeds[resample], totals[resample]
        for _ in range(slot.size):
            state += _STEP
            row = np.int64(_hashed(state) * scale)
            total[slot[row]] += weight[row]


@compiled
def sum_units(count: Any, unit: Any, slot: Any, weight: Any, total: Any) -> None:
    """Sum the weights of rows by slot, each as often as its unit was drawn."""
    for row in range(unit.size):
        total[slot[row]] += count[unit[row]] * weight[row]
