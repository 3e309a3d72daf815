"""Populations, cells and measures of the study of coverage."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from aucuba._roc._curve import RocCurve
from aucuba.metrics._measures import RocMeasure, bind

SHIFT = 1.5
STEP = 0.1
WEIGHTS = (0.2, 3.0)
MEAN_WEIGHT = sum(WEIGHTS) / 2
SIZES = ((20, 200), (30, 300), (100, 2_000), (200, 20_000), (1_000, 20_000))
KINDS = ("plain", "ties", "weights", "clusters, ICC 0", "clusters, ICC .3")
# The recall at which recall_at_precision is asked for, and the fraction of rows that k is.
RECALL, TOP = 0.3, 0.05
# Fewest negatives in a range.
FEWEST = 5
# A fixed threshold, far enough from the steps of rounded scores.
THRESHOLD = 1.25


@dataclass(frozen=True)
class Cell:
    """How a sample is drawn."""

    n_positives: int
    n_negatives: int
    kind: str

    @property
    def name(self) -> str:
        return f"{self.n_positives:,} + {self.n_negatives:,}, {self.kind}"

    @property
    def n_rows(self) -> int:
        return self.n_positives + self.n_negatives

    @property
    def prevalence(self) -> float:
        return self.n_positives / self.n_rows

    @property
    def n_clusters(self) -> int:
        return max(40, self.n_rows // 20) if self.kind.startswith("clusters") else 0

    def draw(self, rng: np.random.Generator, unit: str) -> tuple:
        """Labels, scores, weights and clusters; random labels unless ``unit`` is by_class."""
        y = np.arange(self.n_rows) < self.n_positives
        if unit == "random" or self.n_clusters:
            y = rng.random(self.n_rows) < self.prevalence
        noise, cluster = rng.normal(size=self.n_rows), None
        if self.n_clusters:
            cluster = np.arange(self.n_rows) % self.n_clusters
            part = 0.3 if self.kind.endswith(".3") else 0.0
            common = rng.normal(size=self.n_clusters)[cluster]
            noise = np.sqrt(part) * common + np.sqrt(1 - part) * noise
        score = noise + SHIFT * y
        if self.kind == "ties":
            score = STEP * np.round(score / STEP)
        weight = rng.uniform(*WEIGHTS, self.n_rows) if self.kind == "weights" else None
        return y, score, weight, cluster

    def population(self, shift: float = SHIFT) -> RocCurve:
        """The curve of the population, in units of the weight of a sample."""
        step = STEP if self.kind == "ties" else 1e-4
        # Rounded scores are cut halfway between two steps.
        cuts = (np.arange(round(9 / step), round(-9 / step), -1) - 0.5) * step
        total = self.n_rows * (MEAN_WEIGHT if self.kind == "weights" else 1.0)
        tails = (norm.sf(cuts), norm.sf(cuts - shift))
        parts = (1 - self.prevalence, self.prevalence)
        curves = [
            total * part * np.concatenate([[0.0], tail, [1.0]])
            for part, tail in zip(parts, tails, strict=True)
        ]
        return RocCurve(*curves, np.append(cuts, -np.inf))


def all_cells() -> list[Cell]:
    return [Cell(*size, kind) for size in SIZES for kind in KINDS]


def measures(cell: Cell) -> dict[str, RocMeasure]:
    """Every measure by its name in the table."""
    k = round(TOP * cell.n_rows * (MEAN_WEIGHT if cell.kind == "weights" else 1.0))
    hits = RECALL * cell.prevalence
    alarms = norm.sf(norm.isf(RECALL) + SHIFT) * (1 - cell.prevalence)
    precision = round(hits / (hits + alarms), 2)
    found = {"AUC": bind("partial_auc", {})}
    for low, high in ((0.0, 0.05), (0.02, 0.05), (0.0, 0.01), (0.0, 0.001)):
        if cell.n_negatives * (high - low) >= FEWEST:
            band = {"fpr_range": (low, high)}
            found[f"partial AUC [{low:g}, {high:g}]"] = bind("partial_auc", band)
    corner = {"fpr_range": (0.0, 0.3), "min_tpr": 0.5}
    found["two-way [0, 0.3] x [0.5, 1]"] = bind("partial_auc", corner)
    log_low = 0.01 if cell.n_negatives < 20_000 else 0.001
    found[f"log AUC [{log_low:g}, 0.1]"] = bind("log_auc", {"fpr_range": (log_low, 0.1)})
    for fpr in (0.05, 0.01, 0.001):
        if cell.n_negatives * fpr >= FEWEST:
            found[f"TPR at FPR {fpr:g}"] = bind("tpr_at_fpr", {"fpr": fpr})
    found |= {
        "FPR at TPR 0.9": bind("fpr_at_tpr", {"tpr": 0.9}),
        "equal error rate": bind("equal_error_rate", {}),
        "precision at recall 0.5": bind("precision_at_recall", {"recall": 0.5}),
        "recall at precision": bind("recall_at_precision", {"precision": precision}),
        "precision at k": bind("precision_at_k", {"k": k}),
        "recall at k": bind("recall_at_k", {"k": k}),
        "enrichment at 0.05": bind("enrichment_factor", {"fraction": TOP}),
        "RIE, alpha 20": bind("rie", {"alpha": 20.0}),
        "BEDROC, alpha 20": bind("bedroc", {"alpha": 20.0}),
    }
    for rate in ("tpr", "fpr", "precision", "alert_rate"):
        params = {"rate": rate, "threshold": THRESHOLD}
        found[f"{rate.replace('_', ' ')} at a threshold"] = bind("rate_at_threshold", params)
    return found


def truth(cell: Cell) -> dict[str, float]:
    """Values of the population."""
    curve = cell.population()
    return {name: float(one.of_curve(curve, 1)) for name, one in measures(cell).items()}
