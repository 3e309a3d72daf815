"""Sets of the study of scorecards, cut into training and test halves."""

from __future__ import annotations

import gzip
import lzma
import os
import pickle
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from aucuba.metrics import partial_auc_score
from aucuba.scorecard._table import ScoredColumns
from reproductions.data._home import data_file
from reproductions.data.imbalanced import ADBENCH, load_a9a, load_adbench

RANGES = {"0.05": (0.0, 0.05), "0.01": (0.0, 0.01)}
MAX_ROWS = 10_000


def large_adbench(name):
    with np.load(data_file("adbench", f"{name}.npz")) as file:
        return np.asarray(file["X"], dtype=np.float64), np.asarray(file["y"]) == 1


def kdd():
    """Rare attacks (user to root, remote to local) and 18,822 other rows, with three text columns."""
    import pandas as pd

    from benchmarks.low_fpr import RARE

    with gzip.open(data_file("kddcup99", "kddcup.data_10_percent.gz"), "rt") as file:
        table = pd.read_csv(file, header=None)
    table.columns = [f"x{k}" for k in range(table.shape[1])]
    label = table.pop(table.columns[-1]).str.rstrip(".")
    rare = label.isin(RARE)
    others = np.random.default_rng(0).choice(np.flatnonzero(~rare), 18_822, replace=False)
    kept = np.sort(np.concatenate([np.flatnonzero(rare), others]))
    return table.iloc[kept].reset_index(drop=True), rare.to_numpy()[kept]


def dense(load):
    X, y = load()
    return X.toarray(), y


def fingerprints(target):
    from benchmarks._comparison_cells import of_target

    return dense(lambda: of_target(target))


SETS = {name: (lambda name=name: load_adbench(name)) for name in ADBENCH}
SETS |= {name: (lambda name=name: large_adbench(name)) for name in ("donors", "celeba")}
SETS["a9a"] = lambda: dense(load_a9a)
SETS["KDD rare attacks"] = kdd
SETS |= {f"fingerprints {t}": (lambda t=t: fingerprints(t)) for t in (116, 10378)}
# What was looked at while the search and the cautions were chosen.
TUNED_ON = ("yeast", "letter", "annthyroid", "mammography", "landsat", "a9a")


@dataclass
class Halves:
    """Training and test half of one split, as tables and as the columns that cards are made of.

    Parameters
    ----------
    columns, columns_test : ScoredColumns
    y, y_test : ndarray of bool
    X, X_test : table or None
        None where the halves come from a packed file.
    """

    columns: ScoredColumns
    columns_test: ScoredColumns
    y: Any
    y_test: Any
    X: Any = None
    X_test: Any = None

    @classmethod
    def of(cls, name: str, split: int) -> Halves:
        packed = packed_file(name, split)
        if packed is not None and packed.exists():
            with lzma.open(packed) as file:
                return pickle.load(file)
        X, y = SETS[name]()
        if name != "KDD rare attacks" and len(y) > MAX_ROWS:
            kept, _ = train_test_split(
                np.arange(len(y)), train_size=MAX_ROWS, stratify=y, random_state=split
            )
            X, y = X[kept], y[kept]
        return cls.cut(X, y, split)

    @classmethod
    def cut(cls, X: Any, y: Any, split: int) -> Halves:
        """Cut a table into stratified halves."""
        X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=split)
        columns = ScoredColumns.from_table(X)
        columns_test = ScoredColumns.from_table(X_test, columns.kinds)
        return cls(columns, columns_test, y, y_test, X, X_test)

    def pack(self, name: str, split: int) -> None:
        """Write the halves for a machine that has neither the data nor the readers of it."""
        target = packed_file(name, split)
        target.parent.mkdir(parents=True, exist_ok=True)
        with lzma.open(target, "wb") as file:
            pickle.dump(replace(self, X=None, X_test=None), file)

    def pauc(self, scores):
        return {
            name: partial_auc_score(self.y_test, scores, fpr_range=limits)
            for name, limits in RANGES.items()
        }


def packed_file(name: str, split: int) -> Path | None:
    folder = os.environ.get("AUCUBA_PACKED")
    return None if folder is None else Path(folder) / f"{name.replace(' ', '_')}_{split}.xz"
