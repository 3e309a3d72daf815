"""A higher AUC with a lower partial AUC (Narasimhan and Agarwal, ICML 2013, Table 1 and Figure 3).

``python -m reproductions pauc_table1``
"""

from __future__ import annotations

from typing import Any

import numpy as np

from aucuba.metrics import partial_auc_score
from reproductions.experiment import Cell, Experiment, Row
from reproductions.tables import markdown_table

N_POSITIVES, N_NEGATIVES = 4, 5
SCORES = {
    "f_1": (9.1, 6.8, 6.1, 5.7, 8.5, 8.1, 4.2, 3.6, 2.3),
    "f_2": (9.9, 8.7, 3.3, 2.1, 7.6, 5.3, 4.9, 4.4, 0.8),
}
LABELS = [1] * N_POSITIVES + [0] * N_NEGATIVES
RANGES = {"auc": (0.0, 1.0), "pauc": (0.1, 0.2)}


def cells(settings: None) -> list[Cell]:
    """List the scoring functions."""
    return [(name,) for name in SCORES]


def compute(cell: Cell, settings: None) -> list[Row]:
    """Measure one scoring function."""
    (name,) = cell
    row: Row = {"function": name}
    for measure, fpr_range in RANGES.items():
        row[measure] = partial_auc_score(LABELS, SCORES[name], fpr_range=fpr_range)
    return [row]


def report(rows: list[Row], settings: None) -> str:
    """Tabulate the scores with both measures."""
    names = [f"x{k + 1}{sign}" for sign, n in (("+", 4), ("-", 5)) for k in range(n)]
    table = [
        [row["function"], *SCORES[row["function"]], f"{row['auc']:.2f}", f"{row['pauc']:.2f}"]
        for row in rows
    ]
    first, second = rows
    holds = first["auc"] > second["auc"] and first["pauc"] < second["pauc"]
    return "\n\n".join(
        [
            "# ICML 2013, Table 1 and Figure 3: AUC against partial AUC",
            markdown_table(["", *names, "AUC", "pAUC(0.1, 0.2)"], table),
            f"The paper's statement, that f_1 has the higher AUC and f_2 the higher partial AUC in "
            f"[0.1, 0.2], {'holds' if holds else 'does not hold'}. The table has 5 negatives, as "
            "printed in its caption; the text says 6.",
        ]
    )


def draw(rows: list[Row]) -> Any:
    """Draw both ROC curves with the range."""
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(4.6, 4), layout="constrained")
    axis.axvspan(0.1, 0.2, color="0.9")
    positive = np.array(LABELS, dtype=bool)
    for row, style in zip(rows, ("-", "--"), strict=True):
        scores = np.array(SCORES[row["function"]])
        ranked = positive[np.argsort(-scores)]
        tpr = np.concatenate([[0.0], np.cumsum(ranked) / N_POSITIVES])
        fpr = np.concatenate([[0.0], np.cumsum(~ranked) / N_NEGATIVES])
        label = f"{row['function']}: AUC {row['auc']:.2f}, pAUC {row['pauc']:.2f}"
        axis.plot(fpr, tpr, style, label=label)
    axis.set(xlabel="false positive rate", ylabel="true positive rate")
    axis.legend(fontsize=8, loc="lower right")
    return figure


EXPERIMENT = Experiment(
    reproduces="ICML 2013, Section 2, Table 1 and Figure 3: AUC against partial AUC",
    settings={"full": None, "quick": None, "tiny": None},
    tolerance={"auc": 1e-12, "pauc": 1e-12},
    cells=cells,
    compute=compute,
    report=report,
    draw=draw,
)
