"""Draw the picture of the README: ``python docs/make_readme_picture.py``.

The rows of the demo: a linear model trained for false positive rates up to 0.01, and logistic
regression, on rows that neither has seen.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from sklearn.linear_model import LogisticRegression

from aucuba import PartialAUCClassifierCV
from aucuba.demo import FPR_RANGE, two_kinds_of_fraud
from aucuba.metrics import RocRegionDisplay, partial_auc_score

PICTURE = Path(__file__).parent / "_static" / "trained_for_the_region.png"


def draw() -> None:
    """The whole ROC curve, and its region enlarged."""
    X_train, X_test, y_train, y_test = two_kinds_of_fraud()
    models = {
        "logistic regression": LogisticRegression(),
        "trained for the region": PartialAUCClassifierCV(FPR_RANGE, random_state=0),
    }
    fig, (whole, region) = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
    for name, model in models.items():
        score = model.fit(X_train, y_train).decision_function(X_test)
        auc = partial_auc_score(y_test, score)
        RocRegionDisplay.from_predictions(
            y_test,
            score,
            fpr_range=FPR_RANGE,
            ax=whole,
            curve_kwargs={"label": f"{name}: AUC = {auc:.2f}"},
        )
        display = RocRegionDisplay.from_predictions(y_test, score, fpr_range=FPR_RANGE, ax=region)
        display.line_.set_label(f"{name}: pAUC = {display.partial_auc:.2f}")
    whole.set_title("The whole ROC curve ...")
    region.set_title("... and where it is used: at most 1 % false alarms")
    region.set(xlim=(0, FPR_RANGE[1]), ylim=(0, 0.4), aspect="auto")
    region.legend(loc="upper left")
    fig.savefig(PICTURE, dpi=150)


if __name__ == "__main__":
    draw()
