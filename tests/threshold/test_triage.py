"""TriageClassifier: both promises in simulated worlds, how the error is divided, and errors."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression

from aucuba import FixedFPRClassifier, FixedTPRClassifier, TriageClassifier
from aucuba._rows._sample import RankingSample
from aucuba.threshold._promise import FPR, TPR
from aucuba.threshold._rules import MonotoneRule, split_error
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
    negative, positive = split_error(*rules, rows, 0.05)
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
    assert split_error(*rules, mixed, 0.1) == (0.05, 0.05)
    assert split_error(*rules, pure, 0.1)[0] == pytest.approx(1 - np.sqrt(0.9))


def test_few_rows_are_an_error_or_trivial():
    rng = np.random.default_rng(0)
    X, y = world(rng, 300, 10)
    with pytest.raises(ValueError, match=r"needs at least .* held-out positives, got 10"):
        TriageClassifier(prefit(), 0.05, 0.9, cv="prefit").fit(X, y)
    model = TriageClassifier(prefit(), 0.05, 0.9, cv="prefit", on_failure="trivial")
    with pytest.warns(UserWarning, match="cannot carry the promised"):
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
