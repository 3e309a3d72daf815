"""Precision promised at a prevalence that is twenty times lower than that of the held-out rows.

Scores are normal in both classes, so that the precision and the recall of every threshold are known.
Results of cells are kept in ``results/target_prevalence.json``; finished ones are not run again.
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

from aucuba.threshold import FixedPrecisionClassifier
from benchmarks._promise_worlds import FirstColumn
from reproductions.tables import markdown_table, write_signed

NAME = "target_prevalence"
RESULT = Path(__file__).parent / "results" / f"{NAME}.md"
STORE = RESULT.with_suffix(".json")
HELD_OUT, TARGET, PRECISION = 0.1, 0.005, 0.9
CELLS = [(d, n) for d in (3.5, 4.0, 5.0) for n in (10_000, 50_000)]


def log_excess(threshold, distance):
    """Above 0 where the precision at the target prevalence is too low."""
    odds = TARGET * (1 - PRECISION) / ((1 - TARGET) * PRECISION)
    return norm.logsf(threshold) - norm.logsf(threshold - distance) - np.log(odds)


def simulated(place, distance, n_rows, n_worlds):
    oracle = norm.sf(brentq(log_excess, -2, 15, args=(distance,)) - distance)
    found = {"shifted": [], "plain": []}
    for world in range(n_worlds):
        rng = np.random.default_rng([0, place, world])
        y = rng.random(n_rows) < HELD_OUT
        X = (rng.normal(size=n_rows) + distance * y)[:, None]
        for name, target in (("shifted", TARGET), ("plain", None)):
            model = FixedPrecisionClassifier(
                *(FirstColumn(), PRECISION),
                cv="prefit",
                target_prevalence=target,
                on_failure="trivial",
                random_state=0,
            )
            found[name].append(model.fit(X, y.astype(int)).threshold_)
    result = {"worlds": n_worlds, "oracle": float(oracle)}
    for name, thresholds in found.items():
        threshold = np.array(thresholds)
        flags = np.isfinite(threshold)
        recall = np.where(flags, norm.sf(threshold - distance), 0.0)
        fpr = norm.sf(threshold[flags])
        precision = TARGET * recall[flags] / (TARGET * recall[flags] + (1 - TARGET) * fpr)
        result[name] = {
            "broken": float(np.sum(precision < PRECISION) / n_worlds),
            "precision": float(np.median(precision)) if flags.any() else None,
            "trivial": float(np.mean(~flags)),
            "recall": float(recall.mean()),
        }
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--worlds", type=int, default=1_000)
    options = parser.parse_args()
    warnings.filterwarnings("ignore", "The held-out rows cannot carry")
    store = json.loads(STORE.read_text(encoding="utf-8")) if STORE.exists() else {}
    for place, (distance, n_rows) in enumerate(CELLS):
        key = f"{distance:g} {n_rows}"
        if store.get(key, {}).get("worlds") != options.worlds:
            store[key] = simulated(place, distance, n_rows, options.worlds)
            STORE.write_text(json.dumps(store, indent=1) + "\n", encoding="utf-8")
            print(key, store[key], flush=True)
    rows = []
    for distance, n_rows in CELLS:
        cell = store[f"{distance:g} {n_rows}"]
        for name, words in (("shifted", "`target_prevalence`"), ("plain", "without")):
            one = cell[name]
            median = "" if one["precision"] is None else f"{one['precision']:.3f}"
            rows.append(
                [
                    *(f"{distance:g}", f"{n_rows:,}", words, f"{one['broken']:.1%}", median),
                    *(f"{one['trivial']:.1%}", f"{one['recall']:.3f}", f"{cell['oracle']:.3f}"),
                    f"{one['recall'] / cell['oracle']:.2f}" if name == "shifted" else "",
                ]
            )
    bar = 0.05 + 3 * np.sqrt(0.05 * 0.95 / options.worlds)
    text = [
        "# Precision at another prevalence",
        f"FixedPrecisionClassifier with min_precision {PRECISION} and confidence 0.95 on held-out rows "
        f"of which {HELD_OUT:.0%} are positive, judged at a prevalence of {TARGET:.1%}; normal scores "
        f"d' apart, {options.worlds:,} worlds per cell. Broken: worlds in which the precision at the "
        f"target is below {PRECISION}; {bar:.1%} are allowed (5 % and three standard errors). Trivial: "
        "worlds in which nothing can be certified; their recall is 0. The oracle knows the laws of "
        "the scores. Where tests begin (1.8 times the fewest negatives with which one can pass) was "
        "chosen on worlds of these settings, which concerns the recall; the bound on broken worlds "
        "holds for any such choice.",
        markdown_table(
            [
                *("d'", "held-out rows", "rule", "broken", "median precision", "trivial"),
                *("mean recall", "recall of the oracle", "ratio"),
            ],
            rows,
        ),
    ]
    write_signed(RESULT, "\n\n".join(text), f"benchmarks {NAME} --worlds {options.worlds}")


if __name__ == "__main__":
    main()
