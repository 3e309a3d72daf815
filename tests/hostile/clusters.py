"""Workers of a Dask cluster killed at random passes of a fit.

A case is one fit of which a worker is killed before or during one pass. It is wrong where the model is
another than without the loss, or where the fit fails with anything but one error that leaves the
estimator as it was.
"""

import os
import signal
import threading
import warnings
from contextlib import contextmanager

import numpy as np
import pytest

from aucuba import AUMClassifier, FixedFPRClassifier, PartialAUCClassifier, PartialAUCSVC

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

from aucuba.design import DaskBlocks  # noqa: E402

# A local cluster gives up a worker whose successor is not there after 15 seconds.
PATIENT = {
    "distributed.comm.timeouts.connect": "20s",
    "distributed.deploy.lost-worker-timeout": "1 hour",
}
MODELS = (
    lambda: PartialAUCClassifier((0.0, 0.3), max_iter=30),
    lambda: PartialAUCSVC((0.0, 0.3), tol=1e-2),
    lambda: AUMClassifier(max_iter=5, random_state=0),
    lambda: FixedFPRClassifier(PartialAUCClassifier((0.0, 0.3)), 0.2, cv=0.4, random_state=0),
)


@contextmanager
def local_cluster():
    """Two workers in processes of their own, which a nanny starts again."""
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with (
        dask.config.set(PATIENT),
        distributed.LocalCluster(**options, processes=True) as made,
        distributed.Client(made) as client,
    ):
        yield made, client


def check_killed(cluster, seed):
    """Fit with and without the loss of a worker."""
    made, client = cluster
    rng, build = np.random.default_rng(seed), MODELS[seed % len(MODELS)]
    X = rng.normal(size=(600, 4))
    y = (X[:, 0] + rng.normal(size=600) > 0.7).astype(int)
    rows = dask.array.from_array(X, chunks=(int(rng.choice([100, 150, 300])), -1))
    client.wait_for_workers(2, timeout=60)
    want, n_passes = _fitted(build(), rows, y, made, None, 0.0)
    delay = float(rng.choice([0.0, 0.0, 0.005, 0.05]))
    moment = int(rng.integers(1, n_passes + 1))
    model = build()
    try:
        got, _ = _fitted(model, rows, y, made, (moment, int(rng.integers(2))), delay)
    except RuntimeError as error:
        if "\n" in str(error) or hasattr(model, "classes_"):
            raise AssertionError("more than one line, or a model that is left") from error
        return
    np.testing.assert_allclose(
        got.decision_function(X), want.decision_function(X), rtol=1e-6, atol=1e-8
    )


def _fitted(model, rows, y, made, strike, delay):
    """Fit, killing a worker at one pass; return the model and the number of passes."""
    run, count = DaskBlocks.run, 0

    def striking(self, *given, **options):
        nonlocal count
        count += 1
        if strike is not None and count == strike[0]:
            workers = list(made.workers.values())
            victim = workers[strike[1] % len(workers)].process.process.pid
            threading.Timer(delay, os.kill, (victim, signal.SIGKILL)).start()
            if not delay:
                threading.Event().wait(0.02)
        return run(self, *given, **options)

    DaskBlocks.run = striking
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return model.fit(rows, y), count
    finally:
        DaskBlocks.run = run
