"""
Promise a precision, see what a limit costs, and watch it in production
=======================================================================

Three questions about one fraud model: which threshold keeps nine of ten alerts right, what a limit
on false alarms costs in frauds found, and whether the promise still holds after deployment.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from aucuba import FixedFPRClassifier, FixedPrecisionClassifier
from aucuba.threshold import GuaranteedRocDisplay, RateMonitor, rows_needed

# %%
# Generated transactions
# ----------------------
# Five per cent are fraud.

rng = np.random.default_rng(0)


def transactions(n, drift=0.0):
    y = (rng.uniform(size=n) < 0.05).astype(int)
    X = rng.normal(size=(n, 6)) + y[:, None] * np.array([2.5, 1.8, 1.2, 0.0, 0.0, 0.0])
    X[:, 0] += drift * (1 - y)
    return X, y


X, y = transactions(20_000)
base = HistGradientBoostingClassifier(max_iter=60, random_state=0)

# %%
# Nine of ten alerts shall be right
# ---------------------------------
# Half of the rows train the model, the others set the threshold. With 5 % frauds the promise needs at
# least this many held-out rows:

print(rows_needed("precision", 0.9, prevalence=0.05))
sure = FixedPrecisionClassifier(base, min_precision=0.9, random_state=0).fit(X, y)
print(sure.promise_)

new_X, new_y = transactions(100_000)
flagged = sure.predict(new_X) == 1
found = flagged[new_y == 1].mean()
print(f"on new rows: precision {new_y[flagged].mean():.3f}, {found:.0%} of the frauds found")

# %%
# What a limit on false alarms costs
# ----------------------------------
# For every limit the display shows the true positive rate that is kept with 95 % confidence. A limit
# picked from the upper curve is not promised; one picked from the lower curve, drawn for all limits
# together, is.

fitted = base.fit(X[:10_000], y[:10_000])
fig, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
for simultaneous in (False, True):
    GuaranteedRocDisplay.from_estimator(
        fitted, X[10_000:], y[10_000:], simultaneous=simultaneous, name="boosting", ax=ax
    )
ax.set(xscale="log", xlim=(3e-4, 1))
plt.show()

# %%
# Does the promise still hold?
# ----------------------------
# The false positive rate is promised to stay at or below 1 %. After 15 days the customers change.

alarm = FixedFPRClassifier(fitted, max_fpr=0.01, cv="prefit").fit(X[10_000:], y[10_000:])
monitor = RateMonitor(limit=0.01, rate="fpr", average_run_length=1_000_000)
for day in range(25):
    day_X, day_y = transactions(2_000, drift=0.0 if day < 15 else 0.6)
    monitor.update(day_y, alarm.predict(day_X))
print(monitor)
print(monitor.to_frame()[["n_counted", "observed", "status", "changed"]].iloc[[0, 14, 15, 16, 24]])

fig, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
monitor.plot(ax)
ax.set(ylim=(0, 0.03))
plt.show()
