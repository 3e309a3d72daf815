"""The members of the three families. A new member is tested by being listed here."""

import numpy as np
from scipy import sparse

import aucuba.design
from aucuba._base._arrays import arrays_of
from aucuba.design import KernelDesign, TableDesign
from aucuba.linear._anchored_fit import Anchored
from aucuba.risks import (
    HingeDifference,
    PairwiseHinge,
    RankWeights,
    Region,
    Sample,
    SmoothRamp,
    StructuralHinge,
    TightHinge,
    make_risk,
)
from aucuba.solvers import BundleSolver, CuttingPlaneSolver
from tests.optional import missing_packages

RANGES = [(0.0, 1.0), (0.0, 0.3), (0.15, 0.4), (0.31, 0.34)]


def read_only(X):
    X = X.copy()
    X.setflags(write=False)
    return X


def dask_blocks(X):
    """Blocks of unequal size, one of them empty."""
    import dask.array

    return aucuba.design.DaskDesign(dask.array.from_array(X, chunks=((13, 0, len(X) - 13), (2, 2))))


def dask_frame(X):
    import dask.dataframe
    import pandas

    frame = pandas.DataFrame(X, columns=list("abcd"))
    return aucuba.design.DaskDesign(dask.dataframe.from_pandas(frame, npartitions=2))


def dask_rows(X):
    """Some rows of CSR blocks, in another order."""
    import dask.array

    order = np.random.default_rng(7).permutation(2 * len(X))
    rows = np.empty((2 * len(X), 4))
    rows[order] = np.vstack([X, -X])
    blocks = dask.array.from_array(rows, chunks=(25, -1)).map_blocks(sparse.csr_array)
    return aucuba.design.DaskDesign(blocks).take(order[: len(X)])


def tensor_on_host(X):
    import torch

    return aucuba.design.TorchDesign(torch.as_tensor(X)).on_host()


DESIGNS = {
    "dense64": TableDesign,
    "dense32": lambda X: TableDesign(X.astype(np.float32)),
    "strided": lambda X: TableDesign(np.hstack([X, X])[:, ::2]),
    "read_only": lambda X: TableDesign(read_only(X)),
    "csr_array": lambda X: TableDesign(sparse.csr_array(X)),
    "kernel": lambda X: KernelDesign(X @ X.T + np.eye(len(X))),
    "csr_matrix32": lambda X: TableDesign(sparse.csr_matrix(X.astype(np.float32))),
}
if not {"dask", "pandas"} & missing_packages():
    DESIGNS |= {"dask": dask_blocks, "dask_frame": dask_frame, "dask_rows": dask_rows}
if "torch" not in missing_packages():
    DESIGNS["tensor_on_host"] = tensor_on_host


def make_design(name, rng, n_rows=30):
    """Return a Design of random data."""
    X = rng.normal(size=(n_rows, 4))
    X[np.abs(X) < 0.5] = 0.0
    return DESIGNS[name](X)


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
    halves = Sample(labels.positive, labels.weight, np.arange(labels.n_rows) % 2)
    for surrogate in ("structural", "tight", "direct"):
        members[f"{surrogate} in two queries"] = make_risk(
            surrogate, halves, Region.from_params((0.0, 0.5)), ramp_width=0.7
        )
    return members


def random_labels(rng, n_rows=30, weighted=False):
    """Both classes in both halves."""
    positive = rng.random(n_rows) < 0.4
    positive[:4] = [True, True, False, False]
    return Sample(positive, rng.uniform(0.3, 2.5, size=n_rows) if weighted else None)


_EXAMPLES = risks(random_labels(np.random.default_rng(0)))
RISK_NAMES = list(_EXAMPLES)
CONVEX_RISKS = [name for name, risk in _EXAMPLES.items() if risk.is_convex]
SMOOTH_RISKS = [name for name, risk in _EXAMPLES.items() if isinstance(risk, Anchored | SmoothRamp)]
DIFFERENCES = [name for name, risk in _EXAMPLES.items() if isinstance(risk, HingeDifference)]
# Tied to given scores, so that a shift of all scores changes it.
LEVEL_RISKS = ["anchored"]
# Tied to given rows, so that other rows in their place change it.
ROW_RISKS = [name for name in RISK_NAMES if "queries" in name or "tilted" in name]
DESIGN_NAMES = list(DESIGNS)
CONVEX_SOLVERS = [BundleSolver, CuttingPlaneSolver]
