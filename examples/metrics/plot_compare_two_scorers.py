"""
Is the difference in the region real?
=====================================

A partial AUC uses only the negatives inside its region, so it is less certain than an AUC from the same
test set. This example puts an interval on each of two classifiers, compares them on the same rows,
and draws how much of the difference is certain.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from aucuba.metrics import compare_scores, score_interval

# %%
# Two classifiers
# ---------------

X, y = load_breast_cancer(return_X_y=True)
malignant = 1 - y
X_train, X_test, y_train, y_test = train_test_split(
    X, malignant, test_size=0.5, stratify=malignant, random_state=0
)
models = {
    "logistic regression": make_pipeline(StandardScaler(), LogisticRegression()),
    "random forest": RandomForestClassifier(random_state=0),
}
scores = {
    name: model.fit(X_train, y_train).predict_proba(X_test)[:, 1] for name, model in models.items()
}

# %%
# One interval each
# -----------------
# Positives and negatives are resampled apart. The narrower the region, the wider the interval.

regions = [(0.0, 1.0), (0.0, 0.1), (0.0, 0.05)]
for name, score in scores.items():
    for region in regions:
        interval = score_interval("partial_auc", y_test, score, fpr_range=region, random_state=0)
        print(f"{name:20s} {region!s:12s} {interval}")

# %%
# One comparison
# --------------
# Two intervals that overlap decide nothing, because both classifiers may err on the same rows. The
# comparison scores both on the same resamples, so that what they share cancels.

a, b = scores.values()
comparisons = [
    compare_scores("partial_auc", y_test, a, b, fpr_range=region, random_state=0)
    for region in regions
]
for region, comparison in zip(regions, comparisons, strict=True):
    print(f"{region}: {comparison}")

# %%
# The picture
# -----------
# Differences (logistic regression minus random forest) with their 95 % intervals: 285 held-out tumours
# cannot tell the two apart, least of all in the narrow regions.

position = np.arange(len(regions))
difference = np.array([comparison.difference for comparison in comparisons])
low = np.array([comparison.low for comparison in comparisons])
high = np.array([comparison.high for comparison in comparisons])
fig, ax = plt.subplots(figsize=(6, 2.6))
ax.errorbar(difference, position, xerr=[difference - low, high - difference], fmt="o", capsize=4)
ax.axvline(0, color="0.6", linestyle="--", linewidth=1)
ax.set(yticks=position, yticklabels=[f"FPR in {list(region)}" for region in regions])
ax.set(xlabel="difference in partial AUC", ylim=(-0.5, len(regions) - 0.5))
fig.tight_layout()
plt.show()
