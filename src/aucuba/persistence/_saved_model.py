"""The content of a model file, ready to predict."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from aucuba._base._typing import AnyArray, FloatArray
from aucuba._base._validation import as_table
from aucuba._columns._plain_columns import PlainColumns
from aucuba._columns._table_columns import LinearColumns, NamedColumns


@dataclass(frozen=True)
class SavedModel:
    """A model from a file, with the baseline, metadata and labels saved with it.

    A model of ``aucuba fit`` takes DataFrames with the columns of its training file, in any order and
    among other columns, and gives the scores and labels that ``aucuba predict`` writes. Categories not
    seen in training count as missing.

    Attributes
    ----------
    model : estimator
        As it was given to `save_model`. A model of ``aucuba fit`` predicts 1 for the positive label
        and 0 for all others.
    baseline : estimator or None
        A simpler model of the same rows to compare with.
    metadata : dict
        Values stored by the writer.
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
        """Score every row; the positive label is predicted for scores above 0.

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
        """Compute the probabilities of the negative and the positive label, if the model has any.

        Parameters
        ----------
        X : DataFrame or array of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, 2)
        """
        return np.asarray(self.model.predict_proba(X))

    def columns(self) -> dict[str, str]:
        """Describe what training saw in each column, so that a service can publish it.

        Returns
        -------
        dict
            By column, its range such as ``"number, 0.5 to 12"`` or ``"date, 2024-01-01 to
            2024-03-31"``, or its categories such as ``"category: 'Bergen', 'Oslo'"``. Empty for models
            trained on plain arrays.
        """
        plain = _plain_columns([self.baseline, self.model])
        return {} if plain is None else plain.described()

    def unusual_values(self, X: Any) -> list[list[str]]:
        """List the values of each row that are unlike those seen in training.

        A number or date is unusual if it lies outside the training range widened by half its width on
        either side, a category if training has not seen it. Missing values are never unusual. A table
        with other columns or kinds of columns than in training raises the ``ValueError`` of `predict`.

        Parameters
        ----------
        X : DataFrame

        Returns
        -------
        list of list of str
            One list per row, empty where nothing is unusual.
        """
        X, plain = as_table(X), _plain_columns([self.baseline, self.model])
        if plain is None:
            return [[] for _ in range(len(X))]
        selected = NamedColumns(plain.names_).transform(X) if hasattr(X, "columns") else X
        seen, found = self.columns(), [list[str]() for _ in range(len(X))]
        for name, rows in (
            plain.far_outside(selected) | plain.unknown_categories(selected)
        ).items():
            for row in np.flatnonzero(rows):
                found[row].append(f"{name!r} is unlike the training rows ({seen[name]})")
        return found


def _plain_columns(waiting: list[Any]) -> PlainColumns | None:
    """Find the columns that a model was trained on, in its pipelines and inner models."""
    while waiting:
        model = waiting.pop(0)
        if isinstance(model, PlainColumns):
            return model
        if isinstance(model, LinearColumns):
            return model.plain_
        for listed in ("steps", "members_"):
            waiting += [part for _, part in getattr(model, listed, ())]
        waiting += [
            getattr(model, name)
            for name in ("columns_", "estimator_", "weighted_estimator_")
            if hasattr(model, name)
        ]
    return None
