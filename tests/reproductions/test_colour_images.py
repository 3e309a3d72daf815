"""Readers of the sets that are not at hand, on files of their own."""

import numpy as np
import pytest

from reproductions.data.colour_images import load_cifar10, load_stl10
from reproductions.experiments import aum_figure5


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("AUCUBA_DATA", str(tmp_path))
    (tmp_path / "cifar10").mkdir()
    (tmp_path / "stl10").mkdir()
    return tmp_path


def write_cifar(home, batches):
    for k in range(5):
        (home / "cifar10" / f"data_batch_{k + 1}.bin").write_bytes(batches[k].tobytes())


def test_cifar10(home):
    rng = np.random.default_rng(0)
    batches = rng.integers(0, 256, (5, 3, 3073), dtype=np.uint8)
    batches[:, :, 0] %= 10
    write_cifar(home, batches)
    data = load_cifar10()
    np.testing.assert_array_equal(data.target, batches[:, :, 0].ravel())
    assert data.data.shape == (15, 3072)
    assert data.data[4, 7] == pytest.approx(batches[1, 1, 8] / 255)
    write_cifar(home, batches[:, :, :-1])
    with pytest.raises(ValueError, match="9216 bytes are not whole records of 3073 bytes"):
        load_cifar10()


def test_stl10(home):
    images = np.random.default_rng(0).integers(0, 256, (2, 27648), dtype=np.uint8)
    (home / "stl10" / "train_X.bin").write_bytes(images.tobytes())
    (home / "stl10" / "train_y.bin").write_bytes(bytes([1, 10]))
    data = load_stl10()
    np.testing.assert_array_equal(data.target, [0, 9])
    assert data.data[1, 5] == pytest.approx(images[1, 5] / 255)
    (home / "stl10" / "train_y.bin").write_bytes(bytes([1, 10, 2]))
    with pytest.raises(ValueError, match="3 classes for 2 images"):
        load_stl10()


def test_the_sets_run_where_their_files_are(home):
    settings = aum_figure5.EXPERIMENT.settings["full"]
    assert {cell[0] for cell in aum_figure5.cells(settings)} == {
        "MNIST",
        "Fashion-MNIST",
        "CIFAR10",
        "STL10",
    }
    (home / "stl10").rmdir()
    assert "STL10" not in {cell[0] for cell in aum_figure5.cells(settings)}
