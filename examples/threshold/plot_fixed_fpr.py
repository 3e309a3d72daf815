"""
A false positive rate that you can promise
==========================================

The 95 % quantile of the negatives' scores looks like a threshold with a false positive rate of 5 %. It
is an estimate, and new data exceed the rate about every second time. This example repeats a study 300
times on generated data, where the true rate is known, and compares that quantile with
:class:`~aucuba.FixedFPRClassifier`.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression

from aucuba.threshold import FixedFPRClassifier, rows_needed

# %%
# How many negatives does the promise need?
# -----------------------------------------
# A rate of at most 5 %, kept with a confidence of 95 %, needs at least 59 negatives that the model has
# not seen.

max_fpr, confidence = 0.05, 0.95
print(rows_needed("fpr", max_fpr, confidence))

# %%
# One study
# ---------
# Half of the rows train the base, the negatives of the other half set the threshold. The fitted
# classifier says what it promises.

shift = np.array([1.6, 1.2])


def draw(rng, n_negatives, n_positives=200):
    y = np.repeat([0, 1], [n_negatives, n_positives])
    return rng.normal(size=(y.size, 2)) + y[:, None] * shift, y


rng = np.random.default_rng(0)
X, y = draw(rng, n_negatives=400)
alarm = FixedFPRClassifier(LogisticRegression(), max_fpr, confidence, random_state=0)
alarm.fit(X, y)
print(f"threshold {alarm.threshold_:.2f}, score number {alarm.rank_} of {alarm.n_negatives_}")
print(f"P(FPR > {max_fpr}) <= {alarm.violation_probability_:.3f}, guaranteed: {alarm.guarantee_}")

# %%
# Three hundred studies
# ---------------------
# Linear scores of normal rows are normal, so the true rates of each fitted threshold are exact.


def true_rates(base, threshold):
    level, length = threshold - base.intercept_[0], np.linalg.norm(base.coef_)
    return norm.sf(level / length), norm.sf((level - base.coef_[0] @ shift) / length)


def study(n_negatives):
    """True (FPR, TPR) of the promise and of the plain quantile, from the same held-out rows."""
    base = LogisticRegression().fit(*draw(rng, n_negatives))
    X, y = draw(rng, n_negatives)
    promise = FixedFPRClassifier(base, max_fpr, confidence, cv="prefit").fit(X, y)
    quantile = np.quantile(base.decision_function(X[y == 0]), 1 - max_fpr)
    return true_rates(base, promise.threshold_), true_rates(base, quantile)


rates = np.array([study(200) for _ in range(300)])
names = ["FixedFPRClassifier", "plain quantile"]
exceeded = (rates[:, :, 0] > max_fpr).mean(axis=0)

fig, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
bins = np.linspace(0, 0.12, 37)
for column, (name, color) in enumerate(zip(names, ["tab:green", "tab:gray"], strict=True)):
    label = f"{name}: exceeded in {exceeded[column]:.0%} of the studies"
    ax.hist(rates[:, column, 0], bins, alpha=0.6, color=color, label=label)
ax.axvline(max_fpr, color="black", linestyle="--", label="promised rate")
ax.set(xlabel="true false positive rate", ylabel="studies", title="200 held-out negatives")
ax.set_ylim(top=1.5 * ax.get_ylim()[1])
ax.legend(frameon=False)
plt.show()

# %%
# What the promise costs
# ----------------------
# A safe threshold lies above the quantile and finds fewer positives. The price falls as held-out
# negatives are added; at the minimum of 59 none of them may lie above the threshold.

sizes = [59, 100, 200, 400, 1000, 4000]
tpr = np.array([np.mean([study(n) for _ in range(60)], axis=0)[:, 1] for n in sizes])

fig, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
for column, (name, color) in enumerate(zip(names, ["tab:green", "tab:gray"], strict=True)):
    ax.semilogx(sizes, tpr[:, column], "o-", color=color, label=name)
ax.set(xlabel="held-out negatives", ylabel="mean true positive rate")
ax.set_xticks(sizes, [str(n) for n in sizes])
ax.minorticks_off()
ax.legend(frameon=False)
plt.show()
