"""
AUM shrinks as ROC points move to the upper left
================================================

Four models for one set of labels, from the worst order to the perfect one. Every constant added to
the scores gives a ROC point (top); below, the smaller of the two error rates as a function of that
constant. The grey area is the AUM. It is zero when AUC is one, and unlike the sum of min(FPR, FNR)
over the ROC points it changes with the scores, so that it has a gradient. It is zero for the constant
model as well: AUM is in units of the score, and shrinking all scores shrinks it. This recomputes
Figure 1 of Fowler and Hocking (2024) on a small example.
"""

import matplotlib.pyplot as plt
import numpy as np

from aucuba.aum import ErrorFunctions, aum

# %%
# Four models
# -----------
# Six examples, three of each class. The models differ in how many pairs they put in the wrong order.

y = np.array([0, 0, 0, 1, 1, 1])
models = {
    "bad": [2.0, 1.2, 0.5, 0.0, -0.8, -1.5],
    "constant": [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    "good": [-1.5, -0.6, 0.9, -0.1, 1.1, 1.8],
    "perfect": [-1.5, -1.0, -0.4, 0.3, 1.1, 1.8],
}
errors = ErrorFunctions.from_labels(y)
results = {name: aum(errors, scores) for name, scores in models.items()}

# %%
# ROC points and the area below them
# ----------------------------------
# Each ROC point belongs to an interval of constants between two thresholds, and has the same letter
# there.

figure, axes = plt.subplots(2, 4, figsize=(11, 5.2), layout="constrained", sharey="row")
letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
first = 0
for (name, result), (roc, area) in zip(results.items(), axes.T, strict=True):
    smaller = np.minimum(result.fpr, 1 - result.tpr)
    roc.plot(result.fpr, result.tpr, color="0.6", zorder=1)
    roc.scatter(result.fpr, result.tpr, c=smaller, cmap="Purples", vmin=0, vmax=1, ec="k", s=50)
    names = letters[first : first + smaller.size]
    for letter, x, z, value in zip(names, result.fpr, result.tpr, smaller, strict=True):
        roc.annotate(f"{letter} {value:.2f}", (x, z), xytext=(4, -11), textcoords="offset points")
    roc.set(xlim=(-0.08, 1.4), ylim=(-0.15, 1.08))
    roc.set(title=f"{name}: AUC {result.auc:.2f}\nsum(min) {smaller.sum():.2f}", xlabel="FPR")
    edges = np.r_[-3.0, result.threshold, 3.0]
    area.stairs(smaller, edges, color="0.8", fill=True)
    area.stairs(smaller, edges, color="black")
    middles = (edges[1:] + edges[:-1]) / 2
    for letter, x in zip(names, middles, strict=True):
        area.annotate(letter, (x, 1.05), ha="center")
    area.set(title=f"AUM {result.aum:.2f}", xlabel="constant added to scores", ylim=(0, 1.2))
    first = (first + smaller.size) % 20
axes[0, 0].set_ylabel("TPR")
axes[1, 0].set_ylabel("min(FPR, FNR)")
plt.show()

# %%
# The gradient of AUM pushes exactly those examples that make the errors: negatives down, positives
# up.

for name, result in results.items():
    print(f"{name:9s}", np.round(-result.gradient, 2))
