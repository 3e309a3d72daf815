"""
One exact line search, four examples
====================================

Thresholds move along straight lines as the step grows, and AUM and AUC change their course only
where two of them meet. So both are known for *every* step after a handful of updates. This
recomputes Figure 3 of Fowler and Hocking (2024): four examples, the descent direction of AUM, and
the ROC curve before, at and after the first meeting.
"""

import matplotlib.pyplot as plt
import numpy as np

from aucuba.aum import ErrorFunctions, aum, line_search_path, minimize_aum

# %%
# The path
# --------

y = np.array([0, 0, 1, 1])
scores = np.array([4.0, 0.0, 1.0, 3.0])
errors = ErrorFunctions.from_labels(y)
start = aum(errors, scores)
direction = -start.gradient
path = line_search_path(errors, scores, direction, stop="all")
print(path.to_frame())

# %%
# AUC is a step function, AUM piecewise linear. At a meeting the tied pair counts half.

path.plot(max_step=1.4 * path.step[-1])
plt.show()

# %%
# ROC curves around the first meeting
# -----------------------------------
# Before it a ROC point lies below the diagonal that connects its neighbours; at the step the point
# is gone and the diagonal is the curve; after it a new point appears above.

meeting = path.step[1]
figure, axes = plt.subplots(2, 3, figsize=(9, 5.4), layout="constrained", sharey="row")
for step, (roc, area) in zip((0.0, meeting, 1.25 * meeting), axes.T, strict=True):
    here = aum(errors, scores + step * direction)
    roc.plot(here.fpr, here.tpr, "o-", color="black")
    roc.fill_between(here.fpr, here.tpr, color="0.9")
    roc.set(title=f"step {step:g}: AUC {here.auc:g}", xlabel="FPR")
    edges = np.r_[here.threshold[0] - 1, here.threshold, here.threshold[-1] + 1]
    fnr = 1 - here.tpr
    area.stairs(np.minimum(here.fpr, fnr), edges, color="0.8", fill=True)
    area.stairs(here.fpr, edges, baseline=None, color="tab:orange", label="FPR")
    area.stairs(fnr, edges, baseline=None, color="tab:blue", ls="--", label="FNR")
    area.set(title=f"AUM {here.aum:g}", xlabel="constant added to scores")
axes[0, 0].set_ylabel("TPR")
axes[1, 0].set_ylabel("error rate")
axes[1, 0].legend()
plt.show()

# %%
# For binary labels AUM is convex along the line, so the minimum needs no path at all:

print(minimize_aum(errors, scores, direction))
print(path.best_aum())
