"""Arithmetic in an ONNX graph, in double precision, with a proven bound on its rounding.

A value carries a magnitude M, computed in the graph beside it, and a count k of roundings, such that in
any order of summation

    |computed - exact| <= gamma_k M,    gamma_k = k u / (1 - k u),    u = 2^-53,

where "exact" is real arithmetic on the same row (Higham, Accuracy and Stability of Numerical
Algorithms, 2nd edition, section 3.1). NumPy's result obeys the same bound, so the two differ by at most
twice it. Where an operation has no such bound the magnitude is None.

Where single precision does not hold the numbers of a row, the graph takes x (1 + d), |d| <= 2^-24, in
place of x. A linear value moves by 2^-24 M at most; other operations have no bound then.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from onnx import GraphProto, NodeProto, TensorProto, helper, numpy_helper

from aucuba._base._typing import AnyArray

OPSET, ML_OPSET, IR_VERSION = 18, 5, 10
OUTPUTS = ("label", "score", "probability", "flag", "level")
_UNIT, _SINGLE_UNIT = 2.0**-53, 2.0**-24
# Added to sizes: single precision rounds numbers below 2^-126 by less than 2^-24 times this.
_TINY = 2.0**-100


class NotConvertible(ValueError):
    """A part of a model has no counterpart among the operators of ONNX, or none is written here."""

    def __init__(self, part: str) -> None:
        super().__init__(
            f"{part} cannot be exported to ONNX. Leave that part out, or keep the model in Python."
        )


@dataclass(frozen=True)
class Value:
    """A matrix of doubles in the graph, one row per row of the table.

    ``is_single`` tells whether single precision holds the numbers of the table that it is made of.
    """

    name: str
    magnitude: str | None = None
    roundings: int = 0
    is_single: bool = True

    @property
    def error(self) -> float:
        """The factor of the bound, with room for the rounding of the magnitude itself."""
        k = 2 * self.roundings + 8
        return k * _UNIT / (1 - k * _UNIT) + (0.0 if self.is_single else _SINGLE_UNIT)

    @property
    def is_given(self) -> bool:
        """Whether the entries are those of the table, or constants in their place."""
        return self.magnitude is not None and self.roundings == 0


class Graph:
    """The nodes and constants of a graph in the making.

    ``is_single`` tells whether single precision holds the rows that the model in Python gets.
    """

    def __init__(self, given: str = "X", prefix: str = "aucuba", is_single: bool = True) -> None:
        self.given, self.prefix, self.is_single = given, prefix, is_single
        # Columns of text by their place; the graph takes each under its name.
        self.texts: dict[int, str] = {}
        self.table = ""
        self.nodes: list[NodeProto] = []
        self.constants: list[TensorProto] = []
        self._count = 0

    def new_name(self, kind: str) -> str:
        """Make a name that no other part of the graph has."""
        self._count += 1
        return f"{self.prefix}_{kind}_{self._count}"

    def constant(self, values: Any, dtype: Any = np.float64) -> str:
        """Add a constant; None as dtype keeps that of the values."""
        name = self.new_name("constant")
        array = np.asarray(values) if dtype is None else np.asarray(values, dtype)
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def op(self, kind: str, *inputs: str, name: str | None = None, **attributes: Any) -> str:
        """Add a node of one output and return the output's name."""
        name = name or self.new_name(kind)
        self.nodes.append(helper.make_node(kind, inputs, [name], name=name, **attributes))
        return name

    def cast(self, name: str, to: int) -> str:
        """Convert to another type."""
        return self.op("Cast", name, to=to)

    def rows(self) -> Value:
        """The table as doubles: a row of single precision is exact in double."""
        doubles = self.table = self.cast(self.given, TensorProto.DOUBLE)
        size = self.op("Abs", doubles)
        if not self.is_single:
            size = self.op("Add", size, self.constant(_TINY))
        return Value(doubles, size, is_single=self.is_single)

    def text_codes(self, place: int, name: str, texts: Sequence[str], codes: Any = None) -> str:
        """Look up texts of a column of the table: their codes, or 0, 1, ...; -1 for any other text."""
        if name in ("", self.given, *OUTPUTS) or name.startswith(self.prefix):
            raise NotConvertible(f"the column {name!r}, whose name the graph needs itself,")
        self.texts[place] = name
        found = np.arange(len(texts)) if codes is None else np.asarray(codes)
        return self.op(
            *("LabelEncoder", name),
            domain="ai.onnx.ml",
            keys_strings=list(texts),
            values_int64s=found.astype(np.int64).tolist(),
            default_int64=-1,
        )

    def shifted(self, value: Value, by: Any) -> Value:
        """Add a constant, or one per column."""
        by = np.asarray(by, dtype=np.float64)
        moved = self.op("Add", value.name, self.constant(by))
        return self._bounded(value, moved, 1, lambda m: self.op("Add", m, self.constant(abs(by))))

    def scaled(self, value: Value, by: Any, *, divided: bool = False) -> Value:
        """Multiply each column by a constant, or divide by it."""
        by = np.asarray(by, dtype=np.float64)
        if by.size == 1:
            # onnxruntime merges a factor into a product of matrices, rounded to single precision.
            return self.product(value, (1.0 / by if divided else by).reshape(1, 1))
        kind = "Div" if divided else "Mul"
        result = self.op(kind, value.name, self.constant(by))
        return self._bounded(value, result, 1, lambda m: self.op(kind, m, self.constant(abs(by))))

    def product(self, value: Value, matrix: AnyArray) -> Value:
        """Multiply by a matrix from the right."""
        matrix = np.asarray(matrix, dtype=np.float64)
        result = self.op("MatMul", value.name, self.constant(matrix))
        roundings = matrix.shape[0] + 1
        return self._bounded(
            value, result, roundings, lambda m: self.op("MatMul", m, self.constant(abs(matrix)))
        )

    def columns(self, value: Value, places: Any) -> Value:
        """Select columns."""
        index = self.constant(places, np.int64)
        return self._bounded(
            value,
            self.op("Gather", value.name, index, axis=1),
            0,
            lambda m: self.op("Gather", m, index, axis=1),
        )

    def joined(self, values: list[Value]) -> Value:
        """Put columns side by side."""
        if len(values) == 1:
            return values[0]
        name = self.op("Concat", *(one.name for one in values), axis=1)
        magnitudes = [one.magnitude for one in values]
        roundings = max(one.roundings for one in values)
        if None in magnitudes:
            return Value(name)
        size = self.op("Concat", *(m for m in magnitudes if m), axis=1)
        return Value(name, size, roundings, all(one.is_single for one in values))

    def filled(self, value: Value, fill: Any, columns: Any = None) -> Value:
        """Replace missing values of each column, or all values of those marked."""
        fill = np.asarray(fill, dtype=np.float64)
        empty = self.op("IsNaN", value.name) if columns is None else self.constant(columns, bool)
        name = self.op("Where", empty, self.constant(fill), value.name)
        return self._bounded(
            value,
            name,
            0,
            lambda m: self.op("Where", empty, self.constant(abs(fill)), m),
        )

    def sigmoid(self, value: Value) -> Value:
        """Turn log-odds into probabilities.

        Runtimes approximate the operator of this name, and log-odds of such probabilities near 1 would
        lose four digits.
        """
        one = self.constant(1.0)
        odds = self.op("Exp", self.op("Neg", value.name))
        return Value(self.op("Div", one, self.op("Add", one, odds)))

    def interpolated(self, value: Value, x: Any, y: Any) -> Value:
        """Interpolate linearly between points of increasing x, and hold the ends; one column."""
        x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
        slopes = np.append(np.diff(y) / np.diff(x), 0.0)
        inside = self.op("Max", value.name, self.constant(x[0]))
        above = self.op("GreaterOrEqual", inside, self.constant(x[None, 1:]))
        ones = self.constant([1], np.int64)
        place = self.op("ReduceSum", self.cast(above, TensorProto.INT64), ones, keepdims=1)
        start, low, slope = (self.op("Gather", self.constant(a), place) for a in (x, y, slopes))
        step = self.op("Mul", self.op("Sub", inside, start), slope)
        return Value(self.op("Add", low, step))

    def log_odds(self, value: Value, end: float) -> Value:
        """Turn probabilities, clipped at a distance from 0 and 1, into log-odds."""
        low, high = self.constant(end), self.constant(1.0 - end)
        p = self.op("Min", self.op("Max", value.name, low), high)
        rest = self.op("Sub", self.constant(1.0), p)
        return Value(self.op("Sub", self.op("Log", p), self.op("Log", rest)))

    def include(self, graph: GraphProto, given: str, prefix: str) -> None:
        """Take over the nodes and constants of another graph, whose names get a prefix."""
        from onnx import compose

        renamed = compose.add_prefix_graph(graph, prefix)
        (own,) = [one.name for one in renamed.input]
        self.constants.extend(renamed.initializer)
        for node in renamed.node:
            node.input[:] = [given if name == own else name for name in node.input]
            self.nodes.append(node)

    def _bounded(self, value: Value, name: str, roundings: int, magnitude: Any) -> Value:
        if value.magnitude is None:
            return Value(name)
        size = magnitude(value.magnitude)
        return Value(name, size, value.roundings + roundings, value.is_single)
