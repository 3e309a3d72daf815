"""Tests over overlapping splits."""

import numpy as np
import pytest
from scipy import stats

from reproductions.paired import corrected_p, holm


def test_without_overlap_it_is_the_paired_t_test():
    gains = np.random.default_rng(0).normal(0.5, size=8)
    assert corrected_p(gains, 0.0) == pytest.approx(stats.ttest_1samp(gains, 0.0).pvalue)


def test_the_level_holds_where_the_splits_overlap():
    # Means of halves of the same rows: their correlation is about that of the correction, where the
    # plain t-test rejects several times too often.
    rng, drawn = np.random.default_rng(0), []
    for _ in range(2000):
        rows = rng.normal(size=40)
        halves = [rng.permutation(40)[:20] for _ in range(5)]
        drawn.append([rows[half].mean() for half in halves])
    assert np.mean([corrected_p(gains) < 0.05 for gains in drawn]) < 0.065
    assert np.mean(stats.ttest_1samp(drawn, 0.0, axis=1).pvalue < 0.05) > 0.15


def test_one_split_and_equal_gains_prove_nothing():
    assert np.isnan(corrected_p([1.0]))
    assert corrected_p([2.0, 2.0, 2.0]) == 1.0


def test_holm_by_its_definition():
    p = np.array([0.04, 0.01, 0.03, 0.6])
    # Sorted .01 x 4, .03 x 3, .04 x 2, .6 x 1, each at least the one before.
    assert holm(p) == pytest.approx([0.09, 0.04, 0.09, 0.6])
    assert holm([0.5, 0.9]) == pytest.approx([1.0, 1.0])
