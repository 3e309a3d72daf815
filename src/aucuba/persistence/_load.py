"""Load a model: check the file before any object is built, and each object before it is used."""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from scipy import sparse
from sklearn.exceptions import InconsistentVersionWarning

import aucuba
from aucuba._base._typing import AnyArray
from aucuba._base._warnings import warn_user
from aucuba.persistence._archive import (
    FORMAT,
    HEADER,
    DamagedFileError,
    check_size,
    demand,
    is_dtype,
    read_arrays,
    read_header,
    unpacked,
)
from aucuba.persistence._names import (
    CHECK,
    SPARSE,
    STORED_NAMES,
    TYPES,
    full_name,
    located,
    stored_names,
)
from aucuba.persistence._rules import check_object
from aucuba.persistence._saved_model import SavedModel
from aucuba.persistence._trees import check_range, predictors_of, trees_of

_MAX_SIZE = 2**30
_CHECK_SETTINGS = {"dtype", "ensure_all_finite"}
_LARGEST_POOL = 64
Node = dict[str, Any]
# How to make plain Python values from their parts, by tag.
_FROM_PARTS: dict[Any, Callable[[Any], Any]] = {
    "dict": lambda parts: dict(zip(parts[::2], parts[1::2], strict=True)),
    "tuple": tuple,
    "set": set,
    "slice": lambda parts: slice(*parts),
    "bytes": lambda content: content.tobytes(),
    "bytearray": lambda content: bytearray(content.tobytes()),
}


def _names_in(description: Any) -> Iterator[str]:
    """Yield the names of all classes and functions in a description."""
    waiting: list[Any] = [description]
    while waiting:
        item = waiting.pop()
        if type(item) is dict:
            yield from (str(item[tag]) for tag in ("class", "type") if tag in item)
            waiting.extend(item.values())
        elif type(item) is list:
            waiting.extend(item)


class _Decoder:
    """Arrays and trees of a file, and the objects built from them."""

    def __init__(self, description: Node, content: bytes) -> None:
        self._arrays = read_arrays(description["arrays"], content)
        self._trees = [
            trees_of(n_features, n_classes, self._block(block))
            for n_features, n_classes, block in description["trees"]
        ]
        block = description["predictors"]
        self._boosted = [] if block is None else predictors_of(self._block(block))

    def built(self, node: Any) -> Any:
        """Build the value that a node describes; all names in it are known or trusted."""
        kind = type(node)
        if kind is list:
            return [self.built(one) for one in node]
        if kind is not dict:
            return node
        tag = next(iter(node), None)
        if tag in _FROM_PARTS:
            return _FROM_PARTS[tag](self.built(node[tag]))
        make = getattr(self, f"_build_{tag}", None)
        demand(make is not None, "an unknown kind of object")
        return make(node[tag], node)  # type: ignore[misc]

    def _block(self, block: Node) -> dict[str, AnyArray]:
        return {name: self._build_array(place) for name, place in block.items()}

    def _build_array(self, place: Any, node: Any = None) -> AnyArray:
        """Return an array by its number; several parts of a model may share it."""
        demand(type(place) is int and 0 <= place < len(self._arrays), "a missing array")
        found: AnyArray = self._arrays[place]
        return found

    def _build_scalar(self, place: Any, node: Node) -> Any:
        array = self._build_array(place)
        demand(array.ndim == 0)
        return array[()]

    def _build_objects(self, parts: Any, node: Node) -> AnyArray:
        found: AnyArray = np.empty(len(parts), dtype=object)
        for place, one in enumerate(parts):
            found[place] = self.built(one)
        return found.reshape(node["shape"])

    def _build_masked(self, parts: Any, node: Node) -> Any:
        values, mask = self.built(parts)
        demand(type(values) is type(mask) is np.ndarray and mask.dtype == bool)
        demand(values.shape == mask.shape)
        return np.ma.MaskedArray(values, mask)

    def _build_sparse(self, name: Any, node: Node) -> Any:
        *arrays, shape = self.built(node["parts"])
        demand(name in SPARSE and all(type(one) is np.ndarray and one.ndim == 1 for one in arrays))
        demand(all(type(size) is int and 0 <= size < 2**31 for size in shape))
        kinds = [one.dtype.kind for one in arrays]
        demand(kinds[0] in "biuf" and kinds[1:] == ["i", "i"], "an array of another type")
        # The constructor compares sizes; the check looks at every index.
        matrix = getattr(sparse, name)(tuple(arrays), shape=tuple(shape))
        matrix.check_format(full_check=True)
        return matrix

    def _build_dtype(self, name: Any, node: Node) -> Any:
        demand(name == "|O" or is_dtype(name), "an unknown type")
        return np.dtype(name)

    def _build_type(self, name: Any, node: Node) -> Any:
        found = located(name)
        demand(isinstance(found, type | np.ufunc), "another object in place of a type")
        return found

    def _build_check_array(self, parts: Any, node: Node) -> Any:
        settings, check = self.built(parts), located(CHECK)
        demand(set(settings) <= _CHECK_SETTINGS, "a function with unknown arguments")
        return partial(check, **settings)

    def _build_random_state(self, parts: Any, node: Node) -> np.random.RandomState:
        state, made = self.built(parts), np.random.RandomState()
        key, place = state["state"]["key"], state["state"]["pos"]
        demand(key.shape == (624,) and key.dtype == np.uint32 and type(place) is int)
        check_range(np.array([place]), 625)
        made.set_state(state)
        return made

    def _build_generator(self, parts: Any, node: Node) -> np.random.Generator:
        state, seeds = self.built(parts)
        known = state["bit_generator"] == "PCG64" and 0 < int(seeds["pool_size"]) <= _LARGEST_POOL
        demand(known, "an unknown source of random numbers")
        made = np.random.PCG64(np.random.SeedSequence(**seeds))
        made.state = state
        return np.random.Generator(made)

    def _build_tree(self, places: Any, node: Node) -> Any:
        block, place = places
        demand(type(block) is type(place) is int and block >= 0 <= place, "a missing tree")
        return self._trees[block][place] if "tree" in node else self._boosted[place]

    _build_predictor = _build_tree

    def _build_class(self, name: Any, node: Node) -> Any:
        """Build an object without its constructor, unless the user trusts its class."""
        state = self.built(node.get("state"))
        kind: Any = located(STORED_NAMES.get(name, name))
        demand(isinstance(kind, type), "another object in place of a class")
        if name in STORED_NAMES:
            demand(node.keys() <= {"class", "state"}, "an object of an unknown form")
            if hasattr(kind, "__dataclass_fields__"):
                # Its constructor checks its arguments.
                return kind(**state or {})
            made = kind.__new__(kind)
        else:
            args = self.built(node["args"])
            made = kind(*args) if node["called"] else kind.__new__(kind, *args)
            for key, value in self.built(node["items"]):
                made[key] = value
            name = stored_names().get(kind, name)
        if state is not None and hasattr(made, "__setstate__"):
            made.__setstate__(state)
        elif state is not None:
            vars(made).update(state)
        if name.startswith(("aucuba.", "sklearn.")) and hasattr(made, "__dict__"):
            check_object(made, name)
        return made


def load_model(
    path: str | Path, *, trusted: Iterable[str | type] = (), max_size: int = _MAX_SIZE
) -> SavedModel:
    """Read a model file.

    Nothing in the file is executed. A file that is not a model file, is damaged, has another format
    or contains foreign classes is refused before any object is built. Arrays and trees are then
    compared with the number of features of their model, so that no prediction reads out of bounds.

    Parameters
    ----------
    path : str or Path
    trusted : iterable of str or type, default=()
        Classes to build besides those of this library and the scikit-learn classes it uses, such as
        your own base estimator; `save_model` names them. What a trusted class does when it is built
        or used is not checked, so name only classes that you expect in the file.
    max_size : int, default=2**30
        Bytes that the file may unpack to.

    Returns
    -------
    SavedModel

    Raises
    ------
    ValueError
        If the file is refused; the message says why and what to do.

    Warns
    -----
    UserWarning
        If parts of the model were fitted by another release of scikit-learn.
    """
    path = Path(path)
    if not path.is_file():
        raise ValueError(f"There is no model file {path}.")
    given = [trusted] if isinstance(trusted, str | type) else trusted
    names = frozenset(one if isinstance(one, str) else full_name(one) for one in given)
    header, description, arrays = _entries(path, max_size)
    foreign = sorted(set(_names_in(description)) - names - TYPES - STORED_NAMES.keys())
    if foreign:
        raise ValueError(
            f"{path} holds classes that aucuba does not load by default; nothing was loaded. If you "
            "trust its source, load it in Python with "
            f"load_model(path, trusted={foreign})."
        )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            demand(set(description["content"]) == {"model", "baseline"}, "no model")
            decoder = _Decoder(description, arrays)
            content = {name: decoder.built(node) for name, node in description["content"].items()}
        # A crafted description can fail in any way; the user only needs to know that it is damaged.
        except Exception as error:
            raise _damaged(path, error, header["versions"]) from error
    if any(issubclass(warning.category, InconsistentVersionWarning) for warning in caught):
        _warn_about_release(path, header["versions"])
    return SavedModel(
        content["model"],
        content["baseline"],
        header["metadata"],
        header["versions"],
        None if header["labels"] is None else tuple(header["labels"]),
    )


def _entries(path: Path, max_size: int) -> tuple[dict[str, Any], dict[str, Any], bytes]:
    """Read the header, the description and the bytes of a file of the current format."""
    foreign = ValueError(
        f"{path} is not a model file of aucuba, or only part of one. Give a file written by "
        "`aucuba fit` or `save_model`; nothing was loaded."
    )
    try:
        archive = zipfile.ZipFile(path)
    except Exception as error:
        raise foreign from error
    with archive:
        check_size(archive, path, max_size)
        try:
            header = read_header(archive.read(HEADER))
        except Exception as error:
            raise foreign from error
        if header["format"] > FORMAT:
            raise ValueError(
                f"{path} was written by aucuba {header['versions'].get('aucuba', '?')} in format "
                f"{header['format']}; this is aucuba {aucuba.__version__}, which reads format "
                f"{FORMAT}. Upgrade aucuba."
            )
        try:
            return header, *unpacked(archive, max_size)
        except Exception as error:
            raise _damaged(path, error) from None


def _damaged(path: Path, error: Exception, versions: Mapping[str, str] | None = None) -> ValueError:
    """Make the error for a damaged file, or for an intact one that this release cannot read."""
    detail = str(error) if isinstance(error, DamagedFileError) else type(error).__name__
    writer = (versions or {}).get("scikit-learn", sklearn.__version__)
    if isinstance(error, DamagedFileError) or writer == sklearn.__version__:
        remedy = "Nothing was loaded; copy the file again or fit the model again."
        return ValueError(f"{path} is damaged ({detail}). {remedy}")
    return ValueError(
        f"{path} is damaged ({detail}), or scikit-learn {sklearn.__version__} cannot read what "
        f"scikit-learn {writer} wrote. Nothing was loaded; copy the file again, load it with that "
        "release, or fit the model again."
    )


def _warn_about_release(path: Path, versions: dict[str, str]) -> None:
    warn_user(
        f"{path} was fitted with scikit-learn {versions.get('scikit-learn', 'of another release')}; "
        f"this is scikit-learn {sklearn.__version__}, which does not promise the same scores. Compare "
        "them on known rows, or fit the model again.",
    )
