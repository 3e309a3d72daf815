"""Linear classifiers on Dask collections against the same rows in memory."""

import gc
import logging
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

pytest.importorskip("pandas")
pytest.importorskip("dask")

import dask
import dask.array as da
import dask.dataframe as dd
import pandas as pd

from aucuba import AUMClassifier, PartialAUCClassifier, PartialAUCClassifierCV, PartialAUCSVC
from aucuba.design import DaskBlocks, DaskDesign, TableDesign
from aucuba.design._dask_holders import BlockHolder, Holders, rows_of
from aucuba.linear._logistic_fit import log_loss_terms
from aucuba.persistence import save_model

# Clusters leave sockets to the garbage collector, in whatever test it runs.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")
MODELS = {
    "direct": PartialAUCClassifier(),
    "tight": PartialAUCSVC((0.0, 0.4), loss="tight"),
    "structural": PartialAUCSVC((0.0, 0.5), loss="structural"),
    "tight_dc": PartialAUCSVC((0.05, 0.4), loss="tight_dc"),
    "aum": AUMClassifier(),
    "aum_held_out": AUMClassifier(validation_fraction=0.3, random_state=0),
    "cv": PartialAUCClassifierCV((0.0, 0.4), Cs=[1.0], cv=2, random_state=0),
}


@pytest.fixture(scope="module", autouse=True)
def _in_threads():
    """A client of another test must not compute for this one."""
    with dask.config.set(scheduler="threads", num_workers=2):
        yield


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 6))
    y = (X[:, 0] + 0.5 * X[:, 1] + 0.7 * rng.normal(size=1200) > 0.9).astype(int)
    return X, y


def as_csr_blocks(X):
    return da.from_array(X, chunks=(250, -1)).map_blocks(sparse.csr_matrix)


def as_frame(X):
    return dd.from_pandas(pd.DataFrame(X, columns=list("abcdef")), npartitions=5)


KINDS = {
    "dense": lambda X: da.from_array(X, chunks=(250, 4)),
    "csr": as_csr_blocks,
    "frame": as_frame,
}


@pytest.mark.parametrize("name", [name for name in MODELS if name != "cv"])
def test_dense_blocks_equal_an_array(rows, name):
    X, y = rows
    want = clone(MODELS[name]).fit(X, y)
    got = clone(MODELS[name]).fit(KINDS["dense"](X), da.from_array(y, chunks=500))
    np.testing.assert_allclose(got.coef_, want.coef_, rtol=1e-6)
    np.testing.assert_allclose(got.threshold_, want.threshold_, rtol=1e-6)
    assert type(got.coef_) is np.ndarray


@pytest.mark.parametrize("kind", ["csr", "frame"])
@pytest.mark.parametrize("name", ["direct", "structural", "aum"])
def test_other_blocks_equal_an_array(rows, kind, name):
    X, y = rows
    want = clone(MODELS[name]).fit(X, y)
    got = clone(MODELS[name]).fit(KINDS[kind](X), y)
    np.testing.assert_allclose(got.coef_, want.coef_, rtol=1e-6)
    scores = got.decision_function(KINDS[kind](X))
    np.testing.assert_allclose(scores.compute(), want.decision_function(X), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", ["direct", "structural", "tight", "aum", "tight_dc"])
def test_csr_blocks_equal_a_csr_matrix(rows, name):
    X, y = rows
    X = np.where(np.abs(X) > 0.5, X, 0.0)
    want = clone(MODELS[name]).fit(sparse.csr_matrix(X), y)
    got = clone(MODELS[name]).fit(as_csr_blocks(X), y)
    np.testing.assert_allclose(got.coef_, want.coef_, rtol=1e-6)
    np.testing.assert_allclose(got.threshold_, want.threshold_, rtol=1e-6)
    scores = got.decision_function(as_csr_blocks(X))
    assert isinstance(scores, da.Array)
    np.testing.assert_allclose(scores.compute(), want.decision_function(X), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("kind", ["groups", "time", "both"])
def test_groups_and_times_are_gathered(rows, kind):
    X, y = rows[0][:600], rows[1][:600]
    number = np.random.default_rng(3).integers(60, size=600)
    days = np.datetime64("2026-01-01") + np.random.default_rng(4).permutation(600)
    given = {"groups": {"groups": number}, "time": {"time": days}}
    given["both"] = given["groups"] | given["time"]
    model = PartialAUCClassifierCV((0.0, 0.4), Cs=2, random_state=0)
    want = clone(model).fit(X, y, **given[kind])
    lazy = {key: dd.from_pandas(pd.Series(one), npartitions=3) for key, one in given[kind].items()}
    got = clone(model).fit(da.from_array(X, chunks=(200, -1)), y, **lazy)
    np.testing.assert_allclose(got.coef_, want.coef_, rtol=1e-6)
    np.testing.assert_allclose(got.cv_results_["log_loss"], want.cv_results_["log_loss"], rtol=1e-9)
    plain = clone(model).fit(X, y)
    assert not np.array_equal(plain.cv_results_["log_loss"], want.cv_results_["log_loss"])
    short = {key: one[:599] for key, one in given[kind].items()}
    with pytest.raises(ValueError, match="has 599 entries for 600 rows"):
        clone(model).fit(da.from_array(X, chunks=(200, -1)), y, **short)


def test_the_choice_by_cross_validation_is_the_same(rows):
    X, y = rows[0][:600], rows[1][:600]
    model = PartialAUCClassifierCV((0.0, 0.2), Cs=[1.0], cv=2, random_state=0)
    want = clone(model).fit(X, y)
    got = clone(model).fit(da.from_array(X, chunks=(200, -1)), y)
    assert got.C_ == want.C_
    assert got.blend_ == pytest.approx(want.blend_, rel=1e-6)
    np.testing.assert_allclose(got.coef_, want.coef_, rtol=1e-6)
    proba = got.predict_proba(da.from_array(X, chunks=(200, -1)))
    assert isinstance(proba, da.Array)
    np.testing.assert_allclose(proba.compute(), want.predict_proba(X), rtol=1e-6)
    # Filtered frames do not know how many rows their blocks have.
    frame = dd.from_pandas(pd.DataFrame(X), npartitions=3)
    unknown = frame[frame[0] > 0].to_dask_array()
    proba = got.predict_proba(unknown)
    np.testing.assert_allclose(proba.compute(), want.predict_proba(X[X[:, 0] > 0]), rtol=1e-6)


@pytest.mark.parametrize("name", ["direct", "tight", "aum"])
def test_weights_queries_and_single_precision(rows, name):
    X, y = rows[0].astype(np.float32), rows[1]
    rng = np.random.default_rng(1)
    options = {"sample_weight": rng.integers(0, 3, y.size).astype(float)}
    if name != "aum":
        options["qid"] = np.repeat(np.arange(6), 200)
    want = clone(MODELS[name]).fit(X, y, **options)
    lazy = {key: da.from_array(value, chunks=300) for key, value in options.items()}
    got = clone(MODELS[name]).fit(da.from_array(X, chunks=(250, -1)), y, **lazy)
    np.testing.assert_allclose(got.coef_, want.coef_, rtol=1e-5, atol=1e-9)


def test_rows_of_zero_weight_in_a_small_table(rows):
    """Few pairs are solved on the rows themselves, and then only rows of positive weight count."""
    X, y = rows[0][:60], rows[1][:60]
    weight = np.where(np.arange(60) % 3 == 0, 0.0, 1.0)
    model = PartialAUCSVC((0.0, 1.0), C=10.0)
    want = clone(model).fit(X, y, weight)
    got = clone(model).fit(da.from_array(X, chunks=(25, -1)), y, weight)
    np.testing.assert_allclose(got.coef_, want.coef_, rtol=1e-6)
    assert got.n_iter_ == want.n_iter_


def test_labels_of_text_and_of_a_frame(rows):
    X, y = rows
    named = np.where(y == 1, "bad", "good")
    model = PartialAUCSVC((0.0, 0.4), loss="tight", pos_label="bad")
    want = clone(model).fit(X, named)
    frame = as_frame(X)
    labels = dd.from_pandas(pd.Series(named), npartitions=3)
    got = clone(model).fit(frame, labels)
    np.testing.assert_allclose(got.coef_, want.coef_, rtol=1e-6)
    assert got.feature_names_in_.tolist() == list("abcdef")
    assert np.asarray(got.predict(frame)).tolist() == want.predict(X).tolist()


def test_scores_are_lazy_and_in_the_blocks_of_x(rows):
    X, y = rows
    model = PartialAUCSVC((0.0, 0.4), loss="tight").fit(X, y)
    lazy = model.decision_function(KINDS["dense"](X))
    assert isinstance(lazy, da.Array)
    assert lazy.chunks == ((250, 250, 250, 250, 200),)
    np.testing.assert_allclose(lazy.compute(), model.decision_function(X), rtol=1e-12)
    with pytest.raises(ValueError, match="7 features"):
        model.decision_function(da.zeros((10, 7)))
    bad = broken(X, 2, np.nan)
    with pytest.raises(ValueError, match="A block of X contains NaN"):
        model.decision_function(bad).compute()


WITHOUT_DASK = """
import sys
sys.modules["dask"] = sys.modules["distributed"] = None
import numpy as np
from aucuba.persistence import load_model
X, scores, *models = sys.argv[1:]
np.save(scores, [load_model(one).model.decision_function(np.load(X)) for one in models])
"""


def test_fitted_models_load_and_score_without_dask(rows, tmp_path):
    X, y = rows
    names = ["structural", "aum", "tight_dc"]
    models = [clone(MODELS[name]).fit(KINDS["dense"](X), y) for name in names]
    files = [str(tmp_path / one) for one in ("X.npy", "scores.npy", *names)]
    np.save(files[0], X)
    for file, model in zip(files[2:], models, strict=True):
        save_model(model, file)
    subprocess.run([sys.executable, "-c", WITHOUT_DASK, *files], check=True)
    want = [model.decision_function(X) for model in models]
    np.testing.assert_array_equal(np.load(files[1]), want)


def test_kernels_are_refused_and_scored(rows):
    X, y = rows[0][:300], rows[1][:300]
    blocks = da.from_array(X, chunks=(100, -1))
    model = PartialAUCSVC((0.0, 0.2), loss="tight", kernel="rbf")
    with pytest.raises(ValueError, match=r"kernel='rbf' takes arrays .* got dask"):
        model.fit(blocks, y)
    model.fit(X, y)
    got = model.decision_function(blocks).compute()
    np.testing.assert_allclose(got, model.decision_function(X), rtol=1e-9)


def test_adjoint_products_and_rows(rows):
    X = rows[0]
    rng = np.random.default_rng(2)
    g, w = rng.normal(size=(3, len(X))), rng.random(len(X))
    plain = TableDesign(X)
    taken = rng.permutation(len(X))[:500]
    for kind in KINDS:
        design = DaskDesign(KINDS[kind](X))
        np.testing.assert_allclose(design.adjoint(g), plain.adjoint(g), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(design.adjoint(list(g)), plain.adjoint(g), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(design.gram(w), plain.gram(w), rtol=1e-9)
        some, part = design.take(taken), plain.take(taken)
        np.testing.assert_allclose(some.scores(g[0, :6]), part.scores(g[0, :6]), rtol=1e-9)
        np.testing.assert_allclose(some.adjoint(g[:, :500]), part.adjoint(g[:, :500]), atol=1e-9)
        np.testing.assert_allclose(some.gram(w[:500]), part.gram(w[:500]), rtol=1e-9)
        again, want = some.take(np.arange(9)), part.take(np.arange(9))
        np.testing.assert_allclose(again.scores(g[0, :6]), want.scores(g[0, :6]), rtol=1e-9)
        few = design.some_rows(100)
        few = few.toarray() if sparse.issparse(few) else few
        np.testing.assert_array_equal(few, plain.some_rows(100))
        few = some.some_rows(100)
        few = few.toarray() if sparse.issparse(few) else few
        np.testing.assert_array_equal(few, part.some_rows(100))
        assert design.largest == plain.largest


def test_a_block_at_an_odd_address_is_moved_once(rows):
    X, _ = rows
    odd = np.frombuffer(b"123" + X.tobytes(), dtype=np.float64, offset=3).reshape(X.shape)
    table = DaskDesign.as_table(odd)
    assert not odd.flags.aligned
    assert table.flags.aligned
    np.testing.assert_array_equal(table, X)
    assert DaskDesign.as_table(X) is X


def test_some_rows_of_a_block_do_not_keep_all_of_it(rows):
    for block in (rows[0], pd.DataFrame(rows[0])):
        few = DaskDesign.as_table(rows_of(block, np.arange(0, 1200, 100)))
        assert few.shape == (12, 6)
        assert not np.shares_memory(few, DaskDesign.as_table(block))


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="Linux tells private memory")
def test_memory_that_arrow_has_kept_goes_back_after_a_pass(tmp_path):
    pytest.importorskip("pyarrow")
    table = np.random.default_rng(0).random((400_000, 40), dtype=np.float32)
    frame = pd.DataFrame(table, columns=[f"x{k}" for k in range(40)])
    for number, start in enumerate(range(0, 400_000, 50_000)):
        frame.iloc[start : start + 50_000].to_parquet(tmp_path / f"{number}.parquet")
    script = [
        "import dask, numpy as np, dask.dataframe as dd",
        "from aucuba.design import DaskDesign",
        "from benchmarks.out_of_core import private_bytes",
        "import os",
        "dask.config.set(scheduler='threads', num_workers=2)",
        f"design = DaskDesign(dd.read_parquet({str(tmp_path / '*.parquet')!r}))",
        "design.scores(np.ones(40)), design.scores(np.ones(40))",
        "import pyarrow",
        "kept = private_bytes(os.getpid())",
        "pyarrow.default_memory_pool().release_unused()",
        "print(kept - private_bytes(os.getpid()))",
    ]
    made = subprocess.run(
        [sys.executable, "-c", "\n".join(script)], check=True, capture_output=True, text=True
    )
    assert int(made.stdout) < 20e6


def test_unknown_chunks_are_counted_once_and_logged(rows, caplog):
    X, y = rows
    frame = as_frame(X)
    unknown = frame[frame["a"] > -1].to_dask_array()
    assert np.isnan(unknown.shape[0])
    kept = X[:, 0] > -1
    model = PartialAUCSVC((0.0, 0.4), loss="tight")
    with caplog.at_level(logging.INFO, "aucuba"):
        got = clone(model).fit(unknown, y[kept])
    counted = [r.getMessage() for r in caplog.records if r.name == "aucuba"]
    assert counted == [f"Counted the rows of X once: {kept.sum()} in 5 blocks."]
    np.testing.assert_allclose(got.coef_, clone(model).fit(X[kept], y[kept]).coef_, rtol=1e-6)


def test_empty_blocks_count_for_nothing(rows):
    X, y = rows
    frame = as_frame(X)
    part = frame.loc[700:]
    got = PartialAUCSVC((0.0, 0.4), loss="tight").fit(part, y[700:])
    want = PartialAUCSVC((0.0, 0.4), loss="tight").fit(X[700:], y[700:])
    np.testing.assert_allclose(got.coef_, want.coef_, rtol=1e-6)


def broken(X, block, value):
    bad = X.copy()
    bad[block * 250 + 3, 2] = value
    return da.from_array(bad, chunks=(250, -1))


def test_bad_blocks_are_named(rows):
    X, y = rows
    model = PartialAUCSVC((0.0, 0.4), loss="tight").fit(X, y)
    before = model.coef_.copy()
    for value in (np.nan, np.inf):
        with pytest.raises(ValueError, match=r"Block 3 of X contains NaN or infinite values; b"):
            model.fit(broken(X, 3, value), y)
    parts = [da.from_array(X[:250], chunks=(250, -1)), da.from_array(X[250:], chunks=(950, -1))]
    mixed = da.concatenate([parts[0], parts[1].map_blocks(np.float32, meta=parts[1]._meta)])
    with pytest.raises(ValueError, match="block 0 has dtype float64, block 1 float32"):
        model.fit(mixed, y)
    with pytest.raises(ValueError, match=r"up to 1e\+200, whose products overflow"):
        model.fit(broken(X, 1, 1e200), y)
    np.testing.assert_array_equal(model.coef_, before)


def test_bad_collections(rows):
    X, y = rows
    model = PartialAUCClassifier((0.0, 0.2))
    frame = as_frame(X).assign(city="Rome")
    with pytest.raises(ValueError, match="the column 'city' has dtype"):
        model.fit(frame, y)
    with pytest.raises(ValueError, match="dtype object"):
        model.fit(da.from_array(X.astype(object), chunks=(250, -1)), y)
    with pytest.raises(ValueError, match="two dimensions, got 1"):
        model.fit(da.from_array(y, chunks=250), y)
    with pytest.raises(ValueError, match="y has 1199 entries for 1200 rows"):
        model.fit(KINDS["dense"](X), y[1:])
    with pytest.raises(ValueError, match="n_jobs is for tables in memory"):
        PartialAUCClassifierCV(n_jobs=2, cv=2).fit(KINDS["dense"](X), y)


# A local cluster gives up a worker whose successor is not there after 15 seconds.
PATIENT = {
    "distributed.comm.timeouts.connect": "20s",
    "distributed.deploy.lost-worker-timeout": "1 hour",
}


class Cluster:
    """Two worker processes and their client."""

    def __enter__(self):
        distributed = pytest.importorskip("distributed")
        self.cluster = distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        )
        self.client = distributed.Client(self.cluster)
        return self

    def __exit__(self, *error):
        self.client.close()
        self.cluster.close()

    def wait_for_both(self):
        """Wait for the successor of a worker that was killed."""
        self.client.wait_for_workers(2, timeout=600)

    def kill_one(self):
        """Kill the first worker process as a lost machine would."""
        worker = next(iter(self.cluster.workers.values()))
        os.kill(worker.process.process.pid, signal.SIGKILL)


@pytest.fixture(scope="module")
def cluster():
    with dask.config.set(PATIENT), Cluster() as made:
        yield made
    # Sockets of killed workers warn when they are collected: here, where that is ignored.
    gc.collect()


@pytest.mark.parametrize(
    ("name", "at_pass"),
    [("direct", 2), ("structural", 2), ("aum", 2), ("cv", 20)],
)
def test_a_killed_worker_changes_no_bit(rows, cluster, monkeypatch, name, at_pass):
    X, y = rows[0][:600], rows[1][:600]
    blocks = da.from_array(X, chunks=(200, -1))
    passes, scores = [], DaskDesign.scores

    def counted(design, model):
        passes.append(design.blocks.n_passes)
        if len(passes) == dies_at:
            cluster.kill_one()
        return scores(design, model)

    monkeypatch.setattr(DaskDesign, "scores", counted)
    cluster.wait_for_both()
    dies_at = None
    want = clone(MODELS[name]).fit(blocks, y)
    np.testing.assert_allclose(want.coef_, clone(MODELS[name]).fit(X, y).coef_, rtol=1e-6)
    n_passes = len(passes)
    passes.clear()
    dies_at = at_pass
    got = clone(MODELS[name]).fit(blocks, y)
    # What is lost is computed again within its pass.
    assert len(passes) == n_passes > at_pass
    np.testing.assert_array_equal(got.coef_, want.coef_)
    assert got.threshold_ == want.threshold_


@pytest.mark.parametrize("name", ["direct", "structural", "cv"])
def test_a_pass_on_a_cluster_is_one_call_per_worker(rows, cluster, monkeypatch, name):
    X, y = rows[0][:600], rows[1][:600]
    blocks = da.from_array(X, chunks=(100, -1))
    calls, called = [], Holders._called

    def counted(holders, task, work, beside):
        calls.append(task.__name__)
        found = called(holders, task, work, beside)
        assert len(holders._actors) <= 2
        return found

    cluster.wait_for_both()
    with_tasks, tasks = [], cluster.client.submit
    monkeypatch.setattr(Holders, "_called", counted)
    monkeypatch.setattr(
        cluster.client,
        "submit",
        lambda *args, **options: with_tasks.append(args[0]) or tasks(*args, **options),
    )
    got = clone(MODELS[name]).fit(blocks, y)
    n_passes = len(calls)
    assert n_passes > 5
    # Submitted are the holders alone.
    assert set(with_tasks) == {BlockHolder}
    assert len(with_tasks) <= 2
    monkeypatch.setattr(Holders, "_fit_into_memory", lambda *given: False)
    with_tasks.clear(), calls.clear()
    want = clone(MODELS[name]).fit(blocks, y)
    assert len(with_tasks) >= 6 * n_passes
    assert not calls
    np.testing.assert_array_equal(got.coef_, want.coef_)


def test_blocks_too_large_for_the_memory_of_their_worker_are_not_held(rows, cluster, monkeypatch):
    cluster.wait_for_both()
    blocks = DaskBlocks(da.from_array(rows[0], chunks=(300, -1)), hold=True)
    assert blocks.run(len) == [300] * 4
    assert blocks._holders._actors
    monkeypatch.setattr("aucuba.design._dask_holders._PART_OF_MEMORY", 1e-9)
    blocks = DaskBlocks(da.from_array(rows[0], chunks=(300, -1)), hold=True)
    assert blocks.run(len) == [300] * 4
    assert not blocks._holders._actors


def test_columns_beside_the_rows_are_sent_once_and_again_after_many_others(rows, cluster):
    cluster.wait_for_both()
    X, y = rows[0], rows[1] == 1
    design, model = DaskDesign(da.from_array(X, chunks=(250, -1))), np.linspace(-1, 1, 7)
    sets = [np.random.default_rng(k).random(len(X)) for k in range(5)]
    beside = [design.beside(y, weight) for weight in sets]
    for k in (0, 1, 0, 2, 3, 4, 0, 1):
        value, residual, curvature = log_loss_terms(X @ model[:-1] + model[-1], y, sets[k])
        found, gradient = beside[k].risk(log_loss_terms, model)
        assert found == pytest.approx(value, rel=1e-12)
        np.testing.assert_allclose(gradient, np.append(residual @ X, residual.sum()), rtol=1e-9)
        wide = np.column_stack([X, np.ones(len(X))])
        second = beside[k].second_derivative(log_loss_terms, model)
        np.testing.assert_allclose(
            second, (wide * curvature[:, None]).T @ wide, rtol=1e-9, atol=1e-9
        )


def test_a_client_that_is_closed_during_a_fit_is_one_error(rows, cluster, monkeypatch):
    distributed = pytest.importorskip("distributed")
    X, y = rows
    other = distributed.Client(cluster.cluster, set_as_default=True)
    scores = DaskDesign.scores

    def closing(design, model):
        other.close()
        return scores(design, model)

    monkeypatch.setattr(DaskDesign, "scores", closing)
    model = PartialAUCSVC((0.0, 0.4), loss="tight")
    with pytest.raises(RuntimeError, match="The Dask client that holds X is closed"):
        model.fit(KINDS["dense"](X), y)
    assert not hasattr(model, "coef_")


def test_blocks_of_a_client_that_is_closed_are_one_error(rows):
    distributed = pytest.importorskip("distributed")
    X, y = rows
    with distributed.Client(processes=False, n_workers=1, dashboard_address=":0"):
        held = KINDS["dense"](X).persist()
    with pytest.raises(RuntimeError, match="Blocks of X are lost: the Dask client"):
        PartialAUCSVC((0.0, 0.4), loss="tight").fit(held, y)


@pytest.mark.parametrize("name", ["structural", "cv"])
def test_a_cluster_that_has_lost_all_its_workers_is_one_error(rows, monkeypatch, name):
    distributed = pytest.importorskip("distributed")
    X, y = rows[0][:600], rows[1][:600]
    scores, passes = DaskDesign.scores, []
    with (
        dask.config.set({"aucuba.lost-worker-timeout": 0}),
        distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=":0") as made,
        distributed.Client(made) as client,
    ):

        def stopping(design, model):
            passes.append(model)
            if len(passes) == 2:
                made.scale(0)
                while client.nthreads():
                    time.sleep(0.01)
            return scores(design, model)

        monkeypatch.setattr(DaskDesign, "scores", stopping)
        model = clone(MODELS[name])
        with pytest.raises(RuntimeError, match=r"has no workers, and none came within 0 seconds"):
            model.fit(da.from_array(X, chunks=(200, -1)), y)
    assert len(passes) == 2
    assert not hasattr(model, "coef_")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["memmap", "parquet"])
@pytest.mark.parametrize("model", ["structural", "direct"])
def test_private_memory_of_a_fit_out_of_core(tmp_path, kind, model):
    from benchmarks.out_of_core import LIMIT_GB, N_ROWS, measured, write_table

    n_rows = int(os.environ.get("AUCUBA_OUT_OF_CORE_ROWS", N_ROWS))
    write_table(tmp_path, n_rows)
    assert float(measured(tmp_path, n_rows, kind, model)["private_gb"]) < LIMIT_GB
