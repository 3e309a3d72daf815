"""Compare a graph with the model that it was made from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from onnx import ModelProto, TensorProto, helper

from aucuba._base._estimator import pipeline_steps
from aucuba._columns._row_digest import is_single
from aucuba.export._promises import MOVED, is_promised
from aucuba.export._runtime import graph_inputs, in_single, open_session

_CLOSE, _ROUNDING = 1e-5, 1e-9


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
    if any(MOVED in node.output for node in shown.graph.node):
        shown.graph.output.append(
            helper.make_tensor_value_info(MOVED, TensorProto.DOUBLE, [None, None])
        )
    session = open_session(shown)
    names = [one.name for one in session.get_outputs()]
    found = dict(zip(names, session.run(names, graph_inputs(session, X)), strict=True))
    rows = in_single(X)
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
    if MOVED in found:
        room = np.maximum(room, 2.0 * np.abs(found[MOVED] - own[:, None]).max(axis=1))
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
