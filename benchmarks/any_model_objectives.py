"""The risks as objectives of LightGBM: against log-loss with the same booster and rounds.

    python -m benchmarks.any_model_objectives [set ...]

Rounds are those of best five-fold log-loss for all; ``warm`` starts at half of the log-loss rounds and
goes on with the objective for the other half. Needs ``aucuba[boosting]``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import lightgbm
import numpy as np

from aucuba.metrics import partial_auc_score
from aucuba.objectives import PartialAUCObjective
from benchmarks.any_model_quality import N_SPLITS, SETS, halves, tuned_lightgbm
from reproductions.paired import corrected_p
from reproductions.tables import write_signed

TABLE = Path(__file__).parent / "results" / "any_model_objectives.md"
NAMES = ["yeast", "letter", "Wilt"]
RANGES = [(0.0, 0.05), (0.0, 0.1)]
PARAMS = {"learning_rate": 0.05, "num_threads": 1, "verbosity": -1, "seed": 0}


def train(X, y, rounds, objective, start=None):
    data = lightgbm.Dataset(X, y.astype(float), init_score=start)
    return lightgbm.train({**PARAMS, "objective": objective}, data, rounds)


def cell(data, rounds, limits):
    """pAUC x 100 of every objective on one split."""
    X, X_test, y, y_test = data
    half = max(1, rounds // 2)
    log_loss = train(X, y, rounds, "binary")
    first = train(X, y, half, "binary")
    start = first.predict(X, raw_score=True)
    scores = {"log-loss": log_loss.predict(X_test, raw_score=True)}
    for surrogate in ("tight", "direct"):
        objective = PartialAUCObjective(limits, surrogate).native
        scores[surrogate] = train(X, y, rounds, objective).predict(X_test)
        rest = train(X, y, rounds - half, objective, start)
        scores[f"{surrogate}, warm"] = first.predict(X_test, raw_score=True) + rest.predict(X_test)
    wide = PartialAUCObjective(limits, "direct", width=5.0).native
    scores["direct, width 5"] = train(X, y, rounds, wide).predict(X_test)
    return {
        name: 100 * partial_auc_score(y_test, s, fpr_range=limits) for name, s in scores.items()
    }


def main(names):
    rows = []
    for name in names:
        X, y = SETS[name]()
        for split in range(N_SPLITS):
            data = halves(X, y, split)
            rounds = max(20, tuned_lightgbm(data[0], data[2], split).n_estimators)
            for limits in RANGES:
                rows.append((name, limits, cell(data, rounds, limits)))
                print(*rows[-1], flush=True)
    methods = list(rows[0][2])
    lines = [
        "# The risks as objectives of LightGBM",
        "",
        "pAUC x 100 on held-out halves, mean over five 50/50 splits, same rounds for all. `+` / `-`:",
        "against log-loss, p < .05 in a t-test corrected for the overlap of the splits.",
        "",
        "| set | range | " + " | ".join(methods) + " |",
        "|---|---|" + "---|" * len(methods),
    ]
    lifts = {method: [] for method in methods}
    for name, limits in dict.fromkeys((name, limits) for name, limits, _ in rows):
        got = [one for a, b, one in rows if (a, b) == (name, limits)]
        shown = []
        for method in methods:
            gain = np.array([one[method] - one["log-loss"] for one in got])
            lifts[method].append(gain.mean())
            mark = "" if corrected_p(gain) >= 0.05 else " +" if gain.mean() > 0 else " -"
            shown.append(f"{np.mean([one[method] for one in got]):.1f}{mark}")
        lines.append(f"| {name} | {limits} | " + " | ".join(shown) + " |")
    means = " | ".join(f"{np.mean(lifts[method]):+.2f}" for method in methods)
    lines += [f"| mean lift | | {means} |"]
    write_signed(TABLE, "\n".join(lines), "benchmarks any_model_objectives", ("lightgbm",))


if __name__ == "__main__":
    main(sys.argv[1:] or NAMES)
