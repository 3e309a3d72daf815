"""CIFAR10 and STL10 from their original binary files, and CIFAR10 from JPEG copies."""

from __future__ import annotations

import numpy as np
from sklearn.utils import Bunch

from reproductions.data._home import data_file, reading

_CIFAR_BATCHES = [f"data_batch_{k}.bin" for k in range(1, 6)]


def load_cifar10() -> Bunch:
    """Read the 50,000 training images of 32 x 32 pixels, as rows of values in [0, 1].

    Reads ``cifar10/data_batch_1.bin`` to ``data_batch_5.bin``: a byte of the class, then 1,024 bytes of
    red, green and blue each.
    """
    parts = []
    for name in _CIFAR_BATCHES:
        with reading(data_file("cifar10", name)) as path:
            parts.append(_records(np.fromfile(path, dtype=np.uint8), 1 + 3 * 1024))
    records = np.concatenate(parts)
    return Bunch(data=records[:, 1:].astype(np.float32) / 255, target=records[:, 0].astype(np.intp))


def load_cifar10_jpeg() -> Bunch:
    """Read 4,000 test images of CIFAR10, 400 per class, that went through JPEG, which loses detail.

    Reads ``cifar10/test_4000.npz``: ``X`` (4000, 32, 32, 3) and ``y``; rows are red, green, blue, as in
    the binary files.
    """
    with (
        reading(data_file("cifar10", "test_4000.npz")) as path,
        path.open("rb") as stream,
        np.load(stream) as file,
    ):
        images, target = file["X"], file["y"]
        if images.shape != (target.size, 32, 32, 3):
            raise ValueError(f"images of shape {images.shape} for {target.size} classes")
    data = images.transpose(0, 3, 1, 2).reshape(target.size, -1).astype(np.float32) / 255
    return Bunch(data=data, target=target.astype(np.intp))


def load_stl10() -> Bunch:
    """Read the 5,000 training images of 96 x 96 pixels, as rows of values in [0, 1].

    Reads ``stl10/train_X.bin`` (27,648 bytes per image) and ``train_y.bin`` (classes 1 to 10, which
    become 0 to 9).
    """
    with reading(data_file("stl10", "train_X.bin")) as path:
        images = _records(np.fromfile(path, dtype=np.uint8), 3 * 96 * 96)
    with reading(data_file("stl10", "train_y.bin")) as path:
        target = np.fromfile(path, dtype=np.uint8)
        if target.size != len(images):
            raise ValueError(f"{target.size} classes for {len(images)} images")
    return Bunch(data=images.astype(np.float32) / 255, target=target.astype(np.intp) - 1)


def _records(content: np.ndarray, size: int) -> np.ndarray:
    """Cut a file into records of one size."""
    if content.size == 0 or content.size % size:
        raise ValueError(f"{content.size} bytes are not whole records of {size} bytes")
    return content.reshape(-1, size)
