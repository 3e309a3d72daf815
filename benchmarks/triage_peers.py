"""Share of rows to review: TriageClassifier beside MAPIE's abstention, on the development sets.

    python -m benchmarks triage_peers

The same gradient boosting scores all rows: half of them train it, a quarter calibrates, a quarter is
measured. MAPIE runs in an environment of its own.
"""

from __future__ import annotations

import subprocess
import tempfile
import warnings
from pathlib import Path

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import train_test_split

from aucuba import TriageClassifier
from benchmarks._promise_rivals_driver import rival_python
from benchmarks.partial_auc_quality import SETS
from reproductions.tables import markdown_table, write_signed

NAME = "triage_peers"
RESULT = Path(__file__).parent / "results" / f"{NAME}.md"
RATE, CONFIDENCE, N_SPLITS, MOST = 0.05, 0.95, 3, 40_000


def split_rows(name: str, seed: int):
    """Return the fitted model with calibration and test rows."""
    X, is_positive = SETS[name]()
    X, y = X.toarray() if hasattr(X, "toarray") else X, np.asarray(is_positive).astype(int)
    if len(y) > MOST:
        rows, _ = train_test_split(
            np.arange(len(y)), train_size=MOST, stratify=y, random_state=seed
        )
        X, y = X[rows], y[rows]
    X_train, X_rest, y_train, y_rest = train_test_split(
        X, y, test_size=0.5, stratify=y, random_state=seed
    )
    X_cal, X_test, y_cal, y_test = train_test_split(
        X_rest, y_rest, test_size=0.5, stratify=y_rest, random_state=seed
    )
    model = HistGradientBoostingClassifier(max_iter=60, random_state=0).fit(X_train, y_train)
    return model, X_cal, y_cal, X_test, y_test


def measured(blocked, cleared, y):
    """Return the share to review, negatives blocked and positives cleared."""
    negative, positive = y == 0, y == 1
    return 1 - np.mean(blocked | cleared), blocked[negative].mean(), cleared[positive].mean()


def cells():
    """Return results by set: those of the triage, and of MAPIE's sets."""
    ours, given, labels = {}, {}, {}
    for name in SETS:
        for seed in range(N_SPLITS):
            model, X_cal, y_cal, X, y = split_rows(name, seed)
            triage = TriageClassifier(
                model,
                RATE,
                1 - RATE,
                CONFIDENCE,
                "prefit",
                response_method="predict_proba",
                on_failure="trivial",
            )
            level = triage.fit(X_cal, y_cal).decision_levels(X)
            key = f"{name}/{seed}"
            ours[key] = measured(level == 2, level == 0, y)
            given[f"{key}/proba"] = model.predict_proba(X_cal)[:, 1]
            given[f"{key}/new"] = model.predict_proba(X)[:, 1]
            given[f"{key}/y"], labels[key] = y_cal, y
        print(name, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "in.npz", Path(folder) / "out.npz"
        np.savez(source, **given)
        script = Path(__file__).parent / "_triage_rival.py"
        subprocess.run([str(rival_python()), str(script), str(source), str(target)], check=True)
        with np.load(target) as sets:
            theirs = {
                key: measured(
                    sets[key][:, 1] & ~sets[key][:, 0], sets[key][:, 0] & ~sets[key][:, 1], y
                )
                for key, y in labels.items()
            }
    return ours, theirs


def rows(ours, theirs):
    for name in SETS:
        for title, found in (("TriageClassifier", ours), ("MAPIE", theirs)):
            values = np.array([found[f"{name}/{seed}"] for seed in range(N_SPLITS)])
            broken = np.mean((values[:, 1] > RATE) | (values[:, 2] > RATE))
            yield [
                name,
                title,
                *(f"{100 * value:.1f}" for value in values.mean(axis=0)),
                f"{100 * broken:.0f}",
            ]


def main() -> None:
    warnings.simplefilter("ignore")
    text = [
        "# Rows to review: two promises beside abstention",
        f"Triage: at most {RATE:g} of the negatives blocked and at most {RATE:g} of the positives "
        f"cleared, both with confidence {CONFIDENCE:g}; where the rows cannot carry a promise, it "
        "blocks or clears nothing. MAPIE (`SplitConformalClassifier`, score `lac`): sets that hold the "
        f"label of {1 - RATE:.0%} of all rows on average; a set of one label blocks or clears, any "
        "other is reviewed. Its promise is weaker: about both classes together, and on average over "
        f"calibrations. Means over {N_SPLITS} splits of at most {MOST:,} rows; the last column "
        f"counts splits whose rows have more than {RATE:g} of either error, which noise of few test "
        "positives does too.",
        markdown_table(
            [
                "set",
                "",
                "to review, %",
                "negatives blocked, %",
                "positives cleared, %",
                "splits above, %",
            ],
            rows(*cells()),
        ),
    ]
    write_signed(RESULT, "\n\n".join(text), f"benchmarks {NAME}")


if __name__ == "__main__":
    main()
