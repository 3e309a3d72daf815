"""Fits of a table larger than the memory they may take: 10 million x 200 float32, 8 GB, two cores.

Run with ``python -m benchmarks out_of_core``, or in part with ``--rows`` and ``--folder``. It writes
the table as a memory-mapped array and as Parquet, fits both through Dask's threads, each in a process
of its own whose private (anonymous) memory is watched, and rewrites ``results/out_of_core.md``. Results
are appended to ``out_of_core.csv`` as they come, and a row that is there is not measured again.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

# One thread per block, set before NumPy loads; Dask runs two blocks at a time.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from reproductions.tables import markdown_table, write_signed

N_ROWS = 10_000_000
N_FEATURES = 200
N_BLOCKS = 64
PREVALENCE = 0.02
LIMIT_GB = 3.0
MODELS = {
    "structural": {"surrogate": "structural", "C": 100.0, "tol": 0.01, "rtol": 0.01},
    "direct": {"surrogate": "direct", "max_iter": 5},
}
# Freed memory goes back at once, as Dask sets it for its own workers; the allocators keep it else.
RETURNING_MEMORY = {"MALLOC_TRIM_THRESHOLD_": "65536", "ARROW_DEFAULT_MEMORY_POOL": "system"}
FORMATS = ("memmap", "parquet")
FIELDS = (
    "rows", "format", "model", "private_gb", "passes", "seconds", "iterations", "status",
    "dask_pass", "numpy_pass",
)  # fmt: skip
RESULTS = Path(__file__).parent / "results"


def write_table(folder: Path, n_rows: int) -> None:
    """Write features, block by block, in both formats, and the labels."""
    import pandas as pd

    if (folder / "done").exists():
        return
    X = np.lib.format.open_memmap(
        folder / "X.npy", mode="w+", dtype=np.float32, shape=(n_rows, N_FEATURES)
    )
    y = np.empty(n_rows, dtype=np.int8)
    (folder / "parts").mkdir(exist_ok=True)
    for number, rows in enumerate(np.array_split(np.arange(n_rows), N_BLOCKS)):
        rng = np.random.default_rng(number)
        part = rng.standard_normal((rows.size, N_FEATURES), dtype=np.float32)
        labels = rng.random(rows.size) < PREVALENCE
        part[labels, :10] += 1.0
        X[rows[0] : rows[-1] + 1], y[rows] = part, labels
        frame = pd.DataFrame(part, columns=[f"x{k}" for k in range(N_FEATURES)])
        frame.to_parquet(folder / "parts" / f"{number:03d}.parquet", compression=None)
    X.flush()
    np.save(folder / "y.npy", y)
    (folder / "done").touch()


def mapped_rows(path: Path, start: int, stop: int) -> Any:
    """Return rows of a stored array as a view of the file."""
    return np.load(path, mmap_mode="r")[start:stop]


def collection(folder: Path, kind: str) -> Any:
    """Open the table lazily."""
    import dask
    import dask.array as da
    import dask.dataframe as dd

    if kind == "memmap":
        # `da.from_array` would copy the mapped array into memory.
        n_rows = np.load(folder / "X.npy", mmap_mode="r").shape[0]
        cuts = np.linspace(0, n_rows, N_BLOCKS + 1).astype(int).tolist()
        read = dask.delayed(mapped_rows, pure=False)
        return da.concatenate(
            [
                da.from_delayed(
                    read(folder / "X.npy", start, stop), (stop - start, N_FEATURES), np.float32
                )
                for start, stop in itertools.pairwise(cuts)
            ]
        )
    return dd.read_parquet(sorted(map(str, (folder / "parts").glob("*.parquet"))))


def fit_once(folder: Path, kind: str, model: str) -> None:
    """Fit one model and print what it cost as one csv row; runs in its own process."""
    import dask

    from aucuba import PartialAUCClassifier
    from aucuba.design import DaskDesign, TableDesign

    counted: list[DaskDesign] = []
    made = DaskDesign.__init__

    def counting(design: DaskDesign, X: Any) -> None:
        made(design, X)
        counted.append(design)

    DaskDesign.__init__ = counting  # type: ignore[method-assign]
    y = np.load(folder / "y.npy")
    X = collection(folder, kind)
    with dask.config.set(scheduler="threads", num_workers=2):
        start = time.perf_counter()
        fitted = PartialAUCClassifier((0.0, 0.05), **MODELS[model]).fit(X, y)
        seconds = time.perf_counter() - start
        design, w = counted[0], fitted.coef_[0]
        passes = design.n_passes
        start = time.perf_counter()
        design.scores(w)
        dask_pass = time.perf_counter() - start
    plain = np.load(folder / "X.npy", mmap_mode="r")
    start = time.perf_counter()
    TableDesign(plain).scores(w)
    numpy_pass = time.perf_counter() - start
    print(f"{passes},{seconds:.0f},{fitted.n_iter_},{fitted.status_.split('.')[0].split(':')[0]},"
          f"{dask_pass:.1f},{numpy_pass:.1f}")  # fmt: skip


def private_bytes(pid: int) -> int:
    """Anonymous memory of a process; pages of mapped files are the system's to drop."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("RssAnon"))


def measured(folder: Path, n_rows: int, kind: str, model: str) -> dict[str, Any]:
    """Fit in a process and watch its private memory."""
    command = [sys.executable, "-m", "benchmarks.out_of_core", "--folder", str(folder)]
    command += ["--one", kind, model]
    peak, running = 0, True
    environment = {**os.environ, **RETURNING_MEMORY}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)

    def watch() -> None:
        nonlocal peak
        while running:
            peak = max(peak, private_bytes(process.pid))
            time.sleep(0.1)

    watcher = threading.Thread(target=watch)
    watcher.start()
    out = process.communicate()[0]
    running = False
    watcher.join()
    if process.returncode:
        raise RuntimeError(f"The fit of {model} on {kind} failed.")
    names = ("passes", "seconds", "iterations", "status", "dask_pass", "numpy_pass")
    found = dict(zip(names, out.strip().splitlines()[-1].split(","), strict=True))
    return {
        "rows": n_rows,
        "format": kind,
        "model": model,
        "private_gb": f"{peak / 1e9:.2f}",
    } | found


def known() -> list[dict[str, str]]:
    path = RESULTS / "out_of_core.csv"
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as stored:
        return list(csv.DictReader(stored))


def append(row: dict[str, Any]) -> None:
    path = RESULTS / "out_of_core.csv"
    is_new = not path.exists()
    with path.open("a", encoding="utf-8", newline="") as stored:
        writer = csv.DictWriter(stored, FIELDS)
        if is_new:
            writer.writeheader()
        writer.writerow(row)


def report() -> None:
    """Write the table of all measured fits."""
    header = [
        "rows x 200, format, model", "private memory, GB", "passes", "seconds", "iterations",
        "Dask pass, s", "NumPy pass, s",
    ]  # fmt: skip
    rows = [
        [f"{int(row['rows']):,}, {row['format']}, {row['model']} ({row['status'].lower()})"]
        + [row[name] for name in ("private_gb", "passes", "seconds", "iterations")]
        + [row["dask_pass"], row["numpy_pass"]]
        for row in known()
    ]
    text = (
        "# A table larger than memory\n\n"
        "float32, Dask's threads, two of 64 blocks at a time; private memory is the peak of the fit's "
        f"process (limit {LIMIT_GB:g} GB). False positive rates in [0, 0.05]; structural to a relative "
        "gap of 1e-2, direct for 5 iterations after logistic regression. A pass is one product with "
        "the whole table; beside it the same product by NumPy on the memory-mapped array.\n\n"
    )
    write_signed(
        RESULTS / "out_of_core.md",
        text + markdown_table(header, rows),
        "benchmarks out_of_core",
        ("dask",),
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=N_ROWS)
    parser.add_argument("--folder", type=Path, default=None)
    parser.add_argument("--one", nargs=2, default=None)
    options = parser.parse_args()
    if options.one is not None:
        fit_once(options.folder, *options.one)
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        write_table(folder, options.rows)
        done = {(row["rows"], row["format"], row["model"]) for row in known()}
        for kind in FORMATS:
            for model in MODELS:
                if (str(options.rows), kind, model) not in done:
                    row = measured(folder, options.rows, kind, model)
                    append(row)
                    report()
                    assert float(row["private_gb"]) < LIMIT_GB, row
    report()


if __name__ == "__main__":
    main()
