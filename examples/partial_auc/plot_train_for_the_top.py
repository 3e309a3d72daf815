"""
What suits the bulk can hurt the top
====================================

Logistic regression fits all rows alike. Where most negatives differ from the few that score
highest, its direction is wrong exactly where a strict threshold works. Here most negatives are up
in the second feature, but those that look like positives in the first are down in it.
"""

import matplotlib.pyplot as plt
import numpy as np

from aucuba import PartialAUCClassifierCV
from aucuba.metrics import RocRegionDisplay, compare_scores

FPR_RANGE = (0.0, 0.1)


def draw(rng, n):
    X = rng.normal(size=(n, 4))
    y = rng.random(n) < 0.15
    X[y, 0] += 2.0
    X[~y, 1] += 1.5
    look_alike = ~y & (rng.random(n) < 0.08)
    X[look_alike, 0] += 3.0
    X[look_alike, 1] -= 5.0
    return X, y


X, y = draw(np.random.default_rng(0), 1500)
X_test, y_test = draw(np.random.default_rng(1), 6000)

# %%
# The classifier fits logistic regression and, on half-samples, models for the region, and blends the
# two: the latter weigh as much as they are probably better out of sample. It says why.
model = PartialAUCClassifierCV(FPR_RANGE, random_state=0).fit(X, y)
print(model.status_)
print({name: round(value, 3) for name, value in model.partial_auc_.items()})

# %%
# On new data the gain is there, at the price of area further to the right.
own = model.decision_function(X_test)
logistic = X_test @ model.logistic_coef_[0]
print(compare_scores("partial_auc", y_test, own, logistic, fpr_range=FPR_RANGE, random_state=0))

fig, (left, right) = plt.subplots(1, 2, figsize=(11, 5))
top = own >= np.sort(own[~y_test])[-int(0.1 * (~y_test).sum())]
left.scatter(*X_test[~y_test & ~top][:600, :2].T, s=6, color="0.7", label="other negatives")
left.scatter(*X_test[~y_test & top][:200, :2].T, s=10, color="tab:red", label="top negatives")
left.scatter(*X_test[y_test][:200, :2].T, s=10, color="tab:blue", label="positives")
left.set(xlabel="first feature", ylabel="second feature")
left.legend()
for name, score in {"logistic regression": logistic, "trained for the region": own}.items():
    RocRegionDisplay.from_predictions(y_test, score, fpr_range=FPR_RANGE, name=name, ax=right)
fig.tight_layout()
