"""
A stack for the left end of the ROC curve
=========================================

Forests and boosting beat linear models on most tables, whatever the measure. This example takes a plain
forest, re-weights it for false positive rates up to 5 % with
:class:`~aucuba.ensemble.RegionReweighted`, and then lets :class:`~aucuba.ensemble.RegionStack` combine
it with models of other kinds.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_curve

from aucuba.ensemble import RegionReweighted, RegionStack
from aucuba.metrics import partial_auc_score

# %%
# Data with rare positives
# ------------------------
# Most of the rows are kept for the test, since a partial AUC needs many negatives to be known
# well.

X, y = make_classification(
    4000, 10, n_informative=6, n_clusters_per_class=4, weights=[0.9], flip_y=0.03, random_state=0
)
X_train, y_train, X_test, y_test = X[:1200], y[:1200], X[1200:], y[1200:]
fpr_range = (0.0, 0.05)

# %%
# Three models
# ------------
# The stack needs no settings. Fewer folds than the default five keep this page quick.

forest = RandomForestClassifier(random_state=0)
models = {
    "forest": forest,
    "re-weighted": RegionReweighted(forest, fpr_range, cv=3, random_state=0),
    "stack": RegionStack(fpr_range, cv=3, random_state=0),
}
scores = {}
for name, model in models.items():
    scores[name] = model.fit(X_train, y_train).predict_proba(X_test)[:, 1]
    value = partial_auc_score(y_test, scores[name], fpr_range=fpr_range)
    print(f"{name:12} pAUC {value:.3f}")

# %%
# What the members are worth
# --------------------------
# Values are out of fold, from the training rows alone, with standard errors. The coefficients belong to
# standardised scores, so they can be compared.

stack = models["stack"]
for row in stack.report_:
    print(
        f"{row['member']:12} {row['partial_auc']:.3f} +- {row['standard_error']:.3f}"
        f"   coefficient {row['coef']:+.2f}"
    )

# %%
# The region, and the columns that matter in it
# ---------------------------------------------
# An importance is the partial AUC that is lost when one column is shuffled; the lines are intervals.

importances = stack.feature_importances(X_test[:1000], y_test[:1000], n_repeats=2, random_state=0)
rising = importances[::-1]
lost = np.array([row["importance"] for row in rising])
spread = [lost - [row["low"] for row in rising], [row["high"] for row in rising] - lost]

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
for name, score in scores.items():
    fpr, tpr, _ = roc_curve(y_test, score)
    left.plot(fpr, tpr, label=name)
left.set(xlim=fpr_range, ylim=(0, 1), xlabel="False positive rate", ylabel="True positive rate")
left.legend(loc="lower right")
right.barh([row["columns"] for row in rising], lost, xerr=spread)
right.set(xlabel="Loss of partial AUC", ylabel="Column")
plt.show()
