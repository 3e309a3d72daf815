"""Cost of Dask collections: ``python -m benchmarks.dask_cost [--before SRC] [--only END]``.

The same rows as an array in memory and as a Dask array of blocks of 25,000 rows: on a cluster of two
processes with one thread each, on a cluster of one process with two threads, and without a cluster
(Dask's threads). A cluster holds the rows before the clock starts. Seconds of all processes together:
those of the client and of the workers, of one BLAS thread each. The first fit does not count; then
three count, or one of `PartialAUCClassifierCV` and of 1,000,000 rows, which show what a row costs
beside what a pass costs and are not measured yet. Fits at their defaults, in the range from 0 to 0.05.
The aim is a ratio of at most 3. ``--before`` names the ``src`` folder of earlier code, to be measured
in the same run; "before" is commit 4d68158e. Rows with a star are of an earlier page (commit
cbfd9a2b). Other jobs ran on both cores during the measurements, which raises all seconds. Finished
cells are kept in ``results/dask_cost.json``; ``--only`` measures those whose name ends so anew.
Writes ``benchmarks/results/dask_cost.md``.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from reproductions.tables import markdown_table, write_signed

RESULT = Path(__file__).parent / "results" / "dask_cost.md"
CELLS = RESULT.with_suffix(".json")
BLOCK, N_ROUNDS, ROWS_FOR_ALL_ROUNDS = 25_000, 3, 200_000
# Cells that an earlier page had measured, until they are measured anew.
EARLIER = " *"
MODELS = ("PartialAUCClassifier", "PartialAUCClassifierCV", "PartialAUCSVC")
# Name, rows, columns, processes and threads of the cluster (none: Dask's own threads).
SETTINGS = (
    ("two processes", 200_000, 40, (2, 1)),
    ("two processes", 1_000_000, 40, (2, 1)),
    ("one process of threads", 200_000, 39, (1, 2)),
    ("no cluster", 200_000, 40, None),
)


def size_of(setting: tuple[Any, ...]) -> str:
    name, n_rows, n_columns, _ = setting
    return f"{name}, {n_rows:,} x {n_columns}"


def rows(n_columns: int, n_rows: int = 200_000) -> tuple[Any, Any]:
    """Make the rows of one setting; one in ten is positive, one label in twenty wrong."""
    X, y = make_classification(
        n_rows, n_columns, n_informative=20, weights=[0.9], flip_y=0.05, random_state=0
    )
    return StandardScaler().fit_transform(X), y


def estimator(name: str) -> Any:
    import aucuba

    params = {"random_state": 0} if name == "PartialAUCClassifierCV" else {}
    return getattr(aucuba, name)(fpr_range=(0.0, 0.05), **params)


def _spent(client: Any = None) -> float:
    """Processor seconds so far of this process and of workers in others."""
    workers = client.run(time.process_time).values() if client is not None else ()
    return time.process_time() + sum(workers)


def _measured(fit: Any, n_rounds: int, client: Any = None) -> float:
    fit()
    times = []
    for _ in range(n_rounds):
        start = _spent(client)
        fit()
        times.append(_spent(client) - start)
    return float(np.median(times))


def cell(setting: str, model: str) -> tuple[float, float]:
    """Processor seconds in memory and on Dask, measured in this process."""
    import dask.array as da

    _, n_rows, n_columns, cluster = next(one for one in SETTINGS if size_of(one) == setting)
    X, y = rows(n_columns, n_rows)
    is_quick = n_rows <= ROWS_FOR_ALL_ROUNDS and model != MODELS[1]
    n_rounds = N_ROUNDS if is_quick else 1
    in_memory = _measured(lambda: estimator(model).fit(X, y), n_rounds)
    blocks = da.from_array(X, chunks=(BLOCK, -1)), da.from_array(y, chunks=BLOCK)
    if cluster is None:
        return in_memory, _measured(lambda: estimator(model).fit(*blocks), n_rounds)
    from distributed import Client, LocalCluster

    processes, threads = cluster
    with (
        LocalCluster(
            n_workers=processes,
            threads_per_worker=threads,
            processes=processes > 1,
            dashboard_address=None,
            memory_limit="4GiB",
        ) as local,
        Client(local) as client,
    ):
        held = client.persist(list(blocks))
        apart = client if processes > 1 else None
        return in_memory, _measured(lambda: estimator(model).fit(*held), n_rounds, apart)


def _in_its_own_process(setting: str, model: str, source: Path | None) -> list[float]:
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    if source is not None:
        known = environment.get("PYTHONPATH", "")
        environment["PYTHONPATH"] = os.pathsep.join([str(source), os.getcwd(), known])
    command = [sys.executable, "-m", "benchmarks.dask_cost", "--cell", setting, model]
    found = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if found.returncode:
        raise RuntimeError(found.stderr)
    return [float(one) for one in found.stdout.split("seconds")[-1].split()]


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--before", type=Path)
    parser.add_argument("--only")
    parser.add_argument("--cell", nargs=2)
    options = parser.parse_args(argv)
    if options.cell:
        warnings.simplefilter("ignore")
        with threadpool_limits(1):
            print("seconds", *cell(*options.cell))
        return
    cells = json.loads(CELLS.read_text()) if CELLS.exists() else {}
    lines = []
    for size in map(size_of, SETTINGS):
        for model in MODELS:
            key = f"{size}, {model}"
            if key not in cells if options.only is None else key.endswith(options.only):
                cells[key] = _in_its_own_process(size, model, None)
                if options.before is not None:
                    cells[key] += _in_its_own_process(size, model, options.before)
                CELLS.write_text(json.dumps(cells, indent=1) + "\n")
                print(key, cells[key], flush=True)
            mark = "" if key in cells else EARLIER
            if key + mark in cells:
                in_memory, dask, *before = cells[key + mark]
                earlier = f"{before[1] / before[0]:.2f}" if before else "-"
                figures = [f"{in_memory:.2f}", f"{dask:.2f}", f"{dask / in_memory:.2f}"]
                lines.append([size + mark, f"`{model}`", *figures, earlier])
    columns = ["setting", "fit", "in memory, s", "Dask, s", "ratio", "ratio before"]
    text = (__doc__ or "").split("\n\n", 1)[1].rsplit("\nWrites", 1)[0].replace("``", "`")
    table = markdown_table(columns, lines)
    write_signed(RESULT, f"# Cost of Dask\n\n{text.strip()}\n\n{table}", "benchmarks dask_cost")


if __name__ == "__main__":
    main()
