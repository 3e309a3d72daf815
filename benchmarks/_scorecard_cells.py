"""Cells of the study of scorecards: every method on one split of one set, kept in a CSV file.

The rivals run by interpreters of their own, found in ``$AUCUBA_RIVALS`` (a folder with the environments
``fasterrisk``: ``pip install fasterrisk "numpy<2" "scikit-learn<1.4"``; and ``optbinning``: ``pip
install optbinning interpret-core``).
"""

from __future__ import annotations

import csv
import gzip
import os
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.svm import l1_min_c

from aucuba._columns._table_columns import Columns
from aucuba._roc._region import Region
from aucuba._rows._sample import Sample
from aucuba._rows._splits import shuffled_folds
from aucuba.metrics import partial_auc_score
from aucuba.scorecard._choice import CAUTIONS, find_cards, held_out_log_odds, leads_of
from aucuba.scorecard._limits import Restrictions
from aucuba.scorecard._table import ScoredColumns
from benchmarks._comparison_cells import of_target
from benchmarks.low_fpr import RARE
from reproductions.data._home import data_file
from reproductions.data.imbalanced import ADBENCH, load_a9a, load_adbench

RESULTS = Path(__file__).parent / "results"
CELLS = RESULTS / "scorecards.csv"
COLUMNS = ["set", "split", "items", "range", "method", "pauc", "seconds", "lead", "error"]
DRIVER = Path(__file__).parent / "_scorecard_rivals_driver.py"
RANGES = {"0.05": (0.0, 0.05), "0.01": (0.0, 0.01)}
ITEMS = (5, 10)
MAX_ROWS = 10_000
# Longest wall time of one rival's fit.
MOST_SECONDS = 240
ENVIRONMENTS = {"FasterRisk": "fasterrisk", "optbinning": "optbinning", "EBM": "optbinning"}


def large_adbench(name):
    with np.load(data_file("adbench", f"{name}.npz")) as file:
        return np.asarray(file["X"], dtype=np.float64), np.asarray(file["y"]) == 1


def kdd():
    """Rare attacks (user to root, remote to local) and 18,822 other rows, with three text columns."""
    with gzip.open(data_file("kddcup99", "kddcup.data_10_percent.gz"), "rt") as file:
        table = pd.read_csv(file, header=None)
    table.columns = [f"x{k}" for k in range(table.shape[1])]
    label = table.pop(table.columns[-1]).str.rstrip(".")
    rare = label.isin(RARE)
    others = np.random.default_rng(0).choice(np.flatnonzero(~rare), 18_822, replace=False)
    kept = np.sort(np.concatenate([np.flatnonzero(rare), others]))
    return table.iloc[kept].reset_index(drop=True), rare.to_numpy()[kept]


def dense(load):
    X, y = load()
    return X.toarray(), y


SETS = {name: (lambda name=name: load_adbench(name)) for name in ADBENCH}
SETS |= {name: (lambda name=name: large_adbench(name)) for name in ("donors", "celeba")}
SETS["a9a"] = lambda: dense(load_a9a)
SETS["KDD rare attacks"] = kdd
SETS |= {f"fingerprints {t}": (lambda t=t: dense(lambda: of_target(t))) for t in (116, 10378)}
# What was looked at while the search and the cautions were chosen.
TUNED_ON = ("yeast", "letter", "annthyroid", "mammography", "landsat", "a9a")


@dataclass
class Halves:
    """Training and test half of one split."""

    X: Any
    X_test: Any
    y: Any
    y_test: Any

    @classmethod
    def of(cls, name: str, split: int) -> Halves:
        X, y = SETS[name]()
        if name != "KDD rare attacks" and len(y) > MAX_ROWS:
            kept, _ = train_test_split(
                np.arange(len(y)), train_size=MAX_ROWS, stratify=y, random_state=split
            )
            X, y = X[kept], y[kept]
        return cls(*train_test_split(X, y, test_size=0.5, stratify=y, random_state=split))

    def pauc(self, scores):
        return {
            name: partial_auc_score(self.y_test, scores, fpr_range=limits)
            for name, limits in RANGES.items()
        }


class Cells:
    """The finished cells, each written as it finishes."""

    def __init__(self, path=CELLS):
        self.path, self.rows = path, []
        if path.exists():
            with path.open() as file:
                self.rows = list(csv.DictReader(file))

    def has(self, name, split, items, method):
        wanted = (name, str(split), str(items), method)
        keys = ("set", "split", "items", "method")
        return any(tuple(row[key] for key in keys) == wanted for row in self.rows)

    def add(self, name, split, items, limits, method, pauc, seconds, lead="", error=""):
        values = [name, split, items, limits, method, f"{pauc:.6f}", f"{seconds:.2f}", lead, error]
        new = not self.path.exists()
        with self.path.open("a", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            if new:
                writer.writerow(COLUMNS)
            writer.writerow(values)
        self.rows.append(dict(zip(COLUMNS, map(str, values), strict=True)))


def restrictions(names, items):
    """The defaults of `RegionScorecard`."""
    defaults = dict.fromkeys(("max_per_column", "sign", "monotone", "column_cost", "max_cost"))
    return Restrictions.from_params(
        {"max_items": items, "max_points": 5, "include": (), "exclude": (), **defaults}, names
    )


def our_cards(halves, items, limits, split):
    """Cards of every caution with their leads in cross-validation; what `RegionScorecard` does.

    Returns the totals of the test rows and the leads by caution, and the seconds of the whole.
    """
    start = time.process_time()
    columns, sample = ScoredColumns.from_table(halves.X), Sample(halves.y)
    test = ScoredColumns.from_table(halves.X_test, columns.kinds)
    region = Region.from_params(limits).for_training(sample)
    rules = restrictions(columns.names, items)
    splits = shuffled_folds(halves.y, 5, split)
    scores = np.empty((len(CAUTIONS), sample.n_rows))
    for one in splits:
        scores[:, one[1]] = held_out_log_odds(one, columns, sample, rules, region)
    leads = leads_of(splits, scores, sample, region)[1]
    found = find_cards(columns, sample, rules, region)
    seconds = time.process_time() - start
    totals = {}
    for caution in CAUTIONS:
        totals[caution] = sum(
            points * found.conditions[k].met(test.values[found.conditions[k].place])
            for k, points in found.cards[caution][0]
        ) + np.zeros(len(halves.y_test))
    return totals, dict(zip(CAUTIONS, leads, strict=True)), seconds


def rounded_l1(table, items, y):
    """L1 logistic regression on the conditions, of at most so many, rounded to -5 to 5."""
    rows, best = table.met.T.astype(float), np.zeros(len(table.met))
    for C in l1_min_c(rows, y, loss="log") * np.logspace(0.01, 4, 40):
        coef = (
            LogisticRegression(
                l1_ratio=1.0, C=C, solver="liblinear", intercept_scaling=10.0, max_iter=300
            )
            .fit(rows, y)
            .coef_[0]
        )
        if np.count_nonzero(coef) > items:
            break
        best = coef
    return np.rint(best * 5 / max(np.abs(best).max(), 1e-12)).astype(int)


def logistic(halves):
    """Logistic regression on all columns, C by log-loss."""
    kinds = Columns.from_table(halves.X)
    search = LogisticRegressionCV(
        Cs=5,
        cv=3,
        scoring="neg_log_loss",
        max_iter=500,
        l1_ratios=(0.0,),
        use_legacy_attributes=False,
    )
    model = kinds.for_linear(search)
    return make_pipeline(model).fit(halves.X, halves.y).decision_function(halves.X_test)


def run(name, split, cells, methods, sizes):
    """Compute the missing cells of a split for some numbers of items."""
    halves = Halves.of(name, split)
    columns, sample = ScoredColumns.from_table(halves.X), Sample(halves.y)
    conditions, table = columns.conditions(sample, restrictions(columns.names, 5))
    test = ScoredColumns.from_table(halves.X_test, columns.kinds)
    test_met = np.array([one.met(test.values[one.place]) for one in conditions])
    for items in sizes:
        if not cells.has(name, split, items, "c=1"):
            for limits in RANGES:
                totals, leads, seconds = our_cards(halves, items, RANGES[limits], split)
                for caution in CAUTIONS:
                    pauc, lead = halves.pauc(totals[caution])[limits], leads[caution]
                    cells.add(
                        *(name, split, items, limits, f"c={caution:g}", pauc, seconds),
                        *(f"{lead.difference:.6f}", f"{lead.error:.6f}"),
                    )
        if not cells.has(name, split, items, "rounded L1"):
            start = time.process_time()
            points = rounded_l1(table, items, halves.y)
            seconds = time.process_time() - start
            for limits, pauc in halves.pauc(points @ test_met).items():
                cells.add(name, split, items, limits, "rounded L1", pauc, seconds)
        for method in methods:
            if method != "EBM" and not cells.has(name, split, items, method):
                score, seconds = rival(
                    method, items, halves, columns, test, conditions, table, test_met
                )
                for limits, pauc in halves.pauc(score).items():
                    cells.add(name, split, items, limits, method, pauc, seconds)
    if not cells.has(name, split, 0, "logistic"):
        for limits, pauc in halves.pauc(logistic(halves)).items():
            cells.add(name, split, 0, limits, "logistic", pauc, 0.0)
    if "EBM" in methods and not cells.has(name, split, 0, "EBM"):
        score, seconds = rival("EBM", 0, halves, columns, test, conditions, table, test_met)
        for limits, pauc in halves.pauc(score).items():
            cells.add(name, split, 0, limits, "EBM", pauc, seconds)


def rival(method, items, halves, columns, test, conditions, table, test_met):
    """Scores of the test rows and processor seconds of a rival; nan where it took too long."""
    coded, coded_test, categorical = as_codes(columns, test)
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "in.npz", Path(folder) / "out.npz"
        np.savez(
            source,
            train=table.met.T.astype(np.uint8),
            test=test_met.T.astype(np.uint8),
            X_train=coded,
            X_test=coded_test,
            categorical=np.array(categorical, dtype=int),
            y=halves.y,
            names=np.array([one.text for one in conditions]),
        )
        python = Path(os.environ["AUCUBA_RIVALS"]) / ENVIRONMENTS[method] / "bin" / "python"
        try:
            subprocess.run(
                [str(python), str(DRIVER), method, str(items), str(source), str(target)],
                check=True,
                timeout=MOST_SECONDS,
                env={
                    "PATH": os.environ["PATH"],
                    "OMP_NUM_THREADS": "1",
                    "OPENBLAS_NUM_THREADS": "1",
                },
            )
        except (subprocess.TimeoutExpired, subprocess.CalledProcessError) as error:
            print(name_of_failure(method, items, error), flush=True)
            return np.zeros(len(halves.y_test)), float("nan")
        with np.load(target) as file:
            return file["scores"], float(file["seconds"])


def name_of_failure(method, items, error):
    return f"{method} with {items} items: {type(error).__name__}"


def as_codes(columns, test):
    """Numbers as they are, categories as codes of the training rows (-1 for others)."""
    pairs, categorical = [], []
    for place, (values, held_out) in enumerate(zip(columns.values, test.values, strict=True)):
        if values.dtype == object:
            categorical.append(place)
            codes = {one: k for k, one in enumerate(pd.unique(values))}
            pairs.append(
                [np.array([codes.get(one, -1) for one in part]) for part in (values, held_out)]
            )
        else:
            pairs.append([values, held_out])
    first, second = (np.column_stack(part).astype(float) for part in zip(*pairs, strict=True))
    return first, second, categorical
