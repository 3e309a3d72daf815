"""Reasons for the scores of rows, compared with a typical training row."""

from __future__ import annotations

from typing import Any

import pandas as pd
from scipy import sparse
from sklearn.utils import _safe_indexing

from aucuba._columns._table_columns import LinearColumns
from aucuba.ensemble import RowReasons, explain_rows
from aucuba.persistence import SavedModel

# Contributions held in memory at a time.
_ENTRIES_AT_ONCE = 4_000_000


def reasons_of(saved: SavedModel, X: Any, n_reasons: int) -> RowReasons:
    """Explain rows, compared with a row of training medians and most frequent categories.

    For svmlight files the typical row is zero.
    """
    columns = saved.baseline["columns"]
    background: Any = sparse.csr_matrix((1, X.shape[1]))
    if isinstance(columns, LinearColumns):
        typical = columns.plain_.typical_row()
        background = pd.DataFrame({name: [typical[name]] for name in X.columns})
    return explain_rows(saved.model, X, n_reasons, background=background)


def reason_columns(saved: SavedModel, X: Any, n_reasons: int) -> dict[str, list[str]]:
    """Put the reasons of rows into columns reason_1, reason_2, ..., empty if there are fewer."""
    listed = list[list[str]]()
    at_once = max(_ENTRIES_AT_ONCE // X.shape[1], 1)
    for start in range(0, X.shape[0], at_once):
        part = _safe_indexing(X, slice(start, start + at_once))
        listed += reasons_of(saved, part, n_reasons).reasons
    return {
        f"reason_{k + 1}": [row[k] if k < len(row) else "" for row in listed]
        for k in range(n_reasons)
    }
