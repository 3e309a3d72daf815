"""Score a few rows without the checks and wrappers that dominate their time.

A fitted stack scores one row through some twenty pipelines, transformers and models, each of which
checks its input again. Here the stack's own members are reduced once to their arrays: columns are
prepared once for all members, and each formula repeats the operations of its model in the same order.
Any other member, and any row with a missing or infinite value, is scored by the models themselves.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from scipy.special import expit
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline

from aucuba._base._typing import FloatArray
from aucuba._columns._plain_columns import PlainColumns
from aucuba._columns._table_columns import LinearColumns
from aucuba.ensemble._region_reweighted import RegionReweighted
from aucuba.ensemble._table import bounded_log_odds, log_odds
from aucuba.linear import PartialAUCClassifier

# With more rows the checks cost little, and the models' own loops run in parallel.
FEW_ROWS = 64
_FLOAT32_MAX = float(np.finfo(np.float32).max)
# Where `log_odds` clips the probabilities of a network.
_PROBABILITY_END = 1e-12

# Scores of rows whose columns are prepared as plain, finite numbers.
PlainScorer = Callable[[FloatArray], FloatArray]

_SCORERS: WeakKeyDictionary[Any, FewRowScorer] = WeakKeyDictionary()


class FewRowScorer:
    """The members of a fitted stack, reduced to their arrays.

    Parameters
    ----------
    models : list of classifier
    """

    def __init__(self, models: list[Any]) -> None:
        self.models = models
        plains = [_plain_columns(model) for model in models]
        known = [one for one in plains if one is not None]
        # All members were fitted on the same rows, but a model file need not be consistent.
        shared = len({pickle.dumps(one) for one in known}) == 1
        self.plain = known[0] if shared else None
        self.scorers = [
            _plain_scorer(model) if shared and plain is not None else None
            for model, plain in zip(models, plains, strict=True)
        ]

    @classmethod
    def of(cls, stack: Any, models: list[Any]) -> FewRowScorer:
        """Return the scorer of a stack; it is rebuilt if the models of the stack have changed."""
        found = _SCORERS.get(stack)
        if found is None or not _same(found.models, models):
            # Threads that race here build equal scorers, and the last one is kept.
            found = _SCORERS[stack] = cls(models)
        return found

    def scores(self, X: Any) -> FloatArray:
        """Score a few checked rows by every model, shape (n_rows, n_models)."""
        table = None if self.plain is None else self.plain.transform(X)
        # Trees compare in single precision. A sum that contains nan or inf fails the test.
        usable = table is not None and bool(np.abs(table).sum() < _FLOAT32_MAX)
        columns = [
            log_odds(model, X) if scorer is None or not usable or table is None else scorer(table)
            for model, scorer in zip(self.models, self.scorers, strict=True)
        ]
        return np.column_stack(columns)


def _same(first: list[Any], second: list[Any]) -> bool:
    return len(first) == len(second) and all(map(lambda a, b: a is b, first, second))


def _plain_columns(model: Any) -> PlainColumns | None:
    """Return the first step of a member whose columns the stack prepares; None for others."""
    if type(model) is RegionReweighted:
        first, second = map(_plain_columns, (model.estimator_, model.weighted_estimator_))
        same = first is not None and pickle.dumps(first) == pickle.dumps(second)
        return first if same else None
    if type(model) is not Pipeline or len(model.steps) != 2:
        return None
    first = model.steps[0][1]
    first = first.plain_ if type(first) is LinearColumns and not first.sparse else first
    return first if type(first) is PlainColumns else None


def _plain_scorer(model: Any) -> PlainScorer | None:
    """Reduce a member that begins with plain columns; None for other kinds of model."""
    if type(model) is RegionReweighted:
        return _reweighted_scorer(model)
    (_, first), (_, last) = model.steps
    make = _MODELS.get(type(last))
    scorer = None if make is None else make(last)
    if scorer is None or type(first) is PlainColumns:
        return scorer
    prepare = _linear_columns(first)
    return lambda table: scorer(prepare(table))


def _reweighted_scorer(model: RegionReweighted) -> PlainScorer | None:
    plain, weighted = map(_plain_scorer, (model.estimator_, model.weighted_estimator_))
    if plain is None or weighted is None or model.pos_label_ != model.classes_[1]:
        return None
    threshold = model.threshold_
    return lambda table: (plain(table) + weighted(table)) / 2 - threshold


def _linear_columns(columns: LinearColumns) -> Callable[[FloatArray], FloatArray]:
    """Prepare plain columns without missing values as `LinearColumns` does."""
    makers: dict[str, Any] = {
        "numbers": _numbers,
        "splines": _splines,
        "categories": lambda encoder: encoder.transform,
    }
    parts = [(makers[name](part), list(at)) for name, part, at in columns.encode_.transformers_]
    return lambda table: np.concatenate([make(table[:, at]) for make, at in parts], axis=1)


def _numbers(pipeline: Pipeline) -> Callable[[FloatArray], FloatArray]:
    imputer, scaler = (step for _, step in pipeline.steps)
    mean, scale, n_marks = scaler.mean_, scaler.scale_, imputer.indicator_.features_.size

    def prepare(x: FloatArray) -> FloatArray:
        marked = np.concatenate([x, np.zeros((len(x), n_marks))], axis=1) if n_marks else x
        return np.asarray((marked - mean) / scale)

    return prepare


def _splines(pipeline: Pipeline) -> Callable[[FloatArray], FloatArray]:
    """Evaluate the splines of all columns together, by Horner's rule in the interval of each value."""
    (_, splines), (_, scaler) = pipeline.steps[1:]
    starts, coef = (np.array(one) for one in zip(*splines.pieces(), strict=True))
    column, degree = np.arange(len(starts)), splines.degree

    def prepare(x: FloatArray) -> FloatArray:
        place = (x[:, :, np.newaxis] >= starts[:, 1:]).sum(axis=2)
        step = (x - starts[column, place])[:, :, np.newaxis]
        value = coef[column, 0, place]
        for power in range(1, degree + 1):
            value = value * step + coef[column, power, place]
        return np.asarray((value.reshape(len(x), -1) - scaler.mean_) / scaler.scale_)

    return prepare


def _linear(model: LogisticRegression | PartialAUCClassifier) -> PlainScorer:
    coef, intercept = model.coef_[0], model.intercept_[0]
    return lambda x: np.asarray(x @ coef + intercept)


def _nystroem(model: Pipeline) -> PlainScorer | None:
    features, last = (step for _, step in model.steps)
    if type(features) is not Nystroem or type(last) is not LogisticRegression:
        return None
    landmarks, score = features.components_, _linear(last)
    square, gamma = np.einsum("ij,ij->i", landmarks, landmarks), features.gamma
    gamma = 1.0 / landmarks.shape[1] if gamma is None else gamma
    mixed = features.normalization_.T

    def scores(x: FloatArray) -> FloatArray:
        distance = -2.0 * (x @ landmarks.T)
        distance += np.einsum("ij,ij->i", x, x)[:, np.newaxis]
        distance += square
        return score(np.exp(-gamma * np.maximum(distance, 0.0)) @ mixed)

    return scores if features.kernel == "rbf" else None


def _network(model: MLPClassifier) -> PlainScorer | None:
    if model.activation != "relu" or model.out_activation_ != "logistic" or len(model.coefs_) != 2:
        return None
    (hidden, last), (shift, final) = model.coefs_, model.intercepts_

    def scores(x: FloatArray) -> FloatArray:
        p = expit(np.maximum(x @ hidden + shift, 0.0) @ last[:, 0] + final[0])
        return bounded_log_odds(p, _PROBABILITY_END)

    return scores


def _forest(model: Any) -> PlainScorer:
    trees = [one.tree_ for one in model.estimators_]

    def scores(x: FloatArray) -> FloatArray:
        single = x.astype(np.float32)
        total = np.zeros(len(x))
        for tree in trees:
            total += tree.predict(single)[:, 1]
        return bounded_log_odds(total / len(trees), 0.5 / len(trees))

    return scores


def _boosting(model: HistGradientBoostingClassifier) -> PlainScorer | None:
    """Walk all trees at once; a leaf is its own child."""
    nodes = [trees[0].nodes for trees in model._predictors]
    starts = np.cumsum([0, *(len(one) for one in nodes)])[:-1]
    joined = np.concatenate(nodes)
    if joined["is_categorical"].any():
        return lambda x: np.asarray(model.decision_function(x))
    place = np.arange(len(joined))
    first = np.repeat(starts, [len(one) for one in nodes])
    leaf = joined["is_leaf"].astype(bool)
    left, right = (np.where(leaf, place, joined[side] + first) for side in ("left", "right"))
    feature, limit, value = (joined[k] for k in ("feature_idx", "num_threshold", "value"))
    children = np.stack([right, left])
    deepest = int(joined["depth"].max())
    baseline = float(model._baseline_prediction[0, 0])

    def scores(x: FloatArray) -> FloatArray:
        rows = np.arange(len(x))[:, np.newaxis]
        at = np.broadcast_to(starts, (len(x), starts.size))
        for _ in range(deepest):
            at = children[(x[rows, feature[at]] <= limit[at]).astype(np.intp), at]
        # Add the trees one by one, as boosting does.
        terms = np.concatenate([np.full((len(x), 1), baseline), value[at]], axis=1)
        return np.asarray(np.add.accumulate(terms, axis=1)[:, -1])

    return scores


_MODELS: dict[type, Callable[[Any], PlainScorer | None]] = {
    LogisticRegression: _linear,
    PartialAUCClassifier: _linear,
    Pipeline: _nystroem,
    MLPClassifier: _network,
    RandomForestClassifier: _forest,
    ExtraTreesClassifier: _forest,
    HistGradientBoostingClassifier: _boosting,
}
