"""Share of rows to review: TriageClassifier beside MAPIE's sets and risk control.

    python -m benchmarks triage_peers

On the development sets. The same gradient boosting scores all rows: half of them train it, a quarter
calibrates, a quarter is measured. MAPIE runs in an environment of its own. Finished sets are kept in
``results/triage_peers.json`` and not run again.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
import warnings
from pathlib import Path

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import train_test_split

from aucuba import TriageClassifier
from benchmarks._promise_rivals_driver import RIVALS, rival_python
from benchmarks.partial_auc_quality import SETS
from reproductions.tables import markdown_table, write_signed

NAME = "triage_peers"
RESULT = Path(__file__).parent / "results" / f"{NAME}.md"
STORE = RESULT.with_suffix(".json")
RATE, CONFIDENCE, N_SPLITS, MOST = 0.05, 0.95, 3, 40_000
OURS = "TriageClassifier"


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
    rates = 1 - np.mean(blocked | cleared), blocked[negative].mean(), cleared[positive].mean()
    return [float(rate) for rate in rates]


def cells(name: str):
    """Return for every way to triage what each split of a set came to."""
    found, given, labels = {OURS: {}}, {}, {}
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
        found[OURS][key] = measured(level == 2, level == 0, y)
        given[f"{key}/proba"] = model.predict_proba(X_cal)[:, 1]
        given[f"{key}/new"] = model.predict_proba(X)[:, 1]
        given[f"{key}/y"], labels[key] = y_cal, y
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "in.npz", Path(folder) / "out.npz"
        np.savez(source, **given)
        script = Path(__file__).parent / "_triage_rival.py"
        python = rival_python("mapie", RIVALS[:1])
        command = [str(python), "-W", "ignore", str(script), str(source), str(target)]
        subprocess.run(command, check=True)
        with np.load(target) as theirs:
            for one in sorted(theirs):
                key, _, title = one.partition("|")
                found.setdefault(title, {})[key] = measured(*theirs[one], labels[key])
    return found


def means(found):
    """Return the means over the splits, and the share of splits above a limit, by set."""
    result = {}
    for name in SETS:
        values = np.array([found[f"{name}/{seed}"] for seed in range(N_SPLITS)])
        above = np.mean((values[:, 1] > RATE) | (values[:, 2] > RATE))
        result[name] = [*values.mean(axis=0), above]
    return result


def rows(results):
    for name in SETS:
        for title, found in results.items():
            *rates, above = found[name]
            yield [name, title, *(f"{100 * rate:.1f}" for rate in rates), f"{100 * above:.0f}"]


def summary_rows(results):
    """How often each rival reviews more rows, and fewer, and how many splits are above a limit."""
    ours = results[OURS]
    for title, found in results.items():
        more = [found[name][0] - ours[name][0] for name in SETS]
        yield [
            title,
            f"{100 * np.mean([found[name][0] for name in SETS]):.1f}",
            *(["", ""] if title == OURS else [sum(x > 0 for x in more), sum(x < 0 for x in more)]),
            f"{100 * np.mean([found[name][3] for name in SETS]):.0f}",
        ]


def main() -> None:
    warnings.simplefilter("ignore")
    store = json.loads(STORE.read_text(encoding="utf-8")) if STORE.exists() else {}
    for name in SETS:
        if not any(key.startswith(f"{name}/") for key in store.get(OURS, {})):
            for title, found in cells(name).items():
                store.setdefault(title, {}).update(found)
            STORE.write_text(json.dumps(store, indent=1) + "\n", encoding="utf-8")
            print(name, flush=True)
    results = {title: means(found) for title, found in store.items()}
    text = [
        "# Rows to review: two promises beside abstention",
        f"Triage: at most {RATE:g} of the negatives blocked and at most {RATE:g} of the positives "
        f"cleared, both with confidence {CONFIDENCE:g}; where the rows cannot carry a promise, it "
        "blocks or clears nothing. MAPIE's risk control (`BinaryClassificationController`, `fpr` and "
        f"`recall`, each at confidence sqrt({CONFIDENCE:g})) promises the same: at its defaults (100 "
        "thresholds, Bonferroni and Holm), and testing 999 thresholds in a fixed sequence; of the "
        "thresholds that it allows, those that leave the fewest rows to review. MAPIE's sets "
        "(`SplitConformalClassifier`, score `lac`) promise less: they hold the label of "
        f"{1 - RATE:.0%} of all rows, of both classes together and on average over calibrations; a "
        "set of one label blocks or clears, any other is reviewed. "
        f"Means over {N_SPLITS} splits of at most {MOST:,} rows; the last column "
        f"counts splits whose test rows have more than {RATE:g} of either error, which noise of few "
        "positives does, too. The triage divides the error by the numbers of rows of the classes, so "
        "that 64 positives carry its promise (mammography, Wilt); equal parts need 72.",
        markdown_table(
            [
                "",
                "to review, %",
                "data sets with more than the triage",
                "with less",
                "splits above, %",
            ],
            summary_rows(results),
        ),
        "## By set",
        markdown_table(
            [
                "set",
                "",
                "to review, %",
                "negatives blocked, %",
                "positives cleared, %",
                "splits above, %",
            ],
            rows(results),
        ),
    ]
    write_signed(RESULT, "\n\n".join(text), f"benchmarks {NAME}")


if __name__ == "__main__":
    main()
