"""Cells of the study of scorecards: every method on one split of one set, kept in a CSV file.

The rivals run by interpreters of their own, found in ``$AUCUBA_RIVALS`` (a folder with the environments
``fasterrisk``: ``pip install fasterrisk "numpy<2" "scikit-learn<1.4"``; and ``optbinning``: ``pip
install optbinning interpret-core``); without that folder by this interpreter.
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
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import l1_min_c

from aucuba._roc._region import Region
from aucuba._rows._sample import Sample
from aucuba._rows._splits import shuffled_folds
from aucuba.scorecard._choice import (
    CAUTIONS,
    FoundCards,
    find_cards,
    held_out_log_odds,
    leads_of,
)
from aucuba.scorecard._limits import Restrictions
from aucuba.scorecard._search import Search
from benchmarks._scorecard_sets import RANGES, Halves

CELLS = Path(os.environ.get("OUT", Path(__file__).parent / "results")) / "scorecards.csv"
COLUMNS = ["set", "split", "items", "range", "method", "pauc", "seconds", "lead", "error"]
DRIVER = Path(__file__).parent / "_scorecard_rivals_driver.py"
ITEMS = (5, 10)
# Longest wall time of one rival's fit, on a machine that may be busy.
MOST_SECONDS = 1200
# Methods that have no number of items.
OF_ALL_COLUMNS = ("logistic", "EBM")
# The first cell of methods that have several.
FIRST = {"ours": "c=1", "own classes": "own classes, c=1"}
ENVIRONMENTS = {"FasterRisk": "fasterrisk", "optbinning": "optbinning", "EBM": "optbinning"}


class Cells:
    """The finished cells, each written as it finishes."""

    def __init__(self, path=CELLS):
        self.path, self.rows = path, []
        if path.exists():
            with path.open() as file:
                self.rows = list(csv.DictReader(file))
        keys = ("set", "split", "items", "method")
        self.known = {tuple(row[key] for key in keys) for row in self.rows}

    def has(self, name, split, items, method):
        return (name, str(split), str(items), FIRST.get(method, method)) in self.known

    def add(self, values):
        new = not self.path.exists()
        with self.path.open("a", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            if new:
                writer.writerow(COLUMNS)
            writer.writerow(values)
        self.rows.append(dict(zip(COLUMNS, map(str, values), strict=True)))


def cell(name, split, items, limits, method, pauc, seconds, lead="", error=""):
    """One row of the file."""
    return [name, split, items, limits, method, f"{pauc:.6f}", f"{seconds:.2f}", lead, error]


def restrictions(names, items):
    """The defaults of `RegionScorecard`."""
    defaults = dict.fromkeys(("max_per_column", "sign", "monotone", "column_cost", "max_cost"))
    return Restrictions.from_params(
        {"max_items": items, "max_points": 5, "include": (), "exclude": (), **defaults}, names
    )


def totals_on_test(found, caution, halves):
    """Totals of the test rows on the best card of a caution."""
    return sum(
        points * found.conditions[k].met(halves.columns_test.values[found.conditions[k].place])
        for k, points in found.cards[caution][0]
    ) + np.zeros(len(halves.y_test))


def our_cards(halves, items, limits):
    """Cards of every caution with their leads in cross-validation; what `RegionScorecard` does.

    Returns the totals of the test rows and the leads by caution, and the seconds of the whole.
    """
    start = time.process_time()
    columns, sample = halves.columns, Sample(halves.y)
    region = Region.from_params(limits).for_training(sample)
    rules = restrictions(columns.names, items)
    splits = shuffled_folds(halves.y, 5, 0)
    scores = np.empty((len(CAUTIONS), sample.n_rows))
    for one in splits:
        scores[:, one[1]] = held_out_log_odds(one, columns, sample, rules, region, 0)
    leads = leads_of(splits, scores, sample, region)[1]
    found = find_cards(columns, sample, rules, region, 0)
    seconds = time.process_time() - start
    totals = {caution: totals_on_test(found, caution, halves) for caution in CAUTIONS}
    return totals, dict(zip(CAUTIONS, leads, strict=True)), seconds


def unsmoothed_cards(halves, items, limits):
    """Totals of the test rows by caution where rows count by their own class alone; seconds."""
    start = time.process_time()
    sample, rules = Sample(halves.y), restrictions(halves.columns.names, items)
    conditions, table = halves.columns.conditions(sample, rules)
    region = Region.from_params(limits).for_training(sample)
    search = Search(table, sample, rules.limits(conditions), region.fpr_range)
    found = FoundCards(conditions, table, search.cards(CAUTIONS), search)
    seconds = time.process_time() - start
    return {caution: totals_on_test(found, caution, halves) for caution in CAUTIONS}, seconds


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
    from aucuba._columns._table_columns import Columns

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


def measure(name, split, items, method):
    """Compute the cells of a method on one split of a set."""
    halves, rows, key = Halves.of(name, split), [], (name, split, items)
    if method in FIRST:
        for limits, region in RANGES.items():
            leads = {}
            if method == "ours":
                totals, leads, seconds = our_cards(halves, items, region)
            else:
                totals, seconds = unsmoothed_cards(halves, items, region)
            prefix = "" if method == "ours" else f"{method}, "
            for caution, total in totals.items():
                pauc, lead = halves.pauc(total)[limits], leads.get(caution)
                told = [f"{lead.difference:.6f}", f"{lead.error:.6f}"] if lead else []
                rows.append(cell(*key, limits, f"{prefix}c={caution:g}", pauc, seconds, *told))
        return rows
    if method == "logistic":
        score, seconds = logistic(halves), 0.0
    else:
        sample = Sample(halves.y)
        conditions, table = halves.columns.conditions(sample, restrictions(halves.columns.names, 5))
        values = halves.columns_test.values
        met = np.array([one.met(values[one.place]) for one in conditions])
        start = time.process_time()
        if method == "rounded L1":
            score = rounded_l1(table, items, halves.y) @ met
            seconds = time.process_time() - start
        else:
            score, seconds, _ = rival(method, items, halves, conditions, table, met)
    return [
        cell(*key, limits, method, *(pauc, seconds)) for limits, pauc in halves.pauc(score).items()
    ]


def rival(method, items, halves, conditions, table, test_met):
    """Scores of the test rows, processor seconds and card of a rival; nan where it took too long."""
    coded, coded_test, categorical = as_codes(halves.columns, halves.columns_test)
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
            columns=np.array(halves.columns.names),
        )
        rivals, python = os.environ.get("AUCUBA_RIVALS"), sys.executable
        if rivals is not None:
            python = str(Path(rivals) / ENVIRONMENTS[method] / "bin" / "python")
        threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        path = {} if rivals is not None else {"PYTHONPATH": os.environ.get("PYTHONPATH", "")}
        try:
            subprocess.run(
                [python, str(DRIVER), method, str(items), str(source), str(target)],
                check=True,
                timeout=MOST_SECONDS,
                env={"PATH": os.environ["PATH"], **threads, **path},
            )
        except (subprocess.TimeoutExpired, subprocess.CalledProcessError) as error:
            print(name_of_failure(method, items, error), flush=True)
            return np.zeros(len(halves.y_test)), float("nan"), ""
        with np.load(target) as file:
            return file["scores"], float(file["seconds"]), str(file["text"])


def name_of_failure(method, items, error):
    return f"{method} with {items} items: {type(error).__name__}"


def as_codes(columns, test):
    """Numbers as they are, categories as codes of the training rows (-1 for others)."""
    pairs, categorical = [], []
    for place, (values, held_out) in enumerate(zip(columns.values, test.values, strict=True)):
        if values.dtype == object:
            categorical.append(place)
            codes = {one: k for k, one in enumerate(dict.fromkeys(values))}
            pairs.append(
                [np.array([codes.get(one, -1) for one in part]) for part in (values, held_out)]
            )
        else:
            pairs.append([values, held_out])
    first, second = (np.column_stack(part).astype(float) for part in zip(*pairs, strict=True))
    return first, second, categorical
