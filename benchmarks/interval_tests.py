"""Size of the tests, coverage of simultaneous bands, and what planning promises, by simulation.

Run with ``python -m benchmarks interval_tests``. Counts are kept in ``results/interval_tests.json``: a
run goes on where the last one stopped, until every row has its simulations or the minutes are spent.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from functools import cache
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from scipy.stats import norm

from aucuba._rows._sample import RankingSample
from aucuba.metrics import compare_scores, power_of, sample_size_for, score_interval
from aucuba.metrics._confidence_band import confidence_band
from aucuba.metrics._measures import bind
from benchmarks._coverage_cells import SHIFT, Cell
from reproductions.tables import markdown_table, write_signed

NAME = "interval_tests"
RESULTS = Path(__file__).parent / "results"
STORE = RESULTS / f"{NAME}.json"
BLOCK = 50
N_RESAMPLES = 500
NOISE = 0.5
ROWS = (100, 1_000)
BAND = {"fpr_range": (0.0, 0.05)}
FPR = {"fpr": 0.05}
# Bands of the whole curve: positives, negatives, range of rates.
BANDS = (
    (50, 500, 0.0, 1.0),
    (100, 1_000, 0.0, 1.0),
    (200, 2_000, 0.0, 0.1),
    (200, 20_000, 0.0, 0.01),
)
PILOT = (200, 2_000)


@cache
def _value(metric, params, shift):
    curve = Cell(*ROWS, "plain").population(shift)
    return float(bind(metric, dict(params)).of_curve(curve, 1))


def population_value(metric, params, shift):
    """The value of a measure for normal scores whose classes are so far apart."""
    return _value(metric, tuple(params.items()), shift)


def noisy(shift):
    """Distance of the classes, in standard deviations, after noise is added to the scores."""
    return shift / np.sqrt(1 + NOISE**2)


def draw_scores(rng, n_positives, n_negatives, clustered=False):
    """Labels, a score, and the clusters of rows that have an effect in common."""
    y = np.arange(n_positives + n_negatives) < n_positives
    noise, groups = rng.normal(size=y.size), None
    if clustered:
        groups = rng.permutation(y.size) % 100
        noise = np.sqrt(0.3) * rng.normal(size=100)[groups] + np.sqrt(0.7) * noise
    return y, noise + SHIFT * y, groups


def test_rows():
    """Name, measure, parameters, method and design of every test whose null hypothesis holds."""
    areas = (("AUC", "partial_auc", {}), ("partial AUC [0, 0.05]", "partial_auc", BAND))
    others = (
        ("TPR at FPR 0.05", "tpr_at_fpr", FPR),
        ("BEDROC", "bedroc", {}),
        ("precision at k = 50", "precision_at_k", {"k": 50}),
    )
    for name, metric, params in areas:
        for method in ("delong", "bootstrap"):
            for design in ("equal", "non-inferior", "equivalent"):
                yield name, metric, params, method, design
    for method in ("delong", "bootstrap"):
        yield "AUC", "partial_auc", {}, method, "independent samples"
        yield "AUC", "partial_auc", {}, method, "clusters"
    for name, metric, params in others:
        yield name, metric, params, "bootstrap", "equal"
    yield *others[0], "bootstrap", "non-inferior"


def one_test(metric, params, method, design, rng):
    """The p-value of one simulated test whose null hypothesis holds."""
    y, base, groups = draw_scores(rng, *ROWS, clustered=design == "clusters")
    options = {
        "method": method,
        "n_resamples": N_RESAMPLES,
        "random_state": int(rng.integers(2**31)),
    }
    options |= params
    if design in ("non-inferior", "equivalent"):
        margin = population_value(metric, params, SHIFT)
        margin -= population_value(metric, params, noisy(SHIFT))
        worse = base + NOISE * rng.normal(size=y.size)
        return compare_scores(metric, y, worse, base, margin=margin, alternative=design, **options)
    if design == "independent samples":
        z, other, _ = draw_scores(rng, *ROWS)
        return compare_scores(metric, y, base, other, y_true_b=z, **options)
    a, b = (base + rng.normal(size=y.size) for _ in range(2))
    return compare_scores(metric, y, a, b, groups=groups, **options)


def simulate_test(row, rng):
    _, metric, params, method, design = row
    return {"rejected": float(one_test(metric, params, method, design, rng).p_value < 0.05)}


def simulate_band(row, rng):
    """Whether a simultaneous band holds the population's curve everywhere, as it is drawn."""
    m, n, low, high = row
    y, score, _ = draw_scores(rng, m, n)
    band = confidence_band(
        RankingSample.from_arrays(y, score),
        (low, high),
        kind="simultaneous",
        confidence=0.95,
        n_resamples=N_RESAMPLES,
        random_state=int(rng.integers(2**31)),
    )
    rates = np.linspace(low, high, 4_001)[1:-1]
    truth = norm.sf(norm.isf(rates) - SHIFT)
    below = truth < np.interp(rates, band.fpr, band.low) - 1e-9
    above = truth > np.interp(rates, band.fpr, band.high) + 1e-9
    width = float(np.mean(band.high - band.low))
    return {"too_low": float(above.any()), "too_high": float(below.any()), "width": width,
            "missed": float(above.any() or below.any())}  # fmt: skip


def plan_rows():
    yield "half-width", "AUC", "partial_auc", {}, 0.02
    yield "half-width", "partial AUC [0, 0.05]", "partial_auc", BAND, 0.05
    yield "half-width", "TPR at FPR 0.05", "tpr_at_fpr", FPR, 0.08
    yield "power", "AUC", "partial_auc", {}, (100, 1_000)
    yield "power", "partial AUC [0, 0.05]", "partial_auc", BAND, (200, 2_000)
    yield "power", "TPR at FPR 0.05", "tpr_at_fpr", FPR, (300, 3_000)


def simulate_plan(row, rng):
    """Plan from a pilot, then draw one study of the planned size."""
    kind, _, metric, params, goal = row
    y, score, _ = draw_scores(rng, *PILOT)
    seed = {"random_state": int(rng.integers(2**31)), **params}
    if kind == "half-width":
        size = sample_size_for(metric, y, score, half_width=goal, **seed)
        y, score, _ = draw_scores(rng, size.n_positives, size.n_negatives)
        method = "delong" if metric == "partial_auc" else "bootstrap"
        found = score_interval(metric, y, score, method=method, n_resamples=N_RESAMPLES, **seed)
        return {"planned": goal, "found": (found.high - found.low) / 2}
    difference = population_value(metric, params, SHIFT)
    difference -= population_value(metric, params, noisy(SHIFT))
    size = {"n_positives": goal[0], "n_negatives": goal[1]}
    noise = NOISE * rng.normal(size=y.size)
    planned = power_of(metric, y, score, score + noise, difference=difference, **size, **seed)
    y, score, _ = draw_scores(rng, *goal)
    other = score + NOISE * rng.normal(size=y.size)
    method = {"method": "delong" if metric == "partial_auc" else "bootstrap"}
    test = compare_scores(metric, y, score, other, n_resamples=N_RESAMPLES, **method, **seed)
    return {"planned": planned, "found": float(test.p_value < 0.05)}


STUDIES = {
    "tests": (simulate_test, lambda: list(test_rows())),
    "bands": (simulate_band, lambda: list(BANDS)),
    "plans": (simulate_plan, lambda: list(plan_rows())),
}


def run(store, wanted, minutes):
    """Add a block to every row in turn, saving after each."""
    end = time.monotonic() + 60 * minutes
    for target in sorted({min(wanted, one) for one in (200, 500, 1_000, wanted)}):
        for study, (simulate, rows) in STUDIES.items():
            for row in rows():
                found = store.setdefault(f"{study} {row}", {"n": 0})
                while found["n"] < target:
                    if time.monotonic() > end:
                        return
                    rng = np.random.default_rng([found["n"], *f"{study} {row}".encode()])
                    for _ in range(BLOCK):
                        for name, value in simulate(row, rng).items():
                            found[name] = found.get(name, 0.0) + value
                    found["n"] += BLOCK
                    STORE.write_text(json.dumps(store, indent=1) + "\n", encoding="utf-8")
        print(target, time.strftime("%H:%M"), flush=True)


def size_table(store):
    rows = []
    for row in test_rows():
        found = store.get(f"tests {row}", {"n": 0})
        if found["n"]:
            size = found["rejected"] / found["n"]
            bar = 0.05 + 3 * np.sqrt(0.05 * 0.95 / found["n"])
            verdict = "yes" if size <= bar else "**no**"
            shown = [f"{found['n']:,}", f"{100 * size:.1f}", f"{100 * bar:.1f}", verdict]
            rows.append([row[0], row[4], row[3], *shown])
    header = ["measure", "null hypothesis", "method", "tests", "rejected (%)", "bar", "within"]
    return markdown_table(header, rows)


def band_table(store):
    rows = []
    for row in BANDS:
        found = store.get(f"bands {row}", {"n": 0})
        if n := found["n"]:
            covered = 100 * (1 - found["missed"] / n)
            shown = [f"{covered:.1f}", f"{100 * found['too_low'] / n:.1f}"]
            shown += [f"{100 * found['too_high'] / n:.1f}", f"{found['width'] / n:.3f}"]
            rows.append([f"{row[0]:,} + {row[1]:,}", f"[{row[2]:g}, {row[3]:g}]", f"{n:,}", *shown])
    header = ["rows", "rates", "samples", "whole curve inside (%)", "curve above (%)"]
    return markdown_table([*header, "curve below (%)", "mean width"], rows)


def plan_table(store):
    rows = []
    for row in plan_rows():
        found = store.get(f"plans {row}", {"n": 0})
        if n := found["n"]:
            planned, seen = found["planned"] / n, found["found"] / n
            if row[0] == "power":
                gap = f"{100 * (seen - planned):+.1f} points"
                shown = [f"{100 * planned:.1f} %", f"{100 * seen:.1f} %", gap]
            else:
                shown = [f"{planned:.4f}", f"{seen:.4f}", f"{100 * (seen / planned - 1):+.1f} %"]
            rows.append([row[0], row[1], f"{n:,}", *shown])
    header = ["goal", "measure", "pilots", "planned (mean)", "found (mean)", "gap"]
    return markdown_table(header, rows)


def report(store):
    return "\n\n".join(
        [
            "# Tests, bands and plans",
            f"Normal scores, positives {SHIFT:g} standard deviations above negatives; "
            f"{N_RESAMPLES} resamples.",
            "## Sizes of tests",
            f"{ROWS[0]} positives and {ROWS[1]:,} negatives: percentage of tests at 5 % that reject a "
            "null hypothesis that holds. Equal: two scorers with independent noise of the same size. "
            "Non-inferior and equivalent: the first scorer is worse by exactly the margin. "
            "Independent: the same scorer on two samples. Clusters: 100 of eleven rows, intraclass "
            "correlation .3. The bar is 5 % and three standard errors.",
            size_table(store),
            "## Simultaneous bands",
            "Percentage of samples whose 95 % band holds the population's curve at all of 4,001 rates "
            "of the range, the band's limits joined by straight lines as they are drawn.",
            band_table(store),
            "## Planning",
            f"From pilots of {PILOT[0]} + {PILOT[1]:,} rows, each followed by one study of the size "
            "planned (half-width) or given (power).",
            plan_table(store),
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simulations", type=int, default=2_000, help="per row")
    parser.add_argument("--minutes", type=float, default=120.0, help="time for this run")
    options = parser.parse_args()
    store = json.loads(STORE.read_text(encoding="utf-8")) if STORE.exists() else {}
    run(store, options.simulations, options.minutes)
    command = f"benchmarks {NAME} --simulations {options.simulations}"
    write_signed(RESULTS / f"{NAME}.md", report(store), command)


if __name__ == "__main__":
    main()
