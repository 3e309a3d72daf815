"""Folds by a hash of the row number: they depend neither on blocks nor on what else is drawn."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from aucuba._base._typing import IntArray
from aucuba._rows._resampling import Folds, KeptRows, require_both_classes


def fold_numbers(rows: IntArray, n_folds: int, seed: int) -> IntArray:
    """Assign rows to folds by a hash of their numbers and a seed.

    Parameters
    ----------
    rows : ndarray of int
        Numbers of the rows in the whole table.
    n_folds : int
    seed : int

    Returns
    -------
    ndarray of int
        Numbers from 0 to ``n_folds - 1``, nearly equally frequent.
    """
    mixed = _mixed(rows.astype(np.uint64) + _mixed(np.array([seed], dtype=np.uint64)))
    return (mixed % np.uint64(n_folds)).astype(np.intp)


def hashed_folds(kept: KeptRows, n_folds: int, seed: int) -> Folds:
    """Split the kept rows by a hash of their numbers among all rows."""
    if n_folds < 2:
        raise ValueError(f"Out-of-fold scores need at least two folds, got cv={n_folds}.")
    number = fold_numbers(kept.index, n_folds, seed)
    splits = [(np.flatnonzero(number != k), np.flatnonzero(number == k)) for k in range(n_folds)]
    require_both_classes(splits, kept.labels)
    return Folds([split for split in splits if split[1].size], kept.index.size)


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Mix the bits of 64-bit numbers by the finaliser of splitmix64; overflow is meant."""
    with np.errstate(over="ignore"):
        z = values + np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed: NDArray[np.uint64] = z ^ (z >> np.uint64(31))
    return mixed
