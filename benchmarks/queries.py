"""Fits and measures with queries: ``python -m benchmarks.queries [--before SRC] [--only PART]``.

Queries have ten rows, three of them positive, in ten columns. The peer of `PartialAUCSVC` on the whole
curve is dlib's ``svm_rank_trainer``, whose objective is the same for queries of equal size (both at a
tolerance of 1e-3), that of `PartialAUCClassifier` LightGBM's lambdarank (100 trees); for
`PartialAUCClassifierCV`, measures and intervals it is the same call on the same rows without queries.
"Solver alone" is `BundleSolver.solve` and dlib's ``train`` on converted data, "fit" what a user calls.
``--before`` names the ``src`` folder of earlier code, which is measured in the same run. Processor
seconds of one thread, medians of three rounds in turn. The rows of `PartialAUCSVC` and of solvers are
of 20 November 2026, on a quiet machine; those of `PartialAUCClassifierCV` and
`precision_at_k_score` are of 19 November, and those of `PartialAUCClassifier`, areas, ``bedroc_score``
and intervals of 18 November. Writes ``benchmarks/results/queries.md``.
"""

from __future__ import annotations

import sys

import numpy as np

from benchmarks._before_after import Cell, Job, run

# The commit that "before" was measured at.
BEFORE = "a195919"
TOP = (0.0, 0.3)


def rows(n_queries: int, per_query: int = 10, n_columns: int = 10):
    """Queries whose three highest rows by a noisy linear score are relevant."""
    rng = np.random.default_rng(0)
    size = n_queries * per_query
    X, w = rng.normal(size=(size, n_columns)), rng.normal(size=n_columns)
    score = X @ w / np.linalg.norm(w) + rng.normal(size=size)
    place = score.reshape(n_queries, per_query).argsort(axis=1).argsort(axis=1)
    y = (place.ravel() >= per_query - 3).astype(int)
    return X, y, np.repeat(np.arange(n_queries), per_query)


def dlib_train(X, y, query) -> Job:
    import dlib

    pairs = dlib.ranking_pairs()
    for number in np.unique(query):
        pair = dlib.ranking_pair()
        for i in np.flatnonzero(query == number):
            (pair.relevant if y[i] else pair.nonrelevant).append(dlib.vector(X[i]))
        pairs.append(pair)

    def train():
        trainer = dlib.svm_rank_trainer()
        trainer.c, trainer.epsilon = 1.0, 1e-3
        return trainer.train(pairs)

    return train


def svc(n_queries: int) -> Cell:
    def cell() -> tuple[Job, Job]:
        from aucuba import PartialAUCSVC

        X, y, query = rows(n_queries)
        return lambda: PartialAUCSVC((0.0, 1.0)).fit(X, y, qid=query), dlib_train(X, y, query)

    return cell


def solver(n_queries: int) -> Cell:
    def cell() -> tuple[Job, Job]:
        from aucuba.design import TableDesign
        from aucuba.risks import Region, Sample, make_risk
        from aucuba.solvers import BundleSolver

        X, y, query = rows(n_queries)
        risk = make_risk("structural", Sample(y == 1, None, query), Region.from_params((0.0, 1.0)))
        design = TableDesign(X)
        return lambda: BundleSolver().solve(design, risk), dlib_train(X, y, query)

    return cell


def linear() -> tuple[Job, Job]:
    import lightgbm

    from aucuba import PartialAUCClassifier

    X, y, query = rows(1000)

    def lambdarank():
        return lightgbm.LGBMRanker(verbose=-1, n_jobs=1).fit(X, y, group=np.bincount(query))

    return lambda: PartialAUCClassifier(TOP).fit(X, y, qid=query), lambdarank


def linear_cv() -> tuple[Job, Job]:
    from aucuba import PartialAUCClassifierCV

    X, y, query = rows(1000)
    model = PartialAUCClassifierCV(TOP, random_state=0)
    return lambda: model.fit(X, y, qid=query), lambda: model.fit(X, y)


def interval() -> tuple[Job, Job]:
    from aucuba.metrics import score_interval

    X, y, query = rows(10_000, n_columns=1)
    rest = ("partial_auc", y, X[:, 0])
    return (
        lambda: score_interval(*rest, qid=query, fpr_range=TOP),
        lambda: score_interval(*rest, fpr_range=TOP),
    )


def measure(name: str, n_queries: int, *args, **params) -> Cell:
    def cell() -> tuple[Job, Job]:
        from aucuba import metrics

        X, y, query = rows(n_queries, n_columns=1)
        function, score = getattr(metrics, name), X[:, 0]
        return (
            lambda: function(y, score, *args, qid=query, **params),
            lambda: function(y, score, *args, **params),
        )

    return cell


CELLS: dict[str, Cell] = {
    **{f"PartialAUCSVC.fit, {n:,} queries; dlib": svc(n) for n in (100, 1000, 5000)},
    **{f"solver alone, {n:,} queries; dlib": solver(n) for n in (100, 1000, 5000)},
    "PartialAUCClassifier.fit, 1,000 queries; lambdarank": linear,
    "PartialAUCClassifierCV.fit, 1,000 queries; without": linear_cv,
    "partial_auc_score, 100,000 queries; without": measure(
        "partial_auc_score", 100_000, fpr_range=TOP
    ),
    "bedroc_score, 100,000 queries; without": measure("bedroc_score", 100_000),
    "precision_at_k_score, 100,000 queries; without": measure("precision_at_k_score", 100_000, k=3),
    "score_interval of partial AUC, 10,000 queries; without": interval,
}


def main(argv: list[str] | None = None) -> None:
    text = (__doc__ or "").split("\n\n", 1)[1].replace("``", "`")
    text = text.rsplit(" Writes", 1)[0] + f' "Before" is commit {BEFORE}.'
    run("queries", "Queries", text, CELLS, sys.argv[1:] if argv is None else argv)


if __name__ == "__main__":
    main()
