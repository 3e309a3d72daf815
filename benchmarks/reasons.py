"""Reasons of ten rows: processor seconds, the error of the sums, and the error of single contributions.

Ten rows of highest score of the default stack, of boosted trees and of logistic regression behind the
library's preparation of columns, fitted on 2,000 rows; 50 background rows, three reasons. Tables: 20
numeric columns, and eight of every kind: numbers with gaps, dates, flags, categories.

    python -m benchmarks reasons
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from aucuba import RegionStack, explain_rows
from aucuba._columns._table_columns import Columns
from reproductions.tables import markdown_table, write_signed

TABLE = Path(__file__).parent / "results" / "reasons.md"
N_ROWS, N_EXPLAINED, N_BACKGROUND, SEEDS = 2000, 10, 50, range(4)
INTRODUCTION = """
Processor seconds of `explain_rows` for the ten rows of highest score, three reasons each, against 50
background rows; models of 2,000 rows. Error of the sum: largest difference between the sum of a row's
contributions and its log-odds less the background's mean. Error of a contribution: standard deviation
over four seeds of the walks, its root mean square over rows and columns, relative to the mean over the
rows of their largest contribution. Logistic regression is attributed in closed form.
"""


def numbers():
    X, y = make_classification(N_ROWS + 1000, 20, n_informative=8, weights=[0.8], random_state=0)
    return pd.DataFrame(X, columns=[f"column {k}" for k in range(20)]), y


def mixed():
    rng = np.random.default_rng(0)
    n = N_ROWS + 1000
    table = pd.DataFrame(
        {"age": rng.normal(50, 15, n).round(), "income": np.exp(rng.normal(10, 1, n))}
    )
    table["day"] = np.datetime64("2024-01-01") + rng.integers(0, 700, n)
    table["owner"] = rng.random(n) < 0.4
    table["city"] = rng.choice(["Bergen", "Lyon", "Oslo", "Rome"], n, p=[0.2, 0.1, 0.4, 0.3])
    table["channel"] = rng.choice(["branch", "phone", "web"], n)
    table["calls"] = rng.poisson(2, n)
    table["noise"] = rng.normal(size=n)
    z = 0.02 * (table["age"] - 50) + 1.2 * (table["city"] == "Rome") * (table["calls"] > 2)
    y = rng.random(n) < 1 / (1 + np.exp(2.5 - z - 0.8 * (table["income"] > 30_000)))
    table.loc[::9, "income"] = np.nan
    table.loc[::13, "city"] = None
    return table, y.astype(int)


def line(name, model, table, log_odds):
    new, background = table[N_ROWS:], table[:N_BACKGROUND]
    top = new.iloc[np.argsort(-log_odds(new), kind="stable")[:N_EXPLAINED]]
    found, seconds = [], []
    for seed in SEEDS:
        start = time.process_time()
        found.append(explain_rows(model, top, background=background, random_state=seed))
        seconds.append(time.process_time() - start)
    sums = log_odds(top) - log_odds(background).mean()
    values = np.array([one.contributions for one in found])
    largest = values.mean(axis=0).max(axis=1).mean()
    return [
        name,
        f"{np.median(seconds):.2f}",
        f"{np.abs(values.sum(axis=2) - sums).max():.0e}",
        f"{np.sqrt(values.var(axis=0, ddof=1).mean()) / largest:.1%}",
    ]


def main():
    lines = []
    for kind, load in (("20 numbers", numbers), ("8 of every kind", mixed)):
        table, y = load()
        columns = Columns.from_table(table)
        models = {
            "default RegionStack": RegionStack((0.0, 0.05), random_state=0),
            "boosted trees": columns.for_trees(HistGradientBoostingClassifier(random_state=0)),
            "logistic regression": columns.for_linear(LogisticRegression(max_iter=1000)),
        }
        for name, model in models.items():
            model.fit(table[:N_ROWS], y[:N_ROWS])
            lines.append(line(f"{kind}, {name}", model, table, model.decision_function))
            print(lines[-1], flush=True)
    header = ["table, model", "seconds", "error of the sum", "error of a contribution"]
    text = ["# Reasons of ten rows", INTRODUCTION, markdown_table(header, lines)]
    write_signed(TABLE, "\n".join(text), "benchmarks reasons", ("pandas",))


if __name__ == "__main__":
    main()
