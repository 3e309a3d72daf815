"""How many iterations, how fast, how much memory: the solvers of the convex surrogates.

    python -m benchmarks partial_auc_solvers

Four parts, each in one run, on one BLAS thread and in processor time: iterations of the bundle
method against the paper's cutting-plane method at the same gap; time against dlib's ranking SVM at
the same objective; time against its floor, the passes over X as BLAS calls plus one sort per pass; and
peak memory beyond X.
"""

from __future__ import annotations

import time
import tracemalloc
from pathlib import Path

import numpy as np
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from aucuba.design import TableDesign
from aucuba.risks import PairwiseHinge, RankWeights, Sample, StructuralHinge
from aucuba.solvers import BundleSolver, CuttingPlaneSolver, Status
from reproductions.data.imbalanced import load_adbench
from reproductions.tables import markdown_table, write_signed

RANGES = {"AUC": (0.0, 1.0), "[0, .1]": (0.0, 0.1), "[.02, .05]": (0.02, 0.05)}
C, TOL = 100.0, 1e-3
LIMIT = 3000
RESULT = Path(__file__).parent / "results" / "partial_auc_solvers.md"


def generated(n, separation, seed, d=50, fraction=0.05):
    """Gaussian classes, 5 % positives, means apart by ``separation`` standard deviations."""
    rng = np.random.default_rng(seed)
    direction = rng.normal(size=d)
    positive = rng.random(n) < fraction
    X = rng.normal(size=(n, d))
    X[positive] += separation * direction / np.linalg.norm(direction)
    return X, positive


def standardised(name):
    X, positive = load_adbench(name)
    return StandardScaler().fit_transform(X), positive


SETS = {
    "easy (generated)": lambda: generated(20_000, 3.0, seed=0),
    "hard (generated)": lambda: generated(20_000, 1.5, seed=1),
    "mammography": lambda: standardised("mammography"),
    "campaign": lambda: standardised("campaign"),
}


def make_risk(positive, limits):
    if limits == (0.0, 1.0):
        return PairwiseHinge(Sample(positive))
    return StructuralHinge(Sample(positive), RankWeights.from_range(limits))


def first_within(solution):
    """Iterations until the gap was certified; a collapse is proved to a finer one."""
    within = (row["iteration"] for row in solution.history if row["gap"] <= TOL)
    return next(within, solution.n_iter)


def iterations():
    rows = []
    for name, load in SETS.items():
        X, positive = load()
        for range_name, limits in RANGES.items():
            risk, design = make_risk(positive, limits), TableDesign(X)
            plain = CuttingPlaneSolver(C, TOL, LIMIT).solve(design, risk)
            bundle = BundleSolver(C, TOL, LIMIT).solve(design, risk)
            note = "w = 0" if bundle.status is Status.COLLAPSED else ""
            n_plain, n_bundle = first_within(plain), first_within(bundle)
            reached = "" if plain.status is not Status.ITERATION_LIMIT else ">"
            rows.append(
                [
                    f"{name} {range_name}",
                    f"{reached}{n_plain}",
                    n_bundle,
                    f"{reached}{n_plain / n_bundle:.1f}",
                    f"{bundle.gap:.1e}",
                    note,
                ]
            )
            print(*rows[-1], flush=True)
    return markdown_table(["problem", "cutting plane", "bundle", "ratio", "gap", "solution"], rows)


def against_dlib():
    try:
        import dlib
    except ImportError:
        return "dlib is not installed (`pip install dlib-bin`); this part was skipped."
    X, positive = generated(20_000, 1.5, seed=1)
    design, risk = TableDesign(X), PairwiseHinge(Sample(positive))
    exact = BundleSolver(1.0, 1e-6).solve(design, risk)
    pair = dlib.ranking_pair()
    for row, is_positive in zip(X, positive, strict=True):
        (pair.relevant if is_positive else pair.nonrelevant).append(dlib.vector(row))

    def objective(w):
        return w @ w / 2 + risk.value_and_gradient(X @ w)[0]

    def dlib_fit(epsilon):
        trainer = dlib.svm_rank_trainer()
        trainer.c, trainer.epsilon = 1.0, epsilon
        start = time.process_time()
        model = trainer.train(pair)
        return time.process_time() - start, objective(np.array(list(model.weights)))

    rows = []
    for tol in (1e-2, 1e-3, 1e-4):
        times, values = zip(*(dlib_fit(tol) for _ in range(3)), strict=True)
        rows.append(
            [f"dlib, epsilon {tol:g}", f"{min(times):.3f}", f"{values[0] - exact.objective:.1e}"]
        )
    for tol in (1e-2, 1e-3, 1e-4):
        best = np.inf
        for _ in range(3):
            start = time.process_time()
            solution = BundleSolver(1.0, tol).solve(design, risk)
            best = min(best, time.process_time() - start)
        excess = solution.objective - exact.objective
        rows.append([f"bundle, gap {tol:g}", f"{best:.3f}", f"{excess:.1e}"])
    return markdown_table(
        ["full AUC, n = 20,000, d = 50, C = 1", "processor seconds", "objective above the optimum"],
        rows,
    )


def floor_and_growth():
    rows, points = [], {}
    for n in (10_000, 100_000, 1_000_000):
        X, positive = generated(n, 1.5, seed=2)
        w, g = np.random.default_rng(0).normal(size=50), np.random.default_rng(0).normal(size=n)
        for range_name, limits in (("AUC", (0.0, 1.0)), ("[0, .1]", (0.0, 0.1))):
            risk, design = make_risk(positive, limits), TableDesign(X)
            seconds = floor = np.inf
            for _ in range(2):
                start = time.process_time()
                solution = BundleSolver(1.0, TOL).solve(design, risk)
                seconds = min(seconds, time.process_time() - start)
                start = time.process_time()
                scores = X @ w
                g @ X
                np.argsort(scores)
                np.argsort(scores)
                floor = min(floor, time.process_time() - start)
            passes = solution.n_iter + 1
            rows.append(
                [
                    f"{range_name}, n = {n:,}",
                    f"{seconds:.3f}",
                    solution.n_iter,
                    solution.history[-1]["n_evaluations"],
                    f"{seconds / (passes * floor):.2f}",
                ]
            )
            points.setdefault(range_name, []).append((n, seconds))
            print(*rows[-1], flush=True)
    growth = [
        f"{name}: time grows as n^{np.polyfit(*np.log(np.array(pairs).T), 1)[0]:.2f}"
        for name, pairs in points.items()
    ]
    table = markdown_table(
        [
            "problem (d = 50, C = 1)",
            "processor seconds",
            "iterations",
            "risk evaluations",
            "time / floor",
        ],
        rows,
    )
    return table + "\n\n" + "; ".join(growth) + "."


def memory():
    rows = []
    for dtype in (np.float64, np.float32):
        X, positive = generated(200_000, 1.5, seed=3)
        X = X.astype(dtype)
        for range_name, limits in (("AUC", (0.0, 1.0)), ("[0, .1]", (0.0, 0.1))):
            risk = make_risk(positive, limits)
            tracemalloc.start()
            BundleSolver(1.0, TOL).solve(TableDesign(X), risk)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            vectors = peak / (8 * X.shape[0])
            name = f"{np.dtype(dtype).name}, {range_name}, n = 200,000, d = 50"
            rows.append([name, f"{vectors:.1f}", f"{peak / X.nbytes:.2f}"])
    return markdown_table(["problem", "peak, in float64 n-vectors", "peak / X"], rows)


def main():
    with threadpool_limits(1):
        sections = [
            ("Speed against dlib's `svm_rank_trainer`", against_dlib()),
            (
                "Time against the floor",
                "The floor of an iteration is two passes over X as BLAS calls and two sorts of the "
                "scores.\n\n" + floor_and_growth(),
            ),
            ("Peak memory beyond X", memory()),
            (f"Iterations to a certified gap of {TOL:g} at C = {C:g}", iterations()),
        ]
    text = "\n\n".join(f"## {title}\n\n{body}" for title, body in sections)
    text = f"# Solvers of the convex surrogates\n\n{text}"
    write_signed(RESULT, text, "benchmarks partial_auc_solvers")


if __name__ == "__main__":
    main()
