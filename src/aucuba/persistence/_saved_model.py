"""The content of a model file, ready to predict."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from aucuba._base._typing import AnyArray, FloatArray


@dataclass(frozen=True)
class SavedModel:
    """A model from a file, with the baseline, metadata and labels saved beside it.

    A model of ``aucuba fit`` takes DataFrames with the columns of its training file, in any order and
    with any others beside them, and gives the scores and labels that ``aucuba predict`` writes. In
    columns of categories, values that training has not seen count as missing.

    Attributes
    ----------
    model : estimator
        As it was given to `save_model`. That of ``aucuba fit`` predicts 1 for the positive label and 0
        for all others.
    baseline : estimator or None
        A simpler model of the same rows to compare with.
    metadata : dict
        Whatever the writer wanted to keep, of JSON's types.
    versions : dict
        Versions of aucuba, scikit-learn and Python that wrote the file.
    labels : (label, label) or None
        What `predict` returns for the classes 0 and 1 of the model; None to return its own classes.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from aucuba import PartialAUCClassifier
    >>> from aucuba.persistence import SavedModel
    >>> X, y = make_classification(200, random_state=0)
    >>> saved = SavedModel(PartialAUCClassifier((0.0, 0.2)).fit(X, y), labels=("good", "bad"))
    >>> sorted(set(saved.predict(X).tolist()))
    ['bad', 'good']
    """

    model: Any
    baseline: Any = None
    metadata: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    labels: tuple[str, str] | tuple[int, int] | None = None

    def decision_function(self, X: Any) -> FloatArray:
        """Compute the score of every row; above 0 the positive label is predicted.

        Parameters
        ----------
        X : DataFrame or array of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return np.asarray(self.model.decision_function(X))

    def predict(self, X: Any) -> AnyArray:
        """Predict the label of every row.

        Parameters
        ----------
        X : DataFrame or array of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        predicted = np.asarray(self.model.predict(X))
        return predicted if self.labels is None else np.array(self.labels)[predicted]

    def predict_proba(self, X: Any) -> FloatArray:
        """Compute the probability of the negative and of the positive label, if the model has any.

        Parameters
        ----------
        X : DataFrame or array of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, 2)
        """
        return np.asarray(self.model.predict_proba(X))
