"""Shapley values of scores against background rows: in closed form, or along random walks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.utils import _safe_indexing

from aucuba._base._typing import BoolArray, FloatArray, IntArray
from aucuba._columns._kinds import is_missing, table_columns
from aucuba._columns._table_columns import LinearColumns, NamedColumns
from aucuba.ensemble._distill import mixed_rows

Scorer = Callable[[Any], FloatArray]
_SCALERS = (MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler)
# Largest relative difference between the scores of a linear model and the products of its coefficients.
_SAME = 1e-6
# Entries of the hybrid rows in one batch of scores.
_ENTRIES_AT_ONCE = 4_000_000


def linear_contributions(
    steps: list[Any], last: Any, score: Scorer, X: Any, background: Any
) -> FloatArray | None:
    r"""Attribute a linear score to the columns of X, exactly.

    .. math:: \phi_j(x) = \sum_{k \in K_j} w_k \Bigl(T(x)_k - \frac1m \sum_{b=1}^m T(z_b)_k\Bigr)

    with T the steps before the linear model and :math:`K_j` the columns that they derive from column
    j. Returns None if the model is not linear or a step may mix columns.
    """
    coef, source = np.ravel(vars(last).get("coef_", ())), source_columns(steps, X)
    if source is None or coef.size != source.size:
        return None
    rows, reference = X, background
    for step in steps:
        rows, reference = step.transform(rows), step.transform(reference)
    owner = sparse.csr_array(
        (np.ones(source.size), (np.arange(source.size), source)), (source.size, X.shape[1])
    )
    # Scores of classifiers grow towards the second class; so do these sums.
    of_rows, of_reference = (_weighted_by(coef, part) @ owner for part in (rows, reference))
    values = _dense(of_rows) - _dense(of_reference).mean(axis=0)
    scores = score(X)
    difference = scores - score(background).mean() - values.sum(axis=1)
    scale = np.abs(values).sum(axis=1).max() + np.abs(scores).max()
    if np.abs(difference).max() > _SAME * scale:
        return None
    return np.asarray(values)


def source_columns(steps: list[Any], X: Any) -> IntArray | None:
    """Return the source in X of every column after the steps; None if a step may mix columns."""
    source = np.arange(X.shape[1])
    for step in steps:
        if isinstance(step, NamedColumns):
            names = list(X.columns)
            source = source[[names.index(name) for name in step.names]]
        elif isinstance(step, LinearColumns):
            source = source[step.source_columns()]
        elif not isinstance(step, _SCALERS):
            return None
    return source


def walk_contributions(
    score: Scorer, X: Any, background: Any, n_walks: int, seed: int
) -> FloatArray:
    r"""Attribute any score to the columns of X: Shapley values, estimated by walks.

    A walk leads from a background row z to a row x and replaces the columns one by one in a random
    order; each replacement moves the score, and the moves of a walk add up to ``score(x) - score(z)``.
    The contribution of a column is the mean of its moves, so contributions add up to
    ``score(x) - mean(score(z))`` for any number of walks. Every order is also walked in reverse, which
    cancels the error due to interactions of two columns, and every background row starts the same
    number of walks. Columns in which x equals z are skipped. Additive scores are attributed exactly.

    Štrumbelj and Kononenko (2014), "Explaining prediction models and individual predictions with
    feature contributions".
    """
    n_rows, n_columns = X.shape
    n_starts = background.shape[0]
    n_pairs = n_starts * -(-n_walks // (2 * n_starts))
    orders = _orders(n_columns, n_pairs, seed)
    differs = _differences(X, background)
    values = np.zeros((n_rows, n_columns))
    for row in range(n_rows):
        both = _joined(_safe_indexing(X, [row]), background)
        walks = [
            (start, order[differs[row, start, order]])
            for start, order in zip(np.arange(2 * n_pairs) // 2 % n_starts, orders, strict=True)
        ]
        for part in _parts(walks, n_columns):
            states = np.concatenate([_states(start, order, n_columns) for start, order in part])
            scores, first = score(mixed_rows(both, states)), 0
            for _, order in part:
                values[row, order] += np.diff(scores[first : first + order.size + 1])
                first += order.size + 1
    return np.asarray(values / (2 * n_pairs))


def _orders(n_columns: int, n_pairs: int, seed: int) -> list[IntArray]:
    """Draw random orders, each followed by its reverse."""
    generator, orders = np.random.default_rng(seed), list[IntArray]()
    for _ in range(n_pairs):
        order = generator.permutation(n_columns)
        orders += [order, order[::-1]]
    return orders


def _states(start: int, order: IntArray, n_columns: int) -> IntArray:
    """Return the source row of each column in every state of a walk; row 0 is the explained one."""
    states = np.full((order.size + 1, n_columns), start + 1)
    for step, column in enumerate(order):
        states[step + 1 :, column] = 0
    return states


def _parts(walks: list[Any], n_columns: int) -> Iterator[list[Any]]:
    """Cut walks into parts whose hybrid rows fit into memory."""
    part, n_entries = list[Any](), 0
    for walk in walks:
        part.append(walk)
        n_entries += (walk[1].size + 1) * n_columns
        if n_entries > _ENTRIES_AT_ONCE:
            yield part
            part, n_entries = [], 0
    if part:
        yield part


def _differences(X: Any, background: Any) -> BoolArray:
    """Mark where rows differ from background rows, shape (n_rows, n_background, n_columns)."""
    pairs = zip(table_columns(X), table_columns(background), strict=True)
    return np.stack([_unequal(*pair) for pair in pairs], axis=2)


def _unequal(column: Any, other: Any) -> BoolArray:
    values, others = (np.asarray(one, dtype=object) for one in (column, other))
    gaps, other_gaps = is_missing(values), is_missing(others)
    both = gaps[:, np.newaxis] & other_gaps
    either = gaps[:, np.newaxis] | other_gaps
    unequal = np.ones(both.shape, dtype=bool)
    unequal[~either] = (values[:, np.newaxis] != others)[~either].astype(bool)
    return np.asarray(unequal & ~both)


def _joined(row: Any, background: Any) -> Any:
    if not hasattr(row, "iloc"):
        return np.concatenate([row, background])
    import pandas as pd

    return pd.concat([row, background], ignore_index=True)


def _weighted_by(coef: FloatArray, rows: Any) -> Any:
    if sparse.issparse(rows):
        return sparse.csr_array(rows).multiply(coef).tocsr()
    return np.asarray(rows, dtype=np.float64) * coef


def _dense(values: Any) -> FloatArray:
    return np.asarray(values.toarray() if sparse.issparse(values) else values)
