"""TriageClassifier: both promises in simulated worlds, how the error is divided, and errors."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression

from aucuba import (
    FixedFPRClassifier,
    FixedPrecisionClassifier,
    FixedTPRClassifier,
    TriageClassifier,
)
from aucuba._rows._sample import RankingSample
from aucuba.threshold._promise import FPR, TPR
from aucuba.threshold._rules import MonotoneRule, TwoRules
from aucuba.threshold._units import Population
from tests.threshold.bases import prefit


def world(rng, n_negatives, n_positives, shift=2.0):
    y = np.r_[np.zeros(n_negatives), np.ones(n_positives)].astype(int)
    return (rng.normal(size=y.size) + shift * y)[:, None], y


def test_both_promises_hold_together():
    rng = np.random.default_rng(0)
    broken, n_worlds = 0, 1_000
    for _ in range(n_worlds):
        X, y = world(rng, 300, 120)
        model = TriageClassifier(prefit(), 0.05, 0.9, 0.8, cv="prefit").fit(X, y)
        low, high = model.thresholds_
        broken += norm.sf(high) > 0.05 or norm.cdf(low - 2.0) > 0.1
    # Exact order statistics: close to the error, not far below it.
    assert 0.1 * n_worlds < broken <= (0.2 + 3 * np.sqrt(0.16 / n_worlds)) * n_worlds


def test_thresholds_are_those_of_the_single_promises_at_its_share():
    rng = np.random.default_rng(0)
    X, y = world(rng, 400, 200)
    model = TriageClassifier(prefit(), 0.05, 0.9, cv="prefit").fit(X, y)
    each = np.sqrt(0.95)
    block = FixedFPRClassifier(prefit(), 0.05, each, cv="prefit").fit(X, y)
    keep = FixedTPRClassifier(prefit(), 0.9, each, cv="prefit").fit(X, y)
    assert model.thresholds_.tolist() == [keep.threshold_, block.threshold_]
    assert model.threshold_ == block.threshold_
    levels = model.decision_levels(X)
    np.testing.assert_array_equal(model.predict(X) == 1, levels == 2)
    np.testing.assert_array_equal(keep.predict(X) == 1, levels >= 1)
    assert model.actions(X).tolist() == [("clear", "review", "block")[k] for k in levels]
    assert model.review_share_ == np.mean(levels == 1)
    assert model.level_shares_.sum() == pytest.approx(1)


def test_nothing_is_reviewed_where_the_classes_are_far_apart():
    rng = np.random.default_rng(0)
    X, y = world(rng, 300, 300, shift=12)
    model = TriageClassifier(prefit(), 0.05, 0.9, cv="prefit").fit(X, y)
    assert model.thresholds_[0] == model.thresholds_[1]
    assert model.review_share_ == 0
    assert not set(model.actions(X)) & {"review"}
    assert 2 < model.threshold_ < 11


@pytest.mark.parametrize(("n_negatives", "n_positives"), [(500, 30), (65, 400), (300, 300)])
def test_error_is_divided_by_the_numbers_of_rows(n_negatives, n_positives):
    rng = np.random.default_rng(0)
    X, y = world(rng, n_negatives, n_positives)
    rows = RankingSample(y == 1, score=X[:, 0])
    rules = (
        MonotoneRule(FPR, [0.05], Population()),
        MonotoneRule(TPR, [0.1], Population()),
    )
    negative, positive = TwoRules(*rules).errors(rows, 0.05)
    assert (1 - negative) * (1 - positive) == pytest.approx(0.95, abs=1e-9)
    for rule, error in zip(rules, (negative, positive), strict=True):
        assert not rule.shortfalls(rows, error)
    if n_negatives == 300:
        assert negative == positive
    elif n_positives == 30:
        # 0.9 ** 30 is all that the positives need.
        assert positive == pytest.approx(0.9**30, rel=1e-6)
        assert positive > negative
    else:
        assert negative == pytest.approx(0.95**65, rel=1e-6)


def test_errors_add_up_where_groups_have_both_classes():
    rng = np.random.default_rng(0)
    X, y = world(rng, 600, 600)
    rules = [MonotoneRule(one, [0.1], Population()) for one in (FPR, TPR)]
    mixed = RankingSample(y == 1, score=X[:, 0], group=np.arange(1200) % 400)
    pure = RankingSample(y == 1, score=X[:, 0], group=np.arange(1200) // 3)
    assert TwoRules(*rules).errors(mixed, 0.1) == (0.05, 0.05)
    assert TwoRules(*rules).errors(pure, 0.1)[0] == pytest.approx(1 - np.sqrt(0.9))


def test_few_rows_are_an_error_or_trivial():
    rng = np.random.default_rng(0)
    X, y = world(rng, 300, 10)
    with pytest.raises(ValueError, match=r"needs at least .* held-out positives, got 10"):
        TriageClassifier(prefit(), 0.05, 0.9, cv="prefit").fit(X, y)
    model = TriageClassifier(prefit(), 0.05, 0.9, cv="prefit", on_failure="trivial")
    with pytest.warns(UserWarning, match="cannot carry what is promised"):
        model.fit(X, y)
    assert model.thresholds_[0] == -np.inf
    assert np.isfinite(model.thresholds_[1])
    assert "clear" not in model.actions(X)
    for name in ("max_fpr", "min_tpr"):
        with pytest.raises(ValueError, match=f"{name} must"):
            TriageClassifier(LogisticRegression(), **{name: 1.5}).fit(X, y)


def test_strata_have_two_thresholds_each():
    rng = np.random.default_rng(0)
    X, y = world(rng, 900, 600)
    part = rng.integers(0, 2, size=1500)
    X = np.column_stack([X[:, 0] + 3 * part, part])
    model = TriageClassifier(prefit(), 0.05, 0.9, cv="prefit", strata=1).fit(X, y)
    assert model.thresholds_.shape == (2, 2)
    assert (model.thresholds_[1] - model.thresholds_[0] > 2).all()
    levels = model.decision_levels(X)
    assert model.level_shares_ == pytest.approx(np.bincount(levels, minlength=3) / 1500)


def predictive_values(low, high, prevalence, shift):
    """True PPV of what is blocked and NPV of what is cleared; 1 where there is no such row."""
    blocked = np.array([norm.sf(high), norm.sf(high - shift)]) * [1 - prevalence, prevalence]
    cleared = np.array([norm.cdf(low), norm.cdf(low - shift)]) * [1 - prevalence, prevalence]
    ppv = blocked[1] / blocked.sum() if blocked.sum() else 1.0
    npv = cleared[0] / cleared.sum() if cleared.sum() else 1.0
    return ppv, npv


@pytest.mark.filterwarnings("ignore:The held-out rows cannot carry what is promised")
@pytest.mark.parametrize("target", [None, 0.25])
def test_both_predictive_values_hold_together(target):
    rng = np.random.default_rng(0)
    broken = 0
    used = np.zeros(2)
    n_worlds, confidence = 300, 0.7
    for world_number in range(n_worlds):
        y = (rng.random(900) < 0.15).astype(int)
        X = (rng.normal(size=y.size) + 2.5 * y)[:, None]
        model = TriageClassifier(
            prefit(),
            confidence=confidence,
            cv="prefit",
            min_ppv=0.8,
            min_npv=0.97,
            target_prevalence=target,
            on_failure="trivial",
            random_state=world_number,
        ).fit(X, y)
        low, high = model.thresholds_
        ppv, npv = predictive_values(low, high, target or 0.15, 2.5)
        used += np.isfinite([low, high])
        broken += ppv < 0.8 or npv < 0.97
    assert broken <= ((1 - confidence) + 3 * np.sqrt(0.21 / n_worlds)) * n_worlds
    # Both sides are used in most worlds, and the promise is no accident of trivial thresholds.
    assert (used > 0.5 * n_worlds).all()
    assert broken > 0


@pytest.mark.parametrize("target", [None, 0.3])
def test_clearing_mirrors_blocking(target):
    """NPV is the PPV of the other class with scores of the other sign."""
    rng = np.random.default_rng(0)
    X, y = world(rng, 1_000, 800, shift=2.5)
    turned = None if target is None else 1 - target
    model = TriageClassifier(
        prefit(), cv="prefit", max_fpr=0.02, min_npv=0.9, target_prevalence=target, random_state=0
    ).fit(X, y)
    mirrored = TriageClassifier(
        prefit(), cv="prefit", min_ppv=0.9, min_tpr=0.98, target_prevalence=turned, random_state=0
    ).fit(-X, 1 - y)
    assert mirrored.thresholds_[::-1] == pytest.approx(-model.thresholds_, abs=1e-12)
    np.testing.assert_array_equal(mirrored.decision_levels(-X), 2 - model.decision_levels(X))


def test_predictive_values_are_precisions_at_half_of_the_error():
    rng = np.random.default_rng(0)
    X, y = world(rng, 1_000, 800, shift=2.5)
    model = TriageClassifier(prefit(), cv="prefit", min_ppv=0.9, random_state=0).fit(X, y)
    precision = FixedPrecisionClassifier(prefit(), 0.9, 0.975, cv="prefit", random_state=0)
    keep = FixedTPRClassifier(prefit(), 0.95, 0.975, cv="prefit")
    low, high = keep.fit(X, y).threshold_, precision.fit(X, y).threshold_
    assert model.thresholds_.tolist() == [min(low, high), high]
    assert model.promise_.startswith(
        "At least 0.9 of the blocked rows are positive and at most 0.05 of the positives are cleared, "
        "with confidence 0.95, jointly"
    )
    rows = RankingSample(y == 1, score=X[:, 0])
    assert model._rule(Population()).errors(rows, 0.05) == (0.025, 0.025)
    assert not model._stratified
    assert TriageClassifier(prefit())._stratified


@pytest.mark.parametrize(
    "limits", [{"min_ppv": 0.8, "min_npv": 0.8}, {"min_ppv": 0.8}, {"min_npv": 0.8}, {}]
)
def test_thresholds_never_cross(limits):
    """A rate of one class moves; of two predictive values the tests of one end at the other."""
    rng = np.random.default_rng(0)
    X, y = world(rng, 600, 600, shift=6)
    model = TriageClassifier(prefit(), cv="prefit", random_state=0, **limits).fit(X, y)
    low, high = model.thresholds_
    assert low <= high
    assert model.review_share_ < 0.01
    if "min_ppv" in limits:
        alone = FixedPrecisionClassifier(prefit(), 0.8, 0.975, cv="prefit", random_state=0)
        assert high == alone.fit(X, y).threshold_
    if len(limits) == 2:
        # Only a tested threshold may clear, and the one that blocks was not tested for that.
        assert low < high
    ppv, npv = predictive_values(low, high, 0.5, 6)
    assert min(ppv, npv) > 0.8


def test_predictive_values_have_clear_errors():
    rng = np.random.default_rng(0)
    X, y = world(rng, 60, 40)
    for limits, message in [
        ({"max_fpr": 0.1, "min_ppv": 0.9}, "max_fpr=0.1 and min_ppv=0.9 limit the same side"),
        ({"min_tpr": 0.9, "min_npv": 0.9}, "min_tpr=0.9 and min_npv=0.9 limit the same side"),
        ({"target_prevalence": 0.1}, "has no effect on max_fpr and min_tpr"),
        ({"min_ppv": 0.9, "group_rate": "any"}, "not 'any'"),
        ({"min_npv": 1.5}, "min_npv must"),
        (
            {"max_fpr": 0.2, "min_npv": 0.999},
            r"predictive value of at least min_npv=0\.999 .* 60 rows are negative\. It takes at "
            r"least \d+ cleared rows that are all negative",
        ),
        (
            {"max_fpr": 0.2, "min_npv": 0.999, "target_prevalence": 0.5},
            r"40 are positive\. It takes at least \d+ positives of which none is cleared",
        ),
    ]:
        with pytest.raises(ValueError, match=message):
            TriageClassifier(prefit(), cv="prefit", random_state=0, **limits).fit(X, y)
