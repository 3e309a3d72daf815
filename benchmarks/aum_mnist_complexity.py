"""Figure 5 of the AUM paper on MNIST: ``AUCUBA_DATA=... python benchmarks/aum_mnist_complexity.py``.

Digit 0 is negative and all others positive. Plain gradient descent from standard normal weights,
four seeds, with one exact search a step, until AUM falls by less than 1e-3: the protocol of the
paper, so that AUM may also fall by shrinking the weights. Counted are the meetings of threshold
lines that a search passes, for the three variants of the path; `minimize_aum` passes none and has
its evaluations counted. Writes ``benchmarks/results/aum_mnist_complexity.md``.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import datetime
import time
from pathlib import Path

import numpy as np

from aucuba.aum import ErrorFunctions, _loops, _path, aum, minimize_aum
from aucuba.aum._lines import Segment
from reproductions.data.mnist import load_mnist

RESULT = Path(__file__).parent / "results" / "aum_mnist_complexity.md"
SEEDS = range(4)
MOST_STEPS = 2_000


def first_min(errors, scores, change):
    segment = Segment.from_predictions(errors, scores, change)
    end = _path.follow(segment, _loops.STOP_FIRST_MIN, None, record=False)
    return end.best_aum().step, end.n_crossings


def linear(errors, scores, change):
    rows = _path.line_search_path(errors, scores, change, stop="linear")
    return rows.best_aum().step, rows.n_crossings


def quadratic(errors, scores, change):
    rows = _path.line_search_path(errors, scores, change, stop="all")
    return rows.best_aum().step, rows.n_crossings


def tangents(errors, scores, change):
    best = minimize_aum(errors, scores, change)
    return best.step, best.n_evaluations


# Largest n of each search, for a study of minutes.
SEARCHES = {
    "`minimize_aum`": (tangents, 51_200),
    "linear": (linear, 3_200),
    "first min": (first_min, 3_200),
    "quadratic": (quadratic, 1_600),
}


def descend(X, errors, search, seed):
    """Steps of descent, mean count of a search, and processor seconds in searches and in all."""
    w = np.random.default_rng(seed).normal(size=X.shape[1])
    scores = X @ w
    value, counts, searching, start = np.inf, [], 0.0, time.process_time()
    here = aum(errors, scores)
    while value - here.aum > 1e-3 and len(counts) < MOST_STEPS and here.gradient.any():
        value = here.aum
        direction = -(X.T @ here.gradient)
        change = X @ direction
        before = time.process_time()
        step, count = search(errors, scores, change)
        searching += time.process_time() - before
        counts.append(count)
        w = w + step * direction
        scores = X @ w
        here = aum(errors, scores)
    return len(counts), np.mean(counts), searching, time.process_time() - start, here


def study(data):
    X = data.data.astype(np.float64)
    y = (data.target != 0).astype(int)
    order = np.random.default_rng(0).permutation(y.size)
    X, y = X[order], y[order]
    rows = []
    warm = ErrorFunctions.from_labels([0, 1, 0])
    for search, _ in SEARCHES.values():
        search(warm, np.array([1.0, 0.0, 0.5]), np.array([-1.0, 0.0, 1.0]))
    for name, (search, largest) in SEARCHES.items():
        for n in 100 * 2 ** np.arange(10):
            if n > largest:
                break
            errors = ErrorFunctions.from_labels(y[:n])
            runs = [descend(X[:n], errors, search, seed) for seed in SEEDS]
            steps, count, searching, total = np.mean([run[:4] for run in runs], axis=0)
            final = np.mean([[run[4].aum, run[4].auc] for run in runs], axis=0)
            rows.append((name, int(n), steps, count, 1e3 * searching / steps, total, *final))
            print(rows[-1], flush=True)
    return rows


def slopes(rows):
    lines = []
    for name in SEARCHES:
        mine = [row for row in rows if row[0] == name and row[1] >= 200]
        n, steps, count, per_step, total = (
            np.log([row[k] for row in mine]) for k in (1, 2, 3, 4, 5)
        )
        fits = (np.polyfit(n, column, 1)[0] for column in (count, per_step, steps, total))
        lines.append("| " + " | ".join([name, *(f"{fit:.2f}" for fit in fits)]) + " |")
    return lines


def main():
    rows = study(load_mnist())
    table = [
        f"| {name} | {n:,} | {steps:.1f} | {count:,.0f} | {per_step:.2f} | {total:.2f} | "
        f"{value:.4f} | {auc:.4f} |"
        for name, n, steps, count, per_step, total, value, auc in rows
    ]
    text = [
        "# Figure 5 on MNIST: cost of gradient descent with exact searches",
        "",
        "Digit 0 against the rest, means over four random starts, stopped when AUM (rates) falls by",
        "less than 1e-3. Iterations are meetings of threshold lines a search passes; for",
        "`minimize_aum` evaluations of AUM. Processor time of one thread. Machine: 2-core AMD EPYC",
        f"virtual machine, shared, noisy. Date: {datetime.date.today()}.",
        "Rerun: `AUCUBA_DATA=... python benchmarks/aum_mnist_complexity.py`.",
        "",
        "## Exponents in n (log-log fits from n = 200 on)",
        "",
        "| search | iterations a step | search time a step | descent steps | total time |",
        "|:--|--:|--:|--:|--:|",
        *slopes(rows),
        "",
        "## All sizes",
        "",
        "| search | n | descent steps | iterations a step | ms a search | total s | final AUM |"
        " final AUC |",
        "|:--|--:|--:|--:|--:|--:|--:|--:|",
        *table,
        "",
    ]
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text("\n".join(text))


if __name__ == "__main__":
    main()
