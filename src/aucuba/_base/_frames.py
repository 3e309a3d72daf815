"""Tables of libraries that NumPy does not know."""

from __future__ import annotations

from typing import Any


def as_table(X: Any) -> Any:
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
