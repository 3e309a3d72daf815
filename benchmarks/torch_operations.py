"""Operations and passes of the torch code, counted: ``python -m benchmarks torch_operations``.

No graphics card was at hand for this page: everything is measured on the processor, with one thread.
What a card takes for a step of a loss is mostly the number of operations that are launched, and what it
takes for a fit mostly the number of passes over X, so these are counted. Seconds on a card are in
`cuda.md`, of the date given there: its `partial_auc_score` of the whole curve is from code that did not
yet count blocks of ties. `torch_step` measures the steps of losses, launched and recorded, wherever
there is a card; no page of it exists yet.
Writes ``benchmarks/results/torch_operations.md``.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import time
import warnings
from collections import Counter
from pathlib import Path
from unittest import mock

import numpy as np

from reproductions.tables import markdown_table, write_signed

RESULT = Path(__file__).parent / "results" / "torch_operations.md"
SIZES = (1_024, 65_536, 1_048_576)
N_STEPS, N_FIRST = 15, 3
SORTS = ("sort", "topk", "argsort", "unique")
# Views of the same memory start nothing on a card.
VIEWS = {
    *("view", "select", "slice", "transpose", "t", "expand", "unsqueeze", "squeeze", "detach"),
    *("alias", "reshape", "_unsafe_view", "as_strided", "permute", "split", "unbind", "lift_fresh"),
}
N_ROWS, N_COLUMNS = 1_000_000, 16


def operations(call):
    """Count the operations that a call dispatches, by name; views do not count."""
    from torch.utils._python_dispatch import TorchDispatchMode

    counts = Counter()

    class Counting(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            name = func.__name__.partition(".")[0]
            counts[name] += name not in VIEWS
            return func(*args, **(kwargs or {}))

    with Counting():
        call()
    return counts


def row(name, n, calls):
    """Operations and sorts of the first call, and milliseconds of all, which take turns."""
    counts = operations(calls[0])
    taken = []
    for _ in range(N_FIRST + N_STEPS):
        taken.append([])
        for call in calls:
            start = time.process_time()
            call()
            taken[-1].append(1000 * (time.process_time() - start))
    medians = np.median(taken[N_FIRST:], axis=0)
    sorts = sum(counts[one] for one in SORTS)
    return [name, f"{n:,}", str(counts.total()), str(sorts), *(f"{ms:.2f}" for ms in medians)]


def steps():
    """One line per loss and batch size: forward and backward of the loss alone."""
    import torch

    from aucuba.objectives import AUMLoss, PartialAUCLoss

    losses = {
        "PartialAUCLoss, (0, .05)": lambda: PartialAUCLoss((0.0, 0.05), validate=False),
        "PartialAUCLoss, (.02, .05)": lambda: PartialAUCLoss((0.02, 0.05), validate=False),
        "PartialAUCLoss, direct": lambda: PartialAUCLoss(surrogate="direct", validate=False),
        "AUMLoss": lambda: AUMLoss(validate=False),
    }
    for n in SIZES:
        torch.manual_seed(0)
        scores = torch.randn(n, requires_grad=True)
        target = (torch.rand(n) < 0.05).float()
        entropy = torch.nn.BCEWithLogitsLoss()
        for name, make in losses.items():
            loss = make()
            calls = [
                lambda loss=loss, s=scores, y=target: loss(s, y).backward(),
                lambda loss=entropy, s=scores, y=target: loss(s, y).backward(),
                lambda s=scores: torch.sort(s.detach()),
            ]
            yield row(name, n, calls)


def measures():
    """One line per range of `partial_auc_score`, with and without ties."""
    import torch

    from aucuba.metrics import partial_auc_score

    torch.manual_seed(0)
    target, scores = torch.rand(N_ROWS) < 0.05, torch.randn(N_ROWS, dtype=torch.float64)
    for limits in ((0.0, 0.05), (0.0, 1.0)):
        for kind, s in (("", scores), (", ties", (50 * scores).round())):
            calls = [
                lambda s=s, limits=limits: partial_auc_score(target, s, fpr_range=limits),
                lambda s=s: torch.sort(s),
            ]
            yield row(f"{limits}{kind}", N_ROWS, calls)


def passes():
    """Products with X of one cross-validated fit, and rows that folds and halves copy, in tables."""
    import torch

    from aucuba import PartialAUCClassifierCV
    from aucuba.design import TorchDesign

    torch.manual_seed(0)
    X = torch.randn(N_ROWS, N_COLUMNS)
    scores = X @ torch.randn(N_COLUMNS) / 4 + torch.randn(N_ROWS)
    y = scores > torch.quantile(scores[:100_000], 0.98)
    seen, read = Counter(), Counter()

    def counted(name):
        known = getattr(TorchDesign, name)

        def call(design, argument):
            rows = design.n_rows if name != "take" else len(argument)
            seen[name] += 1
            read[name] += rows / N_ROWS
            return known(design, argument)

        return mock.patch.object(TorchDesign, name, call)

    names = {
        "scores": "X @ w",
        "adjoint": "X.T @ g",
        "gram": "X.T diag(h) X",
        "take": "copies of rows",
    }
    with counted("scores"), counted("adjoint"), counted("gram"), counted("take"):
        PartialAUCClassifierCV(random_state=0).fit(X, y)
    return [[label, str(seen[name]), f"{read[name]:.1f}"] for name, label in names.items()]


def main():
    import torch

    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    text = (__doc__ or "").split("\n\n", 1)[1].rsplit("\nWrites", 1)[0].replace("``", "`")
    header = ["loss", "rows", "operations", "sorts", "step, ms", "cross-entropy, ms", "sort, ms"]
    steps_table = markdown_table(header, list(steps()))
    header = ["range", "rows", "operations", "sorts", "ours, ms", "sort, ms"]
    measures_table = markdown_table(header, list(measures()))
    passes_table = markdown_table(["product", "calls", "tables read or copied"], passes())
    page = (
        f"# Operations of the torch code\n\n{text.strip()}\n\n"
        "## One step of a loss\n\nForward and backward, 5 % positives, a bank of 2,048 scores per "
        "class, `validate=False`; on a card the operations are recorded once and start by one call. "
        f"Views do not count as operations. Processor milliseconds, medians of {N_STEPS}.\n\n"
        f"{steps_table}\n\n"
        f"## `partial_auc_score` of tensors\n\n{measures_table}\n\n"
        f"## `PartialAUCClassifierCV` of {N_ROWS:,} x {N_COLUMNS}\n\nFolds and halves copy their "
        "rows, and each fit has its own passes; masks instead of copies, and passes that several folds "
        f"share, are not built. A pass over four fifths of X counts .8.\n\n{passes_table}"
    )
    write_signed(RESULT, page, "benchmarks torch_operations", ["torch"])


if __name__ == "__main__":
    main()
