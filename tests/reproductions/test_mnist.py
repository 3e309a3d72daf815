"""The idx reader on files of its own, and the real images where they are."""

import gzip

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from reproductions.data.mnist import load_mnist, read_idx


def write_idx(path, array, magic=b"\x00\x00\x08"):
    shape = np.array(array.shape, dtype=">u4").tobytes()
    with gzip.open(path, "wb") as file:
        file.write(magic + bytes([array.ndim]) + shape + array.astype(np.uint8).tobytes())


def test_read_what_was_written(tmp_path, monkeypatch):
    images = np.random.default_rng(0).integers(0, 256, (5, 28, 28))
    (tmp_path / "fashion_mnist").mkdir()
    write_idx(tmp_path / "fashion_mnist" / "t10k-images-idx3-ubyte.gz", images)
    write_idx(tmp_path / "fashion_mnist" / "t10k-labels-idx1-ubyte.gz", np.arange(5))
    monkeypatch.setenv("AUCUBA_DATA", str(tmp_path))
    data = load_mnist("test", fashion=True)
    assert_array_equal(data.data, (images.reshape(5, 784) / np.float32(255)).astype(np.float32))
    assert_array_equal(data.target, np.arange(5))
    with pytest.raises(FileNotFoundError, match="AUCUBA_DATA"):
        load_mnist("test")
    with pytest.raises(ValueError, match="part must be one of"):
        load_mnist("validation")


def test_broken_files(tmp_path):
    write_idx(tmp_path / "floats.gz", np.zeros((2, 2)), magic=b"\x00\x00\x0d")
    with pytest.raises(ValueError, match="not an idx file"):
        read_idx(tmp_path / "floats.gz")
    content = b"\x00\x00\x08\x01" + np.array([5], dtype=">u4").tobytes() + b"123"
    with gzip.open(tmp_path / "short.gz", "wb") as file:
        file.write(content)
    with pytest.raises(ValueError, match="holds 3 values, its header says"):
        read_idx(tmp_path / "short.gz")


def test_real_images(data_dir):
    if not (data_dir / "mnist").is_dir():
        pytest.skip(f"no mnist in {data_dir}")
    data = load_mnist("test")
    assert data.data.shape == (10_000, 784)
    assert_array_equal(np.bincount(data.target)[:2], [980, 1135])
