"""Time of the first calls of compiled loops: ``python -m benchmarks cold_start``.

Every call runs in its own interpreter with an empty folder for numba's cache, so that its loops are
compiled. Names are imported outside the clock; numba is imported inside it, and whatever else the call
imports when it is first needed. Processor seconds of one thread, least of four runs in turn, beside
those of a second call in the same interpreter. Writes ``benchmarks/results/cold_start.md``.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from reproductions.tables import markdown_table, write_signed

RESULT = Path(__file__).parent / "results" / "cold_start.md"
N_RUNS = 4


def numba_alone():
    def call():
        from numba import njit

        return njit(lambda x: x + 1)(1.0)

    return call


def first_maximize_auc():
    from aucuba.aum import ErrorFunctions, maximize_auc

    rng = np.random.default_rng(0)
    errors = ErrorFunctions.from_labels(np.arange(200) % 5 == 0)
    start, direction = rng.normal(size=200), rng.normal(size=200)
    return lambda: maximize_auc(errors, start, direction, max_step=10.0)


def first_minimize_aum():
    from aucuba.aum import ErrorFunctions, minimize_aum

    rng = np.random.default_rng(0)
    errors = ErrorFunctions.from_labels(np.arange(200) % 5 == 0)
    start, direction = rng.normal(size=200), rng.normal(size=200)
    return lambda: minimize_aum(errors, start, direction)


def first_segment():
    from aucuba.changepoint import segment

    signal = np.random.default_rng(0).normal(size=500)
    return lambda: segment(signal, max_segments=5)


def first_detector():
    from aucuba.changepoint import Label, SupervisedChangepointDetector

    rng = np.random.default_rng(0)
    signals, labels = [], []
    for k in range(40):
        noise = 10.0 ** rng.uniform(-1, 1)
        mean = np.repeat([0.0, 8 * noise * (k % 2), 0.0], 20)
        signals.append(mean + noise * rng.normal(size=60))
        labels.append([Label(10, 30, "one" if k % 2 else "none"), Label(45, 58, "none")])
    return lambda: SupervisedChangepointDetector(max_segments=8, random_state=0).fit(
        signals, labels
    )


CALLS = {
    "numba and a loop of one line": numba_alone,
    "maximize_auc": first_maximize_auc,
    "minimize_aum": first_minimize_aum,
    "segment": first_segment,
    "SupervisedChangepointDetector.fit": first_detector,
}


def clock(name):
    """Print the processor seconds of the first and the second call of this interpreter."""
    call = CALLS[name]()
    for _ in range(2):
        start = time.process_time()
        call()
        print(time.process_time() - start)


def in_new_interpreter(name):
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.cold_start", name],
            env=os.environ | threads | {"NUMBA_CACHE_DIR": folder},
            cwd=Path(__file__).parents[1],
            capture_output=True,
            text=True,
            check=True,
        )
    return [float(line) for line in done.stdout.split()]


def main():
    runs = {name: [] for name in CALLS}
    for _ in range(N_RUNS):
        for name in CALLS:
            runs[name].append(in_new_interpreter(name))
            print(name, runs[name][-1], flush=True)
    rows = [
        [name, *(f"{seconds:.3f}" for seconds in np.min(times, axis=0))]
        for name, times in runs.items()
    ]
    text = (
        "# First calls of compiled loops\n\n"
        + __doc__.split("\n\n")[1].rpartition(" Writes")[0]
        + "\n\n"
        + markdown_table(["call", "first", "second"], rows)
    )
    write_signed(RESULT, text, "benchmarks cold_start", ("numba",))


if __name__ == "__main__":
    clock(sys.argv[1]) if sys.argv[1:] else main()
