"""Load a model: check the file before any object is built, and the objects before they are used."""

from __future__ import annotations

import json
import warnings
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import sklearn
from sklearn.exceptions import InconsistentVersionWarning

import aucuba
from aucuba._base._warnings import warn_user
from aucuba.persistence._archive import (
    HEADER,
    SCHEMA,
    check_format,
    check_size,
    packed,
    read_header,
    unpacked,
)
from aucuba.persistence._errors import DamagedFileError, demand
from aucuba.persistence._left_out import complete
from aucuba.persistence._names import full_name, present_names
from aucuba.persistence._objects import check_part, parts_of
from aucuba.persistence._saved_model import SavedModel
from aucuba.persistence._schema import check_schema, foreign_nodes, name_of, nodes, present_form

_MAX_SIZE = 2**30


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
        Classes to build besides those of this library and those it uses of scikit-learn, such as
        your own base estimator; `save_model` names them. What a trusted class does when it is built
        or used is not checked, so name only classes that you know to be in the file.
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
    header, entries = _entries(path, max_size)
    try:
        schema = json.loads(entries[SCHEMA])
        foreign = sorted(foreign_nodes(schema, names))
    # A crafted schema can fail in any way; the user only needs to know that it is damaged.
    except Exception as error:
        raise _damaged(path, error) from error
    if foreign:
        raise ValueError(
            f"{path} holds classes that aucuba does not load by itself; nothing was loaded. If you "
            "know where the file comes from, load it in Python with "
            f"load_model(path, trusted={foreign})."
        )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            check_schema(schema, entries, max_size)
            content = _built(schema, entries)
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


def _entries(path: Path, max_size: int) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Read the header and all entries of a file of the current format."""
    foreign = ValueError(
        f"{path} is not a model file of aucuba, or only a part of one. Give a file written by "
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
        check_format(header, path, aucuba.__version__)
        try:
            return header, unpacked(archive)
        except DamagedFileError as error:
            raise _damaged(path, error) from None


def _built(schema: Any, entries: dict[str, bytes]) -> dict[str, Any]:
    """Build, complete and check the objects of a checked schema."""
    from skops import io

    text = json.dumps(present_form(schema)).encode()
    allowed = sorted({name_of(node) for node in nodes(schema)})
    arrays = {name: data for name, data in entries.items() if name not in (HEADER, SCHEMA)}
    content: dict[str, Any] = io.loads(packed({SCHEMA: text, **arrays}), trusted=allowed)
    stored = present_names()
    for part in parts_of(content):
        name = full_name(type(part))
        name = stored.get(name, name)
        complete(part, name)
        check_part(part, name)
    demand(set(content) == {"model", "baseline"}, "no model")
    return content


def _damaged(path: Path, error: Exception, versions: Mapping[str, str] | None = None) -> ValueError:
    """Make the error of a damaged file, or of an intact one that this release cannot read."""
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
