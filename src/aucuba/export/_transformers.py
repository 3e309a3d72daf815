"""Fitted transformers as parts of an ONNX graph: each takes a table of doubles and returns one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from onnx import TensorProto
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler

from aucuba._columns._plain_columns import PlainColumns
from aucuba._columns._splines import PortableSplines
from aucuba._columns._table_columns import LinearColumns, NamedColumns
from aucuba.export._graph import Graph, NotConvertible, Value
from aucuba.linear import ColumnPreparer


def transformed(graph: Graph, value: Value, step: Any) -> Value:
    """Add a fitted transformer to the graph."""
    if step is None or isinstance(step, str) or getattr(step, "func", step) is None:
        # A fitted ColumnTransformer keeps "passthrough" as a FunctionTransformer without a function.
        return value
    if type(step) not in _TRANSFORMERS:
        raise NotConvertible(type(step).__name__)
    return _TRANSFORMERS[type(step)](graph, value, step)


def without_empty(texts: Sequence[str], name: str) -> Sequence[str]:
    if "" in texts:
        raise NotConvertible(f"the empty text, which is a missing value, as a category of {name!r}")
    return texts


def _imputed(graph: Graph, value: Value, step: Any) -> Value:
    fill = np.asarray(step.statistics_, dtype=np.float64)
    kept = np.flatnonzero(~np.isnan(fill))
    if step.keep_empty_features or kept.size == fill.size:
        kept = np.arange(fill.size)
    result = graph.columns(graph.filled(value, np.nan_to_num(fill)), kept)
    if step.indicator_ is None:
        return result
    empty = graph.op("IsNaN", graph.columns(value, step.indicator_.features_).name)
    marks = graph.cast(empty, 11)
    return graph.joined([result, Value(marks, marks)])


def _scaled(graph: Graph, value: Value, step: Any) -> Value:
    mean = getattr(step, "mean_", None)
    if mean is not None and getattr(step, "with_mean", False):
        value = graph.shifted(value, -mean)
    if step.scale_ is None:
        return value
    return graph.scaled(value, step.scale_, divided=True)


def _chained(graph: Graph, value: Value, step: Any) -> Value:
    for _, part in step.steps:
        value = transformed(graph, value, part)
    return value


def _in_parallel(graph: Graph, value: Value, step: Any) -> Value:
    parts = []
    for name, part, _ in step.transformers_:
        places = step._transformer_to_input_indices[name]
        if len(places) and part != "drop":
            parts.append(transformed(graph, graph.columns(value, places), part))
    return graph.joined(parts)


def _numbers(graph: Graph, value: Value, step: Any) -> Value:
    """Numbers as they are, and codes of categories, nan for texts that training has not seen."""
    if len(step.dates):
        raise NotConvertible("columns of dates")
    if len(step.categorical) and value.name != graph.table:
        raise NotConvertible("columns of categories behind another step")
    parts = []
    listed = step.encoder_.categories_ if len(step.categorical) else []
    # The encoder takes all columns at once, in rows as many as the longest list.
    longest = max(map(len, listed), default=0)
    rows = [np.resize(names, longest) for names in listed]
    codes = step.encoder_.transform(np.column_stack(rows)).T if rows else []
    columns = dict(zip(step.categorical, zip(listed, codes, strict=True), strict=True))
    for place in range(step.n_features_in_):
        if place not in columns:
            parts.append(graph.columns(value, [place]))
            continue
        texts = {x: c for x, c in zip(*columns[place], strict=False) if isinstance(x, str)}
        name = step.names_[place]
        code = graph.text_codes(place, name, without_empty([*texts], name), [*texts.values()])
        known = graph.op("GreaterOrEqual", code, graph.constant(0, np.int64))
        number = graph.cast(code, TensorProto.DOUBLE)
        number = graph.op("Where", known, number, graph.constant(np.nan))
        parts.append(Value(number, number))
    found = graph.joined(parts) if columns else value
    return graph.filled(found, 0.0, step.empty_) if step.empty_.any() else found


def _indicators(graph: Graph, value: Value, step: Any) -> Value:
    """Mark the categories of each column by 1 in columns of zeros."""
    if any(names.dtype.kind not in "biuf" for names in step.categories_):
        raise NotConvertible("OneHotEncoder of text")
    if step.handle_unknown == "error":
        raise NotConvertible("OneHotEncoder with handle_unknown='error'")
    firsts = np.array([names[0] for names in step.categories_], dtype=np.float64)
    parts, width = [], 0
    for place, names in enumerate(step.categories_):
        known = names[~np.isnan(names)]
        # One row per category, one for missing values and one for all others.
        rows = np.tile(firsts, (known.size + 2, 1))
        rows[:, place] = [*known, np.nan, known.max(initial=0.0) + 1.0]
        table = step.transform(rows)
        table = table.toarray() if hasattr(table, "toarray") else table
        column = graph.columns(value, [place]).name
        marks = [graph.op("Equal", column, graph.constant(known)), graph.op("IsNaN", column)]
        found = graph.op("Concat", *(graph.cast(one, TensorProto.DOUBLE) for one in marks), axis=1)
        ones = graph.constant([1], np.int64)
        other = graph.op("Sub", graph.constant(1.0), graph.op("ReduceSum", found, ones, keepdims=1))
        end = width + step._n_features_outs[place]
        all_marks = graph.op("Concat", found, other, axis=1)
        name = graph.op("MatMul", all_marks, graph.constant(table[:, width:end]))
        width = end
        parts.append(Value(name, name))
    return graph.joined(parts)


def _prepared(graph: Graph, value: Value, step: Any) -> Value:
    return transformed(graph, transformed(graph, value, step.plain_), step.encode_)


def _kernel_features(graph: Graph, value: Value, step: Any) -> Value:
    """Nystroem's features of the kernel exp(-gamma |x - c|^2)."""
    if step.kernel != "rbf":
        raise NotConvertible(f"Nystroem with kernel={step.kernel!r}")
    centres = step.components_
    gamma = 1.0 / centres.shape[1] if step.gamma is None else step.gamma
    squares = graph.op(
        "ReduceSum", graph.op("Mul", value.name, value.name), graph.constant([1], np.int64)
    )
    cross = graph.op("MatMul", value.name, graph.constant(-2.0 * centres.T))
    total = graph.op(
        "Add", graph.op("Add", squares, cross), graph.constant((centres**2).sum(axis=1))
    )
    kernel = graph.op("Exp", graph.op("Mul", graph.op("Relu", total), graph.constant(-gamma)))
    return Value(graph.op("MatMul", kernel, graph.constant(step.normalization_.T)))


def _spline_features(graph: Graph, value: Value, step: Any) -> Value:
    """Piecewise polynomials: find the interval of every entry, then Horner's rule."""
    if step.extrapolation != "linear":
        raise NotConvertible(f"splines with extrapolation={step.extrapolation!r}")
    parts = []
    for place, (starts, coefs) in enumerate(step.pieces()):
        column = graph.columns(value, [place]).name
        if not step.include_bias:
            coefs = coefs[:, :, :-1]
        above = graph.op("GreaterOrEqual", column, graph.constant(starts[None, 1:]))
        piece = graph.op(
            "ReduceSum", graph.cast(above, 7), graph.constant([1], np.int64), keepdims=0
        )
        offset = graph.op("Gather", graph.constant(starts), piece, axis=0)
        ones = graph.constant([1], np.int64)
        local = graph.op("Sub", column, graph.op("Unsqueeze", offset, ones))
        total = graph.op("Gather", graph.constant(coefs[0]), piece, axis=0)
        for coef in coefs[1:]:
            own = graph.op("Gather", graph.constant(coef), piece, axis=0)
            total = graph.op("Add", graph.op("Mul", total, local), own)
        parts.append(Value(total))
    return graph.joined(parts)


_TRANSFORMERS: dict[type, Callable[[Graph, Value, Any], Value]] = {
    ColumnPreparer: lambda graph, value, step: _prepared(graph, value, step.columns_),
    ColumnTransformer: _in_parallel,
    LinearColumns: _prepared,
    MaxAbsScaler: _scaled,
    NamedColumns: lambda graph, value, step: value,
    OneHotEncoder: _indicators,
    Nystroem: _kernel_features,
    Pipeline: _chained,
    PlainColumns: _numbers,
    PortableSplines: _spline_features,
    SimpleImputer: _imputed,
    StandardScaler: _scaled,
}
