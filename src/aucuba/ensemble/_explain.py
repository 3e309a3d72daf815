"""Reasons why rows were flagged: the columns that raise their scores most, in words."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from aucuba._base._estimator import pipeline_steps, positive_of
from aucuba._base._tables import TabularResult
from aucuba._base._typing import AnyArray, FloatArray
from aucuba._base._validation import as_table, check_positive_number
from aucuba._columns._kinds import (
    DATE,
    NUMBER,
    column_kind,
    column_names,
    column_times,
    is_missing,
    table_columns,
)
from aucuba.ensemble._attribution import linear_contributions, walk_contributions
from aucuba.ensemble._base import RegionEnsemble
from aucuba.ensemble._table import as_rows, log_odds

# Largest number of background rows used; of more, evenly spaced ones are taken.
_MOST_BACKGROUND = 50
# Values whose median may be none of them: truths, durations.
_NO_MIDDLE = (bool, np.bool_, datetime.timedelta, np.timedelta64)
# Models whose decision function is a log-odds up to a constant.
_LOG_ODDS = (RegionEnsemble, HistGradientBoostingClassifier, LogisticRegression)


def explain_rows(
    model: Any,
    X: Any,
    n_reasons: int = 3,
    *,
    background: Any = None,
    n_walks: int = 32,
    pos_label: Any = None,
    random_state: int = 0,
) -> RowReasons:
    r"""Find the columns that raise the score of each row most, compared with background rows.

    The contributions of a row x are the Shapley values of its score, where removed columns take their
    values from the background rows :math:`z_1, \dots, z_m`; they add up:

    .. math:: \sum_j \phi_j(x) = s(x) - \frac1m \sum_{b=1}^m s(z_b)

    - Linear models, alone or behind scalers and this library's preparation of columns:
      :math:`\phi_j(x) = w_j (x_j - \bar z_j)`, exactly; the indicators of a categorical column
      count as that column.
    - All other classifiers, `RegionStack` among them: s is the log-odds, and :math:`\phi_j` is the mean
      over walks from background rows to x that replace the columns one by one in a random order. The
      sum is exact; a single contribution has a sampling error, which more walks reduce. Each row
      costs ``n_walks`` scores per column.
    - `RegionScorecard`: the points of the lines of its card; no background is used.

    A classifier with a promised threshold is explained by the score that it compares with the
    threshold, a search by its best estimator.

    Parameters
    ----------
    model : classifier
        Fitted, of two classes.
    X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
        The rows to explain; sparse matrices only for linear models.
    n_reasons : int, default=3
        Largest number of reasons per row; only columns that raise the score are reasons.
    background : table like X, default=None
        Ordinary rows to compare with, such as a sample of the training rows; a single typical row
        gives the shortest sentences. If there are more than 50, 50 evenly spaced ones are used. None
        takes them from X, which then needs at least two rows.
    n_walks : int, default=32
        Minimum number of walks per row for models that are not linear.
    pos_label : label, default=None
        The positive class; None is the model's ``pos_label_``, or else ``classes_[1]``.
    random_state : int, default=0
        Seed of the walks. All rows share the same walks, so the reasons of a row do not depend on the
        other rows.

    Returns
    -------
    RowReasons

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from aucuba import explain_rows
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]])
    >>> model = LogisticRegression().fit(X, [0, 0, 1, 1])
    >>> found = explain_rows(model, X[3:], background=X[:2])
    >>> print(found.reasons[0][0])
    x0 is 3, typically 0.5: raises the log-odds by 2.42
    >>> bool(np.isclose(found.base + found.contributions[0].sum(), found.scores[0]))
    True
    """
    check_is_fitted(model)
    n_reasons = int(check_positive_number(n_reasons, "n_reasons", integer=True))
    n_walks = int(check_positive_number(n_walks, "n_walks", integer=True))
    X = _checked_rows(X, "X")
    sign = 1.0 if positive_of(model, pos_label)[0] else -1.0
    steps, last, direction = _explained_model(model)
    sign *= direction
    if hasattr(last, "line_texts"):
        for step in steps:
            X = step.transform(X)
        return RowReasons.of(_card_contributions(last, X), n_reasons)
    background = _background(X, background)

    def score(rows: Any) -> FloatArray:
        for step in steps:
            rows = step.transform(rows)
        return sign * log_odds(last, rows)

    values = linear_contributions(steps, last, lambda rows: sign * score(rows), X, background)
    if values is not None:
        values = sign * values
    elif sparse.issparse(X):
        raise ValueError(
            f"explain_rows needs dense rows for {type(last).__name__}, got a sparse matrix; give "
            "X.toarray(), or use a linear model."
        )
    else:
        values = walk_contributions(score, X, background, n_walks, random_state)
    unit = "log-odds" if _scores_log_odds(last) else "score"
    base, names = float(score(background).mean()), column_names(_head(X))
    found = Contributions(names, values, base, unit, _words(X, background, names))
    return RowReasons.of(found, n_reasons)


@dataclass(frozen=True)
class Contributions:
    """Parts that add up to scores: ``scores = base + values.sum(axis=1)``.

    Parameters
    ----------
    names : sequence of str
        Name of each part: a column or a condition.
    values : ndarray of shape (n_rows, n_parts)
        Above 0 where the part favours ``pos_label_``.
    base : float
        The score without any part.
    unit : str
    describe : callable
        Describes the value of a row in a part, given both indices: "income is 12,000".
    """

    names: Sequence[str]
    values: FloatArray
    base: float
    unit: str
    describe: Callable[[int, int], str]


@dataclass(frozen=True)
class RowReasons(TabularResult):
    """Why rows have their scores: contributions of all columns, and the strongest reasons in words.

    It prints as a table, and ``to_frame()`` returns a DataFrame with one row per reason.

    Attributes
    ----------
    columns : list of str
    contributions : ndarray of shape (n_samples, n_columns)
        ``scores = base + contributions.sum(axis=1)``; above 0 favours the positive class.
    base : float
        Mean score of the background rows.
    unit : str
        ``"log-odds"``, ``"score"`` or, for a scorecard, ``"total"``.
    scores : ndarray of shape (n_samples,)
        The explained scores; with a promised threshold, the scores that it is compared with.
    reasons : list of list of str
        At most ``n_reasons`` sentences per row, the strongest reason first.
    """

    columns: list[str]
    contributions: FloatArray
    base: float
    unit: str
    scores: FloatArray
    reasons: list[list[str]]

    @classmethod
    def of(cls, found: Contributions, n_reasons: int) -> RowReasons:
        """Describe the largest positive contributions of every row."""
        values = found.values
        order = np.argsort(-values, axis=1, kind="stable")[:, :n_reasons]
        reasons = [
            [
                f"{found.describe(row, part)}: raises the {found.unit} by {_short(value)}"
                for part, value in zip(places, values[row, places], strict=True)
                if value > 0 and _short(value) != "0"
            ]
            for row, places in enumerate(order)
        ]
        scores = found.base + values.sum(axis=1)
        return cls(list(found.names), values, found.base, found.unit, scores, reasons)

    def table_rows(self) -> list[dict[str, Any]]:
        return [
            {"row": row, "rank": rank, "reason": reason}
            for row, reasons in enumerate(self.reasons)
            for rank, reason in enumerate(reasons, 1)
        ]

    def __str__(self) -> str:
        return self._text()


def _card_contributions(card: Any, X: Any) -> Contributions:
    """Take the points of the lines of a scorecard."""
    lines, points = card.line_texts(), card.contributions(X).astype(np.float64)
    return Contributions(lines, points, 0.0, "total", lambda row, line: str(lines[line]))


def _explained_model(model: Any) -> tuple[list[Any], Any, float]:
    """Find the model that is explained; return the steps before it, it, and the sign of its scores.

    The sign is -1.0 if low scores are flagged.
    """
    *steps, last = pipeline_steps(model)
    known = vars(last)
    inner = known.get("best_estimator_")
    if inner is None and "promise_" in known:
        inner = last.estimator_
    if inner is None:
        return [step for step in steps if step not in (None, "passthrough")], last, 1.0
    more, found, direction = _explained_model(inner)
    return (
        [*steps, *more],
        found,
        -direction if known.get("score_direction_") == "low" else direction,
    )


def _checked_rows(X: Any, name: str) -> Any:
    X = as_rows(as_table(X))
    if hasattr(X, "to_pandas"):
        X = X.to_pandas()
    if not (hasattr(X, "iloc") or sparse.issparse(X)):
        X = np.asarray(X)
    if len(X.shape) != 2 or X.shape[0] == 0:
        raise ValueError(
            f"{name} must be a table with at least one row, got shape {tuple(X.shape)}."
        )
    return X


def _background(X: Any, given: Any) -> Any:
    """Return at most fifty rows to compare with."""
    if given is None and X.shape[0] == 1:
        raise ValueError(
            "X has one row and no background to compare it with; give ordinary rows, such as a "
            "sample of the training rows, as background."
        )
    rows = X if given is None else _checked_rows(given, "background")
    if rows.shape[1] != X.shape[1]:
        raise ValueError(
            f"background has {rows.shape[1]} columns, X has {X.shape[1]}; give both the same columns."
        )
    if rows.shape[0] <= _MOST_BACKGROUND:
        return rows
    places = np.linspace(0, rows.shape[0] - 1, _MOST_BACKGROUND).round().astype(int)
    return _safe_indexing(rows, places)


def _scores_log_odds(last: Any) -> bool:
    final = pipeline_steps(last)[-1]
    return isinstance(final, _LOG_ODDS) or not hasattr(final, "decision_function")


def _words(X: Any, background: Any, names: list[str]) -> Callable[[int, int], str]:
    """Describe the value of a row in a column, and the typical one."""

    def column(table: Any, place: int) -> Any:
        part = table[:, [place]].toarray() if sparse.issparse(table) else table
        return table_columns(part)[0 if sparse.issparse(table) else place]

    def words(row: int, place: int) -> str:
        value = _shown(np.asarray(column(X, place)[row : row + 1], dtype=object)[0])
        typical = _shown(_typical(column(background, place)))
        compared = "as is typical" if value == typical else f"typically {typical}"
        return f"{names[place]} is {value}, {compared}"

    return words


def _typical(column: Any) -> Any:
    """Return the median of numbers or dates, else the most frequent value."""
    values = np.asarray(column, dtype=object)
    missing = is_missing(values)
    known = values[~missing]
    if 2 * known.size < values.size:
        return None
    kind = column_kind(column, "")
    if kind == DATE:
        return known[np.argsort(column_times(column, "")[~missing])[(known.size - 1) // 2]]
    if kind == NUMBER and not any(isinstance(one, _NO_MIDDLE) for one in known):
        return float(np.median(known.astype(np.float64)))
    found, counts = np.unique(known.astype(str), return_counts=True)
    return found[np.argmax(counts)]


def _shown(value: Any) -> str:
    """Format a value for a sentence: a number with four digits, a date as its day."""
    if bool(is_missing(np.array([value], dtype=object))[0]):
        return "missing"
    if isinstance(value, int | float | np.number) and not isinstance(value, bool):
        return _number(float(f"{float(value):.4g}"))
    text = str(value)
    return text.removesuffix(" 00:00:00")


def _short(value: float) -> str:
    """Format a contribution with two decimals, or two significant digits if it is small."""
    return _number(round(value, 2) if abs(value) >= 0.1 else float(f"{value:.2g}"))


def _number(value: float) -> str:
    return f"{int(value):,}" if value.is_integer() and abs(value) < 1e15 else f"{value:,}"


def _head(X: Any) -> AnyArray | Any:
    """Return a row whose columns have the names of X."""
    return X[:1].toarray() if sparse.issparse(X) else X[:1]
