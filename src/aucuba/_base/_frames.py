"""Tables of libraries that NumPy does not know."""

from __future__ import annotations

from typing import Any

import numpy as np


def as_table(X: Any) -> Any:
    """Return a table as NumPy, pandas, polars or pyarrow know it; refuse what would be misread.

    Estimators would take masked entries for data, the real part for a complex number, or fail in words
    of their own at a frame without columns.
    """
    X = as_known(X)
    shape: Any = getattr(X, "shape", ())
    if len(shape) != 2:
        return X
    if np.ma.isMaskedArray(X) and (n_masked := int(np.ma.getmaskarray(X).sum())):
        raise ValueError(
            f"X has {n_masked} masked entries; fill them with nan and impute these, or drop the rows."
        )
    if getattr(getattr(X, "dtype", None), "kind", "") == "c":
        raise ValueError(
            f"Complex data not supported: X has the dtype {X.dtype}. Give real and imaginary parts as "
            "columns."
        )
    if shape[1] == 0 and hasattr(X, "columns"):
        raise ValueError(
            f"X has 0 feature(s) (shape={tuple(shape)}) while a minimum of 1 is required."
        )
    return X


def as_known(X: Any) -> Any:
    """Return tables of other libraries, which stream Arrow columns, as pyarrow tables; others as is.

    pandas, polars and pyarrow are known to scikit-learn, which copies their numbers into one array; a
    stream is read once, without a copy of its buffers. A lazy frame is collected.
    """
    if type(X).__module__.partition(".")[0] == "narwhals":
        X = X.to_native()
    if type(X).__module__.partition(".")[0] == "polars" and hasattr(X, "collect"):
        X = X.collect()
    # A relation of DuckDB has a shape and columns, but NumPy would ask it for its rows by number.
    known = hasattr(X, "__array__") or isinstance(X, list | tuple)
    if known or not hasattr(X, "__arrow_c_stream__"):
        return X
    try:
        import pyarrow
    except ImportError as error:
        raise ImportError(
            f"A table of the type {type(X).__name__} streams Arrow columns, which needs pyarrow: pip "
            "install pyarrow."
        ) from error
    return pyarrow.table(X)
