"""One table for the tests of the linear classifier."""

import numpy as np

RNG = np.random.default_rng(0)
X = RNG.normal(size=(600, 8))
Y = (X[:, 0] + 0.5 * X[:, 1] + 0.5 * RNG.normal(size=600) > 0.8).astype(int)
SURROGATES = ["direct", "tight", "structural"]
