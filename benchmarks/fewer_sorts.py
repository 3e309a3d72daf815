"""Calls that need no sort of all rows: ``python -m benchmarks.fewer_sorts [--before SRC]``.

A million rows, a fifth of them positive. The peer is ``np.argsort`` of the same scores, so that the
ratio is a number of argsorts.
``--before`` names the ``src`` folder of earlier code, which is measured in the same run. Processor
seconds of one thread, medians of calls in turn. Writes ``benchmarks/results/fewer_sorts.md``.
"""

from __future__ import annotations

import sys

import numpy as np
from numpy._core._multiarray_umath import __cpu_features__

from benchmarks._before_after import Cell, Job, run

# The commit that "before" was measured at.
BEFORE = "a195919"


def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1_000_000, 10))
    return X, (X[:, 0] + rng.normal(size=len(X)) > 1.2).astype(int), rng


def minimum() -> tuple[Job, Job]:
    from aucuba.aum import ErrorFunctions, balanced_subgradient, minimize_aum

    X, y, rng = rows()
    errors, score = ErrorFunctions.from_labels(y), X @ rng.normal(size=10)
    direction = -(X @ (X.T @ balanced_subgradient(errors, score)))
    return lambda: minimize_aum(errors, score, direction), lambda: np.argsort(score)


def measure(name: str, **params) -> Cell:
    def made() -> tuple[Job, Job]:
        from aucuba import metrics

        X, y, _ = rows()
        function, score = getattr(metrics, name), X[:, 0]
        return lambda: function(y, score, **params), lambda: np.argsort(score)

    return made


CELLS: dict[str, Cell] = {
    "minimize_aum": minimum,
    "rates_at_threshold": measure("rates_at_threshold", threshold=1.0),
    "precision_at_k_score, k = 1,000": measure("precision_at_k_score", k=1000),
    "auc_at_k_score, k = 1,000": measure("auc_at_k_score", k=1000),
}


def main(argv: list[str] | None = None) -> None:
    text = (__doc__ or "").split("\n\n", 1)[1].replace("``", "`")
    wide = __cpu_features__["AVX512_SKX"] or __cpu_features__["AVX2"]
    sorts = "sorts with" if wide else "has no"
    text = text.rsplit(" Writes", 1)[0] + (
        f' "Before" is commit {BEFORE}. NumPy {sorts} vector instructions on this processor; where it '
        "has none, an argsort took four times as long."
    )
    run("fewer_sorts", "Fewer sorts", text, CELLS, sys.argv[1:] if argv is None else argv)


if __name__ == "__main__":
    main()
