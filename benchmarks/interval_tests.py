"""Size of the tests, coverage of simultaneous bands, and what planning promises, by simulation.

Run with ``python -m benchmarks interval_tests``. Counts are kept in ``results/interval_tests.json``, or
in the folder ``OUT``: a run goes on where the last one stopped, until every row has its simulations or
the minutes are spent. A file of ``{}`` starts anew, as after a change of what is measured.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import time
import warnings
from collections import Counter
from functools import cache
from multiprocessing import TimeoutError as NothingYet
from multiprocessing import get_context
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from scipy.special import expit
from scipy.stats import norm

from aucuba._base._warnings import FewRowsWarning
from aucuba.metrics import compare_scores, power_of, sample_size_for, score_interval
from aucuba.metrics._confidence_band import confidence_band
from aucuba.metrics._measures import bind, evaluate
from aucuba.metrics._study import make_study
from benchmarks._coverage_cells import SHIFT, Cell
from reproductions.tables import markdown_table, write_signed

NAME = "interval_tests"
RESULTS = Path(os.environ.get("OUT", Path(__file__).parent / "results"))
STORE = RESULTS / f"{NAME}.json"
# Which rows by earlier code have the same tests by the present code (`interval_same_limits`).
SAME_TESTS = Path(__file__).parent / "results" / "interval_same_tests.json"
BLOCK = 50
SECONDS_BETWEEN_SAVES = 20
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
    measure = bind(metric, dict(params))
    curve = Cell(*ROWS, "plain", shift).population()
    return float((measure.of_population or measure.of_curve)(curve, 1))


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


def test_call(row, rng):
    """Metric, labels, scores and options of one simulated test whose null hypothesis holds."""
    _, metric, params, method, design = row
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
        return metric, y, worse, base, {**options, "margin": margin, "alternative": design}
    if design == "independent samples":
        z, other, _ = draw_scores(rng, *ROWS)
        return metric, y, base, other, {**options, "y_true_b": z}
    a, b = (base + rng.normal(size=y.size) for _ in range(2))
    return metric, y, a, b, {**options, "groups": groups}


def simulate_test(row, rng):
    *rows, options = test_call(row, rng)
    found = compare_scores(*rows, **options)
    return {"rejected": float(found.p_value < found.level)}


def simulate_band(row, rng):
    """Whether a simultaneous band holds the population's curve everywhere, as it is drawn."""
    m, n, low, high = row
    y, score, _ = draw_scores(rng, m, n)
    band = confidence_band(
        make_study("auc", {}, y, [score]),
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


def cluster_rows():
    """Sizes of the clusters, measure and parameters of every test on clusters."""
    unequal = np.exp(1.5 * np.random.default_rng(0).normal(size=40))
    designs = {
        "6 of 20 rows": [20] * 6,
        "10 of 20 rows": [20] * 10,
        "15 of 20 rows": [20] * 15,
        "40 of 10 rows": [10] * 40,
        "40 very unequal": np.maximum(1, np.round(400 * unequal / unequal.sum())).astype(int),
    }
    for name, sizes in designs.items():
        yield name, tuple(int(one) for one in sizes), "AUC", "partial_auc", {}
        rate = {"rate": "tpr", "threshold": 1.5}
        yield (
            name,
            tuple(int(one) for one in sizes),
            "TPR at a threshold",
            "rate_at_threshold",
            rate,
        )
        yield name, tuple(int(one) for one in sizes), "TPR at FPR 0.1", "tpr_at_fpr", {"fpr": 0.1}


def cluster_call(row, rng):
    """The same of two equally good scorers, each with noise of its own per cluster."""
    _, sizes, _, metric, params = row
    groups = np.repeat(np.arange(len(sizes)), sizes)
    y = rng.random(groups.size) < 0.3
    base = np.sqrt(0.3) * rng.normal(size=len(sizes))[groups] + SHIFT * y
    base += np.sqrt(0.7) * rng.normal(size=groups.size)
    a, b = (
        base + 0.7 * rng.normal(size=len(sizes))[groups] + 0.7 * rng.normal(size=groups.size)
        for _ in range(2)
    )
    # Of 200 resamples a test on six clusters has no p-value below .065.
    options = {"n_resamples": 1_000, "random_state": int(rng.integers(2**31)), **params}
    return metric, y, a, b, {**options, "groups": groups}


def simulate_clusters(row, rng):
    *rows, options = cluster_call(row, rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewRowsWarning)
        return {"rejected": float(compare_scores(*rows, **options).p_value < 0.05)}


# Measures with their parameters and the half-width that a study should have.
PLANNED = (
    ("AUC", "partial_auc", {}, 0.02),
    ("partial AUC [0, 0.05]", "partial_auc", BAND, 0.05),
    ("two-way [0, 0.3] x [0.5, 1]", "two_way_partial_auc", {"min_tpr": 0.5, "max_fpr": 0.3}, 0.07),
    ("log AUC [0.01, 0.1]", "log_auc", {"fpr_range": (0.01, 0.1)}, 0.05),
    ("TPR at a threshold", "rate_at_threshold", {"rate": "tpr", "threshold": 1.25}, 0.06),
    (
        "precision at a threshold",
        "rate_at_threshold",
        {"rate": "precision", "threshold": 1.25},
        0.04,
    ),
    ("TPR at FPR 0.05", "tpr_at_fpr", FPR, 0.06),
    ("FPR at TPR 0.9", "fpr_at_tpr", {"tpr": 0.9}, 0.06),
    ("equal error rate", "equal_error_rate", {}, 0.025),
    ("precision at recall 0.5", "precision_at_recall", {"recall": 0.5}, 0.06),
    ("recall at precision 0.4", "recall_at_precision", {"precision": 0.4}, 0.08),
    ("enrichment at 0.05", "enrichment_factor", {"fraction": 0.05}, 0.8),
    ("RIE, alpha 20", "rie", {"alpha": 20.0}, 0.6),
    ("BEDROC, alpha 20", "bedroc", {"alpha": 20.0}, 0.05),
    ("AUM", "aum", {"same_scale": True}, 0.012),
    ("average precision", "average_precision", {}, 0.06),
    ("average precision, recall to 0.5", "average_precision", {"recall_range": (0.0, 0.5)}, 0.08),
    ("best F1", "f_measure", {}, 0.06),
    ("F1 at a threshold", "f_measure", {"threshold": 1.25}, 0.045),
    ("net benefit at 0.2", "net_benefit", {"threshold": 0.2}, 0.008),
    ("cost at a threshold", "expected_cost", {"threshold": 1.25, "cost_false_negative": 5.0}, 0.03),
    (
        "detection cost at a threshold",
        "detection_cost",
        {"threshold": 1.25, "target_prior": 0.05},
        0.2,
    ),
    ("least detection cost", "detection_cost", {"threshold": "best", "target_prior": 0.05}, 0.07),
    ("Youden index", "youden", {}, 0.07),
    ("Kolmogorov-Smirnov", "kolmogorov_smirnov", {}, 0.07),
)
STUDY = (300, 3_000)
# Scores that are not normal: Student's t with five degrees of freedom, positives half as wide again.
HEAVY = "power, heavy tails"


def plan_rows():
    for name, metric, params, goal in PLANNED:
        yield "half-width", name, metric, params, goal
    for name, metric, params, _ in PLANNED:
        yield "power", name, metric, params, STUDY
    for name, metric, params, _ in PLANNED:
        if bind(metric, params).moves_in_steps:
            yield HEAVY, name, metric, params, STUDY


def simulate_plan(row, rng):
    """Plan from a pilot and draw one study: its half-width, or its difference of two scorers."""
    kind, _, metric, params, goal = row
    seed = {"random_state": int(rng.integers(2**31)), **params}
    if kind == "half-width":
        y, (score,) = _scorers(rng, *PILOT, metric, 1)
        size = sample_size_for(metric, y, score, half_width=goal, **seed)
        rows = _study_size(rng, size.n_positives, size.n_negatives, metric, params)
        y, (score,) = _scorers(rng, *rows, metric, 1)
        found = score_interval(metric, y, score, n_resamples=N_RESAMPLES, **seed)
        return {"planned": goal, "found": (found.high - found.low) / 2}
    found, distance = {}, PROBE * _unit(row)
    # Of measures that move in steps plans differ more.
    if rng.random() < (0.2 if bind(metric, params).moves_in_steps else 0.1):
        # The spread of the differences needs more studies than the mean of the plans needs pilots.
        y, scores = _scorers(rng, *PILOT, metric, kind=kind)
        rows = {"n_positives": goal[0], "n_negatives": goal[1]}
        planned = power_of(metric, y, *scores, difference=distance, **rows, **seed)
        found = {"planned": planned, "pilots": 1.0}
    y, scores = _scorers(rng, *_study_size(rng, *STUDY, metric, params), metric, kind=kind)
    tested = compare_scores(metric, y, *scores, n_resamples=N_RESAMPLES, **seed)
    centre = _centre_of(metric, tuple(params.items()), kind)
    # On average over both sides an error of the centre does not count.
    beyond = [not tested.low <= centre + side * distance <= tested.high for side in (-1, 1)]
    gap = tested.difference
    return {**found, "gap": gap, "square": gap**2, "rejected": float(np.mean(beyond))}


# Differences are probed at so many standard errors of the first study, where power changes fastest.
PROBE = 2.5


@cache
def _unit_of(metric, params, kind):
    """Standard error of the difference of two scorers in studies of 300 + 3,000, to one digit."""
    rng = np.random.default_rng(0)
    return float(f"{np.std([_gap(rng, metric, dict(params), kind) for _ in range(60)]):.1g}")


def _unit(row):
    return _unit_of(row[2], tuple(row[3].items()), row[0])


@cache
def _centre_of(metric, params, kind):
    """Mean difference of the two scorers in such studies."""
    rng = np.random.default_rng(1)
    return float(np.mean([_gap(rng, metric, dict(params), kind) for _ in range(400)]))


def _gap(rng, metric, params, kind):
    """The difference of a scorer and a noisier one in one study."""
    y, scores = _scorers(rng, *_study_size(rng, *STUDY, metric, params), metric, kind=kind)
    first, second = (evaluate(metric, y, one, **params) for one in scores)
    return first - second


def _study_size(rng, n_positives, n_negatives, metric, params):
    """Rows of either class in a study, whose share is random where the prevalence matters."""
    if bind(metric, params).sampling != "random":
        return n_positives, n_negatives
    n_rows = n_positives + n_negatives
    n_positives = int(rng.binomial(n_rows, n_positives / n_rows))
    return n_positives, n_rows - n_positives


def _scorers(rng, n_positives, n_negatives, metric, n_scorers=2, kind=""):
    """Labels, and a scorer with noisier ones; probabilities of the pilots' prevalence if it must be."""
    if kind == HEAVY:
        y = np.arange(n_positives + n_negatives) < n_positives
        first, noise = (rng.standard_t(5, size=y.size) for _ in range(2))
        score = np.where(y, 2.0 + 1.5 * first, first)
        return y, [score, score + NOISE * noise]
    y, score, _ = draw_scores(rng, n_positives, n_negatives)
    scores = [score, *(score + NOISE * rng.normal(size=y.size) for _ in range(n_scorers - 1))]
    if metric == "net_benefit":
        odds = PILOT[0] / PILOT[1]
        scores = [expit(SHIFT * one - SHIFT**2 / 2 + np.log(odds)) for one in scores]
    return y, scores


# How a row is simulated, the rows, and the most simulations of each: a power follows from a spread,
# which takes more studies than the mean of a width.
STUDIES = {
    "clusters": (simulate_clusters, lambda: list(cluster_rows()), lambda row: 5_000),
    "plans": (
        simulate_plan,
        lambda: list(plan_rows()),
        lambda row: 1_000 if row[0] != "half-width" else 200,
    ),
    "tests": (simulate_test, lambda: list(test_rows()), lambda row: 2_000),
    "bands": (simulate_band, lambda: list(BANDS), lambda row: 1_000),
}


def missing(store, wanted, only, part):
    """Blocks to come as (study, row, first simulation), some of every row first."""
    counted = {}
    for target in sorted({min(wanted, one) for one in (100, 200, 500, 1_000, wanted)}):
        for study, (_, rows, most) in STUDIES.items():
            for row in rows() if only in (None, study) else ():
                name = f"{study} {row}"
                if part not in name:
                    continue
                first = counted.get(name, store.get(name, {"n": 0})["n"])
                counted[name] = max(first, min(most(row), target))
                for start in range(first, counted[name], BLOCK):
                    yield study, row, start


def simulated(task):
    """Sums over a block, and the name of its row."""
    study, row, start = task
    rng, found = np.random.default_rng([start, *f"{study} {row}".encode()]), {"n": BLOCK}
    for _ in range(BLOCK):
        for name, value in STUDIES[study][0](row, rng).items():
            found[name] = found.get(name, 0.0) + value
    return f"{study} {row}", found


def run(store, tasks, minutes, n_processes):
    """Add the blocks in their order, saving now and then; those begun at the end are lost."""
    end, code = time.monotonic(), commit()
    saved = end
    end += 60 * minutes
    with get_context("spawn").Pool(n_processes) as pool:
        results = pool.imap(simulated, tasks)
        while True:
            try:
                row, new = results.next(timeout=max(0.0, end - time.monotonic()))
            except (StopIteration, NothingYet):
                break
            found = store.setdefault(row, {"n": 0})
            for name, value in new.items():
                found[name] = found.get(name, 0) + value
            found["code"] = sorted({*found.get("code", ()), code})
            if time.monotonic() > saved + SECONDS_BETWEEN_SAVES:
                write_store(store)
                saved = time.monotonic()
                print(f"{sum(one['n'] for one in store.values()):,} simulations", flush=True)
    write_store(store)


def commit():
    """The commit whose code makes the rows."""
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short=7", "HEAD"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    return found.stdout.strip() or "unknown"


def made_by(store, study):
    """Say which commit's code made the rows of a study."""
    rows = [store.get(f"{study} {row}", {}) for row in STUDIES[study][1]()]
    counts = Counter(" and ".join(row.get("code", ["unknown"])) for row in rows if row.get("n"))
    text = f"Made by the code of commit {next(iter(counts), '')}."
    if len(counts) > 1:
        parts = (f"{n} by {code}" for code, n in counts.items())
        text = f"Rows by the code of the commit that made them: {', '.join(parts)}."
    known = json.loads(SAME_TESTS.read_text(encoding="utf-8")) if SAME_TESTS.exists() else {}
    of_study = [one for row, one in known.items() if row.startswith(f"{study} ")]
    same = sum(not one["differing"] for one in of_study)
    if of_study:
        text += (
            f" Of {len(of_study)} rows {same} have the same p-values and limits by the code of today, "
            f"in {of_study[0]['tests']} tests each (`interval_same_limits.md`)."
        )
    return text


def write_store(store):
    """Write all sums; a run that is killed leaves the last whole file."""
    new = STORE.with_suffix(".new")
    new.write_text(json.dumps(store, indent=1) + "\n", encoding="utf-8")
    new.replace(STORE)


def size_table(store):
    rows = []
    for row in test_rows():
        found = store.get(f"tests {row}", {"n": 0})
        if found["n"]:
            size = found["rejected"] / found["n"]
            level = 0.025 if row[4] == "non-inferior" else 0.05
            bar = level + 3 * np.sqrt(level * (1 - level) / found["n"])
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


def cluster_table(store):
    rows = []
    for row in cluster_rows():
        found = store.get(f"clusters {row}", {"n": 0})
        if n := found["n"]:
            sizes = np.array(row[1])
            effective = sizes.sum() ** 2 / np.sum(sizes**2)
            size = 100 * found["rejected"] / n
            most = 7.0 if effective >= 10 else 10.0
            verdict = "**no**" if size > most else "yes" if size >= 3 else "yes, below 3 %"
            rows.append([row[0], f"{effective:.1f}", row[2], f"{n:,}", f"{size:.1f}", verdict])
    header = ["clusters", "effective", "measure", "tests", "rejected at 5 % (%)", "within"]
    return markdown_table(header, rows)


def plan_table(store):
    rows = []
    for row in plan_rows():
        found = store.get(f"plans {row}", {"n": 0})
        n = found["n"]
        if not n or (row[0] != "half-width" and not found.get("pilots")):
            continue
        if "rejected" in found:
            planned, seen = found["planned"] / found["pilots"], found["rejected"] / n
            shown = [f"{100 * planned:.1f} %", f"{100 * seen:.1f} %"]
        elif row[0] == "power":
            planned = found["planned"] / found["pilots"]
            spread = np.sqrt(found["square"] / n - (found["gap"] / n) ** 2)
            distance = PROBE * _unit(row) / spread
            z = norm.ppf(0.975)
            seen = norm.sf(z - distance) + norm.cdf(-z - distance)
            shown = [f"{100 * planned:.1f} %", f"*{100 * seen:.1f} %*"]
        else:
            planned, seen = found["planned"] / n, found["found"] / n
            shown = [f"{planned:.4f}", f"{seen:.4f}"]
        gap = 100 * (seen / planned - 1)
        verdict = "yes" if abs(gap) <= 10 else "**no**"
        if gap > 10 and row[0] != "half-width":
            verdict += ", more power"
        rows.append([row[0], row[1], f"{n:,}", *shown, f"{gap:+.1f} %", verdict])
    header = ["goal", "measure", "studies", "planned (mean)", "found", "gap", "within 10 %"]
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
            made_by(store, "tests"),
            size_table(store),
            "## Tests on clusters",
            "Two equally good scorers, each with noise of its own per cluster and per row; intraclass "
            "correlation .3, a third of the rows positive. At most 7 % of the tests may reject from 10 "
            "effective clusters on ((sum of sizes)^2 / sum of squares), 10 % below, where a warning is "
            "given. Rates of few positives take few values, and a step in a resampled rate is wider "
            "than the difference, so tests of the TPR at an FPR reject less often than 5 %; rows "
            "by commit cd0e5b0 had 200 resamples, of which a test on six clusters has no p-value below "
            ".065, hence 0.0 %.",
            made_by(store, "clusters"),
            cluster_table(store),
            "## Simultaneous bands",
            "Percentage of samples whose 95 % band holds the population's curve at all of 4,001 rates "
            "of the range, the band's limits joined by straight lines as they are drawn.",
            made_by(store, "bands"),
            band_table(store),
            "## Planning",
            f"From pilots of {PILOT[0]} + {PILOT[1]:,} rows. Half-widths are those of intervals by "
            '`method="auto"` in studies of the size planned, one per pilot. The power is that of '
            f"finding a difference of about {PROBE:g} standard errors between a scorer and a noisier "
            f"one in studies of {STUDY[0]} + {STUDY[1]:,} rows. Found: the tests of `compare_scores` "
            'by `method="auto"` that reject a difference so far from the true one, the mean of both '
            "sides: of 500 studies known to about 2 points, of 200 to about 3. In "
            "*italics* it follows from the spread of the differences alone, as if tests knew it: of "
            "1,000 studies known to about 1.5 points. Measures that move in steps are planned by "
            "smoothed resamples of the pilot; the rule was chosen on normal scores, at 300 + 3,000 and "
            "1,000 + 10,000 rows. Heavy tails: Student's t with 5 degrees of freedom, positives 2 "
            "above negatives and 1.5 times as wide. Net "
            "benefit is that of the probabilities which the scores imply. "
            "Measures of the top k and of bins are not planned, since they count rows.",
            made_by(store, "plans"),
            plan_table(store),
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--simulations", type=int, default=5_000, help="per row, where its study has so many"
    )
    parser.add_argument("--minutes", type=float, default=120.0, help="time for this run")
    parser.add_argument("--only", choices=tuple(STUDIES), help="one of the studies")
    parser.add_argument("--rows", default="", help="part of the names of rows, such as \"'power'\"")
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    store = json.loads(STORE.read_text(encoding="utf-8")) if STORE.exists() else {}
    tasks = list(missing(store, options.simulations, options.only, options.rows))
    run(store, tasks, options.minutes, options.processes)
    command = f"benchmarks {NAME} --simulations {options.simulations}"
    write_signed(RESULTS / f"{NAME}.md", report(store), command)


if __name__ == "__main__":
    main()
