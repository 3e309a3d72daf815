import numpy as np
import pytest

from aucuba.design import TableDesign
from aucuba.solvers import _planes as module
from aucuba.solvers._planes import Planes, Tangent

DESIGN = TableDesign(np.eye(3))


def four_planes():
    """The bound, the plane at zero, one that is never needed, and one that always is."""
    slopes = np.array([[0.1, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    return added(Planes.empty(3, 0.0, 1.0), slopes, [-50.0, -100.0, 5.0])


def added(planes, slopes, offsets):
    """With planes given by their slopes: the design is the identity."""
    tangents = [Tangent(0.0, slope, b, 1.0, 1.0) for slope, b in zip(slopes, offsets, strict=True)]
    return planes.with_tangents(DESIGN, tangents)


def test_a_plane_long_idle_is_dropped_but_never_the_first_two(monkeypatch):
    monkeypatch.setattr(module, "_PATIENCE", 3)
    planes = four_planes()
    for _ in range(2):
        planes = planes.minimised(DESIGN)[0]
    new = np.array([[1.0, 1.0, 0.0]])
    assert added(planes, new, [0.5]).size == 5
    planes = added(planes.minimised(DESIGN)[0], new, [0.5])
    np.testing.assert_array_equal(planes.offsets, [0.0, -50.0, 5.0, 0.5])
    np.testing.assert_array_equal(planes.gram, planes.slopes @ planes.slopes.T)
    assert planes.value_at_zero == -50.0


def test_a_plane_in_use_never_counts_as_idle(monkeypatch):
    monkeypatch.setattr(module, "_PATIENCE", 3)
    planes = four_planes()
    for _ in range(5):
        planes = planes.minimised(DESIGN)[0]
    assert planes.idle[3] == 0
    np.testing.assert_array_equal(planes.idle[:3], 5)


def test_the_lower_bound_is_the_minimum_over_the_planes():
    planes, minimum = four_planes().minimised(DESIGN)
    model = minimum.model
    height = max(planes.slopes @ model + planes.offsets)
    assert minimum.value == pytest.approx(model @ model / 2 + height)
    assert 0 < minimum.value - minimum.lower_bound < 1e-12
