"""Fits on tensors leave rows where they are: what crosses to or from the host is listed here."""

import numpy as np
import pytest

from aucuba import PartialAUCClassifier, PartialAUCClassifierCV, PartialAUCSVC
from tests.row_transfers import row_transfers

torch = pytest.importorskip("torch")

N_ROWS = 120_000
rng = np.random.default_rng(0)
X = rng.normal(size=(N_ROWS, 2))
Y = X[:, 0] + X[:, 1] / 2 + rng.normal(size=N_ROWS) > 2
# The order of fold numbers, drawn once for the folds and once for each of two halvings.
FOLDS = {"up, uint8": 3}


def crossed(model, y, **columns):
    """What a fit moves: vectors of one entry for every fortieth row, or longer ones.

    The thousand rows that tell whether X is scaled are fewer.
    """
    table = torch.as_tensor(X)
    return dict(row_transfers(lambda: model.fit(table, y, **columns), N_ROWS // 40))


@pytest.mark.parametrize("fpr_range", [(0.0, 0.05), (0.02, 0.1), (0.0, 1.0)])
def test_cross_validation_draws_folds_and_moves_nothing_else(fpr_range):
    model = PartialAUCClassifierCV(fpr_range, Cs=3, random_state=0)
    assert crossed(model, torch.as_tensor(Y)) == FOLDS
    assert crossed(model, torch.as_tensor(Y.astype(np.int64))) == FOLDS
    assert crossed(model, Y) == FOLDS | {"up, bool": 1}


@pytest.mark.parametrize(
    "model",
    [
        PartialAUCClassifier((0.0, 0.1)),
        PartialAUCClassifier((0.02, 0.1)),
        PartialAUCSVC((0.0, 0.5), loss="structural"),
        PartialAUCSVC((0.0, 0.5), loss="tight"),
        PartialAUCSVC((0.0, 1.0), loss="tight"),
    ],
)
def test_one_fit_moves_nothing(model):
    assert crossed(model, torch.as_tensor(Y)) == {}


def test_ranges_that_start_above_zero_are_pooled_on_the_host():
    model = PartialAUCSVC((0.1, 0.5), loss="structural")
    assert set(crossed(model, torch.as_tensor(Y))) == {"down, float64", "up, float64"}


def test_average_precision_and_weights_are_compared_on_the_host():
    model = PartialAUCClassifierCV(Cs=3, scoring="average_precision", random_state=0)
    assert "down, float64" in crossed(model, torch.as_tensor(Y))
    model = PartialAUCClassifierCV(Cs=3, random_state=0)
    weight = torch.full((N_ROWS,), 2.0)
    assert "down, float64" in crossed(model, torch.as_tensor(Y), sample_weight=weight)
