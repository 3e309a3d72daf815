"""Cost of cross-validation by shape: ``python -m benchmarks.wide_tables [--before SRC] [--only PART]``.

`PartialAUCClassifierCV` at its defaults; the peer is `LogisticRegressionCV` with the same seven
values of C and five folds, scored by log-loss. Made tables, scaled, one row in ten positive and
one label in twenty wrong, and sentence embeddings of tweets, of which hate speech is to be
found, in double and in single precision. ``--before`` names the ``src`` folder of earlier code,
which is measured in the same run. Processor seconds of one thread, medians of three rounds in
turn, beside ten other jobs on two cores. Tables of more than 200 columns, whose folds are in
single precision, had one round, and their column "before" is of 19 November 2026. Writes
``benchmarks/results/wide_tables.md``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegressionCV
from sklearn.preprocessing import StandardScaler

from benchmarks._before_after import Cell, Job, run
from reproductions.data.imbalanced import load_tweets

# The commit that "before" was measured at.
BEFORE = "a195919"
SHAPES = ((1_000, 10), (1_000, 30), (10_000, 30), (100_000, 30), (10_000, 500), (5_000, 5_000))


def cell(load: Callable[[], tuple[Any, Any]], dtype: str = "float64") -> Cell:
    def made() -> tuple[Job, Job]:
        from aucuba import PartialAUCClassifierCV

        X, y = load()
        X = StandardScaler().fit_transform(X).astype(dtype)
        model = PartialAUCClassifierCV(random_state=0)
        peer = LogisticRegressionCV(
            Cs=np.logspace(-3, 3, 7), cv=5, scoring="neg_log_loss", max_iter=1000
        )
        return lambda: model.fit(X, y), lambda: peer.fit(X, y)

    return made


def table(n_rows: int, n_columns: int) -> tuple[Any, Any]:
    X, y = make_classification(
        n_rows,
        n_columns,
        n_informative=min(n_columns // 2, 50),
        weights=[0.9],
        flip_y=0.05,
        random_state=0,
    )
    return X, y


CELLS: dict[str, Cell] = {f"{n:,} x {d:,}": cell(partial(table, n, d)) for n, d in SHAPES}
CELLS |= {
    f"12,000 x 512, tweets, {dtype}": cell(load_tweets, dtype) for dtype in ("float64", "float32")
}


def main(argv: list[str] | None = None) -> None:
    text = (__doc__ or "").split("\n\n", 1)[1].replace("``", "`").replace("\n`bench", " `bench")
    text = text.rsplit(" Writes", 1)[0] + f' "Before" is commit {BEFORE}.'
    title = "Cross-validation by shape"
    run("wide_tables", title, text, CELLS, sys.argv[1:] if argv is None else argv)


if __name__ == "__main__":
    main()
