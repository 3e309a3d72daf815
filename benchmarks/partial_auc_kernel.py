"""Where to stop direct fits on kernel features: ``python -m benchmarks partial_auc_kernel``.

Test partial AUC x 100 over (0, .05), two splits of at most 10,000 rows, 300 Nystroem features of the
rbf kernel. The descent ends where an iteration lowers the objective by less than a fraction of it. It
runs in the coordinates of the features, or in whitened ones (directions below 1e-8 of the largest
eigenvalue of their second moments dropped) with the same anchor and the same objective. Writes
``benchmarks/results/partial_auc_kernel.md``.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np

from aucuba._roc._region import Region
from aucuba.design import TableDesign
from aucuba.linear._anchored_fit import ANCHOR_STRENGTH, Anchored, anchor_direction, anchored_fit
from aucuba.linear._kernel import Kernel
from aucuba.metrics import partial_auc_score
from aucuba.risks import Sample, make_risk
from aucuba.solvers import LBFGSSolver, Status
from benchmarks.partial_auc_quality import SETS, halves
from reproductions.data.imbalanced import ADBENCH
from reproductions.tables import markdown_table, write_signed

RESULT = Path(__file__).parent / "results" / "partial_auc_kernel.md"
BAND = (0.0, 0.05)
TOLERANCES = (1e-5, 1e-4, 1e-3)


class Whitened:
    """Scores of ``anchor + basis @ z``: the whitened coordinates z of a model."""

    def __init__(self, Z, reference):
        values, vectors = np.linalg.eigh(Z.T @ Z / Z.shape[0])
        kept = values > 1e-8 * values[-1]
        self.basis = vectors[:, kept] / np.sqrt(values[kept])
        self.design, self.reference = TableDesign(Z), reference

    def zeros(self):
        return np.zeros(self.basis.shape[1])

    def scores(self, z):
        return self.reference + self.design.scores(self.basis @ z)

    def adjoint(self, gradient):
        return self.basis.T @ self.design.adjoint(gradient)


def whitened_fit(Z, sample, region, anchor, tol):
    reference = Z @ anchor
    design = Whitened(Z, reference)
    risk = Anchored(make_risk("direct", sample, region), reference, ANCHOR_STRENGTH)

    def measure(scores):
        return partial_auc_score(sample.positive, scores, fpr_range=BAND)

    solver = LBFGSSolver(objective_tol=tol)
    solution = solver.solve(design, risk, start=design.zeros(), merit=measure)
    return anchor + design.basis @ solution.coef, solution


def one_split(X_train, X_test, y_train, y_test):
    """Test partial AUC x 100, objective and end of every method."""
    sample, region = Sample(np.asarray(y_train) == 1), Region.from_params(BAND)
    kernel = Kernel.from_params("rbf", "scale", 3, 1.0, X_train, None)
    features = kernel.features(300, 0)
    Z, Z_test = features.fit_transform(X_train), features.transform(X_test)
    design = TableDesign(Z)
    anchor, _ = anchor_direction(design, sample, 1.0)
    found = [(anchor, None)]
    for tol in TOLERANCES:
        fit = anchored_fit(design, sample, region, anchor, objective_tol=tol)
        found.append((fit.coef, fit.solution))
    found += [whitened_fit(Z, sample, region, anchor, tol) for tol in TOLERANCES]
    test = [100 * partial_auc_score(y_test, Z_test @ coef, fpr_range=BAND) for coef, _ in found]
    objective = [np.nan if end is None else end.objective for _, end in found]
    at_limit = [end is not None and end.status is Status.ITERATION_LIMIT for _, end in found]
    return test, objective, at_limit


def main(names=()):
    warnings.simplefilter("ignore")
    methods = [
        "anchor",
        *(f"{kind}, {tol:g}" for kind in ("plain", "whitened") for tol in TOLERANCES),
    ]
    rows, cells = [], []
    for name in names or [one for one in ADBENCH if one not in ("campaign", "ALOI")]:
        X, y = SETS[name]()
        found = np.array([one_split(*halves(X, y, split)) for split in range(2)], dtype=float)
        cells.append(found)
        rows.append([name, *(f"{value:.1f}" for value in found[:, 0].mean(axis=0))])
        print(*rows[-1], flush=True)
    total = np.concatenate(cells)
    rows.append(["mean", *(f"{value:.2f}" for value in total[:, 0].mean(axis=0))])
    rows.append(["mean objective", *(f"{value:.3f}" for value in total[:, 1].mean(axis=0))])
    rows.append(["at 100 iterations", *(f"{value:.2f}" for value in total[:, 2].mean(axis=0))])
    text = "\n\n".join(
        [
            "# Direct fits on kernel features",
            __doc__.split("\n\n")[1].rpartition(" Writes")[0],
            markdown_table(["table", *methods], rows),
        ]
    )
    write_signed(RESULT, text, "benchmarks partial_auc_kernel")


if __name__ == "__main__":
    main(sys.argv[1:])
