"""Objectives for boosting: gradients by finite differences, queries, and runs end to end."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aucuba.metrics import partial_auc_score
from aucuba.objectives import PartialAUCMetric, PartialAUCObjective
from tests.ensemble.data import numbers

RANGE = (0.1, 0.6)


def sample(seed, n_rows=24):
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) % 3 == 0
    return y, rng.normal(size=n_rows), rng.integers(1, 4, size=n_rows).astype(float)


@pytest.mark.parametrize("surrogate", ["tight", "direct"])
@pytest.mark.parametrize("grouped", [False, True])
@given(seed=st.integers(0, 50))
def test_gradient_by_finite_differences(surrogate, grouped, seed):
    y, score, weight = sample(seed)
    group = [9, 15] if grouped else None
    objective = PartialAUCObjective(RANGE, surrogate)
    gradient, curvature = objective(y, score, weight, group)
    risk, step = objective.risk(y, weight, group), 1e-6
    numeric = [
        (risk.value_and_gradient(score + move)[0] - risk.value_and_gradient(score - move)[0])
        / (2 * step)
        for move in step * np.eye(score.size)
    ]
    assert gradient == pytest.approx(np.array(numeric) * weight.sum() / 4, abs=3e-4)
    assert np.all(curvature > 0)


def test_a_newton_step_is_bounded():
    y, score, _ = sample(0)
    gradient, curvature = PartialAUCObjective((0.0, 0.05), step=0.5)(y, 100 * score)
    assert np.all(np.abs(gradient / curvature) <= 0.5)


@pytest.mark.parametrize("surrogate", ["tight", "direct"])
@pytest.mark.parametrize("grouped", [False, True])
@given(seed=st.integers(0, 20))
def test_weights_are_replication_in_gradient_and_curvature(surrogate, grouped, seed):
    y, score, weight = sample(seed)
    weight[[2, 5, 12]] = 0.0
    sizes = np.array([9, 15]) if grouped else None
    copies = np.repeat(np.arange(y.size), weight.astype(int))
    repeated = [int(weight[:9].sum()), int(weight[9:].sum())] if grouped else None
    objective = PartialAUCObjective(RANGE, surrogate)
    one = objective(y, score, weight, sizes)
    many = objective(y[copies], score[copies], None, repeated)
    for weighted, parts in zip(one, many, strict=True):
        assert weighted == pytest.approx(np.bincount(copies, parts, minlength=y.size))


def test_a_query_without_weight_does_not_count():
    y, score, weight = sample(3)
    weight[:9] = 0.0
    objective = PartialAUCObjective(RANGE)
    gradient, curvature = objective(y, score, weight, [9, 15])
    alone = objective(y[9:], score[9:], weight[9:])
    assert np.all(gradient[:9] == 0)
    assert np.all(curvature[:9] == 0)
    assert gradient[9:] == pytest.approx(alone[0])
    assert curvature[9:] == pytest.approx(alone[1])


def test_queries_count_alike():
    y, score, _ = sample(1)
    metric = PartialAUCMetric(RANGE)
    parts = [
        partial_auc_score(y[rows], score[rows], fpr_range=RANGE)
        for rows in (slice(0, 9), slice(9, 24))
    ]
    assert metric(y, score, group=[9, 15]) == pytest.approx(np.mean(parts))


def test_bad_input():
    y, score, _ = sample(0)
    with pytest.raises(ValueError, match="add up to 5, for 24 rows"):
        PartialAUCObjective()(y, score, group=[2, 3])
    with pytest.raises(ValueError, match="one class"):
        PartialAUCObjective()(np.ones(3), np.zeros(3))
    with pytest.raises(ValueError, match="surrogate"):
        PartialAUCObjective(surrogate="hinge")
    with pytest.raises(ValueError, match="step"):
        PartialAUCObjective(step=0.0)
    with pytest.raises(ValueError, match="fpr_range"):
        PartialAUCMetric((0.0, 5.0))


def test_lightgbm_end_to_end():
    lightgbm = pytest.importorskip("lightgbm")
    X, y = numbers(400)
    objective, metric = PartialAUCObjective((0.0, 0.2)), PartialAUCMetric((0.0, 0.2))
    train = lightgbm.Dataset(X[:300], y[:300].astype(float))
    test = lightgbm.Dataset(X[300:], y[300:].astype(float), reference=train)
    history = {}
    params = {"objective": objective.native, "verbosity": -1, "num_threads": 1}
    booster = lightgbm.train(
        params,
        train,
        20,
        valid_sets=[test],
        feval=metric.native,
        callbacks=[lightgbm.record_evaluation(history)],
    )
    values = history["valid_0"]["auc_partial"]
    raw = booster.predict(X[300:])
    assert values[-1] == pytest.approx(partial_auc_score(y[300:], raw, fpr_range=(0.0, 0.2)))
    assert values[-1] > 0.3
    model = lightgbm.LGBMClassifier(n_estimators=20, objective=objective, n_jobs=1, verbose=-1)
    assert model.fit(X[:300], y[:300]).predict(X[300:], raw_score=True) == pytest.approx(raw)


def test_lightgbm_queries():
    lightgbm = pytest.importorskip("lightgbm")
    X, y = numbers(200)
    data = lightgbm.Dataset(X, y.astype(float), group=[80, 120], weight=np.ones(200)).construct()
    objective = PartialAUCObjective((0.0, 0.2))
    got = objective.native(X[:, 0], data)[0]
    assert got == pytest.approx(objective(y, X[:, 0], None, [80, 120])[0])


def test_xgboost_end_to_end():
    xgboost = pytest.importorskip("xgboost")
    X, y = numbers(400)
    objective, metric = PartialAUCObjective((0.0, 0.2)), PartialAUCMetric((0.0, 0.2))
    train, test = xgboost.DMatrix(X[:300], y[:300]), xgboost.DMatrix(X[300:], y[300:])
    history = {}
    params = {"disable_default_eval_metric": True, "nthread": 1, "base_score": 0.0}
    booster = xgboost.train(
        params,
        train,
        20,
        obj=objective.native,
        custom_metric=metric.xgboost,
        evals=[(test, "test")],
        evals_result=history,
        verbose_eval=False,
        maximize=True,
    )
    raw = booster.predict(test, output_margin=True)
    expected = partial_auc_score(y[300:], raw, fpr_range=(0.0, 0.2))
    assert history["test"]["auc_partial"][-1] == pytest.approx(expected, abs=1e-6)
    assert expected > 0.3
    model = xgboost.XGBClassifier(
        n_estimators=20, objective=objective, eval_metric=metric, n_jobs=1, base_score=0.0
    )
    scores = model.fit(X[:300], y[:300]).predict(X[300:], output_margin=True)
    assert np.corrcoef(scores, raw)[0, 1] > 0.9


def test_xgboost_queries():
    xgboost = pytest.importorskip("xgboost")
    X, y = numbers(200)
    data = xgboost.DMatrix(X, y)
    data.set_group([80, 120])
    objective = PartialAUCObjective((0.0, 0.2))
    got = objective.native(X[:, 0], data)[0]
    assert got == pytest.approx(objective(y, X[:, 0], None, [80, 120])[0])


def test_xgboost_weights():
    xgboost = pytest.importorskip("xgboost")
    X, y = numbers(300)
    weight = np.random.default_rng(0).integers(0, 3, 300).astype(float)
    objective, metric = PartialAUCObjective((0.0, 0.2)), PartialAUCMetric((0.0, 0.2))
    settings = {"n_estimators": 5, "n_jobs": 1, "base_score": 0.0, "eval_metric": metric}
    model = xgboost.XGBClassifier(objective=objective, **settings)
    model.fit(
        *(X, y),
        sample_weight=weight,
        eval_set=[(X, y)],
        sample_weight_eval_set=[weight],
        verbose=False,
    )
    value = partial_auc_score(
        y, model.predict(X, output_margin=True), fpr_range=(0.0, 0.2), sample_weight=weight
    )
    assert model.evals_result()["validation_0"]["auc_partial"][-1] == pytest.approx(value, abs=1e-6)
    data = xgboost.DMatrix(X, y)
    data.set_group([100, 200])
    data.set_weight([1.0, 2.0])
    got = objective.native(X[:, 0], data)[0]
    by_row = np.repeat([1.0, 2.0], [100, 200])
    assert got == pytest.approx(objective(y, X[:, 0], by_row, [100, 200])[0])


def test_xgboost_keeps_the_best_round():
    xgboost = pytest.importorskip("xgboost")
    X, y = numbers(600)
    model = xgboost.XGBClassifier(
        n_estimators=40, eval_metric=PartialAUCMetric((0.0, 0.2)), early_stopping_rounds=5, n_jobs=1
    )
    model.fit(X[:300], y[:300], eval_set=[(X[300:], y[300:])], verbose=False)
    history = model.evals_result()["validation_0"]["auc_partial"]
    assert model.best_iteration == int(np.argmax(history)) > 0
