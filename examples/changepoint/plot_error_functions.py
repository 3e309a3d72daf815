"""
Errors of a labelled profile against the penalty
================================================

Figure 2 of Fowler and Hocking (2024): label errors are step functions of the penalty, and they need not
be monotone, because a change can move out of a labelled region when a segment is added. The figure
shows a DNA copy-number profile; this signal behaves alike.
"""

# %%
# One signal and its label: at least one change in the first part.
import matplotlib.pyplot as plt
import numpy as np

from aucuba.changepoint import ChangepointDisplay, Label, error_functions, label_errors, segment

rng = np.random.default_rng(0)
signal = np.repeat([0.35, 0.0, -0.45, 0.0], [45, 70, 50, 80]) + 0.12 * rng.normal(size=245)
positions = np.arange(245.0)
labels = [Label(0, 95, "at_least_one")]

# %%
# All optimal segmentations up to twenty pieces, and the models that some penalty selects.
found = segment(signal, 20, positions=positions)
errors = label_errors(found, labels)
for size, low, high, fn in zip(
    found.sizes[errors.model],
    errors.min_log_penalty,
    errors.max_log_penalty,
    errors.fn,
    strict=True,
):
    print(
        f"{size:3d} segments for log penalties in ({low:6.2f}, {high:6.2f}): {fn:.0f} false negatives"
    )

# %%
# Three segments miss the label that two and four segments meet: the false negatives go 1, 0, 1, 0.
fig, axes = plt.subplots(2, 2, figsize=(11, 6), layout="constrained")
for ax, log_penalty in zip(axes.flat[:3], (1.6, 1.2, 0.0), strict=True):
    display = ChangepointDisplay.from_penalty(
        signal, log_penalty, labels, positions=positions, ax=ax
    )
    ax.set_title(f"log penalty {log_penalty}: {display.changepoints.size + 1} segments")
display.plot_errors(axes[1, 1])
plt.show()

# %%
# The jumps are what AUM works with, here together with a second profile that should have no change.
flat = label_errors(segment(np.sin(np.arange(60.0) ** 2), 10), [Label(0, 59, "none")])
functions = error_functions([flat, errors], rate=False)
print(np.column_stack([functions.example, functions.value, functions.fp_diff, functions.fn_diff]))
