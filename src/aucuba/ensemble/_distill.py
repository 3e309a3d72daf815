"""Teach one small model to score as a stack does, and measure what it loses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.utils import _safe_indexing

from aucuba._base._parallel import one_thread, with_fixed_seed
from aucuba._base._typing import AnyArray, FloatArray, IntArray
from aucuba._base._validation import check_positive_number
from aucuba._columns._table_columns import Columns
from aucuba._roc._comparison import RegionComparison
from aucuba._roc._region import Region
from aucuba._rows._out_of_fold import Folds
from aucuba._rows._sample import Sample
from aucuba.ensemble._table import TrainingTable, fit_weighted, log_odds, weight_keyword

# Returns the log-odds of the rows of a table.
Scorer = Callable[[Any], FloatArray]

_PER_ROW, _MOST = 3, 50_000
# Probability that a column of a synthetic row is taken from another row.
_FROM_ANOTHER = 0.3
_ROUNDS = 150
# The log-loss has hardly any curvature at probabilities near 0 and 1, so that the leaves of boosting
# would diverge without a penalty.
_L2 = 10.0


def check_distillable(X: Any, n_synthetic: int | None) -> None:
    """Raise if the columns of X cannot be mixed or ``n_synthetic`` is not a whole number."""
    if sparse.issparse(X) or not (isinstance(X, np.ndarray) or hasattr(X, "iloc")):
        raise ValueError(
            f"distill mixes columns of different rows, which needs a dense array or a pandas "
            f"DataFrame; got {type(X).__name__}."
        )
    if n_synthetic is not None and n_synthetic != 0:
        check_positive_number(n_synthetic, "n_synthetic", integer=True)


def student_for(estimator: Any, X: Any) -> Any:
    """Return an unfitted student: the given classifier, or boosting on the columns of X."""
    if estimator is not None:
        weight_keyword(estimator)
        return clone(estimator)
    columns = Columns.from_table(X)
    booster = HistGradientBoostingClassifier(
        max_iter=_ROUNDS,
        learning_rate=0.15,
        l2_regularization=_L2,
        early_stopping=False,
        categorical_features=columns.categorical or None,
    )
    return columns.for_trees(booster)


def taught(base: Any, score: Scorer, X: Any, n_synthetic: int | None, seed: int) -> Any:
    """Fit a student to the probabilities of a teacher on the given rows and on synthetic ones.

    ``score`` returns the teacher's log-odds.
    """
    n_rows = X.shape[0]
    n_new = min(_PER_ROW * n_rows, _MOST) if n_synthetic is None else n_synthetic
    generator = np.random.default_rng(seed)
    first = np.concatenate([np.arange(n_rows), generator.integers(n_rows, size=n_new)])
    other = np.concatenate([np.arange(n_rows), generator.integers(n_rows, size=n_new)])
    swapped = generator.random((first.size, X.shape[1])) < _FROM_ANOTHER
    rows = mixed_rows(X, np.where(swapped, other[:, np.newaxis], first[:, np.newaxis]))
    p = expit(score(rows))
    twice = np.tile(np.arange(first.size), 2)
    sample = Sample(np.repeat([True, False], first.size), np.concatenate([p, 1.0 - p]))
    with one_thread():
        student = with_fixed_seed(clone(base), seed)
        return fit_weighted(student, TrainingTable(_safe_indexing(rows, twice), sample))


def cross_taught(
    teach: Callable[[TrainingTable, AnyArray, dict[str, Any]], tuple[Scorer, Any]],
    table: TrainingTable,
    labels: AnyArray,
    folds: Folds,
    given: dict[str, Any],
) -> FloatArray:
    """Score each fold by a teacher trained on the other folds and by its student.

    ``teach`` fits both to a table, its labels, and the groups and times of its rows. Returns one row
    of scores for the teachers and one for the students.
    """
    scores = np.full((2, folds.n_rows), np.nan)
    for train, test in folds.splits:
        of_rows = {name: _safe_indexing(values, train) for name, values in given.items()}
        teacher, student = teach(table.take(train), labels[train], of_rows)
        tested = table.take(test).X
        scores[:, test] = teacher(tested), log_odds(student, tested)
    return scores[:, folds.covered]


def loss_of_student(scores: FloatArray, sample: Sample, region: Region) -> dict[str, float]:
    """Compare the cross-fitted scores of teacher and student in the region."""
    compared = RegionComparison(sample, scores, region)
    teacher, student = map(float, compared.values)
    lead = compared.lead(0, 1)
    return {
        "teacher": teacher,
        "student": student,
        "loss": lead.difference,
        "standard_error": lead.error,
    }


def mixed_rows(X: Any, source: IntArray) -> Any:
    """Make rows whose entry k comes from row ``source[:, k]`` of X."""
    if isinstance(X, np.ndarray):
        return np.take_along_axis(X, source, axis=0)
    columns = {
        name: X.iloc[:, k].take(source[:, k]).reset_index(drop=True)
        for k, name in enumerate(X.columns)
    }
    return type(X)(columns)
