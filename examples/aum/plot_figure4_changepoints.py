"""
A line search with loops in the ROC curve
=========================================

In changepoint detection a larger prediction (a smaller penalty) finds more changes, but a change
found at one model size can be lost at the next. False positives and false negatives then go up and
down, AUM is not convex, and the ROC curve can have loops with an area above one. The path is exact
all the same. This recomputes Figure 4 of Fowler and Hocking (2024): the error functions are those of
its two labelled sequences, with breakpoints rounded to three digits.
"""

import matplotlib.pyplot as plt
import numpy as np

from aucuba.aum import ErrorFunctions, aum, line_search_path, maximize_auc

# %%
# Error functions
# ---------------
# Sequence 0 should have no change: every change found is a false positive. Sequence 1 should have
# one: none found is a false negative.

errors = ErrorFunctions(
    example=[0, 0, 0, 1, 1, 1],
    value=[3.532, 3.705, 4.031, -1.929, -1.388, -1.136],
    fp_diff=[1, -1, 1, 0, 0, 0],
    fn_diff=[0, 0, 0, -1, 1, -1],
)
predictions = np.array([2.55, -3.0])
print("monotone errors:", errors.is_monotone)

figure, axes = plt.subplots(1, 2, figsize=(9, 2.6), layout="constrained", sharey=True)
for example, ax in enumerate(axes):
    mine = errors.example == example
    fp = np.cumsum(np.r_[0, errors.fp_diff[mine]])
    fn = np.cumsum(np.r_[-errors.fn_diff[mine].sum(), errors.fn_diff[mine]])
    value = errors.value[mine]
    edges = np.r_[value[0] - 1, value, value[-1] + 1]
    ax.stairs(fp, edges, baseline=None, color="tab:orange", label="FP")
    ax.stairs(fn, edges, baseline=None, color="tab:blue", ls="--", label="FN")
    ax.axvline(predictions[example], color="tab:purple")
    ax.set(title=f"sequence {example}", xlabel="prediction = -log(penalty)")
axes[0].legend()
plt.show()

# %%
# The whole path
# --------------

start = aum(errors, predictions)
path = line_search_path(errors, predictions, -start.gradient, stop="all")
print(path.to_frame())
path.plot()
plt.show()

# %%
# Where to stop
# -------------
# The first minimum of AUM, as many rows as there are lines, or all of them. AUC reaches 2.

for stop in ("first_min", "first_max_auc", "linear", "all"):
    found = line_search_path(errors, predictions, -start.gradient, stop=stop)
    print(f"{stop:14s} {found.n_rows} rows  {found.best_aum()}  {found.best_auc()}")
print(maximize_auc(errors, predictions, -start.gradient, max_step=1.0))
