"""The linear SVM for the mean AUC or partial AUC of queries, without pairs of items.

Joachims (2005) for the AUC, Narasimhan and Agarwal (ICML 2013) for the partial AUC.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from aucuba._base._typing import ArrayLike
from aucuba._base._validation import (
    binary_target,
    check_choice,
    check_positive_number,
    query_index,
)
from aucuba.design import TableDesign
from aucuba.risks import Region, Sample, make_risk
from aucuba.solvers import BundleSolver, CuttingPlaneSolver, Solution

# On the whole axis the minimiser is unique. Solved this closely its ranking no longer depends on the
# path of the solver, for a few iterations more.
EXACT = {"tol": 1e-7, "rtol": 1e-7}
SOLVERS = {"bundle": BundleSolver, "cutting_plane": CuttingPlaneSolver}


def svm_rank(
    X: ArrayLike,
    y: ArrayLike,
    qid: ArrayLike | None = None,
    *,
    fpr_range: tuple[float, float] = (0.0, 1.0),
    C: float = 1.0,
    tol: float = 1e-4,
    rtol: float | None = 1e-3,
    solver: str = "bundle",
    max_iter: int = 1000,
    pos_label: Any = None,
) -> Solution:
    r"""Minimise the mean structural hinge of the queries; on the whole axis the pairwise hinge.

    .. math::
        \tfrac12 \lVert w \rVert^2 + \frac{C}{M} \sum_m \frac{1}{P_m N_m}
        \sum_{i \in \text{pos}_m,\, j \in \text{neg}_m} \max(0,\, 1 - w \cdot (x_i - x_j))

    Parameters
    ----------
    X : array of shape (n_items, n_features)
    y : array of shape (n_items,)
        Binary labels.
    qid : array of shape (n_items,), optional
        Query of every item; queries with one class are left out.
    fpr_range : (float, float), default=(0.0, 1.0)
        False positive rates, within a query, that count.
    C, tol, rtol, max_iter
        As in `aucuba.solvers.BundleSolver`.
    solver : {"bundle", "cutting_plane"}, default="bundle"
        The second is Algorithm 2 of the ICML paper, with ``rtol=None`` with its stopping rule.
    pos_label : label, optional

    Returns
    -------
    Solution
        ``coef`` holds the weights, ``gap`` the certificate.

    Examples
    --------
    >>> from reproductions.baselines import svm_rank
    >>> svm_rank([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1], C=10).coef.round(1)
    array([1.])
    """
    features = np.asarray(X, dtype=float)
    positive = binary_target(y, pos_label)
    if len(features) != positive.size:
        raise ValueError(f"X has {len(features)} rows for {positive.size} labels.")
    labels = Sample(positive, None, query_index(qid, positive.size))
    risk = make_risk("structural", labels, Region.from_params(fpr_range))
    kind = SOLVERS[check_choice(solver, "solver", list(SOLVERS))]
    settings = kind(check_positive_number(C, "C"), tol, max_iter, rtol)
    return settings.solve(TableDesign(features), risk)
