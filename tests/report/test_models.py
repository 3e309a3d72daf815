"""What a page says about the data and about each kind of model."""

import re

import numpy as np
import pytest
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from aucuba import (
    AlertBudgetClassifier,
    FixedFPRClassifier,
    FixedPrecisionClassifier,
    FixedTPRClassifier,
    PartialAUCClassifier,
    PartialAUCClassifierCV,
    RegionReweighted,
    RegionStack,
)
from aucuba._roc._flagged import FlaggedRows
from aucuba.report import ScoredSample, classifier_report
from aucuba.report._classifier import data_section
from tests.report.helpers import body_of, fact, small_table


def test_page_of_a_stack_lists_its_members():
    X, y, names = small_table()
    members = ["linear", ("logistic", LogisticRegression())]
    stack = RegionStack((0.0, 0.2), estimators=members, cv=3, random_state=0).fit(X, y)
    sample = ScoredSample(y, stack.decision_function(X))
    page = classifier_report(stack, sample, X=X, feature_names=names)
    assert "coefficients" not in [section.key for section in page.sections]
    rows = re.findall(r'<th scope="row">(.*?)</th>(.*?)</tr>', body_of(page, "members"))
    assert [name for name, _ in rows] == ["linear", "logistic", "stack"]
    for (_, cells), row in zip(rows, stack.report_, strict=True):
        value, error, weight = re.findall("<td>(.*?)</td>", cells)
        assert float(value) == pytest.approx(row["partial_auc"], abs=1e-4)
        assert float(error) == pytest.approx(row["standard_error"], abs=1e-4)
        if row["member"] != "stack":
            assert float(weight) == pytest.approx(row["coef"], abs=1e-3)
    assert weight == ""
    assert fact(body_of(page, "training"), "trained for") == "FPR 0 to 0.2"


@pytest.mark.parametrize("scoring", ["partial_auc", "average_precision"])
def test_page_of_a_cross_validated_model_names_what_compared_its_candidates(scoring):
    X, y, _ = small_table()
    model = PartialAUCClassifierCV((0.0, 0.2), Cs=[1.0], cv=3, scoring=scoring).fit(X, y)
    body = body_of(
        classifier_report(model, ScoredSample(y, model.decision_function(X)), X=X), "training"
    )
    named = {"partial_auc": "partial AUC", "average_precision": "average precision"}[scoring]
    assert f"out-of-sample {named}" in body
    assert f"{model.partial_auc_['region']:.4f}" in body


def test_page_of_a_reweighted_model_says_how_much_weight_moved():
    X, y, _ = small_table()
    base = make_pipeline(StandardScaler(), RandomForestClassifier(10))
    model = RegionReweighted(base, (0.0, 0.2), strength=4, cv=3, random_state=0)
    model.fit(X, y, sample_weight=np.arange(300) > 4)
    page = classifier_report(model, ScoredSample(y, model.decision_function(X)), X=X)
    body = body_of(page, "training")
    assert fact(body, "estimator") == "StandardScaler, RandomForestClassifier"
    assert fact(body, "strength") == "4"
    kept = model.weights_[5:]
    raised = kept[kept > 1]
    assert fact(body, "training rows") == "295"
    assert fact(body, "of raised weight") == f"{raised.size} ({raised.size / 295:.1%})"
    assert fact(body, "their share of the weight") == f"{raised.sum() / kept.sum():.1%}"


@pytest.mark.parametrize("cv", [0.5, 3])
def test_page_of_a_fixed_rate_states_the_promise(cv):
    X, y, names = small_table()
    base = make_pipeline(StandardScaler(), LogisticRegression())
    model = FixedFPRClassifier(base, max_fpr=0.1, confidence=0.9, cv=cv, random_state=0).fit(X, y)
    page = classifier_report(
        model, ScoredSample(y, model.decision_function(X)), feature_names=names
    )
    body = body_of(page, "promise")
    assert fact(body, "promise").startswith(
        "False positive rate at most 0.1, with confidence 0.9" if cv == 0.5 else "No promise"
    )
    assert fact(body, "confidence") == "0.9"
    assert float(fact(body, "threshold of the base score")) == pytest.approx(
        model.threshold_, rel=1e-5
    )
    assert fact(body, "guaranteed") == ("yes" if cv == 0.5 else "no, a heuristic")
    bound = fact(body, "bound on P(promise broken)")
    expected = f"{model.violation_probability_:.3g}" if cv == 0.5 else "none"
    assert bound == expected
    rates = re.findall(r'<th scope="row">(?:FPR|TPR) \(.*?\)</th><td>([\d.]+)%', body)
    flagged = model.predict(X) == 1
    assert float(rates[0]) / 100 == pytest.approx(flagged[y == 0].mean(), abs=1e-4)
    assert float(rates[1]) / 100 == pytest.approx(flagged[y == 1].mean(), abs=1e-4)
    verdict = FlaggedRows()
    verdict.update(y == 1, flagged)
    said = verdict.rate("fpr").verdict(0.1, at_most=True)
    assert f"at most 0.1, {'promised' if cv == 0.5 else 'set in training'}</td><td>{said}" in body
    assert page.verdict.endswith(f"at most 10 %: {said.replace('violated', 'VIOLATED')}.")
    assert "use FixedFPRClassifier" not in page.html()
    coef = model.estimator_[-1].coef_[0]
    largest = int(np.argmax(np.abs(coef)))
    first = re.search(r'<th scope="row">(.*?)</th>', body_of(page, "coefficients"))[1]
    assert first == names[largest]


@pytest.mark.parametrize(
    ("kind", "limit"),
    [(FixedTPRClassifier, 0.8), (FixedPrecisionClassifier, 0.5), (AlertBudgetClassifier, 0.3)],
)
def test_pages_of_the_other_promises(kind, limit):
    X, y, _ = small_table()
    base = make_pipeline(StandardScaler(), LogisticRegression())
    model = kind(base, limit, random_state=0).fit(X, y)
    body = body_of(classifier_report(model, ScoredSample(y, model.decision_function(X))), "promise")
    assert fact(body, "promise") == model.promise_
    flagged = model.predict(X) == 1
    shown = dict(re.findall(r'<th scope="row">(precision|flagged)</th><td>([\d.]+)%', body))
    assert float(shown["precision"]) / 100 == pytest.approx(y[flagged].mean(), abs=1e-4)
    assert float(shown["flagged"]) / 100 == pytest.approx(flagged.mean(), abs=1e-4)


def test_pipelines_that_cannot_name_their_columns_have_numbers():
    X, y, names = small_table()
    nameless = make_column_transformer((FunctionTransformer(), [3, 1]))
    base = make_pipeline(nameless, LogisticRegression())
    model = FixedFPRClassifier(base, max_fpr=0.1, cv=0.5, random_state=0).fit(X, y)
    page = classifier_report(
        model, ScoredSample(y, model.decision_function(X)), feature_names=names
    )
    shown = re.findall(r'<th scope="row">(.*?)</th>', body_of(page, "coefficients"))
    assert sorted(shown) == ["x0", "x1"]


def test_coefficients_stand_beside_their_names():
    X, y, names = small_table()
    model = PartialAUCClassifier((0.0, 0.3)).fit(X, y)
    page = classifier_report(
        model, ScoredSample(y, model.decision_function(X)), feature_names=names
    )
    body = body_of(page, "coefficients")
    rows = re.findall(
        r'<th scope="row">column (\d)</th><td><svg.*?<rect class="rod (\w+)" x="([\d.]+)" y="1" '
        r'width="([\d.]+)".*?</svg></td><td>(.*?)</td>',
        body,
    )
    coef = model.coef_.ravel()
    assert len(rows) == 6
    for place, sign, left, width, value in rows:
        exact = coef[int(place)]
        # All have as many decimals as show four digits of the largest.
        assert float(value) == pytest.approx(exact, abs=np.abs(coef).max() / 2000)
        assert len(value.partition(".")[2]) == len(rows[0][-1].partition(".")[2])
        assert sign == ("positive" if exact > 0 else "negative")
        assert float(width) == pytest.approx(100 * abs(exact) / np.abs(coef).max(), abs=0.01)
        assert float(left) + (exact < 0) * float(width) == pytest.approx(100, abs=0.02)


def test_kinds_and_missing_values_of_a_frame():
    pd = pytest.importorskip("pandas")
    X, y, names = small_table()
    frame = pd.DataFrame(X, columns=names)
    frame["column 0"] = np.where(np.arange(300) % 3, "a", "b")
    frame["column 1"] = frame["column 1"].mask(np.arange(300) < 30)
    frame["column 2"] = frame["column 2"] > 0
    stack = RegionStack((0.0, 0.2), estimators=["forest"], cv=2, random_state=0).fit(frame, y)
    sample = ScoredSample(y, stack.decision_function(frame))
    body = body_of(classifier_report(stack, sample, X=frame, feature_names=names), "data")
    assert fact(body, "of kind number") == "4"
    assert fact(body, "of kind category or text") == "1"
    assert fact(body, "of kind yes or no") == "1"
    assert '<th scope="row">column 1</th><td>30</td><td>10.0%</td>' in body
    assert "Missing values in 1 of 6 columns." in body
    whole = frame.drop(columns="column 1")
    whole = body_of(classifier_report(stack, sample, X=frame, table=whole), "data")
    assert "No value is missing." in whole


def test_missing_values_of_arrays():
    X, y, _ = small_table()
    X[:7, 4] = np.nan
    sample = ScoredSample(y, y * 1.0)
    for table in (X, sparse.csr_array(X)):
        body = data_section(sample, ("no", "yes"), table).body
        assert '<th scope="row">x4</th><td>7</td><td>2.3%</td>' in body
    assert "missing" not in data_section(sample, ("no", "yes"), X[:, :4]).body.lower()


def test_the_table_before_preprocessing_is_what_is_counted():
    pd = pytest.importorskip("pandas")
    X, y, names = small_table()
    frame = pd.DataFrame(X, columns=names).assign(ward=np.where(y, "a", "b"))
    frame["column 2"] = frame["column 2"].mask(y == 1)
    model = PartialAUCClassifier((0.0, 0.3)).fit(X, y)
    sample = ScoredSample(y, model.decision_function(X))
    page = classifier_report(model, sample, X=X, table=frame, feature_names=names)
    body = body_of(page, "data")
    assert fact(body, "columns") == "7"
    assert fact(body, "features") == "6"
    assert f'<th scope="row">column 2</th><td>{y.sum()}</td>' in body
