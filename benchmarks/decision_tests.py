"""Size of the paired tests by first-order effects, and of the band over thresholds, by simulation.

Run with ``python -m benchmarks decision_tests``. Two scorers with independent noise of one size are
equally good, so that every rejection at 5 % is an error.
"""

from __future__ import annotations

import argparse
import os
import warnings
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from scipy.special import expit

from aucuba._base._warnings import FewRowsWarning
from aucuba.metrics import compare_scores, decision_curve
from reproductions.tables import markdown_table, write_signed

NAME = "decision_tests"
RESULTS = Path(__file__).parent / "results"
SHIFT = 1.5
LEAST, MOST = 3.0, 7.0
TESTS = {
    "average precision": ("average_precision", {"method": "influence"}, False),
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
}
SIZES = ((30, 300), (100, 1_000), (100, 3_000))
AT = np.linspace(0.05, 0.5, 10)


def draw(rng, positives, negatives):
    """Random rows with two scorers that are equally good, and their probabilities."""
    n = positives + negatives
    y = rng.random(n) < positives / n
    base = rng.normal(size=n) + SHIFT * y
    scores = [base + rng.normal(size=n) for _ in range(2)]
    # Of scores with twice the variance, by Bayes' formula.
    odds = np.log(positives / negatives)
    risks = [expit(SHIFT / 2 * one - SHIFT**2 / 4 + odds) for one in scores]
    return y, scores, risks


def sizes(positives, negatives, n):
    """Percentages of rejections, and of bands that leave 0 out somewhere."""
    rng = np.random.default_rng([positives, negatives])
    rejected, outside = dict.fromkeys(TESTS, 0), 0
    n_curves = n // 2
    for number in range(n):
        y, scores, risks = draw(rng, positives, negatives)
        if not y.any():
            continue
        for name, (metric, params, of_risk) in TESTS.items():
            found = compare_scores(metric, y, *(risks if of_risk else scores), **params)
            rejected[name] += found.p_value < 0.05
        if number < n_curves:
            curve = decision_curve(y, *risks, thresholds=AT)
            outside += any(not one.low <= 0 <= one.high for one in curve)
    found = {name: 100 * count / n for name, count in rejected.items()}
    return {**found, "decision curves, 10 thresholds": 100 * outside / n_curves}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simulations", type=int, default=400)
    options = parser.parse_args()
    warnings.simplefilter("ignore", FewRowsWarning)
    found = {size: sizes(*size, options.simulations) for size in SIZES}
    rows = []
    for name in found[SIZES[0]]:
        values = [of[name] for of in found.values()]
        rows.append([name, *(f"{v:.1f}" if LEAST <= v <= MOST else f"**{v:.1f}**" for v in values)])
    text = [
        "# Size of the tests by first-order effects",
        f"Rejections at 5 %, in percent of {options.simulations:,} samples of two equally good scorers "
        f"({options.simulations // 2:,} for the band over thresholds, which rejects if it leaves 0 out "
        f"anywhere). Bold sizes lie outside {LEAST:g} to {MOST:g} %. Numbers of either class are "
        "random with the means of the header. One standard error is "
        f'{100 * np.sqrt(0.05 * 0.95 / options.simulations):.1f} points. `method="auto"` but for the '
        "average precision, whose effects auto uses above 2,000 rows only.",
        markdown_table(["test", *(f"{m:,} + {n:,}" for m, n in SIZES)], rows),
    ]
    command = f"benchmarks {NAME} --simulations {options.simulations}"
    write_signed(RESULTS / f"{NAME}.md", "\n\n".join(text), command)


if __name__ == "__main__":
    main()
