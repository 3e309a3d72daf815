"""Populations, cells and measures of the study of coverage."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.stats import norm

from aucuba._roc._curve import RocCurve
from aucuba.metrics._measures import bind
from aucuba.metrics._roc_measure import RocMeasure
from aucuba.metrics._study import FEWEST_IN_RANGE

SHIFT = 1.5
SHIFTS = (0.5, 1.5, 2.5, 3.3, 4.2)
STEP = 0.1
WEIGHTS = (0.2, 3.0)
MEAN_WEIGHT = sum(WEIGHTS) / 2
# Effective rows per row of such weights: (sum w)^2 / sum w^2.
EFFECTIVE = MEAN_WEIGHT**2 / (MEAN_WEIGHT**2 + (WEIGHTS[1] - WEIGHTS[0]) ** 2 / 12)
# The recall at which recall_at_precision is asked for, and the fraction of rows that k is.
RECALL, TOP = 0.7, 0.05
# A fixed threshold, far enough from the steps of rounded scores.
THRESHOLD = 1.25
# Spread of the positives in the wide world; the part of them that scores like negatives in the other.
SPREAD, MISSED = 1.5, 0.05
ICC = 0.3


@dataclass(frozen=True)
class Cell:
    """How a sample is drawn; with weights the numbers are the fewest effective rows."""

    n_positives: int
    n_negatives: int
    kind: str
    shift: float = SHIFT

    @property
    def name(self) -> str:
        return f"{self.shift:g}, {self.n_positives:,} + {self.n_negatives:,}, {self.kind}"

    @property
    def sizes(self) -> tuple[int, int]:
        """Rows of either class, positives first."""
        # A few more, since the effective rows of a sample vary.
        per_row = 0.85 * EFFECTIVE if self.kind == "weights" else 1.0
        return int(np.ceil(self.n_positives / per_row)), int(np.ceil(self.n_negatives / per_row))

    @property
    def n_rows(self) -> int:
        return sum(self.sizes)

    @property
    def prevalence(self) -> float:
        return self.n_positives / (self.n_positives + self.n_negatives)

    @property
    def n_clusters(self) -> int:
        return max(40, self.n_rows // 20) if self.kind == "clusters" else 0

    def draw(self, rng: np.random.Generator, unit: str) -> tuple:
        """Labels, scores, weights and clusters; random labels unless ``unit`` is by_class."""
        y = np.arange(self.n_rows) < self.sizes[0]
        if unit == "random" or self.n_clusters:
            y = rng.random(self.n_rows) < self.prevalence
        noise, cluster = rng.normal(size=self.n_rows), None
        if self.n_clusters:
            cluster = np.arange(self.n_rows) % self.n_clusters
            common = rng.normal(size=self.n_clusters)[cluster]
            noise = np.sqrt(ICC) * common + np.sqrt(1 - ICC) * noise
        score = noise + self.shift * y
        if self.kind == "wide":
            score = np.where(y, self.shift + SPREAD * noise, noise)
        if self.kind == "misses":
            score = np.where(rng.random(self.n_rows) < MISSED, noise, score)
        if self.kind == "ties":
            score = STEP * np.round(score / STEP)
        weight = rng.uniform(*WEIGHTS, self.n_rows) if self.kind == "weights" else None
        return y, score, weight, cluster

    def population(self) -> RocCurve:
        """The curve of the population, in units of the weight of a sample."""
        step = STEP if self.kind == "ties" else 2e-4
        # Rounded scores are cut halfway between two steps.
        cuts = (np.arange(round(11 / step), round(-9 / step), -1) - 0.5) * step
        total = self.n_rows * (MEAN_WEIGHT if self.kind == "weights" else 1.0)
        spread = SPREAD if self.kind == "wide" else 1.0
        missed = MISSED if self.kind == "misses" else 0.0
        alarms = norm.sf(cuts)
        hits = (1 - missed) * norm.sf((cuts - self.shift) / spread) + missed * alarms
        parts = (1 - self.prevalence, self.prevalence)
        curves = [
            total * part * np.concatenate([[0.0], tail, [1.0]])
            for part, tail in zip(parts, (alarms, hits), strict=True)
        ]
        return RocCurve(*curves, np.append(cuts, -np.inf))


@cache
def grid() -> tuple[Cell, ...]:
    """Columns of the study in which every measure is tried, small samples first."""
    cells = []
    for n_positives in (30, 100, 300):
        for ratio in (1, 10, 100):
            kinds = ["plain"]
            if n_positives < 300 and ratio < 100:
                kinds += ["ties", "weights", "clusters"]
            if (n_positives, ratio) == (30, 10):
                kinds += ["wide", "misses"]
            size = n_positives, n_positives * ratio
            cells += [Cell(*size, kind, shift) for kind in kinds for shift in SHIFTS]
    return tuple(cells)


def all_cells() -> list[Cell]:
    """Columns of the study, and those where a measure once broke the rule."""
    return list(dict.fromkeys([*grid(), *(cell for cell, _ in RUN_AGAIN)]))


# Cells that broke the rule on earlier code (see results/interval_coverage_earlier.csv).
_TOP = "partial AUC [0, 0.001]"
RUN_AGAIN = [
    *((Cell(30, 30, "clusters", shift), "fpr at a threshold") for shift in (0.5, 1.5, 4.2)),
    (Cell(30, 300, "plain", 0.5), "partial AUC [0, 0.01]"),
    (Cell(30, 300, "clusters", 4.2), "recall at k"),
    (Cell(30, 3_000, "plain", 0.5), "partial AUC [0.02, 0.05]"),
    (Cell(30, 3_000, "plain", 2.5), _TOP),
    *((Cell(100, 100, kind, 0.5), "partial AUC [0, 0.05]") for kind in ("ties", "weights", "clusters")),
    (Cell(100, 10_000, "plain", 4.2), "precision at recall 0.5"),
    (Cell(490, 490, "plain", 0.5), "partial AUC [0, 0.01]"),
    (Cell(490, 490, "plain", 4.2), "log AUC [0.01, 0.1]"),
    *((Cell(490, 4_900, "plain", shift), _TOP) for shift in SHIFTS),
    (Cell(490, 4_900, "plain", 3.3), "precision at recall 0.5"),
    (Cell(490, 4_900, "plain", 4.2), "precision at k"),
    (Cell(490, 49_000, "plain", 4.2), "precision at recall 0.5"),
]  # fmt: skip


@cache
def measures(cell: Cell) -> dict[str, RocMeasure]:
    """Measures of a cell by their names in the table; those that rest on too few rows are left out.

    Outside the grid only the measures that once broke the rule are tried.
    """
    again = {name for one, name in RUN_AGAIN if one == cell}
    is_of_grid, found = cell in grid(), every_measure(cell)
    return {
        name: one
        for name, one in found.items()
        if name in again or (is_of_grid and has_rows(cell, one))
    }


@cache
def _bound(name: str, **params) -> RocMeasure:
    """Bind a measure once for all cells, which then share its tables of the normal model."""
    return bind(name, params)


def every_measure(cell: Cell) -> dict[str, RocMeasure]:
    """Measures by their names in the table, also those that rest on too few rows."""
    return {name: _bound(metric, **params) for name, (metric, params) in by_name(cell).items()}


def by_name(cell: Cell) -> dict[str, tuple[str, dict]]:
    """Return the metric and the parameters of every measure of the table."""
    k = round(TOP * cell.n_rows * (MEAN_WEIGHT if cell.kind == "weights" else 1.0))
    hits = RECALL * cell.prevalence
    alarms = norm.sf(norm.isf(RECALL) + cell.shift) * (1 - cell.prevalence)
    found: dict[str, tuple[str, dict]] = {"AUC": ("partial_auc", {})}
    for low, high in ((0.0, 0.05), (0.02, 0.05), (0.0, 0.01), (0.0, 0.001)):
        found[f"partial AUC [{low:g}, {high:g}]"] = ("partial_auc", {"fpr_range": (low, high)})
    corner = ("partial_auc", {"fpr_range": (0.0, 0.3), "min_tpr": 0.5})
    found["two-way [0, 0.3] x [0.5, 1]"] = corner
    for low in (0.01, 0.001):
        found[f"log AUC [{low:g}, 0.1]"] = ("log_auc", {"fpr_range": (low, 0.1)})
    for fpr in (0.05, 0.01, 0.001):
        found[f"TPR at FPR {fpr:g}"] = ("tpr_at_fpr", {"fpr": fpr})
    found |= {
        "FPR at TPR 0.9": ("fpr_at_tpr", {"tpr": 0.9}),
        "equal error rate": ("equal_error_rate", {}),
        "precision at recall 0.5": ("precision_at_recall", {"recall": 0.5}),
        "recall at precision": ("recall_at_precision", {"precision": hits / (hits + alarms)}),
        "precision at k": ("precision_at_k", {"k": k}),
        "recall at k": ("recall_at_k", {"k": k}),
        "enrichment at 0.05": ("enrichment_factor", {"fraction": TOP}),
        "RIE, alpha 20": ("rie", {"alpha": 20.0}),
        "BEDROC, alpha 20": ("bedroc", {"alpha": 20.0}),
    }
    for rate in ("tpr", "fpr", "precision", "alert_rate"):
        one = ("rate_at_threshold", {"rate": rate, "threshold": THRESHOLD})
        found[f"{rate.replace('_', ' ')} at a threshold"] = one
    return found


def has_rows(cell: Cell, measure: RocMeasure) -> bool:
    """Tell whether a measure rests on as many rows as the library wants before it stops warning."""
    positives, negatives = measure.parts
    deciding = cell.n_positives * positives, cell.n_negatives * negatives
    return all(round(one, 9) >= few for one, few in zip(deciding, FEWEST_IN_RANGE, strict=True))


@cache
def truth(cell: Cell) -> dict[str, float]:
    """Values of the population."""
    curve = cell.population()
    found = {}
    for name, one in measures(cell).items():
        # Between the steps of ties thresholds do not exist; elsewhere the population has no steps.
        compute = one.of_curve if cell.kind == "ties" else one.of_population or one.of_curve
        found[name] = float(compute(curve, 1))
    return found
