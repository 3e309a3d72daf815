"""Compressed tables in the sparse format of SVMlight."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

from sklearn.datasets import load_svmlight_file

from reproductions.data._home import reading


def read_svmlight(path: Path, n_features: int, *, query_id: bool = False) -> tuple[Any, ...]:
    """Read features (sparse), labels and, on request, queries of one gzipped file."""
    with reading(path), gzip.open(path) as file:
        table: tuple[Any, ...] = load_svmlight_file(file, n_features=n_features, query_id=query_id)
        if table[0].shape[0] == 0:
            raise ValueError("no rows")
    return table
