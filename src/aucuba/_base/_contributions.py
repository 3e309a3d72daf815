"""What every part of a model adds to the score of a row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from aucuba._base._typing import FloatArray


@dataclass(frozen=True)
class Contributions:
    """Parts that add up to scores: ``scores = base + values.sum(axis=1)``.

    A model whose score is a sum by itself, such as a scorecard, returns them from a method
    ``contributions(X)``, and `aucuba.explain_rows` takes them as they are.

    Parameters
    ----------
    names : sequence of str
        What each part is called: a column, or a condition.
    values : ndarray of shape (n_rows, n_parts)
        Above 0 where the part speaks for ``pos_label_``.
    base : float
        The score without any part.
    unit : str
        Of the values: ``"log-odds"``, ``"score"`` or ``"points"``.
    describe : callable
        Says in words what a row has in a part, from their places: "income is 12,000".
    """

    names: Sequence[str]
    values: FloatArray
    base: float
    unit: str
    describe: Callable[[int, int], str]
