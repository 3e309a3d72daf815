"""The path of n events beside a queue in C++ and R: ``python -m benchmarks aum_event_path``.

Processor milliseconds of one thread, best of nine calls. Times of the R package come from
``$AUCUBA_DATA/aum_reference``. Writes ``benchmarks/results/aum_event_path.md``.
"""

from __future__ import annotations

import csv
import ctypes
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from aucuba.aum import line_search_path
from aucuba.aum._lines import Segment
from benchmarks.aum_line_search import problem, seconds
from reproductions.tables import markdown_table, write_signed

RESULT = Path(__file__).parent / "results" / "aum_event_path.md"
# Seconds of the R package on its own machine, see the README beside them.
R_TIMES = Path(os.environ.get("AUCUBA_DATA", "")) / "aum_reference" / "timing_R.csv"
R_CASE = "aum_line_search linear model (n x 10)"
TEXT = """
`line_search_path` with `stop=n`, everything included: sorts, queue, and n - 1 crossings, one event
each. Linear model, 10 features, 20 % positive, random start, direction the negative gradient.
`recorded` keeps every row, which is the default; `path` is asked for the best points alone. The peer
is a plain queue of events in C++ (a `std::set`, `_event_queue.cpp`, g++ -O3) on lines made
beforehand, which ends at the same step and AUM. The times of the R package aum 2024.6.19 are on
problems of the same sizes, **from another machine and day**: read them as an order of magnitude.
"""


def event_queue() -> Callable[[Segment, int], tuple[float, float]] | None:
    """Compile the queue of events where there is a compiler: a call that returns AUM and step."""
    compiler = shutil.which("g++")
    if compiler is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "event_queue.so"
        source = Path(__file__).parent / "_event_queue.cpp"
        options = ["-O3", "-std=c++17", "-shared", "-fPIC"]
        subprocess.run([compiler, *options, "-o", made, source], check=True)
        library = ctypes.CDLL(str(made))
    library.follow.restype = ctypes.c_double

    def follow(segment: Segment, n_events: int) -> tuple[float, float]:
        errors, last = segment.errors, ctypes.c_double()
        columns = [
            np.ascontiguousarray(one)
            for one in (segment.intercept, segment.slope, errors.fp_diff, errors.fn_diff)
        ]
        pointers = [one.ctypes.data_as(ctypes.c_void_p) for one in columns]
        sizes = ctypes.c_long(columns[0].size), ctypes.c_long(n_events)
        return library.follow(sizes[0], *pointers, sizes[1], ctypes.byref(last)), last.value

    return follow


def seconds_of_r() -> dict[int, float]:
    if not R_TIMES.is_file():
        return {}
    with R_TIMES.open() as lines:
        rows = [one for one in csv.DictReader(lines) if one["what"] == R_CASE]
    return {
        int(float(one["n"])): float(one["cpu.median"])
        for one in rows
        if one["maxIterations"] == "n"
    }


def row(n: int, queue: Any, known: float | None) -> list[str]:
    call = problem(n)
    plain, path = seconds(line_search_path, *call, stop=n, record=False, repeats=9)
    kept, whole = seconds(line_search_path, *call, stop=n, repeats=9)
    assert path.n_crossings == whole.n_crossings == n - 1
    shown = [f"{n:,}", f"{1e3 * plain:.2f}", f"{1e3 * kept:.2f}"]
    if queue is None:
        shown += ["-", "-"]
    else:
        segment = Segment.from_predictions(*call)
        by_queue, (value, step) = seconds(queue, segment, n - 1, repeats=9)
        assert abs(value - whole.aum[-1]) <= 1e-9 * value
        assert abs(step - whole.step[-1]) <= 1e-9 * step
        shown += [f"{1e3 * by_queue:.2f}", f"{plain / by_queue:.2f}"]
    return shown + (["-", "-"] if known is None else [f"{1e3 * known:.0f}", f"{plain / known:.2f}"])


def main() -> None:
    queue, known = event_queue(), seconds_of_r()
    line_search_path(*problem(50))
    rows = [row(n, queue, known.get(n)) for n in (1_000, 10_000, 100_000)]
    columns = ["n", "path ms", "recorded ms", "C++ ms", "path / C++", "R ms, elsewhere", "path / R"]
    table = markdown_table(columns, rows)
    write_signed(
        RESULT, f"# The path of n events\n{TEXT}\n{table}", "benchmarks aum_event_path", ("numba",)
    )


if __name__ == "__main__":
    main()
