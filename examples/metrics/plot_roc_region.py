"""
The better AUC may be the worse test
====================================

Two laboratory markers for one disease. The broad marker is somewhat raised in every patient; the
specific marker is far up in six patients of ten and says nothing about the others. When one healthy
person in twenty may be called back at most, only the ROC curve at the left of FPR = 0.05 matters, and
there the ranking of the two markers turns around.
"""

import matplotlib.pyplot as plt
import numpy as np

from aucuba.metrics import RocRegionDisplay, partial_auc_score, tpr_at_fpr_score

# %%
# The data
# --------
# One patient in five, and two scores for everyone.

rng = np.random.default_rng(0)
ill = rng.random(3000) < 0.2
broad = rng.normal(size=3000) + 1.5 * ill
specific = rng.normal(size=3000) + 4.0 * (ill & (rng.random(3000) < 0.6))
markers = {"broad marker": broad, "specific marker": specific}

# %%
# Three numbers
# -------------
# The full AUC prefers the broad marker. The partial AUC, the mean true positive rate over the false
# positive rates that can be afforded, prefers the specific one, and so does the end of the range.

region = (0.0, 0.05)
for name, score in markers.items():
    print(
        f"{name:16s} AUC {partial_auc_score(ill, score):.3f}   "
        f"pAUC {partial_auc_score(ill, score, fpr_range=region):.3f}   "
        f"TPR at FPR 0.05 {tpr_at_fpr_score(ill, score, fpr=0.05):.3f}"
    )

# %%
# The picture
# -----------
# :class:`~aucuba.metrics.RocRegionDisplay` shades the area that the partial AUC counts and writes the
# value into the legend. Several displays share one ``Axes``.

ax = plt.subplots(figsize=(5.5, 5.5))[1]
for name, score in markers.items():
    RocRegionDisplay.from_predictions(
        ill, score, fpr_range=region, name=name, ax=ax, plot_chance_level=name == "specific marker"
    )
plt.tight_layout()
plt.show()
