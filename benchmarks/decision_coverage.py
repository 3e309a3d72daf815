"""Coverage of the intervals of average precision, decisions and maxima over thresholds.

Run with ``python -m benchmarks decision_coverage``. Score laws, cells and rule are those of
`benchmarks.interval_coverage`; every sample goes through the functions that users call. Counts are kept
in ``results/decision_coverage.csv``: a run goes on where the last one stopped.
"""

from __future__ import annotations

import argparse
import csv
import os
import time
import warnings
from collections import Counter
from functools import cache
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from scipy.special import expit

import aucuba.metrics._intervals as library
from aucuba._base._warnings import FewRowsWarning
from aucuba._rows._sample import RankingSample
from aucuba.metrics._intervals import interval_of
from aucuba.metrics._measures import bind
from aucuba.metrics._study import Study
from benchmarks._coverage_cells import Cell
from benchmarks.interval_coverage import CachedModel
from reproductions.tables import markdown_table, write_signed

NAME = "decision_coverage"
RESULTS = Path(__file__).parent / "results"
STORE = RESULTS / f"{NAME}.csv"
FIELDS = ("simulations", "too_low", "too_high", "width")
BLOCK = 100
RESAMPLED_BLOCKS = 3
N_RESAMPLES = 500
SIZES = ((30, 300), (100, 1_000))
KINDS = ("plain", "ties", "weights", "clusters")
# Large samples of few positives, where auto takes the influence function.
LARGE = ((30, 3_000), (100, 3_000))
LOWEST, LOWEST_OF_MAXIMA, MOST_BEYOND = 92.5, 90.0, 5.0
THRESHOLD = 1.25
TOP = 0.1
MAXIMA = ("F1, best", "detection cost, minimum", "Youden")


def all_cells() -> list[Cell]:
    return [Cell(*size, kind) for size in SIZES for kind in KINDS] + [
        Cell(*size, "plain") for size in LARGE
    ]


@cache
def measures(cell: Cell) -> dict:
    """Measures by their names in the table; probabilities are those of the plain law."""
    # The threshold of probabilities at which the score is the fixed threshold.
    at = float(expit(logit_of(cell, THRESHOLD)))
    found = {
        "average precision": ("average_precision", {}, "auto"),
        "average precision, recall to 0.5": (
            "average_precision",
            {"recall_range": (0, 0.5)},
            "auto",
        ),
        "average precision, prevalence 0.02": (
            "average_precision",
            {"target_prevalence": 0.02},
            "auto",
        ),
        "average precision by influence": ("average_precision", {}, "influence"),
        "average precision by influence, prevalence 0.02": (
            "average_precision",
            {"target_prevalence": 0.02},
            "influence",
        ),
        "F1 at a threshold": ("f_measure", {"threshold": THRESHOLD}, "auto"),
        "net benefit": ("net_benefit", {"threshold": at}, "auto"),
        "net benefit, standardised": (
            "net_benefit",
            {"threshold": at, "standardized": True},
            "auto",
        ),
        "net benefit, prevalence 0.2": (
            "net_benefit",
            {"threshold": at, "target_prevalence": 0.2},
            "auto",
        ),
        "expected cost, 10 to 1": (
            "expected_cost",
            {"threshold": THRESHOLD, "cost_false_negative": 10.0},
            "auto",
        ),
        "detection cost, prior 0.1": (
            "detection_cost",
            {"target_prior": 0.1, "threshold": THRESHOLD},
            "auto",
        ),
        "lift at 0.1": ("lift", {"fraction": TOP}, "auto"),
        "F1, best": ("f_measure", {}, "auto"),
        "detection cost, minimum": (
            "detection_cost",
            {"target_prior": 0.1, "threshold": "best"},
            "auto",
        ),
        "Youden": ("youden", {}, "auto"),
    }
    return {
        name: (bind(metric, params), method) for name, (metric, params, method) in found.items()
    }


def logit_of(cell: Cell, score):
    """Log-odds of a positive with a score, by Bayes' formula for the plain law."""
    return cell.shift * score - cell.shift**2 / 2 + np.log(cell.prevalence / (1 - cell.prevalence))


def part_of(measure, method: str) -> str:
    """Whether an interval resamples rows."""
    return "direct" if method == "influence" or measure.cells is not None else "resampled"


def parts(cell: Cell, block: int) -> list[str]:
    """What resamples is simulated less often, and not on large samples."""
    is_large = (cell.n_positives, cell.n_negatives) in LARGE
    return ["direct"] if is_large or block >= RESAMPLED_BLOCKS else ["direct", "resampled"]


def truth(cell: Cell, measure) -> float:
    curve = cell.population()
    if measure.of_probabilities:
        curve = type(curve)(
            curve.false_positive, curve.true_positive, expit(logit_of(cell, curve.threshold))
        )
    use = measure.of_curve if cell.kind == "ties" else measure.of_population or measure.of_curve
    return float(use(curve, 1))


def simulate(cell: Cell, block: int, part: str) -> Counter:
    library.NormalModel = CachedModel
    counts: Counter = Counter()
    chosen = measures(cell)
    targets = {name: truth(cell, one) for name, (one, _) in chosen.items()}
    for unit in ("by_class", "random"):
        rng = np.random.default_rng([block, *cell.name.encode(), *unit.encode()])
        for number in range(BLOCK):
            y, score, weight, cluster = cell.draw(rng, unit)
            if not 2 <= y.sum() <= y.size - 2:
                continue
            sample = RankingSample.from_arrays(y, score, weight)
            risks = RankingSample.from_arrays(y, expit(logit_of(cell, score)), weight)
            for name, (measure, method) in chosen.items():
                if measure.sampling != unit or part != part_of(measure, method):
                    continue
                one = risks if measure.of_probabilities else sample
                sampling = unit if cluster is None else "clusters"
                study = Study(measure, [one], sampling, cluster)
                found = interval_of(
                    study, 0.95, study.choose(method), "two-sided", N_RESAMPLES, number
                )
                slack = 1e-9
                seen = (
                    1.0,
                    found.high < targets[name] - slack,
                    found.low > targets[name] + slack,
                    found.high - found.low,
                )
                for field, value in zip(FIELDS, seen, strict=True):
                    counts[name, found.method, field] += float(value)
    return counts


def read_store() -> dict:
    found: dict = {}
    if STORE.exists():
        with STORE.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                cell, done = row["cell"], found.setdefault(row["cell"], (Counter(), set()))
                done[1].add((int(row["block"]), row["part"]))
                for field in FIELDS:
                    found[cell][0][row["measure"], row["method"], field] += float(row[field])
    return found


def append(cell: Cell, block: int, part: str, counts: Counter) -> None:
    is_new = not STORE.exists()
    with STORE.open("a", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if is_new:
            writer.writerow(("cell", "block", "part", "measure", "method", *FIELDS))
        for measure, method in dict.fromkeys(key[:2] for key in counts):
            row = [f"{counts[measure, method, field]:.7g}" for field in FIELDS]
            writer.writerow((cell.name, block, part, measure, method, *row))


def report(found: dict) -> str:
    rows, broken = [], []
    cells = [cell for cell in all_cells() if cell.name in found]
    for measure in measures(cells[0]):
        line = [measure]
        for cell in cells:
            counts = found[cell.name][0]
            methods = [key[1] for key in counts if key[0] == measure and key[2] == "simulations"]
            n, low, high = (
                sum(counts[measure, method, field] for method in methods) for field in FIELDS[:3]
            )
            if not n:
                line.append("")
                continue
            covered, below, above = 100 * (1 - (low + high) / n), 100 * low / n, 100 * high / n
            is_best = measure in MAXIMA
            kept = covered >= (LOWEST_OF_MAXIMA if is_best else LOWEST)
            kept &= max(below, above) <= (10.0 if is_best else MOST_BEYOND)
            text = f"{covered:.1f} ({below:.1f}, {above:.1f})"
            line.append(text if kept else f"**{text}**")
            if not kept:
                broken.append(f"{cell.name}: {measure} {text}")
        common: Counter = Counter()
        for cell in cells:
            for (name, method, field), n in found[cell.name][0].items():
                if name == measure and field == "simulations":
                    common[method] += n
        rows.append([*line, ", ".join(method for method, _ in common.most_common())])
    fewest, resampled = (
        BLOCK * min(sum(one == part for _, one in found[cell.name][1]) for cell in of_part)
        for part, of_part in (
            ("direct", cells),
            ("resampled", [cell for cell in cells if (0, "resampled") in found[cell.name][1]]),
        )
    )
    header = ["", *(f"{cell.name}" for cell in cells), "methods"]
    kept = (
        "Every cell keeps it."
        if not broken
        else f"{len(broken)} cells do not: {'; '.join(broken)}."
    )
    return "\n\n".join(
        [
            "# Coverage of the intervals of average precision, decisions and maxima",
            f"**The rule** is that of `interval_coverage`: at least {LOWEST:g} % of the 95 % intervals "
            f"hold the population's value and at most {MOST_BEYOND:g} % lie beyond it on either side; "
            f"maxima over thresholds cover at least {LOWEST_OF_MAXIMA:g} %. {kept}",
            "A cell reads: coverage (intervals below the value, above the value), in percent of "
            f"{fewest:,} samples, or {resampled:,} where intervals resample "
            f"({N_RESAMPLES} times; cells without a number have not been run), of score law 1.5 of "
            "`interval_coverage`; ties, weights and "
            "clusters as there, one positive in eleven. One standard error at 95 % is 1.1 points at "
            '400 samples and 2.2 at 100. The method is that of `method="auto"` unless '
            "the row names another. 'simultaneous' (a band over all thresholds) is conservative by "
            "construction; the plain bootstrap of a maximum is biased.",
            markdown_table(header, rows),
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--simulations", type=int, default=2_000)
    parser.add_argument("--minutes", type=float, default=40.0)
    parser.add_argument("--part", choices=("direct", "resampled"))
    parser.add_argument("--only", default="", help="cells whose names contain this")
    parser.add_argument("--report", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore", FewRowsWarning)
    end = time.monotonic() + 60 * options.minutes
    found = read_store()
    chosen = ["direct", "resampled"] if options.part is None else [options.part]
    for block in range(0 if options.report else options.simulations // BLOCK):
        for cell in (one for one in all_cells() if options.only in one.name):
            for part in sorted(set(parts(cell, block)) & set(chosen)):
                known = found.get(cell.name, (None, ()))[1]
                if (block, part) not in known and time.monotonic() < end:
                    append(cell, block, part, simulate(cell, block, part))
    write_signed(RESULTS / f"{NAME}.md", report(read_store()), f"benchmarks {NAME}")


if __name__ == "__main__":
    main()
