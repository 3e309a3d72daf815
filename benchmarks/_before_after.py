"""Times of the same calls before and after a change, and of peers, in one run.

A benchmark has a table of cells: a name, and a function that makes two calls, ours and a peer's. Every
cell runs in interpreters of its own: three with the present code, in which both calls take turns, and
in between three with an earlier source tree, if one is given. Processor seconds; medians.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from reproductions.tables import markdown_table, write_signed

Job = Callable[[], Any]
Cell = Callable[[], tuple[Job, Job]]
N_ROUNDS = 3
# One interpreter repeats a call until this many seconds have passed, at most this often.
ENOUGH_S, MOST_RUNS = 1.0, 15


def spent(jobs: Sequence[Job]) -> list[float]:
    """Processor seconds of calls in turn, medians; first calls, which may compile, do not count."""
    first = [_seconds(job) for job in jobs]
    if max(first) > 3 * ENOUGH_S:
        return first
    times: list[list[float]] = []
    while len(times) < MOST_RUNS and sum(map(sum, times)) < ENOUGH_S * len(jobs):
        times.append([_seconds(job) for job in jobs])
    return [statistics.median(one) for one in zip(*times, strict=True)]


def _seconds(job: Job) -> float:
    start = time.process_time()
    job()
    return time.process_time() - start


def _measured(module: str, name: str, which: str, source: Path | None) -> list[float]:
    """Time the calls of a cell in an interpreter of their own, with the code of a source tree."""
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    if source is not None:
        environment["PYTHONPATH"] = os.pathsep.join(
            [str(source), os.getcwd(), *environment.get("PYTHONPATH", "").split(os.pathsep)]
        )
    command = [sys.executable, "-m", f"benchmarks.{module}", "--cell", name, "--which", which]
    found = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if found.returncode:
        raise RuntimeError(found.stderr)
    return [float(one) for one in found.stdout.split("seconds")[-1].split()]


def run(
    module: str,
    title: str,
    text: str,
    cells: dict[str, Cell],
    argv: Iterable[str],
    summary: Callable[[dict[str, dict[str, float]]], str] | None = None,
) -> None:
    """Measure all cells, or time one of them as its worker, and write ``results/<module>.md``.

    ``summary`` returns the text that follows a table of all cells, from the seconds of each.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("--before", type=Path, help="the src folder of earlier code")
    parser.add_argument("--only", default="", help="part of the names of the cells to measure")
    parser.add_argument("--rounds", type=int, default=N_ROUNDS)
    parser.add_argument("--cell")
    parser.add_argument("--which", choices=("ours", "both"))
    options = parser.parse_args(list(argv))
    if options.cell is not None:
        warnings.simplefilter("ignore")
        with threadpool_limits(1):
            jobs = cells[options.cell]()
            print("seconds", *spent(jobs if options.which == "both" else jobs[:1]))
        return
    result = Path(__file__).parent / "results" / f"{module}.md"
    kept = result.with_suffix(".json")
    rows = json.loads(kept.read_text()) if kept.exists() else {}
    for name in cells:
        if options.only in name:
            known = rows.get(name, {})
            rows[name] = _row(module, name, options.before, known, options.rounds)
            print(name, rows[name], flush=True)
            kept.write_text(json.dumps(rows, indent=1) + "\n")
    lines = [_line(name, rows[name]) for name in cells if name in rows]
    columns = ["call", "before", "after", "peer", "after / peer", "before / after"]
    parts = [f"# {title}", text.strip(), markdown_table(columns, lines)]
    if summary is not None and rows.keys() >= cells.keys():
        parts.append(summary(rows))
    write_signed(result, "\n\n".join(parts), f"benchmarks {module}")


def _row(
    module: str, name: str, before: Path | None, known: dict[str, float], n_rounds: int
) -> dict[str, float]:
    rounds, earlier = [], []
    for _ in range(n_rounds):
        rounds.append(_measured(module, name, "both", None))
        if before is not None and (not earlier or earlier[0] < ENOUGH_S):
            earlier += _measured(module, name, "ours", before)
    ours, peer = (statistics.median(one) for one in zip(*rounds, strict=True))
    row = {"after": ours, "peer": peer}
    if earlier:
        row["before"] = statistics.median(earlier)
    elif "before" in known:
        row["before"] = known["before"]
    return row


def _line(name: str, row: dict[str, float]) -> list[str]:
    after, peer, before = row["after"], row["peer"], row.get("before")
    return [
        name,
        "-" if before is None else f"{before:.3g}",
        f"{after:.3g}",
        f"{peer:.3g}",
        f"{after / peer:.2f}",
        "-" if before is None else f"{before / after:.1f}",
    ]
