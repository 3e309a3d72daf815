"""Losses of this library and of LibAUC, with LibAUC's own sampler, optimisers and schedules.

Three sets (shirts of Fashion-MNIST, nines of MNIST, celeba), five seeds, one hidden layer of 64 units,
equal batches by LibAUC's `DualSampler` (an eighth positives) and equal epochs for all, the rate out of
three by validation, pAUC of the range (0, .05). LibAUC's losses have the optimisers that its authors
made for them, and rates divided by ten after half and three quarters of the epochs, as in its
tutorials; ours and cross-entropy have Adam at a constant rate.

    python -m benchmarks torch_libauc

Needs PyTorch, LibAUC 2 and the sets in the data directory. Every finished run is kept in
``results/torch_libauc.csv``, and a later call goes on from there.
"""

from __future__ import annotations

import csv
import gzip
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from aucuba.metrics import partial_auc_score
from aucuba.objectives import PartialAUCLoss
from benchmarks.any_model_torch import three_parts
from reproductions.data import data_home
from reproductions.tables import markdown_table, write_signed

RANGE = (0.0, 0.05)
RATES = (1e-4, 1e-3, 1e-2)
N_EPOCHS, N_SEEDS = 8, 5
BATCH, N_POSITIVES = 128, 16
FOLDER = Path(__file__).parent / "results"
TABLE, LOG = FOLDER / "torch_libauc.md", FOLDER / "torch_libauc.csv"


def images(folder: str, label: int) -> tuple[np.ndarray, np.ndarray]:
    """Ten thousand test images as rows in [0, 1], and which show a label."""
    parts = []
    for name, skipped in (("t10k-images-idx3-ubyte.gz", 16), ("t10k-labels-idx1-ubyte.gz", 8)):
        with gzip.open(data_home() / folder / name) as file:
            parts.append(np.frombuffer(file.read(), np.uint8, offset=skipped))
    X = parts[0].reshape(-1, 784).astype(np.float32) / np.float32(255)
    return X, parts[1] == label


def celeba() -> tuple[np.ndarray, np.ndarray]:
    table = np.load(data_home() / "adbench" / "celeba.npz")
    rows = np.random.default_rng(0).permutation(len(table["y"]))[:30_000]
    X = table["X"][rows].astype(np.float32)
    return (X - X.mean(axis=0)) / (X.std(axis=0) + np.float32(1e-6)), table["y"][rows] == 1


SETS = {
    "Fashion-MNIST, shirts": lambda: images("fashion_mnist", 6),
    "MNIST, nines": lambda: images("mnist", 9),
    "celeba": celeba,
}


def made(name: str, parameters: Any, rate: float, n_rows: int, n_positives: int) -> tuple[Any, Any]:
    """Return a loss of logits, targets and row numbers, and its optimiser."""
    if not name.startswith("LibAUC"):
        ours = {
            "binary cross-entropy": nn.BCEWithLogitsLoss(),
            "PartialAUCLoss": PartialAUCLoss(RANGE),
            "PartialAUCLoss, direct": PartialAUCLoss(RANGE, surrogate="direct"),
        }[name]
        return lambda s, t, rows: ours(s, t), torch.optim.Adam(parameters, lr=rate)
    from libauc import losses, optimizers

    loss, optimiser = {
        "LibAUC pAUC_DRO, SOPAs": (
            lambda: losses.pAUC_DRO_Loss(data_len=n_rows),
            optimizers.SOPAs,
        ),
        "LibAUC pAUC_CVaR, SOPA": (
            lambda: losses.pAUC_CVaR_Loss(data_len=n_rows, pos_len=n_positives, beta=RANGE[1]),
            optimizers.SOPA,
        ),
        "LibAUC tpAUC_KL, SOTAs": (lambda: losses.tpAUC_KL_Loss(data_len=n_rows), optimizers.SOTAs),
    }[name]
    peer = loss()
    return (
        lambda s, t, rows: peer(torch.sigmoid(s), t, rows),
        optimiser(parameters, lr=rate, mode="adam", verbose=False),
    )


NAMES = (
    "binary cross-entropy",
    "PartialAUCLoss",
    "PartialAUCLoss, direct",
    "LibAUC pAUC_DRO, SOPAs",
    "LibAUC pAUC_CVaR, SOPA",
    "LibAUC tpAUC_KL, SOTAs",
)


def trained(X: torch.Tensor, y: np.ndarray, name: str, rate: float, seed: int) -> nn.Module:
    """Train one network on rows whose positives come first, as LibAUC's losses expect."""
    from libauc.sampler import DualSampler

    torch.manual_seed(seed)
    network = nn.Sequential(nn.Linear(X.shape[1], 64), nn.ReLU(), nn.Linear(64, 1))
    loss, optimiser = made(name, network.parameters(), rate, len(y), int(y.sum()))
    target = torch.as_tensor(y, dtype=torch.float32)
    part = N_POSITIVES / BATCH
    sampler = DualSampler(None, BATCH, y.astype(int), sampling_rate=part, random_seed=seed)
    for epoch in range(N_EPOCHS):
        if name.startswith("LibAUC") and epoch in (N_EPOCHS // 2, 3 * N_EPOCHS // 4):
            for group in optimiser.param_groups:
                group["lr"] /= 10
        for rows in torch.as_tensor(list(sampler)).split(BATCH):
            optimiser.zero_grad()
            loss(network(X[rows])[:, 0], target[rows], rows).backward()
            optimiser.step()
    return network


def run(data: tuple[np.ndarray, np.ndarray], name: str, seed: int) -> tuple[float, float, float]:
    """Return the test and validation pAUC of the rate that validation prefers, and that rate."""
    X, y = data
    fit, validation, test = three_parts(y, seed)
    results = []
    for rate in RATES:
        network = trained(torch.as_tensor(X[fit]), y[fit], name, rate, seed)
        with torch.no_grad():
            values = []
            for rows in (validation, test):
                scores = network(torch.as_tensor(X[rows]))[:, 0].double().numpy()
                finite = np.nan_to_num(scores, nan=0.0, posinf=1e30, neginf=-1e30)
                values.append(100 * partial_auc_score(y[rows], finite, fpr_range=RANGE))
        results.append((*values, rate))
    chosen = max(results)
    return chosen[1], chosen[0], chosen[2]


def main() -> None:
    torch.set_num_threads(1)
    done: dict[tuple[str, str, int], float] = {}
    if LOG.exists():
        with LOG.open(encoding="utf-8") as file:
            for row in csv.DictReader(file):
                done[row["set"], row["loss"], int(row["seed"])] = float(row["test"])
    else:
        LOG.write_text("set,loss,seed,test,validation,rate\n", encoding="utf-8")
    for seed in range(N_SEEDS):
        for title, load in SETS.items():
            data = load()
            for name in NAMES:
                if (title, name, seed) in done:
                    continue
                test, validation, rate = run(data, name, seed)
                with LOG.open("a", encoding="utf-8", newline="") as file:
                    writer = csv.writer(file, lineterminator="\n")
                    writer.writerow([title, name, seed, f"{test:.2f}", f"{validation:.2f}", rate])
                done[title, name, seed] = test
                print(seed, title, name, f"{test:.2f}", flush=True)
    write_table(done)


def write_table(done: dict[tuple[str, str, int], float]) -> None:
    """Write the mean over the seeds, and its standard error, of every loss on every set."""
    rows = []
    for name in NAMES:
        row = [name]
        for title in SETS:
            values = np.array([value for key, value in done.items() if key[:2] == (title, name)])
            error = values.std(ddof=1) / np.sqrt(values.size)
            row.append(f"{values.mean():.1f} ({error:.1f})")
        rows.append(row)
    n_seeds = len({seed for _, _, seed in done})
    text = (
        "# Losses for networks, with LibAUC's own sampler, optimisers and schedules\n\nTest pAUC x 100 "
        f"of the range (0, .05), mean and standard error over {n_seeds} seeds. One hidden layer of 64 "
        f"units, {N_EPOCHS} epochs of the same batches for all ({N_POSITIVES} positives of {BATCH}), "
        "180 positives to train and 60 to choose the rate of three. LibAUC's losses at their defaults, "
        "with their optimisers in Adam mode and rates divided by ten after half and three quarters of "
        "the epochs.\n\n" + markdown_table(["loss", *SETS], rows)
    )
    write_signed(TABLE, text, "benchmarks torch_libauc", ["torch"])


if __name__ == "__main__":
    main()
