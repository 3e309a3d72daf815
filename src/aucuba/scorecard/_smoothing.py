"""Classes of the rows, smoothed by trees that were trained without them."""

from __future__ import annotations

import numpy as np
from sklearn.tree import ExtraTreeClassifier

from aucuba._base._typing import FloatArray, IntArray
from aucuba._rows._sample import Sample
from aucuba.scorecard._search import ConditionTable

_TREES = 60
# Part of the rows, or of the groups, that a tree is trained on, and the least weight of a leaf.
_BAG = 0.63
_LEAF = 3.0
# Weight of the trees beside a row's own class.
_TRUST = 0.35


def smoothed_classes(
    table: ConditionTable, sample: Sample, seed: int, trust: float = _TRUST
) -> FloatArray:
    """Estimate which part of every row is positive, from its class and, less, the rate of its like.

    A search for a narrow region hangs on few rows, whose classes are noise beside their
    probabilities. Random trees on all conditions, of which a card can hold but a few, estimate the
    probabilities; a row is scored by those trees that it did not train.

    Rows that meet the same conditions are in the same bags, so that a row of weight k counts as k.

    Parameters
    ----------
    table : ConditionTable
    sample : Sample
    seed : int

    Returns
    -------
    ndarray of shape (n_rows,)
    """
    share = sample.positive.astype(np.float64)
    if not len(table.met) or not sample.has_pairs:
        return share
    rows = np.ascontiguousarray(table.met.T, dtype=np.float32)
    unit, target = _units(table, sample), sample.positive.astype(np.float64)
    rng = np.random.default_rng(seed)
    votes, trees = np.zeros(len(rows)), np.zeros(len(rows))
    for _ in range(_TREES):
        inside = (rng.random(unit.max() + 1) < _BAG)[unit]
        weight = sample.weights * inside
        if len(np.unique(sample.positive[inside])) < 2:
            continue
        tree = ExtraTreeClassifier(
            max_features="sqrt",
            min_weight_fraction_leaf=min(_LEAF / weight.sum(), 0.5),
            random_state=int(rng.integers(2**31 - 1)),
        )
        tree.fit(rows, target, sample_weight=weight, check_input=False)
        outside = np.flatnonzero(~inside)
        votes[outside] += tree.predict_proba(rows[outside], check_input=False)[:, 1]
        trees[outside] += 1
    scored = trees > 0
    share[scored] += trust * (votes[scored] / trees[scored] - share[scored])
    # Sums of such fractions are exact in any order.
    return np.asarray(np.rint(1024 * share) / 1024)


def _units(table: ConditionTable, sample: Sample) -> IntArray:
    """Number the groups, or else the rows, those that meet the same conditions alike.

    If only those of one class were left out, the others would speak for all of them.
    """
    if sample.group is not None:
        return sample.group
    packed = np.packbits(table.met, axis=0).T
    keys = np.ascontiguousarray(packed).view(np.dtype((np.void, packed.shape[1]))).ravel()
    return np.asarray(np.unique(keys, return_inverse=True)[1], dtype=np.intp)
