"""Time of exact segmentation into 1 .. 20 pieces, against skchange's FPOP for one penalty.

Run with skchange installed: ``python -m benchmarks changepoint_segment``. Both are warmed up first and
timed in turns on the same signals; the table has the best of several runs. It rewrites
``benchmarks/results/changepoint_segment.md``.
"""

from __future__ import annotations

import importlib.metadata
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from skchange.detectors import FPOP

from aucuba.changepoint import segment
from reproductions.tables import write_signed

RESULT = Path(__file__).parent / "results" / "changepoint_segment.md"
SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
N_SEGMENTS = 20


def signal(n: int, seed: int = 0) -> np.ndarray:
    """Twenty constant pieces with unit noise."""
    rng = np.random.default_rng(seed)
    return np.repeat(2 * rng.normal(size=20), n // 20) + rng.normal(size=n)


def best_times(calls: list[Callable[[], object]], repeats: int) -> list[float]:
    """Best time of each call, taken in turns so that a busy machine hits all alike."""
    times = [[] for _ in calls]
    for _ in range(repeats):
        for call, record in zip(calls, times, strict=True):
            began = time.process_time()
            call()
            record.append(time.process_time() - began)
    return [min(record) for record in times]


def measure(n: int) -> dict[str, float]:
    """Seconds of each method on one signal."""
    y = signal(n)
    counts = np.random.default_rng(1).poisson(np.exp(y.clip(-3, 3) / 3 + 1)).astype(float)
    detector = FPOP(penalty=2 * np.log(n))
    column = y.reshape(-1, 1)
    calls: list[Callable[[], object]] = [
        lambda: segment(y, N_SEGMENTS),
        lambda: detector.fit(column).predict(column),
        lambda: segment(counts, N_SEGMENTS, loss="poisson"),
    ]
    ours, theirs, poisson = best_times(calls, 15 if n <= 100_000 else 3)
    found = detector.fit(column).predict(column)
    same = np.array_equal(found, segment(y, found.size + 1).changepoints[-1])
    return {"n": n, "ours": ours, "fpop": theirs, "poisson": poisson, "same": same}


def exponent(rows: list[dict[str, float]], key: str) -> float:
    """Slope of log time against log n."""
    x, y = (np.log([row[name] for row in rows]) for name in ("n", key))
    return float(np.polyfit(x, y, 1)[0])


def main() -> None:
    segment(signal(200), 3)
    segment(np.ones(200), 3, loss="poisson")
    column = signal(200).reshape(-1, 1)
    FPOP().fit(column).predict(column)
    rows = [measure(n) for n in SIZES]
    version = importlib.metadata.version("skchange")
    lines = [
        "# Exact segmentation for 1 to 20 segments",
        "",
        "CPU seconds, best of several runs taken in turns, "
        "compiled beforehand. `segment` returns all twenty optimal segmentations; FPOP (skchange "
        f"{version}) returns one, for one penalty. The last column says whether the FPOP segmentation "
        "is the one `segment` gives for that size.",
        "",
        "| samples | segment, l2 | FPOP, one penalty | ratio | segment, Poisson | same changes |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        lines.append(
            f"| {row['n']:,} | {row['ours']:.4f} | {row['fpop']:.4f} | {row['ours'] / row['fpop']:.1f} "
            f"| {row['poisson']:.4f} | {'yes' if row['same'] else 'no'} |"
        )
    lines += [
        "",
        f"Time grows as n to the power {exponent(rows, 'ours'):.2f} (l2), "
        f"{exponent(rows, 'poisson'):.2f} (Poisson), {exponent(rows, 'fpop'):.2f} (FPOP).",
        "",
    ]
    write_signed(RESULT, "\n".join(lines), "benchmarks changepoint_segment")


if __name__ == "__main__":
    main()
