import numpy as np
import pytest

from aucuba.design import TableDesign
from aucuba.solvers import _planes as module
from aucuba.solvers._planes import Planes

DESIGN = TableDesign(np.eye(3))


def four_planes():
    """The bound, the plane at zero, one that is never needed, and one that always is."""
    slopes = np.array([[0.1, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    planes = Planes.empty(3, 0.0, 1.0)
    return planes.added(DESIGN, slopes, np.array([-50.0, -100.0, 5.0]))


def test_a_plane_long_idle_is_dropped_but_never_the_first_two(monkeypatch):
    monkeypatch.setattr(module, "_PATIENCE", 3)
    planes = four_planes()
    for _ in range(2):
        planes = planes.minimised()
    new = np.array([[1.0, 1.0, 0.0]])
    assert planes.added(DESIGN, new, np.array([0.5])).size == 5
    planes = planes.minimised().added(DESIGN, new, np.array([0.5]))
    np.testing.assert_array_equal(planes.offsets, [0.0, -50.0, 5.0, 0.5])
    np.testing.assert_array_equal(planes.gram, planes.slopes @ planes.slopes.T)
    assert planes.value_at_zero == -50.0


def test_a_plane_in_use_never_counts_as_idle(monkeypatch):
    monkeypatch.setattr(module, "_PATIENCE", 3)
    planes = four_planes()
    for _ in range(5):
        planes = planes.minimised()
    assert planes.idle[3] == 0
    np.testing.assert_array_equal(planes.idle[:3], 5)


def test_the_lower_bound_is_the_minimum_over_the_planes():
    planes = four_planes().minimised()
    model = planes.model
    height = max(planes.slopes @ model + planes.offsets)
    assert planes.dual_value == pytest.approx(model @ model / 2 + height)
    assert planes.norm2 == pytest.approx(model @ model)
