"""Fits of a table larger than the memory they may take: 10 million x 200 float32, 8 GB, two cores.

Run with ``python -m benchmarks out_of_core``; ``python -m benchmarks.out_of_core`` takes ``--rows`` and
``--folder``. It writes the table as a memory-mapped array and as Parquet, fits both through Dask's
threads, each in a process of its own whose private (anonymous) memory is watched, and rewrites
``results/out_of_core.md``. Results are appended to ``out_of_core.csv`` as they come, and a row that is
there is not measured again.

Parquet is written without dictionaries: by default every column of continuous numbers gets one, which
makes the file larger and writing it slow; a second table says how much.
"""

from __future__ import annotations

import argparse
import csv
import functools
import itertools
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

# One thread per block, set before NumPy loads; Dask runs two blocks at a time.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from reproductions.tables import markdown_table, write_signed

N_ROWS = 10_000_000
N_FEATURES = 200
N_BLOCKS = 128
PREVALENCE = 0.02
LIMIT_GB = 3.0
MODELS = {
    "structural": {"loss": "structural", "C": 100.0, "tol": 0.01, "rtol": 0.01},
    "direct": {"max_iter": 5},
}
FORMATS = ("memmap", "parquet")
# How a block of Parquet may be written.
ENCODINGS: dict[str, dict[str, Any]] = {
    "with dictionaries, the default": {},
    "without": {"use_dictionary": False},
}
FROM_FIT = (
    "passes", "seconds", "iterations", "status", "dask_pass", "dask_cpu", "numpy_pass", "numpy_cpu",
    "empty_pass",
)  # fmt: skip
FIELDS = ("rows", "format", "model", "private_gb", "load", *FROM_FIT)
RESULTS = Path(__file__).parent / "results"


def write_table(folder: Path, n_rows: int) -> None:
    """Write features, block by block, in both formats, and the labels."""
    from pyarrow import parquet

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
        parquet.write_table(
            as_columns(part),
            folder / "parts" / f"{number:03d}.parquet",
            compression="none",
            use_dictionary=False,
            write_statistics=False,
            row_group_size=rows.size,
        )
    X.flush()
    np.save(folder / "y.npy", y)
    (folder / "done").touch()


@functools.cache
def encodings() -> list[list[str]]:
    """Write and read one block with and without dictionaries."""
    from pyarrow import parquet

    rng = np.random.default_rng(0)
    columns = as_columns(rng.standard_normal((N_ROWS // N_BLOCKS, N_FEATURES), dtype=np.float32))
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "block.parquet"
        for name, options in ENCODINGS.items():
            write = functools.partial(
                parquet.write_table, columns, path, compression="none", **options
            )
            read = functools.partial(parquet.read_table, path, use_threads=False)
            seconds = [timed(work)[1] for work in (write, read)]
            size = f"{path.stat().st_size / 1e6:.0f}"
            rows.append([name, size, *(f"{one:.2f}" for one in seconds)])
    return rows


def as_columns(part: Any) -> Any:
    """Return a block as a table of Arrow."""
    import pyarrow as pa

    return pa.table(list(np.ascontiguousarray(part.T)), names=[f"x{k}" for k in range(N_FEATURES)])


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
    import dask.array

    from aucuba import PartialAUCClassifier, PartialAUCSVC
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
        kind = PartialAUCClassifier if model == "direct" else PartialAUCSVC
        fitted = kind((0.0, 0.05), **MODELS[model]).fit(X, y)
        seconds = time.perf_counter() - start
        design, w = counted[0], fitted.coef_[0]
        passes = design.blocks.n_passes
        dask_pass = timed(lambda: design.scores(w))
        rows = dask.array.zeros((N_BLOCKS, N_FEATURES), chunks=(1, -1), dtype=np.float32)
        empty = DaskDesign(rows)
        empty_pass = timed(lambda: empty.scores(w))
    plain = TableDesign(np.load(folder / "X.npy", mmap_mode="r"))
    numpy_pass = timed(lambda: plain.scores(w))
    status = fitted.status_.split(".")[0].split(":")[0].split(",")[0]
    times = [*dask_pass, *numpy_pass, empty_pass[0]]
    found = [passes, f"{seconds:.0f}", fitted.n_iter_, status, *(f"{one:.3g}" for one in times)]
    print(",".join(map(str, found)))


def timed(work: Callable[[], Any]) -> tuple[float, float]:
    """Run three times; return the fewest seconds on the clock, and of processors."""
    runs = []
    for _ in range(3):
        start, start_cpu = time.perf_counter(), time.process_time()
        work()
        runs.append((time.perf_counter() - start, time.process_time() - start_cpu))
    wall, busy = zip(*runs, strict=True)
    return min(wall), min(busy)


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
    peak, running, loads = 0, True, list[float]()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    def watch() -> None:
        nonlocal peak
        while running:
            peak = max(peak, private_bytes(process.pid))
            loads.append(os.getloadavg()[0])
            time.sleep(0.1)

    watcher = threading.Thread(target=watch)
    watcher.start()
    out = process.communicate()[0]
    running = False
    watcher.join()
    if process.returncode:
        raise RuntimeError(f"The fit of {model} on {kind} failed.")
    found = dict(zip(FROM_FIT, out.strip().splitlines()[-1].split(","), strict=True))
    return {
        "rows": n_rows,
        "format": kind,
        "model": model,
        "private_gb": f"{peak / 1e9:.2f}",
        "load": f"{np.mean(loads):.1f}",
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
        "Dask pass, s (CPU s)", "NumPy pass, s (CPU s)", "pass over empty blocks, ms", "load",
    ]  # fmt: skip
    rows = []
    for row in known():
        name = f"{int(row['rows']):,}, {row['format']}, {row['model']} ({row['status'].lower()})"
        rows.append(
            [name]
            + [row[name] for name in ("private_gb", "passes", "seconds", "iterations")]
            + [f"{row[f'{kind}_pass']} ({row[f'{kind}_cpu']})" for kind in ("dask", "numpy")]
            + [f"{1000 * float(row['empty_pass']):.0f}", row["load"]]
        )
    text = (
        "# A table larger than memory\n\n"
        f"float32, Dask's threads, two of {N_BLOCKS} blocks at a time; private memory is the peak of "
        f"the fit's process, the only one (limit {LIMIT_GB:g} GB). False positive rates in [0, 0.05]; "
        "structural to a relative gap of 1e-2, direct for 5 iterations after logistic regression. A "
        "pass is one product with the whole table, by two threads; beside it the same product by NumPy "
        "on the memory-mapped array, by one; then a pass over as many blocks of one row, which is what "
        "Dask itself costs. The load is the mean number of processes that wanted the two processors "
        "during the fit, this one included. Parquet is uncompressed and without dictionaries, one row "
        "group per file.\n\n"
    )
    files = (
        f"\n\nOne block as Parquet, {N_ROWS // N_BLOCKS:,} rows of normal numbers, by one thread:\n\n"
        + markdown_table(["written", "MB", "writing, CPU s", "reading, CPU s"], encodings())
    )
    write_signed(
        RESULTS / "out_of_core.md",
        text + markdown_table(header, rows) + files,
        "benchmarks out_of_core",
        ("dask", "pyarrow"),
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
        for kind, model in itertools.product(FORMATS, MODELS):
            if (str(options.rows), kind, model) not in done:
                row = measured(folder, options.rows, kind, model)
                append(row)
                report()
                assert float(row["private_gb"]) < LIMIT_GB, row
    report()


if __name__ == "__main__":
    main()
