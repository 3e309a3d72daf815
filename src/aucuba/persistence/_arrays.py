"""Arrays in a model file: their headers are read, and must match what follows, before they are."""

from __future__ import annotations

import io
import math
import zipfile

import numpy as np

from aucuba.persistence._errors import DamagedFileError

_READERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
_SPARSE_PARTS = {
    "data.npy",
    "format.npy",
    "indices.npy",
    "indptr.npy",
    "shape.npy",
    "_is_array.npy",
}
# No row or column is longer; more can only be an array without entries that costs nothing to claim.
_LONGEST = 2**31


def array_size(content: bytes) -> int:
    """Return the bytes of the array in an npy file, which must hold exactly what its header says."""
    stream = io.BytesIO(content)
    shape, _, dtype = _READERS[np.lib.format.read_magic(stream)](stream)
    size = math.prod(shape) * dtype.itemsize
    if dtype.hasobject or dtype.itemsize == 0:
        raise DamagedFileError("an array of objects")
    possible = all(0 <= length < _LONGEST for length in shape)
    if len(content) - stream.tell() != size or not possible:
        raise DamagedFileError("an array of another size than it says")
    return size


def sparse_size(content: bytes, max_size: int) -> int:
    """Return the bytes of a sparse matrix in an npz file, measured before they are unpacked."""
    with zipfile.ZipFile(io.BytesIO(content)) as parts:
        names = parts.namelist()
        size = sum(part.file_size for part in parts.infolist())
        if len(set(names)) < len(names) or not set(names) <= _SPARSE_PARTS or size > max_size:
            raise DamagedFileError("a sparse matrix of unknown parts")
        return sum(array_size(parts.read(name)) for name in names)
