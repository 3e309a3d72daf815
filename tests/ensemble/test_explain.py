"""Reasons of rows: enumeration of all subsets, sums, sources of columns, words, and errors."""

from itertools import combinations
from math import factorial

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import IsolationForest, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, SGDOneClassSVM
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from aucuba import (
    FixedFPRClassifier,
    PartialAUCClassifier,
    PartialAUCSVC,
    RegionScorecard,
    RegionStack,
    explain_rows,
)
from aucuba._columns._table_columns import Columns
from aucuba.ensemble._attribution import walk_contributions
from aucuba.ensemble._explain import _words


def data(n_rows=300, n_columns=4):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_columns))
    y = (X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=n_rows) > 0.5).astype(int)
    return X, y


def shapley(score, x, background):
    """By the definition: over all subsets of columns, those outside taken from each background row."""
    d = len(x)

    def value(subset):
        rows = background.copy()
        rows[:, list(subset)] = x[list(subset)]
        return score(rows).mean()

    found = np.zeros(d)
    for column in range(d):
        others = [other for other in range(d) if other != column]
        for size in range(d):
            factor = factorial(size) * factorial(d - 1 - size) / factorial(d)
            for subset in combinations(others, size):
                found[column] += factor * (value((*subset, column)) - value(subset))
    return found


@pytest.mark.parametrize("steps", [(), (StandardScaler(),), (PolynomialFeatures(2),)])
def test_it_is_the_shapley_value(steps):
    # Orders and their reverses are exact for interactions of two columns, so for squares too.
    X, y = data()
    model = make_pipeline(*steps, LogisticRegression()).fit(X, y)
    X[3, 1] = X[250, 1]
    found = explain_rows(model, X[:4], background=X[250:255], n_walks=1)
    for row, values in zip(X[:4], found.contributions, strict=True):
        np.testing.assert_allclose(
            values, shapley(model.decision_function, row, X[250:255]), atol=1e-12
        )
    assert found.unit == "log-odds"


def test_walks_converge_where_they_are_not_exact():
    X, y = data()
    model = RandomForestClassifier(20, max_depth=6, random_state=0).fit(X, y)

    def log_odds(rows):
        p = np.clip(model.predict_proba(rows)[:, 1], 0.5 / 20, 1 - 0.5 / 20)
        return np.log(p / (1 - p))

    exact = shapley(log_odds, X[0], X[250:253])
    errors = []
    for n_walks in (6, 600):
        found = explain_rows(model, X[:1], background=X[250:253], n_walks=n_walks)
        errors.append(np.abs(found.contributions[0] - exact).max())
        np.testing.assert_allclose(found.scores, log_odds(X[:1]), atol=1e-12)
        assert found.base == pytest.approx(log_odds(X[250:253]).mean())
    assert errors[1] < 0.05 * np.abs(exact).max()
    assert errors[1] < errors[0]


def test_the_closed_form_is_what_walks_find():
    X, y = data()
    model = make_pipeline(StandardScaler(), PartialAUCClassifier((0.0, 0.2))).fit(X, y)
    closed = explain_rows(model, X[:5], background=X[250:257])
    walked = walk_contributions(model.decision_function, X[:5], X[250:257], 1, 0)
    np.testing.assert_allclose(closed.contributions, walked, atol=1e-12)
    assert closed.unit == "score"


@pytest.fixture(scope="module")
def table():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(1)
    n = 400
    days = np.datetime64("2020-01-01") + rng.integers(0, 900, n)
    frame = pd.DataFrame({"age": rng.normal(size=n), "day": days})
    frame["income"] = np.exp(rng.normal(10, 1, n))
    frame["city"] = rng.choice(["Oslo", "Rome", "Bergen", "Lyon"], n, p=[0.5, 0.3, 0.19, 0.01])
    frame["flag"] = rng.random(n) < 0.5
    high = (frame["income"] > 30_000) & (frame["city"] == "Rome")
    y = np.where(rng.random(n) < np.where(high, 0.9, 0.15), "bad", "good")
    frame.loc[::9, "income"] = np.nan
    frame.loc[::11, "city"] = None
    return frame, y


def test_every_prepared_column_has_one_source(table):
    frame, _ = table
    columns = Columns.from_table(frame)
    for made in (columns.for_linear(None)[0], columns.for_splines(None)[0]):
        prepared = made.fit_transform(frame)
        source = made.source_columns()
        assert source.size == prepared.shape[1]
        for place, name in enumerate(frame.columns):
            moved = frame.copy()
            moved[name] = np.roll(frame[name].to_numpy(), 1)
            changed = (made.transform(moved) != prepared).any(axis=0)
            assert changed.any()
            assert set(source[changed]) == {place}


def test_a_typical_row(table):
    frame, _ = table
    made = Columns.from_table(frame).for_linear(None)[0].fit(frame)
    row = made.plain_.typical_row()
    assert row["income"] == pytest.approx(frame["income"].median())
    assert row["city"] == "Oslo"
    assert row["flag"] in (0.0, 1.0)
    assert row["day"] == frame["day"].median()


@pytest.fixture(scope="module")
def stack(table):
    frame, y = table
    names = ["forest", "boosting", "linear"]
    return RegionStack((0, 0.2), estimators=names, cv=2, pos_label="bad", random_state=0).fit(
        frame[:300], y[:300]
    )


def test_contributions_of_a_stack_add_up_to_its_log_odds(table, stack):
    frame, _ = table
    assert list(stack.classes_) == ["bad", "good"]
    rows, background = frame[300:310], frame[:8]
    found = explain_rows(stack, rows, background=background)
    p = stack.predict_proba(rows)[:, 0]
    of_background = stack.predict_proba(background)[:, 0]
    log_odds = np.log(p / (1 - p)) - np.log(of_background / (1 - of_background)).mean()
    np.testing.assert_allclose(found.contributions.sum(axis=1), log_odds, atol=1e-8)
    np.testing.assert_allclose(found.scores, -stack.decision_function(rows), atol=1e-8)
    alone = explain_rows(stack, rows[4:5], background=background)
    np.testing.assert_allclose(alone.contributions[0], found.contributions[4], atol=1e-10)
    assert alone.reasons[0] == found.reasons[4]
    assert found.columns == list(frame.columns)
    lines = found.to_frame()
    assert len(lines) == sum(map(len, found.reasons))


def test_a_promised_threshold_is_explained_by_its_score(table):
    frame, y = table
    base = Columns.from_table(frame).for_linear(LogisticRegression(max_iter=1000))
    promised = FixedFPRClassifier(base, 0.1, pos_label="bad", random_state=0).fit(frame, y)
    found = explain_rows(promised, frame[:50], background=frame[300:320])
    flagged = promised.predict(frame[:50]) == "bad"
    np.testing.assert_array_equal(found.scores > promised.threshold_, flagged)
    plain = explain_rows(
        promised.estimator_, frame[:50], background=frame[300:320], pos_label="good"
    )
    np.testing.assert_allclose(plain.contributions, -found.contributions)
    inner = promised.estimator_
    coef = -inner[-1].coef_[0]
    moved = inner[0].transform(frame[:50]) - inner[0].transform(frame[300:320]).mean(axis=0)
    city = inner[0].source_columns() == 3
    np.testing.assert_allclose(found.contributions[:, 3], moved[:, city] @ coef[city], atol=1e-10)


@pytest.mark.parametrize("direction", ["auto", "high"])
@pytest.mark.parametrize("base", [IsolationForest(random_state=0), SGDOneClassSVM(random_state=0)])
def test_a_detector_is_explained_towards_the_end_that_it_flags(base, direction):
    rng = np.random.default_rng(0)
    X = rng.normal(loc=3.0, size=(400, 3))
    model = FixedFPRClassifier(base, max_fpr=0.1, score_direction=direction, random_state=0).fit(X)
    odd = np.array([[3.0, -9.0, 3.0]])
    found = explain_rows(model, odd, background=X)
    np.testing.assert_allclose(found.scores, model.decision_function(odd) + model.threshold_)
    against = explain_rows(model, odd, background=X, pos_label=0)
    np.testing.assert_allclose(against.contributions, -found.contributions)
    first = (found if direction == "auto" else against).reasons[0][0]
    assert first.startswith("x1 is -9, typically")


def test_searches_and_sparse_rows():
    X, y = data()
    search = GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}).fit(X, y)
    found = explain_rows(search, X[:5])
    np.testing.assert_allclose(
        found.contributions, search.best_estimator_.coef_ * (X[:5] - X[:5].mean(axis=0))
    )
    from_sparse = explain_rows(search, sparse.csr_array(X[:5]))
    np.testing.assert_allclose(from_sparse.contributions, found.contributions)
    assert from_sparse.reasons == found.reasons


@pytest.mark.filterwarnings("ignore:A kernel matrix", "ignore:Rounding errors")
def test_a_kernel_model_is_not_taken_for_linear(monkeypatch):
    monkeypatch.setattr("aucuba.linear._svc.MAX_KERNEL_ROWS", 50)
    # With four landmarks it has as many coefficients as there are columns.
    X = data(120)[0]
    y = (X[:, 0] > 0.3).astype(int)
    model = PartialAUCSVC((0.0, 0.5), kernel="rbf", C=100.0, n_components=4, random_state=0)
    model.fit(X, y)
    assert model.coef_.shape == (1, 4)
    found = explain_rows(model, X[:2], background=X[50:54], n_walks=200)
    for row, values in zip(X[:2], found.contributions, strict=True):
        exact = shapley(model.decision_function, row, X[50:54])
        assert np.abs(values - exact).max() < 0.05 * np.abs(exact).max()


def test_the_words(table):
    frame, y = table
    model = Columns.from_table(frame).for_linear(LogisticRegression(max_iter=1000))
    model.fit(frame, y == "bad")
    rows = frame[300:303].copy()
    rows.loc[300, "income"], rows.loc[301, "income"] = 123_456.0, np.nan
    rows["city"] = ["Rome", "Rome", None]
    found = explain_rows(model, rows, 4, background=frame[:1].assign(income=12.34567))
    city = next(one for one in found.reasons[0] if one.startswith("city"))
    assert city.startswith("city is Rome, typically missing: raises the log-odds by ")
    income = next(one for one in found.reasons[0] if one.startswith("income"))
    assert income.startswith("income is 123,500, typically 12.35: raises the log-odds by ")
    assert not any("city" in one for one in found.reasons[2])
    # Columns that are as in most background rows may still raise the score a little.
    rome = explain_rows(model, rows[:1], background=frame[:9].assign(city=["Rome"] * 8 + ["Oslo"]))
    assert any(one.startswith("city is Rome, as is typical: raises") for one in rome.reasons[0])
    for values, reasons in zip(found.contributions, found.reasons, strict=True):
        raised = [float(one.rpartition(" ")[2]) for one in reasons]
        assert raised == sorted(raised, reverse=True)
        assert len(raised) <= (values > 0).sum()
        np.testing.assert_allclose(raised, np.sort(values)[::-1][: len(raised)], atol=0.006)


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (
            lambda pd: pd.to_datetime(["2021-05-01", "2020-01-01", "2023-07-01"]),
            "typically 2021-05-01",
        ),
        (lambda pd: ["2021-05-01", "2020-01-01", "2023-07-01"], "typically 2021-05-01"),
        (lambda pd: pd.to_datetime(["2021-05-01", "2020-01-01", None], utc=True), "2020-01-01 00"),
        (lambda pd: pd.array([3, 1, 70, 80, None, 90], dtype="Int64"), "typically 70"),
        (lambda pd: np.array([3.0, 1.0, 70.0, 80.0, None, 90.0], dtype=object), "typically 70"),
        (lambda pd: [True, False, True, False, True, True], "typically True"),
        (lambda pd: pd.to_timedelta([1, 1, 5, 6, 7], "D"), "typically 1 days"),
        (lambda pd: ["b", "a", "b"], "typically b"),
    ],
)
def test_what_is_typical_of_a_column(made, words):
    pd = pytest.importorskip("pandas")
    background = pd.DataFrame({"a": made(pd)})
    assert words in _words(pd.DataFrame({"a": ["x"]}), background, ["a"])(0, 0)


def test_the_items_of_a_scorecard(table):
    frame, y = table
    card = RegionScorecard((0.0, 0.2), max_items=3, pos_label="bad", random_state=0)
    card.fit(frame, y)
    found = explain_rows(card, frame[:40])
    np.testing.assert_array_equal(found.scores, card.total(frame[:40]))
    assert found.columns == card.line_texts()
    assert found.unit == "total"
    points = {text: item["points"] for text, item in zip(found.columns, card.items_, strict=True)}
    told = [one for reasons in found.reasons for one in reasons]
    assert told
    for one in told:
        text, _, raised = one.rpartition(": raises the total by ")
        assert points[text] == int(raised) > 0


def test_what_cannot_be_explained():
    X, y = data()
    model = LogisticRegression().fit(X, y)
    with pytest.raises(
        ValueError, match="give ordinary rows, such as a sample of the training rows"
    ):
        explain_rows(model, X[:1])
    with pytest.raises(ValueError, match="background has 3 columns, X has 4"):
        explain_rows(model, X[:2], background=X[:, :3])
    with pytest.raises(ValueError, match="n_reasons"):
        explain_rows(model, X, 0)
    with pytest.raises(ValueError, match=r"got shape \(4,\)"):
        explain_rows(model, X[0])
    forest = RandomForestClassifier(2, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="or use a linear model"):
        explain_rows(forest, sparse.csr_array(X))
