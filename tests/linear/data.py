"""One table for the tests of the linear classifiers, and their losses."""

import numpy as np

from aucuba import PartialAUCClassifier, PartialAUCSVC

RNG = np.random.default_rng(0)
X = RNG.normal(size=(600, 8))
Y = (X[:, 0] + 0.5 * X[:, 1] + 0.5 * RNG.normal(size=600) > 0.8).astype(int)
# The loss of PartialAUCClassifier, which is not a parameter, and the convex ones of PartialAUCSVC.
LOSSES = ["ramp", "tight", "structural"]


def make_model(loss, fpr_range=(0.0, 0.05), **params):
    """A classifier with one of the losses."""
    if loss == "ramp":
        return PartialAUCClassifier(fpr_range, **params)
    return PartialAUCSVC(fpr_range, loss=loss, **params)
