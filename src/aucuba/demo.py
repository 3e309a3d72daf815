"""The main job end to end on a data set that ships with scikit-learn: ``python -m aucuba.demo``."""

from __future__ import annotations

import argparse
from pathlib import Path

from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from aucuba.metrics import RocBandDisplay, partial_auc_interval, partial_auc_score

FPR_RANGE = (0.0, 0.05)


def main(output: Path) -> Path:
    """Score the data, print AUC and partial AUC, and write the ROC picture; returns its path."""
    X, y = load_breast_cancer(return_X_y=True)
    malignant = 1 - y
    X_train, X_test, y_train, y_test = train_test_split(
        X, malignant, test_size=0.5, stratify=malignant, random_state=0
    )
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X_train, y_train)
    score = model.decision_function(X_test)
    interval = partial_auc_interval(y_test, score, fpr_range=FPR_RANGE, random_state=0)
    print(f"Breast cancer, {y_test.sum()} malignant of {y_test.size} held-out tumours")
    print(f"  logistic regression   AUC               {partial_auc_score(y_test, score):.4f}")
    print(f"                        pAUC{list(FPR_RANGE)}  {interval}")

    output.mkdir(parents=True, exist_ok=True)
    picture = output / "roc_band.png"
    display = RocBandDisplay.from_predictions(
        y_test, score, fpr_range=FPR_RANGE, name="logistic regression", plot_chance_level=True
    )
    display.figure_.savefig(picture, dpi=150, bbox_inches="tight")
    print(f"Picture: {picture}")
    return picture


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description="Score a data set in an FPR band and draw its ROC."
    )
    parser.add_argument("--output", type=Path, default=Path("demo_output"))
    main(parser.parse_args().output)
