"""Quality against the number of items, and the smallest card that is nearly as good as the best."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from aucuba._base._drawing import axes_for
from aucuba._base._parallel import draw_seed
from aucuba._base._tables import TabularResult
from aucuba._base._typing import ArrayLike, FloatArray
from aucuba._base._validation import as_table, check_positive_number
from aucuba._roc._comparison import RegionComparison
from aucuba._roc._region import Region
from aucuba._rows._out_of_fold import partition
from aucuba._rows._splits import rows_to_fit
from aucuba.scorecard._region_scorecard import RegionScorecard


@dataclass(frozen=True)
class ScorecardPath(TabularResult):
    """Partial AUC on held-out rows by number of items.

    It prints as a table, ``to_frame()`` is a DataFrame, and ``plot()`` draws it.

    Attributes
    ----------
    sizes : list of int
        Most items on the card.
    partial_auc : list of float
        Mean over the folds.
    error : list of float
        Standard error of the difference from the best size, paired over the rows; 0 for the best.
    best : int
        The size of highest partial AUC.
    smallest : int
        The smallest size within one standard error of the best.
    """

    sizes: list[int]
    partial_auc: list[float]
    error: list[float]
    best: int
    smallest: int

    def table_rows(self) -> list[dict[str, Any]]:
        return [
            {
                "items": size,
                "partial_auc": value,
                "error": error,
                "best": size == self.best,
                "smallest_within_one_error": size == self.smallest,
            }
            for size, value, error in zip(self.sizes, self.partial_auc, self.error, strict=True)
        ]

    def __str__(self) -> str:
        return self._text()

    def plot(self, ax: Any = None) -> Any:
        """Draw the partial AUC with the errors of its differences from the best.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None draws on a new figure.

        Returns
        -------
        matplotlib Axes
        """
        ax = axes_for(ax)
        mean = "mean over the folds, and standard error of its difference from the best"
        ax.errorbar(*(self.sizes, self.partial_auc, self.error), marker="o", capsize=3, label=mean)
        smallest = f"{self.smallest}: the smallest within one standard error of the best"
        ax.axvline(self.smallest, linestyle=":", color="0.5", label=smallest)
        ax.set(xlabel="most items on the card", ylabel="partial AUC, held-out rows")
        ax.set_xticks(self.sizes)
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, 1.16), frameon=False, fontsize="small")
        return ax


def scorecard_path(
    card: RegionScorecard,
    X: Any,
    y: Any,
    sizes: Sequence[int] = (1, 2, 3, 5, 8),
    *,
    cv: Any = 5,
    sample_weight: ArrayLike | None = None,
    random_state: Any = None,
) -> ScorecardPath:
    """Train cards of several sizes on folds, and find the smallest that is nearly as good as the best.

    Every fold chooses by its own rows, as `RegionScorecard` does, so the values are those of the whole
    procedure on rows that it has not seen.

    Parameters
    ----------
    card : RegionScorecard
        Its parameters; ``max_items`` is replaced.
    X, y, sample_weight
        As in ``fit``.
    sizes : sequence of int, default=(1, 2, 3, 5, 8)
        Numbers of items to try.
    cv : int, splitter or iterable of splits, default=5
        Folds that measure; those inside are the card's own.
    random_state : int, RandomState instance or None, default=None
        For the folds.

    Returns
    -------
    ScorecardPath

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from aucuba.scorecard import RegionScorecard, scorecard_path
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> card = RegionScorecard((0.0, 0.2), pos_label=0, cv=2, random_state=0)
    >>> path = scorecard_path(card, X.iloc[:, :5], y, (1, 2), cv=2, random_state=0)
    >>> path.smallest in (1, 2)
    True
    """
    given = list(sizes) if isinstance(sizes, Iterable) else []
    if not given:
        raise ValueError(f"sizes must list numbers of items, such as (1, 2, 5), got {sizes!r}.")
    listed = sorted({int(check_positive_number(size, "sizes", integer=True)) for size in given})
    region = Region.from_params(card.fpr_range)
    X = as_table(X)
    sample, kept, _ = rows_to_fit(card, X, y, X.shape[0], sample_weight)
    splits = partition(cv, kept, draw_seed(random_state)).splits
    values = np.zeros((len(splits), len(listed)))
    squares = np.zeros((len(splits), len(listed), len(listed)))
    for fold, (train, test) in enumerate(splits):
        part, scores = sample.take(train), np.zeros((len(listed), len(test)))
        for k, size in enumerate(listed):
            model = clone(card).set_params(max_items=size)
            # The folds know which rows are positive, whatever their labels are.
            model.set_params(pos_label=1)
            model.fit(_safe_indexing(X, kept.index[train]), part.y, sample_weight=part.weight)
            scores[k] = model.total(_safe_indexing(X, kept.index[test]))
        compared = RegionComparison(sample.take(test), scores, region)
        values[fold] = compared.values
        for a in range(len(listed)):
            for b in range(a):
                squares[fold, a, b] = squares[fold, b, a] = compared.error(a, b) ** 2
    means = values.mean(axis=0)
    best = int(np.argmax(means))
    errors = np.sqrt(squares[:, :, best].sum(axis=0)) / len(splits)
    smallest = listed[first_near(means, errors, best)]
    return ScorecardPath(listed, means.tolist(), errors.tolist(), listed[best], smallest)


def first_near(means: FloatArray, errors: FloatArray, best: int) -> int:
    """Find the first value that is below the best by no more than the error of their difference."""
    return int(np.argmax(means >= means[best] - errors))
