"""Save a model: JSON for structure and settings, arrays for numbers.

Numbers, text, None and lists stand for themselves. Everything else is a JSON object whose first key
is its kind, such as ``{"tuple": [1, 2]}`` or ``{"class": "sklearn.pipeline.Pipeline", "state":
...}``. Arrays and trees are referred to by number, so the description of a forest is short.
"""

from __future__ import annotations

import os
import platform
import types
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import sklearn
from scipy import sparse

import aucuba
from aucuba._base._files import written_atomically
from aucuba._base._typing import AnyArray
from aucuba._base._warnings import warn_user
from aucuba.persistence._archive import FORMAT, array_bytes, packed
from aucuba.persistence._names import (
    CHECK,
    SPARSE,
    STORED_NAMES,
    TYPES,
    full_name,
    located,
    stored_names,
)
from aucuba.persistence._rules import LEFT_OUT
from aucuba.persistence._trees import PREDICTOR, TREE, predictor_block, tree_block

# A cache of one machine.
_CACHE = "joblib.memory.Memory"
_NAMED = (type, np.ufunc)
_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, partial)
_PARTS: dict[type, tuple[str, Callable[[Any], Any]]] = {
    # Keys and values alternate: a list per pair would take more room than most values.
    dict: ("dict", lambda item: [part for pair in item.items() for part in pair]),
    tuple: ("tuple", list),
    set: ("set", lambda item: sorted(item, key=lambda one: (type(one).__name__, repr(one)))),
    slice: ("slice", lambda item: [item.start, item.stop, item.step]),
    bytes: ("bytes", lambda item: np.frombuffer(item, np.uint8)),
    bytearray: ("bytearray", lambda item: np.frombuffer(item, np.uint8)),
    np.ma.MaskedArray: ("masked", lambda item: [np.asarray(item), np.ma.getmaskarray(item)]),
    np.random.RandomState: ("random_state", lambda item: item.get_state(legacy=False)),
    np.random.Generator: (
        "generator",
        lambda item: [item.bit_generator.state, item.bit_generator.seed_seq.state],
    ),
}


class _Encoder:
    """The description of a model while it is built."""

    def __init__(self) -> None:
        self.refused: set[str] = set()
        self.foreign: set[str] = set()
        self._names = stored_names()
        self._arrays: list[AnyArray] = []
        # Numbers by object id; the objects are kept alive so that no id is reused.
        self._places: dict[int, tuple[Any, Any]] = {}
        self._trees: dict[tuple[int, ...], list[Any]] = {}
        self._boosted: list[Any] = []

    def file(self, header: Any, content: dict[str, Any]) -> bytes:
        """Describe a model, and pack the description with its arrays."""
        described = {name: self._encoded(part) for name, part in content.items()}
        if self.refused:
            raise ValueError(
                f"This model cannot be saved: it holds {', '.join(sorted(self.refused))}. Model "
                "files take estimators; replace functions by named settings and set memory=None."
            )
        trees = [
            [n_features, n_classes, self._block(tree_block(trees))]
            for (n_features, *n_classes), trees in self._trees.items()
        ]
        predictors = self._boosted and self._block(predictor_block(self._boosted))
        table, arrays = array_bytes(self._arrays)
        blocks = {"trees": trees, "predictors": predictors or None, "arrays": table}
        return packed(header, {"content": described, **blocks}, arrays)

    def _encoded(self, item: Any) -> Any:
        kind = type(item)
        if item is None or kind in (bool, int, float, str):
            return item
        if kind is list:
            return [self._encoded(one) for one in item]
        if kind in _PARTS:
            tag, parts = _PARTS[kind]
            return {tag: self._encoded(parts(item))}
        if isinstance(item, np.dtype):
            return {"dtype": item.str}
        if isinstance(item, np.ndarray | np.generic):
            return self._numbers(item)
        if kind.__name__ in SPARSE and sparse.issparse(item):
            content = [item.data, item.indices, item.indptr, list(item.shape)]
            return {"sparse": kind.__name__, "parts": self._encoded(content)}
        if full_name(kind) in (TREE, PREDICTOR):
            return self._tree(item)
        if isinstance(item, _NAMED + _FUNCTIONS):
            return self._named(item)
        return self._object(item)

    def _numbers(self, item: Any) -> Any:
        if item.dtype == object:
            return {"objects": [self._encoded(one) for one in item.flat], "shape": item.shape}
        if item.dtype.names is not None or type(item) not in (np.ndarray, item.dtype.type):
            self.refused.add(full_name(type(item)))
        tag = "array" if isinstance(item, np.ndarray) else "scalar"
        return {tag: self._stored(np.asarray(item))}

    def _stored(self, array: AnyArray) -> int:
        """Return the number of an array, which is stored once however often it is used."""
        if id(array) not in self._places:
            self._places[id(array)] = array, len(self._arrays)
            self._arrays.append(array)
        place: int = self._places[id(array)][1]
        return place

    def _block(self, block: dict[str, AnyArray]) -> dict[str, int]:
        return {name: self._stored(array) for name, array in block.items()}

    def _tree(self, item: Any) -> Any:
        """Add a tree to the block of its columns and classes, and return its number there."""
        tag, number, block = "predictor", 0, self._boosted
        if full_name(type(item)) == TREE:
            key = item.n_features, *item.n_classes.tolist()
            block = self._trees.setdefault(key, [])
            tag, number = "tree", list(self._trees).index(key)
        if id(item) not in self._places:
            self._places[id(item)] = item, [number, len(block)]
            block.append(item)
        return {tag: self._places[id(item)][1]}

    def _named(self, item: Any) -> Any:
        """Name a type or a function; of partial functions only the check of boosting's input."""
        if isinstance(item, partial) and item.func is located(CHECK) and not item.args:
            return {"check_array": self._encoded(item.keywords)}
        named = getattr(item, "func", item)
        # Functions of NumPy and SciPy do not know their module in every release.
        homes = [getattr(named, "__module__", None), "numpy", "scipy.special"]
        names = [f"{home}.{getattr(named, '__name__', '?')}" for home in homes if home]
        name = next((one for one in names if _is_found(one, named)), names[0])
        if not isinstance(item, _NAMED) or not _is_found(name, item):
            self.refused.add(name)
        elif name not in TYPES:
            self.foreign.add(name)
        return {"type": name}

    def _object(self, item: Any) -> Any:
        kind = type(item)
        name = self._names.get(kind, full_name(kind))
        made, args, state, entries, items = (*item.__reduce_ex__(2), *[None] * 3)[:5]
        if isinstance(state, dict):
            left_out = LEFT_OUT.get(name, ())
            state = {key: value for key, value in state.items() if key not in left_out}
        node = {"class": name, "state": self._encoded(state)}
        if name in STORED_NAMES:
            return node
        self.foreign.add(name)
        possible = (made is kind or (args and args[0] is kind)) and entries is None
        if name == _CACHE or not possible or not _is_found(name, kind):
            self.refused.add(name)
            return None
        node["called"], node["args"] = made is kind, self._encoded([*args][made is not kind :])
        return {**node, "items": self._encoded([[*pair] for pair in items or ()])}


def _is_found(name: str, item: Any) -> bool:
    """Return whether importing a name gives the item."""
    try:
        return located(name) is item
    except (ImportError, AttributeError, ValueError):
        return False


def save_model(
    model: Any,
    path: str | os.PathLike[str],
    *,
    baseline: Any = None,
    metadata: Mapping[str, Any] | None = None,
    labels: tuple[str, str] | tuple[int, int] | None = None,
) -> None:
    """Write a fitted model to a file; a failure leaves no partial file.

    `load_model` loads estimators of this library, and the scikit-learn classes that they and the
    command line use, without further arguments. Other classes, such as your own base estimator, are
    stored too; a warning names those that `load_model` must be told to trust.

    Parameters
    ----------
    model : estimator
        A fitted estimator, or a scikit-learn pipeline that ends in one.
    path : str or Path
        The file to write; an existing file is replaced.
    baseline : estimator, default=None
        A model to compare with, stored in the same file.
    metadata : mapping, default=None
        Values that JSON can hold.
    labels : (label, label), default=None
        For a model of the classes 0 and 1: two texts or two whole numbers that `SavedModel.predict`
        returns instead.

    Raises
    ------
    TypeError
        If the path is the first argument.
    ValueError
        If the model holds something that cannot be stored safely, such as a function.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import make_classification
    >>> from aucuba import PartialAUCClassifier
    >>> from aucuba.persistence import load_model, save_model
    >>> X, y = make_classification(200, random_state=0)
    >>> model = PartialAUCClassifier((0.0, 0.2)).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(model, f"{folder}/model.aucuba", metadata={"about": "a test"})
    ...     saved = load_model(f"{folder}/model.aucuba")
    >>> bool((saved.model.coef_ == model.coef_).all())
    True
    >>> saved.metadata
    {'about': 'a test'}
    """
    if isinstance(model, str | os.PathLike) or not isinstance(path, str | os.PathLike):
        raise TypeError(
            f"save_model got a {type(model).__name__} as model and a {type(path).__name__} as path; "
            "write save_model(model, path), the model first."
        )
    header = {
        "format": FORMAT,
        "versions": {
            "aucuba": aucuba.__version__,
            "scikit-learn": sklearn.__version__,
            "python": platform.python_version(),
        },
        "metadata": dict(metadata or {}),
        "labels": None if labels is None else list(labels),
    }
    encoder = _Encoder()
    try:
        content = encoder.file(header, {"model": model, "baseline": baseline})
    except RecursionError:
        raise ValueError("This model cannot be saved: a part of it contains itself.") from None
    with written_atomically(path) as draft:
        draft.write_bytes(content)
    if encoder.foreign:
        warn_user(
            f"The model holds classes that aucuba does not load by default. Load it with "
            f"load_model({str(path)!r}, trusted={sorted(encoder.foreign)}).",
        )
