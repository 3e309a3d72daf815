"""Coverage of the intervals, by simulation from score laws whose values are known exactly.

Run with ``python -m benchmarks interval_coverage``. All measures of a sample see the same resamples.
Counts are kept in ``results/interval_coverage.csv``, or in the folder ``OUT``: a run goes on where the
last one stopped, until every cell has its simulations or the minutes are spent. A csv of the header
alone starts anew, as after a change of what is measured. ``--device`` resamples on a GPU, which all
``--processes`` share; ``--merge`` takes in the csv of a run on another machine.

The rule: at least 92.5 % of the intervals by ``method="auto"`` hold the value, and at most 5 % lie
beyond it on either side, wherever at most half of the samples give a warning of few rows; none of the
columns from 30 + 300 effective rows on at distances up to 2.5 gives one. "exact" intervals are
conservative by construction.
"""

from __future__ import annotations

import argparse
import csv
import os
import time
from collections import Counter
from collections.abc import Callable
from multiprocessing import TimeoutError as NothingYet
from multiprocessing import get_context
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

import aucuba.metrics._intervals as library
from aucuba._roc._curve import RocCurve
from aucuba._roc._runs import Runs
from aucuba._rows._sample import RankingSample
from aucuba.metrics._intervals import limits, needs_draws
from aucuba.metrics._normal_model import NormalModel
from aucuba.metrics._resampling import Draw
from aucuba.metrics._study import Study
from benchmarks._coverage_cells import RUN_AGAIN, THRESHOLD, Cell, all_cells, measures, truth
from benchmarks._coverage_tables import COUNTS, report
from reproductions.tables import write_signed

NAME = "interval_coverage"
RESULTS = Path(os.environ.get("OUT", Path(__file__).parent / "results"))
STORE = RESULTS / f"{NAME}.csv"
COMMITTED = Path(__file__).parent / "results" / f"{NAME}.csv"
# The last is the sum of 2**number over the blocks that were counted.
STORED = (*COUNTS, "blocks")
TAIL = 0.025
N_RESAMPLES = 500
BLOCK = 250
# Totals within so much share a table of the normal model.
ALIKE = 0.05
# Weights of so many slots are evaluated together: on a GPU, and in the cache of a processor.
SLOTS_ON_DEVICE = 10_000_000
SLOTS_ON_HOST = 100_000
STAGES = (500, 1_000, 2_000)
LARGE = 5_000
LARGEST_DIFFERENCE = 1e-9
SECONDS_BETWEEN_SAVES = 20


class CachedModel(NormalModel):
    """The normal model, tabulated once for samples whose classes are of about the same size."""

    known: dict = {}  # noqa: RUF012

    @classmethod
    def of(cls, measure, positives, negatives):
        total = positives + negatives
        if measure.sampling == "by_class":
            # Measures of the ROC curve alone do not see the sizes.
            total, positives = 1.0, 0.5
        elif not measure.name.endswith("_at_k"):
            # Other rates of random rows see the sizes by their ratio alone.
            total, positives = 1.0, positives / total
        size, share = (
            np.exp(ALIKE * np.round(np.log(one) / ALIKE)) for one in (total, positives / total)
        )
        key = id(measure), size, share
        if key not in cls.known:
            cls.known[key] = super().of(measure, size * share, size * (1 - share))
        return cls.known[key]


def simulate(
    cell: Cell, block: int, n_simulations: int, on_device: bool = False, known: dict | None = None
) -> Counter:
    """Count the limits beyond the population's values, per measure and method.

    ``known`` has the blocks that were counted, by measure, as in the store.
    """
    skipped = {name for name, blocks in (known or {}).items() if blocks >> block & 1}
    library.NormalModel = CachedModel
    counts: Counter = Counter()
    for unit in ("by_class", "random"):
        rng = np.random.default_rng([block, *cell.name.encode(), *unit.encode()])
        drawn = [cell.draw(rng, unit) for _ in range(n_simulations)]
        drawn = [one for one in drawn if 2 <= one[0].sum() <= one[0].size - 2]
        samples = [RankingSample.from_arrays(y, score, weight) for y, score, weight, _ in drawn]
        clusters = [one[3] for one in drawn]
        chosen = {
            name: one
            for name, one in measures(cell).items()
            if one.sampling == unit and name not in skipped
        }
        studies = {
            name: [
                Study(one, [sample], unit if cluster is None else "groups", cluster)
                for sample, cluster in zip(samples, clusters, strict=True)
            ]
            for name, one in chosen.items()
        }
        resampled = _values_of_resamples(studies, unit, rng, on_device)
        for name, of_measure in studies.items():
            for number, study in enumerate(of_measure):
                values = resampled.get(name, {}).get(number)
                _count(counts, name, study, values, truth(cell)[name])
    for name, label in {key[:2] for key in counts}:
        counts[name, label, "blocks"] = 2.0**block
    return counts


def _count(counts: Counter, name: str, study: Study, draws, target: float) -> None:
    value, warned = float(study.values[0]), bool(study.too_few())
    auto = study.choose("auto")
    methods = {f"auto: {auto}": auto}
    if study.measure.region is not None:
        methods["delong"] = "delong"
    if draws is not None:
        methods["bootstrap"] = "bootstrap"
    for label, method in methods.items():
        low, high = limits(study, method, value, TAIL, draws)
        low, high = np.clip((low, high), *study.measure.limits)
        # Limits and values of one and the same step differ by rounding.
        slack = 1e-9
        found = 1, high < target - slack, low > target + slack, warned, high - low
        for field, number in zip(COUNTS, found, strict=True):
            counts[name, label, field] += float(number)


def _values_of_resamples(studies, unit, rng, on_device):
    """Values of the measures that need resamples, by name and number of the sample."""
    needing = {
        name: of_measure
        for name, of_measure in studies.items()
        if needs_draws(of_measure[0], of_measure[0].choose("auto"))
    }
    if not needing:
        return {}
    rates = {name: one for name, one in needing.items() if one[0].measure.is_rate}
    found = {name: dict(enumerate(_cluster_rates(one, rng))) for name, one in rates.items()}
    others = {name: one for name, one in needing.items() if name not in rates}
    if not others:
        return found
    first = next(iter(others.values()))
    runs = [Runs.from_sample(study.samples[0]) for study in first]
    widest = max(one.n_runs for one in runs)
    at_once = max(1, SLOTS_ON_DEVICE // (2 * widest * N_RESAMPLES)) if on_device else 1
    found |= {name: {} for name in others}
    for start in range(0, len(first), at_once):
        numbers = range(start, min(start + at_once, len(first)))
        totals = [
            _totals(first[number], runs[number], widest, unit, rng, on_device) for number in numbers
        ]
        chosen = {name: one[0].measure for name, one in others.items()}
        for name, values in _evaluate(
            chosen, totals, first[0].samples[0].n_rows, on_device
        ).items():
            found[name].update(zip(numbers, values, strict=True))
    return found


def _totals(study, runs, widest, unit, rng, on_device):
    """Weights of the runs in every resample, shape (n_resamples, 2, widest)."""
    one = study.samples[0]
    draw = Draw(one, unit == "by_class" and study.group is None, study.group)
    seeds = rng.integers(2**64, size=N_RESAMPLES, dtype=np.uint64)
    if on_device:
        from benchmarks._coverage_device import padded_totals

        return padded_totals(draw, runs, widest, seeds)
    (drawn,) = draw.summed_by([(runs.slot, 2 * runs.n_runs)])(seeds)
    totals = np.zeros((seeds.size, 2, widest))
    totals[..., : runs.n_runs] = drawn.reshape(seeds.size, 2, -1)
    return totals


def _evaluate(chosen, totals, n_rows, on_device):
    """Values of the measures, shape (n_samples, n_resamples); padded runs are repeated vertices."""
    if on_device:
        from benchmarks._coverage_device import evaluate

        return evaluate(chosen, totals, n_rows)
    values = {name: [] for name in chosen}
    for of_sample in totals:
        widest = of_sample.shape[-1]
        cumulated = np.zeros((len(of_sample), 2, widest + 1))
        np.cumsum(of_sample, axis=-1, out=cumulated[..., 1:])
        at_once = max(1, SLOTS_ON_HOST // (2 * widest))
        parts = [cumulated[start : start + at_once] for start in range(0, N_RESAMPLES, at_once)]
        curves = [RocCurve(part[:, 0], part[:, 1], np.empty(0)) for part in parts]
        for name, one in chosen.items():
            values[name].append(np.concatenate([one.of_curve(curve, n_rows) for curve in curves]))
    return values


def _cluster_rates(studies, rng):
    """Rates at the fixed threshold over resampled clusters."""
    for study in studies:
        one, cluster = study.samples[0], study.group
        n_clusters = int(cluster.max()) + 1
        flagged = one.score >= THRESHOLD
        parts = {
            "tpr": (one.positive & flagged, one.positive),
            "fpr": (~one.positive & flagged, ~one.positive),
            "precision": (one.positive & flagged, flagged),
            "alert_rate": (flagged, np.ones(one.n_rows, dtype=bool)),
        }[study.measure.params["rate"]]
        hits, rows = (np.bincount(cluster[part], minlength=n_clusters) for part in parts)
        drawn = rng.multinomial(n_clusters, np.full(n_clusters, 1 / n_clusters), size=N_RESAMPLES)
        below = drawn @ rows
        yield np.where(below > 0, drawn @ hits / np.maximum(below, 1), 0.0)


def read_store(path: Path) -> dict[str, Counter]:
    """Counts of earlier runs, by cell."""
    found: dict[str, Counter] = {}
    if path.exists():
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                counts = found.setdefault(row["cell"], Counter())
                for field in STORED:
                    counts[row["measure"], row["method"], field] = float(row[field])
    return found


def write_store(found: dict[str, Counter]) -> None:
    """Write all counts; a run that is killed leaves the last whole file."""
    new = STORE.with_suffix(".new")
    with new.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("cell", "measure", "method", *STORED))
        for cell in all_cells():
            counts = found.get(cell.name, Counter())
            for measure, method in dict.fromkeys(key[:2] for key in counts):
                row = [f"{counts[measure, method, field]:.8g}" for field in STORED]
                writer.writerow([cell.name, measure, method, *row])
    new.replace(STORE)


def blocks_done(counts: Counter) -> dict[str, int]:
    """Blocks that were counted, by measure."""
    done: dict[str, int] = {}
    for (measure, _, field), n in counts.items():
        if field == "blocks":
            done[measure] = done.get(measure, 0) | int(n)
    return done


def missing(
    found: dict[str, Counter], wanted: int, chosen: Callable[[str], bool], on_device: bool
) -> list[tuple]:
    """Blocks of simulations to come, small samples first in each stage.

    Blocks of small samples go together, since they share tables of the model; those of large samples go
    one by one, since what a run has begun at its end is lost. Measures of a cell that are not
    chosen, by "cell: measure", pass for counted.
    """
    tasks, first = [], 0
    for stage in sorted({min(one, wanted) for one in STAGES}):
        numbers = range(first, -(-stage // BLOCK))
        for cell in all_cells():
            known = blocks_done(found.get(cell.name, Counter()))
            known |= {name: -1 for name in measures(cell) if not chosen(f"{cell.name}: {name}")}
            masks = [known.get(name, 0) for name in measures(cell)]
            new = [one for one in numbers if not all(mask >> one & 1 for mask in masks)]
            size = len(numbers) if cell.n_rows <= LARGE else 1
            parts = (new[start : start + size] for start in range(0, len(new), size))
            tasks += [(cell, part, on_device, known) for part in parts]
        first = numbers.stop
    return tasks


def _simulated(task: tuple) -> tuple[str, Counter]:
    cell, numbers, on_device, known = task
    try:
        blocks = [simulate(cell, number, BLOCK, on_device, known) for number in numbers]
    except Exception as error:
        if not on_device:
            raise
        # Whatever ails a shared GPU, the host gives the same counts.
        print(f"{cell.name} on the host: {error!r}", flush=True)
        return _simulated((cell, numbers, False, known))
    return cell.name, sum(blocks, Counter())


def run(found: dict[str, Counter], tasks: list, end: float, n_processes: int) -> None:
    """Add blocks of simulations, saving now and then; those begun at the end of the time are lost."""
    saved, n_done = time.monotonic(), 0
    with get_context("spawn").Pool(n_processes) as pool:
        results = pool.imap_unordered(_simulated, tasks)
        while True:
            try:
                name, counts = results.next(timeout=max(0.0, end - time.monotonic()))
            except (StopIteration, NothingYet):
                break
            found.setdefault(name, Counter()).update(counts)
            n_done += 1
            if time.monotonic() > saved + SECONDS_BETWEEN_SAVES:
                write_store(found)
                saved = time.monotonic()
                print(f"{n_done} of {len(tasks)}, {end - saved:.0f} s left", flush=True)
    write_store(found)


def _device_agrees() -> bool:
    """Tell whether a GPU is there and gives the values of the host."""
    try:
        from benchmarks._coverage_device import largest_difference

        difference = largest_difference()
    except Exception as error:
        print(f"Resampling on the host: {error!r}", flush=True)
        return False
    print(f"Largest relative difference of the GPU's values: {difference:.1e}", flush=True)
    return difference < LARGEST_DIFFERENCE


def merge(found: dict[str, Counter], path: Path) -> None:
    """Add the counts of another store of the same code, unless their blocks are here already."""
    for cell, counts in read_store(path).items():
        here, there = blocks_done(found.get(cell, Counter())), blocks_done(counts)
        for measure, blocks in there.items():
            known = here.get(measure, 0)
            if known and known & blocks == known:
                # The other run went on from this one, or has the same blocks.
                for key in [one for one in found[cell] if one[0] == measure]:
                    del found[cell][key]
            elif known & blocks:
                continue
            new = {key: number for key, number in counts.items() if key[0] == measure}
            found.setdefault(cell, Counter()).update(new)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simulations", type=int, default=2_000, help="per cell")
    parser.add_argument("--minutes", type=float, default=240.0, help="time for this run")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--device", action="store_true", help="resample on a GPU")
    parser.add_argument("--only", default="", help='of "cell: measure", parts joined by ;')
    parser.add_argument("--again", action="store_true", help="the cells that once broke the rule")
    parser.add_argument("--merge", type=Path, help="add the counts of another run's csv first")
    options = parser.parse_args()
    end = time.monotonic() + 60 * options.minutes
    found, parts = read_store(STORE if STORE.exists() else COMMITTED), options.only.split(";")
    if options.merge is not None:
        merge(found, options.merge)
    broken = {f"{cell.name}: {measure}" for cell, measure in RUN_AGAIN}

    def chosen(name: str) -> bool:
        return name in broken if options.again else any(part in name for part in parts)

    on_device = options.device and _device_agrees()
    tasks = missing(found, options.simulations, chosen, on_device)
    run(found, tasks, end, options.processes)
    done = {name: counts for name, counts in found.items() if counts}
    command = f"benchmarks {NAME} --simulations {options.simulations}"
    write_signed(RESULTS / f"{NAME}.md", report(done, N_RESAMPLES), command)


if __name__ == "__main__":
    main()
