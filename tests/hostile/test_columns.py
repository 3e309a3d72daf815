"""Tables that broke the preparation of columns."""

import datetime

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from aucuba._columns._table_columns import Columns
from aucuba.ensemble import RegionReweighted, RegionStack
from aucuba.linear import AUMClassifier, PartialAUCClassifier, PartialAUCClassifierCV, PartialAUCSVC
from aucuba.scorecard import RegionScorecard
from aucuba.threshold import FixedFPRClassifier

pd = pytest.importorskip("pandas")

MEMBERS = ["forest", "linear"]


def days(column):
    """The elapsed time that a model sees, in days since 1970."""
    X = pd.DataFrame({"when": column, "n": np.arange(len(column))})
    return Columns.from_table(X).for_trees(None)[0].fit_transform(X)[:, 0]


FAR = ["0001-01-01", "1677-09-20", "1970-01-02", "2262-04-12", "9999-12-31"]
EXPECTED = [datetime.date.fromisoformat(one).toordinal() - 719163 for one in FAR]


@pytest.mark.parametrize(
    "column",
    [
        pytest.param(np.array(FAR, dtype="datetime64[D]").astype("datetime64[s]"), id="seconds"),
        pytest.param(np.array(FAR, dtype="datetime64[us]"), id="microseconds"),
        pytest.param([datetime.date.fromisoformat(one) for one in FAR], id="date objects"),
        pytest.param([datetime.datetime.fromisoformat(one) for one in FAR], id="datetime objects"),
        pytest.param(FAR, id="text"),
    ],
)
def test_dates_of_any_year(column):
    assert days(column).tolist() == EXPECTED


def test_an_array_of_years_does_not_wrap():
    X = np.array([["-5000", "1970"], ["20000", "1971"]], dtype="datetime64[Y]")
    plain = Columns.from_table(X).for_trees(None)[0].fit(X)
    assert plain.transform(X)[:, 0] == pytest.approx([-6970 * 365.2425, 18030 * 365.2425], rel=1e-4)


def table(n_rows=80):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=n_rows), "city": rng.choice(["x", "y"], n_rows)})
    return frame, (frame["a"] + rng.normal(size=n_rows) > 0.5).to_numpy()


def test_a_frame_without_columns():
    frame, y = table()
    with pytest.raises(ValueError, match=r"0 feature\(s\) \(shape=\(80, 0\)\)"):
        RegionStack((0.0, 0.5), estimators=MEMBERS, cv=2).fit(frame[[]], y)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_numbers_are_not_taken_for_codes_of_categories():
    frame, y = table()
    stack = RegionStack((0.0, 0.5), estimators=MEMBERS, cv=2, random_state=0).fit(frame, y)
    codes = frame.assign(city=(frame["city"] == "y") * 1.0).to_numpy(dtype=float)
    with pytest.raises(
        ValueError, match=r"categories or dates in the columns 'city', and an array"
    ):
        stack.decision_function(codes)
    with pytest.raises(ValueError, match=r"categories or dates in the columns 'city'"):
        stack.predict(codes[:1])


@pytest.mark.parametrize("place", [0, 7])
def test_a_word_among_dates(place):
    frame, y = table()
    dated = frame.assign(when=pd.date_range("2020-01-01", periods=80).strftime("%Y-%m-%d"))
    stack = RegionStack((0.0, 0.5), estimators=MEMBERS, cv=2, random_state=0).fit(dated, y)
    wrong = dated.astype({"when": object})
    wrong.loc[place, "when"] = "tomorrow"
    with pytest.raises(ValueError, match=r"'when' held dates in training, and 'tomorrow' is not"):
        stack.decision_function(wrong)


@pytest.mark.parametrize("model", ["stack", "cv"])
def test_splits_that_train_on_their_test_rows(model):
    frame, y = table()
    rows = np.arange(80)
    leaking = [(rows, rows[:40]), (rows[:40], rows[40:])]
    if model == "cv":
        estimator = PartialAUCClassifierCV((0.0, 0.5), cv=leaking)
    else:
        estimator = RegionStack((0.0, 0.5), estimators=MEMBERS, cv=leaking)
    with pytest.raises(ValueError, match="Split 0 of cv trains on 40 of the rows that it tests"):
        estimator.fit(frame[["a"]], y)


NUMBERS = np.random.default_rng(0).normal(size=(120, 3))
ABOVE = NUMBERS[:, 0] > 0
TAKERS = {
    "linear": PartialAUCClassifier((0.0, 0.5)),
    "AUM": AUMClassifier(),
    "SVC": PartialAUCSVC((0.0, 0.5)),
    "reweighted": RegionReweighted(LogisticRegression(), (0.0, 0.5)),
    "stack": RegionStack((0.0, 0.5), estimators=MEMBERS, cv=2),
    "card": RegionScorecard((0.0, 0.5)),
    "promise": FixedFPRClassifier(LogisticRegression(), max_fpr=0.3),
}
UNREADABLE = {
    "masked": (np.ma.masked_array(NUMBERS, NUMBERS > 1), "X has 58 masked entries; fill them"),
    "complex": (NUMBERS + 1j, "Complex data not supported: X has the dtype complex128"),
    "no columns": (pd.DataFrame(index=range(120)), r"0 feature\(s\) \(shape=\(120, 0\)\)"),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:At C=1 the structural loss hardly ranks")
@pytest.mark.parametrize("kind", UNREADABLE)
@pytest.mark.parametrize("taker", TAKERS)
def test_tables_that_would_be_misread(taker, kind):
    X, message = UNREADABLE[kind]
    with pytest.raises(ValueError, match=message):
        clone(TAKERS[taker]).fit(X, ABOVE)
    model = clone(TAKERS[taker]).fit(NUMBERS, ABOVE)
    with pytest.raises(ValueError, match=message):
        model.predict(X)
    unmasked = np.ma.masked_array(NUMBERS, False)
    assert np.array_equal(model.predict(unmasked), model.predict(NUMBERS))


@pytest.mark.parametrize("size", [1e155, 1e-320])
def test_entries_whose_products_are_no_numbers(size):
    with pytest.raises(ValueError, match=r"whose products (over|under)flow in float64"):
        PartialAUCClassifier((0.0, 0.5)).fit(NUMBERS * size, ABOVE)
