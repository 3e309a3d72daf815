"""Linear heads on embeddings and image features: trained for the region, and by the usual losses.

Stratified 50/50 splits; columns as they are. Heads are judged by the sensitivity at false positive
rates of 1e-2, and of 1e-3 where the test half has 10,000 negatives; `PartialAUCClassifierCV` is
trained for the range up to the rate. Its two models' scores are kept at 41 weights, so that
``one_comparison`` judges every rule from a lead to a weight on these sets, too. Finished cells are kept
in ``results/embedding_heads.csv``; a rerun computes what is missing, first splits first.

    python -m benchmarks.embedding_heads [--minutes M] [--processes N] [--data FOLDER ...]
    python -m benchmarks.embedding_heads --table

``--data`` takes the sets of some folders (embeddings, mnist, fashion_mnist); no fit begins after
``--minutes``. ``OUT`` is another folder for the cells; ``--merge FILE`` adds the cells of such a file.
"""

from __future__ import annotations

import argparse
import csv
import multiprocessing
import os
import time
import warnings
from functools import cache
from pathlib import Path

# One thread per process, set before NumPy loads.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from scipy.special import ndtr
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split
from sklearn.svm import LinearSVC

from aucuba import PartialAUCClassifierCV
from aucuba._base._warnings import ScaleAdvice
from aucuba.metrics import partial_auc_score, tpr_at_fpr_score
from reproductions.data.imbalanced import load_tweets
from reproductions.data.mnist import load_mnist
from reproductions.paired import corrected_p, holm
from reproductions.tables import markdown_table, write_signed

RESULTS = Path(__file__).parent / "results"
CELLS = Path(os.environ.get("OUT", RESULTS)) / "embedding_heads.csv"
TABLE = RESULTS / "embedding_heads.md"
FIELDS = ["set", "split", "method", "rate", "tpr", "pauc", "seconds"]
FIELDS += ["difference", "error", "curve"]
N_SPLITS, MAX_ROWS, N_RANDOM, FEWEST_NEGATIVES = 5, 23_000, 512, 10_000
RATES = (1e-2, 1e-3)
WEIGHTS = np.linspace(0.0, 1.0, 41)
HEAD, PLAIN, BALANCED, SVM = (
    "PartialAUCClassifierCV",
    "logistic",
    "logistic, balanced",
    "linear SVM",
)
METHODS = (PLAIN, BALANCED, SVM, HEAD)
INTRODUCTION = """
Sensitivity x 100 on held-out halves at a false positive rate, means over the 50/50 splits that all
methods finished, of {splits}; a rate of 1e-3 only where the test half has 10,000 negatives. `tweets`:
12,000 sentence embeddings of 512 columns, hate speech against the rest; MNIST: 23,000 of 70,000 images
per split, one digit against the rest; Fashion-MNIST: 10,000 images, one garment against the rest;
`random`: 512 fixed random features max(0, a'x + b) of the pixels, which stand for a network trained
for something else.
Columns are as they are. `logistic`: C of seven from 1e-3 to 1e3 by five-fold log-loss; `balanced`:
the same with balanced classes; `linear SVM`: C of six from 1e-3 to 1e2 by three-fold AUC. `{head}` is
trained for the range from 0 to the rate, with its defaults. No choice about it was made on these
cells; its blend was chosen on other tables, among them 3,000 of the tweets (`one_comparison`).
{missing}"""


@cache
def digits():
    parts = [load_mnist(part) for part in ("train", "test")]
    return np.concatenate([p.data for p in parts]), np.concatenate([p.target for p in parts])


@cache
def clothes():
    images = load_mnist("test", fashion=True)
    return images.data, images.target


def pixels(load, label):
    X, target = load()
    return X, target == label


@cache
def projected(load):
    X, target = load()
    rng = np.random.default_rng(0)
    A = rng.normal(size=(X.shape[1], N_RANDOM)) / np.sqrt(X.shape[1])
    return np.maximum(X @ A + 0.1 * rng.normal(size=N_RANDOM), 0.0).astype(np.float32), target


def random_features(load, label):
    X, target = projected(load)
    return X, target == label


SETS = {
    "tweets": load_tweets,
    "MNIST 3, pixels": lambda: pixels(digits, 3),
    "Fashion-MNIST shirts, pixels": lambda: pixels(clothes, 6),
    "MNIST 8, pixels": lambda: pixels(digits, 8),
    "Fashion-MNIST shirts, random": lambda: random_features(clothes, 6),
    "MNIST 3, random": lambda: random_features(digits, 3),
    "Fashion-MNIST coats, pixels": lambda: pixels(clothes, 4),
    "MNIST 8, random": lambda: random_features(digits, 8),
}
# The folder of the data of every set, by the first word of its name.
FOLDERS = {"tweets": "embeddings", "MNIST": "mnist", "Fashion-MNIST": "fashion_mnist"}


def halves(name, split):
    """Training and test half of a split: X, X_test, y, y_test."""
    X, y = SETS[name]()
    if len(y) > MAX_ROWS:
        kept, _ = train_test_split(
            np.arange(len(y)), train_size=MAX_ROWS, stratify=y, random_state=split
        )
        X, y = X[kept], y[kept]
    X = X.astype(np.float64)
    return train_test_split(X, y, test_size=0.5, stratify=y, random_state=split)


def logistic(split, class_weight=None):
    return LogisticRegressionCV(
        Cs=np.logspace(-3, 3, 7),
        cv=StratifiedKFold(5, shuffle=True, random_state=split),
        scoring="neg_log_loss",
        class_weight=class_weight,
        max_iter=1000,
        l1_ratios=(0,),
        use_legacy_attributes=False,
    )


def linear_svm(split):
    return GridSearchCV(
        LinearSVC(dual=False),
        {"C": np.logspace(-3, 2, 6)},
        scoring="roc_auc",
        cv=StratifiedKFold(3, shuffle=True, random_state=split),
    )


RIVALS = {
    PLAIN: logistic,
    BALANCED: lambda split: logistic(split, "balanced"),
    SVM: linear_svm,
}


def rates_of(y_test):
    return [rate for rate in RATES if rate == RATES[0] or np.sum(~y_test) >= FEWEST_NEGATIVES]


def judged(y, scores, rate):
    sensitivity = tpr_at_fpr_score(y, scores, fpr=rate)
    return f"{sensitivity:.6f}", f"{partial_auc_score(y, scores, fpr_range=(0.0, rate)):.6f}"


def cells_of(name, split, method):
    """Fit one method on one split; return the cells of all rates."""
    X, X_test, y, y_test = halves(name, split)
    found, rates = [], rates_of(y_test)
    if method != HEAD:
        start = time.process_time()
        scores = RIVALS[method](split).fit(X, y).decision_function(X_test)
        seconds = f"{time.process_time() - start:.1f}"
        for rate in rates:
            found.append([name, split, method, rate, *judged(y_test, scores, rate), seconds])
        return found
    for rate in rates:
        start = time.process_time()
        model = PartialAUCClassifierCV((0.0, rate), random_state=0).fit(X, y)
        seconds = f"{time.process_time() - start:.1f}"
        first, second = (X_test @ coef[0] for coef in (model.logistic_coef_, model.region_coef_))
        curve = [
            1e5 * partial_auc_score(y_test, (1 - w) * first + w * second, fpr_range=(0.0, rate))
            for w in WEIGHTS
        ]
        lead = model.partial_auc_["region"] - model.partial_auc_["logistic"]
        found.append(
            [
                *[name, split, method, rate],
                *judged(y_test, model.decision_function(X_test), rate),
                seconds,
                f"{lead:.6g}",
                f"{model.partial_auc_error_['region - logistic']:.6g}",
                " ".join(f"{value:.0f}" for value in curve),
            ]
        )
    return found


def timely_cells(task):
    *cell, deadline = task
    warnings.filterwarnings("ignore", category=ConvergenceWarning)
    warnings.filterwarnings("ignore", category=ScaleAdvice)
    return cells_of(*cell) if time.time() < deadline else []


def run(minutes, processes, folders):
    """Compute missing cells until the time is up; every finished one is written at once."""
    done = {(row["set"], int(row["split"]), row["method"]) for row in read_cells()}
    deadline = time.time() + 60 * minutes
    tasks = [
        (name, split, method, deadline)
        for split in range(N_SPLITS)
        for name in SETS
        if FOLDERS[name.split()[0]] in folders
        for method in (HEAD, *RIVALS)
        if (name, split, method) not in done
    ]
    CELLS.parent.mkdir(parents=True, exist_ok=True)
    with CELLS.open("a", newline="") as file, multiprocessing.Pool(processes) as pool:
        writer = csv.writer(file)
        if not file.tell():
            writer.writerow(FIELDS)
        for cells in pool.imap_unordered(timely_cells, tasks):
            writer.writerows(cells)
            file.flush()
            for cell in cells:
                print(*cell[:7], flush=True)


def read_cells(path=None):
    path = path or CELLS
    if not path.exists():
        return []
    with path.open() as file:
        return list(csv.DictReader(file))


def merge(path):
    """Add the cells of another file that are not there yet."""
    known = {tuple(row[field] for field in FIELDS[:4]) for row in read_cells()}
    with CELLS.open("a", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\r\n")
        if not file.tell():
            writer.writeheader()
        for row in read_cells(path):
            if tuple(row[field] for field in FIELDS[:4]) not in known:
                writer.writerow(row)


def finished_cells():
    """The cells of the splits that all methods finished."""
    rows, methods = read_cells(), {}
    for row in rows:
        methods.setdefault((row["set"], row["split"]), set()).add(row["method"])
    return [row for row in rows if len(methods[row["set"], row["split"]]) == len(METHODS)]


def by_cell(field):
    """100 x a number of the finished cells: {(set, rate): {method: {split: value}}}."""
    found = {}
    for row in finished_cells():
        of_methods = found.setdefault((row["set"], float(row["rate"])), {})
        of_methods.setdefault(row["method"], {})[int(row["split"])] = 100 * float(row[field])
    order = list(SETS)
    return dict(sorted(found.items(), key=lambda item: (-item[0][1], order.index(item[0][0]))))


def gain_of(methods, rival):
    own, other = methods.get(HEAD, {}), methods.get(rival, {})
    return np.array([own[split] - other[split] for split in sorted(set(own) & set(other))])


def weights():
    """Mean weight of the region's own model, by cell."""
    found = {}
    for row in finished_cells():
        if row["method"] == HEAD:
            error = float(row["error"])
            z = float(row["difference"]) / error if error > 0 else 0.0
            found.setdefault((row["set"], float(row["rate"])), []).append(max(0, 2 * ndtr(z) - 1))
    return {key: np.mean(values) for key, values in found.items()}


def summary(cells):
    """One row for each rate and rival: gains over sets, and tests with Holm's correction."""
    rows = []
    for rate in RATES:
        for rival in RIVALS:
            gains = [gain_of(cells[key], rival) for key in cells if key[1] == rate]
            gains = [one for one in gains if one.size > 1]
            if not gains:
                continue
            means = np.array([one.mean() for one in gains])
            p = np.array([corrected_p(one) for one in gains])
            adjusted = holm(p)
            signs = [np.sum((q < 0.05) & (s * means > 0)) for q in (p, adjusted) for s in (1, -1)]
            rows.append(
                [
                    f"{rate:g}, {rival}",
                    len(gains),
                    f"{means.mean():+.2f}",
                    f"{np.median(means):+.2f}",
                    f"{means.min():+.2f}",
                    f"{means.max():+.2f}",
                    f"{signs[0]} / {signs[1]}",
                    f"{signs[2]} / {signs[3]}",
                ]
            )
    return rows


def missing_sets(cells):
    """Name the sets without a finished split."""
    missing = [name for name in SETS if name not in {name for name, _ in cells}]
    return f"\nWithout a finished split: {'; '.join(missing)}.\n" if missing else ""


def write_table():
    cells, weight = by_cell("tpr"), weights()
    lines = []
    for (name, rate), found in cells.items():
        means = [np.mean(list(found.get(method, {0: np.nan}).values())) for method in METHODS]
        gain = gain_of(found, PLAIN)
        shown = [f"{value:.1f}" for value in means]
        blend = f"{weight.get((name, rate), np.nan):.2f}"
        lines.append(
            [f"{name}, {rate:g}", gain.size, *shown, f"{gain.mean():+.2f}", blend]
            if gain.size
            else [f"{name}, {rate:g}", 0, *shown, "", blend]
        )
    seconds = {}
    for row in finished_cells():
        seconds.setdefault(row["method"], []).append(float(row["seconds"]))
    header = ["rate, against", "sets", "mean", "median", "worst", "best"]
    text = [
        "# Heads on embeddings",
        INTRODUCTION.format(splits=N_SPLITS, head=HEAD, missing=missing_sets(cells)),
        markdown_table(
            ["set, rate", "splits", *METHODS, "gain over logistic", "weight of the region"], lines
        ),
        "",
        "Gains of the head over the sets. Won / lost: p < .05 by Nadeau and Bengio's corrected t over",
        "the splits, then after Holm's correction over the sets.",
        "",
        markdown_table([*header, "won / lost", "after Holm"], summary(cells)),
        "",
        "Processor seconds per fit, its choices by cross-validation included (median):",
        "",
        markdown_table(
            ["method", "seconds"],
            [
                [method, f"{np.median(seconds[method]):.0f}"]
                for method in METHODS
                if method in seconds
            ],
        ),
    ]
    write_signed(TABLE, "\n".join(text), "benchmarks embedding_heads")


def main(words=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=600.0)
    parser.add_argument("--processes", type=int, default=1)
    folders = sorted(set(FOLDERS.values()))
    parser.add_argument("--data", nargs="+", choices=folders, default=folders, metavar="FOLDER")
    parser.add_argument("--merge", type=Path, metavar="FILE")
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args(words)
    if given.merge:
        merge(given.merge)
    elif not given.table:
        run(given.minutes, given.processes, given.data)
    if CELLS.parent == RESULTS:
        write_table()


if __name__ == "__main__":
    main()
