"""Both solvers of StructuredRanker on every experiment: objective against time.

Run ``AUCUBA_DATA=... python -m benchmarks structured_training``; it rewrites
``benchmarks/results/structured_training.md`` and ``.png``.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import NullFormatter
from sklearn.preprocessing import StandardScaler

from aucuba.structured import StructuredLabelRanker, StructuredRanker
from reproductions.data.coauthors import load_coauthors
from reproductions.data.multilabel import load_multilabel
from reproductions.data.ohsumed import ohsumed_split
from reproductions.experiments.letters import make_images
from reproductions.experiments.link_prediction import WINDOWS, load_samples
from reproductions.experiments.ohsumed import document_graphs
from reproductions.tables import markdown_table, write_signed

RESULTS = Path(__file__).parent / "results"
COLOURS = {"lbfgs": "#0072b2", "frank_wolfe": "#d55e00"}


def letters():
    images = make_images("A", 17, 20, np.random.default_rng(0))
    return images.graphs(pairs=True), images.labels()


def coauthors(name, limit):
    samples = load_samples(load_coauthors(name), *WINDOWS[name][0])
    graphs = samples.graphs(list(range(4)), samples.scale())
    return graphs[:limit], samples.positive[:limit]


def ohsumed():
    return document_graphs(ohsumed_split(1)[0])


def yeast():
    data = load_multilabel("yeast")
    return StandardScaler().fit_transform(data.X_train)[:200], data.Y_train[:200]


def problems():
    """Name, estimator class, its parameters and its data."""
    for pair_score in ("together", "agree"):
        options = {"C": 100.0, "pair_score": pair_score}
        yield f"letters, {pair_score}", StructuredRanker, options, letters()
        yield f"NIPS co-authors, {pair_score}", StructuredRanker, options, coauthors("nips", None)
        yield f"ACL co-authors, {pair_score}", StructuredRanker, options, coauthors("acl", 60)
        yield f"OHSUMED fold 1, {pair_score}", StructuredRanker, options, ohsumed()
        yield f"yeast, {pair_score}", StructuredLabelRanker, {**options, "C": 10.0}, yeast()


def fit(estimator, data):
    """Train; the curve starts where both solvers start, at the optimum without edges."""
    estimator.fit(*data)
    curve = [(row["seconds"], row["objective"]) for row in estimator.history_]
    return estimator, np.array(curve)


def main():
    warnings.simplefilter("ignore", UserWarning)
    rows, curves = [], {}
    for name, kind, options, data in problems():
        row = [name]
        for solver, limits in (
            ("lbfgs", {"tol": 1e-4, "max_iter": 150}),
            ("frank_wolfe", {"tol": 1e-3, "max_iter": 25}),
        ):
            model, curve = fit(kind(solver=solver, **options, **limits), data)
            curves[name, solver] = curve
            row += [f"{model.objective_:.4f}", f"{curve[-1, 0]:.1f}"]
        rows.append(row)
        print(row, flush=True)
    header = ["problem", "L-BFGS: J", "L-BFGS: s", "Frank-Wolfe + DC: J", "Frank-Wolfe + DC: s"]
    draw(curves)
    text = "\n".join(
        [
            "# Training: L-BFGS and cutting planes against Frank-Wolfe with the DC algorithm",
            "",
            "Both start at the optimum without edges. L-BFGS: tol 1e-4, at most 150 evaluations per "
            "phase. Frank-Wolfe: tol 1e-3, at most 25 passes. C = 100 (yeast: 10). ACL: the first 60 "
            "focal authors; yeast: the first 200 samples.",
            "",
            markdown_table(header, rows),
            "",
        ]
    )
    write_signed(RESULTS / "structured_training.md", text, "benchmarks structured_training")


def draw(curves):
    names = list(dict.fromkeys(name for name, _ in curves))
    figure, axes = plt.subplots(2, len(names) // 2, figsize=(15, 5.5), layout="constrained")
    for axis, name in zip(axes.ravel(), names, strict=True):
        lowest = min(curves[name, solver][:, 1].min() for solver in COLOURS)
        for solver, colour in COLOURS.items():
            curve = curves[name, solver]
            height = np.minimum.accumulate(curve[:, 1]) - lowest
            axis.plot(
                curve[:, 0], np.maximum(height, 1e-5 * abs(lowest)), color=colour, label=solver
            )
        axis.set(title=name, yscale="log", xscale="log")
        axis.title.set_fontsize(9)
        axis.xaxis.set_minor_formatter(NullFormatter())
    axes[0, 0].set_ylabel("J - lowest J seen")
    axes[1, 0].set_ylabel("J - lowest J seen")
    axes[1, 0].set_xlabel("seconds")
    axes[0, 0].legend()
    figure.savefig(RESULTS / "structured_training.png", dpi=90)


if __name__ == "__main__":
    main()
