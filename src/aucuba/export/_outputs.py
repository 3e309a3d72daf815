"""The outputs of a graph, and the ONNX model around its nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import ModelProto, TensorProto, helper

from aucuba.export._graph import IR_VERSION, ML_OPSET, OPSET, Graph, NotConvertible, Value

# The value inside of the graph and the type of its entries, by the name of the output.
Outputs = dict[str, tuple[str, int]]


def score_outputs(graph: Graph, decision: Value | None, probability: Value | None) -> Outputs:
    found = {"score": decision, "probability": probability}
    return {
        name: (one_per_row(graph, value.name), TensorProto.DOUBLE)
        for name, value in found.items()
        if value is not None
    }


def one_per_row(graph: Graph, name: str) -> str:
    return graph.op("Reshape", name, graph.constant([-1], np.int64))


def decision_outputs(graph: Graph, flag: str, classes: Any, positive: bool) -> Outputs:
    """Say which rows are of the positive class, and choose their labels: text or whole numbers."""
    labels = np.asarray(classes)[:: 1 if positive else -1]
    kind = TensorProto.INT64 if labels.dtype.kind in "biu" else TensorProto.STRING
    labels = labels.astype(np.int64 if kind == TensorProto.INT64 else str).astype(
        np.int64 if kind == TensorProto.INT64 else object
    )
    options = [graph.constant(labels[place : place + 1], None) for place in (1, 0)]
    label = one_per_row(graph, graph.op("Where", flag, *options))
    return {"label": (label, kind), "flag": (one_per_row(graph, flag), TensorProto.BOOL)}


def as_model(graph: Graph, outputs: Outputs, n_columns: int) -> ModelProto:
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
