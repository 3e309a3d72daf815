"""MAPIE and nproc on the same worlds, in an environment of their own.

nproc is licensed under the GPL and its declared dependency ``sklearn`` no longer installs, so it is
installed without dependencies and only run, in another process.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from aucuba.threshold import (
    AlertBudgetClassifier,
    FixedFPRClassifier,
    FixedPrecisionClassifier,
    FixedTPRClassifier,
)
from benchmarks._promise_worlds import SHIFTS, FirstColumn, Law

# What pip installs into an environment, call by call.
RIVALS = (("mapie==1.6.0", "joblib"), ("--no-deps", "nproc==1.5.2"))
SCRIPT = Path(__file__).parent / "_promise_rivals.py"
N_ROWS = {0.1: 1_000, 0.01: 6_000}
OURS = {
    "fpr": FixedFPRClassifier,
    "tpr": FixedTPRClassifier,
    "precision": FixedPrecisionClassifier,
    "alerts": AlertBudgetClassifier,
}


def rival_python(name: str = "rivals", packages: Sequence[Sequence[str]] = RIVALS) -> Path:
    """The interpreter of an environment of its own, made on first use."""
    environment = Path(tempfile.gettempdir()) / f"aucuba-{name}"
    python = environment / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
        for one in packages:
            subprocess.run([str(python), "-m", "pip", "install", "-q", *one], check=True)
    return python


def rival_rows(n_worlds: int) -> list[list[str]]:
    """One row per promise, rate and rule."""
    rows = []
    for rate, n_rows in N_ROWS.items():
        law = Law(SHIFTS[rate])
        worlds = [
            law.draw(np.random.default_rng([seed, 9]), n_rows)[:2] for seed in range(n_worlds)
        ]
        thresholds = _rival_thresholds(worlds, rate, law.shift)
        for promise, kind in OURS.items():
            limit = rate if promise in ("fpr", "alerts") else 1 - rate
            options = {"cv": "prefit", "on_failure": "trivial"}
            thresholds[f"{promise}|aucuba"] = [
                kind(FirstColumn(), limit, random_state=seed, **options)
                .fit(s[:, None], y)
                .threshold_
                for seed, (s, y) in enumerate(worlds)
            ]
            for key in sorted(key for key in thresholds if key.startswith(f"{promise}|")):
                rows.append(_row(promise, rate, limit, key.partition("|")[2], thresholds[key], law))
    return rows


def _rival_thresholds(worlds, rate, shift):
    with tempfile.TemporaryDirectory() as folder:
        asked, answered = Path(folder) / "worlds.npz", Path(folder) / "thresholds.npz"
        scores, labels = (np.stack(part) for part in zip(*worlds, strict=True))
        np.savez(asked, scores=scores, labels=labels, rate=rate, shift=shift)
        command = [str(rival_python()), "-W", "ignore", str(SCRIPT), str(asked), str(answered)]
        subprocess.run(command, check=True)
        with np.load(answered) as found:
            return {key: found[key] for key in found.files}


def _row(promise, rate, limit, rule, thresholds, law):
    trivial = -np.inf if promise == "tpr" else np.inf
    thresholds = np.where(np.isnan(thresholds), trivial, thresholds)
    rates = [law.rates(threshold) for threshold in thresholds]
    kept = np.array([one[promise] for one in rates])
    broken = np.mean(kept > limit if promise in ("fpr", "alerts") else kept < limit)
    means = [np.mean([one[name] for one in rates]) for name in ("tpr", "fpr")]
    none = np.mean(np.isinf(thresholds))
    shown = [f"{rate:g}", rule, len(rates), f"{broken:.1%}", f"{none:.1%}"]
    return [promise, *shown, f"{means[0]:.3f}", f"{means[1]:.3g}"]
