"""Seconds for one row, and for many: the default stack, its members one by one, and LightGBM.

The stack is fitted on 5,000 rows of 20 numeric columns. "Before" is the way that many rows go, every
member through its own pipeline; "after" is what `decision_function` does for a few rows. Processor time
of this process, one thread, median of 1,000 calls after ten; before and after alternate.

    python -m benchmarks one_row
"""

from __future__ import annotations

import time
from pathlib import Path
from unittest import mock

import lightgbm
import numpy as np
import pandas as pd
from sklearn.datasets import make_classification
from threadpoolctl import threadpool_limits

from aucuba import RegionStack
from aucuba.ensemble import _fitted_stack
from aucuba.ensemble._table import log_odds
from reproductions.tables import markdown_table, write_signed

TABLE = Path(__file__).parent / "results" / "one_row.md"
N_ROWS, N_COLUMNS, N_CALLS, N_MANY = 5000, 20, 1000, 20_000


def median_ms(calls, n_calls):
    """Median processor milliseconds of each call, alternating."""
    taken = np.empty((n_calls + 10, len(calls)))
    for row in taken:
        for place, call in enumerate(calls):
            start = time.process_time()
            call()
            row[place] = time.process_time() - start
    return 1000 * np.median(taken[10:], axis=0)


def usual_way(stack, X):
    with mock.patch.object(_fitted_stack, "FEW_ROWS", -1):
        return stack.decision_function(X)


def main():
    X, y = make_classification(N_ROWS, N_COLUMNS, n_informative=8, weights=[0.8], random_state=0)
    names = [f"column {k}" for k in range(N_COLUMNS)]
    rows, largest = [], 0.0
    with threadpool_limits(1):
        for kind, table in (("ndarray", X), ("DataFrame", pd.DataFrame(X, columns=names))):
            stack = RegionStack(random_state=0).fit(table, y)
            booster = lightgbm.LGBMClassifier(n_jobs=1, verbose=-1).fit(table, y)
            one = table[:1]
            before, after, peer = median_ms(
                [
                    lambda one=one, stack=stack: usual_way(stack, one),
                    lambda one=one, stack=stack: stack.decision_function(one),
                    lambda one=one, booster=booster: booster.predict_proba(one),
                ],
                N_CALLS,
            )
            gap = stack.decision_function(table[:64]) - usual_way(stack, table[:64])
            largest = max(largest, float(np.abs(gap).max()))
            rows.append(
                [
                    "one row",
                    kind,
                    f"{before:.2f}",
                    f"{after:.2f}",
                    f"{before / after:.1f}",
                    f"{peer:.2f}",
                ]
            )
        many = np.tile(X, (N_MANY // N_ROWS, 1))
        stack = RegionStack(random_state=0).fit(X, y)
        alone = [lambda m=model: log_odds(m, many) for _, model in stack.members_]
        whole, *single = median_ms([lambda: stack.decision_function(many), *alone], 5)
    text = "\n\n".join(
        [
            "# One row, and many",
            "Processor milliseconds of `decision_function` of the default stack, fitted on 5,000 "
            "rows of 20 numeric columns, median of 1,000 calls; one thread. Before: every member "
            "through its own pipeline, the way that more than 64 rows still go. After: members taken "
            "apart once, columns prepared once. The largest difference in log-odds over 64 rows is "
            f"{largest:.1g}. LightGBM: 100 trees, `predict_proba`.",
            markdown_table(["rows", "table", "before", "after", "ratio", "LightGBM"], rows),
            f"{N_MANY:,} rows take {whole:.0f} ms, their members one by one {sum(single):.0f} ms "
            f"together (median of 5 calls, ratio {whole / sum(single):.2f}).",
        ]
    )
    print(text)
    write_signed(TABLE, text, "benchmarks one_row", ("lightgbm", "pandas"))


if __name__ == "__main__":
    main()
