"""
A line of few columns
=====================

Twenty columns, of which some tell most positives from the bulk of the negatives, and others a part of
the positives surely. A line of two columns cannot have both: at few false alarms the second kind serves
better, although its log-loss is worse.
"""

import matplotlib.pyplot as plt
import numpy as np

from aucuba import PartialAUCClassifierCV, explain_rows
from aucuba.metrics import partial_auc_score

FPR_RANGE = (0.0, 0.01)


def draw(rng, n):
    y = rng.random(n) < 0.2
    X = rng.normal(size=(n, 20))
    X[y, :3] += 0.9
    sure = y & (rng.random(n) < 0.3)
    X[sure, 10] += 5.0
    X[sure, 11] += 3.0
    return X, y


X, y = draw(np.random.default_rng(0), 4000)
X_test, y_test = draw(np.random.default_rng(1), 20_000)

# %%
# The same number of columns, for the whole curve and for the region.
for limits in ((0.0, 1.0), FPR_RANGE):
    model = PartialAUCClassifierCV(limits, max_features=2, random_state=0).fit(X, y)
    value = partial_auc_score(y_test, model.decision_function(X_test), fpr_range=FPR_RANGE)
    print(limits, "columns", model.support_.tolist(), "partial AUC at 1 %", round(value, 3))

# %%
# Coefficients of the columns of best log-loss, by their number; those in the model are thick.
wide = PartialAUCClassifierCV(FPR_RANGE, max_features=6, random_state=0).fit(X, y)
wide.plot_support_path()
plt.show()

# %%
# Why were the top rows flagged?
top = np.argsort(-wide.decision_function(X_test))[:3]
print(explain_rows(wide, X_test[top], 2, background=X[:50]))
