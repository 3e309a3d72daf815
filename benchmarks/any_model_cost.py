"""What a stack costs: seconds of each estimator against one tuned LightGBM fit, in one run.

    python -m benchmarks any_model_cost

Best of two, one thread, nothing remembered between fits. The seconds are in
``results/any_model_cost.csv`` too, for ``any_model_curve``. Needs ``aucuba[boosting]`` and CatBoost.
"""

from __future__ import annotations

import csv
import time
from pathlib import Path

from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from threadpoolctl import threadpool_limits

from aucuba import PartialAUCClassifierCV
from aucuba.ensemble import RegionReweighted, RegionStack
from benchmarks.any_model_presets import PLAIN, without_range
from benchmarks.any_model_quality import SETS, halves, tuned_lightgbm
from reproductions.tables import write_signed

TABLE = Path(__file__).parent / "results" / "any_model_cost.md"
CELLS = TABLE.with_suffix(".csv")
NAMES = ["letter", "annthyroid", "campaign"]


def estimators(X, y):
    """Functions that fit, LightGBM with its choice of rounds first."""
    booster = HistGradientBoostingClassifier(early_stopping=False)
    tuned = tuned_lightgbm(X, y, 0)
    return {
        "LightGBM, rounds by log-loss CV": lambda: tuned_lightgbm(X, y, 0).fit(X, y),
        "RegionReweighted(LightGBM)": lambda: RegionReweighted(tuned, random_state=0).fit(X, y),
        "HistGradientBoosting": lambda: booster.fit(X, y),
        "RegionReweighted(HistGradientBoosting)": lambda: RegionReweighted(
            booster, random_state=0
        ).fit(X, y),
        "random forest": lambda: RandomForestClassifier(random_state=0).fit(X, y),
        "RegionReweighted(random forest)": lambda: RegionReweighted(
            RandomForestClassifier(), random_state=0
        ).fit(X, y),
        "PartialAUCClassifierCV": lambda: PartialAUCClassifierCV((0.0, 0.05), random_state=0).fit(
            X, y
        ),
        "RegionStack, fast": lambda: RegionStack(preset="fast", random_state=0).fit(X, y),
        "RegionStack, default": lambda: RegionStack(random_state=0).fit(X, y),
        "RegionStack, best": lambda: RegionStack(preset="best", random_state=0).fit(X, y),
        "plain stack of the default's members": lambda: RegionStack(
            plan=PLAIN["plain default"], random_state=0
        ).fit(X, y),
        "plain stack of the best's members": lambda: RegionStack(
            plan=PLAIN["plain best"], random_state=0
        ).fit(X, y),
        "CatBoost": lambda: without_range("CatBoost", X, y, 0).fit(X, y.astype(int)),
        "StackingClassifier": lambda: without_range("StackingClassifier", X, y, 0).fit(X, y),
    }


def seconds_of(fit):
    """Least processor time of two fits; wall time says more about a shared machine's other users."""
    times = []
    for _ in range(2):
        start = time.process_time()
        fit()
        times.append(time.process_time() - start)
    return min(times)


def main():
    columns = {}
    for name in NAMES:
        X, _, y, _ = halves(*SETS[name](), 0)
        X = (X - X.mean(axis=0)) / X.std(axis=0).clip(1e-12)
        with threadpool_limits(1):
            times = {method: seconds_of(fit) for method, fit in estimators(X, y).items()}
        columns[name] = (X.shape, times)
        print(name, times, flush=True)
    with CELLS.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["set", "method", "seconds"])
        for name, (_, times) in columns.items():
            writer.writerows([name, method, f"{spent:.4f}"] for method, spent in times.items())
    head = [f"{name}, {shape[0]} x {shape[1]}" for name, (shape, _) in columns.items()]
    lines = [
        "# What a stack costs",
        "",
        "Processor seconds of a fit (best of two, one thread, one run) and their ratio to one tuned",
        "LightGBM fit. The rounds of the re-weighted LightGBM are given: their tuning is not in it.",
        "",
        "| estimator | " + " | ".join(f"{title} (s) | ratio" for title in head) + " |",
        "|---|" + "---|---|" * len(head),
    ]
    for method in next(iter(columns.values()))[1]:
        shown = [(t[method], t[method] / next(iter(t.values()))) for _, t in columns.values()]
        cells = " | ".join(f"{seconds:.2f} | {ratio:.1f}" for seconds, ratio in shown)
        lines.append(f"| {method} | {cells} |")
    write_signed(TABLE, "\n".join(lines), "benchmarks any_model_cost", ("lightgbm", "catboost"))


if __name__ == "__main__":
    main()
