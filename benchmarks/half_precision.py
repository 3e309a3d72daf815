"""Heads on a million embeddings of 1,024 columns: memory and time in half and in single precision.

    python -m benchmarks half_precision                # on the processor, rows in a memory-mapped file
    python -m benchmarks.half_precision --card [DIR]   # on a CUDA card; writes card.json into DIR
    python -m benchmarks.half_precision --table        # the table alone, from half_precision.json

``--folder`` is where the files go (6 GB, removed afterwards). Each fit on the processor runs in a
process of its own (``--jobs`` of them at once), whose peak resident size is that of the kernel, the
mapped file included. On a card it is the peak of what torch has allocated, from the rows on. Results
are kept in ``half_precision.json`` of ``OUT``, or of ``results``; ``--merge FILE`` adds others.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

# One thread, set before NumPy loads.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from aucuba import PartialAUCClassifier, PartialAUCClassifierCV
from reproductions.tables import markdown_table, write_signed

N_ROWS, N_COLUMNS, PREVALENCE = 1_000_000, 1024, 0.02
ROWS_AT_ONCE = 50_000
RANGE = (0.0, 0.01)
TYPES = ("float16", "float32")
MODELS = {
    "PartialAUCClassifier": lambda: PartialAUCClassifier(RANGE),
    "PartialAUCClassifierCV": lambda: PartialAUCClassifierCV(RANGE, random_state=0),
}
RESULTS = Path(__file__).parent / "results"
CELLS = Path(os.environ.get("OUT", RESULTS)) / "half_precision.json"
TABLE = RESULTS / "half_precision.md"
INTRODUCTION = """
{rows:,} rows of {columns:,} normal columns, 2 % positives of two kinds, range (0, .01). Memory: on the
processor the peak resident size of the process, everything included, with the rows in a
memory-mapped file; on a card the peak of what torch has allocated, rows included. Its ratio is to the
size of the rows. Time: processor seconds of one thread; on a card seconds on the clock after a small
fit to warm up. The ratio is to float32. The same numbers are fitted in both types (those of float16,
widened), so coefficients can be compared: the last column is their largest difference, relative to
the largest coefficient. A fit that is not listed has not been measured.
"""


def write_rows(folder):
    """The same numbers as float16 and as float32, and the labels."""
    files = {
        name: np.lib.format.open_memmap(
            folder / f"{name}.npy", mode="w+", dtype=name, shape=(N_ROWS, N_COLUMNS)
        )
        for name in TYPES
    }
    y = np.empty(N_ROWS, dtype=bool)
    for start in range(0, N_ROWS, ROWS_AT_ONCE):
        rows = slice(start, start + ROWS_AT_ONCE)
        rng = np.random.default_rng([0, start])
        part = rng.standard_normal((ROWS_AT_ONCE, N_COLUMNS), dtype=np.float32)
        y[rows] = rng.random(ROWS_AT_ONCE) < PREVALENCE
        second = rng.random(ROWS_AT_ONCE) < 0.3
        part[y[rows] & ~second, :40] += 0.3
        part[y[rows] & second, 20:60] += 0.6
        files["float16"][rows] = part
        files["float32"][rows] = files["float16"][rows]
    np.save(folder / "y.npy", y)


def of_status(name):
    """One line of what the kernel says of this process, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name):
            return 1024 * int(line.split()[1])
    raise ValueError(f"/proc/self/status has no {name}")


def fit_in_file(folder, type_name, model_name):
    """Fit the rows of a file in this process; print what it took."""
    before = of_status("VmRSS")
    X, y = np.load(folder / f"{type_name}.npy", mmap_mode="r"), np.load(folder / "y.npy")
    start = time.process_time()
    model = MODELS[model_name]().fit(X, y)
    seconds = time.process_time() - start
    memory = {"before": before, "peak": of_status("VmHWM"), "rows": X.nbytes}
    print(json.dumps(memory | {"seconds": seconds, "coef": model.coef_[0].tolist()}))


def on_processor(folder, jobs):
    cells = read_cells()
    with tempfile.TemporaryDirectory(dir=folder) as name, ThreadPoolExecutor(jobs) as pool:
        write_rows(Path(name))

        def fitted(model_name, type_name):
            words = ["--fit", name, type_name, model_name]
            command = [sys.executable, "-m", "benchmarks.half_precision", *words]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            cell = json.loads(done.stdout)
            cells["processor", model_name, type_name] = cell
            print(model_name, type_name, {k: v for k, v in cell.items() if k != "coef"}, flush=True)
            keep(cells)

        list(pool.map(fitted, *zip(*product(MODELS, TYPES), strict=True)))


def on_card(folder):
    """Fit rows that were drawn on the card; write the cells into a folder."""
    import torch

    generator = torch.Generator("cuda").manual_seed(0)
    half = torch.empty(N_ROWS, N_COLUMNS, dtype=torch.float16, device="cuda")
    draws = torch.rand(2, N_ROWS, generator=generator, device="cuda")
    y, second = draws[0] < PREVALENCE, draws[1] < 0.3
    for start in range(0, N_ROWS, ROWS_AT_ONCE):
        rows = slice(start, start + ROWS_AT_ONCE)
        shape = (ROWS_AT_ONCE, N_COLUMNS)
        part = torch.randn(shape, generator=generator, device="cuda")
        part[:, :40] += 0.3 * (y[rows] & ~second[rows])[:, None]
        part[:, 20:60] += 0.6 * (y[rows] & second[rows])[:, None]
        half[rows] = part
    host, found = half.cpu(), []
    del half, part
    for type_name in TYPES:
        X = host.to("cuda", getattr(torch, type_name))
        for model_name, model in MODELS.items():
            model().fit(X[:20_000], y[:20_000])
            torch.cuda.synchronize()
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()
            before, start = torch.cuda.memory_allocated(), time.perf_counter()
            coef = model().fit(X, y).coef_[0]
            seconds = time.perf_counter() - start
            cell = {
                "before": before - X.nbytes,
                "peak": torch.cuda.max_memory_allocated(),
                "rows": X.nbytes,
                "seconds": seconds,
                "coef": coef.tolist(),
            }
            print(model_name, type_name, {k: v for k, v in cell.items() if k != "coef"}, flush=True)
            found.append([[torch.cuda.get_device_name(), model_name, type_name], cell])
            (folder / "card.json").write_text(json.dumps(found))
        del X


def read_cells():
    if not CELLS.exists():
        return {}
    return {tuple(key): cell for key, cell in json.loads(CELLS.read_text())}


def keep(cells):
    """Write the cells, coefficients to six digits."""
    rounded = [
        [key, cell | {"coef": [float(f"{value:.6g}") for value in cell["coef"]]}]
        for key, cell in cells.items()
    ]
    CELLS.write_text(json.dumps(rounded) + "\n")


def write_table():
    cells, lines = read_cells(), []
    for (where, model, type_name), cell in cells.items():
        single = cells.get((where, model, "float32"), cell)
        own, other = np.array(cell["coef"]), np.array(single["coef"])
        lines.append(
            [
                f"{where}, {model}, {type_name}",
                f"{cell['rows'] / 1e9:.2f}",
                f"{cell['before'] / 1e9:.2f}",
                f"{cell['peak'] / 1e9:.2f}",
                f"{cell['peak'] / cell['rows']:.2f}",
                f"{cell['seconds']:.1f}",
                f"{cell['seconds'] / single['seconds']:.2f}",
                f"{np.abs(own - other).max() / np.abs(other).max():.1e}",
            ]
        )
    header = ["fit", "rows, GB", "before, GB", "peak, GB", "of the rows"]
    header += ["seconds", "of float32", "coefficients"]
    text = [
        "# Half precision",
        INTRODUCTION.format(rows=N_ROWS, columns=N_COLUMNS),
        markdown_table(header, lines),
    ]
    write_signed(TABLE, "\n".join(text), "benchmarks half_precision")


def main(words=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=None)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--fit", nargs=3, metavar=("FOLDER", "TYPE", "MODEL"))
    parser.add_argument("--card", nargs="?", type=Path, const=RESULTS, metavar="DIR")
    parser.add_argument("--merge", type=Path, metavar="FILE")
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args(words)
    if given.fit:
        fit_in_file(Path(given.fit[0]), *given.fit[1:])
        return
    if given.card:
        on_card(given.card)
        return
    if given.merge:
        new = {tuple(key): cell for key, cell in json.loads(given.merge.read_text())}
        keep(read_cells() | new)
    elif not given.table:
        on_processor(given.folder, given.jobs)
    if CELLS.parent == RESULTS:
        write_table()


if __name__ == "__main__":
    main()
