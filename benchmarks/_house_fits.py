"""Fits whose way through the package ``benchmarks.house_size`` follows."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

import aucuba
from aucuba.changepoint import Label, SupervisedChangepointDetector
from aucuba.structured import RankingGraph, StructuredRanker

RANGE = (0.0, 0.2)


def rows() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 6))
    return X, (X[:, 0] + rng.normal(size=400) > 0.8).astype(int)


def linear_direct() -> Callable[[], Any]:
    X, y = rows()
    return lambda: aucuba.PartialAUCClassifier(RANGE).fit(X, y)


def linear_tight() -> Callable[[], Any]:
    X, y = rows()
    return lambda: aucuba.PartialAUCSVC(RANGE, loss="tight").fit(X, y)


def linear_cv() -> Callable[[], Any]:
    X, y = rows()
    return lambda: aucuba.PartialAUCClassifierCV(RANGE, Cs=2, random_state=0).fit(X, y)


def linear_cv_dask() -> Callable[[], Any]:
    import dask.array as da

    X, y = rows()
    table = da.from_array(X, chunks=(100, -1))
    return lambda: aucuba.PartialAUCClassifierCV(RANGE, Cs=2, random_state=0).fit(table, y)


def stack() -> Callable[[], Any]:
    X, y = rows()
    members = ["linear", "splines_logistic", "forest"]
    return lambda: aucuba.RegionStack(RANGE, estimators=members, cv=2, random_state=0).fit(X, y)


def promised_fpr() -> Callable[[], Any]:
    X, y = rows()
    model = aucuba.FixedFPRClassifier(LogisticRegression(), 0.1, random_state=0)
    return lambda: model.fit(X, y)


def ranker() -> Callable[[], Any]:
    rng = np.random.default_rng(1)
    labels = [np.arange(6) % 2 == 0 for _ in range(4)]
    chain = np.column_stack([np.arange(5), np.arange(1, 6)])
    graphs = [
        RankingGraph(one[:, None] + rng.normal(size=(6, 2)), chain, np.ones((5, 1)))
        for one in labels
    ]
    return lambda: StructuredRanker(random_state=0).fit(graphs, labels)


def detector() -> Callable[[], Any]:
    rng = np.random.default_rng(2)
    heights = 4.0 * (np.arange(20) % 2)
    signals = [np.repeat([0.0, height, 0.0], 10) + rng.normal(size=30) for height in heights]
    labels = [[Label(5, 15, "one" if k % 2 else "none")] for k in range(20)]
    return lambda: SupervisedChangepointDetector(8, random_state=0).fit(signals, labels)


def command() -> Callable[[], Any]:
    from aucuba.cli import main

    X, y = rows()
    folder = tempfile.TemporaryDirectory()
    data, model = (Path(folder.name) / file for file in ("rows.csv", "model.aucuba"))
    table = np.column_stack([X, y])
    np.savetxt(data, table, delimiter=",", header="a,b,c,d,e,f,y", comments="", fmt="%.6g")
    words = ["fit", str(data), "--max-fpr", "0.2", "--out", str(model), "--json"]

    def call() -> None:
        with folder:
            if main(words):
                raise RuntimeError(f"aucuba {' '.join(words)} failed")

    return call


FITS = {
    "linear model, ramp": linear_direct,
    "linear model, tight hinge": linear_tight,
    "cross-validated linear model": linear_cv,
    "cross-validated linear model on Dask": linear_cv_dask,
    "stack of three members": stack,
    "promised false positive rate": promised_fpr,
    "structured ranker": ranker,
    "change detector": detector,
    "`aucuba fit`, csv": command,
}
