"""The data section: rows, classes, columns and missing values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from aucuba._base._typing import IntArray
from aucuba.report._page import Section, facts, paragraph, table
from aucuba.report._scored_sample import ScoredSample

_MOST_COLUMNS = 20
_KINDS = {"b": "yes or no", "i": "number", "u": "number", "f": "number", "M": "date"}


def data_section(
    sample: ScoredSample,
    labels: tuple[str, str],
    X: Any = None,
    feature_names: Sequence[str] | None = None,
) -> Section:
    """Describe the rows and, if X is a DataFrame, the kinds of its columns.

    There can be more features than columns of X if categories were encoded.
    """
    n_rows, n_positive = int(sample.y.size), int(sample.y.sum())
    entries: dict[str, Any] = {
        "rows": f"{n_rows:,}",
        f"positive ({labels[1]})": f"{n_positive:,} ({n_positive / n_rows:.1%})",
        f"negative ({labels[0]})": f"{n_rows - n_positive:,}",
    }
    if X is not None:
        entries["columns"] = f"{X.shape[1]:,}"
    if feature_names is not None and (X is None or len(feature_names) != X.shape[1]):
        entries["features"] = f"{len(feature_names):,}"
    if sample.query is not None:
        entries["queries"] = f"{np.unique(sample.query).size:,}"
    if sample.weight is not None:
        entries["total weight"] = f"{sample.weight.sum():g}"
    return Section("data", "Data", facts(entries | _kinds(X)) + _missing(X, feature_names))


def _is_frame(X: Any) -> bool:
    return hasattr(X, "dtypes") and hasattr(X, "iloc")


def _kinds(X: Any) -> dict[str, str]:
    """Count the columns of a DataFrame by kind; return nothing for arrays."""
    letters = [getattr(dtype, "kind", "O") for dtype in X.dtypes] if _is_frame(X) else []
    counts = Counter(_KINDS.get(letter, "category or text") for letter in letters)
    return {f"of kind {name}": str(count) for name, count in sorted(counts.items())}


def _missing(X: Any, feature_names: Sequence[str] | None) -> str:
    """Build a table of the columns with missing values, those with the most first."""
    counts = _missing_counts(X)
    if not counts.any():
        return paragraph("No value is missing.", "fine") if _is_frame(X) else ""
    names = _column_names(X, feature_names)
    order = [k for k in np.argsort(-counts, kind="stable") if counts[k]]
    rows = [
        [names[k], f"{counts[k]:,}", f"{counts[k] / X.shape[0]:.1%}"] for k in order[:_MOST_COLUMNS]
    ]
    caption = f"Missing values in {len(order)} of {counts.size} columns."
    if len(order) > len(rows):
        caption += f" The {len(rows)} with the most:"
    return table(["column", "missing", "share"], rows, caption)


def _missing_counts(X: Any) -> IntArray:
    if X is None:
        return np.zeros(0, dtype=np.intp)
    if _is_frame(X):
        return np.asarray(X.isna().sum(axis=0), dtype=np.intp)
    if sparse.issparse(X):
        stored = sparse.coo_array(X)
        return np.bincount(stored.col[np.isnan(stored.data)], minlength=X.shape[1])
    values = np.asarray(X)
    if values.dtype.kind != "f":
        return np.zeros(values.shape[1], dtype=np.intp)
    return np.asarray(np.isnan(values).sum(axis=0), dtype=np.intp)


def _column_names(X: Any, feature_names: Sequence[str] | None) -> Sequence[str]:
    if _is_frame(X):
        return [str(name) for name in X.columns]
    if feature_names is not None and len(feature_names) == X.shape[1]:
        return feature_names
    return [f"x{column}" for column in range(X.shape[1])]
