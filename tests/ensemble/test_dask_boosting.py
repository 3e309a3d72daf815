"""Re-weighted boosting on Dask collections against the same rows in memory."""

import gc
import logging
import os
import signal
import threading

import numpy as np
import pytest

pytest.importorskip("pandas")
pytest.importorskip("distributed")

import dask
import dask.array as da
import dask.dataframe as dd
import pandas as pd
from distributed import Client, LocalCluster
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from aucuba._base._parallel import draw_seed
from aucuba._rows._splits import fold_numbers
from aucuba.design import DaskBlocks
from aucuba.ensemble import RegionReweighted, RegionStack
from aucuba.ensemble._dask_table import Part, XGBoostOnDask, _groups_with_both_classes
from tests.ensemble.killing import (
    WATCHDOG_S,
    Killing,
    Waiting,
    lightgbm_objective,
    wait_for,
    xgboost_callback,
)

BAND = (0.0, 0.2)
ROUNDS = {"n_estimators": 6, "max_depth": 3, "learning_rate": 0.3}
# A local cluster gives up a worker whose successor is not there after 15 seconds.
PATIENT = {
    "distributed.comm.timeouts.connect": "20s",
    "distributed.deploy.lost-worker-timeout": "1 hour",
}
# Libraries of boosting warn of their own affairs.
pytestmark = [
    pytest.mark.filterwarnings("ignore::UserWarning:xgboost"),
    pytest.mark.filterwarnings("ignore::UserWarning:lightgbm"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]


def rows(n=2000, seed=0):
    """Integer features of few values, so that all ways of binning agree."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 50, size=(n, 5)).astype(np.float32)
    y = (X[:, 0] + 0.5 * X[:, 1] + 8 * rng.normal(size=n) > 55).astype(int)
    return X, y


@pytest.fixture(scope="module")
def cluster():
    with (
        dask.config.set(PATIENT),
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as made,
        Client(made) as client,
    ):
        yield made, client
    # Sockets of killed workers warn when they are collected: here, where that is ignored.
    gc.collect()


def folds_of(n, cv, seed):
    number = fold_numbers(np.arange(n), cv, seed)
    return [(np.flatnonzero(number != k), np.flatnonzero(number == k)) for k in range(cv)]


def test_folds_do_not_depend_on_anything_but_row_and_seed():
    whole = fold_numbers(np.arange(100_000), 5, 7)
    np.testing.assert_array_equal(fold_numbers(np.arange(500, 900), 5, 7), whole[500:900])
    assert np.abs(np.bincount(whole) / 20_000 - 1).max() < 0.03
    assert np.mean(fold_numbers(np.arange(100_000), 5, 8) == whole) == pytest.approx(0.2, abs=0.01)


@pytest.mark.parametrize("weighted", [False, True])
def test_xgboost_equals_the_fit_in_memory(cluster, weighted):
    xgboost = pytest.importorskip("xgboost")
    dask_xgboost = pytest.importorskip("xgboost.dask")
    X, y = rows(1000)
    weight = np.random.default_rng(1).integers(0, 3, y.size).astype(float) if weighted else None
    splits = folds_of(y.size, 2, draw_seed(0))
    want = RegionReweighted(
        xgboost.XGBClassifier(**ROUNDS, n_jobs=1, tree_method="hist"),
        BAND,
        cv=splits,
        random_state=0,
    ).fit(X, y, weight)
    model = RegionReweighted(
        dask_xgboost.DaskXGBClassifier(**ROUNDS, tree_method="hist"), BAND, cv=2, random_state=0
    )
    lazy = None if weight is None else da.from_array(weight, chunks=300)
    got = model.fit(da.from_array(X, chunks=(450, 3)), da.from_array(y, chunks=700), lazy)
    np.testing.assert_allclose(got.decision_function(X), want.decision_function(X), atol=1e-4)
    np.testing.assert_allclose(got.oof_scores_, want.oof_scores_, atol=1e-4)
    np.testing.assert_allclose(got.weights_, want.weights_, atol=1e-4)
    np.testing.assert_allclose(got.predict_proba(X), want.predict_proba(X), atol=1e-4)
    later = got.decision_function(da.from_array(X, chunks=(300, -1)))
    assert isinstance(later, da.Array)
    np.testing.assert_allclose(later.compute(), got.decision_function(X), atol=1e-6)
    assert type(got.estimator_) is xgboost.XGBClassifier


def test_frames_and_another_chunking_give_the_same_model(cluster):
    dask_xgboost = pytest.importorskip("xgboost.dask")
    X, y = rows(800)
    frame = pd.DataFrame(X, columns=list("abcde"))

    def fitted(table):
        booster = dask_xgboost.DaskXGBClassifier(**ROUNDS, tree_method="hist")
        return RegionReweighted(booster, BAND, cv=2, random_state=0).fit(table, y)

    arrays = fitted(da.from_array(X, chunks=(300, -1)))
    frames = fitted(dd.from_pandas(frame, npartitions=4))
    np.testing.assert_allclose(
        frames.decision_function(frame), arrays.decision_function(X), atol=1e-4
    )
    assert frames.feature_names_in_.tolist() == list("abcde")
    lazy = frames.decision_function(dd.from_pandas(frame, npartitions=3))
    np.testing.assert_allclose(lazy.compute(), frames.decision_function(frame), atol=1e-6)


@pytest.mark.parametrize("package", ["xgboost", "lightgbm"])
def test_csr_blocks_equal_a_csr_matrix(cluster, package):
    of_dask = pytest.importorskip(f"{package}.dask")
    plain = pytest.importorskip(package)
    X, y = rows(1000)
    X = np.where(X > 10, X, 0)
    options = {"n_estimators": 5, "max_depth": 3, "min_child_samples": 5, "verbose": -1}
    if package == "xgboost":
        options = {"n_estimators": 5, "max_depth": 3, "tree_method": "hist"}
    name = {"xgboost": "XGBClassifier", "lightgbm": "LGBMClassifier"}[package]
    local = getattr(plain, name)(**options, n_jobs=1)
    splits = folds_of(y.size, 2, draw_seed(0))
    want = RegionReweighted(local, BAND, cv=splits, random_state=0).fit(sparse.csr_matrix(X), y)
    spread = getattr(of_dask, f"Dask{name}")(**options)
    blocks = da.from_array(X, chunks=(300, -1)).map_blocks(sparse.csr_matrix)
    got = RegionReweighted(spread, BAND, cv=2, random_state=0).fit(blocks, y)
    scores = [one.decision_function(sparse.csr_matrix(X)) for one in (got, want)]
    assert np.corrcoef(scores)[0, 1] > (0.9999 if package == "xgboost" else 0.97)
    np.testing.assert_allclose(got.decision_function(blocks).compute(), scores[0], atol=1e-6)


@pytest.mark.parametrize("kind", ["groups", "time", "splits"])
def test_groups_times_and_splits_are_those_in_memory(cluster, kind):
    xgboost = pytest.importorskip("xgboost")
    dask_xgboost = pytest.importorskip("xgboost.dask")
    X, y = rows(1000)
    rng = np.random.default_rng(2)
    # Splits of rows in no order are as good as others.
    halves = np.split(rng.permutation(y.size), 2)
    cv = [(halves[0], halves[1]), (halves[1], halves[0])] if kind == "splits" else 2
    given = {"groups": rng.integers(100, size=y.size), "time": rng.permutation(y.size) // 2}
    given = {} if kind == "splits" else {kind: given[kind]}
    plain = xgboost.XGBClassifier(**ROUNDS, n_jobs=1, tree_method="hist")
    want = RegionReweighted(plain, BAND, cv=cv, random_state=0).fit(X, y, **given)
    booster = dask_xgboost.DaskXGBClassifier(**ROUNDS, tree_method="hist")
    lazy = {key: dd.from_pandas(pd.Series(one), npartitions=3) for key, one in given.items()}
    got = RegionReweighted(booster, BAND, cv=cv, random_state=0)
    got.fit(da.from_array(X, chunks=(300, -1)), y, **lazy)
    np.testing.assert_allclose(got.oof_scores_, want.oof_scores_, atol=1e-4)
    np.testing.assert_allclose(got.decision_function(X), want.decision_function(X), atol=1e-4)
    assert np.isnan(got.oof_scores_).any() == (kind == "time")


def test_unknown_chunks_are_counted_once_and_logged(cluster, caplog):
    dask_xgboost = pytest.importorskip("xgboost.dask")
    X, y = rows(600)
    frame = dd.from_pandas(pd.DataFrame(X, columns=list("abcde")), npartitions=3)
    unknown = frame[frame["a"] > 4].to_dask_array()
    assert np.isnan(unknown.shape[0])
    kept = X[:, 0] > 4
    booster = dask_xgboost.DaskXGBClassifier(n_estimators=2)
    model = RegionReweighted(booster, BAND, cv=2, random_state=0)
    with caplog.at_level(logging.INFO, "aucuba"):
        model.fit(unknown, y[kept])
    counted = [r.getMessage() for r in caplog.records if r.name == "aucuba"]
    assert counted == [f"Counted the rows of X once: {kept.sum()} in 3 blocks."]
    assert model.oof_scores_.shape == (kept.sum(),)


def test_lightgbm_on_rows_sorted_by_class(cluster):
    dask_lightgbm = pytest.importorskip("lightgbm.dask")
    lightgbm = pytest.importorskip("lightgbm")
    X, y = rows()
    order = np.argsort(-y, kind="stable")
    X, y = X[order], y[order]
    options = {"n_estimators": 10, "num_leaves": 7, "verbose": -1, "n_jobs": 1}
    booster = dask_lightgbm.DaskLGBMClassifier(**options)
    got = RegionReweighted(booster, BAND, cv=2, random_state=0)
    got.fit(da.from_array(X, chunks=(150, -1)), y)
    want = RegionReweighted(
        lightgbm.LGBMClassifier(**options),
        BAND,
        cv=folds_of(y.size, 2, draw_seed(0)),
        random_state=0,
    ).fit(X, y)
    assert type(got.estimator_) is lightgbm.LGBMClassifier
    both = np.corrcoef(got.decision_function(X), want.decision_function(X))[0, 1]
    assert both > 0.99


def test_a_worker_that_would_lack_a_class_is_one_error(cluster):
    dask_lightgbm = pytest.importorskip("lightgbm.dask")
    X, y = rows(600)
    order = np.argsort(-y, kind="stable")
    model = RegionReweighted(dask_lightgbm.DaskLGBMClassifier(n_estimators=2), BAND, cv=2)
    model.threshold_ = "as before"
    with pytest.raises(ValueError, match="both classes on each of 2 workers, and the 2 blocks"):
        model.fit(da.from_array(X[order], chunks=(300, -1)), y[order])
    assert model.threshold_ == "as before"
    assert not hasattr(model, "classes_")


def part(n_positives, n_negatives):
    return Part(None, np.repeat([1, 0], [n_positives, n_negatives]), None)


def test_parts_are_dealt_so_that_every_group_has_both_classes():
    parts = [part(0, 50), part(0, 50), part(5, 45), part(0, 50), part(1, 49)]
    groups = _groups_with_both_classes(parts, 2)
    assert sorted(number for group in groups for number in group) == list(range(5))
    for group in groups:
        assert any(parts[number].y.any() for number in group)
    with pytest.raises(ValueError, match="both classes on each of 2 workers, and the 3 blocks"):
        _groups_with_both_classes([part(0, 9), part(3, 3), part(0, 9)], 2)


def test_a_stack_is_for_tables_in_memory():
    X, y = rows(200)
    with pytest.raises(
        ValueError, match="RegionStack takes tables in memory, got a Dask collection"
    ):
        RegionStack().fit(da.from_array(X, chunks=(100, -1)), y)


def test_bad_input(cluster):
    dask_xgboost = pytest.importorskip("xgboost.dask")
    X, y = rows(400)
    blocks = da.from_array(X, chunks=(100, -1))
    booster = dask_xgboost.DaskXGBClassifier(**ROUNDS)
    with pytest.raises(ValueError, match=r"takes xgboost.dask.* got LogisticRegression"):
        RegionReweighted(LogisticRegression(), BAND).fit(blocks, y)
    with pytest.raises(ValueError, match="n_jobs is for tables in memory"):
        RegionReweighted(booster, BAND, n_jobs=2).fit(blocks, y)
    with pytest.raises(ValueError, match="groups has 399 entries for 400 rows"):
        RegionReweighted(booster, BAND).fit(blocks, y, groups=y[1:])
    with pytest.raises(ValueError, match="y has 399 entries for 400 rows"):
        RegionReweighted(booster, BAND).fit(blocks, y[1:])
    with pytest.raises(ValueError, match="at least two folds and two rows of each class; got cv=1"):
        RegionReweighted(booster, BAND, cv=1).fit(blocks, y)


def test_fewer_rows_to_train_on(cluster):
    dask_xgboost = pytest.importorskip("xgboost.dask")
    X, y = rows(1000)
    booster = dask_xgboost.DaskXGBClassifier(**ROUNDS, tree_method="hist")
    model = RegionReweighted(booster, BAND, cv=2, max_rows=400, random_state=0)
    model.fit(da.from_array(X, chunks=(450, -1)), y)
    assert np.isfinite(model.oof_scores_).all()
    assert model.decision_function(X).shape == y.shape


def test_without_a_cluster_there_is_one_error(monkeypatch):
    dask_xgboost = pytest.importorskip("xgboost.dask")
    X, y = rows(200)

    def no_client():
        raise ValueError("No clients found")

    monkeypatch.setattr("distributed.default_client", no_client)
    model = RegionReweighted(dask_xgboost.DaskXGBClassifier(**ROUNDS), BAND)
    with pytest.raises(RuntimeError, match=r"needs a cluster: open a distributed\.Client"):
        model.fit(da.from_array(X, chunks=(100, -1)), y)


def test_blocks_of_a_client_that_is_closed_are_one_error():
    dask_xgboost = pytest.importorskip("xgboost.dask")
    X, y = rows(400)
    options = {"processes": False, "n_workers": 1, "dashboard_address": ":0"}
    with Client(**options):
        held = da.from_array(X, chunks=(100, -1)).persist()
    model = RegionReweighted(dask_xgboost.DaskXGBClassifier(n_estimators=2), BAND, cv=2)
    with (
        Client(**options),
        pytest.raises(RuntimeError, match="Blocks of X are lost: the Dask client"),
    ):
        model.fit(held, y)
    assert not hasattr(model, "classes_")


@pytest.mark.parametrize("when", ["before", "during"])
def test_a_client_that_is_closed_in_a_boosted_fit_is_one_error(monkeypatch, tmp_path, when):
    dask_xgboost = pytest.importorskip("xgboost.dask")
    X, y = rows(400)
    hold = Waiting(tmp_path)
    booster = dask_xgboost.DaskXGBClassifier(n_estimators=4, callbacks=[xgboost_callback(hold)])
    model = RegionReweighted(booster, BAND, cv=2)
    # A client in a with statement is the one in use, whatever others are open.
    with (
        LocalCluster(n_workers=1, processes=False, dashboard_address=":0") as made,
        Client(made) as client,
    ):
        arranged = XGBoostOnDask.arranged

        def closed_when_training():
            wait_for(hold.started)
            client.close()

        def closing(self, given, parts):
            if when == "before":
                client.close()
            else:
                threading.Thread(target=closed_when_training, daemon=True).start()
            return arranged(self, given, parts)

        monkeypatch.setattr(XGBoostOnDask, "arranged", closing)
        with pytest.raises(RuntimeError, match="The Dask client that holds X is clos"):
            model.fit(da.from_array(X, chunks=(100, -1)), y)
        hold.release.touch()
    assert hold.started.exists() == (when == "during")
    assert not hasattr(model, "classes_")


def killed_fit(booster):
    """Fit with a booster that kills a worker; return the error, after which nothing has changed."""
    X, y = rows(400)
    model = RegionReweighted(booster, BAND, cv=2, random_state=0)
    model.threshold_ = "as before"
    with pytest.raises(RuntimeError, match="A Dask worker was lost during a boosted fit") as error:
        model.fit(da.from_array(X, chunks=(100, -1)), y)
    assert model.threshold_ == "as before"
    assert not hasattr(model, "estimator_")
    return error.value


@pytest.mark.parametrize("package", ["xgboost", "lightgbm"])
def test_a_worker_killed_during_a_boosted_fit_is_one_error(cluster, tmp_path, package):
    of_dask = pytest.importorskip(f"{package}.dask")
    strike = Killing(tmp_path)
    if package == "xgboost":
        booster = of_dask.DaskXGBClassifier(n_estimators=4, callbacks=[xgboost_callback(strike)])
    else:
        booster = of_dask.DaskLGBMClassifier(
            n_estimators=4, num_leaves=4, verbose=-1, objective=lightgbm_objective(strike)
        )
    killed_fit(booster)
    assert strike.victim.exists()


def test_a_worker_killed_while_rows_are_scored_changes_nothing(cluster, monkeypatch):
    dask_xgboost = pytest.importorskip("xgboost.dask", reason="it is of the boosting extra")
    made, client = cluster
    X, y = rows(400)
    blocks = da.from_array(X, chunks=(100, -1))
    booster = dask_xgboost.DaskXGBClassifier(**ROUNDS, tree_method="hist")
    model = RegionReweighted(booster, BAND, cv=2, random_state=0)
    client.wait_for_workers(2, timeout=WATCHDOG_S)
    want = clone(model).fit(blocks, y)
    run, struck = DaskBlocks.run, []

    def striking(self, task, *common, parts=None):
        if task.__name__ == "_scores" and not struck:
            struck.append(next(iter(made.workers.values())).process.process.pid)
            os.kill(struck[0], signal.SIGKILL)
        return run(self, task, *common, parts=parts)

    monkeypatch.setattr(DaskBlocks, "run", striking)
    got = clone(model).fit(blocks, y)
    assert struck
    np.testing.assert_allclose(got.oof_scores_, want.oof_scores_, atol=1e-4)


def test_a_boosted_fit_that_waits_for_a_lost_worker_ends_at_the_time_limit(tmp_path):
    dask_xgboost = pytest.importorskip("xgboost.dask")
    strike = Killing(tmp_path, others_wait=True)
    booster = dask_xgboost.DaskXGBClassifier(n_estimators=4, callbacks=[xgboost_callback(strike)])
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with (
        dask.config.set({"aucuba.lost-worker-timeout": "500ms"}),
        LocalCluster(**options, processes=True) as made,
        Client(made),
    ):
        # No successor is started, whose error would end the fit before the limit.
        for nanny in made.workers.values():
            nanny.close_gracefully()
        error = killed_fit(booster)
        # Had boosting ended by itself, its own error would be the cause.
        assert error.__cause__ is None
        assert not strike.release.exists()
        strike.release.touch()


def test_a_cluster_that_has_lost_all_its_workers_is_one_error():
    X, y = rows(200)
    with (
        dask.config.set({"aucuba.lost-worker-timeout": 0.5}),
        LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as made,
        Client(made),
    ):
        dask_xgboost = pytest.importorskip("xgboost.dask")
        model = RegionReweighted(dask_xgboost.DaskXGBClassifier(n_estimators=2), BAND, cv=2)
        with pytest.raises(
            RuntimeError, match=r"has no workers, and none came within 0\.5 seconds"
        ):
            model.fit(da.from_array(X, chunks=(100, -1)), y)


@pytest.mark.parametrize("limit", ["soon", -1, None])
def test_a_bad_time_limit_is_named(cluster, limit):
    dask_xgboost = pytest.importorskip("xgboost.dask")
    X, y = rows(200)
    model = RegionReweighted(dask_xgboost.DaskXGBClassifier(n_estimators=2), BAND, cv=2)
    with (
        dask.config.set({"aucuba.lost-worker-timeout": limit}),
        pytest.raises(ValueError, match=r"aucuba.lost-worker-timeout .* such as '20s', got"),
    ):
        model.fit(da.from_array(X, chunks=(100, -1)), y)
