"""The estimator: columns of every kind, restrictions, weights, risks, the choice of the caution."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy import sparse
from sklearn.model_selection import StratifiedKFold

import aucuba
from aucuba import RegionScorecard
from aucuba._rows._lead import Lead
from aucuba.metrics import partial_auc_score
from aucuba.scorecard import Scorecard
from aucuba.scorecard._choice import chosen_caution
from aucuba.scorecard._conditions import Condition
from aucuba.scorecard._risk import possible_totals, totals_of_equal_risk

pd = pytest.importorskip("pandas")

RANGE = (0.0, 0.2)


def clinic(n_rows=600, seed=0):
    """A table with a number, missing values, categories and a date."""
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 90, n_rows)
    status = rng.choice(["single", "married", "divorced", "widowed"], n_rows)
    marker = np.where(rng.random(n_rows) < 0.2, np.nan, rng.lognormal(size=n_rows))
    seen = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, n_rows), "D")
    risk = 0.06 * (age - 65) + 1.2 * np.isin(status, ["divorced", "widowed"])
    risk += 2.0 * np.isnan(marker) + 1.5 * (marker > 2) + rng.logistic(size=n_rows)
    frame = pd.DataFrame({"age": age, "status": status, "marker": marker, "seen": seen})
    return frame, np.where(risk > 1.0, "ill", "well")


@pytest.fixture(scope="module")
def fitted():
    X, y = clinic()
    adding = RegionScorecard(RANGE, max_items=4, sign=1, cv=3, pos_label="ill", random_state=0)
    return adding.fit(X, y)


def test_columns_of_every_kind(fitted):
    X, y = clinic(seed=1)
    assert {one["column"] for one in fitted.items_} >= {"age", "status", "marker"}
    assert any("missing" in text for text in fitted.line_texts())
    assert partial_auc_score(y == "ill", fitted.total(X), fpr_range=RANGE) > 0.3


def test_contributions_are_the_points_of_the_items(fitted):
    X, _ = clinic(seed=1)
    points = fitted.contributions(X)
    assert np.array_equal(points.sum(axis=1), fitted.total(X))
    assert set(points[:, 0]) == {0, fitted.items_[0]["points"]}
    explained = aucuba.explain_rows(fitted, X, n_reasons=4)
    assert np.array_equal(explained.scores, fitted.total(X))


def test_values_on_the_training_rows_are_those_of_the_cards(fitted):
    X, y = clinic()
    area = partial_auc_score(y == "ill", fitted.total(X), fpr_range=RANGE)
    assert fitted.training_["partial_auc"] == pytest.approx(area)
    assert 0 < fitted.training_["r2"] < 1


def test_scores_point_to_the_second_class(fitted):
    X, _ = clinic(seed=2)
    score = fitted.decision_function(X)
    assert np.allclose(-score, fitted.total(X) - fitted.threshold_)
    assert np.array_equal(fitted.predict(X) == "ill", score < 0)
    p = fitted.predict_proba(X)
    assert np.allclose(p.sum(axis=1), 1.0)
    by_total = {one["total"]: one["risk"] for one in fitted.risk_}
    assert np.allclose(p[:, 0], [by_total[t] for t in fitted.total(X)])


def test_training_rate_is_within_the_region(fitted):
    X, y = clinic()
    flagged = fitted.predict(X)[y == "well"] == "ill"
    assert 0.0 < flagged.mean() <= 0.2
    assert fitted.threshold_ % 1 == 0.5


def test_risks_count_every_held_out_row_once(fitted):
    X, y = clinic()
    assert sum(one["rows"] for one in fitted.risk_) == len(y)
    assert sum(one["positives"] for one in fitted.risk_) == np.sum(y == "ill")
    risks = [one["risk"] for one in fitted.risk_]
    assert risks == sorted(risks)
    assert all(one["low"] <= one["high"] for one in fitted.risk_)
    # The correction draws risks to the rate of all rows, so they are right on average.
    p = fitted.predict_proba(X)[:, 0]
    assert p.mean() == pytest.approx(np.mean(y == "ill"), abs=0.03)


def test_rows_stand_beside_the_total_of_equal_risk():
    of_totals = np.array([-2.0, 0.0, 1.0, 5.0])
    places = totals_of_equal_risk(np.array([-9.0, -1.1, -0.9, 0.4, 2.9, 3.1, 9.0]), of_totals)
    assert places.tolist() == [0, 0, 1, 1, 2, 3, 3]


def test_totals_are_those_that_rows_can_have():
    number, place = Condition(0, "age", ">"), Condition(1, "ward", "in")
    items = [
        (replace(number, value=40.0), 2),
        (replace(number, value=60.0), 3),
        (replace(number, test="missing"), 4),
        (replace(place, value=("A", "B")), -2),
        (replace(place, test="not in", value=("B", "C"), or_missing=True), 10),
        (Condition(2, "smokes", "=", 1.0), 100),
    ]
    tables = ([20.0, 50.0, 70.0, np.nan], ["A", "B", "C", "D", None], [0.0, 1.0, np.nan])
    found = set()
    for row in product(*tables):
        values = [
            np.array([value], dtype=object if k == 1 else float) for k, value in enumerate(row)
        ]
        found.add(sum(points * int(one.met(values[one.place])[0]) for one, points in items))
    assert possible_totals(items).tolist() == sorted(found)
    assert possible_totals([]).tolist() == [0.0]


def test_a_card_of_one_item_has_two_totals():
    X, y = clinic()
    model = RegionScorecard(RANGE, max_items=1, sign=1, cv=2, pos_label="ill", random_state=0)
    model.fit(X, y)
    (points,) = (one["points"] for one in model.items_)
    assert [one["total"] for one in model.risk_] == [0, points] == [0, 1]
    assert Scorecard.from_model(model).call_at == points


@pytest.mark.parametrize("seed", [0, 2])
def test_no_card_is_listed_twice(seed):
    rng = np.random.default_rng(seed)
    met = rng.random((6, 150)) < rng.uniform(0.2, 0.8, (6, 1))
    effect = rng.normal(size=6)
    positive = effect @ met + rng.normal(size=150) > np.median(effect @ met)
    model = RegionScorecard((0.0, 1.0), max_items=2, cv=2, random_state=0)
    model.fit(met.T.astype(float), positive)
    # The search ends at cards whose points differ by a factor, too.
    listed = [str(one["items"]) for one in model.next_best_]
    assert len({str(model.items_), *listed}) == 1 + len(listed)


def test_counts_on_new_rows_are_those_of_this_card(fitted):
    X, y = clinic(seed=3)
    total = fitted.total(X)
    for one in fitted.count_risks(X, y):
        here = total == one["total"]
        assert one["rows"] == here.sum()
        assert one["positives"] == np.sum(here & (y == "ill"))


def test_weights_are_copies():
    X, y = clinic(250)
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    rows = np.repeat(np.arange(len(y)), weight)
    splits = list(StratifiedKFold(3).split(X, y))
    copied = []
    for train, test in splits:
        of = [np.flatnonzero(np.isin(rows, part)) for part in (train, test)]
        copied.append(tuple(of))
    options = {"max_items": 3, "pos_label": "ill", "random_state": 0}
    once = RegionScorecard(RANGE, cv=splits, **options).fit(X, y, sample_weight=weight)
    many = RegionScorecard(RANGE, cv=copied, **options)
    many.fit(X.iloc[rows].reset_index(drop=True), y[rows])
    assert once.items_ == many.items_
    assert once.threshold_ == many.threshold_
    assert np.allclose(once.calibration_, many.calibration_, rtol=1e-4, atol=1e-4)
    for a, b in zip(once.risk_, many.risk_, strict=True):
        assert a == pytest.approx(b, rel=1e-4, abs=1e-4)


def test_kinds_of_tables_agree():
    rng = np.random.default_rng(0)
    X = (rng.random((300, 6)) < 0.4).astype(float) * rng.integers(1, 5, (300, 6))
    y = X @ [1, 1, 0, 0, -1, 0] + rng.normal(size=300) > 1.5
    model = RegionScorecard(RANGE, max_items=3, cv=2, random_state=0)
    dense = model.fit(X, y).decision_function(X)
    frozen = X.copy()
    frozen.setflags(write=False)
    others = [sparse.csr_matrix(X), X.astype(np.float32), frozen, sparse.csc_array(X)]
    for other in others:
        assert np.array_equal(model.fit(other, y).decision_function(other), dense)
    order = rng.permutation(6)
    moved = model.fit(X[:, order], y).decision_function(X[:, order])
    assert partial_auc_score(y, moved, fpr_range=RANGE) == pytest.approx(
        partial_auc_score(y, dense, fpr_range=RANGE), abs=0.05
    )


def test_restrictions():
    X, y = clinic()
    model = RegionScorecard(
        RANGE, max_items=3, sign=1, max_per_column=1, include=["marker"], exclude=["seen"], cv=2
    )
    model.set_params(pos_label="ill", monotone={"age": 1}, random_state=0).fit(X, y)
    used = [one["column"] for one in model.items_]
    assert "marker" in used
    assert "seen" not in used
    assert len(set(used)) == len(used)
    assert all(one["points"] > 0 for one in model.items_)
    cheap = RegionScorecard(
        RANGE, max_items=3, column_cost={"age": 5, "marker": 1}, max_cost=2, cv=2
    )
    cheap.set_params(pos_label="ill", random_state=0).fit(X, y)
    assert "age" not in {one["column"] for one in cheap.items_}
    constant = X.assign(marker=1.0)
    with pytest.raises(ValueError, match="No card of at most 3 items has all columns of include"):
        model.fit(constant, y)


@pytest.mark.parametrize("dtype", [int, bool, object])
def test_points_of_zero_and_one_can_fall(dtype):
    rng = np.random.default_rng(0)
    smokes = rng.random(400) < 0.5
    y = rng.random(400) < np.where(smokes, 0.6, 0.2)
    X = pd.DataFrame({"smokes": smokes.astype(dtype), "age": rng.normal(size=400)})
    for direction in (1, -1):
        model = RegionScorecard(RANGE, max_items=1, monotone={"smokes": direction}, cv=2)
        items = model.set_params(random_state=0).fit(X, y).items_
        assert ("smokes" in {one["column"] for one in items}) == (direction == 1)


def test_categories_have_no_direction():
    X, y = clinic()
    model = RegionScorecard(RANGE, max_items=1, cv=2, pos_label="ill", random_state=0)
    for key in ("status", 1):
        with pytest.raises(ValueError, match="'status', whose categories have no order"):
            model.set_params(monotone={key: 1}).fit(X, y)
    model.set_params(monotone={"status": 0}).fit(X, y)


def test_text_among_numbers_names_the_column(fitted):
    X, _ = clinic()
    with pytest.raises(ValueError, match=r"'age' held numbers in training.*'old'"):
        fitted.predict(X.assign(age="old"))


def test_points_of_missing_values_are_told():
    """Low markers are rare among the ill, so that a search for few items takes points off them."""
    X, _ = clinic()
    low, rng = X["marker"] <= 1.0, np.random.default_rng(0)
    y = np.where((rng.random(len(X)) < 0.5) & ~low, "ill", "well")
    options = {"cv": 2, "pos_label": "ill", "random_state": 0}
    model = RegionScorecard((0.0, 1.0), max_items=1, **options).fit(X[["marker"]], y)
    (item,) = model.items_
    assert (item["test"], item["or_missing"]) == (">", True)
    assert item["points"] > 0
    (text,) = model.line_texts()
    assert text.startswith("marker > ")
    assert text.endswith(" or is missing")
    total = model.total(X[["marker"]])
    assert set(total) == {one["total"] for one in model.risk_} & {0, item["points"]}
    assert np.array_equal(total == 0, X["marker"] <= item["value"])
    p = model.predict_proba(X[["marker"]])[:, 0]
    assert p.mean() == pytest.approx(np.mean(y == "ill"), abs=0.03)
    # A sign that was asked for stays.
    model = RegionScorecard((0.0, 1.0), max_items=1, sign=-1, **options).fit(X[["marker"]], y)
    assert model.items_[0]["points"] < 0
    assert not model.items_[0]["or_missing"]


def test_groups_and_time_are_respected():
    X, y = clinic()
    model = RegionScorecard(RANGE, max_items=2, cv=3, pos_label="ill", random_state=0)
    rows = np.arange(len(y))
    later = model.fit(X, y, time=rows)
    # The first block of time is not scored.
    assert sum(one["rows"] for one in later.risk_) == 450
    model.fit(X, y, groups=rows // 2)
    assert sum(one["rows"] for one in model.risk_) == 600


def test_few_rows_get_the_card_of_least_log_loss():
    X, y = clinic(16)
    with pytest.warns(aucuba.FewRowsWarning, match="The card of least log-loss is returned"):
        model = RegionScorecard(RANGE, pos_label="ill").fit(X, y)
    assert model.caution_ == 1.0
    assert "too few rows" in model.status_


def test_no_condition_gives_no_points():
    X, y = np.zeros((40, 2)), np.arange(40) % 2
    with pytest.warns(aucuba.FewRowsWarning, match="every total is 0"):
        model = RegionScorecard((0.0, 0.9), cv=2).fit(X, y)
    assert not model.total(X).any()
    assert model.risk_[0]["risk"] == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("lead", "error", "chosen"),
    [
        (0.03, 0.02, 1),
        (-0.01, 0.02, 1),
        (-0.03, 0.02, 0),
        (0.0, 0.0, 1),
        (np.nan, np.nan, 0),
    ],
)
def test_region_is_left_for_a_clear_lead_of_the_log_loss_only(lead, error, chosen):
    assert chosen_caution([Lead(0.0, 0.0), Lead(lead, error)]) == chosen
