"""Banks of past scores for networks with rare positives, on celeba.

20,000 training rows (about 2 % positives), 10,000 to choose the rate and 30,000 to test; a network with
one hidden layer of 64 units, 10 epochs of batches of 32 positives and 96 negatives, Adam, the rate out
of three by validation, pAUC of the range (0, .05). The parts of the bank are switched off one by one.

    python -m benchmarks torch_rare_positives [splits]

Needs PyTorch and ``adbench/celeba.npz`` in the data directory. Every finished run is kept in
``results/torch_rare_positives.csv``, and a later call goes on from there.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from aucuba.metrics import partial_auc_score
from aucuba.objectives import PartialAUCLoss
from reproductions.data import data_home
from reproductions.tables import markdown_table, write_signed

RANGE = (0.0, 0.05)
RATES = (1e-4, 1e-3, 1e-2)
N_EPOCHS, N_POSITIVES, N_NEGATIVES = 10, 32, 96
N_SPLITS = 8
FOLDER = Path(__file__).parent / "results"
TABLE, LOG = FOLDER / "torch_rare_positives.md", FOLDER / "torch_rare_positives.csv"


class OneClassBank(PartialAUCLoss):
    """A loss whose bank keeps the scores of one class alone."""

    def __init__(self, keeps: str, **options: Any) -> None:
        super().__init__(RANGE, **options)
        self.keeps = keeps

    def _store(self, new: Any) -> None:
        dropped = "positive" if self.keeps == "negative" else "negative"
        super()._store(replace(new, **{dropped: torch.zeros_like(getattr(new, dropped))}))


VARIANTS: dict[str, Callable[[], Any]] = {
    "binary cross-entropy": lambda: nn.functional.binary_cross_entropy_with_logits,
    "PartialAUCLoss": lambda: PartialAUCLoss(RANGE),
    "no bank": lambda: PartialAUCLoss(RANGE, bank_size=0),
    "bank of 512": lambda: PartialAUCLoss(RANGE, bank_size=512),
    "negatives kept alone": lambda: OneClassBank("negative"),
    "positives kept alone": lambda: OneClassBank("positive"),
    "512 negatives kept alone": lambda: OneClassBank("negative", bank_size=512),
}


def parts(split: int) -> list[tuple[torch.Tensor, np.ndarray]]:
    """Training, validation and test rows, in units of the training rows."""
    table = np.load(data_home() / "adbench" / "celeba.npz")
    X, y = table["X"].astype(np.float32), table["y"].astype(int)
    rows = np.random.default_rng(split).permutation(len(y))[:60_000]
    train = rows[:20_000]
    mean, sd = X[train].mean(axis=0), X[train].std(axis=0) + 1e-6
    return [
        (torch.tensor((X[some] - mean) / sd), y[some])
        for some in (train, rows[20_000:30_000], rows[30_000:])
    ]


def trained(X: torch.Tensor, y: np.ndarray, loss: Any, rate: float, split: int) -> nn.Module:
    """Train one network; all variants see the same batches."""
    torch.manual_seed(split)
    network = nn.Sequential(nn.Linear(X.shape[1], 64), nn.ReLU(), nn.Linear(64, 1))
    optimiser = torch.optim.Adam(network.parameters(), lr=rate)
    rng = np.random.default_rng(split + 100)
    positives, negatives = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    target = (torch.arange(N_POSITIVES + N_NEGATIVES) < N_POSITIVES).float()
    for _ in range(N_EPOCHS):
        order = rng.permutation(negatives)
        for start in range(0, len(order) - N_NEGATIVES + 1, N_NEGATIVES):
            some = order[start : start + N_NEGATIVES]
            rows = np.concatenate([rng.choice(positives, N_POSITIVES), some])
            optimiser.zero_grad()
            loss(network(X[rows])[:, 0], target).backward()
            optimiser.step()
    return network


def run(name: str, split: int) -> tuple[float, float, float]:
    """Return the test and validation pAUC of the rate that validation prefers, and that rate."""
    (X, y), validation, test = parts(split)
    results = []
    for rate in RATES:
        network = trained(X, y, VARIANTS[name](), rate, split)
        with torch.no_grad():
            values = [
                100 * partial_auc_score(labels, network(rows)[:, 0].numpy(), fpr_range=RANGE)
                for rows, labels in (validation, test)
            ]
        results.append((*values, rate))
    chosen = max(results)
    return chosen[1], chosen[0], chosen[2]


def main() -> None:
    torch.set_num_threads(1)
    n_splits = int(sys.argv[1]) if len(sys.argv) > 1 else N_SPLITS
    done: dict[tuple[str, int], float] = {}
    if LOG.exists():
        with LOG.open(encoding="utf-8") as file:
            done = {
                (row["loss"], int(row["split"])): float(row["test"]) for row in csv.DictReader(file)
            }
    for split in range(n_splits):
        for name in VARIANTS:
            if (name, split) in done:
                continue
            test, validation, rate = run(name, split)
            is_new = not LOG.exists()
            with LOG.open("a", encoding="utf-8", newline="") as file:
                if is_new:
                    file.write("loss,split,test,validation,rate,torch\n")
                file.write(
                    f"{name},{split},{test:.2f},{validation:.2f},{rate:g},{torch.__version__}\n"
                )
            done[name, split] = test
            print(f"{split} {name}: {test:.2f}", flush=True)
    with LOG.open(encoding="utf-8") as file:
        versions = sorted({row["torch"] for row in csv.DictReader(file)})
    write_table(done, versions)


def write_table(done: dict[tuple[str, int], float], versions: list[str]) -> None:
    """Write means over the splits and paired differences to cross-entropy."""
    splits = sorted({split for _, split in done})
    reference = np.array([done["binary cross-entropy", split] for split in splits])
    rows = []
    for name in VARIANTS:
        values = np.array([done[name, split] for split in splits])
        gaps = values - reference
        error = gaps.std(ddof=1) / np.sqrt(gaps.size) if name != "binary cross-entropy" else 0.0
        rows.append([name, f"{values.mean():.2f}", f"{gaps.mean():+.2f}", f"{error:.2f}"])
    text = (
        "# Banks of past scores with rare positives\n\ncelebA, 20,000 training rows, 2 % positives, "
        "a network with one hidden layer, batches of 32 positives and 96 negatives, rate of three by "
        f"validation, test pAUC (0, .05) in percent, {len(splits)} random splits, which overlap: the "
        "standard errors of the paired differences are too small if anything. Without a bank 96 "
        "negatives hold 4.8 in the range, so the loss widens it to ten of them. The networks were "
        f"trained with torch {', '.join(versions)}.\n\n"
        + markdown_table(["loss", "test pAUC", "minus cross-entropy", "standard error"], rows)
    )
    write_signed(TABLE, text, "benchmarks torch_rare_positives", ["torch"])


if __name__ == "__main__":
    main()
