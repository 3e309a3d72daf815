"""Signals and features that used to fail a whole batch."""

from __future__ import annotations

import numpy as np
import pytest

from aucuba.changepoint import Label, SupervisedChangepointDetector
from tests.changepoint.test_detector import make_signals


@pytest.fixture(scope="module")
def fitted():
    signals, labels = make_signals(24)
    model = SupervisedChangepointDetector(6, random_state=0)
    X, errors = model.prepare(signals, labels)
    return model.fit_features(X, errors), X


def test_one_row_without_finite_features_does_not_fail_the_batch(fitted):
    model, X = fitted
    used = np.flatnonzero(model.coef_)
    assert used.size
    plain = model.predict_log_penalty_features(X)
    broken = X.copy()
    broken[3] = np.nan
    broken[5, used] = [np.inf, -np.inf, *[np.nan] * used.size][: used.size]
    with pytest.warns(UserWarning, match=r"Rows 3, 5 have no finite value in any of the features"):
        found = model.predict_log_penalty_features(broken)
    np.testing.assert_array_equal(found[[3, 5]], model.constant_log_penalty_)
    others = np.setdiff1d(np.arange(24), [3, 5])
    np.testing.assert_array_equal(found[others], plain[others])


def test_values_beyond_training_are_cut(fitted):
    model, X = fitted
    used = np.flatnonzero(model.coef_)
    far, infinite = X[:1].copy(), X[:1].copy()
    far[0, used[0]], infinite[0, used[0]] = 1e30, np.inf
    highest = X[:1].copy()
    highest[0, used[0]] = X[:, used[0]].max()
    expected = model.predict_log_penalty_features(highest)
    if used.size > 1:
        np.testing.assert_allclose(model.predict_log_penalty_features(infinite), expected)
    np.testing.assert_allclose(model.predict_log_penalty_features(far), expected)


def test_columns_that_are_mostly_not_finite_are_dropped(fitted):
    model, X = fitted
    signals, labels = make_signals(24)
    errors = model.prepare(signals, labels)[1]
    broken = X.copy()
    broken[::3, 4] = -np.inf
    broken[:20, 7] = np.nan
    again = SupervisedChangepointDetector(6, random_state=0).fit_features(broken, errors)
    assert again.used_features_[4]
    assert not again.used_features_[7]
    assert np.isfinite(again.predict_log_penalty_features(broken)).all()


def test_more_changes_than_max_segments_are_those_of_the_capped_path():
    signals, labels = make_signals(24)
    model = SupervisedChangepointDetector(4, random_state=0).fit(signals, labels)
    steps = np.repeat(np.arange(12.0) * 1e4, 5)
    with pytest.warns(
        UserWarning, match="max_segments=4 limits 1 of 1 signals, the first Sequence 0"
    ):
        found = model.predict([steps])[0]
    assert found.size <= 3
    with pytest.warns(UserWarning, match="max_segments=4 limits"):
        assert model.score([steps], [[Label(1, 4, "none")]]) in (0.0, 1.0)


@pytest.mark.filterwarnings("ignore:max_segments=6 limits")
def test_predict_and_score_agree_on_ties():
    """Integer signals, where many segmentations cost the same."""
    signals, labels = make_signals(24)
    model = SupervisedChangepointDetector(6, random_state=0).fit(signals, labels)
    rng = np.random.default_rng(0)
    for _ in range(30):
        y = np.repeat(rng.integers(0, 3, 8), 5) * 100.0
        regions = [Label(2, 13, "one"), Label(20, 30, "none")]
        changes = model.predict([y])[0] - 0.5
        counts = [np.sum((changes > label.start) & (changes <= label.end)) for label in regions]
        wrong = int(counts[0] != 1) + int(counts[1] != 0)
        assert model.score([y], [regions]) == pytest.approx(1 - wrong / 2)
