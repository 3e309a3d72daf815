"""Fitted classifiers as parts of an ONNX graph.

Each takes a table of doubles and returns its scores: the decision function, signed towards the second
class, and the probability of that class, as far as it has them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from onnx import TensorProto
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from aucuba._base._estimator import pipeline_steps, response_of
from aucuba._columns._kinds import CATEGORY, DATE, NUMBER
from aucuba.ensemble import RegionReweighted, RegionStack
from aucuba.export._graph import Graph, NotConvertible, Value
from aucuba.export._transformers import transformed, without_empty
from aucuba.export._trees import boosted_log_odds, forest_probability
from aucuba.linear import (
    AUMClassifier,
    PartialAUCClassifier,
    PartialAUCClassifierCV,
    PartialAUCSVC,
)
from aucuba.scorecard import RegionScorecard

_ACTIVATIONS = {"relu": "Relu", "tanh": "Tanh", "identity": "Identity"}
_FORESTS = (RandomForestClassifier, ExtraTreesClassifier)
_TREES = (DecisionTreeClassifier, ExtraTreeClassifier)


@dataclass(frozen=True)
class Response:
    """Scores of a classifier in the graph, each of shape (n_rows, 1)."""

    decision: Value | None = None
    probability: Value | None = None

    def by(self, method: str) -> Value:
        """Return the response of a method of scikit-learn."""
        found = self.decision if method == "decision_function" else self.probability
        if found is None:
            raise NotConvertible(f"{method} of a base that does not export it")
        return found


def response(graph: Graph, value: Value, model: Any) -> Response:
    """Add a fitted classifier of two classes to the graph."""
    kind = type(model)
    if isinstance(model, Pipeline):
        for _, step in model.steps[:-1]:
            value = transformed(graph, value, step)
        return response(graph, value, model.steps[-1][1])
    if kind not in _CLASSIFIERS:
        return _foreign(graph, value, model)
    if len(model.classes_) != 2:
        raise NotConvertible(f"{kind.__name__} of {len(model.classes_)} classes")
    return _CLASSIFIERS[kind](graph, value, model)


def _linear(graph: Graph, value: Value, model: Any) -> Response:
    if isinstance(model, PartialAUCSVC) and "kernel_rows_" in vars(model):
        raise NotConvertible(f"PartialAUCSVC with kernel={model.kernel!r}")
    if isinstance(model, PartialAUCSVC) and "feature_map_" in vars(model):
        value = transformed(graph, value, model.feature_map_)
    unmoved = graph.product(value, model.coef_.T)
    decision = graph.shifted(unmoved, model.intercept_)
    if isinstance(model, LogisticRegression):
        return Response(decision, graph.sigmoid(decision))
    if isinstance(model, PartialAUCClassifierCV):
        slope, intercept = model.calibration_
        sign = 1.0 if model.classes_[1] == model.pos_label_ else -1.0
        log_odds = graph.shifted(graph.scaled(unmoved, slope), sign * intercept)
        return Response(decision, graph.sigmoid(log_odds))
    return Response(decision)


def _forest(graph: Graph, value: Value, model: Any) -> Response:
    trees = model.estimators_ if isinstance(model, _FORESTS) else [model]
    return Response(probability=forest_probability(graph, value, trees))


def _boosting(graph: Graph, value: Value, model: Any) -> Response:
    decision = boosted_log_odds(graph, value, model)
    return Response(decision, graph.sigmoid(decision))


def _network(graph: Graph, value: Value, model: Any) -> Response:
    kinds = [model.activation] * (len(model.coefs_) - 1) + [model.out_activation_]
    for coef, intercept, kind in zip(model.coefs_, model.intercepts_, kinds, strict=True):
        value = graph.shifted(graph.product(Value(value.name), coef), intercept)
        if kind == "logistic":
            value = graph.sigmoid(value)
        else:
            value = Value(graph.op(_ACTIVATIONS[kind], value.name))
    return Response(probability=value)


def _calibrated(graph: Graph, value: Value, model: Any) -> Response:
    """Average the calibrated probabilities of the models of all folds."""
    found = [_calibrated_one(graph, value, one) for one in model.calibrated_classifiers_]
    both = graph.joined([Value(one.name) for one in found])
    return Response(probability=graph.product(both, np.full((len(found), 1), 1 / len(found))))


def _calibrated_one(graph: Graph, value: Value, model: Any) -> Value:
    found = response(graph, value, model.estimator)
    scores = found.probability if found.decision is None else found.decision
    if scores is None or model.method not in ("sigmoid", "isotonic"):
        raise NotConvertible(f"CalibratedClassifierCV with method={model.method!r}")
    (calibrator,) = model.calibrators
    if model.method == "isotonic":
        # Beyond the ends of training the calibrator holds its value.
        return graph.interpolated(scores, calibrator.X_thresholds_, calibrator.y_thresholds_)
    return graph.sigmoid(graph.shifted(graph.scaled(scores, -calibrator.a_), -calibrator.b_))


def _reweighted(graph: Graph, value: Value, model: Any) -> Response:
    pair = [_log_odds(graph, value, one) for one in (model.estimator_, model.weighted_estimator_)]
    total = graph.product(graph.joined(pair), np.full((2, 1), 0.5))
    slope, intercept = model.calibration_
    return _ensemble(graph, model, total, graph.shifted(graph.scaled(total, slope), intercept))


def _stack(graph: Graph, value: Value, model: Any) -> Response:
    members = graph.joined([_log_odds(graph, value, one) for _, one in model.members_])
    standard = graph.scaled(graph.shifted(members, -model.mean_), model.scale_, divided=True)
    blended = graph.shifted(graph.product(standard, model.coef_[:, None]), model.intercept_)
    return _ensemble(graph, model, blended, blended)


def _ensemble(graph: Graph, model: Any, scores: Value, log_odds: Value) -> Response:
    sign = 1.0 if model.classes_[1] == model.pos_label_ else -1.0
    decision = graph.scaled(graph.shifted(scores, -model.threshold_), sign)
    return Response(decision, graph.sigmoid(graph.scaled(log_odds, sign)))


def _scorecard(graph: Graph, value: Value, model: Any) -> Response:
    """Add up whole points without any rounding, so that scores equal Python's bit by bit.

    That is for rows of single precision; others may pass a cut when they are rounded.
    """
    if DATE in model.kinds_:
        # Even if no item reads them: the graph takes all columns but texts as numbers.
        raise NotConvertible("columns of dates")
    # A column of zeros, one per row.
    first = graph.op("IsNaN", graph.columns(value, [0]).name)
    zeros = graph.op("Mul", graph.cast(first, TensorProto.DOUBLE), graph.constant(0.0))
    total = zeros
    for item in model.items_:
        kind = model.kinds_[item["place"]]
        if kind == NUMBER:
            column = graph.columns(value, [item["place"]]).name
            met = _met(graph, column, item)
        elif kind == CATEGORY and value.name == graph.table:
            met = _met_by_text(graph, item)
        else:
            raise NotConvertible(f"the condition on the {kind} {item['column']!r}")
        own = graph.cast(met, TensorProto.DOUBLE)
        total = graph.op("Add", total, graph.op("Mul", own, graph.constant(item["points"])))
    sign = 1.0 if model.classes_[1] == model.pos_label_ else -1.0
    decision = graph.op("Sub", total, graph.constant(model.threshold_))
    decision = graph.op("Mul", decision, graph.constant(sign))
    slope, intercept = model.calibration_
    log_odds = graph.shifted(graph.scaled(Value(total), slope), intercept)
    exact = zeros if value.is_given and value.is_single else None
    return Response(Value(decision, exact), graph.sigmoid(graph.scaled(log_odds, sign)))


def _met(graph: Graph, column: str, item: Mapping[str, Any]) -> str:
    """Test the values of a column; a missing one passes where the test says so."""
    test, empty = item["test"], graph.op("IsNaN", column)
    if test == "missing":
        return empty
    known = graph.op("Not", empty)
    if test == "present":
        return known
    kind = {">": "Greater", "<=": "LessOrEqual"}.get(test, "Equal")
    found = graph.op(kind, column, graph.constant(item["value"]))
    found = graph.op("Not", found) if test == "!=" else found
    return graph.op("Or", empty, found) if item["or_missing"] else graph.op("And", known, found)


def _met_by_text(graph: Graph, item: Any) -> str:
    """Test the texts of a column of categories, of which the empty one is a missing value."""

    def is_one_of(texts: Sequence[str]) -> str:
        codes = graph.text_codes(item["place"], item["column"], texts)
        return graph.op("GreaterOrEqual", codes, graph.constant(0, np.int64))

    empty, test = is_one_of([""]), item["test"]
    if test in ("missing", "present"):
        return empty if test == "missing" else graph.op("Not", empty)
    found = is_one_of(without_empty(item["value"], item["column"]))
    if test == "in":
        return graph.op("Or", found, empty) if item["or_missing"] else found
    found = found if item["or_missing"] else graph.op("Or", found, empty)
    return graph.op("Not", found)


def _log_odds(graph: Graph, value: Value, model: Any) -> Value:
    """Log-odds of the second class, or raw scores, as the ensembles take them."""
    found = response(graph, value, model)
    if response_of(model) == "decision_function":
        return found.by("decision_function")
    last = pipeline_steps(model)[-1]
    end = 0.5 / len(last.estimators_) if isinstance(last, _FORESTS) else 1e-12
    return graph.log_odds(found.by("predict_proba"), end)


def _foreign(graph: Graph, value: Value, model: Any) -> Response:
    """Leave other classifiers to skl2onnx, in single precision and so without a bound."""
    try:
        import skl2onnx
        from skl2onnx.common.data_types import FloatTensorType
    except ImportError:
        raise NotConvertible(f"{type(model).__name__} without skl2onnx") from None
    kind = [("X", FloatTensorType([None, model.n_features_in_]))]
    try:
        made = skl2onnx.to_onnx(
            model,
            initial_types=kind,
            options={"zipmap": False},
            target_opset={"": 18, "ai.onnx.ml": 3},
        )
    except Exception as error:
        raise NotConvertible(f"{type(model).__name__} ({type(error).__name__})") from error
    prefix = graph.new_name("foreign") + "_"
    graph.include(made.graph, graph.cast(value.name, 1), prefix)
    both = prefix + made.graph.output[1].name
    second = graph.op("Gather", both, graph.constant([1], np.int64), axis=1)
    return Response(probability=Value(graph.cast(second, 11)))


OURS = (
    *(AUMClassifier, PartialAUCClassifier, PartialAUCClassifierCV, PartialAUCSVC),
    *(RegionReweighted, RegionScorecard, RegionStack),
)
Classifier = Callable[[Graph, Value, Any], Response]
_CLASSIFIERS: dict[type, Classifier] = {
    AUMClassifier: _linear,
    CalibratedClassifierCV: _calibrated,
    FrozenEstimator: lambda graph, value, model: response(graph, value, model.estimator),
    LogisticRegression: _linear,
    PartialAUCClassifier: _linear,
    PartialAUCClassifierCV: _linear,
    PartialAUCSVC: _linear,
    **dict.fromkeys((*_FORESTS, *_TREES), _forest),
    HistGradientBoostingClassifier: _boosting,
    MLPClassifier: _network,
    RegionReweighted: _reweighted,
    RegionScorecard: _scorecard,
    RegionStack: _stack,
}
