"""The constant penalty is kept unless learning pays; features that are not finite."""

from __future__ import annotations

import numpy as np
import pytest

from aucuba.changepoint import (
    IntervalRegressionCV,
    LabelErrors,
    SupervisedChangepointDetector,
    best_shift,
    penalty_roc,
)
from aucuba.changepoint._features import FeatureCleaning
from aucuba.changepoint._held_out import Comparison, choose, row_groups, splits_of
from aucuba.changepoint._label_errors import ErrorTotals


def tables(centre, width=1.0, wrong=0.0, seed=0):
    """Sequences whose best log penalty lies around a centre; some of them at random."""
    rng = np.random.default_rng(seed)
    centre = np.where(rng.random(len(centre)) < wrong, rng.normal(size=len(centre)), centre)
    return [
        LabelErrors.from_table(
            [-np.inf, c - width, c + width],
            [c - width, c + width, np.inf],
            [1, 0, 0],
            [0, 0, 1],
            possible_fp=1,
            possible_fn=1,
            n_labels=2,
        )
        for c in centre
    ]


def errors_of(errors, log_penalty):
    return sum(sum(table.at(value)) for table, value in zip(errors, log_penalty, strict=True))


def test_noise_keeps_the_constant():
    rng = np.random.default_rng(0)
    kept = 0
    for seed in range(8):
        X, errors = rng.normal(size=(60, 12)), tables(rng.normal(size=60), seed=seed)
        model = SupervisedChangepointDetector(random_state=seed).fit_features(X, errors)
        new = rng.normal(size=(5, 12))
        if not model.coef_.any():
            kept += 1
            assert model.status_.startswith("The constant is kept: at best ")
            assert model.history_ == []
            constant = -best_shift(errors, np.zeros(60))
            np.testing.assert_allclose(model.predict_log_penalty_features(new), constant)
            assert model.constant_log_penalty_ == pytest.approx(constant)
    assert kept >= 6


def test_a_real_dependence_is_learned():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 6))
    errors = tables(3 * X[:, 0], wrong=0.1)
    model = SupervisedChangepointDetector(random_state=0).fit_features(X, errors)
    assert model.status_.startswith("A function of ")
    test = rng.normal(size=(200, 6)).clip(-2, 2)
    held_out = tables(3 * test[:, 0])
    learned = errors_of(held_out, model.predict_log_penalty_features(test))
    constant = errors_of(held_out, np.full(200, model.constant_log_penalty_))
    assert learned < constant / 2


def test_few_rows_keep_the_constant_that_many_give_up():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(400, 3))
    errors = tables(0.9 * X[:, 0], wrong=0.4)
    few = IntervalRegressionCV().fit(X[:12], limits(errors[:12]), errors=errors[:12])
    many = IntervalRegressionCV().fit(X, limits(errors), errors=errors)
    assert few.is_constant_
    assert not many.is_constant_
    assert "The constant is kept" in few.status_
    assert "is learned" in many.status_


def limits(errors):
    return np.array([[table.max_log_penalty[0], table.max_log_penalty[1]] for table in errors])


def test_places_learned_by_heart_do_not_count():
    """The best penalty is one per place, and a feature tells the places apart but not others."""
    rng = np.random.default_rng(4)
    place = np.repeat(np.arange(12), 10)
    X = np.column_stack([rng.normal(size=12)[place], rng.normal(size=120)])
    errors = tables(2 * rng.normal(size=12)[place])
    by_heart = SupervisedChangepointDetector(random_state=0).fit_features(
        X, errors, groups=np.arange(120)
    )
    assert by_heart.coef_.any()
    # The repeated feature shows the groups; naming them is the same.
    for groups in (None, place):
        honest = SupervisedChangepointDetector(random_state=0).fit_features(X, errors, groups)
        assert not honest.coef_.any()


def test_groups_from_repeated_values():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    assert row_groups(None, X) is None
    X[:, 1] = np.repeat(rng.normal(size=10), 6)
    np.testing.assert_array_equal(row_groups(None, X), np.unique(X[:, 1], return_inverse=True)[1])
    X[:, 1] = np.repeat([0.0, 1.0, 2.0], 20)
    assert row_groups(None, X) is None
    groups = row_groups(np.repeat(["a", "b", "c"], 20), X)
    splits = splits_of(5, X, groups)
    assert len(splits) == 3
    assert all(not set(groups[train]) & set(groups[test]) for train, test in splits)
    with pytest.raises(ValueError, match="groups has 3 entries for 60 rows"):
        row_groups([1, 2, 3], X)


def test_the_rule():
    rows = np.array([[2.0] * 20, [1.0] * 10 + [0.0] * 10, [0.0] * 9 + [1.0] * 11, [0.0] * 20])
    # The last is the best and the only one within a standard error of it.
    assert choose(rows, 1.0) == 3
    assert choose(rows[:2], 1.0) == 1
    assert choose(rows[:2], 20.0) == 0
    noisy = np.array([[1.0, 0.0] * 10, [0.0, 1.0] * 9 + [0.0, 0.0]])
    assert choose(noisy, 1.0) == 0
    assert choose(noisy, 0.0) == 1
    gain = Comparison.from_rows(rows[0], rows[1])
    assert (gain.before, gain.after) == (40.0, 10.0)
    assert gain.error == pytest.approx(np.std(rows[0] - rows[1], ddof=1) * 20**0.5)


def test_totals_equal_the_tables():
    rng = np.random.default_rng(3)
    errors = tables(rng.normal(size=30))
    totals = ErrorTotals.from_tables(errors)
    at = rng.normal(size=30)
    expected = [sum(table.at(value)) for table, value in zip(errors, at, strict=True)]
    np.testing.assert_array_equal(totals.at(at), expected)
    rows = np.array([4, 2, 17])
    np.testing.assert_array_equal(totals.take(rows).at(at[rows]), totals.at(at)[rows])
    limits = np.array([[-1.0, 2.0], [-np.inf, 0.0], [0.5, np.inf], [-np.inf, np.inf]])
    intervals = ErrorTotals.from_intervals(limits)
    for value in (-3.0, -0.5, 0.2, 1.0, 5.0):
        outside = (value < limits[:, 0]) | (value > limits[:, 1])
        np.testing.assert_array_equal(intervals.at(np.full(4, value)), outside)
    assert intervals.at(np.full(4, intervals.best_shift(np.zeros(4)) * -1)).sum() == 1


def test_cleaning():
    inf, nan = np.inf, np.nan
    X = np.array([[1.0, nan, 5, 2], [3.0, nan, 5, -inf], [2.0, nan, 5, nan], [inf, 1, 5, 4]])
    cleaning = FeatureCleaning.from_training(X)
    np.testing.assert_array_equal(cleaning.used, [True, False, False, True])
    np.testing.assert_array_equal(cleaning.apply(X), [[1, 2], [3, 2], [2, 3], [3, 4]])
    new = np.array([[nan, 0.0, 0, inf], [-inf, 0, 0, -7]])
    np.testing.assert_array_equal(cleaning.apply(new), [[2, 4], [1, 2]])


def test_roc_by_possible_errors():
    """Two of three false negatives are reached; the third no penalty removes."""
    flat = {"possible_fp": 2, "possible_fn": 3, "n_labels": 5}
    table = LabelErrors.from_table([-np.inf, 0, 1], [0, 1, np.inf], [1, 0, 0], [1, 1, 3], **flat)
    reached = penalty_roc([table], [0.5])
    np.testing.assert_allclose([reached.fpr[-1], reached.tpr[-1]], [1.0, 1.0])
    possible = penalty_roc([table], [0.5], normalize="possible")
    np.testing.assert_allclose(possible.fpr, [0, 0, 0.5])
    np.testing.assert_allclose(possible.tpr, [0, 2 / 3, 2 / 3])
    assert possible.auc == pytest.approx(0.5 * 2 / 3 + 0.5 * (2 / 3 + 1) / 2)
    assert (possible.fp, possible.aum) == (reached.fp, reached.aum)
    with pytest.raises(ValueError, match="normalize must be one of 'reached', 'possible'"):
        penalty_roc([table], [0.5], normalize="all")
