"""Noisy letters (Figure 2 of the structured AUC paper): factored against pairwise ranking of pixels.

Training images show a noisy A of 20 x 17 pixels, test images three noisy letters of 20 x 45; every
pixel is flipped with probability 0.15. Pixels are ranked so that those of the letters come first. The
letters are drawn here from strokes; the paper's bitmaps are not published.

Run ``python -m reproductions.experiments.letters --output FILE.md --picture FILE.png``.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import rankdata

from aucuba._core._typing import BoolArray, FloatArray
from aucuba.metrics import binned_auc_score
from aucuba.structured import BinnedAUC, Measure, RankingGraph, StructuredRanker, as_measure
from reproductions.experiments._tables import markdown_table, result_parser, write_result

HEIGHT = 20
FLIP = 0.15
N_BINS = 10
# Strokes from (row, column) to (row, column) in a box of height and width one.
STROKES = {
    "A": [(1, 0, 0, 0.5), (0, 0.5, 1, 1), (0.65, 0.18, 0.65, 0.82)],
    "U": [(0, 0, 0.75, 0), (0.75, 0, 1, 0.3), (1, 0.3, 1, 0.7), (1, 0.7, 0.75, 1), (0.75, 1, 0, 1)],
    "C": [(0.1, 1, 0, 0.6), (0, 0.6, 0.3, 0), (0.3, 0, 0.7, 0), (0.7, 0, 1, 0.6), (1, 0.6, 0.9, 1)],
}  # fmt: skip


@dataclass(frozen=True)
class Images:
    """True letters and what is seen of them."""

    truth: BoolArray
    seen: list[FloatArray]

    def graphs(self, *, pairs: bool) -> list[RankingGraph]:
        """One graph an image; without pairs the factored model."""
        graphs = [RankingGraph.from_image(image) for image in self.seen]
        return graphs if pairs else [RankingGraph(graph.node_features) for graph in graphs]

    def labels(self) -> list[BoolArray]:
        """Pixels of the letters, image by image."""
        return [self.truth.ravel()] * len(self.seen)


def draw(letter: str, width: int) -> BoolArray:
    """A letter of strokes about three pixels wide."""
    rows, columns = np.mgrid[0:HEIGHT, 0:width].astype(float)
    picture = np.zeros((HEIGHT, width), dtype=bool)
    box = np.array([HEIGHT - 4, width - 5])
    for row, column, end_row, end_column in STROKES[letter]:
        start = np.array([row, column]) * box + 2
        end = np.array([end_row, end_column]) * box + 2
        along = end - start
        share = ((rows - start[0]) * along[0] + (columns - start[1]) * along[1]) / (along @ along)
        share = np.clip(share, 0, 1)
        away = np.hypot(rows - start[0] - share * along[0], columns - start[1] - share * along[1])
        picture |= away <= 1.3
    return picture


def make_images(letters: str, width: int, count: int, rng: np.random.Generator) -> Images:
    """Noisy copies of a word."""
    truth = np.hstack([draw(letter, width) for letter in letters])
    seen = [(truth ^ (rng.random(truth.shape) < FLIP)).astype(float) for _ in range(count)]
    return Images(truth, seen)


def run(seed: int = 0) -> dict[Any, Any]:
    """Train both models on 20 images of an A and rank 20 images of AUC."""
    rng = np.random.default_rng(seed)
    train, test = make_images("A", 17, 20, rng), make_images("AUC", 15, 20, rng)
    measure: dict[str, str | Measure] = {"full": "auc", "binned": BinnedAUC(34)}
    results: dict[Any, Any] = {"test": test, "train": train}
    for model, pairs in (("factored", False), ("pairwise", True)):
        for trained_for, chosen in measure.items():
            start = time.perf_counter()
            ranker = StructuredRanker(as_measure(chosen), C=100.0, tol=1e-3, max_iter=60)
            ranker.fit(train.graphs(pairs=pairs), train.labels())
            seconds = time.perf_counter() - start
            scores = ranker.decision_function(test.graphs(pairs=pairs))
            results[model, trained_for] = {"ranker": ranker, "scores": scores, "seconds": seconds}
    return results


def score_table(results: dict[Any, Any]) -> str:
    """AUC and AUC in ten bins, mean and standard error over the test images."""
    truth = results["test"].truth.ravel()
    size = int(np.ceil(truth.size / N_BINS))
    rows = []
    for model in ("factored", "pairwise"):
        for trained_for in ("full", "binned"):
            result = results[model, trained_for]
            row = [f"{model}, trained for the {trained_for} AUC"]
            for bins in (1, size):
                values = [binned_auc_score(truth, s, bin_sizes=bins) for s in result["scores"]]
                error = np.std(values, ddof=1) / len(values) ** 0.5
                row.append(f"{100 * np.mean(values):.1f} ± {100 * error:.1f}")
            row.append(f"{result['seconds']:.1f}")
            rows.append(row)
    rows.append(["paper, factored (one image)", "", "88.7", ""])
    rows.append(["paper, pairwise (one image)", "", "97.5", ""])
    return markdown_table(["model", "AUC (%)", "AUC in ten bins (%)", "training (s)"], rows)


def draw_figure(results: dict[Any, Any]) -> Any:
    """Truth, one noisy image, and its ranking in ten bins by both models."""
    import matplotlib.pyplot as plt

    test: Images = results["test"]
    shape, size = test.truth.shape, int(np.ceil(test.truth.size / N_BINS))
    panels = [("A. truth", test.truth.astype(float)), ("B. seen", test.seen[0])]
    for name, model in (("C. factored", "factored"), ("D. pairwise", "pairwise")):
        score = results[model, "full"]["scores"][0]
        place = (rankdata(-score) - 1) // size
        value = binned_auc_score(test.truth.ravel(), score, bin_sizes=size)
        panels.append((f"{name}: binned AUC {100 * value:.1f}", -place.reshape(shape)))
    figure, axes = plt.subplots(2, 2, figsize=(8, 4.2), layout="constrained")
    for axis, (title, picture) in zip(axes.ravel(), panels, strict=True):
        axis.imshow(picture, cmap="Greys")
        axis.set_title(title, fontsize=10)
        axis.set_axis_off()
    return figure


def main(arguments: list[str] | None = None) -> None:
    """Write the table and, if asked, the picture."""
    parser = result_parser(__doc__)
    parser.add_argument(
        "--picture", metavar="FILE", help="file of the figure, such as letters.png; else none"
    )
    options = parser.parse_args(arguments)
    results = run()
    text = "\n".join(
        [
            "# Letters: 20 noisy 20 x 17 images of an A for training, 20 of 20 x 45 for testing",
            "",
            score_table(results),
            "",
            "Letters are drawn from strokes, so the numbers are comparable with the paper's in kind "
            "only. ± is one standard error over the test images. Equal scores count one half.",
        ]
    )
    write_result(text, "letters", options.output)
    if options.picture is not None:
        draw_figure(results).savefig(options.picture, dpi=110)


if __name__ == "__main__":
    main()
