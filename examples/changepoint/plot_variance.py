"""
Volatility: changes of the variance around a known mean
=======================================================

Returns of a price, errors of a sensor: the mean is known, and what changes is the spread. The loss
``"variance"`` is the Gaussian one for a signal of mean 0. It finds changes of the variance only;
changes of mean and variance together are not supported, so subtract the mean first.
"""

import matplotlib.pyplot as plt
import numpy as np

from aucuba.changepoint import segment, segment_penalty

# %%
# Calm, nervous, calm, very calm.
rng = np.random.default_rng(0)
spread = np.repeat([1.0, 3.0, 1.0, 0.3], [200, 80, 180, 140])
returns = spread * rng.normal(size=spread.size)
found = segment_penalty(returns, 3 * np.log(returns.size), loss="variance")
changes = found.changepoints[0]
print("changes at", changes)

figure, ax = plt.subplots(figsize=(7, 3), layout="constrained")
ax.plot(returns, color="0.6", lw=0.7)
edges = np.r_[0, changes, returns.size]
size = np.sqrt([np.mean(part**2) for part in np.split(returns, changes)])
for sign in (-2, 2):
    ax.stairs(sign * size, edges, baseline=None, color="tab:red", lw=1.5)
ax.set(xlabel="sample", ylabel="return", title="Two standard deviations of each segment")

# %%
# Squared errors around means look for something else, and find it in the noise of the nervous stretch.
squares = segment_penalty(returns, 3 * np.log(returns.size) * returns.var())
print("changes by squared error:", squares.changepoints[0])

# %%
# All sizes at once. Zeros would make a segment's loss minus infinity; ``variance_floor`` is the
# smallest variance that a segment may have, by default 1e-8 of the signal's mean square.
path = segment(returns, 6, loss="variance", variance_floor=1e-3)
print(np.round(path.losses, 1))
