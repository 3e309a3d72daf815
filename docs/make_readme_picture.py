"""Draw the picture of the README: ``python docs/make_readme_picture.py``.

Two scorers of the same cases. The one with the higher AUC is the worse one where few false alarms
are allowed.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

from aucuba.metrics import RocBandDisplay, partial_auc_score

BAND = (0.0, 0.05)
PICTURE = Path(__file__).parent / "_static" / "roc_band.png"


def two_scorers() -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Labels and the scores of a broad and of a specific marker."""
    rng = np.random.default_rng(0)
    ill = rng.random(3000) < 0.2
    broad = rng.normal(size=3000) + 1.5 * ill
    specific = rng.normal(size=3000) + 4.0 * (ill & (rng.random(3000) < 0.6))
    return ill, {"broad marker": broad, "specific marker": specific}


def draw() -> None:
    """The whole ROC curve, and the band enlarged."""
    ill, scorers = two_scorers()
    fig, (whole, band) = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
    for name, score in scorers.items():
        auc = partial_auc_score(ill, score)
        RocBandDisplay.from_predictions(
            ill, score, fpr_range=BAND, ax=whole, curve_kwargs={"label": f"{name}: AUC = {auc:.2f}"}
        )
        display = RocBandDisplay.from_predictions(ill, score, fpr_range=BAND, ax=band)
        display.line_.set_label(f"{name}: pAUC = {display.partial_auc:.2f}")
    whole.set_title("The whole ROC curve ...")
    band.set_title("... and where it matters: FPR at most 0.05")
    band.set(xlim=(0, BAND[1]), ylim=(0, 1), aspect="auto")
    band.legend(loc="upper left")
    fig.savefig(PICTURE, dpi=150)


if __name__ == "__main__":
    draw()
