"""A graph in onnxruntime, and the rows that it takes."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import ModelProto

from aucuba._base._typing import AnyArray
from aucuba._columns._kinds import as_names, as_numbers, column_names, is_missing, table_columns


def open_session(made: ModelProto | bytes) -> Any:
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


def graph_inputs(session: Any, X: Any) -> dict[str, AnyArray]:
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


def in_single(X: Any) -> Any:
    """Round the numbers of a table to single precision."""
    if not hasattr(X, "columns"):
        return np.asarray(X, dtype=np.float32).astype(np.float64)
    numbers = X.select_dtypes("number").columns
    return X.astype(dict.fromkeys(numbers, np.float32)).astype(dict.fromkeys(numbers, np.float64))
