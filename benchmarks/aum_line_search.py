"""Cost of the AUM line searches: ``python -m benchmarks aum_line_search``.

Processor seconds of one thread, best of several calls, compilation outside the clock. Every ratio
compares two numbers of the same run. Writes ``benchmarks/results/aum_line_search.md``.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import time
from pathlib import Path

import numpy as np
from numba import njit

from aucuba.aum import ErrorFunctions, _path, aum, maximize_auc, minimize_aum
from aucuba.aum._lines import Segment
from reproductions.tables import write_signed

HEAP_STEPS = 2_000_000
RESULT = Path(__file__).parent / "results" / "aum_line_search.md"


def problem(n, seed=0):
    """A linear model of ten features, a fifth of the rows positive, at a random start."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, 10)), (rng.random(n) < 0.2).astype(int)
    X[:, 0] += y
    errors = ErrorFunctions.from_labels(y)
    scores = X @ rng.normal(size=10)
    return errors, scores, -X @ (X.T @ aum(errors, scores).gradient)


def seconds(call, *arguments, repeats=3, **options):
    """Least processor time, and the answer."""
    best = np.inf
    for _ in range(repeats):
        start = time.process_time()
        answer = call(*arguments, **options)
        best = min(best, time.process_time() - start)
    return best, answer


@njit(cache=True)
def heap_push_pop(keys, steps):
    """Replace the top of a binary heap of floats ``steps`` times: one pop and one push each."""
    n = keys.shape[0]
    for i in range(n // 2 - 1, -1, -1):
        _sift(keys, i)
    state = np.uint64(1)
    for _ in range(steps):
        state = state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
        keys[0] += (state >> np.uint64(40)) / 16777216.0
        _sift(keys, 0)
    return keys[0]


@njit(cache=True)
def _sift(keys, i):
    n, key = keys.shape[0], keys[i]
    child = 2 * i + 1
    while child < n:
        if child + 1 < n and keys[child + 1] < keys[child]:
            child += 1
        if keys[child] >= key:
            break
        keys[i] = keys[child]
        i = child
        child = 2 * i + 1
    keys[i] = key


def exponent(sizes, times):
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def path_against_tangents():
    rows = []
    for n in (1_000, 10_000):
        errors, scores, direction = problem(n)
        segment = Segment.from_predictions(errors, scores, direction)
        repeats = 1 if n > 1_000 else 3
        by_path, end = seconds(_path.follow, segment, "first_min", record=False, repeats=repeats)
        kept, whole = seconds(_path.line_search_path, errors, scores, direction, repeats=repeats)
        by_tangents, found = seconds(minimize_aum, errors, scores, direction, repeats=5)
        assert abs(found.step - whole.best_aum().step) <= 1e-9 * found.step
        keys = np.random.default_rng(0).random(n)
        heap, _ = seconds(heap_push_pop, keys, HEAP_STEPS)
        event = by_path / end.n_crossings
        rows.append(
            f"| {n:,} | {end.n_crossings:,} | {by_path:.3f} | {1e-6 / event:.2f} | {kept:.3f} | "
            f"{1e-6 * whole.n_crossings / kept:.2f} | {event / (heap / HEAP_STEPS):.1f} | "
            f"{1e3 * by_tangents:.2f} | {found.n_evaluations} | {by_path / by_tangents:,.0f} |"
        )
    return rows


def growth_of_tangents():
    rows, sizes, times = [], (10_000, 30_000, 100_000, 300_000, 1_000_000), []
    for n in sizes:
        errors, scores, direction = problem(n)
        least, found = seconds(minimize_aum, errors, scores, direction, repeats=5)
        sort, _ = seconds(np.argsort, scores, repeats=5)
        times.append(least)
        rows.append(
            f"| {n:,} | {1e3 * least:.1f} | {found.n_evaluations} | {1e3 * sort:.2f} | "
            f"{least / sort:.1f} |"
        )
    return rows, exponent(sizes, times)


def growth_of_branch_and_bound():
    rows, sizes, times = [], (10_000, 100_000, 1_000_000), []
    for n, n_starts in zip(sizes, (6, 3, 1), strict=True):
        taken, splits = [], []
        for seed in range(n_starts):
            errors, scores, direction = problem(n, seed)
            end = 3 * minimize_aum(errors, scores, direction).step
            start = time.process_time()
            best = maximize_auc(errors, scores, direction, max_step=end, tol=1e-4)
            taken.append(time.process_time() - start)
            splits.append(best.n_splits)
            assert best.upper_bound <= best.auc + 1e-4
        times.append(np.mean(taken))
        rows.append(
            f"| {n:,} | {n_starts} | {times[-1]:.2f} | {np.mean(splits):.0f} | "
            f"{min(splits)} to {max(splits)} | {best.auc:.6f} | {best.upper_bound:.6f} |"
        )
    return rows, exponent(sizes, times)


def main():
    warm = problem(50)
    minimize_aum(*warm)
    maximize_auc(*warm, max_step=1.0)
    _path.line_search_path(*warm)
    heap_push_pop(np.arange(10.0), 10)
    first = path_against_tangents()
    second, tangent_exponent = growth_of_tangents()
    third, bound_exponent = growth_of_branch_and_bound()
    text = [
        "# AUM line searches",
        "",
        "Linear model, 10 features, 20 % positive, random start, direction the negative gradient.",
        "Processor seconds of one thread, best of several calls, one run.",
        "",
        "## First minimum: event queue against tangents",
        "",
        "An event is one crossing of two threshold lines. `recorded` keeps every row (40 bytes an",
        "event), `path` only the minimum. The heap column is the cost of an event in units of one",
        "pop and push of a numba heap of n floats. The ratio is path / `minimize_aum`.",
        "",
        "| n | events | path s | M events/s | recorded s | M events/s | event / heap |"
        " `minimize_aum` ms | evaluations | ratio |",
        "|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
        *first,
        "",
        "## `minimize_aum` against the number of rows",
        "",
        f"Fitted exponent of time in n: {tangent_exponent:.3f}.",
        "",
        "| n | ms | evaluations | argsort ms | in argsorts |",
        "|--:|--:|--:|--:|--:|",
        *second,
        "",
        "## `maximize_auc` at tol 1e-4, up to three times the first minimum",
        "",
        f"Fitted exponent of time in n: {bound_exponent:.3f}.",
        "",
        "Means over random starts; AUC and bound are those of the last.",
        "",
        "| n | starts | s | splits | range | AUC | upper bound |",
        "|--:|--:|--:|--:|:-:|--:|--:|",
        *third,
        "",
    ]
    write_signed(RESULT, "\n".join(text), "benchmarks aum_line_search", ("numba",))


if __name__ == "__main__":
    main()
