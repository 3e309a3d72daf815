"""Metrics of torchmetrics: equal to all rows at once, over batches and processes."""

import numpy as np
import pytest

pytest.importorskip("torchmetrics")
import torch

from aucuba.metrics import partial_auc_score, tpr_at_fpr_score
from aucuba.objectives import TorchPartialAUC, TorchTPRAtFPR

RANGE = (0.0, 0.1)


def rows(n_rows=3_000):
    rng = np.random.default_rng(0)
    y = (rng.random(n_rows) < 0.1).astype(int)
    return y, np.round(rng.normal(size=n_rows) + y, 2)


def expected(y, score):
    return {
        TorchPartialAUC: partial_auc_score(y, score, fpr_range=RANGE),
        TorchTPRAtFPR: tpr_at_fpr_score(y, score, fpr=RANGE[1]),
    }


@pytest.mark.parametrize("kind", [TorchPartialAUC, TorchTPRAtFPR])
@pytest.mark.parametrize("size", [1, 7, 500, 3_000])
def test_batches(kind, size):
    y, score = rows(200 if size == 1 else 3_000)
    metric = kind(RANGE)
    for start in range(0, len(y), size):
        part = slice(start, start + size)
        metric.update(torch.tensor(score[part]), torch.tensor(y[part]))
    assert metric.compute().item() == pytest.approx(expected(y, score)[kind], abs=1e-12)
    metric.reset()
    metric.update(torch.tensor(score[:1000]), torch.tensor(y[:1000]))
    first = expected(y[:1000], score[:1000])[kind]
    assert metric.compute().item() == pytest.approx(first, abs=1e-12)


def test_the_value_of_a_batch_and_of_all():
    y, score = rows(1_000)
    metric = TorchPartialAUC(RANGE)
    for part in np.array_split(np.arange(1_000), 4):
        value = metric(torch.tensor(score[part]), torch.tensor(y[part]))
        own = partial_auc_score(y[part], score[part], fpr_range=RANGE)
        assert value.item() == pytest.approx(own, abs=1e-12)
    whole = partial_auc_score(y, score, fpr_range=RANGE)
    assert metric.compute().item() == pytest.approx(whole, abs=1e-12)


def test_one_class_and_no_rows():
    metric = TorchPartialAUC(RANGE)
    with pytest.raises(ValueError, match="has seen no rows"):
        metric.sketch()
    metric.update(torch.zeros(3), torch.zeros(3))
    assert np.isnan(metric.compute().item())


def test_bad_settings_are_refused_at_once():
    with pytest.raises(ValueError, match="fpr_range"):
        TorchPartialAUC((0.5, 0.1))


def worker(rank, port, folder):
    torch.distributed.init_process_group(
        "gloo", init_method=f"file://{folder}/{port}", rank=rank, world_size=2
    )
    y, score = rows()
    own = slice(rank * 1_000, None if rank else 1_000)
    metric = TorchPartialAUC(RANGE)
    for part in np.array_split(np.arange(len(y))[own], 3):
        metric.update(torch.tensor(score[part]), torch.tensor(y[part]))
    value = metric.compute().item()
    with open(f"{folder}/value{rank}", "w") as stream:
        stream.write(repr(value))
    torch.distributed.destroy_process_group()


def test_two_processes_see_all_rows(tmp_path):
    torch.multiprocessing.spawn(worker, args=("meet", str(tmp_path)), nprocs=2)
    y, score = rows()
    whole = partial_auc_score(y, score, fpr_range=RANGE)
    for rank in range(2):
        value = float((tmp_path / f"value{rank}").read_text())
        assert value == pytest.approx(whole, abs=1e-12)
