"""OHSUMED, the document-retrieval set of LETOR 3.0: 106 medical queries, 16,140 documents."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aucuba._base._typing import FloatArray, IntArray
from reproductions.data._home import data_file
from reproductions.data._svmlight import read_svmlight

N_FOLDS = 5


@dataclass(frozen=True)
class Queries:
    """Documents of several queries: features, graded labels 0, 1, 2, and the query of each row."""

    X: FloatArray
    grade: IntArray
    qid: IntArray


def load_ohsumed(*folds: int) -> Queries:
    """Load the test parts of the given folds, 1 to 5; together they are the whole set.

    Features are normalised within each query, as published. In fold f of LETOR the test part is f,
    the validation part f - 1 (part 5 for fold 1), and training uses the other three.

    Parameters
    ----------
    *folds : int
        Parts to load, one after another; all five without arguments.

    Returns
    -------
    Queries
    """
    wanted = folds or tuple(range(1, N_FOLDS + 1))
    parts = []
    for fold in wanted:
        if fold not in range(1, N_FOLDS + 1):
            raise ValueError(f"OHSUMED has folds 1 to {N_FOLDS}, got {fold!r}.")
        path = data_file("ohsumed", "QueryLevelNorm", f"Fold{fold}_test.txt.gz")
        parts.append(read_svmlight(path, 45, query_id=True))
    return Queries(
        np.concatenate([X.toarray() for X, _, _ in parts]),
        np.concatenate([grade for _, grade, _ in parts]).astype(np.intp),
        np.concatenate([qid for _, _, qid in parts]).astype(np.intp),
    )


def ohsumed_split(fold: int) -> tuple[Queries, Queries, Queries]:
    """Load the training, validation and test queries of one LETOR fold."""
    validation = fold - 1 if fold > 1 else N_FOLDS
    rest = [part for part in range(1, N_FOLDS + 1) if part not in (fold, validation)]
    return load_ohsumed(*rest), load_ohsumed(validation), load_ohsumed(fold)
