"""Networks from a file: layers must fit each other and the labels."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np

from aucuba.persistence._errors import demand
from aucuba.persistence._names import full_name

# Attributes of every fitted network, whatever its solver.
_FITTED = frozenset(
    {
        *("_label_binarizer", "classes_", "coefs_", "intercepts_", "n_features_in_", "n_iter_"),
        *("n_layers_", "n_outputs_", "out_activation_", "t_"),
    }
)
_COUNTS = ("n_iter_", "n_layers_", "n_outputs_", "t_")
_HISTORIES = ("loss_curve_", "validation_scores_")
_FLOATS = {np.dtype(np.float32), np.dtype(np.float64)}
_ACTIVATIONS = ("identity", "logistic", "relu", "tanh")
# The last activation by the kind of labels.
_OUT_ACTIVATIONS = {
    "binary": "logistic",
    "multiclass": "softmax",
    "multilabel-indicator": "logistic",
}


def check_network(network: Any, n_features: int) -> None:
    """Check a fitted network from its columns to its labels; an unfitted one passes.

    With widths :math:`d_0, \\ldots, d_L` the weights of layer :math:`k` are
    :math:`d_{k-1} \\times d_k` numbers and its intercepts :math:`d_k`, :math:`d_0` is the number of
    features and :math:`d_L` that of outputs.
    """
    missing = _FITTED - vars(network).keys()
    if missing == _FITTED:
        return
    demand(not missing, f"a network without {', '.join(sorted(missing))}")
    for name in _COUNTS:
        count = getattr(network, name)
        demand(isinstance(count, Integral) and not isinstance(count, bool), f"no number {name}")
    demand(network.activation in _ACTIVATIONS, "an unknown activation")
    n_outputs = _check_layers(network, n_features)
    demand(n_outputs == network.n_outputs_, "a network of another number of outputs")
    _check_labels(network)
    for name in _HISTORIES:
        _check_history(vars(network).get(name))


def _check_layers(network: Any, n_features: int) -> int:
    """Check the layers in order, and return the width of the last."""
    weights, intercepts = network.coefs_, network.intercepts_
    demand(type(weights) is list and type(intercepts) is list, "a network without layers")
    n_layers = network.n_layers_ - 1
    demand(1 <= n_layers == len(weights) == len(intercepts), "a network of other layers")
    width = n_features
    for arrays in zip(weights, intercepts, strict=True):
        demand(all(type(one) is np.ndarray for one in arrays), "a layer that is no array")
        coef, intercept = arrays
        types = {one.dtype for one in arrays} | {weights[0].dtype}
        demand(len(types) == 1 and types <= _FLOATS, "a layer of another type")
        demand(intercept.ndim == 1)
        demand(coef.shape == (width, intercept.size))
        width = intercept.size
    return width


def _check_labels(network: Any) -> None:
    """Expect the binarizer that a network creates for its classes."""
    binarizer, classes = network._label_binarizer, network.classes_
    demand(
        full_name(type(binarizer)) == "sklearn.preprocessing._label.LabelBinarizer",
        "something else in the place of the labels",
    )
    settings = binarizer.neg_label, binarizer.pos_label, binarizer.sparse_output
    demand(settings == (0, 1, False), "labels of other settings")
    arrays = classes, binarizer.classes_
    demand(all(type(one) is np.ndarray for one in arrays), "labels that are no array")
    demand(classes.ndim == 1 and np.array_equal(*arrays), "labels of another network")
    kind = binarizer.y_type_
    demand(kind in _OUT_ACTIVATIONS, "labels of an unknown kind")
    binary = kind == "binary"
    demand(not binary or 1 <= classes.size <= 2, "another number of labels")
    demand(network.n_outputs_ == (1 if binary else classes.size), "another number of labels")
    demand(network.out_activation_ == _OUT_ACTIVATIONS[kind], "an output of another kind")


def _check_history(values: Any) -> None:
    if values is not None:
        demand(
            type(values) is list and all(isinstance(one, Real) for one in values),
            "a history of training that is no list of numbers",
        )
