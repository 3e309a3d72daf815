"""Access to matplotlib, which is imported only when something is drawn."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from aucuba._base._estimator import scores_and_label
from aucuba._base._typing import ArrayLike


def pyplot() -> Any:
    """Import ``matplotlib.pyplot``, or raise an error that says how to install it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError(
            "Drawing needs matplotlib: install it with `pip install matplotlib`."
        ) from None
    return plt


def axes_for(ax: Any, **figure_options: Any) -> Any:
    """Return ``ax``, or the axes of a new figure if it is None."""
    return pyplot().subplots(**figure_options)[1] if ax is None else ax


class EstimatorDisplay:
    """A display of labels and scores that also takes a fitted classifier."""

    from_predictions: ClassVar[Any]

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: ArrayLike, *, pos_label: Any = None, **options: Any
    ) -> Self:
        """Draw the scores of a fitted classifier.

        Parameters
        ----------
        estimator : classifier
            Fitted to two classes.
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Rows that it was not trained on.
        y : array-like of shape (n_rows,)
            Labels.
        pos_label : label, default=None
            The positive class; ``classes_[1]`` by default.
        **options
            As in `from_predictions`; ``name`` is that of the estimator's class by default.

        Returns
        -------
        display
            This display, drawn.
        """
        score, positive = scores_and_label(estimator, X, pos_label)
        if options.get("name") is None:
            options["name"] = type(estimator).__name__
        drawn: Self = cls.from_predictions(y, score, pos_label=positive, **options)
        return drawn
