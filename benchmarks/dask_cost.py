"""Cost of Dask collections: ``python -m benchmarks.dask_cost [--before SRC] [--only PART]``.

The same rows as an array in memory and as a Dask array of blocks of 25,000 rows: on a cluster of two
processes with one thread each, on a cluster of one process with two threads, and without a cluster
(Dask's threads). A cluster holds the rows before the clock starts. Seconds of all processes together:
those of the client and of the workers, of one BLAS thread each; the first fit does not count. Fits at
their defaults, in the range from 0 to 0.05. ``--before`` names the ``src`` folder of earlier
code, to be measured in the same run. The aim is a ratio of at most 3: threads keep it,
two processes do not.
Writes ``benchmarks/results/dask_cost.md``.
"""

from __future__ import annotations

import argparse
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
N_ROWS, BLOCK, N_ROUNDS = 200_000, 25_000, 3
MODELS = ("PartialAUCClassifier", "PartialAUCClassifierCV", "PartialAUCSVC")
# Name, columns, processes and threads of the cluster (none: Dask's own threads).
SETTINGS = (
    ("two processes", 40, (2, 1)),
    ("one process of threads", 39, (1, 2)),
    ("no cluster", 40, None),
)


def rows(n_columns: int) -> tuple[Any, Any]:
    """Make the rows of one setting; one in ten is positive, one label in twenty wrong."""
    X, y = make_classification(
        N_ROWS, n_columns, n_informative=20, weights=[0.9], flip_y=0.05, random_state=0
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


def _measured(fit: Any, client: Any = None) -> float:
    fit()
    times = []
    for _ in range(N_ROUNDS):
        start = _spent(client)
        fit()
        times.append(_spent(client) - start)
    return float(np.median(times))


def cell(setting: str, model: str) -> tuple[float, float]:
    """Processor seconds in memory and on Dask, measured in this process."""
    import dask.array as da

    n_columns, cluster = next(one[1:] for one in SETTINGS if one[0] == setting)
    X, y = rows(n_columns)
    in_memory = _measured(lambda: estimator(model).fit(X, y))
    blocks = da.from_array(X, chunks=(BLOCK, -1)), da.from_array(y, chunks=BLOCK)
    if cluster is None:
        return in_memory, _measured(lambda: estimator(model).fit(*blocks))
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
        return in_memory, _measured(lambda: estimator(model).fit(*held), apart)


def _in_its_own_process(setting: str, model: str, source: Path | None) -> tuple[float, float]:
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    if source is not None:
        known = environment.get("PYTHONPATH", "")
        environment["PYTHONPATH"] = os.pathsep.join([str(source), os.getcwd(), known])
    command = [sys.executable, "-m", "benchmarks.dask_cost", "--cell", setting, model]
    found = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if found.returncode:
        raise RuntimeError(found.stderr)
    ours, dask = (float(one) for one in found.stdout.split("seconds")[-1].split())
    return ours, dask


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--before", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--cell", nargs=2)
    options = parser.parse_args(argv)
    if options.cell:
        warnings.simplefilter("ignore")
        with threadpool_limits(1):
            print("seconds", *cell(*options.cell))
        return
    lines = []
    for setting, n_columns, _ in SETTINGS:
        for model in MODELS:
            if options.only not in f"{setting} {model}":
                continue
            in_memory, dask = _in_its_own_process(setting, model, None)
            before = "-"
            if options.before is not None:
                one = _in_its_own_process(setting, model, options.before)
                before = f"{one[1] / one[0]:.1f}"
            size = f"{N_ROWS:,} x {n_columns}"
            lines.append(
                [
                    f"{setting}, {size}",
                    f"`{model}`",
                    f"{in_memory:.2f}",
                    f"{dask:.2f}",
                    f"{dask / in_memory:.2f}",
                    before,
                ]
            )
            print(lines[-1], flush=True)
    columns = ["setting", "fit", "in memory, s", "Dask, s", "ratio", "ratio before"]
    text = (__doc__ or "").split("\n\n", 1)[1].rsplit("\nWrites", 1)[0].replace("``", "`")
    table = markdown_table(columns, lines)
    write_signed(RESULT, f"# Cost of Dask\n\n{text.strip()}\n\n{table}", "benchmarks dask_cost")


if __name__ == "__main__":
    main()
