"""Segmentation beside ruptures: cost, time, and how well the chosen number of segments does.

Run with ruptures installed: ``python -m benchmarks changepoint_ruptures``. Both libraries get the same
signals, losses, smallest sizes and penalties; each call is warmed up, and the tables have the best
processor time of several runs taken in turns. It rewrites
``benchmarks/results/changepoint_ruptures.md``.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import ruptures
from scipy.stats import rankdata

from aucuba.changepoint import segment, segment_penalty
from benchmarks.changepoint_segment import best_times, signal
from reproductions.tables import markdown_table, write_signed

RESULT = Path(__file__).parent / "results" / "changepoint_ruptures.md"
N_DRAWS = 200


def steps(n: int, n_columns: int, seed: int = 0) -> np.ndarray:
    """A shared change every 200 samples, of two standard deviations on average, in every column."""
    rng = np.random.default_rng(seed)
    mean = np.repeat(2 * rng.normal(size=(-(-n // 200), n_columns)), 200, axis=0)[:n]
    return mean + rng.normal(size=(n, n_columns))


def squares(y: np.ndarray, changes: Any) -> float:
    """Squared error around the means of the segments."""
    parts = np.split(y.reshape(len(y), -1), list(changes))
    return sum(float(((part - part.mean(axis=0)) ** 2).sum()) for part in parts)


def rival(y: np.ndarray, n_segments: int | None, min_size: int, name: str, loss: str = "l2") -> Any:
    """First samples of new segments by an algorithm of ruptures."""
    if name == "KernelCPD":
        search = ruptures.KernelCPD(kernel="linear", min_size=min_size)
    else:
        algorithm = ruptures.Dynp if name == "Dynp" else ruptures.Pelt
        search = algorithm(loss, min_size=min_size, jump=5 if name == "Pelt, jump=5" else 1)
    asked = {"pen": 2 * np.log(len(y))} if n_segments is None else {"n_bkps": n_segments - 1}
    return search.fit(y).predict(**asked)[:-1]


def ours(y: np.ndarray, n_segments: int | None, min_size: int) -> Any:
    """The same by this library."""
    if n_segments is None:
        return segment_penalty(y, 2 * np.log(len(y)), min_size=min_size).changepoints[0]
    return segment(y, n_segments, min_size=min_size).changepoints[-1]


def beside_ruptures() -> str:
    """Costs and times of the same problems."""
    rows = []
    for n, n_columns, n_segments, min_size, name in (
        (500, 1, 5, 2, "Dynp"),
        (500, 3, 5, 2, "Dynp"),
        (2_000, 1, None, 2, "Pelt, jump=1"),
        (2_000, 1, None, 2, "Pelt, jump=5"),
        (2_000, 3, None, 2, "Pelt, jump=1"),
        (10_000, 1, 21, 2, "KernelCPD"),
        (10_000, 1, None, 2, "KernelCPD"),
        (10_000, 3, None, 2, "KernelCPD"),
        (10_000, 3, 21, 2, "KernelCPD"),
    ):
        y = steps(n, n_columns)
        y = y[:, 0] if n_columns == 1 else y
        problem = (y, n_segments, min_size)
        call, other = partial(ours, *problem), partial(rival, *problem, name)
        seconds = best_times([call, other], 2)
        penalty = 0.0 if n_segments else 2 * np.log(n)
        cost, theirs = (squares(y, c) + penalty * (len(c) + 1) for c in (call(), other()))
        what = f"{n_segments} segments" if n_segments else "penalty 2 log n"
        mine, its = (1e3 * one for one in seconds)
        excess = f"{(theirs - cost) / cost:.1e}"
        times = f"{mine:.2f}", f"{its:.1f}", f"{its / mine:,.1f}"
        rows.append([f"{n:,} x {n_columns}", what, name, *times, excess])
    head = ["signal", "asked for", "ruptures", "ours, ms", "theirs, ms", "theirs / ours"]
    return markdown_table([*head, "their cost above ours, relative"], rows)


def chosen_number() -> str:
    """How often ``segment(x)`` finds a change in noise, and the true number of segments elsewhere."""
    worlds: dict[str, tuple[Callable[[Any, int], Any], dict[str, Any]]] = {
        "normal noise": (lambda rng, n: rng.normal(size=n), {}),
        "normal noise, 3 columns": (lambda rng, n: rng.normal(size=(n, 3)), {}),
        "noise of 3 degrees of freedom": (lambda rng, n: rng.standard_t(3, size=n), {}),
        "the same, ranks": (
            lambda rng, n: np.argsort(np.argsort(rng.standard_t(3, size=n))).astype(float),
            {},
        ),
        "Poisson counts of mean 5": (lambda rng, n: rng.poisson(5, size=n), {"loss": "poisson"}),
        "variance 1": (lambda rng, n: rng.normal(size=n), {"loss": "variance"}),
    }
    rows = []
    for name, (draw, options) in worlds.items():
        cells = []
        for n in (50, 200, 1000):
            rng = np.random.default_rng(0)
            found = [segment(draw(rng, n), **options).sizes[0] > 1 for _ in range(N_DRAWS)]
            cells.append(f"{np.mean(found):.1%}")
        rows.append([name, *cells])
    return markdown_table(["signal without a change", "50 samples", "200", "1,000"], rows)


def true_changes() -> str:
    """Segments found where five segments of 100 samples differ by a multiple of the noise."""
    rows = []
    for jump in (0.5, 1.0, 2.0):
        cells: list[str] = [f"{jump:g}"]
        for n_columns in (1, 3):
            rng = np.random.default_rng(0)
            counts = []
            for _ in range(N_DRAWS):
                mean = np.repeat([0, jump, 0, jump, 0], 100)[:, None]
                counts.append(int(segment(mean + rng.normal(size=(500, n_columns))).sizes[0]))
            five = np.mean(np.array(counts) == 5)
            cells += [f"{np.mean(counts):.2f}", f"{five:.0%}"]
        rows.append(cells)
    head = ["jump", "segments, one column", "exactly five", "segments, 3 columns", "exactly five"]
    return markdown_table(head, rows)


def outliers() -> str:
    """Where the four changes of five segments are found under heavy tails, their number given."""
    n_draws, mean = 40, np.repeat([0, 1.5, 0, 1.5, 0], 40)
    methods: dict[str, Callable[[np.ndarray], Any]] = {
        "`segment(x, 5)`": lambda y: ours(y, 5, 2),
        "`segment(rankdata(x), 5)`": lambda y: ours(rankdata(y), 5, 2),
        "ruptures, Dynp, `l1`": lambda y: rival(y, 5, 2, "Dynp", "l1"),
    }
    noises: dict[str, Callable[[Any], Any]] = {
        "normal": lambda rng: rng.normal(size=mean.size),
        "3 degrees of freedom": lambda rng: rng.standard_t(3, size=mean.size),
        "5 % of outliers": lambda rng: (
            rng.normal(size=mean.size) * np.where(rng.random(mean.size) < 0.05, 10, 1)
        ),
    }
    rows = []
    for name, call in methods.items():
        cells, took = [], []
        for noise in noises.values():
            rng, found = np.random.default_rng(0), 0
            for _ in range(n_draws):
                y = mean + noise(rng)
                began = time.process_time()
                changes = np.asarray(call(y))
                took.append(time.process_time() - began)
                found += int(np.abs(changes - [40, 80, 120, 160]).max() <= 5)
            cells.append(f"{found / n_draws:.0%}")
        rows.append([name, *cells, f"{1e3 * np.median(took):.1f}"])
    return markdown_table(["method", *noises, "ms"], rows)


def losses() -> str:
    """Time of the losses for one penalty and for all sizes."""
    rows = []
    for kind in ("noise", "changes", "random walk", "spikes"):
        y = signal(kind, 10_000)
        one, path = best_times([lambda y=y: segment(y), lambda y=y: segment(y, 20)], 3)
        rows.append([kind, f"{1e3 * one:.1f}", f"{1e3 * path:.0f}"])
    return markdown_table(["10,000 samples", "`segment(x)`, ms", "`segment(x, 20)`, ms"], rows)


def main() -> None:
    """Write the tables."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parts = [
            "# Segmentation beside ruptures",
            "Squared loss, smallest segment 2 (ruptures' default), a shared change every 200 samples. "
            "Processor time, best of two after a warm-up. Ruptures searches every fifth sample by "
            "default (`jump=5`), which is faster and not exact.",
            beside_ruptures(),
            f"How often `segment(x)` finds a change where there is none, {N_DRAWS} draws (standard "
            "error at most 3.5 %). Heavy tails look like short segments to a squared loss: use ranks.",
            chosen_number(),
            f"Segments that `segment(x)` finds in five segments of 100 samples, {N_DRAWS} draws; the "
            "jump is in standard deviations of the noise.",
            true_changes(),
            "Against outliers: how often all four changes of five segments of 40 samples, 1.5 standard "
            "deviations apart, are found within 5 samples where their number is given; 40 draws "
            "(standard error at most 8 %). Ranks keep the compiled search of squares; an absolute "
            "loss has no running sums, and ruptures computes a median per candidate.",
            outliers(),
            "Time of one call at 10,000 samples.",
            losses(),
        ]
    write_signed(RESULT, "\n\n".join(parts), "benchmarks changepoint_ruptures", ["ruptures"])


if __name__ == "__main__":
    main()
