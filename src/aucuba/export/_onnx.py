"""Export a classifier as an ONNX graph with its decision inside, and compare the two."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np
from onnx import ModelProto, TensorProto, checker, helper
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

import aucuba
from aucuba._base._estimator import pipeline_steps, response_of
from aucuba._base._typing import AnyArray, FloatArray
from aucuba._columns._kinds import as_names, as_numbers, column_names, is_missing, table_columns
from aucuba._columns._row_digest import is_single, row_digest
from aucuba._columns._table_columns import NamedColumns
from aucuba._roc._flagged import promised_rate
from aucuba._rows._splits import held_out_split
from aucuba.export._graph import IR_VERSION, ML_OPSET, OPSET, Graph, NotConvertible, Value
from aucuba.export._parts import response, transformed
from aucuba.export._sql import safe_sides

Outputs = dict[str, tuple[str, int]]
_CLOSE, _ROUNDING = 1e-5, 1e-9
_MOVED = "aucuba_moved"


def to_onnx(
    model: Any, *, calibration: tuple[Any, Any] | None = None, labels: tuple[Any, Any] | None = None
) -> ModelProto:
    """Write a fitted classifier of two classes as an ONNX graph that holds its decision.

    The graph takes one matrix ``X`` of single precision, with the columns of training, and computes in
    double precision. Columns of text, which only `ColumnPreparer`, scorecards, stacks, their students
    and models of the command line read, are inputs of their own: matrices of one column under the
    column's name, where the empty text is a missing value. The outputs are

    - ``label``: the predicted class;
    - ``score``: ``decision_function`` in double precision, signed towards the second class;
    - ``probability``: of the second class, where the model has probabilities;
    - ``flag`` and ``level``, for a model with a promised threshold: whether a row is flagged, and how
      many of the promised thresholds it passes.

    The metadata of the graph name the classes, the columns and the promise. How the promise holds for
    the graph itself, whose arithmetic rounds in another order:

    - With ``calibration``, the thresholds are computed again by the same rule from the graph's own
      scores of the rows that set the model's.
    - Without, they move to the safe side by a bound on the difference between the graph's score and
      the model's, proven for linear models and trees and computed for every row in the graph: an upper
      limit of false positives or alerts flags a subset of the model's rows, a lower limit of true
      positives a superset. Linear models and forests keep it for any rows; boosting and scorecards
      only if single precision held the rows that set the threshold (``held_out_single_``), and for
      such rows.
    - Otherwise (networks, kernels, ensembles, converters of skl2onnx, trees behind a scaler, a promised
      precision) the graph carries the threshold without the promise, and its metadata say why.

    Parameters
    ----------
    model : classifier or Pipeline
        Linear models, scorecards, re-weighted models, stacks, their students and promised thresholds of
        this library; of scikit-learn logistic regression, forests, trees, histogram boosting, networks,
        ``CalibratedClassifierCV`` of these (sigmoid or isotonic), and scalers, imputers and
        ``ColumnTransformer`` before them, ``OneHotEncoder`` of numbers and `ColumnPreparer`. Columns
        of dates have no graph. skl2onnx converts other classifiers, in single precision.
    calibration : (X, y), default=None
        The rows that were held out by the fit, in any order, or all rows of the fit in their order.
        Others are refused by a digest that the fit has stored.
    labels : (label, label), default=None
        What ``label`` holds in place of the classes of the model: two texts or two whole numbers.

    Returns
    -------
    onnx.ModelProto
        Written to a file by ``onnx.save`` or ``SerializeToString``.

    Raises
    ------
    ValueError
        If a part of the model cannot be converted, which the message names; if the rows are not those
        of the fit.
    """
    check_is_fitted(model)
    *steps, last = pipeline_steps(model)
    if is_promised(last):
        return _promised(model, steps, last, calibration, labels)
    if calibration is not None:
        raise ValueError(
            f"calibration sets the threshold of a promise, and {type(last).__name__} has none; leave "
            "it out."
        )
    graph = Graph()
    outputs = plain_outputs(graph, graph.rows(), model, labels)
    return _written(graph, outputs, model, last, {})


def plain_outputs(graph: Graph, rows: Value, model: Any, labels: Any = None) -> Outputs:
    """Add a classifier without a promise, and return its outputs by name."""
    last = pipeline_steps(model)[-1]
    found = response(graph, rows, model)
    outputs = _scores_of(graph, found.decision, found.probability)
    positive = getattr(last, "pos_label_", last.classes_[1]) == last.classes_[1]
    if found.decision is None:
        flag = graph.op("Greater", found.by("predict_proba").name, graph.constant(0.5))
    else:
        kind = "Greater" if positive else "Less"
        flag = graph.op(kind, found.decision.name, graph.constant(0.0))
    classes = last.classes_ if labels is None else labels
    return outputs | _decision(graph, flag, classes, positive)


def is_promised(classifier: Any) -> bool:
    """Tell whether a classifier compares scores of a base with promised thresholds."""
    return promised_rate(classifier) is not None or type(classifier).__name__ == "TriageClassifier"


def _promised(
    model: Any,
    steps: list[Any],
    last: Any,
    calibration: tuple[Any, Any] | None,
    labels: tuple[Any, Any] | None,
) -> ModelProto:
    # Other steps show the promise what they compute, and not the rows.
    is_single = last.held_out_single_ and all(isinstance(step, NamedColumns) for step in steps)
    graph = Graph(is_single=is_single)
    base = base_scores(graph, graph.rows(), steps, last)
    fitted = last
    if calibration is not None:
        fitted = _calibrated(graph, base, steps, last, calibration)
    outputs, facts = promised_outputs(graph, base, last, fitted, labels)
    return _written(graph, outputs, model, last, facts)


def promised_outputs(
    graph: Graph, base: Value, last: Any, fitted: Any, labels: Any = None
) -> tuple[Outputs, dict[str, str]]:
    """Compare the scores of the base with the thresholds of a promise.

    ``fitted`` has the thresholds: the model itself, or one whose thresholds come from these scores.
    """
    limits = np.sort(np.atleast_1d(fitted.thresholds_))[None]
    sides = np.array(safe_sides(last, limits.size), dtype=float)
    if fitted is not last:
        why, kept = "thresholds recomputed from the scores of this graph", True
    elif sides.all() and base.magnitude is not None:
        why, kept = "scores moved to the safe side by a proven bound on their difference", True
        why += ", for rows of single precision" if graph.is_single else ", rounded rows included"
    elif sides.all() and not graph.is_single:
        why, kept = "none: no proven bound for rows that single precision rounds", False
    else:
        why, kept = "none: no proven bound on the difference of scores", False
    why += "" if kept else "; calibration would keep it"
    moved = base.name
    if kept and fitted is last and base.magnitude is not None:
        # One column per threshold: of a triage, one moves down and one up.
        room = graph.constant(sides[None] * (2.0 * base.error))
        moved = graph.op("Add", base.name, graph.op("Mul", base.magnitude, room), name=_MOVED)
    above = graph.op("Greater", moved, graph.constant(limits))
    passed = graph.cast(above, TensorProto.INT64)
    level = graph.op("ReduceSum", passed, graph.constant([1], np.int64), keepdims=0)
    own = int(np.flatnonzero(limits[0] == fitted.threshold_)[-1])
    flag = graph.op("Gather", above, graph.constant([own], np.int64), axis=1)
    positive = last.classes_[1] == last.pos_label_
    decision = graph.shifted(base, -fitted.threshold_)
    outputs = _scores_of(graph, graph.scaled(decision, 1.0 if positive else -1.0), None)
    outputs |= _decision(graph, flag, last.classes_ if labels is None else labels, positive)
    facts = {
        "promise": fitted.promise_ if kept and fitted.guarantee_ else "",
        "promise_kept_by": why,
        "threshold": repr(float(fitted.threshold_)),
        "thresholds": json.dumps(limits[0].tolist()),
    }
    return outputs | {"level": (level, TensorProto.INT64)}, facts


def base_scores(graph: Graph, value: Value, steps: list[Any], last: Any) -> Value:
    """Add the base of a promise, scored towards the positive class."""
    if last.strata_.size:
        raise NotConvertible(f"{type(last).__name__} with strata")
    if not hasattr(last.estimator_, "classes_"):
        raise NotConvertible(f"{type(last.estimator_).__name__}, which is no classifier,")
    for step in steps:
        value = transformed(graph, value, step)
    method = response_of(last.estimator_, last.response_method)
    base = response(graph, value, last.estimator_).by(method)
    if last.classes_[1] != last.pos_label_:
        moved = graph.shifted(base, -1.0) if method == "predict_proba" else base
        base = graph.scaled(moved, -1.0)
    return base if last.score_direction_ == "high" else graph.scaled(base, -1.0)


class _RuntimeScores(ClassifierMixin, BaseEstimator):
    """A fitted classifier whose scores of rows are those that a graph has computed."""

    def __init__(self, classes: Any = None, positive: int = 1) -> None:
        self.classes, self.positive = classes, positive
        self.classes_ = classes

    def fit(self, X: Any, y: Any) -> _RuntimeScores:
        """Return this classifier, which is fitted."""
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def decision_function(self, X: Any) -> FloatArray:
        scores = np.asarray(X)[:, 0]
        return scores if self.positive else -scores


def _calibrated(graph: Graph, base: Value, steps: list[Any], last: Any, rows: Any) -> Any:
    """Set the thresholds again by the scores of the graph for the rows that set them first."""
    X, y = rows
    y, whole = np.asarray(y), X
    for step in steps:
        whole = step.transform(whole)
    held_out = _held_out(last, whole, y)
    only = _model(
        graph, {"score": (_one_per_row(graph, base.name), TensorProto.DOUBLE)}, n_columns=X.shape[1]
    )
    session = _session(only)
    given = {name: values[held_out] for name, values in _given(session, X).items()}
    scores = session.run(["score"], given)[0]
    positive = int(last.classes_[1] == last.pos_label_)
    params = last.get_params(deep=False)
    params |= {
        "estimator": _RuntimeScores(last.classes_, positive),
        "cv": "prefit",
        "response_method": "decision_function",
        "pos_label": last.pos_label_,
        "score_direction": "high",
    }
    return type(last)(**params).fit(scores.reshape(-1, 1), y[held_out])


def _held_out(last: Any, X: Any, y: AnyArray) -> AnyArray:
    """Find the rows that set the threshold among those given, by the digest that the fit has stored."""
    digest = last.held_out_digest_
    if digest is None:
        raise ValueError(
            "The model has no digest of the rows that set its threshold: only rows of numbers without "
            "groups and weights have one, held out once. Export it without calibration."
        )
    index = [np.arange(len(y))]
    if isinstance(last.random_state, Integral):
        # The command line draws the same half, and hands it to a fitted base.
        fraction = float(last.cv) if isinstance(last.cv, Real) else 0.5
        drawn = partial(held_out_split, fraction, y, last.random_state)
        for stratified in (True, False):
            # Too few rows of a class cannot be split, and are not those of the fit.
            with suppress(ValueError):
                index.append(drawn(stratified=stratified)[1])
    for rows in index:
        if row_digest(_safe_indexing(X, rows), y[rows]) == digest:
            return rows
    raise ValueError(
        f"These {len(y)} rows are not those of the fit: neither they nor the part that the fit would "
        "hold out of them have its digest. Give the rows that were held out, in any order, or all rows "
        "of a fit with a number as random_state, in their order."
    )


def _scores_of(graph: Graph, decision: Value | None, probability: Value | None) -> Outputs:
    found = {"score": decision, "probability": probability}
    return {
        name: (_one_per_row(graph, value.name), TensorProto.DOUBLE)
        for name, value in found.items()
        if value is not None
    }


def _one_per_row(graph: Graph, name: str) -> str:
    return graph.op("Reshape", name, graph.constant([-1], np.int64))


def _decision(graph: Graph, flag: str, classes: Any, positive: bool) -> Outputs:
    """Say which rows are of the positive class, and choose their labels: text or whole numbers."""
    labels = np.asarray(classes)[:: 1 if positive else -1]
    kind = TensorProto.INT64 if labels.dtype.kind in "biu" else TensorProto.STRING
    labels = labels.astype(np.int64 if kind == TensorProto.INT64 else str).astype(
        np.int64 if kind == TensorProto.INT64 else object
    )
    options = [graph.constant(labels[place : place + 1], None) for place in (1, 0)]
    label = _one_per_row(graph, graph.op("Where", flag, *options))
    return {"label": (label, kind), "flag": (_one_per_row(graph, flag), TensorProto.BOOL)}


def _n_columns(model: Any) -> int:
    return int(model.n_features_in_)


def _model(graph: Graph, outputs: Outputs, n_columns: int) -> ModelProto:
    """Wrap nodes into a model whose outputs have the names asked for."""
    numbers = [place for place in range(n_columns) if place not in graph.texts]
    shapes = {graph.given: (TensorProto.FLOAT, [None, len(numbers)])}
    shapes |= {name: (TensorProto.STRING, [None, 1]) for name in graph.texts.values()}
    given = [helper.make_tensor_value_info(name, *shape) for name, shape in shapes.items()]
    nodes = list(graph.nodes)
    if graph.texts:
        # Any number stands in the places of texts, which are read from their own input.
        if not numbers:
            raise NotConvertible("a table without columns of numbers")
        places = np.searchsorted(numbers, range(n_columns)).clip(max=len(numbers) - 1)
        whole = graph.op("Gather", graph.given, graph.constant(places, np.int64), axis=1)
        first = next(place for place, node in enumerate(nodes) if graph.table in node.output)
        nodes[first].input[0] = whole
        nodes.insert(first, graph.nodes.pop())
    named = [
        helper.make_node("Identity", [inner], [name], name=name)
        for name, (inner, _) in outputs.items()
    ]
    shown = [
        helper.make_tensor_value_info(name, kind, [None]) for name, (_, kind) in outputs.items()
    ]
    made = helper.make_graph([*nodes, *named], "aucuba", given, shown, initializer=graph.constants)
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
    return helper.make_model(made, opset_imports=opsets, ir_version=IR_VERSION)


def _written(
    graph: Graph,
    outputs: Outputs,
    model: Any,
    last: Any,
    facts: dict[str, str],
) -> ModelProto:
    made = _model(graph, outputs, _n_columns(model))
    made.producer_name, made.producer_version = "aucuba", aucuba.__version__
    first = pipeline_steps(model)[0]
    names = getattr(model, "feature_names_in_", range(_n_columns(model)))
    if isinstance(first, NamedColumns):
        names = first.names
    columns = [str(name) for place, name in enumerate(names) if place not in graph.texts]
    facts = {"classes": json.dumps(last.classes_.tolist()), "columns": json.dumps(columns), **facts}
    if graph.texts:
        facts["categories"] = json.dumps([*graph.texts.values()])
    helper.set_model_props(made, {f"aucuba.{name}": value for name, value in facts.items()})
    checker.check_model(made)
    return made


@dataclass(frozen=True)
class OnnxCheck:
    """How the answers of a graph differ from those of its model on some rows.

    Attributes
    ----------
    n_rows : int
    score_error : float
        Largest difference of the scores.
    n_near : int
        Rows whose flags may differ, since their score lies within ``score_error``, a relative 1e-9, or
        the bound by which the graph moves it, of the threshold of the model or the graph, or between
        the two.
    n_other_flags : int
        Rows that only one of the two flags; all lie near the threshold.
    n_rounded : int
        Rows that the model flags otherwise once their numbers are rounded to single precision.
    """

    n_rows: int
    score_error: float
    n_near: int
    n_other_flags: int
    n_rounded: int = 0

    def __str__(self) -> str:
        rounded = f" Single precision changes the flags of {self.n_rounded} rows."
        return (
            f"{self.n_rows} rows: scores differ by at most {self.score_error:.2g}, {self.n_near} rows "
            f"lie near the threshold, {self.n_other_flags} are flagged by only one of the two."
            + (rounded if self.n_rounded else "")
        )


def check_onnx(made: ModelProto | bytes, model: Any, X: Any) -> OnnxCheck:
    """Run a graph in onnxruntime and compare it with its model on rows of single precision.

    Parameters
    ----------
    made : onnx.ModelProto or bytes
    model : classifier
        The model that the graph was made from.
    X : {array-like, DataFrame} of shape (n_samples, n_features)
        Rows of numbers, which both sides get in single precision.

    Returns
    -------
    OnnxCheck

    Raises
    ------
    ValueError
        If scores differ by more than 1e-5, or if a row that does not lie near the threshold is flagged
        by only one of the two.
    """
    content = made if isinstance(made, bytes) else made.SerializeToString()
    shown = ModelProto.FromString(content)
    if any(_MOVED in node.output for node in shown.graph.node):
        shown.graph.output.append(
            helper.make_tensor_value_info(_MOVED, TensorProto.DOUBLE, [None, None])
        )
    session = _session(shown)
    names = [one.name for one in session.get_outputs()]
    found = dict(zip(names, session.run(names, _given(session, X)), strict=True))
    rows = _rounded(X)
    last = pipeline_steps(model)[-1]
    positive = getattr(last, "pos_label_", last.classes_[1]) == last.classes_[1]
    limits = np.array([0.0, 0.0])
    if "score" not in found:
        own, expected, limits = found["probability"], model.predict_proba(rows)[:, 1], limits + 0.5
    else:
        own, expected = (
            x if positive else -x for x in (found["score"], model.decision_function(rows))
        )
    if is_promised(last):
        # Scores count from the thresholds, which may differ.
        facts = session.get_modelmeta().custom_metadata_map
        limits = np.array([float(facts["aucuba.threshold"]), last.threshold_])
        own, expected = own + limits[0], expected + limits[1]
    error = float(np.max(np.abs(own - expected), initial=0.0))
    if not error <= _CLOSE:
        raise ValueError(f"The scores of the graph differ from the model's by up to {error:.3g}.")
    room = np.full(len(own), max(error, _ROUNDING * max(1.0, float(np.abs(limits).max()))))
    if _MOVED in found:
        room = np.maximum(room, 2.0 * np.abs(found[_MOVED] - own[:, None]).max(axis=1))
    near = (expected >= limits.min() - room) & (expected <= limits.max() + room)
    flagged = model.predict(rows) == last.classes_[int(positive)]
    other = found["flag"] != flagged
    if np.any(other & ~near):
        raise ValueError(
            f"{int(np.sum(other & ~near))} of {len(other)} rows that do not lie near the threshold are "
            "flagged by only one of the graph and the model."
        )
    given = flagged if is_single(X) else model.predict(X) == last.classes_[int(positive)]
    return OnnxCheck(
        len(other), error, int(near.sum()), int(other.sum()), int(np.sum(given != flagged))
    )


def _given(session: Any, X: Any) -> dict[str, AnyArray]:
    """Split a table into what the graph takes: numbers of single precision, and columns of text."""
    given, *texts = [one.name for one in session.get_inputs()]
    if not texts:
        return {given: np.asarray(X, dtype=np.float32)}
    columns = dict(zip(column_names(X), table_columns(X), strict=True))
    found = {}
    for name in texts:
        values = as_names(columns.pop(name))
        found[name] = np.where(is_missing(values), "", values)[:, None]
    numbers = [as_numbers(values).astype(np.float32) for values in columns.values()]
    return {given: np.column_stack(numbers), **found}


def _rounded(X: Any) -> Any:
    """Round the numbers of a table to single precision."""
    if not hasattr(X, "columns"):
        return np.asarray(X, dtype=np.float32).astype(np.float64)
    numbers = X.select_dtypes("number").columns
    return X.astype(dict.fromkeys(numbers, np.float32)).astype(dict.fromkeys(numbers, np.float64))


def _session(made: ModelProto | bytes) -> Any:
    """Make a session of one thread."""
    try:
        import onnxruntime
    except ImportError as error:
        raise ImportError(
            "Running a graph needs onnxruntime: pip install 'aucuba[export]'."
        ) from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    content = made if isinstance(made, bytes) else made.SerializeToString()
    return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
