"""Virtual screening (Narasimhan and Agarwal, ICML 2013, Table 2), on other compounds of the same shape.

Five targets with 50 actives each and 1,892 inactives, 1021-bit fingerprints; the actives of the other
targets are negative. Random 10 %-90 % splits per target that keep the fraction of positives; C and the
boosting by 5-fold cross-validation, epsilon 1e-4, partial AUC in [0, 0.1].

``python -m reproductions pauc_cheminformatics``
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from sklearn.model_selection import train_test_split

from aucuba._base._typing import BoolArray, FloatArray
from reproductions.data.imbalanced import load_fingerprint_subset
from reproductions.experiment import Cell, Experiment, Row
from reproductions.experiments import _partial_auc
from reproductions.experiments._partial_auc import METHODS, Trial, Tuning, folds

RANGE = (0.0, 0.1)
TEST_OVER_TRAIN = 9.0
PAPER: dict[str, float | str] = {
    "SVM_pAUC": "65.25",
    "SVM_AUC": "62.64 \\*",
    "ASVM": "63.80",
    "pAUCBoost": "43.89 \\*",
    "greedy": "8.33 \\*",
}


@dataclass(frozen=True)
class Settings:
    """Numbers of targets and splits, and the grids."""

    n_targets: int
    n_splits: int
    tuning: Tuning


@lru_cache(maxsize=1)
def load() -> tuple[FloatArray, np.ndarray]:
    """Read the fingerprints."""
    X, target = load_fingerprint_subset()
    return X.toarray(), target


def cells(settings: Settings) -> list[Cell]:
    """List targets, splits and methods."""
    targets = np.unique(load()[1])[1:][: settings.n_targets]
    return [
        (int(target), split, method)
        for target in targets
        for split in range(settings.n_splits)
        for method in METHODS
    ]


def compute(cell: Cell, settings: Settings) -> list[Row]:
    """Tune, fit and test one method on one split."""
    target, split, method = cell
    X, targets = load()
    y: BoolArray = targets == target
    train, test = train_test_split(
        np.arange(y.size), train_size=0.1, stratify=y, random_state=split
    )
    known = (X[train], y[train], folds(y[train], split))
    trial = Trial(*known, (X[test], y[test]), RANGE, settings.tuning)
    return [{"target": target, "split": split, **trial.measured(method)}]


def report(rows: list[Row], settings: Settings) -> str:
    """Tabulate the methods beside Table 2."""
    return "\n\n".join(
        [
            "# ICML 2013, Table 2: cheminformatics, on 2,142 compounds of chemistry_fp2 in place of "
            "Jorissen and Gilson's",
            _partial_auc.report(rows, PAPER, "0, 0.1", TEST_OVER_TRAIN),
            f"Means over {settings.n_targets} targets and {settings.n_splits} random 10 %-90 % splits "
            "each (paper: 5 and 10); tuning by 5-fold cross-validation. "
            + _partial_auc.protocol(rows, settings.tuning, TEST_OVER_TRAIN)
            + " "
            + _partial_auc.NO_ASVM,
        ]
    )


EXPERIMENT = Experiment(
    reproduces="ICML 2013, Section 5.1 and Table 2: cheminformatics",
    data=("chemistry_fp2",),
    settings={
        "full": Settings(5, 10, Tuning()),
        "quick": Settings(2, 2, _partial_auc.QUICK),
        "tiny": Settings(1, 2, _partial_auc.TINY),
    },
    tolerance=_partial_auc.TOLERANCE,
    cells=cells,
    compute=compute,
    report=report,
)
