import numpy as np
import pytest
import sklearn
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from aucuba import PartialAUCClassifier
from aucuba.metrics import (
    auc_at_k_score,
    make_metric_scorer,
    partial_auc_score,
    tpr_at_fpr_score,
    two_way_partial_auc_score,
)
from aucuba.metrics._measures import evaluate

X, Y = make_classification(300, 5, flip_y=0.2, random_state=0)
MODEL = LogisticRegression().fit(X, Y)
ALL_SCORERS = [
    (
        make_metric_scorer("partial_auc", fpr_range=(0, 0.2)),
        partial_auc_score,
        {"fpr_range": (0, 0.2)},
    ),
    (make_metric_scorer("tpr_at_fpr", fpr=0.2), tpr_at_fpr_score, {"fpr": 0.2}),
    (make_metric_scorer("auc_at_k", k=30), auc_at_k_score, {"k": 30}),
    (
        make_metric_scorer("two_way_partial_auc", min_tpr=0.5, max_fpr=0.4),
        two_way_partial_auc_score,
        {"min_tpr": 0.5, "max_fpr": 0.4},
    ),
]


@pytest.mark.parametrize(("scorer", "metric", "params"), ALL_SCORERS)
def test_scorer_equals_its_metric(scorer, metric, params):
    assert scorer(MODEL, X, Y) == metric(Y, MODEL.decision_function(X), **params)
    names = np.where(Y == 1, "ill", "healthy")
    named = LogisticRegression().fit(X, names)
    with pytest.raises(ValueError, match="LogisticRegression has the text labels"):
        scorer(named, X, names)
    with pytest.raises(ValueError, match="text labels"):
        cross_val_score(LogisticRegression(), X, names, scoring=scorer, error_score="raise")
    sought = make_metric_scorer(scorer._kwargs["metric"], pos_label="ill", **params)
    want = metric(names, named.decision_function(X), pos_label="ill", **params)
    assert sought(named, X, names) == want
    assert scorer._sign == 1


@pytest.mark.parametrize(("scorer", "metric", "params"), ALL_SCORERS)
def test_cross_validation_and_search(scorer, metric, params):
    assert cross_val_score(MODEL, X, Y, scoring=scorer, cv=3).shape == (3,)
    search = GridSearchCV(MODEL, {"C": [0.1, 1.0]}, scoring=scorer, cv=3).fit(X, Y)
    assert 0 < search.best_score_ <= 1


def test_positive_label_may_be_the_first_class():
    names = np.where(Y == 1, "a", "b")
    named = LogisticRegression().fit(X, names)
    scorer = make_metric_scorer("partial_auc", fpr_range=(0, 0.2), pos_label="a")
    want = partial_auc_score(names, -named.decision_function(X), fpr_range=(0, 0.2), pos_label="a")
    assert scorer(named, X, names) == pytest.approx(want)


def test_the_positive_class_of_an_estimator_counts():
    """Of a model that names its class, also at the end of a pipeline or inside a search."""
    names = np.where(Y == 1, "fraud", "ok")
    scorer = make_metric_scorer("partial_auc", fpr_range=(0, 0.2))
    model = PartialAUCClassifier((0.0, 0.2), pos_label="fraud")
    pipeline = make_pipeline(StandardScaler(), model).fit(X, names)
    search = GridSearchCV(model, {"C": [0.1, 1.0]}, scoring=scorer, cv=3, error_score="raise")
    for fitted in (pipeline, search.fit(X, names)):
        want = partial_auc_score(
            names, -fitted.decision_function(X), fpr_range=(0, 0.2), pos_label="fraud"
        )
        assert scorer(fitted, X, names) == pytest.approx(want)


@pytest.mark.parametrize(
    "model", [LogisticRegression(), RandomForestClassifier(20, random_state=0)]
)
def test_one_class_is_judged_against_the_rest(model):
    kinds = np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    model = model.fit(X, kinds)
    with pytest.raises(ValueError, match=r"has 3 classes.*name one as pos_label"):
        make_metric_scorer("partial_auc")(model, X, kinds)
    scores = model.predict_proba(X)
    if hasattr(model, "decision_function"):
        scores = model.decision_function(X)
    for place, label in enumerate("abc"):
        want = partial_auc_score(kinds == label, scores[:, place])
        assert make_metric_scorer("partial_auc", pos_label=label)(model, X, kinds) == want
        values = cross_val_score(
            model,
            X,
            kinds,
            scoring=make_metric_scorer("auc", pos_label=label),
            cv=3,
            error_score="raise",
        )
        assert np.all(values > 0.4)


def test_models_with_probabilities_only():
    forest = RandomForestClassifier(20, random_state=0).fit(X, Y)
    want = partial_auc_score(Y, forest.predict_proba(X)[:, 1], fpr_range=(0, 0.2))
    assert make_metric_scorer("partial_auc", fpr_range=(0, 0.2))(forest, X, Y) == want


def test_metadata_routing_of_weights_and_queries():
    rng = np.random.default_rng(0)
    weight, qid = rng.integers(1, 4, size=300), np.repeat(np.arange(6), 50)
    scorer = make_metric_scorer("partial_auc", fpr_range=(0, 0.2))
    with sklearn.config_context(enable_metadata_routing=True):
        scorer.set_score_request(sample_weight=True, qid=True)
        model = LogisticRegression().set_fit_request(sample_weight=False)
        result = cross_validate(
            model,
            X,
            Y,
            scoring=scorer,
            cv=GroupKFold(3),
            params={"sample_weight": weight, "qid": qid, "groups": qid},
            return_estimator=True,
            return_indices=True,
        )
    for value, fitted, test in zip(
        result["test_score"], result["estimator"], result["indices"]["test"], strict=True
    ):
        want = partial_auc_score(
            Y[test],
            fitted.decision_function(X[test]),
            fpr_range=(0, 0.2),
            sample_weight=weight[test],
            qid=qid[test],
        )
        assert value == pytest.approx(want)


@pytest.mark.parametrize(
    ("name", "params"), [("precision_at_k", {"k": 30}), ("tpr_at_fpr", {"fpr": 0.2})]
)
def test_a_grid_search_routes_weights_to_any_measure(name, params):
    weight = np.random.default_rng(0).integers(1, 9, size=300)
    scorer, splits = make_metric_scorer(name, **params), list(GroupKFold(3).split(X, Y, X[:, 0]))
    with sklearn.config_context(enable_metadata_routing=True):
        scorer.set_score_request(sample_weight=True)
        model = LogisticRegression().set_fit_request(sample_weight=True)
        search = GridSearchCV(model, {"C": [1e-4, 1.0]}, scoring=scorer, cv=splits)
        search.fit(X, Y, sample_weight=weight)
    for place, C in enumerate((1e-4, 1.0)):
        for number, (train, test) in enumerate(splits):
            fitted = LogisticRegression(C=C).fit(X[train], Y[train], weight[train])
            score = fitted.decision_function(X[test])
            want = evaluate(name, Y[test], score, weight[test], **params)
            assert search.cv_results_[f"split{number}_test_score"][place] == pytest.approx(want)
            unweighted = evaluate(name, Y[test], score, **params)
            assert want != pytest.approx(unweighted)


def test_bad_parameters_fail_when_the_scorer_is_made():
    with pytest.raises(ValueError, match="lower limit below"):
        make_metric_scorer("partial_auc", fpr_range=(0.5, 0.1))
    with pytest.raises(ValueError, match="k must be"):
        make_metric_scorer("auc_at_k", k=0)
    with pytest.raises(ValueError, match=r"k must be a whole number of at least 1, got 3\.0"):
        make_metric_scorer("auc_at_k", k=3.0)
    with pytest.raises(ValueError, match="fpr must lie"):
        make_metric_scorer("tpr_at_fpr", fpr=-1)
    with pytest.raises(ValueError, match="max_fpr must lie"):
        make_metric_scorer("two_way_partial_auc", min_tpr=0, max_fpr=0)


def test_any_measure_by_name():
    X, y = make_classification(300, weights=[0.8], random_state=0)
    model = LogisticRegression().fit(X, y)
    score = model.decision_function(X)
    for name, params in (("bedroc", {"alpha": 10.0}), ("precision_at_k", {"k": 20})):
        got = make_metric_scorer(name, **params)(model, X, y)
        assert got == evaluate(name, y, score, **params)
    smaller = make_metric_scorer("equal_error_rate")(model, X, y)
    assert smaller == -evaluate("equal_error_rate", y, score)
    search = GridSearchCV(
        LogisticRegression(), {"C": [0.1, 1.0]}, scoring=make_metric_scorer("tpr_at_fpr", fpr=0.1)
    ).fit(X, y)
    assert 0 < search.best_score_ < 1
    other = make_metric_scorer("bedroc", pos_label=0)(model, X, y)
    assert other == pytest.approx(evaluate("bedroc", y, -score, pos_label=0))
    with pytest.raises(ValueError, match="cannot be a scorer"):
        make_metric_scorer("rate_at_threshold", rate="tpr", threshold=0.0)
    with pytest.raises(ValueError, match="metric must be one of"):
        make_metric_scorer("accuracy")
