"""
Counts: changes of a rate, from run-length coded coverage
=========================================================

Counts have a variance that grows with their mean, so squared errors see changes in the noise of the
high stretches. The Poisson loss does not. Long runs of equal counts need not be written out: a weight
is a number of copies, as in the coverage files of sequencing.
"""

import matplotlib.pyplot as plt
import numpy as np

from aucuba.changepoint import segment_penalty

# %%
# Five stretches of constant rate.
rng = np.random.default_rng(0)
rate = np.repeat([2.0, 30.0, 4.0, 60.0, 3.0], [120, 60, 140, 50, 130])
counts = rng.poisson(rate)

# %%
# The same penalty in units of each loss: 2 log n per segment, times the variance for squares.
penalty = 2 * np.log(counts.size)
found = {
    "squared error": segment_penalty(counts, penalty * np.median(counts)),
    "Poisson": segment_penalty(counts, penalty, loss="poisson"),
}
figure, axes = plt.subplots(2, 1, sharex=True, figsize=(7, 4.6), layout="constrained")
for ax, (name, segmentation) in zip(axes, found.items(), strict=True):
    changes = segmentation.changepoints[0]
    ax.plot(counts, ".", color="0.6", ms=3)
    edges = np.r_[0, changes, counts.size]
    means = [part.mean() for part in np.split(counts, changes)]
    ax.stairs(means, edges, baseline=None, color="tab:blue", lw=2)
    ax.set(ylabel="count", title=f"{name}: {changes.size} changes")
axes[-1].set_xlabel("sample")

# %%
# Run-length coding: one entry per run, its length as weight. The best segmentation is the same, since a
# change inside a run of equal counts never pays.
starts = np.flatnonzero(np.r_[True, np.diff(counts) != 0])
lengths = np.diff(np.r_[starts, counts.size])
coded = segment_penalty(counts[starts], penalty, loss="poisson", weights=lengths)
print(f"{counts.size} samples, {starts.size} runs")
print("changes, written out:     ", found["Poisson"].changepoints[0])
print("changes, run-length coded:", starts[coded.changepoints[0]])
