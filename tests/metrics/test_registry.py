"""What the documentation says of every measure holds for every entry of the registry."""

import inspect

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score

from aucuba import metrics
from aucuba.metrics import (
    compare_scores,
    make_metric_scorer,
    power_of,
    sample_size_for,
    score_interval,
)
from aucuba.metrics._measures import MEASURES, bind
from tests.measure_cases import PARAMS, suited

# Measures that depend on the prevalence, at another one.
SHIFTED = [
    (name, {**params, "target_prevalence": 0.05})
    for name, params in PARAMS.items()
    if bind(name, params).sampling == "random" and bind(name, params).has_a_prevalence
] + [
    ("rate_at_threshold", {"rate": rate, "threshold": 1.0, "target_prevalence": 0.05})
    for rate in ("precision", "npv", "alert_rate")
]
CASES = [*PARAMS.items(), *SHIFTED]
QUICK = {"n_resamples": 60, "random_state": 0}
# Not parameters of the measure's function: they only allow a comparison.
PERMISSIONS = {"same_scale"}


def rows(seed=0, n_positive=60, n_negative=300):
    rng = np.random.default_rng(seed)
    y = np.repeat([1, 0], [n_positive, n_negative])
    return y, rng.normal(size=y.size) + 1.5 * y


def test_every_function_is_registered():
    functions = {name.removesuffix("_score") for name in metrics.__all__ if name.endswith("_score")}
    assert set(PARAMS) == set(MEASURES) == functions | {"rate_at_threshold"}


@pytest.mark.parametrize("name", sorted(set(MEASURES) - {"rate_at_threshold"}))
def test_every_function_is_its_measure(name):
    """With weights and queries; and it has the parameters of the measure."""
    y, score = rows()
    score = suited(name, score)
    function = getattr(metrics, f"{name}_score")
    params = {key: value for key, value in PARAMS[name].items() if key not in PERMISSIONS}
    known = set(inspect.signature(MEASURES[name]).parameters) - PERMISSIONS
    known |= {"target_prevalence"} & set(dict(SHIFTED).get(name, ()))
    extra = {"y_true", "y_score", "sample_weight", "qid", "pos_label"}
    assert set(inspect.signature(function).parameters) == known | extra
    weight, qid = np.random.default_rng(1).integers(1, 4, y.size), np.arange(y.size) % 12
    for given in ({}, {"sample_weight": weight}, {"qid": qid}):
        got = score_interval(name, y, score, **params, **given, **QUICK)
        assert got.value == function(y, score, **params, **given)
        assert got.low <= got.value <= got.high


@pytest.mark.parametrize(("name", "params"), CASES)
def test_every_measure_compares_in_pairs_in_tables_and_across_samples(name, params):
    y, score = rows()
    score, other = (
        suited(name, one) for one in (score, np.random.default_rng(2).normal(size=y.size))
    )
    options = {**params, **QUICK}
    for found in (
        compare_scores(name, y, score, other, **options),
        compare_scores(name, y, score, other, y_true_b=y, **options),
        compare_scores(name, y, {"good": score, "noise": other}, **options)[0],
    ):
        assert found.low <= found.difference <= found.high
        assert 0 < found.p_value <= 1


@pytest.mark.parametrize(("name", "params"), CASES)
def test_every_measure_is_a_scorer_or_says_why_not(name, params):
    y, _ = rows()
    X = np.random.default_rng(3).normal(size=(y.size, 2)) + y[:, np.newaxis]
    measure = bind(name, params)
    if measure.cuts and not measure.of_probabilities:
        with pytest.raises(ValueError, match="cannot be a scorer, since the scores of refitted"):
            make_metric_scorer(name, **params)
        return
    scorer = make_metric_scorer(name, **params)
    values = cross_val_score(LogisticRegression(), X, y, scoring=scorer, cv=3)
    assert np.isfinite(values).all()
    assert np.all(values <= 0) == measure.smaller_is_better or measure.limits[0] < 0
    search = GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, scoring=scorer, cv=3)
    assert np.isfinite(search.fit(X, y).best_score_)


@pytest.mark.parametrize(("name", "params"), CASES)
def test_every_measure_can_be_planned_or_says_why_not(name, params):
    y, score = rows()
    score = suited(name, score)
    params = {**params, "random_state": 0}
    if name in ("auc_at_k", "binned_auc", "precision_at_k", "recall_at_k"):
        with pytest.raises(ValueError, match=r"No sample size can be planned.*counts rows"):
            sample_size_for(name, y, score, half_width=0.1, **params)
        with pytest.raises(ValueError, match=r"No sample size can be planned.*counts rows"):
            power_of(name, y, score, n_positives=9, n_negatives=9, difference=0.1, **params)
        return
    size = sample_size_for(name, y, score, half_width=0.1, **params)
    assert size.n_negatives == pytest.approx(5 * size.n_positives, abs=5)
    given = {"n_positives": 60, "n_negatives": 300, "difference": 0.1}
    assert 0 < power_of(name, y, score, **given, **params) <= 1


def test_scores_without_a_common_scale_are_not_compared_by_aum():
    y, score = rows()
    twice = score_interval("aum", y, 2 * score, **QUICK).value
    assert twice == pytest.approx(2 * score_interval("aum", y, score, **QUICK).value)
    for refused in (
        lambda: compare_scores("aum", y, score, 2 * score),
        lambda: compare_scores("aum", y, score, 2 * score, y_true_b=y),
        lambda: compare_scores("aum", y, {"a": score, "b": 2 * score}),
        lambda: power_of("aum", y, score, -score, n_positives=9, n_negatives=9, difference=1.0),
        lambda: make_metric_scorer("aum"),
    ):
        with pytest.raises(
            ValueError, match=r"^'aum' cannot tell which of two models.*same_scale=True"
        ):
            refused()
    with pytest.raises(ValueError, match="No sample size can be planned for 'aum'"):
        sample_size_for("aum", y, score, half_width=1.0, rate=False)
