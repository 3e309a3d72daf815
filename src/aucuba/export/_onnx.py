"""Export a classifier as an ONNX graph with its decision inside."""

from __future__ import annotations

import json
from typing import Any

from onnx import ModelProto, checker, helper
from sklearn.utils.validation import check_is_fitted

import aucuba
from aucuba._base._estimator import pipeline_steps
from aucuba._columns._table_columns import NamedColumns
from aucuba.export._classifiers import response
from aucuba.export._graph import Graph, Value
from aucuba.export._outputs import Outputs, as_model, decision_outputs, score_outputs
from aucuba.export._promises import is_promised, promised_graph


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
        graph, outputs, facts = promised_graph(steps, last, calibration, labels)
        return _written(graph, outputs, model, last, facts)
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
    outputs = score_outputs(graph, found.decision, found.probability)
    positive = getattr(last, "pos_label_", last.classes_[1]) == last.classes_[1]
    if found.decision is None:
        flag = graph.op("Greater", found.by("predict_proba").name, graph.constant(0.5))
    else:
        kind = "Greater" if positive else "Less"
        flag = graph.op(kind, found.decision.name, graph.constant(0.0))
    classes = last.classes_ if labels is None else labels
    return outputs | decision_outputs(graph, flag, classes, positive)


def _n_columns(model: Any) -> int:
    return int(model.n_features_in_)


def _written(
    graph: Graph,
    outputs: Outputs,
    model: Any,
    last: Any,
    facts: dict[str, str],
) -> ModelProto:
    made = as_model(graph, outputs, _n_columns(model))
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
