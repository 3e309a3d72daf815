"""Coverage of the intervals, by simulation from score laws whose values are known exactly.

Run with ``python -m benchmarks interval_coverage``. All measures and methods of a cell see the same
samples and resamples. Counts are kept in ``results/interval_coverage.csv``: a run goes on where the
last one stopped, small samples first, until every cell has its simulations or the minutes are spent.
"""

from __future__ import annotations

import argparse
import csv
import functools
import os
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from aucuba._rows._sample import RankingSample
from aucuba.metrics._intervals import direct_limits, percentile_limits
from aucuba.metrics._resampling import Draw, resampled_curves
from aucuba.metrics._study import FEWEST_IN_RANGE, FEWEST_POSITIVES, METHODS, Study
from benchmarks._coverage_cells import (
    KINDS,
    SHIFT,
    SIZES,
    THRESHOLD,
    Cell,
    all_cells,
    measures,
    truth,
)
from reproductions.tables import markdown_table, write_signed

NAME = "interval_coverage"
RESULTS = Path(__file__).parent / "results"
STORE = RESULTS / f"{NAME}.csv"
FIELDS = ("cell", "measure", "method", "simulations", "too_low", "too_high")
TAIL = 0.025
N_RESAMPLES = 500
BLOCK = 50
# A table with few simulations in every cell comes before one with many in some.
STAGES = (100, 250, 500, 1_000, 2_000)
LOWEST, HIGHEST = 92.5, 98.0
BY_COUNTING = ("exact", "conservative")


def simulate(cell: Cell, block: int, n_simulations: int, on_device: bool = False) -> Counter:
    """Count the limits beyond the population's values, per measure and method."""
    common_draws = _device_draws() if on_device else _common_draws
    chosen, target, counts = measures(cell), truth(cell), Counter()
    for number in range(n_simulations):
        rng = np.random.default_rng([block, number, *cell.name.encode()])
        for unit in ("by_class", "random"):
            y, score, weight, cluster = cell.draw(rng, unit)
            if min(y.sum(), (~y).sum()) < 2:
                continue
            sample = RankingSample.from_arrays(y, score, weight)
            names = [name for name, one in chosen.items() if one.sampling == unit]
            draw, seed = Draw(sample, unit == "by_class", cluster), int(rng.integers(2**31))
            draws = common_draws(sample, draw, [chosen[one] for one in names], seed)
            for name, drawn in zip(names, draws, strict=True):
                study = Study(chosen[name], [sample], _unit(unit, cluster), cluster)
                for method, low, high in _intervals(study, drawn):
                    counts[name, method, "simulations"] += 1
                    counts[name, method, "too_low"] += high < target[name]
                    counts[name, method, "too_high"] += low > target[name]
    return counts


def _unit(unit, cluster):
    return unit if cluster is None else "clusters"


def _common_draws(sample, draw, chosen, seed):
    """Values of the measures on common resamples."""
    values = [[] for _ in chosen]
    for curves in resampled_curves(sample, draw, N_RESAMPLES, seed, (THRESHOLD,)):
        for place, measure in enumerate(chosen):
            values[place].append(measure.of_curve(curves, sample.n_rows))
    return [np.concatenate(one) for one in values]


def _device_draws():
    """The same by a GPU; CuPy is imported only where it is asked for."""
    from benchmarks._coverage_device import common_draws

    return functools.partial(common_draws, n_resamples=N_RESAMPLES, cuts=(THRESHOLD,))


def _intervals(study, drawn):
    """All methods that fit, and their limits."""
    value = float(study.values[0])
    for method in METHODS:
        if method in ("auto", "normal") or study._reason_against(method):
            continue
        if method in ("bootstrap", "bca"):
            yield method, *percentile_limits(study, method, value, TAIL, drawn)
        else:
            yield method, *direct_limits(study, method, value, TAIL)


def read_store() -> dict[str, Counter]:
    """Counts of earlier runs, by cell."""
    found = {}
    if STORE.exists():
        with STORE.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                counts = found.setdefault(row["cell"], Counter())
                for field in FIELDS[3:]:
                    counts[row["measure"], row["method"], field] = int(row[field])
    return found


def write_store(found: dict[str, Counter]) -> None:
    with STORE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(FIELDS)
        for cell in all_cells():
            counts = found.get(cell.name, Counter())
            for measure, method in _pairs(counts):
                row = [counts[measure, method, field] for field in FIELDS[3:]]
                writer.writerow([cell.name, measure, method, *row])


def _pairs(counts: Counter) -> list[tuple[str, str]]:
    return list(dict.fromkeys(key[:2] for key in counts))


def n_done(counts: Counter) -> int:
    """Simulations of a cell: those of its most frequent measure, since a few samples may fail."""
    return max((n for key, n in counts.items() if key[2] == "simulations"), default=0)


def run(found: dict[str, Counter], wanted: int, minutes: float) -> None:
    """Add blocks of simulations, saving after each."""
    end = time.monotonic() + 60 * minutes
    for cell, block in _missing(found, wanted):
        if time.monotonic() > end:
            return
        found.setdefault(cell.name, Counter()).update(simulate(cell, block, BLOCK))
        write_store(found)


def run_on_device(found: dict[str, Counter], wanted: int, minutes: float, n_processes: int) -> None:
    """The same with a GPU that several processes share; all blocks of a stage are in flight."""
    end = time.monotonic() + 60 * minutes
    with ProcessPoolExecutor(n_processes, mp_context=get_context("spawn")) as pool:
        tasks = {}
        for cell, block in _missing(found, wanted):
            tasks[pool.submit(simulate, cell, block, BLOCK, True)] = cell
        for task in as_completed(tasks):
            found.setdefault(tasks[task].name, Counter()).update(task.result())
            write_store(found)
            if time.monotonic() > end:
                pool.shutdown(cancel_futures=True)
                return


def _missing(found: dict[str, Counter], wanted: int) -> list[tuple[Cell, int]]:
    """Cells and numbers of the blocks to come, small samples first in each stage."""
    blocks, first = [], {cell: n_done(found.get(cell.name, Counter())) for cell in all_cells()}
    for stage in (one for one in STAGES if one <= wanted):
        for cell in all_cells():
            blocks += [(cell, start // BLOCK) for start in range(first[cell], stage, BLOCK)]
            first[cell] = max(first[cell], stage)
    return blocks


def coverage(counts: Counter, measure: str, method: str) -> float:
    missed = counts[measure, method, "too_low"] + counts[measure, method, "too_high"]
    return 100 * (1 - missed / counts[measure, method, "simulations"])


def chosen_by_auto(cell: Cell) -> dict[str, str]:
    """The method that "auto" takes for every measure."""
    found = {}
    for name, one in measures(cell).items():
        y, score, weight, cluster = cell.draw(np.random.default_rng(0), one.sampling)
        sample = RankingSample.from_arrays(y, score, weight)
        study = Study(one, [sample], _unit(one.sampling, cluster), cluster)
        found[name] = study.choose("auto")
    return found


def is_recommended(cell: Cell, measure: str) -> bool:
    """Whether the library gives an interval without a warning of few rows."""
    of_positives, of_negatives = measures(cell)[measure].parts
    deciding = min(cell.n_positives * of_positives, cell.n_negatives * of_negatives)
    return cell.n_positives >= FEWEST_POSITIVES and round(deciding, 9) >= FEWEST_IN_RANGE


def within(value: float, method: str) -> bool:
    return value >= LOWEST and (value <= HIGHEST or method in BY_COUNTING)


def auto_tables(found: dict[str, Counter]) -> tuple[list[str], list[str]]:
    """One table per size of what "auto" gives, and the cells that fail where they must hold."""
    text, failed = [], []
    for size in SIZES:
        cells = [Cell(*size, kind) for kind in KINDS if found.get(Cell(*size, kind).name)]
        rows, chosen = [], {cell: chosen_by_auto(cell) for cell in cells}
        for measure in measures(cells[0]) if cells else ():
            row = [measure]
            for cell in cells:
                method = chosen[cell][measure]
                value = coverage(found[cell.name], measure, method)
                good, warned = within(value, method), not is_recommended(cell, measure)
                shown = f"{value:.1f}" if good else f"**{value:.1f}**"
                row.append(f"{shown} {method}{' †' if warned else ''}")
                if not good and not warned:
                    failed.append(f"{cell.name}: {measure} by {method}, {value:.1f} %")
            rows.append(row)
        if cells:
            header = [f"measure, {size[0]:,} + {size[1]:,} rows"]
            header += [f"{cell.kind} ({n_done(found[cell.name]):,})" for cell in cells]
            text += [f"## {size[0]:,} positives and {size[1]:,} negatives"]
            text += [markdown_table(header, rows)]
    return text, failed


def method_rows(found: dict[str, Counter]):
    """Lowest and highest coverage of every method and measure over the cells of a size."""
    for size in SIZES:
        cells = [Cell(*size, kind) for kind in KINDS]
        known = [found[cell.name] for cell in cells if found.get(cell.name)]
        pairs = dict.fromkeys(pair for counts in known for pair in _pairs(counts))
        for measure, method in pairs:
            values = [
                coverage(counts, measure, method)
                for counts in known
                if counts[measure, method, "simulations"]
            ]
            shown = [f"{one:.1f}" for one in (min(values), float(np.mean(values)), max(values))]
            yield [f"{size[0]:,} + {size[1]:,}", measure, method, *shown]


def report(found: dict[str, Counter]) -> str:
    tables, failed = auto_tables(found)
    fewest = min(n_done(counts) for counts in found.values())
    error = 100 * np.sqrt(0.05 * 0.95 / fewest)
    verdict = "None is outside." if not failed else "Outside: " + "; ".join(failed) + "."
    text = [
        "# Coverage of 95 % intervals",
        f'Percentage of simulated samples whose interval by `method="auto"` holds the population\'s '
        f"value, with the method that it chose; the number of samples is in the header ({fewest:,} or "
        f"more: one standard error is at most {error:.1f} points). {N_RESAMPLES} resamples, common to "
        f"all measures of a sample. Normal scores, positives {SHIFT:g} standard deviations above "
        "negatives; the numbers of either class are fixed for measures of the ROC curve and random "
        "with these means for the others and in clusters. Ties: scores rounded to one decimal. "
        "Weights: uniform from .2 to 3. Clusters: at least 40, of about five, eight or 20 rows, drawn "
        "whole. k is a twentieth of all rows (by weight); recall is asked for at the precision that a "
        "recall of .3 has; the fixed threshold is 1.25. Samples were resampled by a GPU "
        "(`--gpu-processes 15`, one NVIDIA H200, five minutes), which gives the values of the "
        "library's own loops up to rounding.",
        f"Coverage must lie between {LOWEST:g} and {HIGHEST:g} % (no upper limit for methods that "
        f"count: {', '.join(BY_COUNTING)}) wherever the library does not warn. {verdict} Values "
        f"outside the limits are bold; † marks where a `FewRowsWarning` names what is too few: "
        f"fewer than {FEWEST_POSITIVES} positives, or fewer than {FEWEST_IN_RANGE} rows of a class "
        "that decide (negatives in the range, positives below the TPR).",
        *tables,
        "## Every method",
        "Lowest, mean and highest coverage over the kinds of samples above. DeLong's interval is "
        "symmetric about the estimate and too narrow with fewer than 100 positives, where it warns.",
        markdown_table(
            ["size", "measure", "method", "lowest", "mean", "highest"], list(method_rows(found))
        ),
    ]
    return "\n\n".join(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simulations", type=int, default=2_000, help="per cell")
    parser.add_argument("--minutes", type=float, default=240.0, help="time for this run")
    parser.add_argument(
        "--gpu-processes", type=int, default=0, help="resample on a GPU, from so many processes"
    )
    options = parser.parse_args()
    found = read_store()
    if options.gpu_processes:
        run_on_device(found, options.simulations, options.minutes, options.gpu_processes)
    else:
        run(found, options.simulations, options.minutes)
    done = {name: counts for name, counts in found.items() if counts}
    command = f"benchmarks {NAME} --simulations {options.simulations}"
    write_signed(RESULTS / f"{NAME}.md", report(done), command)


if __name__ == "__main__":
    main()
