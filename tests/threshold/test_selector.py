"""FalseDiscoverySelector: rates in simulated batches, strata, groups, and errors that help."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import IsolationForest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

from aucuba import FalseDiscoverySelector, FewRowsWarning
from aucuba.threshold import rows_needed
from tests.threshold.bases import prefit


def batch(rng, n, prevalence, shift=3.5, step=None):
    y = rng.random(n) < prevalence
    score = rng.normal(size=n) + shift * y
    if step:
        score = np.round(score / step) * step
    return score[:, None], y.astype(int)


def false_share(mask, y):
    return np.sum(mask & (y == 0)) / max(mask.sum(), 1)


@pytest.mark.filterwarnings("ignore::aucuba.FewRowsWarning")
@pytest.mark.parametrize("step", [None, 0.5])
@pytest.mark.parametrize("ties", ["random", "conservative"])
def test_keeps_the_rate_on_average_at_any_prevalence(step, ties):
    rng = np.random.default_rng(0)
    shares, found = [], []
    for world in range(300):
        X, y = batch(rng, 600, 0.0, step=step)
        selector = FalseDiscoverySelector(
            prefit(), 0.2, cv="prefit", ties=ties, random_state=world
        ).fit(X, y)
        new, y_new = batch(rng, 300, (0.0, 0.02, 0.1)[world % 3], step=step)
        mask = selector.select(new).mask
        shares.append(false_share(mask, y_new))
        if y_new.any():
            found.append(mask[y_new == 1].mean())
    assert np.mean(shares) <= 0.2 + 3 * np.std(shares) / np.sqrt(300)
    assert np.mean(found) > 0.4


def test_random_keys_use_the_whole_rate_where_scores_tie():
    """With half of all scores tied at the top, counting ties against the row selects nothing."""
    rng = np.random.default_rng(0)
    negatives = (rng.random(400) < 0.02).astype(float)[:, None]
    new = np.r_[np.ones(60), np.zeros(40)][:, None]
    random = FalseDiscoverySelector(prefit(), 0.1, cv="prefit", random_state=0)
    safe = FalseDiscoverySelector(prefit(), 0.01, cv="prefit", ties="conservative", random_state=0)
    zeros = np.zeros(400)
    mask, p = random.fit(negatives, zeros).select(new)
    assert mask[:60].all()
    assert np.unique(p[:60]).size > 3
    p = safe.fit(negatives, zeros).select(new).p_values
    assert p[:60] == pytest.approx((1 + negatives.sum()) / 401)
    assert not safe.select(new).mask.any()


@pytest.mark.filterwarnings("ignore::aucuba.FewRowsWarning")
def test_with_confidence_most_calibrations_keep_the_rate_for_all_batches():
    """Scores are uniform, so the rate of a calibration is known: it may be above in 20 %."""
    rng = np.random.default_rng(0)
    n_above = {None: 0, 0.8: 0}
    for _ in range(150):
        X = rng.random((200, 1))
        for confidence in n_above:
            selector = FalseDiscoverySelector(
                prefit(), 0.2, confidence, cv="prefit", ties="conservative", random_state=0
            ).fit(X, np.zeros(200))
            # The largest ratio of the true rate of a p-value to the p-value itself.
            levels = np.linspace(0.7, 1, 301)[:, None]
            p = selector.select(levels).p_values
            n_above[confidence] += ((1 - levels[:, 0]) > p + 1e-9)[p <= 0.2].any()
    assert n_above[0.8] <= 0.2 * 150 + 3 * np.sqrt(0.16 * 150)
    assert n_above[None] > 0.4 * 150


def test_strata_compare_rows_with_their_own_negatives():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    part = np.repeat([1, 2], 500)
    X = pd.DataFrame({"score": rng.normal(size=1000) + 5 * (part == 2), "part": part})
    model = FalseDiscoverySelector(prefit(), 0.1, cv="prefit", strata="part", random_state=0)
    model.fit(X, np.zeros(1000))
    assert model.strata_.tolist() == [1, 2]
    assert model.n_negatives_.tolist() == [500, 500]
    new = pd.DataFrame({"score": [5.0, 5.0], "part": [1, 2]})
    p = model.select(new).p_values
    assert p[0] == pytest.approx(1 / 501)
    assert 0.3 < p[1] < 0.7
    apart = FalseDiscoverySelector(
        prefit(), 0.1, cv="prefit", strata="part", joint=False, random_state=0
    ).fit(X, np.zeros(1000))
    # 40 sure rows of one stratum lift borderline rows of the other only if selected together.
    score = [9.0] * 40 + [6.9] * 2 + [4.0] * 38
    many = pd.DataFrame({"score": score, "part": [1] * 40 + [2] * 40})
    assert model.select(many).mask.sum() == 42
    assert apart.select(many).mask.sum() == 40
    with pytest.raises(ValueError, match="values that fit did not see"):
        model.select(pd.DataFrame({"score": [1.0], "part": [3]}))


def test_groups_are_selected_whole_by_their_highest_score():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(300), 4)
    y = np.zeros(1200, dtype=int)
    y[groups == 7] = 1
    X = rng.normal(size=(1200, 1))
    model = FalseDiscoverySelector(prefit(), 0.1, cv="prefit", random_state=0)
    model.fit(X, y, groups=groups)
    assert model.n_negatives_ == 299
    expected = np.sort(X[y == 0].reshape(-1, 4).max(axis=1))
    np.testing.assert_array_equal(model.calibration_scores_, expected)
    mask, p = model.select([[9.0], [0.0], [-1.0], [-1.0]], groups=["x", "x", "y", "y"])
    assert mask.tolist() == [True, True, False, False]
    assert p[0] == p[1] == pytest.approx(1 / 300)
    with pytest.raises(ValueError, match="2 that were held out to calibrate, such as"):
        FalseDiscoverySelector(prefit(), 0.1, cv="prefit").fit(X, y, groups=groups).select(
            X[:3], groups=[3, 4, 900]
        )
    with pytest.raises(ValueError, match="needs groups, as fit had them"):
        model.select(X)
    plain = FalseDiscoverySelector(prefit(), 0.1, cv="prefit").fit(X, y)
    with pytest.raises(ValueError, match="has groups and fit had none"):
        plain.select(X, groups=groups)


def test_held_out_groups_are_those_of_the_split():
    rng = np.random.default_rng(0)
    groups = np.repeat([f"patient {k}" for k in range(60)], 5)
    X, y = batch(rng, 300, 0.3)
    y[::5] = 0
    model = FalseDiscoverySelector(LogisticRegression(), 0.5, random_state=0)
    model.fit(X, y, groups=groups)
    assert 20 <= model.calibration_groups_.size <= 40
    kept = sorted(set(groups) - set(model.calibration_groups_))
    model.select(X[:2], groups=kept[:2])


def test_results_depend_on_data_and_seed_alone():
    rng = np.random.default_rng(0)
    X, y = batch(rng, 2_000, 0.1, step=0.5)
    new, _ = batch(rng, 500, 0.1, step=0.5)
    models = [
        FalseDiscoverySelector(LogisticRegression(), 0.2, random_state=seed).fit(X, y)
        for seed in (0, 0, 1)
    ]
    first, again, other = (model.select(new).p_values for model in models)
    np.testing.assert_array_equal(first, again)
    np.testing.assert_array_equal(first, models[0].select(new).p_values)
    assert (first != other).any()


def test_scores_that_were_computed_in_pieces_are_selected_alike():
    rng = np.random.default_rng(0)
    X, y = batch(rng, 1_000, 0.2)
    X = np.column_stack([X, np.arange(1_000) % 2])
    for params in ({}, {"pos_label": 0}, {"strata": 1}):
        model = FalseDiscoverySelector(LogisticRegression(), 0.3, random_state=0, **params)
        expected = model.fit(X, y).select(X[:300])
        scores = np.concatenate(
            [model.decision_function(X[start : start + 100]) for start in (0, 100, 200)]
        )
        strata = X[:300, 1] if "strata" in params else None
        found = model.select_scores(scores, strata=strata)
        np.testing.assert_array_equal(found.mask, expected.mask)
        np.testing.assert_allclose(found.p_values, expected.p_values)
        assert 0 < found.mask.sum() < 300
    with pytest.raises(ValueError, match="select_scores needs strata, as fit had them"):
        model.select_scores(scores)
    plain = FalseDiscoverySelector(LogisticRegression(), 0.3, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="select_scores has strata, fit had none"):
        plain.select_scores(scores, strata=strata)
    groups = np.repeat(np.arange(250), 4)
    grouped = FalseDiscoverySelector(prefit(), 0.3, cv="prefit", random_state=0).fit(
        X, y, groups=groups
    )
    fresh = np.repeat(np.arange(900, 975), 4)
    expected = grouped.select(X[:300], groups=fresh).mask
    found = grouped.select_scores(grouped.decision_function(X[:300]), groups=fresh).mask
    np.testing.assert_array_equal(found, expected)


def test_labels_of_any_kind_and_either_direction():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X, y = batch(rng, 1_000, 0.2)
    words = np.where(y == 1, "fraud", "ok")
    numbers = FalseDiscoverySelector(LogisticRegression(), random_state=0).fit(X, y)
    named = FalseDiscoverySelector(LogisticRegression(), pos_label="fraud", random_state=0)
    named.fit(pd.DataFrame(X, columns=["score"]), words)
    assert named.pos_label_ == "fraud"
    p = named.select(pd.DataFrame(X, columns=["score"])).p_values
    # The split is drawn from the labels in sorted order, in which "fraud" comes first.
    assert np.corrcoef(p, numbers.select(X).p_values)[0, 1] > 0.95
    frozen = FrozenEstimator(LogisticRegression().fit(X[:500], y[:500]))
    prefit = FalseDiscoverySelector(frozen, cv="prefit", random_state=0).fit(X[500:], y[500:])
    assert prefit.n_negatives_ == np.sum(y[500:] == 0)
    folds = FalseDiscoverySelector(LogisticRegression(), cv=3, random_state=0).fit(X, y)
    assert not folds.guarantee_
    assert folds.promise_.startswith("No promise")


@pytest.mark.parametrize("cv", ["prefit", 0.5])
def test_detectors_take_normal_rows_alone(cv):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1_000, 2))
    forest = IsolationForest(n_estimators=20, random_state=0)
    base = forest.fit(X[:500]) if cv == "prefit" else forest
    rows = X[500:] if cv == "prefit" else X
    model = FalseDiscoverySelector(base, 0.1, cv=cv, random_state=0).fit(rows)
    assert model.n_negatives_ == 500
    if cv == "prefit":
        # scikit-learn's detectors score normal rows high.
        expected = np.sort(-forest.decision_function(rows))
        np.testing.assert_array_equal(model.calibration_scores_, expected)
    new = np.vstack([rng.normal(size=(30, 2)), np.full((20, 2), 6.0)])
    mask = model.select(new).mask
    assert mask[30:].all()
    assert mask[:30].sum() < 5
    mixed = np.r_[np.zeros(480), np.ones(20)]
    labelled = FalseDiscoverySelector(forest.fit(X[:500]), 0.1, cv="prefit", random_state=0)
    assert labelled.fit(X[500:], mixed).n_negatives_ == 480


def test_resolution_is_told_and_planned():
    X, y = np.linspace(-1, 1, 99)[:, None], np.zeros(99)
    model = FalseDiscoverySelector(prefit(), 0.1, cv="prefit", random_state=0).fit(X, y)
    assert model.smallest_share_ == pytest.approx(0.1)
    assert "at least 1 alert per 10 rows" in model.promise_
    new = np.zeros((100, 1))
    new[:9] = 5.0
    with pytest.warns(
        FewRowsWarning, match="9 of 100 rows score above .* must have at least 10 rows"
    ):
        assert not model.select(new).mask.any()
    new[9] = 5.0
    assert model.select(new).mask.sum() == 10
    assert rows_needed("fdr", 0.1, None, batch_size=100, n_alerts=10) == 99
    assert rows_needed("fdr", 0.1, None, batch_size=100, n_alerts=10, prevalence=0.5) == 198
    for n_alerts in (1, 5):
        n = rows_needed("fdr", 0.1, 0.9, batch_size=50, n_alerts=n_alerts)
        for size, enough in ((n, True), (n - 1, False)):
            X = np.linspace(-1, 1, size)[:, None]
            sure = FalseDiscoverySelector(prefit(), 0.1, 0.9, cv="prefit", random_state=0)
            sure.fit(X, np.zeros(size))
            assert (sure.smallest_share_ * 50 <= n_alerts + 1e-9) is enough


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"max_fdr": 0.0}, "max_fdr must lie in"),
        ({"confidence": 1.0}, "confidence must lie in"),
        ({"ties": "first"}, "ties must be one of"),
        ({"max_fdr": 0.001}, "needs at least 999 held-out negatives, got 50"),
        ({"strata": "x"}, "is not a column of X"),
    ],
)
def test_bad_parameters_have_one_clear_error(arguments, message):
    with pytest.raises(ValueError, match=message):
        FalseDiscoverySelector(prefit(), **{"cv": "prefit", **arguments}).fit(
            np.zeros((50, 1)), np.zeros(50)
        )


def test_bad_rows_have_one_clear_error():
    pd = pytest.importorskip("pandas")
    X, y = np.arange(60.0)[:, None], np.arange(60) % 2
    with pytest.raises(ValueError, match="its p-values ignore weights"):
        FalseDiscoverySelector(LogisticRegression(), 0.5).fit(X, y, sample_weight=np.ones(60))
    frame = pd.DataFrame({"score": X[:, 0], "part": np.arange(60) % 3})
    with pytest.raises(ValueError, match="A group lies in several strata"):
        FalseDiscoverySelector(prefit(), 0.5, cv="prefit", strata="part").fit(
            frame, y * 0, groups=np.arange(60) // 2
        )
    for arguments, message in [
        ({"batch_size": 10}, "together or neither"),
        ({"batch_size": 10, "n_alerts": 20}, "more than batch_size"),
        ({"group_rate": "mean"}, "has no group_rate"),
    ]:
        with pytest.raises(ValueError, match=message):
            rows_needed("fdr", 0.1, None, **arguments)
    with pytest.raises(ValueError, match="apply only to promise='fdr'"):
        rows_needed("fpr", 0.1, batch_size=10, n_alerts=1)
