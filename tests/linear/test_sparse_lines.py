"""Few columns: enumeration, what a region prefers, groups, signs, weights, and refusals."""

from itertools import combinations

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from aucuba import PartialAUCClassifierCV
from aucuba._roc._region import Region
from aucuba.design import TableDesign
from aucuba.linear._support_choice import Constraints, _mass_near, choose_support
from aucuba.linear._supports import Expansion
from aucuba.persistence import load_model, save_model
from aucuba.risks import Sample


def data(n_rows=500, n_columns=8, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    X[:, 1] = 0.8 * X[:, 0] + 0.6 * X[:, 1]
    y = X[:, 0] - X[:, 3] + 0.6 * X[:, 5] + rng.normal(size=n_rows) > 1.5
    return X, y


def expansion(groups=None, sign=None, seed=0):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(40, 9))
    coef = rng.normal(size=8)
    groups = [np.array([k]) for k in range(8)] if groups is None else groups
    sign = np.zeros(8) if sign is None else sign
    return Expansion.of_scores(root.T @ root, coef, groups, sign), root, coef


@pytest.mark.parametrize("seed", range(4))
def test_the_best_of_all_supports_is_found(seed):
    found, _, _ = expansion(seed=seed)
    for size in (1, 2, 3):
        gains = {one: found.gain(one) for one in combinations(range(8), size)}
        assert found.near_best(size, 0)[0] == max(gains, key=gains.__getitem__)
        assert len(list(found.path(size))) == size


def test_the_gain_is_that_of_the_expanded_loss():
    found, root, coef = expansion()
    # The intercept is minimised out: residuals of centred columns.
    inner = root[:, :-1] - np.outer(root[:, -1], root[:, -1] @ root[:, :-1]) / (
        root[:, -1] @ root[:, -1]
    )
    target = inner @ coef
    for support in [(2,), (1, 4), (0, 3, 7)]:
        part = inner[:, support]
        left = target - part @ np.linalg.lstsq(part, target)[0]
        assert found.gain(support) == pytest.approx((target @ target - left @ left) / 2, rel=1e-4)


def test_groups_and_signs_in_the_expansion():
    groups = [np.array([0, 1, 2]), np.array([3]), np.array([4, 5]), np.array([6, 7])]
    grouped, _, _ = expansion(groups)
    gains = {one: grouped.gain(one) for one in combinations(range(4), 2)}
    assert grouped.near_best(2, 0)[0] == max(gains, key=gains.__getitem__)
    sign = np.where(np.arange(8) % 2, 1.0, -1.0)
    signed, _, _ = expansion(sign=sign)
    columns, coef = signed.fitted(tuple(range(8)))
    assert 0 < columns.size < 8
    assert (coef * sign[columns] > 0).all()


def test_the_columns_of_best_log_loss():
    X, y = data()
    losses = {}
    for three in combinations(range(8), 3):
        part = X[:, three]
        model = LogisticRegression(C=1.0).fit(part, y)
        odds = model.decision_function(part)
        losses[three] = np.logaddexp(0, np.where(y, -odds, odds)).sum() + (model.coef_**2).sum() / 2
    best = min(losses, key=losses.__getitem__)
    model = PartialAUCClassifierCV((0.0, 0.3), max_features=3, random_state=0).fit(X, y)
    assert model.support_path_[-1]["columns"].tolist() == list(best) == [0, 3, 5]
    assert model.support_.tolist() == [0, 3, 5]
    assert np.flatnonzero(model.coef_[0]).tolist() == [0, 3, 5]
    assert [step["size"] for step in model.support_path_] == [1, 2, 3]
    alone = PartialAUCClassifierCV((0.0, 0.3), random_state=0).fit(X[:, [0, 3, 5]], y)
    np.testing.assert_allclose(model.coef_[0, [0, 3, 5]], alone.coef_[0])
    np.testing.assert_allclose(model.predict_proba(X), alone.predict_proba(X[:, [0, 3, 5]]))


def test_a_region_may_prefer_another_column():
    # The first column tells most of the classes apart; the second a fifth of the positives, surely.
    rng = np.random.default_rng(0)
    y = np.arange(4000) % 4 == 0
    X = rng.normal(size=(4000, 3))
    X[:, 0] += 1.3 * y
    X[:, 1] += 6.0 * (y & (rng.random(4000) < 0.3))
    chosen = {}
    for limit in (0.01, 1.0):
        model = PartialAUCClassifierCV((0.0, limit), max_features=1, random_state=0).fit(X, y)
        assert model.support_path_[0]["columns"].tolist() == [0]
        chosen[limit] = model.support_.tolist()
    assert chosen == {0.01: [1], 1.0: [0]}


def test_noise_does_not_move_the_choice():
    # Of six columns of noise none should replace one that the log-loss prefers.
    moved = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        y = np.arange(200) % 4 == 0
        X = rng.normal(size=(200, 8))
        X[:, :2] += 1.0 * y[:, np.newaxis]
        sample, design = Sample(y), TableDesign(X)
        constraints = Constraints.from_params(2, None, None, None, 8)
        order = rng.permutation(200)
        folds = [(np.setdiff1d(order, part), np.sort(part)) for part in np.array_split(order, 5)]
        region = Region.from_params((0.0, 0.1), None, 0.0)
        found = choose_support(design, sample, region, folds, constraints)
        moved += found.columns.tolist() != [0, 1]
    assert moved <= 2


def test_groups_enter_together():
    X, y = data()
    groups = ["a", "b", "c", "a", "b", "c", "d", "d"]
    model = PartialAUCClassifierCV(max_features=1, feature_groups=groups, random_state=0).fit(X, y)
    assert model.support_.tolist() == [0, 3]
    assert model.coef_[0, [0, 3]].all()


def test_signs_hold_and_point_to_pos_label():
    X, y = data()
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    free = PartialAUCClassifierCV((0.0, 0.3), random_state=0).fit(frame, y)
    assert free.coef_[0, 0] > 0 > free.coef_[0, 3]
    model = PartialAUCClassifierCV(
        (0.0, 0.3), max_features=3, sign={"d": 1, 5: 1}, random_state=0
    ).fit(frame, y)
    assert 3 not in model.support_
    assert model.coef_[0, 5] > 0
    # The signs are towards the positive class, coefficients towards the second.
    turned = PartialAUCClassifierCV((0.0, 0.3), sign=np.ones(8), pos_label=False, random_state=0)
    coef = turned.fit(frame, y).coef_[0]
    assert (coef <= 0).all()
    assert coef[3] < 0
    assert turned.support_.tolist() == np.flatnonzero(coef).tolist()


def test_rows_weights_and_kinds_of_tables():
    X, y = data(300)
    X = np.round(X, 2)
    params = {"max_features": 2, "Cs": 2, "random_state": 0, "fpr_range": (0.0, 0.3)}
    rng = np.random.default_rng(0)
    folds = [(np.arange(300) % 5 != k, np.arange(300) % 5 == k) for k in range(5)]
    folds = [tuple(map(np.flatnonzero, one)) for one in folds]
    weight = rng.integers(1, 4, 300)
    weighted = PartialAUCClassifierCV(cv=folds, **params).fit(X, y, sample_weight=weight)
    rows = np.repeat(np.arange(300), weight)
    copied = [
        (np.flatnonzero(np.isin(rows, train)), np.flatnonzero(np.isin(rows, test)))
        for train, test in folds
    ]
    replicated = PartialAUCClassifierCV(cv=copied, **params).fit(X[rows], y[rows])
    assert weighted.support_.tolist() == replicated.support_.tolist()
    np.testing.assert_allclose(weighted.coef_, replicated.coef_, atol=1e-5)
    dense = PartialAUCClassifierCV(**params).fit(X, y)
    for table in (sparse.csr_array(X), X.astype(np.float32)):
        other = PartialAUCClassifierCV(**params).fit(table, y)
        np.testing.assert_allclose(other.coef_, dense.coef_, atol=1e-4)
        assert other.support_.tolist() == dense.support_.tolist()


def test_more_columns_than_there_are_change_nothing():
    X, y = data(200)
    few = PartialAUCClassifierCV((0.0, 0.3), max_features=9, random_state=0).fit(X, y)
    free = PartialAUCClassifierCV((0.0, 0.3), random_state=0).fit(X, y)
    np.testing.assert_allclose(few.coef_, free.coef_)


def test_a_saved_model_keeps_its_columns(tmp_path):
    X, y = data()
    model = PartialAUCClassifierCV((0.0, 0.3), max_features=2, Cs=2, random_state=0).fit(X, y)
    save_model(model, tmp_path / "model.aucuba")
    loaded = load_model(tmp_path / "model.aucuba").model
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    assert loaded.support_.tolist() == model.support_.tolist()
    assert loaded.support_path_[1]["columns"].tolist() == model.support_.tolist()


def test_the_path_is_drawn():
    pytest.importorskip("matplotlib").use("agg")
    X, y = data()
    model = PartialAUCClassifierCV((0.0, 0.3), max_features=3, Cs=2, random_state=0).fit(X, y)
    ax = model.plot_support_path()
    step = model.support_path_[-1]
    lines = {line.get_label(): line.get_ydata() for line in ax.get_lines()}
    for column, coef in zip(step["columns"], step["coef"], strict=True):
        assert lines[f"column {column}"][-1] == pytest.approx(coef)


def test_what_is_refused():
    X, y = data(100)
    for params, words in [
        ({"max_features": 0}, "max_features"),
        ({"sign": [2] * 8}, "-1, 0 or 1"),
        ({"sign": [1] * 3}, "8 columns"),
        ({"sign": {"z": 1}}, "sign names 'z'"),
        ({"feature_groups": [1] * 8}, "give both, or none"),
        ({"feature_groups": [1] * 3, "max_features": 2}, r"got shape \(3,\)"),
    ]:
        with pytest.raises(ValueError, match=words):
            PartialAUCClassifierCV((0.0, 0.5), **params).fit(X, y)
    with pytest.raises(ValueError, match="No column is left"):
        PartialAUCClassifierCV((0.0, 0.5), sign=[-1], random_state=0).fit(X[:, [0]], y)
    torch = pytest.importorskip("torch")
    with pytest.raises(ValueError, match="in memory"):
        PartialAUCClassifierCV(max_features=2).fit(torch.tensor(X), torch.tensor(y))


def test_mass_lies_on_positives_and_on_the_negatives_around_the_region():
    y = np.arange(200) % 4 == 0
    scores, weight = np.random.default_rng(0).permutation(200).astype(float), np.where(y, 1.0, 2.0)
    mass = _mass_near(Sample(y, weight), scores, 0.1)
    # Twice the upper limit: the top 30 of 150.
    top = np.sort(np.flatnonzero(~y)[np.argsort(-scores[~y])[:30]])
    assert np.flatnonzero((mass > 0) & ~y).tolist() == top.tolist()
    np.testing.assert_allclose(mass[y], 1 / 50)
    np.testing.assert_allclose(mass[top], 1 / 30)
