import pickle
from math import erf

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GroupKFold,
    LeaveOneOut,
    StratifiedKFold,
    StratifiedShuffleSplit,
)

from aucuba import PartialAUCClassifierCV
from aucuba._roc._region import Region
from aucuba._rows._splits import KeptRows
from aucuba.design import TableDesign
from aucuba.linear._cross_validation import ChosenBlend, Splits, anchored_half
from aucuba.metrics import average_precision_score, partial_auc_score
from aucuba.risks import Sample

BAND = (0.0, 0.1)
MEASURES = {
    "partial_auc": lambda y, score: partial_auc_score(y, score, fpr_range=BAND),
    "average_precision": average_precision_score,
}


def curved(rng, n=1500):
    """Most negatives are up in x1, those at the top are down: what suits the bulk hurts the top."""
    X = rng.normal(size=(n, 4))
    y = rng.random(n) < 0.15
    X[y, 0] += 2.0
    X[~y, 1] += 1.5
    top = ~y & (rng.random(n) < 0.08)
    X[top, 0] += 3.0
    X[top, 1] -= 5.0
    return X, y


X, Y = curved(np.random.default_rng(0))
X_TEST, Y_TEST = curved(np.random.default_rng(1), 6000)


@pytest.fixture(scope="module")
def model():
    return PartialAUCClassifierCV(BAND, random_state=0).fit(X, Y)


def test_it_beats_logistic_regression_where_that_is_misspecified(model):
    own = partial_auc_score(Y_TEST, model.decision_function(X_TEST), fpr_range=BAND)
    logistic = partial_auc_score(Y_TEST, X_TEST @ model.logistic_coef_[0], fpr_range=BAND)
    assert model.blend_ > 0
    assert own > logistic + 0.02
    assert model.partial_auc_["region"] > model.partial_auc_["logistic"]


def test_it_stays_with_logistic_regression_where_nothing_is_to_gain():
    rng = np.random.default_rng(2)
    lost = []
    for seed in range(3):
        table, y = logistic_rows(rng, 600)
        fresh, truth = logistic_rows(rng, 20_000)
        fitted = PartialAUCClassifierCV((0.0, 0.5), random_state=seed).fit(table, y)
        lost.append(
            partial_auc_score(truth, fresh @ fitted.logistic_coef_[0], fpr_range=(0, 0.5))
            - partial_auc_score(truth, fitted.decision_function(fresh), fpr_range=(0, 0.5))
        )
        assert fitted.blend_ < 0.9
    assert max(lost) < 0.005


def logistic_rows(rng, n_rows):
    table = rng.normal(size=(n_rows, 3))
    return table, rng.random(n_rows) < 1 / (1 + np.exp(1.5 - table[:, 0]))


def test_blend_is_what_is_returned(model):
    t = model.blend_
    np.testing.assert_allclose(model.coef_, (1 - t) * model.logistic_coef_ + t * model.region_coef_)
    assert list(model.partial_auc_) == ["logistic", "blend", "region"]
    assert model.cv_results_["C"].shape == model.cv_results_["log_loss"].shape == (7,)
    assert model.C_ in model.cv_results_["C"]
    flagged = model.predict(X)
    assert flagged[~Y].mean() <= 0.1 < flagged[~Y].mean() + 1 / (~Y).sum() + 1e-9


@pytest.mark.parametrize("scoring", MEASURES)
@pytest.mark.parametrize("limits", [BAND, (0.3, 1.0)])
def test_the_weight_is_how_sure_the_lead_of_the_regions_model_is(limits, scoring):
    fitted = PartialAUCClassifierCV(limits, Cs=1, scoring=scoring, random_state=0)
    fitted.fit(X[:600], Y[:600])
    ahead = fitted.partial_auc_["region"] - fitted.partial_auc_["logistic"]
    error = fitted.partial_auc_error_["region - logistic"]
    assert fitted.blend_ == pytest.approx(max(0, erf(ahead / error / np.sqrt(2))), abs=1e-12)
    assert f"weight {fitted.blend_:.2f}" in fitted.status_
    assert (
        f"{ahead:+.4f} of held-out {scoring.replace('_', ' ').replace('auc', 'AUC')}"
        in fitted.status_
    )


def test_a_half_gives_its_departure_from_logistic_regression_of_the_same_rows():
    train, test = np.arange(400), np.arange(400, 700)
    region = Region.from_params(BAND, None, 0.0)
    departure, scores = anchored_half((train, test), TableDesign(X), Sample(Y), region, 1.0)
    anchor = LogisticRegression(C=1.0, tol=1e-8, max_iter=1000).fit(X[train], Y[train]).coef_[0]
    anchor /= np.std(X[train] @ anchor)
    centred = X[test] - X[train].mean(axis=0)
    np.testing.assert_allclose(scores[0], centred @ anchor, atol=1e-5)
    np.testing.assert_allclose(scores[1] - scores[0], centred @ departure, atol=1e-9)
    assert np.std(X[train] @ (anchor + departure)) == pytest.approx(1, abs=1e-5)
    assert np.abs(departure).max() > 0.01


@pytest.mark.parametrize("scoring", MEASURES)
def test_the_regions_model_is_logistic_regression_of_all_rows_and_the_mean_departure(scoring):
    table, y = X[:400], Y[:400]
    splits = [(np.flatnonzero(part), np.flatnonzero(~part)) for part in halves_of(400)]
    fitted = PartialAUCClassifierCV(BAND, Cs=[1.0], cv=splits, scoring=scoring).fit(table, y)
    region, design = Region.from_params(BAND, None, 0.0), TableDesign(table)
    parts = [anchored_half(split, design, Sample(y), region, 1.0) for split in splits]
    moved = fitted.logistic_coef_[0] + np.mean([departure for departure, _ in parts], axis=0)
    moved /= np.std(table @ moved)
    np.testing.assert_allclose(fitted.region_coef_[0], moved, rtol=1e-4)
    scores, count = np.zeros((2, 400)), np.zeros(400)
    for (_, test), (_, part) in zip(splits, parts, strict=True):
        scores[:, test] += part
        count[test] += 1
    for name, row in zip(("logistic", "region"), scores / count, strict=True):
        assert fitted.partial_auc_[name] == pytest.approx(MEASURES[scoring](y, row), abs=1e-3)


def test_scoring_by_average_precision_chooses_what_is_compared_not_what_is_trained():
    fits = [
        PartialAUCClassifierCV(BAND, Cs=[1e-3, 1.0], scoring=one, random_state=0).fit(
            X[:500], Y[:500]
        )
        for one in MEASURES
    ]
    assert fits[0].C_ == fits[1].C_
    np.testing.assert_array_equal(fits[0].region_coef_, fits[1].region_coef_)
    assert fits[0].blend_ != fits[1].blend_
    reached = fits[1].cv_results_["logistic"]
    assert np.all(reached > fits[0].cv_results_["logistic"])
    with pytest.raises(ValueError, match="scoring must be one of"):
        PartialAUCClassifierCV(BAND, scoring="precision").fit(X, Y)


def halves_of(n_rows):
    rng = np.random.default_rng(9)
    for _ in range(3):
        part = rng.permutation(n_rows) % 2 == 0
        yield from (part, ~part)


def blend_of(lead, order=slice(None), weight=None):
    """The blend of held-out scores in which the second model leads by so much."""
    rng = np.random.default_rng(6)
    y = np.arange(400) < 100
    logistic = rng.normal(size=400) + y
    own = (logistic + rng.normal(size=400) + lead * y) * 3 + 7
    sample = Sample(y[order], None if weight is None else weight[order])
    region = Region.from_params(BAND, None, 0.0)
    return ChosenBlend.from_scores(sample, region, logistic[order], own[order])


def test_the_weight_moves_without_steps_from_logistic_regression_to_the_regions_model():
    blends = [blend_of(lead) for lead in np.linspace(-4, 8, 241)]
    weights = np.array([blend.weight for blend in blends])
    # The standard error moves too, so the weight may fall by a trifle where it is nearly 0 or 1.
    assert np.diff(weights).min() > -1e-3
    assert weights[0] < 1e-6
    assert weights[-1] == 1
    assert np.diff(weights).max() < 0.3
    np.testing.assert_allclose(
        blends[-1].partial_auc["blend"], blends[-1].partial_auc["region"], rtol=1e-12
    )
    np.testing.assert_allclose(
        blends[0].partial_auc["blend"], blends[0].partial_auc["logistic"], rtol=1e-12
    )


def test_the_blend_does_not_depend_on_the_order_of_rows_and_counts_weights_as_rows():
    rng = np.random.default_rng(7)
    plain = blend_of(0.6)
    assert 0.01 < plain.weight < 0.99
    moved = blend_of(0.6, rng.permutation(400))
    assert moved.weight == pytest.approx(plain.weight, abs=1e-12)
    weight = rng.integers(1, 4, size=400)
    weighted = blend_of(0.6, weight=weight.astype(float))
    repeated = blend_of(0.6, np.repeat(np.arange(400), weight))
    assert weighted.weight == pytest.approx(repeated.weight, abs=1e-12)
    assert weighted.partial_auc == pytest.approx(repeated.partial_auc)


def test_equal_models_are_logistic_regression():
    sample = Sample(np.arange(50) < 10)
    scores = np.random.default_rng(8).normal(size=50)
    blend = ChosenBlend.from_scores(sample, Region.from_params(BAND, None, 0.0), scores, 2 * scores)
    assert blend.weight == 0


def test_rows_without_pairs_keep_logistic_regression():
    scores = np.arange(5.0)
    region = Region.from_params(BAND, None, 0.0)
    blend = ChosenBlend.from_scores(Sample(np.ones(5, dtype=bool)), region, scores, -scores)
    assert blend.weight == 0
    assert blend.status.startswith("Logistic regression kept")


def test_results_depend_on_the_seed_alone(model):
    again = clone(model).set_params(n_jobs=2).fit(X, Y)
    np.testing.assert_array_equal(again.coef_, model.coef_)
    other = clone(model).set_params(random_state=1).fit(X, Y)
    assert not np.array_equal(other.region_coef_, model.region_coef_)


def test_given_splits_count_whole_weights_as_rows():
    rng = np.random.default_rng(4)
    table, y = X[:400], Y[:400]
    weight = rng.integers(0, 3, size=400)
    rows = np.repeat(np.arange(400), weight)
    fold = rng.integers(4, size=400)
    splits = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(4)]
    repeated = [
        (np.flatnonzero(fold[rows] != k), np.flatnonzero(fold[rows] == k)) for k in range(4)
    ]
    weighted = PartialAUCClassifierCV(BAND, cv=splits).fit(table, y, sample_weight=weight)
    plain = PartialAUCClassifierCV(BAND, cv=repeated).fit(table[rows], y[rows])
    assert weighted.C_ == plain.C_
    assert weighted.blend_ == pytest.approx(plain.blend_)
    np.testing.assert_allclose(weighted.coef_, plain.coef_, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("cv", [3, StratifiedKFold(4), StratifiedShuffleSplit(3, random_state=0)])
def test_any_splitter(cv):
    assert PartialAUCClassifierCV(BAND, cv=cv, Cs=3).fit(X[:500], Y[:500]).coef_.any()


def test_queries_stay_whole():
    rng = np.random.default_rng(5)
    qid = np.repeat(np.arange(30), 20)
    y = np.tile(np.arange(20) < 5, 30)
    table = rng.normal(size=(600, 3))
    table[:, 0] += y + 5 * rng.normal(size=30)[qid]
    table[:, 1] += y
    splits = Splits.from_cv(None, KeptRows(np.arange(600), table, y, qid), y, 0)
    for train, test in splits.folds + splits.halves:
        assert not set(qid[train]) & set(qid[test])
    assert len(splits.halves) == 20
    for cv in (None, GroupKFold(3)):
        fitted = PartialAUCClassifierCV((0, 0.5), cv=cv, Cs=3, random_state=0)
        fitted.fit(table, y, qid=qid)
        inside = partial_auc_score(y, fitted.decision_function(table), fpr_range=(0, 0.5), qid=qid)
        assert inside > 0.5


@pytest.mark.parametrize(
    ("n_rows", "n_fits"), [(300, 20), (9_999, 20), (20_000, 10), (50_000, 4), (200_000, 4)]
)
def test_fewer_halvings_of_many_rows(n_rows, n_fits):
    y = np.arange(n_rows) % 10 == 0
    splits = Splits.from_cv(None, KeptRows(np.arange(n_rows), None, y), y, 0)
    assert (len(splits.folds), len(splits.halves)) == (5, n_fits)


def test_sparse_tables():
    dense = PartialAUCClassifierCV(BAND, Cs=3, random_state=0).fit(X[:600], Y[:600])
    thin = clone(dense).fit(sparse.csr_array(X[:600]), Y[:600])
    assert np.corrcoef(dense.decision_function(X), thin.decision_function(X))[0, 1] > 0.99


def test_too_few_rows_to_split():
    with pytest.warns(UserWarning, match="plain logistic regression with C=1 is returned"):
        fitted = PartialAUCClassifierCV(random_state=0).fit(X[:20], np.arange(20) == 3)
    assert fitted.blend_ == 0.0


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"Cs": []}, "Cs is empty"),
        ({"Cs": [1, -1]}, "Cs must be a number above 0, got -1"),
        ({"Cs": 0}, "Cs must be a whole number above 0"),
        ({"fpr_range": (1, 0)}, "lower limit below"),
        ({"cv": "five"}, "cv"),
    ],
)
def test_bad_parameters(params, message):
    with pytest.raises(ValueError, match=message):
        PartialAUCClassifierCV(**params).fit(X, Y)


def test_pickle_and_skops(model, tmp_path):
    import skops.io

    back = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(back.decision_function(X), model.decision_function(X))
    skops.io.dump(model, tmp_path / "model.skops")
    trusted = skops.io.get_untrusted_types(file=tmp_path / "model.skops")
    back = skops.io.load(tmp_path / "model.skops", trusted=trusted)
    np.testing.assert_array_equal(back.decision_function(X), model.decision_function(X))


NO_QUERY = np.concatenate([np.zeros(100, int), np.arange(1, 101)])
UNRANKED = [
    ({}, {"qid": NO_QUERY}),
    ({"cv": [(np.arange(100), np.flatnonzero(~Y[:200])[-20:])]}, {}),
]


@pytest.mark.parametrize(("params", "rows"), UNRANKED)
@pytest.mark.filterwarnings("ignore:100 of 101 queries have only one class")
def test_held_out_rows_that_cannot_be_ranked_leave_logistic_regression(params, rows):
    fitted = PartialAUCClassifierCV((0, 0.5), random_state=0, **params)
    with pytest.warns(UserWarning, match="Too few rows .* in the training or the test part"):
        fitted.fit(X[:200], Y[:200], **rows)
    assert fitted.blend_ == 0.0
    assert fitted.partial_auc_ == {}
    assert np.isfinite(fitted.decision_function(X)).all()


def test_single_rows_may_be_held_out():
    # No test part has both classes, and all together are ranked.
    fitted = PartialAUCClassifierCV((0, 0.5), cv=LeaveOneOut(), Cs=2)
    rows = np.r_[np.flatnonzero(Y)[:14], np.flatnonzero(Y == 0)[:26]]
    assert fitted.fit(X[rows], Y[rows]).partial_auc_["region"] > 0.5


@pytest.mark.parametrize("each", [1e-300, 1e-200, 1e16, 1e200, 1e300])
@pytest.mark.filterwarnings("ignore:Plain logistic regression is returned")
def test_weights_in_any_unit_are_no_numerical_trouble(each):
    fitted = PartialAUCClassifierCV((0, 0.2), Cs=2, random_state=0)
    fitted.fit(X[:400], Y[:400], sample_weight=np.full(400, each))
    assert np.isfinite(fitted.decision_function(X)).all()
    assert all(np.isfinite(value) for value in fitted.partial_auc_.values())
