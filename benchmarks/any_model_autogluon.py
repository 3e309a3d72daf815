"""AutoGluon's best quality beside the stack, at (0, .05).

AutoGluon runs in an environment of its own, made on first use: its pins exclude ours. It has its
gradient boosting (LightGBM, XGBoost, CatBoost), forests and extremely randomised trees, bagged and
stacked; PyTorch, and with it its networks, is not installed. It gets 60 and, on one split, 300
seconds of one core, counted as processor time, for log-loss and for the partial AUC of the region.
Finished fits are kept in ``results/any_model_autogluon.csv``; a rerun computes what is missing.

    python -m benchmarks any_model_autogluon      # AutoGluon, then the table
    python -m benchmarks.any_model_autogluon --ours     # measure our processor seconds anew
    python -m benchmarks.any_model_autogluon --table    # the table alone

The values of our stacks are those of ``results/any_model_presets.csv``.
"""

from __future__ import annotations

import csv
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from aucuba.metrics import partial_auc_score
from benchmarks.any_model_presets import (
    CELLS as PRESET_CELLS,
)
from benchmarks.any_model_presets import comparison_rows, make_stack, read
from benchmarks.any_model_quality import CELLS as SINGLE_CELLS
from benchmarks.any_model_quality import RESULTS, SETS, halves, markdown
from reproductions.tables import write_signed

CELLS = RESULTS / "any_model_autogluon.csv"
TABLE = RESULTS / "any_model_autogluon.md"
ENVIRONMENT = Path(tempfile.gettempdir()) / "aucuba-autogluon"
VERSION = "1.6.3"
REQUIREMENT = f"autogluon.tabular[lightgbm,catboost,xgboost]=={VERSION}"
SCRIPT = Path(__file__).parent / "_autogluon_rival.py"
RANGE = (0.0, 0.05)
NAMES = ["yeast", "letter", "annthyroid", "mammography", "campaign"]
OURS = ["plain default", "default", "plain best", "best"]
PASSES = [
    (0, "log-loss", 60),
    (0, "region", 60),
    (1, "log-loss", 60),
    (2, "log-loss", 60),
    (0, "log-loss", 300),
    (1, "region", 60),
    (2, "region", 60),
    (0, "region", 300),
]


def method(metric, seconds):
    return f"AutoGluon, {metric}, {seconds} s"


RIVALS = list(dict.fromkeys(method(metric, seconds) for _, metric, seconds in PASSES))


def rival_python():
    """The interpreter of AutoGluon's environment, made on first use."""
    python = ENVIRONMENT / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(ENVIRONMENT)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", REQUIREMENT], check=True)
    return python


def rival_cell(data, metric, seconds):
    """pAUC of one fit and its processor seconds."""
    train, test, y, y_test = data
    with tempfile.TemporaryDirectory() as folder:
        asked, answered = Path(folder) / "rows.npz", Path(folder) / "scores.npz"
        np.savez(asked, train=train, test=test, y=y, metric=metric, seconds=seconds)
        command = [str(rival_python()), "-W", "ignore", str(SCRIPT), str(asked), str(answered)]
        one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
        subprocess.run(command, check=True, cwd=folder, env=os.environ | one_thread)
        with np.load(answered) as found:
            value = partial_auc_score(y_test, found["score"], fpr_range=RANGE)
            return value, float(found["seconds"])


def run(names):
    """Compute the missing fits of AutoGluon."""
    done = set(read(CELLS))
    rival_python()
    for split, metric, seconds in PASSES:
        for name in names:
            if (name, str(RANGE), method(metric, seconds), split) in done:
                continue
            value, spent = rival_cell(halves(*SETS[name](), split), metric, seconds)
            write_cell(name, split, method(metric, seconds), value, spent)


def run_ours(names):
    """Measure what our stacks take, nothing remembered between fits; earlier seconds are dropped."""
    if CELLS.exists():
        with CELLS.open() as file:
            kept = [row for row in csv.reader(file) if row[3] not in OURS]
        with CELLS.open("w", newline="") as file:
            csv.writer(file).writerows(kept)
    for name in names:
        train, _, y, _ = halves(*SETS[name](), 0)
        for one in OURS:
            with threadpool_limits(1):
                start = time.process_time()
                make_stack(one, RANGE, 0, None).fit(train, y)
            write_cell(name, 0, one, np.nan, time.process_time() - start)


def write_cell(name, split, one, value, seconds):
    with CELLS.open("a", newline="") as file:
        writer = csv.writer(file)
        if file.tell() == 0:
            writer.writerow(["set", "split", "range", "method", "pauc", "seconds"])
        writer.writerow([name, split, RANGE, one, f"{value:.6f}", f"{seconds:.2f}"])
    print(f"{name} {split} {one}: {100 * value:.1f} ({seconds:.0f} s)", flush=True)


def read_seconds():
    """Mean processor seconds of a fit by set and method."""
    found = {}
    if CELLS.exists():
        with CELLS.open() as file:
            for row in csv.DictReader(file):
                found.setdefault((row["set"], row["method"]), []).append(float(row["seconds"]))
    return {key: np.mean(seconds) for key, seconds in found.items()}


def absolute_rows(values, seconds):
    """Header and one row per set and number of splits: pAUC and processor seconds of a fit."""
    methods = ["LightGBM", *RIVALS, *OURS]
    table = [["set", "training rows", "splits", *methods]]
    for name in NAMES:
        n_rows = len(halves(*SETS[name](), 0)[0])
        for limit in (60, 300):
            rivals = [one for one in RIVALS if one.endswith(f" {limit} s")]
            found = [{s for n, _, m, s in values if (n, m) == (name, one)} for one in rivals]
            # Those that all have which have any: means over other splits would not compare.
            splits = set.intersection(*(filter(None, found) if any(found) else found))
            shown = []
            for one in methods:
                got = [values.get((name, str(RANGE), one, s)) for s in sorted(splits)]
                known = one not in RIVALS or one in rivals
                complete = bool(got) and None not in got and known
                cell = f"{np.mean(got):.1f}" if complete else ""
                if complete and (name, one) in seconds:
                    cell += f" ({seconds[name, one]:.0f} s)"
                shown.append(cell)
            if splits:
                numbers = ", ".join(map(str, sorted(splits)))
                table.append([name, str(n_rows), numbers, *shown])
    return table


def write_table():
    values = {key: value for key, value in read(CELLS).items() if key[2] in RIVALS}
    values |= read(SINGLE_CELLS, {"LightGBM": "LightGBM"})
    ours = {key: value for key, value in read(PRESET_CELLS).items() if key[2] in OURS}
    values |= ours
    values = {key: v for key, v in values.items() if key[0] in NAMES and key[1] == str(RANGE)}
    pairs = [(one, rival) for one in ("default", "best", "plain default") for rival in RIVALS]
    pairs += [(rival, "LightGBM") for rival in RIVALS]
    counts = {rival: sum(1 for key in values if key[2] == rival) for rival in RIVALS}
    finished = "; ".join(f"{rival}: {count} fits" for rival, count in counts.items())
    lines = [
        "# AutoGluon beside the stack",
        "",
        "Points of pAUC x 100 in (0, .05) on the held-out halves of `any_model_presets.md`. AutoGluon",
        f"{VERSION} (gradient boosting and forests; without PyTorch no networks) with `best_quality`,",
        "one core, its limit counted in processor seconds, so that the load of the machine costs it",
        "nothing; its metric log-loss, or the partial AUC of the region. In brackets the processor",
        "seconds of a fit, ours on one thread with nothing remembered between fits (split 0).",
        f"{finished}.",
        "Our cells are of commit 9d2a9f4 and before; the rule that weighs a lead has changed since",
        "(`one_comparison.md`).",
        "",
        *markdown(comparison_rows(values, pairs)),
        "",
        "Absolute values, means over the splits named:",
        "",
        *markdown(absolute_rows(values, read_seconds())),
    ]
    write_signed(TABLE, "\n".join(lines), "benchmarks any_model_autogluon", ("lightgbm",))


def main(names=None):
    try:
        run(names or NAMES)
        run_ours(NAMES)
    finally:
        write_table()


if __name__ == "__main__":
    if sys.argv[1:] == ["--table"]:
        write_table()
    elif sys.argv[1:] == ["--ours"]:
        run_ours(NAMES)
        write_table()
    else:
        main(sys.argv[1:] or None)
