"""Readers of the sets that are not at hand, on files of their own."""

import numpy as np
import pytest

from reproductions.data.colour_images import load_cifar10, load_cifar10_jpeg, load_stl10
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


def test_cifar10_from_jpeg(home):
    images = np.random.default_rng(0).integers(0, 256, (3, 32, 32, 3), dtype=np.uint8)
    path = home / "cifar10" / "test_4000.npz"
    np.savez(path, X=images, y=np.array([0, 3, 9]))
    data = load_cifar10_jpeg()
    np.testing.assert_array_equal(data.target, [0, 3, 9])
    # Colour by colour, then row by row.
    assert data.data[2, 1024 + 32 * 5 + 7] == pytest.approx(images[2, 5, 7, 1] / 255)
    np.savez(path, X=images, y=np.array([0, 3]))
    with pytest.raises(ValueError, match="for 2 classes"):
        load_cifar10_jpeg()


def test_the_sets_run_where_their_files_are(home):
    settings = aum_figure5.EXPERIMENT.settings["full"]
    assert {cell[0] for cell in aum_figure5.cells(settings)} == {aum_figure5.DIGITS}
    (home / "stl10" / "train_X.bin").write_bytes(b"")
    (home / "cifar10" / "test_4000.npz").write_bytes(b"")
    found = aum_figure5.cells(settings)
    assert {cell[0] for cell in found} == {"CIFAR10 (JPEG)", "STL10", aum_figure5.DIGITS}
    assert max(cell[2] for cell in found if cell[0] == aum_figure5.DIGITS) == 1_600
    assert max(cell[2] for cell in found if cell[0] == "CIFAR10 (JPEG)") == 3_200
