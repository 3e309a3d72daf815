"""The partial AUC methods on a set that scikit-learn ships: breast cancer of Wisconsin.

Not a table of the paper: the protocol of its Table 2 (ICML 2013), random 10 %-90 % splits, 5-fold
cross-validation, epsilon 1e-4 and the range [0, 0.1], for those who have none of the other data.
Malignant is positive; features are standardised by the training rows.

``python -m reproductions pauc_wisconsin``
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from aucuba._base._typing import BoolArray
from reproductions.experiment import Cell, Experiment, Row
from reproductions.experiments import _partial_auc
from reproductions.experiments._partial_auc import METHODS, Trial, Tuning, folds

RANGE = (0.0, 0.1)
TEST_OVER_TRAIN = 9.0


@dataclass(frozen=True)
class Settings:
    """Number of splits, and the grids."""

    n_splits: int
    tuning: Tuning


def cells(settings: Settings) -> list[Cell]:
    """List splits and methods."""
    return [(split, method) for split in range(settings.n_splits) for method in METHODS]


def compute(cell: Cell, settings: Settings) -> list[Row]:
    """Tune, fit and test one method on one split."""
    split, method = cell
    X, target = load_breast_cancer(return_X_y=True)
    y: BoolArray = target == 0
    train, test = train_test_split(
        np.arange(y.size), train_size=0.1, stratify=y, random_state=split
    )
    scaler = StandardScaler().fit(X[train])
    known = (scaler.transform(X[train]), y[train], folds(y[train], split))
    trial = Trial(*known, (scaler.transform(X[test]), y[test]), RANGE, settings.tuning)
    return [{"split": split, **trial.measured(method)}]


def report(rows: list[Row], settings: Settings) -> str:
    """Tabulate the methods."""
    return "\n\n".join(
        [
            "# The methods of ICML 2013 on breast cancer of Wisconsin, which scikit-learn ships",
            _partial_auc.report(rows, {}, "0, 0.1", TEST_OVER_TRAIN),
            f"Not a set of the paper: it has no number to compare with. Means over {settings.n_splits} "
            "random 10 %-90 % splits; tuning by 5-fold cross-validation. "
            + _partial_auc.protocol(rows, settings.tuning, TEST_OVER_TRAIN),
        ]
    )


EXPERIMENT = Experiment(
    reproduces="ours, in the protocol of ICML 2013, Table 2: breast cancer of Wisconsin",
    settings={
        "full": Settings(10, Tuning()),
        "quick": Settings(3, _partial_auc.QUICK),
        "tiny": Settings(2, _partial_auc.TINY),
    },
    tolerance=_partial_auc.TOLERANCE,
    cells=cells,
    compute=compute,
    report=report,
)
