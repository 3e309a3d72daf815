"""Cards in print, and cards that run without the library."""

import json
import sqlite3
from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from aucuba import FixedFPRClassifier, RegionScorecard, explain_rows
from aucuba.scorecard import Scorecard
from aucuba.scorecard._conditions import Condition
from aucuba.scorecard._lines import card_lines
from tests.scorecard.test_region_scorecard import RANGE, clinic

pd = pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def model():
    X, y = clinic()
    base = RegionScorecard(RANGE, max_items=5, max_per_column=2, cv=2, pos_label="ill")
    return base.set_params(include=["seen", "status", "marker"], random_state=0).fit(X, y)


@pytest.fixture(scope="module")
def turned():
    """A card with points for a missing value or one above a cut, and for one outside a group."""
    X, y = clinic()
    hidden = X.assign(status=X["status"].where(X.index % 6 > 0, None))
    low = (X["marker"] <= 1.0) | (hidden["status"].isin(["single", "married"]))
    ill = np.where((y == "ill") & ~low, "ill", "well")
    model = RegionScorecard((0.0, 1.0), max_items=2, cv=2, pos_label="ill", random_state=0)
    return model.fit(hidden, ill)


@pytest.fixture(scope="module")
def promised():
    X, y = clinic()
    base = RegionScorecard(RANGE, max_items=4, cv=2, pos_label="ill", random_state=0)
    return FixedFPRClassifier(base, 0.1, pos_label="ill", random_state=0).fit(X, y)


@pytest.mark.parametrize("which", ["model", "promised"])
def test_call_at_is_the_smallest_flagged_total(which, request):
    fitted = request.getfixturevalue(which)
    X, _ = clinic(seed=5)
    card = Scorecard.from_model(fitted)
    total = (fitted if which == "model" else fitted.estimator_).total(X)
    assert np.array_equal(fitted.predict(X) == "ill", total >= card.call_at)
    assert (total >= card.call_at).any()
    assert card.decision.startswith(f"Call at {card.call_at} points or more: ")
    if which == "promised":
        assert "at most 0.1, with confidence 0.95" in card.decision


def test_no_total_can_carry_a_promise_that_rows_do_not_support():
    X, y = clinic(400)
    base = RegionScorecard(RANGE, max_items=2, cv=2, pos_label="ill", random_state=0)
    strict = FixedFPRClassifier(base, 0.001, pos_label="ill", on_failure="trivial", random_state=0)
    with pytest.warns(UserWarning, match="flagging nothing"):
        strict.fit(X, y)
    card = Scorecard.from_model(strict)
    assert not (strict.predict(X) == "ill").any()
    assert card.call_at is None
    assert card.decision.startswith("No total can carry it")
    assert '0 AS "flag"' in card.to_sql()


def test_tables_show_every_item_and_total(model):
    card = Scorecard.from_model(make_pipeline(model))
    for written in (str(card), card.to_markdown(), card.to_html()):
        for text, points in card.rows:
            shown = text.replace(">", "&gt;").replace("<", "&lt;") if "<table>" in written else text
            assert shown in written
            assert f"{points:+d}" in written
        assert "Call at" in written
    assert card._repr_html_() == card.to_html()
    assert card.to_markdown().count("\n|") >= len(model.items_) + len(model.risk_)
    latex = card.to_latex()
    assert latex.count(r" \\") == len(card.rows) + 1
    assert "$>$" in latex


@pytest.mark.parametrize(
    ("share", "shown"),
    [(0.0, "0.0%"), (1e-9, "<0.0001%"), (0.000423, "0.042%"), (0.0234, "2.3%"), (1.0, "100.0%")],
)
def test_rare_risks_and_many_rows_keep_their_digits(share, shown):
    row = {
        "total": 3,
        "risk": share,
        "rows": 1_234_567.0,
        "positives": 4.0,
        "low": share,
        "high": 1,
    }
    card = Scorecard(((Condition(0, "a", ">", 1.0), 3),), [row], "ill", 0.5, "a rule")
    for written in (str(card), card.to_markdown(), card.to_html()):
        assert "1,234,567" in written
        assert f"{shown} to 100.0%".replace("<", "&lt;" if "<table" in written else "<") in written


def test_cuts_of_one_column_are_shown_as_bands(model):
    base = Condition(1, "age", ">")
    items = [
        (Condition(0, "ward", "in", ("A",)), 2),
        (replace(base, value=40.0), 2),
        (replace(base, value=60.0), 3),
        (replace(base, test="<=", value=60.0, or_missing=True), 1),
    ]
    card = replace(Scorecard.from_model(model), items=tuple(items))
    bands = [("age <= 40", 1), ("40 < age <= 60", 3), ("age > 60", 5), ("age is missing", 1)]
    assert card.rows == [("ward is A", 2), *bands]
    values = np.array([40.0, 40.1, 60.0, 99.0, np.nan])
    total = sum(points * condition.met(values) for condition, points in items[1:])
    assert total.tolist() == [1, 3, 3, 5, 1]
    lines = card_lines(items)[1:]
    assert (np.sum([line.met(values) for line in lines], axis=0) == 1).all()
    assert np.array_equal(np.sum([one.points * one.met(values) for one in lines], axis=0), total)
    dates = [(replace(one, is_date=True), points) for one, points in items[1:3]]
    shown = [text for text, _ in replace(card, items=tuple(dates)).rows]
    assert shown == ["1970-02-10 < age <= 1970-03-02", "age > 1970-03-02"]
    one_cut = [(replace(base, value=40.0), 2), (replace(base, test="missing"), 1)]
    assert replace(card, items=tuple(one_cut)).rows == [("age > 40", 2), ("age is missing", 1)]


def test_reasons_are_lines_of_the_card():
    X, y = clinic(1500)
    X, y = X[["age"]], np.where((X["age"] > 40) & (np.arange(1500) % 3 > 0), y, "well")
    y = np.where((X["age"] > 70) & (np.arange(1500) % 2 > 0), "ill", y)
    model = RegionScorecard((0.0, 1.0), max_items=3, cv=2, pos_label="ill", random_state=0).fit(
        X, y
    )
    rows = dict(Scorecard.from_model(model).rows)
    assert any(" < age <= " in text for text in rows)
    found = explain_rows(model, X[:200])
    for reasons in found.reasons:
        # Bands of one column do not overlap.
        assert len(reasons) <= 1
        for one in reasons:
            text, _, points = one.rpartition(": raises the total by ")
            assert rows[text] == int(points)


def test_latex_escapes_names(model):
    frame, y = clinic()
    frame = frame.rename(columns={"age": "a_50% & {x}"})
    fitted = RegionScorecard(RANGE, max_items=1, cv=2, pos_label="ill", include=[0]).fit(frame, y)
    assert r"a\_50\% \& \{x\}" in Scorecard.from_model(fitted).to_latex()
    base = Condition(0, "a|b", ">")
    items = tuple((replace(base, value=cut), 2) for cut in (-1.5, 2.0))
    lines = replace(Scorecard.from_model(fitted), items=items).to_latex().splitlines()
    assert r"-1.5 $<$ a\textbar{}b $\leq$ 2 & $+2$ \\" in lines


@pytest.mark.parametrize("which", ["model", "turned"])
def test_sql_runs_and_agrees(which, request):
    model, (X, _) = request.getfixturevalue(which), clinic(seed=7)
    X.loc[3, "status"] = None
    card = Scorecard.from_model(model)
    with sqlite3.connect(":memory:") as database:
        X.assign(seen=X["seen"].dt.strftime("%Y-%m-%d")).to_sql("patients", database, index=False)
        found = pd.read_sql(card.to_sql("patients"), database)
    database.close()
    assert np.array_equal(found["total"], model.total(X))
    assert np.array_equal(found["flag"] == 1, model.predict(X) == "ill")
    assert np.allclose(found["risk"], model.predict_proba(X)[:, 0])


@pytest.mark.parametrize("which", ["model", "turned"])
def test_sql_runs_in_duckdb(which, request):
    duckdb, model = pytest.importorskip("duckdb"), request.getfixturevalue(which)
    X, _ = clinic(seed=8)
    X["marker"] = X["marker"].astype(object).where(X["marker"].notna(), None)
    with duckdb.connect() as database:
        database.register("frame", X)
        database.execute(
            "CREATE TABLE patients AS SELECT age, status, seen, "
            "CASE WHEN isnan(CAST(marker AS DOUBLE)) THEN NULL "
            "ELSE CAST(marker AS DOUBLE) END AS marker FROM frame"
        )
        found = database.execute(Scorecard.from_model(model).to_sql("patients")).df()
    assert np.array_equal(found["total"], model.total(X))
    assert np.array_equal(found["flag"] == 1, model.predict(X) == "ill")
    assert np.allclose(found["risk"], model.predict_proba(X)[:, 0])


@pytest.mark.parametrize("which", ["model", "turned"])
def test_python_runs_without_the_library(which, request):
    model, (X, _) = request.getfixturevalue(which), clinic(seed=9)
    space = {}
    exec(Scorecard.from_model(model).to_python("ward"), {}, space)
    rows = X.assign(seen=X["seen"].dt.strftime("%Y-%m-%d")).to_dict("records")
    found = [space["ward"](row) for row in rows]
    assert [total for total, _, _ in found] == model.total(X).tolist()
    assert np.allclose([risk for _, risk, _ in found], model.predict_proba(X)[:, 0])
    assert [flag for _, _, flag in found] == (model.predict(X) == "ill").tolist()
    assert space["ward"]({})[0] == sum(
        item["points"] for item in model.items_ if item["test"] == "missing" or item["or_missing"]
    )


def test_times_of_a_day_are_told_and_kept():
    """A card that shows the day alone says something else than the model does."""
    duckdb = pytest.importorskip("duckdb")
    rng = np.random.default_rng(0)
    minutes = rng.permutation(1440)
    seen = pd.Timestamp("2024-05-01") + pd.to_timedelta(minutes, "min")
    X, y = pd.DataFrame({"seen": seen}), rng.random(1440) < np.where(minutes > 840, 0.6, 0.1)
    model = RegionScorecard(RANGE, max_items=2, cv=2, random_state=0).fit(X, y)
    card, total = Scorecard.from_model(model), model.total(X)
    assert all("2024-05-01 " in text for text in model.line_texts())
    with duckdb.connect() as database, sqlite3.connect(":memory:") as other:
        database.register("rows", X)
        found = [database.execute(card.to_sql()).df()]
        X.to_sql("rows", other, index=False)
        found.append(pd.read_sql(card.to_sql(), other))
    other.close()
    for one in found:
        assert np.array_equal(one["total"], total)
    space = {}
    exec(card.to_python(), {}, space)
    for write in (str, pd.Timestamp.isoformat, lambda time: time):
        assert [space["card"]({"seen": write(time)})[0] for time in seen] == total.tolist()


def test_names_stay_in_their_comments():
    broken = Condition(0, "a\rraise KeyError\n#", "in", ("b\r\u2028DROP", "c"))
    risk = [{"total": total, "risk": 0.5} for total in (0, 1)]
    card = Scorecard(((broken, 1),), risk, "ill", 0.5, '"""\n1 / 0\n')
    space = {}
    exec(card.to_python(), {}, space)
    assert space["card"]({broken.column: "c"})[0] == 1
    table = pd.DataFrame({broken.column: ["c", "d"]})
    with sqlite3.connect(":memory:") as database:
        table.to_sql("rows", database, index=False)
        assert pd.read_sql(card.to_sql(), database)["total"].tolist() == [1, 0]
    database.close()
    assert len(card.to_sql().split("\r")) == 3


@pytest.mark.parametrize("which", ["model", "turned"])
def test_json_holds_what_another_program_needs(which, request):
    model = request.getfixturevalue(which)
    content = json.loads(Scorecard.from_model(model).to_json())
    X, _ = clinic(seed=10)
    total = np.zeros(len(X), dtype=int)
    tests = {
        ">": lambda column, value: column > value,
        "<=": lambda column, value: column <= value,
        "in": lambda column, value: column.isin(value),
        "not in": lambda column, value: ~column.isin(value) & column.notna(),
        "missing": lambda column, value: column.isna(),
        "present": lambda column, value: column.notna(),
    }
    for item in content["items"]:
        met = tests[item["test"]](X[item["column"]], item["value"])
        met = met | (item["or_missing"] & X[item["column"]].isna())
        total += item["points"] * met.to_numpy()
    assert np.array_equal(total, model.total(X))
    assert content["positive_class"] == "ill"
    assert content["risk"] == model.risk_


def test_points_that_were_turned_around_are_told(turned):
    tests = {(one["column"], one["test"]) for one in turned.items_ if one["or_missing"]}
    assert {column for column, _ in tests} == {"marker", "status"}
    assert all(one["points"] > 0 for one in turned.items_)


def test_other_models_have_no_card(promised):
    with pytest.raises(ValueError, match="has no card"):
        Scorecard.from_model(LogisticRegression().fit([[0.0], [1.0]], [0, 1]))
    promised = FixedFPRClassifier(promised.estimator_, 0.3, cv="prefit", pos_label="well")
    with pytest.raises(ValueError, match="give both the same pos_label"):
        Scorecard.from_model(promised.fit(*clinic(seed=4)))
