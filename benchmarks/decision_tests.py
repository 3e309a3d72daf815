"""Size of the tests of decisions and of the largest gap, bands and planned power, by simulation.

Run with ``python -m benchmarks decision_tests``. Counts are kept in ``results/decision_tests.csv``, and
beside it those in the folder named by the variable ``OUT``, where a run writes: it goes on where the
last one stopped.
"""

from __future__ import annotations

import argparse
import csv
import os
import warnings
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from scipy.special import expit, logit
from scipy.stats import norm

from aucuba._base._warnings import FewRowsWarning
from aucuba.metrics import _segment_gap as gaps
from aucuba.metrics import compare_scores, decision_curve, largest_gap, power_of
from aucuba.metrics._confidence_band import precision_band
from aucuba.metrics._measures import bind
from aucuba.metrics._segments import Segments
from aucuba.metrics._study import make_study
from benchmarks._coverage_cells import Cell
from benchmarks.decision_coverage import run
from reproductions.tables import markdown_table, write_signed

NAME = "decision_tests"
KEPT = Path(__file__).parent / "results"
RESULTS = Path(os.environ.get("OUT", KEPT))
STORE = RESULTS / f"{NAME}.csv"
SHIFT = 1.5
LEAST, MOST = 3.0, 7.0
BLOCK = 50
TESTS = {
    "average precision, by influence": ("average_precision", {"method": "influence"}, False),
    "average precision": ("average_precision", {"n_resamples": 500}, False),
    "F1 at a threshold": ("f_measure", {"threshold": 1.5}, False),
    "expected cost, 10 to 1": (
        "expected_cost",
        {"threshold": 1.5, "cost_false_negative": 10.0},
        False,
    ),
    "net benefit": ("net_benefit", {"threshold": 0.2}, True),
    "net benefit, standardised": ("net_benefit", {"threshold": 0.2, "standardized": True}, True),
    "net benefit, prevalence 0.2": (
        "net_benefit",
        {"threshold": 0.2, "target_prevalence": 0.2},
        True,
    ),
    "lift at 0.1": ("lift", {"fraction": 0.1, "n_resamples": 500}, False),
    "Youden": ("youden", {"n_resamples": 500}, False),
    "Kolmogorov-Smirnov": ("kolmogorov_smirnov", {"n_resamples": 500}, False),
    "F1, best": ("f_measure", {"n_resamples": 500}, False),
    "detection cost, minimum": (
        "detection_cost",
        {"target_prior": 0.1, "threshold": "best", "n_resamples": 500},
        False,
    ),
}
SIZES = ((30, 300), (100, 1_000), (100, 3_000))
# Above this many rows the average precision is tested without resamples.
ROWS_FOR_EFFECTS = 2_000
AT = np.linspace(0.05, 0.5, 10)
BAND = "decision curves, band of the difference over 10 thresholds"
# Positives of ten segments, each with five times as many negatives.
SEGMENTS = (200, 120, 80, 60, 40, 30, 20, 15, 10, 5)
RATIO = 5
GAPS = {
    "AUC": ("auc", {}),
    "partial AUC [0, 0.1]": ("partial_auc", {"fpr_range": (0, 0.1)}),
    "TPR at a threshold": ("rate_at_threshold", {"rate": "tpr", "threshold": 1.0}),
    "FPR at a threshold": ("rate_at_threshold", {"rate": "fpr", "threshold": 1.0}),
    "precision at a threshold": ("rate_at_threshold", {"rate": "precision", "threshold": 1.0}),
    "average precision": ("average_precision", {}),
}
# These depend on the share of positives, which is random then.
OF_SHARES = ("precision at a threshold", "average precision")
N_PERMUTATIONS = 99
# With more permutations beyond the statistic than this the p-value is above 5 %.
MOST_BEYOND = 4
POPULATIONS = ("one population", "equal values, unequal spreads")
# A scorer, and one with more noise.
NOISES = (0.5, 0.9)
POWERS = {
    "average precision": ("average_precision", {}, False),
    "F1 at a threshold": ("f_measure", {"threshold": 1.5}, False),
    "net benefit": ("net_benefit", {"threshold": 0.2}, True),
}
STUDY = (100, 1_000)


def noisy(rng, base, size):
    """Scores with noise, whose law is that of the plain cell with a smaller shift."""
    return (base + size * rng.normal(size=base.size)) / np.sqrt(1 + size**2)


def risk(score, shift, positives, negatives):
    """Probability of a positive by Bayes' formula."""
    return expit(shift * score - shift**2 / 2 + np.log(positives / negatives))


def draw(rng, positives, negatives, noises=(1.0, 1.0)):
    """Random rows with scorers of given noise, and their probabilities."""
    n = positives + negatives
    y = rng.random(n) < positives / n
    base = rng.normal(size=n) + SHIFT * y
    scores = [noisy(rng, base, one) for one in noises]
    shifts = [SHIFT / np.sqrt(1 + one**2) for one in noises]
    risks = [
        risk(one, shift, positives, negatives) for one, shift in zip(scores, shifts, strict=True)
    ]
    return y, scores, risks


def is_direct(name, size) -> bool:
    """Tell whether a test needs no resamples."""
    metric, params, _ = TESTS[name]
    is_large = metric == "average_precision" and sum(size) > ROWS_FOR_EFFECTS
    return "n_resamples" not in params or is_large


def of_tests(size, rng, direct) -> Counter:
    """Rejections of a difference between two scorers that are equally good."""
    y, scores, risks = draw(rng, *size)
    # The fixed threshold is in units of the scores before their division by the spread.
    scores = [one * np.sqrt(2) for one in scores]
    found: Counter = Counter()
    for name, (metric, params, of_risk) in TESTS.items():
        seed = {"random_state": int(rng.integers(2**31))}
        if is_direct(name, size) == direct:
            pair = risks if of_risk else scores
            found[name] += compare_scores(metric, y, *pair, **params, **seed).p_value < 0.05
    if direct:
        curve = decision_curve(y, *risks, thresholds=AT)
        found[BAND] += any(not one.low <= 0 <= one.high for one in curve)
    return found


def rejects(metric, params, y, score, segment, seed) -> bool:
    """Tell whether `largest_gap` rejects, without the permutations that cannot change that."""
    segments = Segments.split(make_study(metric, params, y, [score]), segment, None)
    statistic, n_beyond = gaps._Spread(segments).statistic, 0
    rng, permuted = np.random.RandomState(seed), gaps._Permutations(segments)
    for _ in range(N_PERMUTATIONS):
        drawn = gaps._Spread(replace(segments, index=permuted.draw(rng)))
        n_beyond += drawn.statistic >= statistic * (1 - gaps._ROUNDING)
        if n_beyond > MOST_BEYOND:
            return False
    return True


def of_gap(population, rng, checked=False, random=False) -> Counter:
    """Rejections of equal segments; of the first sample of a block by `largest_gap` too.

    Where the share of positives counts, ``random``, so do their numbers; else these are fixed.
    """
    segment = np.repeat(np.arange(len(SEGMENTS)), [one * (1 + RATIO) for one in SEGMENTS])
    y = np.concatenate([np.arange(one * (1 + RATIO)) < one for one in SEGMENTS])
    if random:
        y = rng.random(y.size) < 1 / (1 + RATIO)
    spread = 1.0
    if population != POPULATIONS[0]:
        # One factor for both classes changes no ROC curve, but the place of every score.
        spread = np.where(segment % 2, 0.5, 2.0)
    score = spread * (rng.normal(size=y.size) + SHIFT * y)
    found: Counter = Counter()
    for name, (metric, params) in GAPS.items():
        if "threshold" in params and population != POPULATIONS[0]:
            continue
        seed = int(rng.integers(2**31))
        if (name in OF_SHARES) != random:
            continue
        rejected = rejects(metric, params, y, score, segment, seed)
        if checked:
            draws = {"n_permutations": N_PERMUTATIONS, "random_state": seed}
            gap = largest_gap(metric, y, score, by=segment, **params, **draws)
            assert (gap.p_value <= 0.05) == rejected
        found[name] += rejected
    return found


def of_bands(size, rng) -> Counter:
    """Bands that leave the population's curve somewhere."""
    y, scores, _ = draw(rng, *size, noises=(0.0,))
    share = size[0] / sum(size)
    recall, low, high = precision_band(
        make_study("average_precision", {}, y, [scores[0]]),
        (0.0, 1.0),
        kind="simultaneous",
        confidence=0.95,
        n_resamples=500,
        random_state=int(rng.integers(2**31)),
    )
    inside = recall < 1
    alarms = norm.sf(norm.isf(recall[inside]) + SHIFT)
    truth = share * recall[inside] / (share * recall[inside] + (1 - share) * alarms)
    missed = (truth < low[inside] - 1e-9) | (truth > high[inside] + 1e-9)
    found = Counter({"precision-recall curve": int(missed.any())})
    curve = decision_curve(y, risk(scores[0], SHIFT, *size), thresholds=AT)
    cuts = (logit(AT) - np.log(size[0] / size[1]) + SHIFT**2 / 2) / SHIFT
    benefit = share * norm.sf(cuts - SHIFT) - (1 - share) * AT / (1 - AT) * norm.sf(cuts)
    outside = [not one.low <= value <= one.high for one, value in zip(curve, benefit, strict=True)]
    found["decision curve, 10 thresholds"] += any(outside)
    return found


def true_gap(name) -> float:
    """Difference of the populations' values of the two noisy scorers."""
    metric, params, of_risk = POWERS[name]
    measure, values = bind(metric, params), []
    for noise in NOISES:
        shift = SHIFT / np.sqrt(1 + noise**2)
        curve = Cell(*STUDY, "plain", shift).population()
        threshold = curve.threshold
        if of_risk:
            threshold = risk(threshold, shift, *STUDY)
        use = measure.of_population or measure.of_curve
        values.append(
            float(use(type(curve)(curve.false_positive, curve.true_positive, threshold), 1))
        )
    return values[0] - values[1]


def of_power(name, rng) -> Counter:
    """Findings of a difference, and the power planned from a pilot of the same size."""
    metric, params, of_risk = POWERS[name]
    found: Counter = Counter()
    seed = {"random_state": int(rng.integers(2**31)), "n_resamples": 500}
    y, scores, risks = draw(rng, *STUDY, noises=NOISES)
    pair = risks if of_risk else scores
    found["found"] += compare_scores(metric, y, *pair, **params, **seed).p_value < 0.05
    y, scores, risks = draw(rng, *STUDY, noises=NOISES)
    pair = risks if of_risk else scores
    rows = {"n_positives": STUDY[0], "n_negatives": STUDY[1]}
    seed = {"random_state": 0}
    found["planned"] += power_of(
        metric, y, *pair, difference=true_gap(name), **rows, **params, **seed
    )
    return found


STUDIES = {
    "direct": (partial(of_tests, direct=True), SIZES),
    "tests": (partial(of_tests, direct=False), SIZES),
    "gap": (of_gap, POPULATIONS),
    "gap of shares": (partial(of_gap, random=True), POPULATIONS),
    "bands": (of_bands, (*SIZES[:2], (300, 3_000))),
    "power": (of_power, tuple(POWERS)),
}


def simulate(task: tuple) -> tuple:
    study, row, block = task
    warnings.simplefilter("ignore", FewRowsWarning)
    rng = np.random.default_rng([block, *f"{study} {row}".encode()])
    counts: Counter = Counter()
    for number in range(BLOCK):
        more = {"checked": number == 0} if study.startswith("gap") else {}
        counts.update(STUDIES[study][0](row, rng, **more))
    return study, str(row), block, counts


def append(study: str, row: str, block: int, counts: Counter) -> None:
    is_new = not STORE.exists()
    with STORE.open("a", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if is_new:
            writer.writerow(("study", "row", "block", "name", "count"))
        for name, count in counts.items():
            writer.writerow((study, row, block, name, f"{float(count):.6g}"))


def read_store() -> tuple[dict, set]:
    """Counts by study and row, with the number of blocks, and the blocks that are known."""
    found: dict = {}
    blocks: set = set()
    for path in dict.fromkeys((KEPT / STORE.name, STORE)):
        known = set(blocks)
        if path.exists():
            with path.open(encoding="utf-8", newline="") as file:
                for one in csv.DictReader(file):
                    key = one["study"], one["row"], int(one["block"])
                    if key not in known:
                        blocks.add(key)
                        counts = found.setdefault(key[:2], Counter())
                        counts[one["name"]] += float(one["count"])
    for study, row, _ in blocks:
        found[study, row]["n"] += BLOCK
    return found, blocks


def table(found: dict, study: str, title: str, shown) -> str:
    """One row per name and one column per row of a study."""
    rows = [row for row in STUDIES[study][1] if (study, str(row)) in found]
    names = dict.fromkeys(name for row in rows for name in found[study, str(row)] if name != "n")
    header = [title]
    for row in rows:
        label = row if isinstance(row, str) else f"{row[0]:,} + {row[1]:,}"
        header.append(f"{label} ({found[study, str(row)]['n']:,} samples)")
    lines = []
    for name in names:
        line = [name]
        for row in rows:
            counts = found[study, str(row)]
            line.append(shown(100 * counts[name] / counts["n"]) if name in counts else "")
        lines.append(line)
    return markdown_table(header, lines)


def sizes_of_tests(found: dict) -> tuple[str, list[str]]:
    """Return the table of the paired tests, and how many samples the two kinds have."""
    rows = [size for size in SIZES if ("direct", str(size)) in found]
    lines = []
    for name in (*TESTS, BAND):
        line = [name]
        for size in rows:
            kind = "direct" if name == BAND or is_direct(name, size) else "tests"
            counts = found.get((kind, str(size)), Counter())
            line.append(_size(100 * counts[name] / counts["n"]) if counts["n"] else "")
        lines.append(line)
    header = ["test", *(f"{m:,} + {n:,}" for m, n in rows)]
    samples = [
        " / ".join(
            f"{found[kind, str(size)]['n']:,}" for size in rows if (kind, str(size)) in found
        )
        for kind in ("direct", "tests")
    ]
    return markdown_table(header, lines), samples


def _size(value: float) -> str:
    return f"{value:.1f}" if LEAST <= value <= MOST else f"**{value:.1f}**"


def report(found: dict) -> str:
    powers = []
    for name in POWERS:
        counts = found.get(("power", name))
        if counts:
            n = counts["n"]
            planned, seen = 100 * counts["planned"] / n, 100 * counts["found"] / n
            row = [name, f"{true_gap(name):.4f}", f"{n:,}"]
            powers.append([*row, f"{planned:.1f} %", f"{seen:.1f} %", f"{planned - seen:+.1f}"])
    positives = ", ".join(map(str, SEGMENTS))
    sizes, (n_direct, n_resampled) = sizes_of_tests(found)
    header = ["measure", "true difference", "studies", "planned", "found", "points apart"]
    sections = {
        "direct": (
            "Paired tests",
            "Rejections at 5 %, in percent, of two equally good scorers; the band rejects if it leaves "
            f"0 out anywhere. Bold sizes lie outside {LEAST:g} to {MOST:g} %. Numbers of either class "
            f"are random with the means of the header. {n_direct} samples where nothing is resampled, "
            f"{n_resampled} where the test resamples (500 times); one standard error is 0.5 points at "
            '2,000 samples and 1.0 at 500. The method is that of `method="auto"` unless the row names '
            "another. Tests without resamples have the tails of Student's t with the degrees of "
            "freedom of the rarer class. Resamples hold rows several times, so "
            "that those at the cut of a top fraction come in blocks, and differences of lifts "
            "spread further than in fresh samples: the test is conservative. So, by less, are those "
            "of best values over thresholds, which every resample chooses anew, and the band, whose "
            "limits all thresholds must keep together: at 30 + 300 the two models flag different rows "
            "at a threshold of 0.5 in four cases on average, and so few make no smooth difference.",
            sizes,
        ),
        "gap": (
            "Largest gap",
            f"Rejections of `largest_gap` at 5 %, in percent, by {N_PERMUTATIONS} permutations. Ten "
            f"segments have {positives} positives, and {RATIO} times as many negatives each. In one "
            "population the test is exact; where equal values come from unequal spreads (scores of "
            "every other segment are four times as far apart), dividing by standard errors keeps the "
            "level approximately.",
            table(found, "gap", "measure", _size),
            "Precision and average precision depend on the share of positives. In their samples the "
            "labels are random; the numbers of positives above are means. With fixed numbers, which "
            "the permutations of all rows do not keep, their tests were more conservative (0.1 and 2.1 "
            "% of 1,000 samples of one population).",
            table(found, "gap of shares", "measure", _size),
        ),
        "bands": (
            "Simultaneous 95 % bands",
            "Samples whose band leaves the population's curve somewhere, in percent (at most 5 are "
            "wanted). That of precisions is no narrower than binomial limits, and conservative.",
            table(found, "bands", "band of", lambda value: f"{value:.1f}"),
        ),
        "power": (
            "Planned power",
            "Power that `power_of` plans from pilots of 100 + 1,000 random rows for the true "
            "difference of a scorer and one with more noise (mean), and how often studies of that size "
            "find it. The average precision of so few positives is too high, that of the noisier "
            "scorer more: in 3,000 samples the difference is 0.0810 on average, not 0.0834, and "
            "spreads 2 % further than its standard error says. For both reasons fewer studies find it.",
            markdown_table(header, powers),
        ),
    }
    run_so_far = {study for study, _ in found}
    parts = ["# Size of tests of decisions and of segments, bands, planned power"]
    for study, (title, *texts) in sections.items():
        shown = texts if study in run_so_far else ["Not run yet."]
        parts += [f"## {title}", *shown]
    return "\n\n".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simulations", type=int, default=2_000)
    parser.add_argument("--minutes", type=float, default=40.0, help="time for this run")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--only", choices=tuple(STUDIES))
    options = parser.parse_args()
    known = read_store()[1]
    tasks = [
        (study, row, block)
        for block in range(options.simulations // BLOCK)
        for study, (_, rows) in STUDIES.items()
        for row in rows
        if options.only in (None, study) and (study, str(row), block) not in known
    ]
    if options.minutes > 0 and tasks:
        run(simulate, append, tasks, options.minutes, options.processes)
    write_signed(RESULTS / f"{NAME}.md", report(read_store()[0]), f"benchmarks {NAME}")


if __name__ == "__main__":
    main()
