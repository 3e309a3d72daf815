"""Converters for skl2onnx, so that its pipelines may hold classifiers of this library."""

from __future__ import annotations

from typing import Any

from onnx import TensorProto, helper
from skl2onnx import update_registered_converter
from skl2onnx.common.data_types import (
    BooleanTensorType,
    DoubleTensorType,
    Int64TensorType,
    StringTensorType,
)

from aucuba.export._classifiers import OURS
from aucuba.export._graph import OPSET, Graph, NotConvertible, Value
from aucuba.export._onnx import plain_outputs
from aucuba.export._promises import base_scores, is_promised, promised_outputs
from aucuba.threshold import (
    AlertBudgetClassifier,
    FixedFPRClassifier,
    FixedPrecisionClassifier,
    FixedTPRClassifier,
    TriageClassifier,
)

_TYPES = {
    TensorProto.BOOL: BooleanTensorType,
    TensorProto.DOUBLE: DoubleTensorType,
    TensorProto.INT64: Int64TensorType,
    TensorProto.STRING: StringTensorType,
}


def register_converters() -> None:
    """Let skl2onnx convert the classifiers of this library inside of its own pipelines.

    Their outputs are those of `to_onnx`: label, score, flag, and where they exist probability and
    level. The steps before them round to single precision, so that no promise is carried over. Trees
    and columns of text are refused: they need operators that skl2onnx does not know, and `to_onnx`.
    """
    promised = (
        AlertBudgetClassifier,
        FixedFPRClassifier,
        FixedPrecisionClassifier,
        FixedTPRClassifier,
        TriageClassifier,
    )
    for kind in (*OURS, *promised):
        update_registered_converter(
            kind,
            f"Aucuba{kind.__name__}",
            lambda operator: None,
            _convert,
            parser=_parse,
            overwrite=True,
        )


def _outputs(graph: Graph, model: Any) -> Any:
    # Without a magnitude: the bound on rounding does not reach back through other converters.
    rows = Value(graph.rows().name)
    if is_promised(model):
        found = promised_outputs(graph, base_scores(graph, rows, [], model), model, model)[0]
    else:
        found = plain_outputs(graph, rows, model)
    if any(node.domain for node in graph.nodes):
        raise NotConvertible(f"{type(model).__name__} with trees or texts, by skl2onnx,")
    return found


def _parse(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:
    """Declare the outputs, which depend on the fitted model."""
    operator = scope.declare_local_operator(f"Aucuba{type(model).__name__}", model)
    operator.inputs.extend(inputs)
    for name, (_, kind) in _outputs(Graph(), model).items():
        operator.outputs.append(scope.declare_local_variable(name, _TYPES[kind]([None])))
    return operator.outputs


def _convert(scope: Any, operator: Any, container: Any) -> None:
    graph = Graph(operator.inputs[0].full_name, scope.get_unique_variable_name("aucuba"))
    found = _outputs(graph, operator.raw_operator)
    renamed = [
        helper.make_node("Identity", [inner], [variable.full_name], name=variable.full_name)
        for (inner, _), variable in zip(found.values(), operator.outputs, strict=True)
    ]
    container.initializers.extend(graph.constants)
    container.node_domain_version_pair_sets.add(("", OPSET))
    container.nodes.extend([*graph.nodes, *renamed])
