"""What MAPIE blocks and clears for given probabilities; run by its own interpreter, without aucuba."""

import sys

import numpy as np
from mapie.classification import SplitConformalClassifier
from mapie.risk_control import BinaryClassificationController
from sklearn.base import BaseEstimator, ClassifierMixin

RATE, CONFIDENCE = 0.05, 0.95
# Even in the logarithm of the odds: with few positives, probabilities crowd near 0.
FINE = 1 / (1 + np.exp(-np.linspace(-15, 15, 999)))
SETTINGS = {
    "fpr": {
        "": {},
        ", fixed sequence": {"list_predict_params": FINE[::-1], "fwer_method": "fixed_sequence"},
    },
    "recall": {
        "": {},
        ", fixed sequence": {"list_predict_params": FINE, "fwer_method": "fixed_sequence"},
    },
}


class Given(ClassifierMixin, BaseEstimator):
    """A fitted classifier whose probability is the only column."""

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        return self

    def predict_proba(self, X):
        return np.column_stack([1 - X[:, 0], X[:, 0]])

    def predict(self, X):
        return (X[:, 0] > 0.5).astype(int)


def by_sets(proba, y, new):
    model = SplitConformalClassifier(
        Given().fit(None, None), confidence_level=1 - RATE, prefit=True, random_state=0
    )
    model.conformalize(proba[:, None], y)
    negative, positive = model.predict_set(new[:, None])[1][..., 0].T
    return positive & ~negative, negative & ~positive


def valid_thresholds(risk, level, setting, proba, y):
    """Every threshold that MAPIE allows; the limits of both risks hold together at ``CONFIDENCE``."""
    controller = BinaryClassificationController(
        Given().predict_proba,
        risk,
        level,
        confidence_level=CONFIDENCE**0.5,
        **SETTINGS[risk][setting],
    )
    return controller.calibrate(proba[:, None], y).valid_predict_params


def by_risk_control(setting, proba, y, new):
    """Block and clear at those of the allowed thresholds that leave the fewest rows to review."""
    block = valid_thresholds("fpr", RATE, setting, proba, y).min(initial=np.inf)
    clear = valid_thresholds("recall", 1 - RATE, setting, proba, y).max(initial=-np.inf)
    if clear > block:
        block = clear = (block + clear) / 2
    return new >= block, new < clear


def run(source, target):
    with np.load(source) as content:
        cells = dict(content)
    found = {}
    for name in {key.rpartition("/")[0] for key in cells}:
        parts = [cells[f"{name}/{part}"] for part in ("proba", "y", "new")]
        found[f"{name}|MAPIE, sets"] = np.array(by_sets(*parts))
        for setting in SETTINGS["fpr"]:
            title = f"MAPIE, risk control{setting}"
            found[f"{name}|{title}"] = np.array(by_risk_control(setting, *parts))
    np.savez(target, **found)


if __name__ == "__main__":
    run(*sys.argv[1:])
