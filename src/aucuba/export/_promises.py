"""Promised thresholds in a graph: moved to the safe side of rounding, or set again by its scores."""

from __future__ import annotations

import json
from contextlib import suppress
from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np
from onnx import TensorProto
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import _safe_indexing

from aucuba._base._estimator import response_of
from aucuba._base._typing import AnyArray, FloatArray
from aucuba._columns._row_digest import row_digest
from aucuba._columns._table_columns import NamedColumns
from aucuba._roc._flagged import promised_rate
from aucuba._rows._splits import held_out_split
from aucuba.export._classifiers import response
from aucuba.export._graph import Graph, NotConvertible, Value
from aucuba.export._outputs import Outputs, as_model, decision_outputs, one_per_row, score_outputs
from aucuba.export._runtime import graph_inputs, open_session
from aucuba.export._sql import safe_sides
from aucuba.export._transformers import transformed

# The scores that are compared with the thresholds, one column per threshold.
MOVED = "aucuba_moved"


def is_promised(classifier: Any) -> bool:
    """Tell whether a classifier compares scores of a base with promised thresholds."""
    return promised_rate(classifier) is not None or type(classifier).__name__ == "TriageClassifier"


def promised_graph(
    steps: list[Any],
    last: Any,
    calibration: tuple[Any, Any] | None,
    labels: tuple[Any, Any] | None,
) -> tuple[Graph, Outputs, dict[str, str]]:
    """Make the graph of a promise behind other steps, its outputs, and what its metadata say."""
    # Other steps show the promise what they compute, and not the rows.
    is_single = last.held_out_single_ and all(isinstance(step, NamedColumns) for step in steps)
    graph = Graph(is_single=is_single)
    base = base_scores(graph, graph.rows(), steps, last)
    fitted = last
    if calibration is not None:
        fitted = _calibrated(graph, base, steps, last, calibration)
    return graph, *promised_outputs(graph, base, last, fitted, labels)


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
        moved = graph.op("Add", base.name, graph.op("Mul", base.magnitude, room), name=MOVED)
    above = graph.op("Greater", moved, graph.constant(limits))
    passed = graph.cast(above, TensorProto.INT64)
    level = graph.op("ReduceSum", passed, graph.constant([1], np.int64), keepdims=0)
    own = int(np.flatnonzero(limits[0] == fitted.threshold_)[-1])
    flag = graph.op("Gather", above, graph.constant([own], np.int64), axis=1)
    positive = last.classes_[1] == last.pos_label_
    decision = graph.shifted(base, -fitted.threshold_)
    outputs = score_outputs(graph, graph.scaled(decision, 1.0 if positive else -1.0), None)
    outputs |= decision_outputs(graph, flag, last.classes_ if labels is None else labels, positive)
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
    only = as_model(
        graph, {"score": (one_per_row(graph, base.name), TensorProto.DOUBLE)}, n_columns=X.shape[1]
    )
    session = open_session(only)
    given = {name: values[held_out] for name, values in graph_inputs(session, X).items()}
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
