"""The members of the three families. A new member is tested by being listed here."""

import numpy as np
from scipy import sparse

from aucuba._base._arrays import arrays_of
from aucuba.design import KernelDesign, TableDesign
from aucuba.risks import (
    Anchored,
    HingeDifference,
    PairwiseHinge,
    QueryRisk,
    RankWeights,
    Sample,
    SmoothRamp,
    StructuralHinge,
    TightHinge,
    over_queries,
)
from aucuba.solvers import BundleSolver, CuttingPlaneSolver

RANGES = [(0.0, 1.0), (0.0, 0.3), (0.15, 0.4), (0.31, 0.34)]


def designs(rng, n_rows=30):
    """Every kind of Design on random data, by name."""
    X = rng.normal(size=(n_rows, 4))
    X[np.abs(X) < 0.5] = 0.0
    read_only = X.copy()
    read_only.setflags(write=False)
    return {
        "dense64": TableDesign(X),
        "dense32": TableDesign(X.astype(np.float32)),
        "strided": TableDesign(np.hstack([X, X])[:, ::2]),
        "read_only": TableDesign(read_only),
        "csr_array": TableDesign(sparse.csr_array(X)),
        "kernel": KernelDesign(X @ X.T + np.eye(n_rows)),
        "csr_matrix32": TableDesign(sparse.csr_matrix(X.astype(np.float32))),
    }


def risks(labels):
    """Every kind of Risk on the given labels, by name."""
    arrays = arrays_of(labels.positive)
    members = {"pairwise": PairwiseHinge(labels)}
    for limits in RANGES:
        weights = RankWeights.from_range(limits)
        members[f"structural{limits}"] = StructuralHinge(labels, weights)
        members[f"tight{limits}"] = TightHinge(labels, weights)
        members[f"direct{limits}"] = SmoothRamp(labels, weights, width=0.7)
        if limits[0] > 0:
            members[f"difference{limits}"] = HingeDifference(labels, limits)
            at = arrays.vector(np.linspace(-1.0, 1.0, labels.n_rows))
            members[f"tilted{limits}"] = HingeDifference(labels, limits).linearised(at)
    members["tight two-way"] = TightHinge(labels, RankWeights.from_range((0.0, 0.4)), 0.3)
    members["tight two-way band"] = TightHinge(labels, RankWeights.from_range((0.1, 0.4)), 0.33)
    members["direct two-way"] = SmoothRamp(labels, RankWeights.from_range((0.0, 0.4)), 0.3, 0.7)
    members["direct dear ties"] = SmoothRamp(
        labels, RankWeights.from_range((0.0, 0.4)), width=0.7, tie_loss=0.9
    )
    for name, function in {"falling": lambda u: 1 - u, "bump": lambda u: u * (1 - u)}.items():
        weights = RankWeights.from_weight(function)
        members[f"structural {name}"] = StructuralHinge(labels, weights)
        members[f"tight {name}"] = TightHinge(labels, weights)
        members[f"direct {name}"] = SmoothRamp(labels, weights, width=0.7)
    members["anchored"] = Anchored(
        SmoothRamp(labels, RankWeights.from_range((0.0, 0.4)), width=0.7),
        arrays.zeros(labels.n_rows),
        0.1,
        labels.weight,
    )
    half = arrays.vector(np.arange(labels.n_rows) % 2)
    halves = Sample(labels.positive, labels.weight, half == 1)
    grouped = over_queries(
        lambda part: StructuralHinge(part, RankWeights.from_range((0.0, 0.5))), halves
    )
    assert isinstance(grouped, QueryRisk)
    members["structural in two queries"] = grouped
    return members


def random_labels(rng, n_rows=30, weighted=False):
    """Both classes in both halves."""
    positive = rng.random(n_rows) < 0.4
    positive[:4] = [True, True, False, False]
    return Sample(positive, rng.uniform(0.3, 2.5, size=n_rows) if weighted else None)


RISK_NAMES = list(risks(random_labels(np.random.default_rng(0))))
DESIGN_NAMES = list(designs(np.random.default_rng(0)))
CONVEX_SOLVERS = [BundleSolver, CuttingPlaneSolver]
