"""How large a table the default stack takes: 200,000 x 30, and 20,000 x 100,000 sparse.

    python -m benchmarks any_model_size [case]

Each case runs in a process of its own with ``n_jobs=2``. Memory is the largest sum, over the process
and its workers, of what each holds with pages in common counted once (PSS), read every two seconds.
Wall time depends on who else uses the machine; processor time, of all processes together, hardly does.
Every case is kept in ``results/any_model_size.json``. Linux only.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.datasets import make_classification

from aucuba.ensemble import RegionStack
from reproductions.tables import markdown_table, write_signed

RESULTS = Path(__file__).parent / "results"
STORED = RESULTS / "any_model_size.json"
TABLE = RESULTS / "any_model_size.md"
N_JOBS = 2
N_PREDICTED = 1_000_000


def dense(n_rows=200_000):
    return make_classification(
        n_rows,
        30,
        n_informative=10,
        n_redundant=5,
        weights=[0.95],
        flip_y=0.01,
        random_state=0,
    )


def wide(n_rows=20_000, n_columns=100_000, n_words=100):
    """Rows like short texts: few columns are frequent, most are rare."""
    rng = np.random.default_rng(0)
    frequency = 1.0 / np.arange(1, n_columns + 1)
    words = rng.choice(n_columns, (n_rows, n_words), p=frequency / frequency.sum())
    rows = np.repeat(np.arange(n_rows), n_words)
    counts = (np.ones(rows.size), (rows, words.ravel()))
    X = sparse.csr_array(counts, shape=(n_rows, n_columns))
    score = X @ rng.normal(0.0, 0.4, n_columns) + rng.normal(size=n_rows)
    return X, score > np.quantile(score, 0.95)


CASES = {"200,000 x 30": dense, "20,000 x 100,000, sparse": wide}


class Clock(logging.Handler):
    """Seconds of wall time at which each member was fitted."""

    def __init__(self):
        super().__init__()
        self.start, self.ends = time.monotonic(), {}

    def emit(self, record):
        self.ends[record.args[0]] = time.monotonic() - self.start


def family(pid):
    """A process and its descendants."""
    yield pid
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in path.read_text().split():
            yield from family(int(child))


def processor_seconds():
    """What this process and its workers have used, those that have ended included."""
    ticks = 0
    for pid in family(os.getpid()):
        after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += sum(map(int, after_name[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def proportional_bytes(pid):
    """What a process and its descendants hold."""
    total = 0
    for one in family(pid):
        lines = Path(f"/proc/{one}/smaps_rollup").read_text().splitlines()
        total += sum(1024 * int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total


def run_one(case):
    """Fit and predict in this process; what it took, as json on standard output."""
    X, y = CASES[case]()
    clock = Clock()
    log = logging.getLogger("aucuba")
    log.addHandler(clock)
    log.setLevel(logging.INFO)
    began, start = processor_seconds(), time.monotonic()
    stack = RegionStack(n_jobs=N_JOBS, random_state=0, verbose=1).fit(X, y)
    wall = time.monotonic() - start
    took = {"wall": wall, "processor": processor_seconds() - began}
    ends = [0.0, *clock.ends.values()]
    took["members"] = dict(zip(clock.ends, np.diff(ends).tolist(), strict=True))
    if not sparse.issparse(X):
        many = np.tile(X, (N_PREDICTED // len(X), 1))
        print("fitted", flush=True)
        start = time.process_time()
        stack.decision_function(many)
        took["prediction"] = time.process_time() - start
    print(json.dumps(took), flush=True)


def measured(case):
    """Run a case and watch its memory, while it fits and while it predicts."""
    command = [sys.executable, "-m", "benchmarks.any_model_size", "--one", case]
    peaks, lines = [0], []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:

        def listen():
            for line in process.stdout:
                lines.append(line)
                if line == "fitted\n":
                    peaks.append(0)

        listener = threading.Thread(target=listen)
        listener.start()
        while process.poll() is None:
            # A process may end while it is asked.
            with suppress(OSError):
                peaks[-1] = max(peaks[-1], proportional_bytes(process.pid))
            time.sleep(2)
        listener.join()
    if process.returncode:
        raise RuntimeError(f"The case {case} ended with {process.returncode}.")
    return json.loads(lines[-1]) | {"gigabytes": [peak / 1e9 for peak in peaks]}


def write_table(found):
    rows, members = [], []
    for case, took in found.items():
        prediction = f"{took['prediction']:.0f}" if "prediction" in took else ""
        memory = [f"{peak:.1f}" for peak in took["gigabytes"]] + [""]
        minutes = [f"{took[kind] / 60:.1f}" for kind in ("wall", "processor")]
        rows.append([case, *minutes, memory[0], prediction, memory[1]])
        shown = ", ".join(f"{name} {s / 60:.1f}" for name, s in took["members"].items())
        members.append(f"- {case}: {shown}")
    head = ["table", "wall (min)", "processor (min)", "memory (GB)"]
    lines = [
        "# How large a table the default stack takes",
        "",
        f"`RegionStack(n_jobs={N_JOBS})` on generated tables with 5 % positives; the aim is 10 minutes",
        "and 8 GB on two cores. Where others use the machine, wall time is longer than on two free",
        "cores. Memory is that of all processes, the table and its copies included. The last columns",
        "are of the scores of a million rows, computed 50,000 at a time on one thread, with the memory",
        "of these rows.",
        "",
        markdown_table([*head, "1e6 rows (s)", "memory then (GB)"], rows),
        "",
        "Minutes of wall time by member:",
        "",
        *members,
    ]
    write_signed(TABLE, "\n".join(lines), "benchmarks any_model_size", ("lightgbm",))


def main(cases=None):
    found = json.loads(STORED.read_text()) if STORED.exists() else {}
    for case in cases or CASES:
        found[case] = measured(case)
        print(case, found[case], flush=True)
        STORED.write_text(json.dumps(found, indent=1) + "\n")
        write_table(found)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        run_one(sys.argv[2])
    else:
        main(sys.argv[1:] or None)
