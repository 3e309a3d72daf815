"""How far a blend goes from members trained by log-loss towards those trained for the region."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB

from aucuba._roc._comparison import RegionComparison
from aucuba._roc._region import Region
from aucuba._rows._sample import Sample
from aucuba.ensemble import RegionReweighted, RegionStack
from aucuba.ensemble._blend import Blend, CrossFittedBlend, StackedBlend
from tests.ensemble.data import numbers

WHOLE = Region.from_params((0.0, 1.0), None, 0.0)
PLAIN = [("logistic", LogisticRegression()), ("bayes", GaussianNB())]


def scores_of(y, *strengths, seed=0):
    """One column of scores per strength of its signal."""
    rng = np.random.default_rng(seed)
    return np.column_stack([k * y + rng.normal(size=y.size) for k in strengths])


def splits_of(y):
    return list(StratifiedKFold(4).split(y, y))


def gate(scores, y, for_region, *, weight=None, group=None, splits=None, region=WHOLE):
    sample = Sample(y, weight, group=group)
    splits = splits_of(y) if splits is None else splits
    return StackedBlend.from_scores(scores, sample, splits, np.array(for_region), region)


def blended(scores, y, shrinkage):
    """Blends of rows by folds that have not seen them."""
    splits = splits_of(y)
    return CrossFittedBlend.from_scores(scores, Sample(y), splits, shrinkage).log_odds(
        scores, splits
    )


def lead_by_delong(y, first, second):
    """AUC of the first above that of the second, in paired standard errors, pair by pair."""

    def placed(scores):
        wins = np.sign(scores[y][:, np.newaxis] - scores[~y]) / 2 + 0.5
        return wins.mean(axis=1), wins.mean(axis=0)

    gaps = [a - b for a, b in zip(placed(first), placed(second), strict=True)]
    error = np.sqrt(sum(gap.var() / gap.size for gap in gaps))
    return gaps[0].mean() / error


@pytest.mark.parametrize("seed", range(5))
def test_the_weight_grows_with_the_lead_in_errors(seed):
    y = np.random.default_rng(seed).random(120) < 0.3
    scores = scores_of(y, 1.0, 0.7, 0.6, seed=seed)
    gated = gate(scores, y, [False, False, True])
    every, plain = (blended(columns, y, gated.shrinkage) for columns in (scores, scores[:, :2]))
    lead = lead_by_delong(y, every, plain)
    expected = max(stats.norm.cdf(lead) - stats.norm.sf(lead), 0.0)
    assert gated.region_weight == pytest.approx(expected)


def test_both_ends_are_reached():
    y = np.random.default_rng(1).random(200) < 0.3
    assert gate(scores_of(y, 0.5, 4.0), y, [False, True]).region_weight == pytest.approx(1.0)
    noise = np.column_stack([scores_of(y, 1.0), scores_of(y, *[0.0] * 30, seed=5)])
    assert gate(noise, y, [False] + [True] * 30).region_weight == 0.0


def test_equal_scorers_are_no_error_apart():
    y = np.random.default_rng(1).random(100) < 0.3
    column = scores_of(y, 1.0)[:, 0]
    comparison = RegionComparison(Sample(y), np.array([column, column, 2.0 * y]), WHOLE)
    assert comparison.lead(0, 1).z == 0.0
    assert comparison.lead(2, 0).z == -comparison.lead(0, 2).z > 3.0


def test_the_merged_blend_is_between_the_two_on_the_log_odds_scale():
    y = np.random.default_rng(3).random(150) < 0.3
    scores = scores_of(y, 1.0, 0.8, 0.5, seed=3)
    every = Blend.from_scores(scores, Sample(y), 1.0)
    plain = Blend.from_scores(scores[:, [0, 2]], Sample(y), 1.0)
    expected = 0.25 * every.log_odds(scores) + 0.75 * plain.log_odds(scores[:, [0, 2]])
    merged = every.merged(plain, np.array([0, 2]), 0.25)
    assert merged.log_odds(scores) == pytest.approx(expected)


def test_the_cross_fitted_scores_are_merged_as_the_blend_is():
    y = np.random.default_rng(2).random(120) < 0.3
    scores = scores_of(y, 0.7, 0.6, 0.9, seed=2)
    gated = gate(scores, y, [False, False, True])
    every, plain = (blended(columns, y, gated.shrinkage) for columns in (scores, scores[:, :2]))
    w = gated.region_weight
    assert 0.0 < w < 1.0
    assert gated.log_odds == pytest.approx(w * every + (1 - w) * plain)


@pytest.mark.parametrize("kind", [True, False])
def test_members_of_one_kind_are_blended_as_they_are(kind):
    y = np.random.default_rng(3).random(150) < 0.3
    scores = scores_of(y, 1.0, 0.8)
    gated = gate(scores, y, [kind, kind])
    assert gated.region_weight == 1.0
    expected = Blend.from_scores(scores, Sample(y), gated.shrinkage)
    assert np.array_equal(gated.blend.coef, expected.coef)


@given(seed=st.integers(0, 1000))
def test_weights_are_replications(seed):
    rng = np.random.default_rng(seed)
    y = np.arange(40) % 3 == 0
    scores, weight = scores_of(y, 1.0, 0.5, seed=seed), rng.integers(1, 4, 40)
    region = Region.from_params((0.0, 0.5), None, 0.0)
    copies = np.repeat(np.arange(40), weight)
    splits = splits_of(y)
    repeated = [tuple(np.flatnonzero(np.isin(copies, rows)) for rows in both) for both in splits]
    flags = [False, True]
    weighted = gate(scores, y, flags, weight=weight.astype(float), splits=splits, region=region)
    copied = gate(scores[copies], y[copies], flags, splits=repeated, region=region)
    assert weighted.region_weight == pytest.approx(copied.region_weight, abs=1e-3)


def test_groups_are_the_units_of_the_error():
    y = np.random.default_rng(0).random(90) < 0.4
    scores = scores_of(y, 1.0, 0.4, seed=3)
    twice, group = np.tile(np.arange(90), 2), np.tile(np.arange(90), 2)
    splits = [tuple(np.concatenate([rows, rows + 90]) for rows in both) for both in splits_of(y)]

    def lead(group):
        gated = gate(scores[twice], y[twice], [False, True], splits=splits, group=group)
        return stats.norm.ppf((1.0 + gated.region_weight) / 2.0)

    # Copies halve the variance of rows; that of groups stays, up to its divisor.
    assert 0 < lead(group) < lead(None)
    assert lead(None) / lead(group) == pytest.approx(np.sqrt(2), rel=0.02)


def test_a_stack_tells_its_two_kinds_of_member_apart():
    X, y = numbers()
    reweighted = RegionReweighted(LogisticRegression(), (0.0, 0.2), cv=2)
    both = RegionStack((0.0, 0.2), estimators=[*PLAIN, "linear"], cv=3, random_state=0).fit(X, y)
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    gated = [
        RegionStack((0.0, 0.2), estimators=members, cv=folds, random_state=0).fit(X, y)
        for members in (PLAIN, [*PLAIN, ("again", reweighted)], ["linear", ("again", reweighted)])
    ]
    assert 0.0 <= both.region_weight_ < 1.0
    assert [stack.region_weight_ == 1.0 for stack in gated] == [True, False, True]
