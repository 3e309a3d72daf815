"""Losses for networks: values and gradients against the risks, the bank, and a small network."""

import copy

import numpy as np
import pytest

from aucuba._roc._region import RankWeights
from aucuba.metrics import aum_score, partial_auc_score
from aucuba.risks import Region, Sample, SmoothRamp, TightHinge, make_risk

torch = pytest.importorskip("torch")

from aucuba.objectives import AUMLoss, PartialAUCLoss  # noqa: E402

RANGE = (0.1, 0.6)


def batch(seed=0, n_rows=30):
    rng = np.random.default_rng(seed)
    target = torch.as_tensor((np.arange(n_rows) % 3 == 0).astype(float))
    return torch.as_tensor(rng.normal(size=n_rows)).requires_grad_(), target


@pytest.mark.parametrize("surrogate", ["tight", "direct"])
def test_without_a_bank_it_is_the_risk(surrogate):
    scores, target = batch()
    loss = PartialAUCLoss(RANGE, surrogate=surrogate, bank_size=0)
    labels, ranks = Sample(target.numpy() > 0), RankWeights.from_range(RANGE)
    risk = (
        TightHinge(labels, ranks) if surrogate == "tight" else SmoothRamp(labels, ranks, width=1.0)
    )
    value, gradient = risk.value_and_gradient(scores.detach().numpy())
    result = loss(scores, target)
    result.backward()
    assert result.item() == pytest.approx(value)
    assert scores.grad.numpy() == pytest.approx(gradient)
    assert torch.autograd.gradcheck(lambda s: loss(s, target), scores, atol=1e-4)


@pytest.mark.parametrize("fpr_range", [(0.0, 0.1), (0.04, 0.11), (0.0, 1.0)])
@pytest.mark.parametrize("n_levels", [2, 5, 40])
@pytest.mark.parametrize("surrogate", ["tight", "direct"])
def test_negatives_that_tie_with_the_last_one_that_counts_share_its_gradient(
    surrogate, n_levels, fpr_range
):
    rng = np.random.default_rng(0)
    target = torch.as_tensor((np.arange(400) % 4 == 0).astype(float))
    scores = torch.as_tensor(rng.integers(n_levels, size=400) / 5.0).requires_grad_()
    result = PartialAUCLoss(fpr_range, surrogate=surrogate, bank_size=0)(scores, target)
    result.backward()
    sample = Sample(target.numpy() > 0)
    risk = make_risk(surrogate, sample, Region.from_params(fpr_range), ramp_width=1.0)
    value, gradient = risk.value_and_gradient(scores.detach().numpy())
    assert result.item() == pytest.approx(value)
    assert scores.grad.numpy() == pytest.approx(gradient, abs=1e-12)


def test_the_bank_is_ranked_with_the_batch_and_gradients_are_rescaled():
    old, old_target = batch(1, 60)
    new, target = batch(2, 15)
    loss = PartialAUCLoss(RANGE)
    loss.remember(old, old_target)
    result = loss(new, target)
    result.backward()
    labels = Sample(torch.cat([target, old_target]).numpy() > 0)
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


@pytest.mark.parametrize("surrogate", ["tight", "direct"])
@pytest.mark.parametrize("lower", [0.0, 0.1])
def test_a_range_of_few_negatives_is_widened_to_ten(surrogate, lower):
    scores, target = batch(0, 90)
    loss = PartialAUCLoss((lower, lower + 0.02), surrogate=surrogate, bank_size=600)
    wide = PartialAUCLoss((lower, lower + 10 / 60), surrogate=surrogate, bank_size=600)
    assert loss(scores, target).item() == pytest.approx(wide(scores, target).item())
    assert loss.is_warming_up
    assert loss.n_negatives_in_range == pytest.approx(0.02 * 60)
    for seed in range(1, 10):
        loss.remember(*batch(seed, 90))
    full = loss(scores, target).item()
    assert not loss.is_warming_up
    labels = torch.cat([target, torch.ones(loss.positives.numel()), torch.zeros(600)])
    ranked = torch.cat([scores.detach(), loss.positives, loss.negatives]).numpy()
    assert full > 0
    assert labels.numel() == ranked.size


def test_narrow_ranges_track_the_score_at_their_limit():
    generator = torch.Generator().manual_seed(0)
    loss = PartialAUCLoss((0.0, 0.002), bank_size=256)
    for _ in range(3000):
        scores = torch.randn(128, generator=generator)
        loss.remember(scores, torch.zeros(128))
    # The quantile of a standard normal law at 0.2 %.
    assert float(loss._thresholds[0]) == pytest.approx(2.878, abs=0.35)
    scores = torch.randn(128, generator=generator).requires_grad_()
    value = loss(scores, (torch.arange(128) < 16).float())
    value.backward()
    assert not loss.is_warming_up
    few = int((scores.grad[16:] != 0).sum())
    assert few <= 4


def test_labels_have_banks_of_their_own_and_may_be_missing():
    scores, target = batch(3, 60)
    table = torch.stack([scores.detach(), -scores.detach()], dim=1).requires_grad_()
    labels = torch.stack([target, 1 - target], dim=1)
    labels[:6, 1] = float("nan")
    both = PartialAUCLoss(RANGE, n_labels=2)
    singles = [PartialAUCLoss(RANGE), PartialAUCLoss(RANGE)]
    for _ in range(3):
        value = both(table, labels)
        first = singles[0](table[:, 0], labels[:, 0])
        second = singles[1](table[6:, 1], labels[6:, 1])
        assert value.item() == pytest.approx((first.item() + second.item()) / 2)
    table.grad = None
    value.backward()
    assert torch.all(table.grad[:6, 1] == 0)
    with pytest.raises(ValueError, match="n_labels=2"):
        both(table[:, 0][:59], labels[:, 0][:59])
    with pytest.raises(ValueError, match="Targets must be 1"):
        PartialAUCLoss(RANGE)(table[:, 1], labels[:, 1])


def test_state_dicts_of_another_bank_size_load():
    loss = PartialAUCLoss(RANGE, bank_size=64)
    loss.bank.replace(False, 0, torch.arange(20.0))
    loss.bank.replace(True, 0, torch.tensor([5.0, 6.0]))
    for size in (8, 100):
        other = PartialAUCLoss(RANGE, bank_size=size)
        other.load_state_dict(loss.state_dict())
        assert other.negatives.tolist() == torch.arange(20.0)[-size:].tolist()
        assert other.positives.tolist() == [5.0, 6.0]


@pytest.mark.parametrize("weight", ["log", ("exponential", 5.0), lambda u: u * (1 - u)])
@pytest.mark.parametrize("surrogate", ["tight", "direct"])
def test_the_whole_region(weight, surrogate):
    scores, target = batch(4, 90)
    loss = PartialAUCLoss(RANGE, min_tpr=0.3, fpr_weight=weight, surrogate=surrogate, bank_size=0)
    risk = make_risk(
        surrogate,
        Sample(target.numpy() > 0),
        Region.from_params(RANGE, weight, 0.3),
        ramp_width=1.0,
    )
    value, gradient = risk.value_and_gradient(scores.detach().numpy())
    result = loss(scores, target)
    result.backward()
    assert result.item() == pytest.approx(value)
    assert scores.grad.numpy() == pytest.approx(gradient, abs=1e-9)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize(
    "make",
    [
        lambda: PartialAUCLoss((0.0, 0.2)),
        lambda: PartialAUCLoss((0.1, 0.6), surrogate="direct", min_tpr=0.2),
        lambda: PartialAUCLoss((0.0, 0.3), fpr_weight=("exponential", 2.0), bank_size=50),
        lambda: PartialAUCLoss((0.0, 0.001)),
        lambda: PartialAUCLoss((0.05, 0.2), n_labels=2, validate=False),
        lambda: AUMLoss(),
    ],
)
def test_recorded_steps_are_the_steps_themselves(make, monkeypatch):
    from aucuba.objectives import _step

    generator = torch.Generator("cuda").manual_seed(0)
    recorded = make().cuda()
    plain = copy.deepcopy(recorded)
    assert plain is not recorded
    replays = []
    replay = _step._Recording.replay
    monkeypatch.setattr(
        _step._Recording, "replay", lambda *args: replays.append(1) or replay(*args)
    )
    for step in range(14):
        n = 64 if step == 9 else 240
        shape = (n, getattr(recorded, "n_labels", 1))
        scores = torch.randn(shape, device="cuda", generator=generator)
        target = (torch.arange(n, device="cuda") % 3 == 0).float()[:, None].expand(shape)
        if step == 10:
            recorded.eval(), plain.eval()
        if step == 12:
            # Other buffers at other places: the recording of the old ones must not be used.
            recorded = copy.deepcopy(recorded).train()
            recorded.load_state_dict(plain.train().state_dict())
        found = []
        for loss, first in ((recorded, 3), (plain, 100)):
            monkeypatch.setattr(_step, "_FIRST_STEPS", first)
            mine = scores.clone().requires_grad_()
            value = loss(mine, target)
            value.backward()
            found.append((value.detach(), mine.grad))
        assert torch.equal(found[0][0], found[1][0])
        assert torch.equal(found[0][1], found[1][1])
    # The area does not depend on the mode, the partial AUC does.
    assert len(replays) == (8 if isinstance(recorded, AUMLoss) else 6)
    if isinstance(recorded, PartialAUCLoss):
        assert torch.equal(recorded.negatives, plain.negatives)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.filterwarnings("ignore:Synchronization debug mode")
@pytest.mark.parametrize("options", [{}, {"surrogate": "direct"}, {"fpr_weight": "log"}])
def test_training_steps_do_not_wait_for_the_device(options):
    network = torch.nn.Linear(5, 1).cuda()
    losses = [
        PartialAUCLoss((0.01, 0.2), validate=False, **options).cuda(),
        PartialAUCLoss((0.0, 0.001), validate=False).cuda(),
        AUMLoss(validate=False).cuda(),
    ]
    X, y = torch.randn(256, 5, device="cuda"), (torch.arange(256, device="cuda") % 4 == 0).float()
    for loss in losses:
        loss(network(X), y).backward()
    torch.cuda.synchronize()
    try:
        torch.cuda.set_sync_debug_mode("error")
        for loss in losses:
            loss(network(X), y).backward()
    finally:
        torch.cuda.set_sync_debug_mode("default")


def _train(rank, address, results):
    from torch import distributed
    from torch.nn.parallel import DistributedDataParallel

    distributed.init_process_group("gloo", init_method=address, rank=rank, world_size=2)
    try:
        network = _network()
        parallel = DistributedDataParallel(network)
        loss = PartialAUCLoss((0.0, 0.3), process_group=distributed.group.WORLD)
        generator = torch.Generator().manual_seed(1)
        for _ in range(3):
            X, y = torch.randn(50, 4, generator=generator), torch.arange(50) % 5 == 0
            rows = slice(0, 20) if rank == 0 else slice(20, 50)
            network.zero_grad()
            loss(parallel(X[rows]), y[rows]).backward()
        results.put((rank, network.weight.grad.tolist(), network.bias.grad.tolist()))
    finally:
        distributed.destroy_process_group()


def _network():
    torch.manual_seed(0)
    return torch.nn.Linear(4, 1)


@pytest.mark.skipif(not torch.distributed.is_available(), reason="torch without distributed")
def test_two_processes_train_like_one(tmp_path):
    context = torch.multiprocessing.get_context("spawn")
    results = context.Queue()
    address = f"file://{tmp_path}/rendezvous"
    workers = [context.Process(target=_train, args=(rank, address, results)) for rank in range(2)]
    for worker in workers:
        worker.start()
    found = [results.get(timeout=600) for _ in workers]
    for worker in workers:
        worker.join(timeout=600)
    network, loss = _network(), PartialAUCLoss((0.0, 0.3))
    generator = torch.Generator().manual_seed(1)
    for _ in range(3):
        X, y = torch.randn(50, 4, generator=generator), torch.arange(50) % 5 == 0
        network.zero_grad()
        loss(network(X), y).backward()
    for _, weight, bias in found:
        np.testing.assert_allclose(weight, network.weight.grad.numpy(), rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(bias, network.bias.grad.numpy(), rtol=1e-5, atol=1e-7)


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


@pytest.mark.parametrize("surrogate", ["tight", "direct"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_every_type_of_score(surrogate, dtype):
    scores, target = batch(4, 60)
    rounded = scores.detach().to(dtype)
    loss = PartialAUCLoss(RANGE, surrogate=surrogate)
    exact = PartialAUCLoss(RANGE, surrogate=surrogate)
    for one in (loss, exact):
        one.remember(*batch(5, 60))
    narrow, wide = rounded.clone().requires_grad_(), rounded.double().requires_grad_()
    value, reference = loss(narrow, target), exact(wide, target)
    value.backward()
    reference.backward()
    assert value.dtype == narrow.grad.dtype == dtype
    assert value.item() == pytest.approx(reference.item(), rel=0.02)
    assert narrow.grad.double().numpy() == pytest.approx(wide.grad.numpy(), rel=0.02, abs=1e-4)


def test_double_gradients_are_not_rounded_by_the_bank():
    old, old_target = batch(1, 63)
    new, target = batch(2, 14)
    loss = PartialAUCLoss(RANGE, surrogate="direct")
    loss.remember(old, old_target)
    loss(new, target).backward()
    labels = Sample(torch.cat([target, old_target]).numpy() > 0)
    both = torch.cat([new, old]).detach().numpy()
    ranks = RankWeights.from_range(RANGE)
    gradient = SmoothRamp(labels, ranks, width=1.0).value_and_gradient(both)[1][:14]
    share = np.where(target.numpy() > 0, 26 / 5, 51 / 9)
    np.testing.assert_allclose(new.grad.numpy(), share * gradient, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("loss", [PartialAUCLoss(RANGE), AUMLoss()])
@pytest.mark.parametrize("wrong", [2.0, float("nan"), 0.5])
def test_targets_are_checked(loss, wrong):
    with pytest.raises(ValueError, match="Targets must be 1 for positives"):
        loss(torch.randn(30), torch.full((30,), wrong))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_on_a_device_as_on_the_processor(dtype):
    scores, target = batch(6, 60)
    rounded = scores.detach().to(dtype)
    for make in (lambda: PartialAUCLoss(RANGE), AUMLoss):
        results = []
        for device in ("cpu", "cuda"):
            loss = make()
            if isinstance(loss, PartialAUCLoss):
                loss.remember(*batch(7, 60))
            here = rounded.clone().to(device).requires_grad_()
            # Neither the loss nor the targets are moved: users seldom do.
            value = loss(here, target)
            value.backward()
            results.append((value.item(), here.grad.double().cpu().numpy()))
        assert results[0][0] == pytest.approx(results[1][0], rel=0.02)
        assert results[0][1] == pytest.approx(results[1][1], rel=0.02, abs=1e-3)
    saved = PartialAUCLoss(RANGE)
    saved.remember(*batch(8))
    loaded = PartialAUCLoss(RANGE).cuda()
    loaded.load_state_dict(saved.state_dict())
    assert loaded.negatives.device.type == "cuda"
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loaded(torch.randn(30, device="cuda", requires_grad=True), torch.arange(30) % 2).backward()


def test_half_precision_counts_every_row():
    generator = torch.Generator().manual_seed(1)
    target = (torch.rand(20_000, generator=generator) < 0.5).float()
    scores = (torch.randn(20_000, generator=generator) + target).half()
    exact = AUMLoss()(scores.double(), target).item()
    assert AUMLoss()(scores, target).item() == pytest.approx(exact, rel=2e-3)
