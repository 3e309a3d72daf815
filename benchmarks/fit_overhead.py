"""Seconds of a user's ``fit`` and of its solver: ``python -m benchmarks.fit_overhead [--before SRC]``.

`PartialAUCSVC.fit` at its defaults beside `BundleSolver.solve` on the same validated rows (problem,
risk and solver made anew in the clock) and, for the whole curve, beside dlib's ``svm_rank_trainer`` at
the same C and a tolerance of 1e-3 on converted data. "Checks" are those of scikit-learn alone, which
its own linear classifiers make before they start: ``validate_data``, `check_classification_targets`
and `np.unique` of the labels. Made tables have Gaussian classes, one row in ten positive; real ones
are scaled. ``--before`` names the ``src`` folder of earlier code, which is measured in the same run.
Processor seconds of one thread, medians over repetitions in one interpreter, or of three such medians,
of calls in turn; the AUC with C = .01 on a quiet machine, other rows beside another job on the second
core. Calls of a millisecond depend on what runs between them: compare the rows of one fit with its
three peers. The rows of [0, .1] with C of 1 and 100 were measured beside ten other jobs, those above
50 ms on 19 November 2026. Writes ``benchmarks/results/fit_overhead.md``.
"""

from __future__ import annotations

import sys

import numpy as np
from sklearn.preprocessing import StandardScaler
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from benchmarks._before_after import Cell, Job, run
from benchmarks.partial_auc_solvers import DlibRanker, gaussian
from reproductions.data.imbalanced import load_adbench

# The commit that "before" was measured at.
BEFORE = "a195919"
AUC, TOP = (0.0, 1.0), (0.0, 0.1)


def real(name: str):
    X, y = load_adbench(name)
    return StandardScaler().fit_transform(X), np.asarray(y, dtype=bool)


TABLES = {
    "made, 5,000 x 10": lambda: gaussian(5_000, 10),
    "made, 50,000 x 50": lambda: gaussian(50_000, 50),
    "campaign": lambda: real("campaign"),
    "mammography": lambda: real("mammography"),
}


def checks(model, X, positive) -> None:
    X, y = validate_data(model, X, positive, accept_sparse="csr", dtype=np.float64)
    check_classification_targets(y)
    np.unique(y)


def cell(table: str, limits: tuple[float, float], C: float, peer: str) -> Cell:
    def made() -> tuple[Job, Job]:
        from aucuba import PartialAUCSVC
        from aucuba.design import TableDesign
        from aucuba.risks import Region, Sample, make_risk
        from aucuba.solvers import BundleSolver

        X, positive = TABLES[table]()
        model = PartialAUCSVC(limits, C=C)
        if peer == "checks":
            return lambda: model.fit(X, positive), lambda: checks(model, X, positive)
        if peer == "dlib":
            ranker = DlibRanker(X, positive)
            return lambda: model.fit(X, positive), lambda: ranker(C, 1e-3)

        def solve():
            risk = make_risk("structural", Sample(positive), Region.from_params(limits))
            return BundleSolver(C=C).solve(TableDesign(X), risk)

        return lambda: model.fit(X, positive), solve

    return made


CELLS: dict[str, Cell] = {
    f"{table}, {'AUC' if limits == AUC else '[0, .1]'}, C={C:g}; {peer}": cell(
        table, limits, C, peer
    )
    for peer in ("solver", "dlib", "checks")
    for table in TABLES
    for limits in (AUC, TOP)
    for C in (0.01, 1.0, 100.0)
    if peer == "solver" or (limits == AUC and (peer == "dlib" or C == 0.01))
}


def main(argv: list[str] | None = None) -> None:
    text = (__doc__ or "").split("\n\n", 1)[1].replace("``", "`").replace("\nWrites", " Writes")
    text = text.rsplit(" Writes", 1)[0] + f' "Before" is commit {BEFORE}.'
    run("fit_overhead", "Fit and solver", text, CELLS, sys.argv[1:] if argv is None else argv)


if __name__ == "__main__":
    main()
