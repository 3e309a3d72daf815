"""A model file on disk: a zip archive of a header, a description of objects, and arrays."""

from __future__ import annotations

import io
import json
import math
import os
import re
import zipfile
from collections.abc import Iterable
from typing import Any

import numpy as np

from aucuba._base._typing import AnyArray

FORMAT = 1
HEADER, DESCRIPTION, ARRAYS = "aucuba.json", "model.json", "arrays.bin"
# Arrays start at multiples of this.
_ALIGNMENT = 8
_DTYPE = re.compile(r"[<>|][biufcSUMm]\d{1,6}(\[\w{1,6}\])?")
# No real row or column is longer; an array without entries could claim any length at no cost.
_LONGEST = 2**31
_LAST_CHARACTER = 0x10FFFF
# Python objects take at most this many times the memory of their description.
_BYTES_PER_LETTER, _BYTES_PER_OBJECT = 100, 10_000


class DamagedFileError(ValueError):
    """Error for a model file with content that this library would not have written."""


def demand(condition: Any, otherwise: str = "an array of the wrong shape") -> None:
    """Raise `DamagedFileError` unless a condition holds."""
    if not condition:
        raise DamagedFileError(otherwise)


def packed(header: Any, description: Any, arrays: bytes) -> bytes:
    """Pack a model into an archive."""
    buffer = io.BytesIO()
    entries: dict[str, Any] = {
        HEADER: json.dumps(header),
        DESCRIPTION: json.dumps(description, separators=(",", ":")),
        ARRAYS: arrays,
    }
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in entries.items():
            # ZipInfo has a fixed date, so that equal models give equal files.
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def check_size(archive: zipfile.ZipFile, path: str | os.PathLike[str], max_size: int) -> None:
    """Refuse an archive that would unpack to more than ``max_size`` bytes."""
    size = sum(entry.file_size for entry in archive.infolist())
    if size > max_size:
        raise ValueError(
            f"{path} unpacks to {size / 1e6:.0f} MB, more than the limit of {max_size / 1e6:.0f} MB. "
            "If you trust its source, load it in Python with "
            f"load_model(path, max_size={size})."
        )


def read_header(content: bytes) -> dict[str, Any]:
    """Read the header of a model file, and check its keys and types."""
    given = json.loads(content)
    header = {"format": given["format"], "metadata": {}, "versions": {}, "labels": None, **given}
    demand(type(header["format"]) is int and header["format"] >= 1, "no format")
    tables = header["metadata"], header["versions"]
    demand(all(isinstance(one, dict) for one in tables), "no metadata")
    labels = header["labels"]
    pairs = [str, str], [int, int]
    demand(labels is None or [type(one) for one in labels] in pairs, "no labels")
    demand(all(str(text).isprintable() for text in header["versions"].values()), "no versions")
    return header


def unpacked(archive: zipfile.ZipFile, max_size: int) -> tuple[dict[str, Any], bytes]:
    """Read the description and the bytes of the arrays."""
    for name in archive.namelist():
        demand(name in (HEADER, DESCRIPTION, ARRAYS), f"an entry of the name {name!a}")
    demand(len(archive.namelist()) == 3, "entries of one name")
    try:
        text, arrays = archive.read(DESCRIPTION), archive.read(ARRAYS)
    # A damaged archive can raise any kind of error.
    except Exception as error:
        raise DamagedFileError(f"in an entry, {type(error).__name__}") from None
    n_objects = text.count(b"[") + text.count(b"{")
    small = len(text) * _BYTES_PER_LETTER <= max_size and n_objects * _BYTES_PER_OBJECT <= max_size
    demand(small, f"{n_objects} objects, more than max_size={max_size} allows")
    description = json.loads(text)
    demand(type(description) is dict, "no description")
    return description, arrays


def array_bytes(arrays: Iterable[AnyArray]) -> tuple[list[list[Any]], bytes]:
    """Return the types and shapes of arrays, and their bytes one after the other."""
    table, parts = [], []
    for array in arrays:
        table.append([array.dtype.str, list(array.shape)])
        content = array.tobytes()
        parts += [content, bytes(-len(content) % _ALIGNMENT)]
    return table, b"".join(parts)


def is_dtype(text: Any) -> bool:
    """Return whether a text names a type of numbers, text or dates."""
    return type(text) is str and _DTYPE.fullmatch(text) is not None


def read_arrays(table: Any, content: bytes) -> list[AnyArray]:
    """Read all arrays, whose types and shapes must account for every byte."""
    arrays, start = [], 0
    for kind, shape in table:
        demand(is_dtype(kind), "an array of an unknown type")
        dtype = np.dtype(kind)
        lengths = all(type(length) is int and 0 <= length < _LONGEST for length in shape)
        demand(lengths and len(shape) <= 32 and dtype.itemsize > 0, "an array of an unknown shape")
        size = math.prod(shape)
        stop = start + size * dtype.itemsize
        demand(stop <= len(content), "an array of the wrong size")
        flat = np.frombuffer(content, dtype, size, start)
        if dtype.kind == "b":
            # Compiled code relies on the bytes 0 and 1.
            flat = flat.view(np.uint8) != 0
        elif dtype.kind == "U":
            letters = np.frombuffer(content, dtype.str[0] + "u4", (stop - start) // 4, start)
            demand(letters.max(initial=0) <= _LAST_CHARACTER, "text of unknown characters")
        # A writable copy, in the byte order of this machine.
        arrays.append(flat.astype(dtype.newbyteorder("=")).reshape(shape))
        start = stop + -stop % _ALIGNMENT
    demand(start == len(content), "bytes that belong to no array")
    return arrays
