"""Imbalanced binary tables for measuring: ADBench, Adult and molecular fingerprints."""

from __future__ import annotations

import gzip
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from aucuba._typing import BoolArray
from aucuba.datasets._home import data_file

ADBENCH = (
    "mammography",
    "annthyroid",
    "campaign",
    "Waveform",
    "ALOI",
    "satimage-2",
    "magic_gamma",
    "Wilt",
    "letter",
    "landsat",
    "yeast",
    "cover",
)


def load_adbench(name: str) -> tuple[Any, BoolArray]:
    """One of the `ADBENCH` sets: a dense table and which rows are positive."""
    if name not in ADBENCH:
        raise ValueError(f"Unknown ADBench set {name!r}; choose from {', '.join(ADBENCH)}.")
    with np.load(data_file("adbench", f"{name}.npz")) as file:
        return np.asarray(file["X"], dtype=np.float64), np.asarray(file["y"]) == 1


def load_a9a() -> tuple[Any, BoolArray]:
    """Adult, train and test parts together: 123 binary columns, sparse; positive is high income."""
    parts = []
    for name in ("a9a", "a9a.t"):
        with gzip.open(data_file("a9a", f"{name}.gz")) as file:
            parts.append(load_svmlight_file(file, n_features=123))
    X = sparse.vstack([X for X, _ in parts], format="csr")
    return X, np.concatenate([y for _, y in parts]) > 0


def load_fingerprints(target: int) -> tuple[Any, BoolArray]:
    """Actives of one target against all decoys: 1021 binary columns, sparse.

    The 80 targets are numbered as in the source, with gaps; an unknown number lists them.
    """
    X = sparse.load_npz(data_file("chemistry_fp2", "X_fp2.npz")).tocsr()
    targets = np.load(data_file("chemistry_fp2", "target.npy"))
    known = np.unique(targets[targets > 0])
    if target not in known:
        raise ValueError(f"Unknown target {target!r}; the targets are {known.tolist()}.")
    rows = np.flatnonzero((targets == 0) | (targets == target))
    return X[rows].astype(np.float64), targets[rows] == target
