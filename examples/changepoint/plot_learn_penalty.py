"""
Learn the penalty from labels
=============================

Every penalised changepoint method asks for a penalty. The right one depends on the noise, which
differs from signal to signal; a handful of labels ("no change here", "one change there") tells what it
should be.
"""

# %%
# Sixty signals whose noise spans two orders of magnitude. Every second one has two changes. Somebody
# has looked at each and labelled two regions.
import matplotlib.pyplot as plt
import numpy as np

from aucuba.changepoint import ChangepointDisplay, Label, SupervisedChangepointDetector, penalty_roc

rng = np.random.default_rng(0)
signals, labels = [], []
for k in range(60):
    noise = 10.0 ** rng.uniform(-1, 1)
    mean = np.repeat([0.0, 4 * noise * (k % 2), 0.0], [30, 20, 50])
    signals.append(mean + noise * rng.normal(size=100))
    labels.append([Label(15, 40, "one" if k % 2 else "none"), Label(60, 95, "none")])

# %%
# Fit on the first half. The detector computes all segmentations of up to ten pieces, counts label
# errors for every penalty, and learns log penalties from features of the signals.
detector = SupervisedChangepointDetector(max_segments=10, random_state=0)
detector.fit(signals[:30], labels[:30])
print(f"labels right in the other half: {detector.score(signals[30:], labels[30:]):.1%}")

# %%
# A constant penalty, even the best one for the test half, does worse:
errors = detector.prepare(signals[30:], labels[30:])[1]
constant = penalty_roc(errors, np.zeros(30))
wrong = constant.best_fp + constant.best_fn
print(f"with the best constant penalty:  {1 - wrong / constant.n_labels:.1%}")

# %%
# Green labels are right. The second row shows the false positives and false negatives of each signal
# for every penalty, and where the learned penalty lies.
fig, axes = plt.subplots(2, 3, figsize=(12, 6), layout="constrained")
for column, k in enumerate((31, 32, 33)):
    display = ChangepointDisplay.from_detector(detector, signals[k], labels[k], ax=axes[0, column])
    display.ax_.set_title(f"signal {k}")
    display.plot_errors(axes[1, column])
plt.show()
