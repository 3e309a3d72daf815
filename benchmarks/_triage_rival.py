"""Prediction sets of MAPIE for given probabilities; run by its own interpreter, without aucuba."""

import sys

import numpy as np
from mapie.classification import SplitConformalClassifier
from sklearn.base import BaseEstimator, ClassifierMixin


class Given(ClassifierMixin, BaseEstimator):
    """A fitted classifier whose probability is the only column."""

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        return self

    def predict_proba(self, X):
        return np.column_stack([1 - X[:, 0], X[:, 0]])

    def predict(self, X):
        return (X[:, 0] > 0.5).astype(int)


def run(source, target):
    cells = np.load(source)
    found = {}
    for name in {key.rpartition("/")[0] for key in cells}:
        proba, y, new = (cells[f"{name}/{part}"] for part in ("proba", "y", "new"))
        model = SplitConformalClassifier(
            Given().fit(None, None), confidence_level=0.95, prefit=True, random_state=0
        )
        model.conformalize(proba[:, None], y)
        sets = model.predict_set(new[:, None])[1]
        found[name] = sets[..., 0]
    np.savez(target, **found)


if __name__ == "__main__":
    run(*sys.argv[1:])
