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


# So many draws fit into the nearest cache.
_DRAWS_AT_ONCE = 2048


@compiled
def _hashed(state: Any) -> Any:
    bits = (state ^ (state >> _SHIFTS[0])) * _FIRST_FACTOR
    bits = (bits ^ (bits >> _SHIFTS[1])) * _SECOND_FACTOR
    return np.float64(np.int64((bits ^ (bits >> _SHIFTS[2])) >> _SHIFTS[3]))


@compiled
def count_drawn(seeds: Any, counts: Any) -> None:
    """Draw as many units as there are, with replacement, and count each; once per seed.

    Parameters
    ----------
    seeds : ndarray of uint64, shape (n_resamples,)
    counts : ndarray of uint8, shape (n_resamples, n_units)
        Overwritten. A byte per unit keeps a million units in the processor's cache, and is enough:
        none of n units is drawn 256 times with a probability above n / 256!, which is 1e-507 n.
    """
    n_units = counts.shape[1]
    scale, drawn = n_units / 2.0**53, np.empty(_DRAWS_AT_ONCE, dtype=np.int32)
    for resample in range(seeds.size):
        count, state = counts[resample], seeds[resample]
        count[:] = 0
        for first in range(0, n_units, _DRAWS_AT_ONCE):
            n_draws = min(_DRAWS_AT_ONCE, n_units - first)
            # Numbers by themselves, without a look at memory: the processor makes eight at a time.
            for i in range(n_draws):
                drawn[i] = np.int32(_hashed(state + np.uint64(first + i + 1) * _STEP) * scale)
            for i in range(n_draws):
                count[drawn[i]] += np.uint8(1)


@compiled
def add_counts(counts: Any, slot: Any, weight: Any, totals: Any) -> None:
    """Add the weights of rows by slot, each as often as it was drawn; None weighs every row 1."""
    for resample in range(counts.shape[0]):
        count, total = counts[resample], totals[resample]
        for row in range(slot.size):
            if weight is None:
                total[slot[row]] += count[row]
            else:
                total[slot[row]] += count[row] * weight[row]
