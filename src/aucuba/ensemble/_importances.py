"""Importance of the columns of a table in a region of the ROC curve."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse, stats
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from aucuba._base._estimator import positive_scores
from aucuba._base._tables import TabularResult
from aucuba._base._typing import ArrayLike, FloatArray, IntArray
from aucuba._base._validation import check_fraction, check_positive_number
from aucuba._roc._comparison import region_placements
from aucuba._roc._region import FprWeight, Region
from aucuba._roc._standard_error import standard_error
from aucuba._rows._sample import RankingSample


def region_importances(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    fpr_range: tuple[float, float] = (0.0, 0.05),
    min_tpr: float = 0.0,
    fpr_weight: FprWeight = None,
    columns: Mapping[str, Sequence[Any]] | None = None,
    n_repeats: int = 5,
    confidence: float = 0.95,
    sample_weight: ArrayLike | None = None,
    random_state: Any = None,
) -> RegionImportances:
    r"""Measure how much partial AUC a fitted classifier loses when columns are shuffled.

    .. math::
        \mathrm{pAUC}(X) - \frac1R \sum_{r=1}^{R} \mathrm{pAUC}(X^{(r)})

    with :math:`X^{(r)}` the table in which the values of the columns are shuffled over the rows.
    Columns with the same information stand in for each other, so each looks worthless when shuffled
    alone: list them together in ``columns``. Use rows that the classifier was not trained on.

    Parameters
    ----------
    estimator : classifier
        Fitted, with ``decision_function`` or ``predict_proba``; its ``pos_label_``, or else
        ``classes_[1]``, is the positive class.
    X : array-like or dataframe of shape (n_samples, n_features)
        Dense.
    y : array-like of shape (n_samples,)
    fpr_range, min_tpr, fpr_weight
        The region, as in `RegionStack`.
    columns : mapping of str to sequence of column names or indices, default=None
        Columns to shuffle together, by the name of their group. None shuffles every column alone.
    n_repeats : int, default=5
        Shuffles per group of columns.
    confidence : float, default=0.95
        Confidence of the intervals, which include the sampling error of the rows (by placement values
        of the difference) and that of the shuffles.
    sample_weight : array-like of shape (n_samples,), default=None
        A row of weight k counts as k equal rows.
    random_state : int, RandomState instance or None, default=None
        For the shuffles.

    Returns
    -------
    list of dict
        One per group, the most important first: ``columns`` (its name), ``importance``, ``low``,
        ``high`` and ``standard_error``. The list prints as a table; ``to_frame()`` makes a DataFrame.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from aucuba.ensemble import region_importances
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 3))
    >>> y = X[:, 0] + rng.normal(size=2000) > 1
    >>> model = LogisticRegression().fit(X[:1000], y[:1000])
    >>> found = region_importances(model, X[1000:], y[1000:], fpr_range=(0, 0.2), random_state=0)
    >>> found[0]["columns"], found[0]["low"] > 0
    ('0', True)
    """
    check_is_fitted(estimator)
    region = Region.from_params(fpr_range, fpr_weight, min_tpr)
    n_repeats = int(check_positive_number(n_repeats, "n_repeats", integer=True))
    quantile = float(stats.norm.ppf((1.0 + check_fraction(confidence, "confidence")) / 2))
    table = _ShuffledTable(X)
    classes = list(estimator.classes_)
    positive = getattr(estimator, "pos_label_", classes[-1])

    def influence_of(rows: Any) -> tuple[float, FloatArray]:
        scores, _ = positive_scores(estimator, rows, classes.index(positive))
        sample = RankingSample.from_arrays(y, scores, sample_weight, None, positive, "y")
        placed = region_placements(sample, sample.score, region)
        return placed.value, placed.influence

    value, influence = influence_of(X)
    sample = RankingSample.from_arrays(
        y, np.zeros(table.n_rows), sample_weight, None, positive, "y"
    )
    rng = check_random_state(random_state)
    found: list[dict[str, Any]] = []
    for name, places in table.groups(columns):
        shuffled = [influence_of(one) for one in table.shuffled(places, n_repeats, rng)]
        values = np.array([one for one, _ in shuffled])
        mean = np.mean([one for _, one in shuffled], axis=0)
        of_rows = standard_error(sample, influence - mean, meaning="replication")
        of_shuffles = values.var(ddof=1) / n_repeats if n_repeats > 1 else 0.0
        error = float(np.sqrt(of_rows**2 + of_shuffles))
        importance = float(np.mean(value - values))
        found.append(
            {
                "columns": name,
                "importance": importance,
                "low": importance - quantile * error,
                "high": importance + quantile * error,
                "standard_error": error,
            }
        )
    return RegionImportances(sorted(found, key=lambda row: -row["importance"]))


class RegionImportances(TabularResult, list[dict[str, Any]]):
    """The rows of `region_importances`: a list that prints as a table."""

    __slots__ = ()

    def table_rows(self) -> list[dict[str, Any]]:
        return list(self)

    def __str__(self) -> str:
        return self._text()


class _ShuffledTable:
    """A dense array or data frame whose columns can be shuffled."""

    def __init__(self, X: Any) -> None:
        if sparse.issparse(X):
            raise ValueError(
                "region_importances needs dense columns, got a sparse matrix; give X.toarray()."
            )
        self.is_frame = hasattr(X, "iloc")
        self.X: Any = X if self.is_frame else np.asarray(X)
        if self.X.ndim != 2:
            raise ValueError(f"X must have two dimensions, got shape {self.X.shape}.")
        self.n_rows, n_columns = self.X.shape
        self.names = list(X.columns) if self.is_frame else list(range(n_columns))

    def groups(self, columns: Mapping[str, Sequence[Any]] | None) -> Iterator[tuple[str, IntArray]]:
        """Yield the name and the column indices of every group."""
        if columns is None:
            columns = {str(name): [name] for name in self.names}
        for group, members in columns.items():
            if isinstance(members, str) or not len(members):
                raise ValueError(f"columns[{group!r}] must be a list of columns, got {members!r}.")
            unknown = [one for one in members if one not in self.names]
            if unknown:
                raise ValueError(
                    f"columns[{group!r}] names {unknown[0]!r}, which is not a column of X; its columns "
                    f"are {', '.join(map(repr, self.names[:8]))}{', ...' * (len(self.names) > 8)}."
                )
            yield group, np.array([self.names.index(one) for one in members])

    def shuffled(self, places: IntArray, n_repeats: int, rng: Any) -> Iterator[Any]:
        """Yield copies of the table in which some columns are shuffled over the rows together."""
        for _ in range(n_repeats):
            order = rng.permutation(self.n_rows)
            copy = self.X.copy()
            if self.is_frame:
                moved = self.X.iloc[order, places].set_axis(self.X.index)
                for name in moved.columns:
                    copy[name] = moved[name]
            else:
                copy[:, places] = self.X[order][:, places]
            yield copy
