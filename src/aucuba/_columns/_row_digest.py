"""Facts about rows that an export needs: a digest, and whether single precision holds them."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from aucuba._base._typing import AnyArray
from aucuba._columns._kinds import (
    NUMBER,
    NUMBER_DTYPES,
    as_numbers,
    column_kind,
    column_names,
    table_columns,
)

_SEED = 20_240_229
# A few copies of so many entries, wider ones, are held at a time.
_ENTRIES_AT_ONCE = 1_048_576


def row_digest(X: Any, y: AnyArray) -> str | None:
    """Digest the numbers of rows in single precision, and their labels; None for other tables.

    Every row becomes a 64-bit number, the sum of its entries' bits times an odd constant per column;
    the digest is that of the sorted numbers.
    """
    if not sparse.issparse(X) and not (hasattr(X, "shape") and len(X.shape) == 2):
        return None
    columns = None if isinstance(X, np.ndarray) or sparse.issparse(X) else table_columns(X)
    if columns is not None:
        if any(getattr(one.dtype, "kind", "O") not in NUMBER_DTYPES for one in columns):
            return None
        X = np.column_stack([np.asarray(one, dtype=np.float32) for one in columns])
    if X.dtype.kind not in NUMBER_DTYPES:
        return None
    factors = np.random.default_rng(_SEED).integers(2**63, size=X.shape[1], dtype=np.uint64) * 2 + 1
    rows = np.concatenate([_hashed(part, factors) for part in _parts(X)])
    names, codes = np.unique(y, return_inverse=True)
    marks = [
        int.from_bytes(hashlib.blake2b(str(name).encode(), digest_size=8).digest(), "little")
        for name in names.tolist()
    ]
    # The product makes the bits of all columns reach all bits; the shift folds the high ones back.
    rows = (rows ^ (rows >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)
    rows = np.sort(rows ^ np.array(marks, dtype=np.uint64)[codes.ravel()])
    return hashlib.blake2b(rows.tobytes(), digest_size=16).hexdigest()


def is_single(X: Any) -> bool:
    """Return whether rounding to single precision changes no number of a table.

    False for anything but arrays of numbers and frames.
    """
    if sparse.issparse(X):
        return _is_single(X.data)
    if isinstance(X, np.ndarray):
        return X.dtype.kind in NUMBER_DTYPES and all(map(_is_single, _parts(X)))
    if not hasattr(X, "columns"):
        return False
    pairs = zip(table_columns(X), column_names(X), strict=True)
    try:
        return all(_is_single(as_numbers(x)) for x, name in pairs if column_kind(x, name) == NUMBER)
    except TypeError:
        # Values that only the base estimator can read.
        return False


def _parts(X: Any) -> Iterator[Any]:
    """Yield a few rows at a time, fewer of wide tables."""
    at_once = max(_ENTRIES_AT_ONCE // max(math.prod(X.shape[1:]), 1), 1)
    for first in range(0, X.shape[0], at_once):
        yield X[first : first + at_once]


def _is_single(values: AnyArray) -> bool:
    with np.errstate(over="ignore"):
        return np.array_equal(values.astype(np.float32), values, equal_nan=values.dtype.kind == "f")


def _hashed(X: Any, factors: AnyArray) -> AnyArray:
    """Sum the bits of each row's entries, times their factors, modulo 2^64; zeros add nothing."""
    if sparse.issparse(X):
        found: AnyArray = _hashed(X.toarray(), factors)
        return found
    # Adding zero turns minus zero into zero.
    bits = (np.ascontiguousarray(X, dtype=np.float32) + np.float32(0)).view(np.uint32)
    hashed: AnyArray = (bits.astype(np.uint64) * factors).sum(axis=1, dtype=np.uint64)
    return hashed
