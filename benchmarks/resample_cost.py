"""Bootstraps of many models and of many rows: ``python -m benchmarks.resample_cost [--before SRC]``.

Resamples by class. `compare_scores` has 100,000 rows, 1 % positive, 2,000 resamples, and compares all
pairs of the models; `score_interval` has 400 resamples. The peer is one `np.argsort` of the scores of
one model, so that the ratio is a number of argsorts. ``--before`` names the ``src`` folder of earlier
code, which is measured in the same run. Processor seconds of one thread, medians of calls in turn;
other jobs share the machine, and its caches: times of a million rows vary by a third. Writes
``benchmarks/results/resample_cost.md``.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from benchmarks._before_after import Cell, Job, run
from reproductions.tables import markdown_table

# The commit that "before" was measured at.
BEFORE = "a195919"
MEASURES: dict[str, dict[str, Any]] = {
    "partial AUC [0, 0.05]": {"metric": "partial_auc", "fpr_range": (0.0, 0.05)},
    "TPR at FPR 0.01": {"metric": "tpr_at_fpr", "fpr": 0.01},
}
MODELS, SIZES, SHARES = (2, 4, 8), (100_000, 1_000_000), {"1 %": 0.01, "half": 0.5}


def comparison(measure: str, n_models: int) -> Cell:
    return lambda: _jobs(measure, SIZES[0], SHARES["1 %"], n_models)


def interval(measure: str, n_rows: int, share: str) -> Cell:
    return lambda: _jobs(measure, n_rows, SHARES[share], 1)


def _jobs(measure: str, n_rows: int, share: float, n_models: int) -> tuple[Job, Job]:
    from aucuba.metrics import compare_scores, score_interval

    rng = np.random.default_rng(0)
    y = rng.random(n_rows) < share
    scores = {str(place): rng.normal(size=n_rows) + y for place in range(n_models)}
    chosen = {"method": "bootstrap", "random_state": 0, **MEASURES[measure]}
    metric = chosen.pop("metric")

    n_drawn = 400 if n_models == 1 else 2000

    def ours(rows: slice = slice(None), n_resamples: int = n_drawn) -> Any:
        if n_models == 1:
            given = {"y_score": scores["0"][rows]}
            return score_interval(metric, y[rows], **given, n_resamples=n_resamples, **chosen)
        models = {name: score[rows] for name, score in scores.items()}
        return compare_scores(metric, y[rows], models, n_resamples=n_resamples, **chosen)

    # The loops are compiled outside the clock.
    ours(slice(5000), 2)
    return ours, lambda: np.argsort(scores["0"])


def name_of_comparison(measure: str, n_models: int) -> str:
    return f"`compare_scores`, {measure}, {n_models} models"


def name_of_interval(measure: str, n_rows: int, share: str) -> str:
    return f"`score_interval`, {measure}, {share} positive, {n_rows:,} rows"


CELLS: dict[str, Cell] = {
    **{
        name_of_comparison(measure, n): comparison(measure, n)
        for measure in MEASURES
        for n in MODELS
    },
    **{
        name_of_interval(measure, n, share): interval(measure, n, share)
        for measure in MEASURES
        for share in SHARES
        for n in SIZES
    },
}


def growth(rows: dict[str, dict[str, float]]) -> str:
    """Write how cost grows with models and with rows, from the seconds of every cell."""
    steps = {
        f"{measure}: {big} models over {small}": [
            name_of_comparison(measure, n) for n in (small, big)
        ]
        for measure in MEASURES
        for small, big in ((2, 4), (4, 8))
    } | {
        f"{measure}, {share} positive: {SIZES[1]:,} rows over {SIZES[0]:,}": [
            name_of_interval(measure, n, share) for n in SIZES
        ]
        for measure in MEASURES
        for share in SHARES
    }
    lines = [
        [step, *(f"{rows[big][one] / rows[small][one]:.1f}" for one in ("before", "after"))]
        for step, (small, big) in steps.items()
    ]
    return "## Growth\n\nLinear cost is 2 for models and 10 for rows.\n\n" + markdown_table(
        ["seconds over seconds", "before", "after"], lines
    )


def main(argv: list[str] | None = None) -> None:
    text = (__doc__ or "").split("\n\n", 1)[1].replace("``", "`")
    text = text.rsplit(" Writes", 1)[0] + f' "Before" is commit {BEFORE}.'
    arguments = sys.argv[1:] if argv is None else argv
    run("resample_cost", "Cost of bootstraps", text, CELLS, arguments, growth)


if __name__ == "__main__":
    main()
