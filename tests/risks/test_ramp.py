"""The smooth ramp: what ties cost."""

import numpy as np
import pytest

from aucuba.risks import RankWeights, Sample, SmoothRamp


@pytest.mark.parametrize("tie_loss", [0.5, 0.7, 0.95, 1.0])
def test_tied_scores_cost_the_tie_loss(tie_loss):
    sample = Sample(np.arange(20) < 6)
    risk = SmoothRamp(sample, RankWeights.from_range((0.0, 0.3)), width=0.2, tie_loss=tie_loss)
    assert risk.value_and_gradient(np.zeros(20))[0] == pytest.approx(tie_loss)


def test_squeezing_the_scores_of_a_hard_band_pays_only_where_ties_are_cheap():
    rng = np.random.default_rng(0)
    positive = rng.random(2000) < 0.1
    scores = rng.normal(size=2000) + 0.3 * positive
    weights = RankWeights.from_range((0.0, 0.05))
    spread = 1 - SmoothRamp(Sample(positive), weights, width=1e-9).value_and_gradient(scores)[0]
    assert spread < 0.2
    losses = {
        tie_loss: [
            SmoothRamp(Sample(positive), weights, tie_loss=tie_loss).value_and_gradient(s)[0]
            for s in (scores, 0.01 * scores)
        ]
        for tie_loss in (0.5, 1 - spread)
    }
    assert losses[0.5][1] < losses[0.5][0]
    assert losses[1 - spread][1] >= losses[1 - spread][0] - 0.02
