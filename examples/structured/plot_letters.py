"""
Pixels of noisy letters
=======================

Every pixel of a picture of letters is flipped with probability 0.15. A factored model sees one pixel at
a time and can only tell dark from light; a pairwise model learns that neighbours belong together and
ranks the pixels of the letters first, holes filled and specks removed. This follows Figure 2 of
Rosenfeld et al. (2014) with letters of our own.
"""

# %%
# Draw the letters: a training picture shows an A, a test picture the word AUC.

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import rankdata

from aucuba.metrics import binned_auc_score
from aucuba.structured import RankingGraph, StructuredRanker

A = """
.......##.......
.......##.......
......####......
......####......
.....##..##.....
.....##..##.....
....##....##....
....##....##....
...##########...
...##########...
..##........##..
..##........##..
.##..........##.
.##..........##.
"""
U = """
.##..........##.
.##..........##.
.##..........##.
.##..........##.
.##..........##.
.##..........##.
.##..........##.
.##..........##.
.##..........##.
.##..........##.
..##........##..
..###......###..
....########....
......####......
"""
C = """
.....#######....
...###########..
..###.......##..
.###............
.##.............
.##.............
.##.............
.##.............
.##.............
.##.............
.###............
..###.......##..
...###########..
.....#######....
"""


def picture(*letters):
    """Put letters side by side; True is ink."""
    parts = [[[c == "#" for c in line] for line in letter.split()] for letter in letters]
    return np.pad(np.hstack(parts), 2)


def noisy(truth, count, rng):
    """Flip pixels at random, in several copies."""
    return [(truth ^ (rng.random(truth.shape) < 0.15)).astype(float) for _ in range(count)]


rng = np.random.default_rng(0)
letter, word = picture(A), picture(A, U, C)
train, test = noisy(letter, 12, rng), noisy(word, 8, rng)

# %%
# A picture becomes a graph: one node per pixel, one edge per pair of neighbours. Without its edges it
# is what the factored model sees. The labels are the true pixels.

graphs = {
    "pairwise": lambda images: [RankingGraph.from_image(image) for image in images],
    "factored": lambda images: [RankingGraph(image.reshape(-1, 1)) for image in images],
}
rankers = {}
for name, make in graphs.items():
    rankers[name] = StructuredRanker(C=100.0, tol=1e-3, max_iter=60)
    rankers[name].fit(make(train), [letter.ravel()] * len(train))

# %%
# Mean AUC over the pictures of the word, which neither model has seen.

scores = {name: ranker.decision_function(graphs[name](test)) for name, ranker in rankers.items()}
for name, found in scores.items():
    values = [binned_auc_score(word.ravel(), score, bin_sizes=1) for score in found]
    print(f"{name}: {np.mean(values):.3f} ± {np.std(values) / len(values) ** 0.5:.3f}")

# %%
# The learned weights: one for the pixel, one for a pair of neighbours.

model = rankers["pairwise"]
print(f"pixel {model.coef_[0]:.2f}, pair {model.edge_coef_[0]:.2f}; {model.status_}")

# %%
# The first test picture, and its pixels in ten bins of rank, the first the darkest.

figure, axes = plt.subplots(2, 2, figsize=(8, 3.8), layout="constrained")
panels = [("truth", word), ("seen", test[0])]
for name in ("factored", "pairwise"):
    bins = np.floor(10 * (rankdata(-scores[name][0]) - 1) / word.size)
    panels.append((f"ranked by the {name} model", -bins.reshape(word.shape)))
for axis, (title, image) in zip(axes.flat, panels, strict=True):
    axis.imshow(image, cmap="Greys")
    axis.set_title(title, fontsize=10)
    axis.set_axis_off()
plt.show()
