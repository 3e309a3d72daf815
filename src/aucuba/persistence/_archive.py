"""A model file on disk: a zip archive of a header, a schema and arrays, measured before use."""

from __future__ import annotations

import io
import json
import math
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from aucuba.persistence._errors import DamagedFileError, demand

FORMAT = 1
HEADER, SCHEMA = "aucuba.json", "schema.json"
_ARRAY_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
_SPARSE_PARTS = {
    *("data.npy", "format.npy", "indices.npy", "indptr.npy", "shape.npy", "_is_array.npy"),
}
# No real row or column is longer; an array without entries could claim any length for free.
_LONGEST = 2**31


def packed(entries: Mapping[str, bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    """Pack entries into an archive."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, content in entries.items():
            # ZipInfo has a fixed date, so that equal models give equal files.
            archive.writestr(zipfile.ZipInfo(name), content, compression)
    return buffer.getvalue()


def unpacked(archive: zipfile.ZipFile) -> dict[str, bytes]:
    """Read all entries; refuse duplicate names and wrong checksums."""
    entries: dict[str, bytes] = {}
    for name in archive.namelist():
        demand(name not in entries and name.isprintable(), f"an entry of the name {name!a}")
        try:
            entries[name] = archive.read(name)
        # Unpacking fails in as many ways as there are ways to damage an archive.
        except Exception:
            raise DamagedFileError(f"in {name}") from None
    return entries


def check_size(archive: zipfile.ZipFile, path: str | os.PathLike[str], max_size: int) -> None:
    """Refuse an archive that would unpack to more than ``max_size`` bytes."""
    size = sum(entry.file_size for entry in archive.infolist())
    if size > max_size:
        raise ValueError(
            f"{path} unpacks to {size / 1e6:.0f} MB, more than the limit of {max_size / 1e6:.0f} MB. "
            "If you know where it comes from, load it in Python with "
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


def check_format(header: Mapping[str, Any], path: Path, version: str) -> None:
    """Refuse files of a newer format than this release reads."""
    wanted, writer = header["format"], header["versions"].get("aucuba", "an unknown release")
    if wanted > FORMAT:
        raise ValueError(
            f"{path} was written by aucuba {writer} in format {wanted}; this is aucuba {version}, "
            f"which reads format {FORMAT}. Upgrade aucuba."
        )


def array_size(content: bytes) -> int:
    """Return the bytes of the array in an npy file, which must hold exactly what its header says."""
    stream = io.BytesIO(content)
    shape, _, dtype = _ARRAY_HEADERS[np.lib.format.read_magic(stream)](stream)
    size = math.prod(shape) * dtype.itemsize
    demand(not dtype.hasobject and dtype.itemsize > 0, "an array of objects")
    possible = all(0 <= length < _LONGEST for length in shape)
    demand(
        possible and len(content) - stream.tell() == size, "an array of another size than it says"
    )
    return size


def sparse_size(content: bytes, max_size: int) -> int:
    """Return the bytes of a sparse matrix in an npz file, measured before they are unpacked."""
    with zipfile.ZipFile(io.BytesIO(content)) as parts:
        names = parts.namelist()
        size = sum(part.file_size for part in parts.infolist())
        known = len(set(names)) == len(names) and set(names) <= _SPARSE_PARTS
        demand(known and size <= max_size, "a sparse matrix of unknown parts")
        return sum(array_size(parts.read(name)) for name in names)
