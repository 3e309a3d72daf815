"""MNIST and Fashion-MNIST from their original idx files."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
from sklearn.utils import Bunch

from aucuba._base._typing import AnyArray
from aucuba._base._validation import check_choice
from reproductions.data._home import data_file, reading

_PREFIX = {"train": "train", "test": "t10k"}


def load_mnist(part: str = "train", *, fashion: bool = False) -> Bunch:
    """Load 28 x 28 grey images of ten classes, as rows of pixels in [0, 1].

    Reads ``mnist`` or ``fashion_mnist`` in `reproductions.data.data_home`: the four files of the
    original distribution, such as ``train-images-idx3-ubyte.gz``.

    Parameters
    ----------
    part : {"train", "test"}, default="train"
        60,000 or 10,000 images.
    fashion : bool, default=False
        Fashion-MNIST instead of the digits.

    Returns
    -------
    Bunch
        ``data`` (float32, n x 784) and ``target`` (0 to 9).
    """
    prefix = _PREFIX[check_choice(part, "part", list(_PREFIX))]
    folder = "fashion_mnist" if fashion else "mnist"
    images = read_idx(data_file(folder, f"{prefix}-images-idx3-ubyte.gz"))
    target = read_idx(data_file(folder, f"{prefix}-labels-idx1-ubyte.gz"))
    data = images.reshape(images.shape[0], -1).astype(np.float32) / 255
    return Bunch(data=data, target=target.astype(np.intp))


def read_idx(path: Path) -> AnyArray:
    """Read the array of a gzipped idx file of unsigned bytes.

    Four bytes of magic (the third is the type, the fourth the number of axes), the axes as
    big-endian 32-bit integers, then the values.
    """
    with reading(path), gzip.open(path) as file:
        content = file.read()
        if content[:3] != b"\x00\x00\x08":
            raise ValueError(f"not an idx file of bytes: it starts with {content[:4]!r}")
        axes = content[3]
        shape = np.frombuffer(content, dtype=">u4", count=axes, offset=4).astype(int)
        values: AnyArray = np.frombuffer(content, dtype=np.uint8, offset=4 + 4 * axes)
        if values.size != shape.prod():
            raise ValueError(f"it holds {values.size} values, its header says {shape.tolist()}")
        return values.reshape(shape)
