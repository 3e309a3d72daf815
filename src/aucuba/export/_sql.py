"""Linear models as SQL, with the decision inside."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler
from sklearn.utils.validation import check_is_fitted

from aucuba._base._estimator import pipeline_steps, promised_steps, response_of
from aucuba._columns._plain_columns import PlainColumns
from aucuba._columns._table_columns import LinearColumns, NamedColumns
from aucuba._roc._flagged import promised_rate
from aucuba.linear import (
    AUMClassifier,
    ColumnPreparer,
    PartialAUCClassifier,
    PartialAUCClassifierCV,
    PartialAUCSVC,
)
from aucuba.scorecard import RegionScorecard, Scorecard

_LINEAR = (AUMClassifier, LogisticRegression, PartialAUCClassifier, PartialAUCClassifierCV)
# By the rate that is promised: flagging less keeps the first two, flagging more the third, and
# neither a precision.
_SAFE_SIDE = {"alert_rate": -1, "fpr": -1, "tpr": 1}
_UNIT = 2.0**-53
_RESULTS = ("score", "flag")


def to_sql(model: Any, table: str = "rows", *, columns: Any = None) -> str:
    """Write a fitted linear classifier as a SELECT statement that holds its decision.

    The statement returns all columns of the table, the terms of the sum, ``score``, the decision
    function in double precision, and ``flag``, 1 where the positive class is predicted and 0 elsewhere.
    NULL is a missing value. For a promised limit of false positives, alerts or true positives the score
    moves to the safe side by a proven bound on its rounding before it is compared, so that the rows
    flagged are a subset (or, for true positives, a superset) of those that Python flags; a comment
    names the promise.

    Parameters
    ----------
    model : classifier or Pipeline
        A linear model of this library or ``LogisticRegression``, alone or as the base of a promised
        threshold, behind scalers, imputers and ``ColumnTransformer``; columns of numbers. A
        `RegionScorecard` becomes the statement of its `aucuba.scorecard.Scorecard`.
    table : str, default="rows"
        Name of the table.
    columns : sequence of str, default=None
        Names of the columns in the order of training; by default those that the model was fitted with,
        or x0, x1, .... None may be "score" or "flag".

    Returns
    -------
    str

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from aucuba import PartialAUCClassifier
    >>> from aucuba.export import to_sql
    >>> X, y = make_classification(200, 4, random_state=0)
    >>> statement = to_sql(PartialAUCClassifier((0.0, 0.2)).fit(X, y), "clients")
    >>> statement.count('FROM "clients"'), statement.endswith('AS "flag"')
    (1, False)
    """
    check_is_fitted(model)
    names = [f"x{place}" for place in range(model.n_features_in_)]
    if columns is None:
        columns = getattr(model, "feature_names_in_", names)
    if len(columns) != len(names):
        raise ValueError(f"columns has {len(columns)} names; the model has {len(names)} columns.")
    table = str(table)
    _check_names([str(name) for name in columns], table)
    *steps, last = pipeline_steps(model)
    if isinstance(promised_steps(last)[-1], RegionScorecard):
        given = [str(name) for name in getattr(model, "feature_names_in_", names)]
        return Scorecard.from_model(model).to_sql(table, dict(zip(given, columns, strict=True)))
    # Qualified: some systems take an unknown name in quotes for a text.
    parts = [f'CAST("input".{_quoted(name)} AS DOUBLE PRECISION)' for name in columns]
    promised = None if promised_rate(last) is None else last
    if promised is not None:
        if promised.strata_.size:
            raise ValueError(f"{type(promised).__name__} with strata cannot be written as SQL.")
        method = response_of(promised.estimator_, promised.response_method)
        if method != "decision_function":
            raise ValueError(
                f"{type(promised).__name__} compares {method}, and SQL has no other response than the "
                "decision function; fit it with response_method='decision_function'."
            )
        *inner, last = pipeline_steps(promised.estimator_)
        steps += inner
    for step in steps:
        parts = _transformed(step, parts)
    kernel = isinstance(last, PartialAUCSVC) and not hasattr(last, "coef_")
    if not isinstance(last, (*_LINEAR, PartialAUCSVC)) or kernel or hasattr(last, "feature_map_"):
        raise ValueError(f"{type(last).__name__} is not linear; only linear models become SQL.")
    return _statement(parts, last, promised, table)


def _statement(parts: list[str], last: Any, promised: Any, table: str) -> str:
    """Sum the terms in an outer query, so that none is written twice."""
    owner = last if promised is None else promised
    coef, intercept = last.coef_[0], float(last.intercept_[0])
    positive = getattr(owner, "pos_label_", owner.classes_[1]) == owner.classes_[1]
    turned = promised is not None and positive != (promised.score_direction_ == "high")
    if turned:
        coef, intercept = -coef, -intercept
    limit = 0.0 if promised is None else float(promised.threshold_)
    summands = {k: f"{float(coef[k])!r} * ({parts[k]})" for k in np.flatnonzero(coef).tolist()}
    # The table may have a column term0, for one from another model's statement.
    digest = hashlib.sha256("\n".join(summands.values()).encode()).hexdigest()[:8]
    named = [_quoted(f"term{k}_{digest}") for k in summands]
    outer = _quoted(f"terms_{digest}")
    terms = [f"  {one} AS {name}" for one, name in zip(summands.values(), named, strict=True)]
    total = " + ".join([*named, repr(intercept)])
    (side,) = safe_sides(owner, 1)
    # Each term has at most six roundings, and the sum one per term; twice, for both sums.
    roundings = 2 * (len(named) + 16)
    size = " + ".join([*(f"ABS({name})" for name in named), repr(abs(intercept))])
    moved = f"{total} + {side * roundings * _UNIT!r} * ({size})" if side else total
    better = ">" if promised is not None or positive else "<"
    score = f"({total}) - {limit!r}" if promised is not None else total
    if promised is not None and not positive:
        score = f"-({score})"
    promise = promised.promise_ if side and promised.guarantee_ else ""
    comment = f"-- {promise}\n" if promise else ""
    return (
        f'{comment}WITH {outer} AS (\n  SELECT "input".*,\n  '
        + ",\n  ".join(terms or [f'  0.0 AS "term_{digest}"'])
        + f'\n  FROM {_quoted(table)} AS "input"\n)\n'
        f'SELECT *,\n  {score} AS "score",\n'
        f'  CASE WHEN {moved} {better} {limit!r} THEN 1 ELSE 0 END AS "flag"\n'
        f"FROM {outer}"
    )


def safe_sides(classifier: Any, n_thresholds: int) -> list[int]:
    """Return where scores may move without breaking a promise, per threshold from the lowest.

    -1 is lower, 1 higher, 0 nowhere.
    """
    known = vars(classifier)
    if type(classifier).__name__ == "TriageClassifier":
        values = known["min_npv"], known["min_ppv"]
        return [side * (value is None) for side, value in zip((1, -1), values, strict=True)]
    # One threshold that keeps two rates may move to neither side.
    both = "threshold_range_" in known
    return [0 if both else _SAFE_SIDE.get(promised_rate(classifier) or "", 0)] * n_thresholds


def _transformed(step: Any, parts: list[str]) -> list[str]:
    """Write what a transformer makes of columns."""
    if isinstance(step, str | NamedColumns) or getattr(step, "func", step) is None:
        return parts
    if isinstance(step, Pipeline):
        for _, one in step.steps:
            parts = _transformed(one, parts)
        return parts
    if isinstance(step, ColumnPreparer):
        step = step.columns_
    if isinstance(step, LinearColumns):
        return _transformed(step.encode_, _transformed(step.plain_, parts))
    if isinstance(step, PlainColumns) and not (len(step.categorical) or len(step.dates)):
        return ["0.0" if empty else one for one, empty in zip(parts, step.empty_, strict=True)]
    if isinstance(step, StandardScaler | MaxAbsScaler):
        means = vars(step).get("mean_") if getattr(step, "with_mean", False) else None
        if means is not None:
            parts = [f"({one}) - {mean!r}" for one, mean in zip(parts, means.tolist(), strict=True)]
        if step.scale_ is not None:
            pairs = zip(parts, step.scale_.tolist(), strict=True)
            parts = [f"({one}) / {scale!r}" for one, scale in pairs]
        return parts
    if isinstance(step, SimpleImputer) and not np.isnan(step.statistics_).any():
        fills = zip(parts, step.statistics_.tolist(), strict=True)
        filled = [f"COALESCE({one}, {fill!r})" for one, fill in fills]
        marked = [] if step.indicator_ is None else step.indicator_.features_
        empty = [f"CASE WHEN {parts[k]} IS NULL THEN 1.0 ELSE 0.0 END" for k in marked]
        return filled + empty
    if isinstance(step, ColumnTransformer):
        listed = []
        for name, part, _ in step.transformers_:
            places = step._transformer_to_input_indices[name]
            if len(places) and part != "drop":
                listed += _transformed(part, [parts[place] for place in places])
        return listed
    what = type(step).__name__
    if isinstance(step, PlainColumns):
        what = "Columns of categories or dates"
    raise ValueError(f"{what} cannot be written as SQL; use columns of numbers.")


def _check_names(columns: list[str], table: str) -> None:
    """Refuse names that no statement can hold, or that stand for two things."""
    for name in (*columns, table):
        if "\0" in name:
            raise ValueError(f"The name {name!r} holds a NUL, which SQL has no way to write.")
    twice = [name for name in dict.fromkeys(columns) if columns.count(name) > 1]
    if twice:
        raise ValueError(
            f"columns has {twice[0]!r} twice, so one of the two would be read for both."
        )
    for name in columns:
        if name.lower() in _RESULTS:
            raise ValueError(
                f"The column {name!r} has the name of a result of the statement; select from a view "
                "that calls it otherwise, and pass the view's names as columns."
            )


def _quoted(name: str) -> str:
    escaped = str(name).replace('"', '""')
    return f'"{escaped}"'
