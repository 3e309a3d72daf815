"""
A certificate, and where zero is as good
========================================

The convex losses come with a lower bound: the gap between it and the objective says how far from the
optimum a model can be. The same bound shows when a loss has nothing to offer.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.exceptions import ConvergenceWarning

from aucuba import PartialAUCSVC

rng = np.random.default_rng(0)
X = rng.normal(size=(3000, 20))
y = X[:, 0] + 0.5 * X[:, 1] + 0.7 * rng.normal(size=3000) > 1.6

# %%
# The bundle method closes the gap in a few iterations; the paper's plain cutting planes need many
# more.
fig, ax = plt.subplots()
for solver in ("bundle", "cutting_plane"):
    model = PartialAUCSVC((0.0, 0.1), loss="structural", C=100.0, tol=1e-4, solver=solver).fit(X, y)
    gaps = [row["gap"] for row in model.history_]
    ax.semilogy(
        np.arange(1, len(gaps) + 1), gaps, marker=".", label=f"{solver}: {len(gaps)} iterations"
    )
ax.set(xlabel="iteration", ylabel="(objective - lower bound) / C")
ax.legend()

print(model.summary())

# %%
# Put the positives in the middle of the negatives: in every direction some negatives score above
# them. No model then has a lower loss than the zero model by more than the tolerance. The fit proves
# it, says so, and returns the minimiser of its cutting planes, which hardly ranks.
X = rng.normal(size=(400, 2))
y = np.arange(400) < 30
X[y] *= 0.05
with warnings.catch_warnings():
    warnings.simplefilter("ignore", ConvergenceWarning)
    model = PartialAUCSVC((0.0, 0.1), loss="tight", C=100.0).fit(X, y)
print(model.status_)
print(model.coef_)

# %%
# A kernel separates what no line can.
curved = PartialAUCSVC((0.0, 0.1), loss="tight", kernel="rbf", C=10.0).fit(X, y)
print(curved.summary())
