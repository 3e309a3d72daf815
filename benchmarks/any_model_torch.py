"""Losses for a small network at equal budgets, on images with rare positives.

Fashion-MNIST (its 10,000 test images, where the data directory has them; else a generated image set):
shirts against the rest, 180 of them for training and 60 for validation, all others for the test;
60 / 20 / 20 % of the negatives. The same network, batches (16 positives, 112 negatives), number of
steps and Adam rates for every loss. The rate of best validation pAUC is reported on the test rows.
LibAUC's losses are at their defaults, with the optimisers that its authors made for them (in their
Adam mode) and, for the first, with plain Adam as well; CVaR is told the range.

    python -m benchmarks any_model_torch

Needs ``aucuba[torch]``; LibAUC's pAUC losses join where ``libauc`` can be imported.
"""

from __future__ import annotations

import gzip
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn

from aucuba.metrics import partial_auc_score
from aucuba.objectives import AUMLoss, PartialAUCLoss
from reproductions.data import data_home
from reproductions.paired import corrected_p
from reproductions.tables import write_signed

TABLE = Path(__file__).parent / "results" / "any_model_torch.md"
RANGE = (0.0, 0.05)
N_EPOCHS = 8
BATCH, N_NEGATIVES = 128, 112
N_POSITIVES = 300
RATES = (1e-4, 3e-4, 1e-3, 3e-3)
N_SPLITS = 8


def fashion_images():
    """Images as rows in [0, 1] and which are shirts, or None without the data."""
    folder = data_home() / "fashion_mnist"
    images = sorted(folder.glob("*images*")) if folder.is_dir() else []
    labels = sorted(folder.glob("*labels*")) if folder.is_dir() else []
    if not images or not labels:
        return None
    with gzip.open(images[0]) as file:
        X = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 784) / np.float32(255)
    with gzip.open(labels[0]) as file:
        y = np.frombuffer(file.read(), np.uint8, offset=8) == 6
    return X.astype(np.float32), y


def generated_images(seed=0):
    """Noisy blobs; positives have a second, fainter one."""
    rng = np.random.default_rng(seed)
    grid = np.stack(np.meshgrid(np.arange(16), np.arange(16)), axis=-1).reshape(-1, 2)
    y = rng.random(6000) < 0.3

    def blobs():
        centre = rng.uniform(3, 13, size=(6000, 1, 2))
        return np.exp(-np.sum((grid - centre) ** 2, axis=2) / 8)

    X = blobs() + 0.5 * y[:, np.newaxis] * blobs() + 0.3 * rng.normal(size=(6000, 256))
    return X.astype(np.float32), y


def three_parts(y, split):
    """Training, validation and test rows: few positives in the first two, all others in the last."""
    rng = np.random.default_rng(split)
    parts = [[], [], []]
    for rows in (np.flatnonzero(y), np.flatnonzero(~y)):
        size = N_POSITIVES if y[rows[0]] else rows.size
        cuts = [int(0.6 * size), int(0.8 * size)]
        for part, piece in zip(parts, np.split(rng.permutation(rows), cuts), strict=True):
            part.append(piece)
    return [np.concatenate(part) for part in parts]


def losses(n_rows, n_positives):
    """Functions of logits, targets and row numbers with their optimisers, made anew for every run."""
    entropy = nn.BCEWithLogitsLoss()
    ours, no_bank, ramp = (
        PartialAUCLoss(RANGE),
        PartialAUCLoss(RANGE, bank_size=0),
        PartialAUCLoss(RANGE, surrogate="direct"),
    )
    aum = AUMLoss()
    made = {
        "binary cross-entropy": (lambda s, t, rows: entropy(s, t), torch.optim.Adam),
        "PartialAUCLoss": (lambda s, t, rows: ours(s, t), torch.optim.Adam),
        "PartialAUCLoss, no bank": (lambda s, t, rows: no_bank(s, t), torch.optim.Adam),
        "PartialAUCLoss, direct": (lambda s, t, rows: ramp(s, t), torch.optim.Adam),
        "AUMLoss": (lambda s, t, rows: aum(s, t), torch.optim.Adam),
    }
    return {**made, **libauc_losses(n_rows, n_positives)}


def libauc_losses(n_rows, n_positives):
    """The peer's losses for partial AUC; positives must be the first rows."""
    try:
        from libauc import losses, optimizers
    except ImportError:
        return {}

    def peer(loss):
        return lambda s, t, rows: loss(torch.sigmoid(s), t, rows)

    def optimiser(kind):
        return lambda parameters, lr: kind(parameters, lr=lr, mode="adam", verbose=False)

    dro, dro_again = (losses.pAUC_DRO_Loss(data_len=n_rows) for _ in range(2))
    cvar = losses.pAUC_CVaR_Loss(data_len=n_rows, pos_len=n_positives, beta=RANGE[1])
    two_way = losses.tpAUC_KL_Loss(data_len=n_rows)
    return {
        "LibAUC pAUC_DRO_Loss, Adam": (peer(dro), torch.optim.Adam),
        "LibAUC pAUC_DRO_Loss, SOPAs": (peer(dro_again), optimiser(optimizers.SOPAs)),
        "LibAUC pAUC_CVaR_Loss, SOPA": (peer(cvar), optimiser(optimizers.SOPA)),
        "LibAUC tpAUC_KL_Loss, SOTAs": (peer(two_way), optimiser(optimizers.SOTAs)),
    }


def batches(y, rng):
    """Row numbers of an epoch's batches."""
    positives, negatives = np.flatnonzero(y), rng.permutation(np.flatnonzero(~y))
    for start in range(0, negatives.size - N_NEGATIVES + 1, N_NEGATIVES):
        chosen = rng.choice(positives, BATCH - N_NEGATIVES, replace=False)
        yield torch.as_tensor(np.concatenate([chosen, negatives[start : start + N_NEGATIVES]]))


def train(X, y, loss, make_optimiser, rate, seed):
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    network = nn.Sequential(nn.Linear(X.shape[1], 64), nn.ReLU(), nn.Linear(64, 1))
    optimiser = make_optimiser(network.parameters(), lr=rate)
    target = torch.as_tensor(y, dtype=torch.float32)
    for _ in range(N_EPOCHS):
        for rows in batches(y, rng):
            optimiser.zero_grad()
            loss(network(X[rows])[:, 0], target[rows], rows).backward()
            optimiser.step()
    return network


def run_split(X, y, split):
    """Test pAUC x 100, rate and seconds of every loss."""
    fit, validation, test = three_parts(y, split)
    X_fit = torch.as_tensor(X[fit])
    results = {}
    sizes = fit.size, int(y[fit].sum())
    for name in losses(*sizes):
        best = (-1.0, 0.0, 0.0)
        start = time.process_time()
        for rate in RATES:
            network = train(X_fit, y[fit], *losses(*sizes)[name], rate, split)
            with torch.no_grad():
                values = [
                    partial_auc_score(y[r], network(torch.as_tensor(X[r]))[:, 0], fpr_range=RANGE)
                    for r in (validation, test)
                ]
            best = max(best, (values[0], values[1], rate))
        results[name] = (100 * best[1], best[2], time.process_time() - start)
        print(split, name, results[name], flush=True)
    return results


def main():
    torch.set_num_threads(1)
    real = fashion_images()
    X, y = generated_images() if real is None else real
    runs = [run_split(X, y, split) for split in range(N_SPLITS)]
    source = "a generated image set" if real is None else "Fashion-MNIST"
    base = np.array([run["binary cross-entropy"][0] for run in runs])
    fit, _, test = three_parts(y, 0)
    test_over_train = test.size / fit.size
    lines = [
        "# Losses for a small network",
        "",
        f"Test pAUC x 100 in {RANGE} on {source}; {N_POSITIVES} positives for training and",
        f"validation, {N_SPLITS} splits. Equal network, batches, {N_EPOCHS} epochs and Adam rates",
        f"{RATES}, the best by validation. p: paired t-test against binary cross-entropy,",
        "corrected for the overlap of the splits (Nadeau and Bengio 2003).",
        "Seconds: processor time of all rates, one thread. LibAUC at its defaults, with its own",
        "optimisers in Adam mode and once with Adam.",
        "",
        "| loss | mean | standard error | against cross-entropy | p | seconds |",
        "|---|---|---|---|---|---|",
    ]
    for name in runs[0]:
        values = np.array([run[name][0] for run in runs])
        gain = values - base
        p = f"{corrected_p(gain, test_over_train):.3f}" if gain.any() else ""
        error = values.std(ddof=1) / np.sqrt(values.size)
        seconds = np.mean([run[name][2] for run in runs])
        lines.append(
            f"| {name} | {values.mean():.1f} | {error:.1f} | {gain.mean():+.1f} | {p} | {seconds:.1f} |"
        )
    write_signed(TABLE, "\n".join(lines), "benchmarks any_model_torch", ("torch",))


if __name__ == "__main__":
    main()
