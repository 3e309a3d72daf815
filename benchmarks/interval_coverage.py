"""Coverage of the intervals and size of the tests, by simulation from known score laws.

Run with ``python -m benchmarks interval_coverage``; it goes on where it was interrupted (the cells done
are in ``benchmarks/results/interval_coverage.csv``) and rewrites the table. All measures of a simulated
sample use the same resamples.
"""

from __future__ import annotations

import argparse
import csv
import os
from dataclasses import dataclass, replace
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from scipy.stats import norm

from aucuba._roc._curve import SortedRows, roc_curve
from aucuba._roc._sample import RankingSample
from aucuba.metrics import compare_scores
from aucuba.metrics._influence import acceleration
from aucuba.metrics._intervals import _corrected
from aucuba.metrics._measures import Measure, bind
from aucuba.metrics._resampling import Draw
from reproductions.tables import markdown_table, write_signed

RESULTS = Path(__file__).parent / "results"
SHIFT = 1.5
POPULATION = 2_000_000
TAILS = np.array([0.025, 0.975])


@dataclass(frozen=True)
class Cell:
    """How a sample is drawn; ``kind`` is plain, ties, weights or clusters."""

    n_positives: int
    n_negatives: int
    kind: str

    @property
    def name(self) -> str:
        return f"{self.n_positives} + {self.n_negatives}, {self.kind}"

    def draw(self, rng: np.random.Generator, n_rows: int, positives: int | None) -> tuple:
        """Labels, scores, weights and clusters; random labels where ``positives`` is None."""
        rate = self.n_positives / (self.n_positives + self.n_negatives)
        y = rng.random(n_rows) < rate if positives is None else np.arange(n_rows) < positives
        noise, cluster = rng.normal(size=n_rows), None
        if self.kind == "clusters":
            cluster = np.arange(n_rows) % max(40, n_rows // 20)
            common = rng.normal(size=int(cluster.max()) + 1)[cluster]
            noise = np.sqrt(0.3) * common + np.sqrt(0.7) * noise
        score = noise + SHIFT * y
        if self.kind == "ties":
            score = np.round(score, 1)
        weight = rng.uniform(0.2, 3.0, n_rows) if self.kind == "weights" else None
        return y, score, weight, cluster


CELLS = [
    Cell(20, 200, "plain"),
    Cell(100, 2000, "plain"),
    Cell(100, 2000, "ties"),
    Cell(100, 2000, "weights"),
    Cell(100, 2000, "clusters"),
]


def measures(cell: Cell) -> dict[str, Measure]:
    """Every measure with one setting; k is a twentieth of the rows."""
    k = (cell.n_positives + cell.n_negatives) // 20
    return {
        "AUC": bind("partial_auc", {}),
        "pAUC [0, .05]": bind("partial_auc", {"fpr_range": (0.0, 0.05)}),
        "two-way [0, .3] x [.5, 1]": bind("partial_auc", {"fpr_range": (0.0, 0.3), "min_tpr": 0.5}),
        "log AUC [.01, .2]": bind("log_auc", {"fpr_range": (0.01, 0.2)}),
        "TPR at FPR .05": bind("tpr_at_fpr", {"fpr": 0.05}),
        "FPR at TPR .9": bind("fpr_at_tpr", {"tpr": 0.9}),
        "equal error rate": bind("equal_error_rate", {}),
        "precision at recall .5": bind("precision_at_recall", {"recall": 0.5}),
        "recall at precision .4": bind("recall_at_precision", {"precision": 0.4}),
        f"precision at k = {k}": bind("precision_at_k", {"k": k}),
        f"recall at k = {k}": bind("recall_at_k", {"k": k}),
        "enrichment at .05": bind("enrichment_factor", {"fraction": 0.05}),
        "RIE, alpha 20": bind("rie", {"alpha": 20.0}),
        "BEDROC, alpha 20": bind("bedroc", {"alpha": 20.0}),
    }


def population_values(cell: Cell) -> dict[str, float]:
    """Values on a sample so large that its own error does not matter."""
    rate = cell.n_positives / (cell.n_positives + cell.n_negatives)
    rng = np.random.default_rng(12345)
    plain = replace(cell, kind="ties" if cell.kind == "ties" else "plain")
    y, score, _, _ = plain.draw(rng, POPULATION, round(rate * POPULATION))
    sample = RankingSample.from_arrays(y, score)
    found = {}
    for name, measure in measures(cell).items():
        if " at k = " in name:
            of_all = round(POPULATION / 20)
            measure = bind(measure.name, {"k": of_all})
        found[name] = measure.value(sample)
    return found


def covered(cell: Cell, n_simulations: int, n_resamples: int) -> dict[str, float]:
    """Percentage of simulations whose interval holds the population's value, per measure."""
    truth, chosen = population_values(cell), measures(cell)
    n_rows = cell.n_positives + cell.n_negatives
    hits, trials = dict.fromkeys(chosen, 0), dict.fromkeys(chosen, 0)
    for number in range(n_simulations):
        rng = np.random.default_rng(number)
        for unit in ("by_class", "random"):
            names = [name for name, one in chosen.items() if one.sampling == unit]
            drawn = cell.draw(rng, n_rows, cell.n_positives if unit == "by_class" else None)
            y, score, weight, cluster = drawn
            if min(y.sum(), (~y).sum()) < 2:
                continue
            sample = RankingSample.from_arrays(y, score, weight)
            plan = Draw(sample, unit == "by_class", cluster)
            state, rows = np.random.RandomState(number), SortedRows.from_scores(score)
            values = np.empty((len(names), n_resamples))
            for resample in range(n_resamples):
                curve = roc_curve(replace(sample, weight=plan.weights(state)), rows)
                for place, name in enumerate(names):
                    values[place, resample] = chosen[name].of_curve(curve, n_rows)
            for place, name in enumerate(names):
                levels, measure = TAILS, chosen[name]
                if measure.region is not None and cluster is None:
                    value = measure.of_query(sample)
                    levels = _corrected(levels, values[place], value, acceleration(measure, sample))
                low, high = np.quantile(values[place], levels)
                hits[name] += low <= truth[name] <= high
                trials[name] += 1
    return {name: 100 * hits[name] / trials[name] for name in chosen}


def sizes(n_simulations: int, n_resamples: int) -> list[list[str]]:
    """How often tests at 5 % reject a true null hypothesis: equal scorers, and the margin itself."""
    rows = []
    # Adding noise of this size lowers the AUC of the population by the margin below.
    noise = 0.5
    margin = _auc(SHIFT) - _auc(SHIFT / np.sqrt(1 + noise**2))
    for label, method, options in (
        ("equal scorers, DeLong", "delong", {}),
        ("equal scorers, bootstrap", "bootstrap", {}),
        ("non-inferiority at the margin, DeLong", "delong", {"alternative": "non-inferior"}),
        ("non-inferiority at the margin, bootstrap", "bootstrap", {"alternative": "non-inferior"}),
    ):
        rejected = 0
        for number in range(n_simulations):
            rng = np.random.default_rng(number)
            y = np.arange(1100) < 100
            base = rng.normal(size=y.size) + SHIFT * y
            if options:
                a, b = base + noise * rng.normal(size=y.size), base
                extra = {"margin": margin, **options}
            else:
                a, b = (base + rng.normal(size=y.size) for _ in range(2))
                extra = {}
            found = compare_scores(
                "partial_auc",
                y,
                a,
                b,
                method=method,
                n_resamples=n_resamples,
                random_state=number,
                **extra,
            )
            rejected += found.p_value < 0.05
        rows.append([label, f"{100 * rejected / n_simulations:.1f}"])
    return rows


def _auc(shift: float) -> float:
    return float(norm.cdf(shift / np.sqrt(2)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simulations", type=int, default=400)
    parser.add_argument("--resamples", type=int, default=300)
    options = parser.parse_args()
    store = RESULTS / "interval_coverage.csv"
    done = {}
    if store.exists():
        with store.open(encoding="utf-8", newline="") as file:
            for row in csv.reader(file):
                done.setdefault(row[0], {})[row[1]] = float(row[2])
    for cell in CELLS:
        if cell.name not in done:
            done[cell.name] = covered(cell, options.simulations, options.resamples)
            with store.open("a", encoding="utf-8", newline="") as file:
                csv.writer(file).writerows(
                    (cell.name, name, f"{value:.2f}") for name, value in done[cell.name].items()
                )
            print(cell.name, flush=True)
    shown = [cell for cell in CELLS if cell.name in done]
    labels = [name.partition(" = ")[0] for name in measures(CELLS[0])]
    rows = []
    for place, label in enumerate(labels):
        rows.append([label, *(f"{list(done[cell.name].values())[place]:.1f}" for cell in shown)])
    error = 100 * np.sqrt(0.05 * 0.95 / options.simulations)
    table = markdown_table(["measure", *(cell.name for cell in shown)], rows)
    tests = markdown_table(["test", "rejected (%)"], sizes(options.simulations, options.resamples))
    text = f"""# Coverage of 95 % intervals

Percentage of {options.simulations} simulated samples whose interval holds the population's value;
one standard error is {error:.1f} points. Normal scores, positives {SHIFT:g} standard deviations above
negatives; columns name the numbers of positives and negatives (random numbers with these means
for measures that depend on the prevalence). "ties": scores rounded to one decimal; "weights":
uniform from .2 to 3; "clusters": 105 clusters of 20 rows with intraclass correlation .3, drawn
whole. {options.resamples} resamples; BCa for areas of the curve, percentiles for the others and for
clusters.

{table}

Tests of the AUC at 5 %, 100 positives and 1,000 negatives: percentage of rejections where the null
hypothesis holds.

{tests}
"""
    command = "benchmarks interval_coverage"
    write_signed(RESULTS / "interval_coverage.md", text, command)


if __name__ == "__main__":
    main()
