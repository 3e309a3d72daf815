"""Losses for networks: values and gradients against the risks, the bank, and a small network."""

import numpy as np
import pytest

from aucuba.metrics import aum_score, partial_auc_score
from aucuba.risks import Labels, RankWeights, SmoothRamp, TightHinge

torch = pytest.importorskip("torch", reason="torch is not installed")

from aucuba.objectives.torch import AUMLoss, PartialAUCLoss  # noqa: E402

RANGE = (0.1, 0.6)


def batch(seed=0, n_rows=30):
    rng = np.random.default_rng(seed)
    target = torch.as_tensor((np.arange(n_rows) % 3 == 0).astype(float))
    return torch.as_tensor(rng.normal(size=n_rows)).requires_grad_(), target


@pytest.mark.parametrize("surrogate", ["tight", "direct"])
def test_without_a_bank_it_is_the_risk(surrogate):
    scores, target = batch()
    loss = PartialAUCLoss(RANGE, surrogate=surrogate, bank_size=0)
    labels, ranks = Labels(target.numpy() > 0), RankWeights.from_range(RANGE)
    risk = (
        TightHinge(labels, ranks) if surrogate == "tight" else SmoothRamp(labels, ranks, width=1.0)
    )
    value, gradient = risk.value_and_gradient(scores.detach().numpy())
    result = loss(scores, target)
    result.backward()
    assert result.item() == pytest.approx(value)
    assert scores.grad.numpy() == pytest.approx(gradient)
    assert torch.autograd.gradcheck(lambda s: loss(s, target), scores, atol=1e-4)


def test_the_bank_is_ranked_with_the_batch_and_gradients_are_rescaled():
    old, old_target = batch(1, 60)
    new, target = batch(2, 15)
    loss = PartialAUCLoss(RANGE)
    loss.remember(old, old_target)
    result = loss(new, target)
    result.backward()
    labels = Labels(torch.cat([target, old_target]).numpy() > 0)
    both = torch.cat([new, old]).detach().numpy()
    value, gradient = TightHinge(labels, RankWeights.from_range(RANGE)).value_and_gradient(both)
    assert result.item() == pytest.approx(value)
    # 5 new of 25 positives, 10 new of 50 negatives.
    assert new.grad.numpy() == pytest.approx(5 * gradient[:15])
    assert loss.n_negatives_in_range == pytest.approx(25.0)


def test_the_bank_keeps_the_latest_scores_in_training_only():
    loss = PartialAUCLoss(RANGE, bank_size=12)
    for seed in range(3):
        scores, target = batch(seed)
        loss(scores, target)
    assert loss.negatives.tolist() == scores.detach()[target == 0][-12:].tolist()
    assert loss.positives.numel() == 12
    loss.eval()
    loss(*batch(7))
    assert loss.negatives.tolist() == scores.detach()[target == 0][-12:].tolist()
    other = PartialAUCLoss(RANGE, bank_size=12)
    other.load_state_dict(loss.state_dict())
    assert other.negatives.tolist() == loss.negatives.tolist()
    loss.reset()
    assert loss.negatives.numel() == loss.positives.numel() == 0


def test_a_range_that_no_negative_covers_is_an_error():
    scores, target = batch()
    loss = PartialAUCLoss((0.0, 0.02))
    with pytest.raises(ValueError, match=r"holds 0\.4 of the 20 negatives.*At least 50"):
        loss(scores, target)
    loss.remember(*batch(1, 90))
    assert loss(scores, target).item() > 0
    assert loss.n_negatives_in_range == pytest.approx(0.02 * 80)


def test_a_batch_without_positives_has_no_gradient():
    scores = torch.randn(30, requires_grad=True)
    for loss in (PartialAUCLoss(RANGE), AUMLoss()):
        result = loss(scores, torch.zeros(30))
        result.backward()
        assert result.item() == 0.0
    assert torch.all(scores.grad == 0.0)


def test_aum_is_the_metric_and_its_gradient_is_right():
    scores, target = batch(3)
    loss = AUMLoss()
    assert loss(scores, target).item() == pytest.approx(
        aum_score(target.numpy(), scores.detach().numpy())
    )
    assert torch.autograd.gradcheck(lambda s: loss(s, target), scores)


@pytest.mark.parametrize("loss", [PartialAUCLoss(RANGE), AUMLoss()])
def test_bad_input(loss):
    with pytest.raises(ValueError, match="3 scores for 2 targets"):
        loss(torch.zeros(3), torch.zeros(2))
    with pytest.raises(ValueError, match="NaN or infinite"):
        loss(torch.tensor([0.0, float("nan")]), torch.tensor([0, 1]))
    with pytest.raises(ValueError, match="bank_size"):
        PartialAUCLoss(bank_size=-2)


@pytest.mark.parametrize("make_loss", [lambda: PartialAUCLoss((0.0, 0.2)), AUMLoss])
def test_a_small_network_learns(make_loss):
    generator = torch.Generator().manual_seed(0)
    X = torch.randn(600, 5, generator=generator)
    y = (X[:, 0] * X[:, 1] > 0.8).float()
    torch.manual_seed(0)
    network = torch.nn.Sequential(torch.nn.Linear(5, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
    loss, optimiser = make_loss(), torch.optim.Adam(network.parameters(), lr=0.02)
    for _ in range(15):
        for rows in torch.randperm(600, generator=generator).split(100):
            optimiser.zero_grad()
            loss(network(X[rows]), y[rows]).backward()
            optimiser.step()
    with torch.no_grad():
        scores = network(X)[:, 0].numpy()
    assert partial_auc_score(y.numpy(), scores, fpr_range=(0.0, 0.2)) > 0.5
