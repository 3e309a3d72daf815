"""Samples and the numbers that a page shows of them."""

import numpy as np
import pytest

from aucuba.metrics import compare_scores, score_interval, tpr_at_fpr_score
from aucuba.report import ScoredSample
from aucuba.report._scored_sample import region_measures
from tests.report.helpers import random_scores, rng


def test_measures_are_the_library_s():
    y, score, base = random_scores()
    sample = ScoredSample(y, score, base)
    band, whole = region_measures(sample, (0.1, 0.3), random_state=5)
    options = {"fpr_range": (0.1, 0.3), "random_state": 5}
    assert band.interval == score_interval("partial_auc", y, score, **options)
    assert band.comparison == compare_scores("partial_auc", y, score, base, **options)
    assert whole.name == "AUC"


@pytest.mark.parametrize("fpr", [0.0, 0.003, 0.1, 0.5, 1.0])
def test_operating_point_by_counting(fpr):
    y, _, score = random_scores()
    sample = ScoredSample(y, score)
    at, low, high = sample.point_at_fpr(fpr)
    rates = [(score >= t)[y == 0].mean() for t in np.unique(score)]
    allowed = [t for t, rate in zip(np.unique(score), rates, strict=True) if rate <= fpr + 1e-12]
    assert at.threshold == (min(allowed) if allowed else np.inf)
    flagged = score >= at.threshold
    assert at.n_flagged == flagged.sum()
    assert at.fpr == pytest.approx(flagged[y == 0].mean())
    assert at.tpr == pytest.approx(flagged[y == 1].mean())
    assert at.tpr <= tpr_at_fpr_score(y, score, fpr=fpr) + 1e-12
    assert low <= at.tpr <= high


def test_weighted_operating_point_is_that_of_copies():
    y, score, _ = random_scores()
    weight = rng().integers(1, 4, y.size)
    heavy = ScoredSample(y, score, sample_weight=weight.astype(float))
    copies = ScoredSample(np.repeat(y, weight), np.repeat(score, weight))
    first, second = heavy.point_at_fpr(0.1)[0], copies.point_at_fpr(0.1)[0]
    assert (first.threshold, first.n_flagged) == (second.threshold, second.n_flagged)
    assert first.tpr == pytest.approx(second.tpr)


def test_wilson_interval_inverts_the_score_test():
    y, score = np.repeat([0, 1], [50, 10]), np.arange(60.0)
    low, high = ScoredSample(y, score).rate_interval(0, np.array([0.2]))
    for edge in (low[0], high[0]):
        z = (0.2 - edge) / np.sqrt(edge * (1 - edge) / 50)
        assert abs(z) == pytest.approx(1.959963984540054)
    heavy = ScoredSample(y, score, sample_weight=np.full(60, 3.0))
    assert heavy.rate_interval(0, np.array([0.2]))[0] == pytest.approx(low)


@pytest.mark.parametrize("labels", [(-1, 1), (0.0, 1.0), (False, True), ("ill", "well")])
def test_sample_takes_any_two_labels(labels):
    y, score, base = random_scores()
    named = [labels[k] for k in y]
    sample = ScoredSample(
        named,
        list(score),
        list(base),
        sample_weight=list(np.ones(y.size)),
        qid=["a"] * y.size,
    )
    np.testing.assert_array_equal(sample.y, y)
    assert sample.labels == tuple(map(str, labels))
    assert sample.score.dtype == float
    curve, expected = sample.curve(), ScoredSample(y, score).curve()
    np.testing.assert_array_equal(curve.tpr, expected.tpr)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"y": [0, 1, 2, 1]}, "Only binary classification"),
        ({"y": [1, 1, 1, 1]}, "only one class"),
        ({"score": [0.1, np.nan, 0.2, 0.3]}, "score contains 1 NaN"),
        ({"score": ["a", "b", "c", "d"]}, "score must be numeric"),
        ({"score": [0.1, 0.2]}, "score has 2 entries for 4 rows"),
        ({"score": np.ones((4, 2))}, r"score must have one entry per row, got shape \(4, 2\)"),
        ({"baseline": [0.1, 0.2]}, "baseline has 2 entries for 4 rows"),
        ({"sample_weight": [1.0, 1.0]}, "sample_weight has 2 entries for 4 rows"),
        ({"sample_weight": [1.0, -1.0, 1.0, 1.0]}, "non-negative"),
        ({"qid": [1]}, "qid has 1 entries for 4 rows"),
    ],
)
def test_sample_says_what_is_wrong(changed, message):
    given = {"y": [0, 1, 0, 1], "score": [0.1, 0.2, 0.3, 0.4]}
    with pytest.raises(ValueError, match=message):
        ScoredSample(**{**given, **changed})
