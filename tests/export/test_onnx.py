"""ONNX graphs: the scores, flags and promises of the model, in another runtime."""

import json
import warnings

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.datasets import make_classification
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    IsolationForest,
    RandomForestClassifier,
)
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from aucuba import (
    AlertBudgetClassifier,
    AUMClassifier,
    ColumnPreparer,
    FixedFPRClassifier,
    FixedPrecisionClassifier,
    FixedTPRClassifier,
    PartialAUCClassifier,
    PartialAUCClassifierCV,
    PartialAUCSVC,
    RegionReweighted,
    RegionScorecard,
    RegionStack,
    TriageClassifier,
)

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
from aucuba.export import check_onnx, to_onnx
from aucuba.export._graph import Graph, NotConvertible
from aucuba.export._outputs import as_model, one_per_row
from aucuba.export._runtime import open_session
from aucuba.scorecard._conditions import Condition
from aucuba.scorecard._table import as_items

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
RANGE = (0.0, 0.2)


def rows(n_rows=800, seed=0):
    X, y = make_classification(n_rows, 5, weights=[0.8], flip_y=0.05, random_state=seed)
    return X.astype(np.float32).astype(np.float64), y


def with_gaps(X):
    X = X.copy()
    X[::7, 1] = np.nan
    return X


TEST = np.random.default_rng(1).normal(size=(3_000, 5)) * 3
BOOSTING = HistGradientBoostingClassifier(max_iter=8, random_state=0)
FOREST = RandomForestClassifier(12, max_depth=6, random_state=0)
PREPARED = ColumnTransformer(
    [
        (
            "a",
            make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler()),
            [0, 1],
        ),
        ("b", MaxAbsScaler(), [4, 2]),
        ("c", "passthrough", [3]),
    ]
)
GAPS = ("pipeline", "prepared", "scorecard")
MODELS = {
    "anchored": PartialAUCClassifier(RANGE),
    "cv": PartialAUCClassifierCV(RANGE, cv=2, random_state=0),
    "cv, first class": PartialAUCClassifierCV(RANGE, cv=2, random_state=0, pos_label=0),
    "svc": PartialAUCSVC(RANGE),
    "aum": AUMClassifier(),
    "logistic": LogisticRegression(),
    "pipeline": make_pipeline(PREPARED, PartialAUCClassifier(RANGE)),
    "prepared": make_pipeline(ColumnPreparer(), PartialAUCClassifier(RANGE)),
    "tree": DecisionTreeClassifier(max_depth=4, random_state=0),
    "stump": DecisionTreeClassifier(max_depth=1, random_state=0),
    "leaf": DecisionTreeClassifier(min_samples_leaf=500, random_state=0),
    "forest": FOREST,
    "extra trees": ExtraTreesClassifier(7, random_state=0),
    "boosting": BOOSTING,
    "network": MLPClassifier((6, 3), max_iter=20, random_state=0),
    "tanh network": MLPClassifier((4,), activation="tanh", max_iter=20, random_state=0),
    "calibrated": CalibratedClassifierCV(PartialAUCClassifier(RANGE), cv=2),
    "isotonic": CalibratedClassifierCV(FOREST, cv=2, method="isotonic"),
    "isotonic, one point": CalibratedClassifierCV(
        DecisionTreeClassifier(min_samples_leaf=500), cv=2, method="isotonic"
    ),
    "scorecard": RegionScorecard(RANGE, cv=2, random_state=0),
    "scorecard, first class": RegionScorecard(RANGE, cv=2, random_state=0, pos_label=0),
    "reweighted": RegionReweighted(BOOSTING, RANGE, cv=2, random_state=0),
    "reweighted, first class": RegionReweighted(FOREST, RANGE, cv=2, random_state=0, pos_label=0),
    "stack": RegionStack(
        RANGE,
        estimators=["splines_logistic", "nystroem_logistic", ("boosting", BOOSTING), "linear"],
        cv=2,
        random_state=0,
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_scores_flags_and_labels(name):
    X, y = rows()
    model = MODELS[name].fit(with_gaps(X) if name in GAPS else X, y)
    test = with_gaps(TEST) if name in (*GAPS, "boosting") else TEST
    made = to_onnx(model)
    found = check_onnx(made, model, test)
    assert found.n_rows == len(test)
    assert found.score_error < 1e-9
    assert found.n_other_flags == 0
    session = open_session(made)
    single = test.astype(np.float32)
    label, *_ = session.run(["label"], {"X": single})
    np.testing.assert_array_equal(label, model.predict(single.astype(np.float64)))
    if hasattr(model, "predict_proba"):
        (probability,) = session.run(["probability"], {"X": single})
        expected = model.predict_proba(single.astype(np.float64))[:, 1]
        np.testing.assert_allclose(probability, expected, atol=1e-9)


def test_distilled_and_frozen_models():
    X, y = rows()
    student = MODELS["stack"].fit(X, y).distill(X, y, n_synthetic=200, random_state=0)
    frozen = FixedFPRClassifier(FrozenEstimator(BOOSTING.fit(X, y)), 0.1, cv="prefit").fit(X, y)
    for model in (student, frozen):
        found = check_onnx(to_onnx(model), model, TEST)
        assert found.score_error < 1e-9
        assert found.n_other_flags == 0


@pytest.mark.parametrize("test", [">", "<=", "=", "!=", "missing", "present", "missing or !="])
def test_every_condition_of_a_scorecard(test):
    X, y = rows()
    model = RegionScorecard(RANGE, max_items=1, cv=2, random_state=0).fit(with_gaps(X), y)
    value = float(X[3, 1])
    *or_missing, test = test.split(" or ")
    condition = Condition(1, "x1", test, value, or_missing=bool(or_missing))
    model.items_ = as_items([(condition, 3)])
    model.threshold_ = 1.0
    found = check_onnx(to_onnx(model), model, with_gaps(X))
    assert found.score_error == 0.0
    assert 0 < model.predict(with_gaps(X)).mean() < 1


@pytest.mark.parametrize("kind", [FixedFPRClassifier, FixedTPRClassifier])
def test_ties_of_a_scorecard_stay_on_their_side(kind):
    X, y = rows(2_000)
    model = kind(RegionScorecard(RANGE, cv=2, random_state=0), 0.3, random_state=0).fit(X, y)
    made = to_onnx(model)
    facts = {one.key: one.value for one in made.metadata_props}
    assert facts["aucuba.promise"] == model.promise_
    found = check_onnx(made, model, TEST)
    assert found.n_near > 100
    assert found.n_other_flags == 0


def test_missing_values_take_the_way_of_training():
    X, y = rows()
    for model in (BOOSTING, FOREST, ExtraTreesClassifier(5, random_state=0)):
        made = to_onnx(model.fit(with_gaps(X), y))
        assert check_onnx(made, model, with_gaps(TEST)).n_other_flags == 0


def test_text_labels_and_names_of_columns():
    pd = pytest.importorskip("pandas")
    X, y = rows()
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = PartialAUCClassifier(RANGE, pos_label="bad").fit(frame, np.array(["bad", "ok"])[1 - y])
    made = to_onnx(model)
    facts = {one.key: one.value for one in made.metadata_props}
    assert json.loads(facts["aucuba.columns"]) == list("abcde")
    assert json.loads(facts["aucuba.classes"]) == ["bad", "ok"]
    assert check_onnx(made, model, frame).n_other_flags == 0
    (label,) = open_session(made).run(["label"], {"X": X.astype(np.float32)})
    np.testing.assert_array_equal(label, model.predict(frame))


PROMISED = {
    "fpr": FixedFPRClassifier(make_pipeline(StandardScaler(), LogisticRegression()), 0.1),
    "several": FixedFPRClassifier(FOREST, [0.1, 0.2], on_failure="trivial"),
    "alerts": AlertBudgetClassifier(PartialAUCClassifier(RANGE), 0.2),
    "tpr": FixedTPRClassifier(BOOSTING, 0.6),
    "tpr, first class": FixedTPRClassifier(LogisticRegression(), 0.6, pos_label=0),
    "first class": FixedFPRClassifier(FOREST, 0.4, pos_label=0),
    "low": FixedFPRClassifier(LogisticRegression(), 0.4, score_direction="low"),
    "triage": TriageClassifier(LogisticRegression(), 0.1, 0.9),
}


class TestPromises:
    @pytest.mark.parametrize("name", PROMISED)
    def test_without_calibration_the_safe_side_is_flagged(self, name):
        X, y = rows(2_000)
        model = PROMISED[name].set_params(random_state=0).fit(X, y)
        made = to_onnx(model)
        facts = {one.key: one.value for one in made.metadata_props}
        assert facts["aucuba.promise"] == model.promise_
        assert "proven bound" in facts["aucuba.promise_kept_by"]
        assert check_onnx(made, model, TEST).n_other_flags == 0
        level, flag = open_session(made).run(["level", "flag"], {"X": TEST.astype(np.float32)})
        single = TEST.astype(np.float32).astype(np.float64)
        np.testing.assert_array_equal(level, model.decision_levels(single))
        assert 0 < flag.sum() < len(flag)

    @pytest.mark.parametrize(
        ("kind", "inside"), [(FixedFPRClassifier, True), (FixedTPRClassifier, False)]
    )
    def test_rows_on_the_threshold_go_to_the_safe_side(self, kind, inside):
        """Move the threshold of the model to the score of a row, less than the bound on rounding."""
        X, y = rows(2_000)
        model = kind(LogisticRegression(), 0.3, random_state=0).fit(X, y)
        base = model.estimator_
        single = TEST.astype(np.float32).astype(np.float64)
        scores = base.decision_function(single)
        place = np.argsort(scores)[len(scores) // 2]
        for step in (-1, 0, 1):
            limit = scores[place] + step * np.spacing(abs(scores[place]))
            model.threshold_ = model.thresholds_ = np.float64(limit)
            (flag,) = open_session(to_onnx(model)).run(["flag"], {"X": TEST.astype(np.float32)})
            python = scores > limit
            # A subset of Python's flags for false positives, a superset for true positives.
            assert not np.any(flag & ~python if inside else python & ~flag)
            assert np.sum(flag != python) <= 1
            assert flag[place] == (not inside)

    @pytest.mark.parametrize("name", PROMISED)
    @pytest.mark.parametrize("given", ["all", "held out"])
    def test_calibration_recomputes_the_order_statistic(self, name, given):
        X, y = rows(2_000)
        model = PROMISED[name].set_params(random_state=0).fit(X, y)
        if given == "held out":
            held_out = held_out_rows(model, X, y)
            order = np.random.default_rng(0).permutation(held_out)
            made = to_onnx(model, calibration=(X[order], y[order]))
        else:
            made = to_onnx(model, calibration=(X, y))
        facts = {one.key: one.value for one in made.metadata_props}
        assert facts["aucuba.promise"] == model.promise_
        assert "recomputed" in facts["aucuba.promise_kept_by"]
        thresholds = json.loads(facts["aucuba.thresholds"])
        np.testing.assert_allclose(thresholds, np.sort(np.atleast_1d(model.thresholds_)), rtol=1e-9)
        assert check_onnx(made, model, TEST).score_error < 1e-9

    def test_calibration_makes_a_promise_of_what_has_no_bound(self):
        X, y = rows(2_000)
        nested = RegionReweighted(FOREST, RANGE, cv=2, random_state=0)
        for model in (
            FixedFPRClassifier(nested, 0.1, random_state=0),
            FixedPrecisionClassifier(LogisticRegression(), 0.3, 0.6, random_state=0),
        ):
            model.fit(X, y)
            facts = {one.key: one.value for one in to_onnx(model).metadata_props}
            assert facts["aucuba.promise"] == ""
            assert facts["aucuba.promise_kept_by"].startswith("none")
            made = to_onnx(model, calibration=(X, y))
            facts = {one.key: one.value for one in made.metadata_props}
            assert facts["aucuba.promise"].startswith(model.promise_[:20])
            assert check_onnx(made, model, TEST).n_rows == len(TEST)

    def test_other_rows_are_refused(self):
        X, y = rows(1_000)
        model = FixedFPRClassifier(LogisticRegression(), 0.1, random_state=0).fit(X, y)
        other = X.copy()
        other[0, 0] += 1
        flipped = y.copy()
        flipped[held_out_rows(model, X, y)[0]] ^= 1
        for rows_given in ((other[::-1], y[::-1]), (X[:-1], y[:-1]), (X, flipped), (X[:1], y[:1])):
            with pytest.raises(ValueError, match="are not those of the fit"):
                to_onnx(model, calibration=rows_given)

    def test_groups_and_weights_leave_no_digest(self):
        X, y = rows(1_000)
        model = FixedFPRClassifier(LogisticRegression(), 0.3, random_state=0)
        model.fit(X, y, groups=np.arange(len(y)) // 2)
        assert model.held_out_digest_ is None
        with pytest.raises(ValueError, match="has no digest"):
            to_onnx(model, calibration=(X, y))

    def test_rows_between_the_thresholds_of_a_triage_are_reviewed(self):
        X, y = rows(2_000)
        model = TriageClassifier(LogisticRegression(), 0.3, 0.5, random_state=0).fit(X, y)
        scores = model.estimator_.decision_function(np.float64(np.float32(TEST)))
        row = np.argsort(scores)[len(scores) // 2]
        # Both thresholds on the score of one row: blocked it would break one limit, cleared the other.
        model.thresholds_ = np.full(2, scores[row])
        model.threshold_ = scores[row]
        level, flag = open_session(to_onnx(model)).run(["level", "flag"], {"X": np.float32(TEST)})
        assert level[row] == 1
        assert not flag[row]
        np.testing.assert_array_equal(
            np.delete(level, row), np.delete(2 * (scores > scores[row]), row)
        )

    def test_no_side_is_safe_for_two_rates_or_predictive_values(self):
        X, y = rows(2_000)
        for model in (
            FixedFPRClassifier(LogisticRegression(), 0.4, min_tpr=0.5, random_state=0),
            TriageClassifier(LogisticRegression(), 0.3, min_npv=0.5, random_state=0),
        ):
            made = to_onnx(model.fit(X, y))
            facts = {one.key: one.value for one in made.metadata_props}
            assert facts["aucuba.promise"] == ""
            assert check_onnx(made, model, TEST).n_other_flags == 0
            facts = {
                one.key: one.value for one in to_onnx(model, calibration=(X, y)).metadata_props
            }
            assert facts["aucuba.promise"] == model.promise_

    def test_calibration_needs_a_promise(self):
        X, y = rows()
        with pytest.raises(ValueError, match=r"LogisticRegression has none"):
            to_onnx(LogisticRegression().fit(X, y), calibration=(X, y))

    def test_folds_promise_nothing(self):
        X, y = rows(1_000)
        model = FixedFPRClassifier(LogisticRegression(), 0.1, cv=3, random_state=0).fit(X, y)
        facts = {one.key: one.value for one in to_onnx(model).metadata_props}
        assert facts["aucuba.promise"] == ""


def promise_of(made):
    facts = {one.key: one.value for one in made.metadata_props}
    return facts["aucuba.promise"], facts["aucuba.promise_kept_by"]


def decimals(n_rows, seed):
    """Columns of tenths, which single precision rounds up or down."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n_rows) < 0.3).astype(int)
    X = rng.integers(0, 11, size=(n_rows, 3)) + y[:, None] * rng.integers(0, 4, size=(n_rows, 3))
    return X / 10, y


def seconds(n_rows, seed):
    """A moment in seconds since 1970, of which single precision keeps two minutes, and a number."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n_rows) < 0.3).astype(int)
    moment = 1.7e9 + 120.0 * rng.random(n_rows) + 60.0 * y
    return np.column_stack([moment, rng.normal(size=n_rows) + y]), y


class TestRowsOfDoublePrecision:
    """The rows that set a threshold are doubles, and the graph gets them rounded."""

    @pytest.mark.parametrize("table", [decimals, seconds])
    @pytest.mark.parametrize("kind", [FixedFPRClassifier, FixedTPRClassifier])
    def test_linear_flags_stay_on_the_safe_side_of_the_rows_themselves(self, table, kind):
        base = make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression())
        X, y = table(2_000, 0)
        model = kind(base, 0.3, random_state=0).fit(X, y)
        assert not model.held_out_single_
        test = table(20_000, 1)[0]
        scores = model.estimator_.decision_function(test)
        limit = np.sort(scores)[len(scores) // 2]
        model.threshold_ = model.thresholds_ = np.float64(limit)
        made = to_onnx(model)
        promise, why = promise_of(made)
        assert promise == model.promise_
        assert "rounded rows included" in why
        (flag,) = open_session(made).run(["flag"], {"X": test.astype(np.float32)})
        python = scores > limit
        assert not np.any(flag & ~python if kind is FixedFPRClassifier else python & ~flag)
        assert check_onnx(made, model, test).n_rows == len(test)

    def test_numbers_below_those_of_single_precision(self):
        """All of them round to zero."""
        rng = np.random.default_rng(0)
        y = rng.integers(0, 2, 1_000)
        X = 1e-46 * (rng.normal(size=(1_000, 1)) + y[:, None])
        base = make_pipeline(StandardScaler(), LogisticRegression())
        model = FixedFPRClassifier(base, 0.3, random_state=0).fit(X, y)
        for side in (-1.0, 1.0):
            model.threshold_ = model.thresholds_ = np.float64(side)
            (flag,) = open_session(to_onnx(model)).run(["flag"], {"X": X.astype(np.float32)})
            assert not np.any(flag & ~model.predict(X).astype(bool))

    def test_trees_that_round_by_themselves_keep_the_promise(self):
        X, y = seconds(2_000, 0)
        model = FixedFPRClassifier(FOREST, 0.3, random_state=0).fit(X, y)
        made = to_onnx(model)
        assert promise_of(made)[0] == model.promise_
        test = seconds(20_000, 1)[0]
        (level,) = open_session(made).run(["level"], {"X": test.astype(np.float32)})
        np.testing.assert_array_equal(level, model.decision_levels(test))

    @pytest.mark.parametrize(
        "base",
        [
            HistGradientBoostingClassifier(max_iter=40, random_state=0),
            RegionScorecard(RANGE, cv=2, random_state=0),
        ],
        ids=["boosting", "card"],
    )
    # With the trees of scikit-learn 1.7 only a threshold above all rounded rows keeps the limit.
    @pytest.mark.filterwarnings("ignore:No held-out positive scores above the threshold")
    def test_what_may_change_leaves_no_promise(self, base):
        X, y = seconds(2_000, 0)
        model = FixedFPRClassifier(base, 0.3, random_state=0).fit(X, y)
        made = to_onnx(model)
        promise, why = promise_of(made)
        assert promise == ""
        assert "rows that single precision rounds" in why
        assert "calibration would keep it" in why
        found = check_onnx(made, model, X)
        assert found.n_other_flags == 0
        assert found.n_rounded > 20
        assert f"changes the flags of {found.n_rounded} rows" in str(found)
        (kept, _) = promise_of(to_onnx(model, calibration=(X, y)))
        assert kept.replace(" (kept by flagging nothing)", "") == model.promise_

    def test_trees_behind_arithmetic_have_no_bound(self):
        X, y = rows(1_000)
        for base in (FOREST, BOOSTING):
            model = FixedFPRClassifier(make_pipeline(StandardScaler(), base), 0.3, random_state=0)
            made = to_onnx(model.fit(X, y))
            assert model.held_out_single_
            assert promise_of(made)[0] == ""
            assert check_onnx(made, model, TEST).n_other_flags == 0
            # A filled value is no result of arithmetic.
            model = FixedFPRClassifier(make_pipeline(SimpleImputer(), base), 0.3, random_state=0)
            assert promise_of(to_onnx(model.fit(X, y)))[0] == model.promise_

    def test_forests_compare_what_a_scaler_computes_in_single_precision(self):
        """Quotients that lie as close as numbers of single precision."""
        rng = np.random.default_rng(0)
        X = 1.2e7 - rng.integers(0, 60, size=(2_000, 1))
        y = (rng.random(2_000) < 0.5).astype(int)
        model = make_pipeline(MaxAbsScaler(), ExtraTreesClassifier(10, random_state=0)).fit(X, y)
        assert check_onnx(to_onnx(model), model, X).n_other_flags == 0

    def test_steps_before_the_promise_hide_the_rows(self):
        """Multiples of 1/4 of rows that are no numbers of single precision."""
        X, y = decimals(1_000, 0)
        steps = make_pipeline(MaxAbsScaler()).fit(10 / 4 * np.vstack([X, np.full(3, 1.6)]))
        base = LogisticRegression()
        promised = FixedFPRClassifier(base, 0.3, random_state=0).fit(np.round(X * 4) / 4, y)
        assert promised.held_out_single_
        promise, why = promise_of(to_onnx(make_pipeline(steps[0], promised)))
        assert promise
        assert "rounded rows included" in why

    def test_cards_read_tenths_as_python_does(self):
        X, y = decimals(3_000, 0)
        model = RegionScorecard(RANGE, cv=2, random_state=0).fit(X, y)
        assert len(model.items_) >= 3
        test = decimals(5_000, 1)[0]
        score, flag = open_session(to_onnx(model)).run(
            ["score", "flag"], {"X": test.astype(np.float32)}
        )
        np.testing.assert_array_equal(score, model.decision_function(test))
        np.testing.assert_array_equal(flag, model.predict(test) == 1)


def held_out_rows(model, X, y):
    from aucuba._rows._splits import held_out_split

    stratified = not isinstance(model, AlertBudgetClassifier)
    return held_out_split(0.5, y, 0, stratified=stratified)[1]


def towns(n_rows, seed):
    """A frame with two columns of text, gaps, a rare town, and its classes."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(seed)
    town = rng.choice(["Rome", "Oslo", "Paris", "Bonn"], n_rows, p=[0.4, 0.3, 0.295, 0.005])
    kind = rng.choice(np.array(["new", "used", None], dtype=object), n_rows)
    numbers = np.round(64 * rng.normal(size=(n_rows, 2))) / 64
    frame = pd.DataFrame({"a": numbers[:, 0], "town": town, "kind": kind, "b": numbers[:, 1]})
    frame.loc[::9, "b"] = np.nan
    points = frame["a"] + (frame["town"] == "Rome") + 2.0 * frame["kind"].isna()
    return frame, (points + rng.normal(size=n_rows) > 1.5).astype(int).to_numpy()


OF_TEXT = {
    "linear": make_pipeline(ColumnPreparer(), PartialAUCClassifier(RANGE)),
    "card": RegionScorecard(RANGE, cv=2, random_state=0),
    "stack": RegionStack(
        RANGE, estimators=["splines_logistic", "forest", "boosting"], cv=2, random_state=0
    ),
}


class TestCategories:
    @pytest.mark.parametrize("name", OF_TEXT)
    def test_texts_are_inputs_of_their_own(self, name):
        X, y = towns(1_200, 0)
        model = OF_TEXT[name].fit(X, y)
        test = towns(3_000, 1)[0]
        # A town that training has not seen is a missing value, or any other town to a condition.
        test.loc[:200, "town"] = "Lima"
        made = to_onnx(model)
        found = check_onnx(made, model, test)
        assert found.score_error < 1e-9
        assert found.n_other_flags == 0
        session = open_session(made)
        assert [one.name for one in session.get_inputs()] == ["X", "town", "kind"]
        facts = {one.key: json.loads(one.value) for one in made.metadata_props}
        assert facts["aucuba.columns"] == ["a", "b"]
        assert facts["aucuba.categories"] == ["town", "kind"]
        given = {
            "X": test[["a", "b"]].to_numpy(np.float32),
            "town": test[["town"]].to_numpy(object),
            "kind": test[["kind"]].fillna("").to_numpy(object),
        }
        (label,) = session.run(["label"], given)
        np.testing.assert_array_equal(label, model.predict(test))
        assert np.unique(label).size == 2

    @pytest.mark.parametrize("test", ["in", "not in", "missing", "present"])
    @pytest.mark.parametrize("or_missing", [False, True])
    def test_conditions_on_texts(self, test, or_missing):
        X, y = towns(1_200, 0)
        model = RegionScorecard(RANGE, cv=2, random_state=0).fit(X, y)
        item = next(one for one in model.items_ if one["column"] == "kind")
        asks_text = test.endswith("in")
        item["test"], item["value"] = test, ("used", "other") if asks_text else None
        item["or_missing"] = or_missing and asks_text
        unseen = towns(3_000, 1)[0]
        unseen.loc[:200, "kind"] = "lost"
        assert check_onnx(to_onnx(model), model, unseen).score_error == 0

    def test_a_student_of_texts(self):
        X, y = towns(600, 0)
        student = OF_TEXT["stack"].fit(X, y).distill(X, y, n_synthetic=200, random_state=0)
        assert check_onnx(to_onnx(student), student, towns(3_000, 1)[0]).score_error < 1e-9

    def test_boosting_on_codes_of_categories(self):
        """Sets of categories in splits; codes that training has not seen go the way of missing ones."""
        rng = np.random.default_rng(0)
        X = rng.integers(0, 40, size=(4_000, 4)).astype(float) * 3
        X[:, 1] = rng.normal(size=4_000)
        X[::9, 0] = np.nan
        y = ((X[:, 0] % 7 > 3) ^ (X[:, 3] % 5 > 2) ^ (X[:, 1] > 1)).astype(int)
        test = X.copy()
        test[::5, 0], test[::7, 3], test[::8, 3] = 4.0, np.nan, -1.0
        model = HistGradientBoostingClassifier(
            max_iter=15, categorical_features=[0, 3], random_state=0
        )
        made = to_onnx(model.fit(X, y))
        assert check_onnx(made, model, test).score_error < 1e-9
        promised = FixedFPRClassifier(model, 0.3, random_state=0).fit(X, y)
        assert promise_of(to_onnx(promised))[0] == ""
        whole = X[:, [0, 3]]
        promised = FixedFPRClassifier(
            model.set_params(categorical_features=[0, 1]), 0.5, random_state=0
        ).fit(whole, y)
        assert promise_of(to_onnx(promised))[0] == promised.promise_

    def test_a_promise_over_texts(self):
        X, y = towns(3_000, 0)
        test = towns(5_000, 1)[0]
        for base in (OF_TEXT["linear"], OF_TEXT["card"]):
            model = FixedFPRClassifier(base, 0.3, random_state=0).fit(X, y)
            assert model.held_out_single_
            made = to_onnx(model)
            assert promise_of(made)[0] == model.promise_
            assert check_onnx(made, model, test).n_other_flags == 0

    def test_names_that_the_graph_needs(self):
        X, y = towns(600, 0)
        for name in ("X", "score", "aucuba_1", ""):
            renamed = X.rename(columns={"town": name})
            model = make_pipeline(ColumnPreparer(), LogisticRegression()).fit(renamed, y)
            with pytest.raises(NotConvertible, match="whose name the graph needs itself"):
                to_onnx(model)

    def test_what_has_no_place_in_the_graph(self):
        X, y = towns(600, 0)
        empty = X.assign(town=X["town"].replace("Oslo", ""))
        model = make_pipeline(ColumnPreparer(), LogisticRegression())
        with pytest.raises(NotConvertible, match="the empty text"):
            to_onnx(model.fit(empty, y))
        with pytest.raises(NotConvertible, match="without columns of numbers"):
            to_onnx(model.fit(X[["town", "kind"]], y))
        pd = pytest.importorskip("pandas")
        typed = pd.DataFrame({"town": X["town"].astype("category"), "a": X["a"]})
        boosting = HistGradientBoostingClassifier(max_iter=2, categorical_features="from_dtype")
        with pytest.raises(NotConvertible, match="categories of text"):
            to_onnx(boosting.fit(typed, y))
        strict = make_pipeline(OneHotEncoder(), LogisticRegression()).fit(X[["town"]], y)
        with pytest.raises(NotConvertible, match="OneHotEncoder of text"):
            to_onnx(strict)
        coded = np.round(rows()[0])
        strict = make_pipeline(OneHotEncoder(), LogisticRegression()).fit(coded, rows()[1])
        with pytest.raises(NotConvertible, match="handle_unknown='error'"):
            to_onnx(strict)

    def test_indicators_of_numbers(self):
        X, y = rows(2_000)
        X, test = np.round(X), np.round(TEST)
        X[::11, 2] = np.nan
        test[::7, 2] = test[::5, 3] = np.nan
        for options in ({}, {"min_frequency": 300}, {"drop": "first"}, {"max_categories": 2}):
            encoder = OneHotEncoder(handle_unknown="infrequent_if_exist", **options)
            with warnings.catch_warnings():
                # Unknown values are zeros where the first category is dropped.
                warnings.simplefilter("ignore", UserWarning)
                model = make_pipeline(encoder, LogisticRegression()).fit(X, y)
                assert check_onnx(to_onnx(model), model, test).score_error < 1e-9


class TestBounds:
    @pytest.mark.parametrize("n_columns", [1, 5, 60])
    def test_against_exact_fractions(self, n_columns):
        """The bound covers the rounding of graph and NumPy, with cancellation and huge ranges."""
        from fractions import Fraction

        rng = np.random.default_rng(0)
        X = (
            10.0 ** rng.uniform(-4, 4, (20, n_columns)) * rng.choice([-1, 1], (20, n_columns))
        ).astype(np.float32)
        mean, scale = rng.normal(size=n_columns) * 100, 10.0 ** rng.uniform(-3, 3, n_columns)
        coef, shift = rng.normal(size=(n_columns, 1)), 3.7
        graph = Graph()
        value = graph.scaled(graph.shifted(graph.rows(), -mean), scale, divided=True)
        value = graph.shifted(graph.product(value, coef), shift)
        outputs = {
            "s": (one_per_row(graph, value.name), 11),
            "m": (one_per_row(graph, value.magnitude), 11),
        }
        scores, magnitude = open_session(as_model(graph, outputs, n_columns)).run(None, {"X": X})
        numpy = ((X.astype(np.float64) - mean) / scale @ coef)[:, 0] + shift
        for row, score, size, other in zip(X, scores, magnitude, numpy, strict=True):
            exact = Fraction(shift) + sum(
                (Fraction(float(x)) - Fraction(m)) / Fraction(s) * Fraction(w)
                for x, m, s, w in zip(row, mean, scale, coef[:, 0], strict=True)
            )
            bound = value.error * size
            assert abs(float(Fraction(float(score)) - exact)) <= bound
            assert abs(float(Fraction(float(other)) - exact)) <= bound
            # It is a bound of rounding, not of anything.
            assert bound < 1e-12 * size


class TestRefusals:
    @pytest.mark.parametrize(
        ("model", "words"),
        [
            (PartialAUCSVC(RANGE, kernel="rbf", loss="tight"), "kernel='rbf'"),
            (FixedFPRClassifier(LogisticRegression(), 0.4, strata=4, random_state=0), "strata"),
            (FixedFPRClassifier(IsolationForest(random_state=0), 0.4), "no classifier"),
        ],
        ids=["kernel", "strata", "detector"],
    )
    def test_what_cannot_be_converted_is_named(self, model, words):
        X, y = rows()
        X[:, [0, 4]] = X[:, [0, 4]] > 0
        with pytest.raises(NotConvertible, match=words):
            to_onnx(model.fit(X, y))

    @pytest.mark.parametrize("used", ["include", "exclude"])
    def test_a_card_of_a_table_with_dates(self, used):
        pd = pytest.importorskip("pandas")
        X, y = rows()
        days = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(len(y)) % 50 + 50 * y, "D")
        frame = pd.DataFrame({"day": days, "age": X[:, 1]})
        model = RegionScorecard(RANGE, **{used: ["day"]}, cv=2, random_state=0).fit(frame, y)
        with pytest.raises(NotConvertible, match="columns of dates"):
            to_onnx(model)

    def test_unfitted(self):
        from sklearn.exceptions import NotFittedError

        with pytest.raises(NotFittedError):
            to_onnx(PartialAUCClassifier(RANGE))

    def test_the_check_fails_for_another_model(self):
        X, y = rows()
        model, other = (LogisticRegression(C=C).fit(X, y) for C in (1.0, 0.01))
        with pytest.raises(ValueError, match="differ from the model's by up to"):
            check_onnx(to_onnx(model), other, TEST)

    def test_the_check_sees_flags(self):
        X, y = rows()
        model = LogisticRegression().fit(X, y)
        made = to_onnx(model)
        (node,) = [one for one in made.graph.node if one.op_type == "Greater"]
        node.op_type = "Less"
        with pytest.raises(ValueError, match="flagged by only one"):
            check_onnx(made, model, TEST)


class TestSkl2onnx:
    def test_other_classifiers_are_left_to_it(self):
        pytest.importorskip("skl2onnx")
        X, y = rows(2_000)
        model = GaussianNB().fit(X, y)
        assert check_onnx(to_onnx(model), model, TEST).score_error < 1e-5
        promised = FixedFPRClassifier(model, 0.1, cv="prefit").fit(X, y)
        facts = {one.key: one.value for one in to_onnx(promised).metadata_props}
        assert facts["aucuba.promise"] == ""
        facts = {one.key: one.value for one in to_onnx(promised, calibration=(X, y)).metadata_props}
        assert facts["aucuba.promise"] == promised.promise_

    def test_our_converters_in_its_pipelines(self):
        skl2onnx = pytest.importorskip("skl2onnx")
        from skl2onnx.common.data_types import FloatTensorType
        from sklearn.decomposition import PCA

        from aucuba.export import register_converters

        register_converters()
        X, y = rows(1_000)
        given = [("X", FloatTensorType([None, 5]))]
        for last in (
            PartialAUCClassifierCV(RANGE, cv=2, random_state=0),
            FixedFPRClassifier(LogisticRegression(), 0.1, random_state=0),
        ):
            model = make_pipeline(PCA(3), last).fit(X, y)
            made = skl2onnx.to_onnx(model, initial_types=given)
            session = open_session(made)
            score, label = session.run(["score", "label"], {"X": X.astype(np.float32)})
            expected = model.decision_function(X)
            np.testing.assert_allclose(score, expected, atol=1e-5)
            far = np.abs(expected) > 1e-5
            np.testing.assert_array_equal(label[far], model.predict(X)[far])
        forest = make_pipeline(PCA(3), RegionReweighted(FOREST, RANGE, cv=2)).fit(X, y)
        with pytest.raises(NotConvertible, match="trees"):
            skl2onnx.to_onnx(forest, initial_types=given)
