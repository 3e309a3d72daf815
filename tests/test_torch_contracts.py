"""Risks, Designs and solvers on torch tensors agree with NumPy, over the contract tests' lists."""

import numpy as np
import pytest

from aucuba.design import TableDesign
from aucuba.risks import Sample
from aucuba.solvers import BundleSolver, CuttingPlaneSolver, Status
from tests.contract_cases import CONVEX_RISKS, RISK_NAMES, random_labels, risks

torch = pytest.importorskip("torch")

from aucuba.design import TorchDesign  # noqa: E402

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
pytestmark = pytest.mark.parametrize("device", DEVICES)


def on_device(labels, device):
    weight = None if labels.weight is None else torch.as_tensor(labels.weight, device=device)
    return Sample(torch.as_tensor(labels.positive, device=device), weight)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", RISK_NAMES)
def test_risk_equals_numpy(name, weighted, device):
    rng = np.random.default_rng(0)
    for _ in range(5):
        labels = random_labels(rng, weighted=weighted)
        here, there = risks(labels)[name], risks(on_device(labels, device))[name]
        for scores in (rng.normal(size=30), rng.integers(4, size=30) / 2.0):
            value, gradient = here.value_and_gradient(scores)
            other, tensor = there.value_and_gradient(torch.as_tensor(scores, device=device))
            assert tensor.device.type == device
            assert tensor.dtype == torch.float64
            assert other == pytest.approx(value, rel=1e-9)
            np.testing.assert_allclose(tensor.cpu().numpy(), gradient, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_design_equals_numpy(dtype, device):
    rng = np.random.default_rng(1)
    X = torch.as_tensor(rng.normal(size=(50, 4)), device=device).to(getattr(torch, dtype))
    here, there = TableDesign(X.double().cpu().numpy()), TorchDesign(X)
    rtol = 1e-12 if dtype == "float64" else 2e-6
    model, gradient = rng.normal(size=4), rng.normal(size=50)
    tensor = torch.as_tensor(gradient, device=device)
    scores = there.scores(model)
    assert scores.dtype == torch.float64
    assert scores.device.type == device
    np.testing.assert_allclose(scores.cpu(), here.scores(model), rtol=rtol, atol=rtol)
    np.testing.assert_allclose(there.adjoint(tensor), here.adjoint(gradient), rtol=rtol, atol=rtol)
    both = there.adjoint([tensor, 2 * tensor])
    np.testing.assert_allclose(both, here.adjoint([gradient, 2 * gradient]), rtol=rtol, atol=rtol)
    two = there.scores(np.stack([model, -2 * model]))
    assert two.dtype == torch.float64
    np.testing.assert_allclose(
        two.cpu(), np.outer([1, -2], here.scores(model)), rtol=rtol, atol=rtol
    )
    weight = gradient**2
    np.testing.assert_allclose(
        there.gram(torch.as_tensor(weight, device=device)), here.gram(weight), rtol=rtol
    )
    exact = there.exact()
    np.testing.assert_allclose(exact.scores(model).cpu(), here.scores(model), rtol=1e-12)
    np.testing.assert_allclose(exact.adjoint(tensor), here.adjoint(gradient), rtol=1e-11)
    assert there.largest == here.largest
    rows = np.array([3, 1])
    np.testing.assert_array_equal(there.take(rows).some_rows(2), here.take(rows).X)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_parts_are_the_same_rows_later(dtype, device, monkeypatch):
    monkeypatch.setattr("aucuba.design._torch._BYTES_TO_WIDEN", 96)
    rng = np.random.default_rng(2)
    X = torch.as_tensor(rng.normal(size=(60, 4)), device=device).to(getattr(torch, dtype))
    first, second = rng.permutation(60)[:40], rng.permutation(40)[:30]
    here = TableDesign(X.double().cpu().numpy()).take(first).take(second)
    there = TorchDesign(X).take(first).take(second)
    # Tables in half precision are those that hardly fit.
    assert (there.X is X) == (dtype != "float32")
    assert there.n_rows == 30
    model, weight = rng.normal(size=4), rng.random(30)
    tensor = torch.as_tensor(weight, device=device)
    for design in (there, there.exact()):
        np.testing.assert_allclose(design.scores(model).cpu(), here.scores(model), rtol=1e-5)
        np.testing.assert_allclose(design.adjoint(tensor), here.adjoint(weight), rtol=1e-5)
        np.testing.assert_allclose(design.gram(tensor), here.gram(weight), rtol=1e-5)
    np.testing.assert_array_equal(there.some_rows(9), here.some_rows(9))


@pytest.mark.parametrize("solver", [BundleSolver, CuttingPlaneSolver])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", CONVEX_RISKS)
def test_solver_certifies_the_same_optimum(solver, dtype, name, device):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(30, 4)).astype(dtype)
    labels = random_labels(rng)
    here, there = risks(labels)[name], risks(on_device(labels, device))[name]
    expected = solver(C=3.0, tol=1e-5).solve(TableDesign(X), here)
    tensor = torch.as_tensor(X, device=device)
    found = solver(C=3.0, tol=1e-5).solve(TorchDesign(tensor), there)
    assert found.status in (Status.CONVERGED, Status.ZERO_AS_GOOD)
    assert isinstance(found.coef, np.ndarray)
    assert found.coef.dtype == np.float64
    # Both bounds are true, so each lies below the other's objective.
    assert found.lower_bound <= expected.objective + 1e-12
    assert expected.lower_bound <= found.objective + 1e-12
    assert found.gap <= 1e-5
    value = here.value_and_gradient(TableDesign(X.astype(np.float64)).scores(found.coef))[0]
    assert found.objective == pytest.approx(found.coef @ found.coef / 2 + 3.0 * value, rel=1e-12)


def test_products_do_not_follow_the_setting_for_tf32(device):
    X = torch.as_tensor(np.random.default_rng(3).normal(size=(64, 8)), dtype=torch.float32)
    design = TorchDesign(X.to(device))
    gradient = torch.ones(64, dtype=torch.float64, device=device) / 3.0
    plain = design.adjoint([gradient, gradient])
    torch.set_float32_matmul_precision("high")
    try:
        np.testing.assert_array_equal(design.adjoint([gradient, gradient]), plain)
        assert torch.get_float32_matmul_precision() == "high"
    finally:
        torch.set_float32_matmul_precision("highest")
