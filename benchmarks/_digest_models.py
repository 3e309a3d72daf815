"""Fits of ensembles, promised thresholds, rankers, change detectors and the command line."""

from __future__ import annotations

import contextlib
import io
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from aucuba import (
    AlertBudgetClassifier,
    FixedFPRClassifier,
    FixedPrecisionClassifier,
    FixedTPRClassifier,
    RegionReweighted,
    RegionStack,
)
from aucuba.changepoint import (
    IntervalRegression,
    IntervalRegressionCV,
    Label,
    SupervisedChangepointDetector,
)
from aucuba.structured import RankingGraph, StructuredLabelRanker, StructuredRanker
from benchmarks._digest_tables import (
    N_TRAIN,
    Arrays,
    digested,
    fixed_rows,
    mixed_frame,
    of_model,
    row_groups,
    row_times,
    row_weights,
    rows,
    training,
)

RANGE = (0.0, 0.2)
PAIR = [("logistic", LogisticRegression()), ("bayes", GaussianNB())]
BOOSTER = {"n_estimators": 5, "max_depth": 3, "learning_rate": 0.3}


def reweighted(estimator: Any, **params: Any) -> RegionReweighted:
    return RegionReweighted(estimator, RANGE, **{"cv": 3, "random_state": 0} | params)


def stack(estimators: list[Any], **params: Any) -> RegionStack:
    return RegionStack(RANGE, estimators=estimators, **{"cv": 2, "random_state": 0} | params)


@digested
def reweighted_own_model() -> Arrays:
    return of_model(reweighted(LogisticRegression()).fit(*training()), fixed_rows())


@digested
def reweighted_groups_time_weights() -> Arrays:
    model = reweighted(LogisticRegression(), min_tpr=0.2)
    given = {"groups": row_groups(), "time": row_times(), "sample_weight": row_weights()}
    return of_model(model.fit(*training(), **given), fixed_rows())


@digested
def reweighted_xgboost_on_dask() -> Arrays:
    from xgboost.dask import DaskXGBClassifier

    return on_dask(DaskXGBClassifier(**BOOSTER, tree_method="hist", verbosity=0))


@digested
def reweighted_lightgbm_on_dask() -> Arrays:
    from lightgbm import DaskLGBMClassifier

    return on_dask(DaskLGBMClassifier(**BOOSTER, deterministic=True, verbose=-1))


def on_dask(booster: Any) -> Arrays:
    """Fit a booster on blocks that one worker in this process holds."""
    import dask.array as da
    from distributed import Client

    X, y = training()
    with Client(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None):
        model = reweighted(booster, cv=2)
        model.fit(da.from_array(X, chunks=(150, -1)), da.from_array(y, chunks=150))
        return of_model(model, fixed_rows())


@digested
def stack_own_models() -> Arrays:
    return of_model(stack(PAIR).fit(*training()), fixed_rows())


@digested
def stack_named_members() -> Arrays:
    return of_model(stack(["linear", "splines_logistic", "forest"]).fit(*training()), fixed_rows())


@digested
def stack_csr() -> Arrays:
    model = stack(["linear", "forest"]).fit(sparse.csr_matrix(training()[0]), training()[1])
    return of_model(model, sparse.csr_matrix(fixed_rows()))


@digested
def stack_importances() -> Arrays:
    X, y = training()
    listed = stack(PAIR).fit(X, y).feature_importances(X, y, n_repeats=2, random_state=0)
    numbers = [[one for one in row.values() if isinstance(one, float)] for row in listed]
    return {"importances": numbers}


@digested
def stack_groups_time_weights() -> Arrays:
    model = stack(["linear", "splines_logistic"], cv=3)
    given = {"groups": row_groups(), "time": row_times(), "sample_weight": row_weights()}
    return of_model(model.fit(*training(), **given), fixed_rows())


@digested
def stack_mixed_columns() -> Arrays:
    frame, y = mixed_frame()
    model = stack(["splines_logistic", "forest", "boosting"])
    model.fit(frame[:N_TRAIN], y[:N_TRAIN])
    return of_model(model, frame[N_TRAIN:])


@digested
def student_of_a_stack() -> Arrays:
    X, y = training()
    student = stack(PAIR).fit(X, y).distill(X, y, LogisticRegression(), random_state=0)
    facts = {name: student.distilled_[name] for name in ("teacher", "student", "loss")}
    return of_model(student, fixed_rows(), **facts)


@digested
def student_of_mixed_columns() -> Arrays:
    frame, y = mixed_frame()
    frame, new, y = frame[:N_TRAIN], frame[N_TRAIN:], y[:N_TRAIN]
    teacher = stack(["splines_logistic"]).fit(frame, y)
    return of_model(teacher.distill(frame, y, cv=2, n_synthetic=200, random_state=0), new)


def promised(model: Any, X: Any = None, **given: Any) -> Arrays:
    """Fit a model with a promised threshold, with its random draws fixed."""
    table, y = training()
    model.set_params(random_state=0).fit(table if X is None else X[:N_TRAIN], y, **given)
    new = fixed_rows() if X is None else X[N_TRAIN:]
    return of_model(model, new, levels=model.decision_levels(new), n_units=model.n_units_)


@digested
def promised_fpr() -> Arrays:
    return promised(FixedFPRClassifier(LogisticRegression(), 0.1))


@digested
def promised_fpr_several_levels() -> Arrays:
    return promised(FixedFPRClassifier(LogisticRegression(), [0.1, 0.3]))


@digested
def promised_fpr_folds() -> Arrays:
    return promised(FixedFPRClassifier(LogisticRegression(), 0.1, cv=3))


@digested
def promised_fpr_groups() -> Arrays:
    return promised(FixedFPRClassifier(LogisticRegression(), 0.2), groups=row_groups(2))


@digested
def promised_fpr_strata() -> Arrays:
    X = np.column_stack([rows()[0], np.arange(len(rows()[0])) % 2])
    return promised(FixedFPRClassifier(LogisticRegression(), 0.1, strata=6), X)


@digested
def promised_fpr_time() -> Arrays:
    return promised(FixedFPRClassifier(LogisticRegression(), 0.1), time=row_times())


@digested
def promised_fpr_weighted() -> Arrays:
    model = FixedFPRClassifier(LogisticRegression(), 0.2, weighted_promise=True, max_weight=3.0)
    return promised(model, sample_weight=row_weights())


@digested
def promised_fpr_and_tpr() -> Arrays:
    return promised(FixedFPRClassifier(LogisticRegression(), 0.2, min_tpr=0.2))


@digested
def promised_tpr() -> Arrays:
    return promised(FixedTPRClassifier(LogisticRegression(), 0.8))


@digested
def promised_tpr_groups() -> Arrays:
    return promised(FixedTPRClassifier(LogisticRegression(), 0.6), groups=row_groups(2))


@digested
def promised_precision() -> Arrays:
    return promised(FixedPrecisionClassifier(LogisticRegression(), 0.3, 0.8))


@digested
def promised_precision_time() -> Arrays:
    model = FixedPrecisionClassifier(LogisticRegression(), 0.3, 0.8)
    return promised(model, time=row_times())


@digested
def promised_alerts() -> Arrays:
    return promised(AlertBudgetClassifier(LogisticRegression(), 0.2))


@digested
def promised_alerts_strata_groups() -> Arrays:
    X = np.column_stack([rows()[0], np.arange(len(rows()[0])) % 2])
    model = AlertBudgetClassifier(LogisticRegression(), 0.3, strata=6)
    return promised(model, X, groups=np.arange(N_TRAIN) % 2 + 2 * (np.arange(N_TRAIN) // 4))


def graphs() -> tuple[list[Any], list[Any]]:
    """Chains of six nodes with one feature per edge."""
    rng = np.random.default_rng(1)
    labels = [rng.random(6) < 0.5 for _ in range(12)]
    for one in labels:
        one[:2] = [True, False]
    chain = np.column_stack([np.arange(5), np.arange(1, 6)])
    listed = [
        RankingGraph(one[:, None] + rng.normal(size=(6, 2)), chain, rng.random((5, 1)))
        for one in labels
    ]
    return listed, labels


def ranked(model: Any) -> Arrays:
    """Fit a ranker of graphs on the first eight and score the others."""
    listed, labels = graphs()
    model.set_params(random_state=0).fit(listed[:8], labels[:8])
    return {
        "coef_": model.coef_,
        "edge_coef_": model.edge_coef_,
        "scores": np.concatenate(model.decision_function(listed[8:])),
        "order": np.concatenate(model.rank(listed[8:])),
    }


@digested
def ranker_auc() -> Arrays:
    return ranked(StructuredRanker())


@digested
def ranker_auc_frank_wolfe() -> Arrays:
    return ranked(StructuredRanker(solver="frank_wolfe", max_iter=30))


@digested
def label_ranker() -> Arrays:
    X, y = rows()
    truth = np.column_stack([y, X[:, 1] > 0, X[:, 2] > 1])[:200]
    return of_model(StructuredLabelRanker(random_state=0).fit(X[:200], truth), fixed_rows()[:40])


def signals() -> tuple[list[Any], list[Any]]:
    """Signals with two changes or none, half of them labelled so."""
    rng = np.random.default_rng(2)
    heights = 4.0 * (np.arange(20) % 2) + rng.normal(size=20)
    listed = [np.repeat([0.0, height, 0.0], 10) + rng.normal(size=30) for height in heights]
    return listed, [[Label(5, 15, "one" if k % 2 else "none")] for k in range(20)]


@digested
def changepoint_detector() -> Arrays:
    listed, labels = signals()
    model = SupervisedChangepointDetector(8, random_state=0).fit(listed, labels)
    found = {name: getattr(model, name) for name in ("coef_", "intercept_") if hasattr(model, name)}
    return found | {
        "log_penalty": model.predict_log_penalty(listed),
        "changes": np.concatenate(model.predict(listed)),
    }


@digested
def changepoint_detector_poisson_groups() -> Arrays:
    listed, labels = signals()
    listed = [np.rint(np.exp(0.3 * np.clip(one, 0, 6))) for one in listed]
    model = SupervisedChangepointDetector(8, loss="poisson", random_state=0)
    model.fit(listed, labels, groups=np.arange(20) // 2)
    return {"log_penalty": model.predict_log_penalty(listed)}


def interval_rows() -> tuple[np.ndarray, np.ndarray]:
    X, y = training()
    return X, np.column_stack([X[:, 0] - 0.1, np.where(y == 1, np.inf, X[:, 0] + 0.1)])


@digested
def interval_regression() -> Arrays:
    model = IntervalRegression().fit(*interval_rows(), sample_weight=row_weights())
    predicted = model.predict(fixed_rows())
    return {"coef_": model.coef_, "intercept_": model.intercept_, "predicted": predicted}


@digested
def interval_regression_cv() -> Arrays:
    model = IntervalRegressionCV(n_regularizations=8).fit(*interval_rows(), groups=row_groups())
    predicted = model.predict(fixed_rows())
    return {"coef_": model.coef_, "intercept_": model.intercept_, "predicted": predicted}


def by_command(*options: str) -> Arrays:
    """Train by ``aucuba fit`` on a csv file and read what ``aucuba predict`` writes."""
    import pandas as pd

    from aucuba.cli import main

    frame, y = mixed_frame()
    frame = frame.assign(outcome=np.where(y == 1, "bad", "good"))
    with tempfile.TemporaryDirectory() as name, contextlib.redirect_stdout(io.StringIO()):
        train, new, model, scores = (
            str(Path(name) / file)
            for file in ("train.csv", "new.csv", "model.aucuba", "scores.csv")
        )
        frame[:N_TRAIN].to_csv(train, index=False)
        frame[N_TRAIN:].to_csv(new, index=False)
        asked = ["--target", "outcome", "--pos-label", "bad", "--max-fpr", "0.2", *options]
        for words in (
            ["fit", train, *asked, "--out", model, "--json"],
            ["predict", model, new, "--out", scores, "--json"],
        ):
            if main(words):
                raise RuntimeError(f"aucuba {' '.join(words)} failed")
        written = pd.read_csv(scores)
    return {column: written[column].to_numpy() for column in written}


@digested
def command_linear() -> Arrays:
    return by_command()


@digested
def command_linear_promise() -> Arrays:
    return by_command("--promise", "fpr=0.1", "--no-probe")


@digested
def command_stack() -> Arrays:
    return by_command("--model", "stack", "--cv", "2")
