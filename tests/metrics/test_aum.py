import itertools

import numpy as np
import pytest

from aucuba.metrics import aum_score
from tests.oracles import random_ranking


def aum_by_grid(positive, score, weight, rate):
    """Integrate min(FP, FN) over the constants between consecutive thresholds, one by one."""
    levels = np.unique(score)
    total = 0.0
    for low, high in itertools.pairwise(levels):
        predicted = score > (low + high) / 2
        fp = weight[predicted & ~positive].sum()
        fn = weight[~predicted & positive].sum()
        if rate:
            fp, fn = fp / weight[~positive].sum(), fn / weight[positive].sum()
        total += (high - low) * min(fp, fn)
    return total


@pytest.mark.parametrize("rate", [True, False])
def test_equals_the_integral(rate):
    rng = np.random.default_rng(0)
    for case in range(300):
        positive, score = random_ranking(rng)
        weight = rng.uniform(0.5, 2, size=score.size) if case % 2 else np.ones(score.size)
        got = aum_score(positive, score, rate=rate, sample_weight=weight)
        assert got == pytest.approx(aum_by_grid(positive, score, weight, rate), abs=1e-12)


def test_shift_invariant_homogeneous_and_zero_for_perfect_scores():
    rng = np.random.default_rng(1)
    positive, score = random_ranking(rng)
    assert aum_score(positive, score + 7) == pytest.approx(aum_score(positive, score))
    assert aum_score(positive, 3 * score) == pytest.approx(3 * aum_score(positive, score))
    assert aum_score(positive, positive.astype(float)) == 0.0
