import numpy as np
import pytest

from aucuba.design import TableDesign
from aucuba.solvers import _planes as module
from aucuba.solvers._planes import Planes, Tangent

DESIGN = TableDesign(np.eye(3))


def four_planes():
    """The bound, the plane at zero, one that is never needed, and one that always is."""
    planes = Planes(3, 0.0, 1.0)
    add(planes, np.array([[0.1, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]), [-50.0, -100.0, 5.0])
    return planes


def add(planes, slopes, offsets):
    """Add planes given by their slopes: the design is the identity."""
    planes.add(
        DESIGN, [Tangent(0.0, slope, b, 1.0) for slope, b in zip(slopes, offsets, strict=True)]
    )


@pytest.mark.parametrize("n_solved", [2, 3])
def test_a_plane_long_idle_makes_room_but_never_the_first_two(monkeypatch, n_solved):
    monkeypatch.setattr(module, "_PATIENCE", 3)
    monkeypatch.setattr(module, "_FIRST_ROOM", 6)
    planes = four_planes()
    for _ in range(n_solved):
        planes.minimise(DESIGN)
    add(planes, np.array([[1.0, 1.0, 0.0]]), [0.5])
    assert planes.size == 5
    add(planes, np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 1.0]]), [0.25, 0.125])
    kept = [0.0, -50.0, -100.0, 5.0, 0.5, 0.25, 0.125]
    np.testing.assert_array_equal(planes.offsets, kept if n_solved == 2 else kept[:2] + kept[3:])
    np.testing.assert_array_equal(planes.gram, planes.slopes @ planes.slopes.T)
    assert planes.value_at_zero == -50.0
    assert planes.dual.sum() == pytest.approx(1.0)


def test_the_lower_bound_is_the_minimum_over_the_planes():
    planes = four_planes()
    minimum = planes.minimise(DESIGN)
    model = minimum.model
    height = max(planes.slopes @ model + planes.offsets)
    assert minimum.value == pytest.approx(model @ model / 2 + height)
    assert 0 < minimum.value - minimum.lower_bound < 1e-12


def test_the_target_minimises_the_planes_near_a_centre():
    rng = np.random.default_rng(0)
    planes = four_planes()
    add(planes, rng.normal(size=(3, 3)), rng.normal(size=3))

    def value(w, stiffness=0.0):
        held = stiffness / 2 * (w - centre) @ (w - centre)
        return w @ w / 2 + max(planes.slopes @ w + planes.offsets) + held

    for stiffness in (0.1, 1.0, 10.0):
        centre = rng.normal(size=3)
        planes.set_centre(DESIGN, centre)
        target = planes.near(DESIGN, centre, stiffness)
        np.testing.assert_allclose(target.products, planes.slopes @ target.model, atol=1e-12)
        assert target.value == pytest.approx(value(target.model))
        assert target.minimum.value <= planes.minimise(DESIGN).value + 1e-12
        for _ in range(100):
            other = target.model + rng.normal(size=3) * rng.choice([0.01, 1.0])
            assert value(other, stiffness) >= value(target.model, stiffness) - 1e-9


def test_planes_for_another_C_are_a_copy():
    planes = four_planes()
    planes.minimise(DESIGN)
    other = planes.rescaled(10.0)
    assert other.dual.sum() == pytest.approx(10.0)
    assert planes.rescaled(1.0) is planes
    add(other, np.ones((1, 3)), [1.0])
    assert (planes.size, other.size) == (4, 5)
    assert planes.dual.sum() == pytest.approx(1.0)


def test_a_plane_that_carries_the_bound_is_never_dropped(monkeypatch):
    monkeypatch.setattr(module, "_PATIENCE", 1)
    monkeypatch.setattr(module, "_FIRST_ROOM", 6)
    planes = four_planes()
    planes.minimise(DESIGN)
    carrier = planes.offsets[planes.dual > 0]
    # Far along a plane that was never needed, only that one is used near the centre.
    far = np.array([0.0, 500.0, 0.0])
    planes.set_centre(DESIGN, far)
    for _ in range(3):
        planes.near(DESIGN, far, 1e6)
    add(planes, np.ones((3, 3)), [0.1, 0.2, 0.3])
    assert set(carrier) <= set(planes.offsets)
    assert planes.dual.sum() == pytest.approx(1.0)
    planes.minimise(DESIGN)


def test_a_centre_that_moves_keeps_its_products_with_all_planes():
    rng = np.random.default_rng(1)
    planes, centre = four_planes(), rng.normal(size=3)
    planes.set_centre(DESIGN, centre)
    for place in (0.3, 1.0, 0.0, 2.0):
        target = planes.near(DESIGN, centre, 1.0)
        planes.move_centre(place, target)
        centre = centre + place * (target.model - centre)
        planes.add(DESIGN, [Tangent(0.0, rng.normal(size=3), 0.1, 1.0)], DESIGN.scores(centre))
        moved = planes.near(DESIGN, centre, 1.0).model
        planes.set_centre(DESIGN, centre)
        np.testing.assert_allclose(moved, planes.near(DESIGN, centre, 1.0).model, atol=1e-9)
    free = planes.free(DESIGN)
    np.testing.assert_allclose(free.products, planes.slopes @ free.model, atol=1e-12)
