"""Imbalanced binary tables for measuring: ADBench, Adult and molecular fingerprints."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from aucuba._base._typing import BoolArray, IntArray
from reproductions.data._home import data_file, reading
from reproductions.data._svmlight import read_svmlight

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
    """Load one of the `ADBENCH` sets: a dense table and which rows are positive."""
    if name not in ADBENCH:
        raise ValueError(f"Unknown ADBench set {name!r}; choose from {', '.join(ADBENCH)}.")
    path = data_file("adbench", f"{name}.npz")
    # NumPy leaves a broken archive open unless the file is opened for it.
    with reading(path), path.open("rb") as stream, np.load(stream) as file:
        return np.asarray(file["X"], dtype=np.float64), np.asarray(file["y"]) == 1


def load_a9a() -> tuple[Any, BoolArray]:
    """Load both parts of Adult: 123 binary columns, sparse; positive is high income."""
    parts = [read_svmlight(data_file("a9a", f"{name}.gz"), 123) for name in ("a9a", "a9a.t")]
    X = sparse.vstack([X for X, _ in parts], format="csr")
    return X, np.concatenate([y for _, y in parts]) > 0


def load_fingerprint_subset() -> tuple[Any, IntArray]:
    """Load fingerprints in the shape of the ICML 2013 paper: 5 x 50 actives and 1,892 inactives.

    Returns the 1021 binary columns, sparse, and the target of each row, 0 for inactive.
    """
    with reading(data_file("chemistry_fp2", "subset2142_X.npz")) as path, path.open("rb") as stream:
        X = sparse.load_npz(stream).tocsr().astype(np.float64)
    with reading(data_file("chemistry_fp2", "subset2142_target.npy")) as path:
        targets = np.load(path)
        if targets.shape != X.shape[:1]:
            raise ValueError(f"shape {targets.shape} for {X.shape[0]} fingerprints")
    return X, targets.astype(np.intp)


def load_fingerprints(target: int) -> tuple[Any, BoolArray]:
    """Load the actives of one target against all decoys: 1021 binary columns, sparse.

    The 80 targets are numbered as in the source, with gaps; an unknown number lists them.
    """
    with reading(data_file("chemistry_fp2", "X_fp2.npz")) as path, path.open("rb") as stream:
        X = sparse.load_npz(stream).tocsr()
    with reading(data_file("chemistry_fp2", "target.npy")) as path:
        targets = np.load(path)
        if targets.shape != X.shape[:1]:
            raise ValueError(f"shape {targets.shape} for {X.shape[0]} fingerprints")
    known = np.unique(targets[targets > 0])
    if target not in known:
        raise ValueError(f"Unknown target {target!r}; the targets are {known.tolist()}.")
    rows = np.flatnonzero((targets == 0) | (targets == target))
    return X[rows].astype(np.float64), targets[rows] == target


def load_tweets() -> tuple[Any, BoolArray]:
    """Load sentence embeddings of 12,000 tweets: 512 columns; positive is hate speech."""
    path = data_file("embeddings", "tweets_512.npz")
    with reading(path), path.open("rb") as stream, np.load(stream) as file:
        return np.asarray(file["X"], dtype=np.float64), np.asarray(file["label"]) == 0
