"""Time of exact segmentation: all sizes at once, and one penalty beside skchange and ruptures.

Run with skchange and ruptures installed: ``python -m benchmarks changepoint_segment``. Rivals are
warmed up first and timed in turns on the same signals; the tables have the best of several runs. It
rewrites ``benchmarks/results/changepoint_segment.md``.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import ruptures

from aucuba.changepoint import segment, segment_penalty
from reproductions.tables import markdown_table, write_signed

RESULT = Path(__file__).parent / "results" / "changepoint_segment.md"
SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
KINDS = ("noise", "changes", "random walk", "spikes")
N_SEGMENTS = 20
PELT_SAMPLES = 2_000


def signal(kind: str, n: int, seed: int = 0) -> np.ndarray:
    """Noise without change, a change every 200 samples, a random walk, heavy-tailed spikes."""
    rng = np.random.default_rng(seed)
    if kind == "changes":
        return np.repeat(2 * rng.normal(size=-(-n // 200)), 200)[:n] + rng.normal(size=n)
    if kind == "random walk":
        return rng.normal(size=n).cumsum()
    return rng.normal(size=n) if kind == "noise" else rng.standard_t(1.5, size=n)


def best_times(calls: list[Callable[[], object]], repeats: int) -> list[float]:
    """Best time of each call, taken in turns so that a busy machine hits all alike."""
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(repeats + 1):
        for call, record in zip(calls, times, strict=True):
            began = time.process_time()
            call()
            record.append(time.process_time() - began)
    return [min(record[1:]) for record in times]


def cost(y: np.ndarray, changes: np.ndarray, penalty: float) -> float:
    """Squared error around the means plus the penalties."""
    parts = np.split(y, changes)
    return sum(float(((part - part.mean()) ** 2).sum()) for part in parts) + penalty * len(parts)


def penalty_for(y: np.ndarray, size: int) -> float:
    """A penalty at which the best segmentation has about so many segments."""
    low, high = 1e-3, 1e9
    for _ in range(60):
        middle = (low * high) ** 0.5
        found = int(segment_penalty(y, middle).sizes[0])
        if found == size:
            return middle
        low, high = (middle, high) if found > size else (low, middle)
    return middle


def one_penalty_row(kind: str, n: int, penalty: float | None = None) -> list[object]:
    """Times and costs of `segment_penalty` and FPOP on one signal."""
    from skchange.detectors import FPOP

    y = signal(kind, n)
    penalty = 2 * np.log(n) if penalty is None else penalty
    column, rival = y.reshape(-1, 1), FPOP(penalty=penalty)
    ours, theirs = best_times(
        [lambda: segment_penalty(y, penalty), lambda: rival.fit(column).predict(column)],
        15 if n <= 100_000 else 3,
    )
    found = segment_penalty(y, penalty)
    other = np.asarray(rival.fit(column).predict(column)).ravel().astype(int)
    mine, fpop = cost(y, found.changepoints[0], penalty), cost(y, other, penalty)
    return [kind, n, int(found.sizes[0]), ours, theirs, (mine - fpop) / fpop]


def pelt_row(kind: str) -> list[object]:
    """Cost beside ruptures' Pelt, which is too slow for long signals."""
    y = signal(kind, PELT_SAMPLES)
    penalty = 2 * np.log(PELT_SAMPLES)
    search = ruptures.Pelt(model="l2", min_size=1, jump=1).fit(y)
    # Its penalty is one per change, not one per segment: a constant.
    other = np.array(search.predict(pen=penalty)[:-1], dtype=int)
    mine = cost(y, segment_penalty(y, penalty).changepoints[0], penalty)
    difference = (mine - cost(y, other, penalty)) / mine
    return [kind, other.size + 1, f"{difference:.1e}"]


def path_row(n: int) -> list[object]:
    """Times of all twenty sizes at once."""
    y = np.repeat(2 * np.random.default_rng(0).normal(size=20), n // 20)
    y = y + np.random.default_rng(1).normal(size=y.size)
    counts = np.random.default_rng(1).poisson(np.exp(y.clip(-3, 3) / 3 + 1)).astype(float)
    calls: list[Callable[[], object]] = [
        lambda: segment(y, N_SEGMENTS),
        lambda: segment(counts, N_SEGMENTS, loss="poisson"),
        lambda: segment_penalty(y, 2 * np.log(n)),
        lambda: segment_penalty(counts, 2 * np.log(n), loss="poisson"),
        lambda: segment_penalty(y, 2 * np.log(n), loss="variance"),
    ]
    return [f"{n:,}", *best_times(calls, 5 if n <= 100_000 else 1)]


def exponent(n: list[int], seconds: list[float]) -> str:
    """Slope of log time against log n."""
    return f"{np.polyfit(np.log(n), np.log(seconds), 1)[0]:.2f}"


def main() -> None:
    rows = [one_penalty_row(kind, n) for kind in KINDS for n in SIZES]
    many = one_penalty_row("changes", 100_000, penalty_for(signal("changes", 100_000), 467))
    growth = []
    for kind in KINDS:
        of_kind = [row for row in rows if row[0] == kind]
        times = [exponent(list(SIZES), [row[k] for row in of_kind]) for k in (3, 4)]
        growth.append([kind, *times])
    shown = [
        [kind, f"{n:,}", k, f"{1e3 * a:.2f}", f"{1e3 * b:.2f}", f"{a / b:.2f}", f"{d:.1e}"]
        for kind, n, k, a, b, d in [*rows, many]
    ]
    paths = [path_row(n) for n in SIZES[:4]]
    text = "\n\n".join(
        [
            "# Exact segmentation",
            "CPU time, best of several runs taken in turns, compiled beforehand. One penalty of "
            "2 log n per segment, and at the end one that gives 467 segments; the last column is the "
            "relative difference of the costs.",
            markdown_table(
                [
                    "signal",
                    "samples",
                    "segments",
                    "segment_penalty, ms",
                    "FPOP, ms",
                    "ratio",
                    "cost",
                ],
                shown,
            ),
            "Time grows with the number of samples to the power:",
            markdown_table(["signal", "segment_penalty", "FPOP"], growth),
            "Costs beside ruptures' Pelt (squares, smallest segment 1, every sample), "
            f"{PELT_SAMPLES:,} samples:",
            markdown_table(["signal", "segments", "cost"], [pelt_row(kind) for kind in KINDS]),
            "Seconds of `segment` for all sizes from 1 to 20, and of `segment_penalty` by loss:",
            markdown_table(
                [
                    "samples",
                    "segment, l2",
                    "segment, Poisson",
                    "one penalty, l2",
                    "Poisson",
                    "variance",
                ],
                [[row[0], *(f"{value:.4f}" for value in row[1:])] for row in paths],
            ),
        ]
    )
    print(text)
    write_signed(RESULT, text, "benchmarks changepoint_segment", ("skchange", "ruptures"))


if __name__ == "__main__":
    main()
