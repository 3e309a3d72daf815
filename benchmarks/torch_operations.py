"""Operations and passes of the torch code, counted: ``python -m benchmarks torch_operations``.

No graphics card was at hand for this page: everything is measured on the processor, with one thread.
What a card takes for a step of a loss is mostly the number of operations that are launched, and what it
takes for a fit mostly the number of passes over X, so these are counted. Seconds on a card are in
`cuda.md`, of the date given there: its `partial_auc_score` of the whole curve is from code that did not
yet count blocks of ties. `torch_step` measures the steps of losses, launched and recorded, wherever
there is a card; no page of it exists yet. ``--before NAME=SRC``, as often as wanted, names the
``src`` folder of earlier code whose cross-validated fit is measured in the same run; other jobs ran
on both cores meanwhile.
Writes ``benchmarks/results/torch_operations.md``.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import json
import subprocess
import sys
import time
import warnings
from collections import Counter
from pathlib import Path
from unittest import mock

import numpy as np

from reproductions.tables import markdown_table, write_signed
from tests.row_transfers import row_transfers

RESULT = Path(__file__).parent / "results" / "torch_operations.md"
SIZES = (1_024, 65_536, 1_048_576)
N_STEPS, N_FIRST = 7, 1
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


def inside_torch(call):
    """Processor seconds that a call spends in torch operations."""
    from torch.utils._python_dispatch import TorchDispatchMode

    spent = []

    class Timing(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            start = time.process_time()
            try:
                return func(*args, **(kwargs or {}))
            finally:
                spent.append(time.process_time() - start)

    with Timing():
        call()
    return sum(spent)


def cross_validated():
    """Figures of one cross-validated fit: seconds, transfers, products with X, copies of rows."""
    import torch

    from aucuba import PartialAUCClassifierCV
    from aucuba.design import TorchDesign

    def fit(rows=slice(None)):
        PartialAUCClassifierCV(random_state=0).fit(X[rows], y[rows])

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
        "scores": "X @ w, and X @ W in one pass",
        "adjoint": "X.T @ g",
        "gram": "X.T diag(h) X",
        "take": "copies of rows",
    }
    fit(slice(20_000))
    moved, start = Counter(), time.process_time()
    with counted("scores"), counted("adjoint"), counted("gram"), counted("take"):
        inside = inside_torch(lambda: moved.update(row_transfers(fit, N_ROWS // 40)))
    seconds = time.process_time() - start
    found = {"processor seconds": f"{seconds:.2f}"}
    found["of these outside torch operations"] = f"{seconds - inside:.2f}"
    for way, label in (("down", "to the host"), ("up", "to the device")):
        kinds = {kind: count for kind, count in moved.items() if kind.startswith(way)}
        widths = [np.dtype(kind.split(", ")[1]).itemsize * n for kind, n in kinds.items()]
        found[f"vectors {label}"] = str(sum(kinds.values()))
        found[f"bytes per row {label}, at most"] = str(sum(widths))
    for name, label in names.items():
        found[label] = f"{seen[name]} ({read[name]:.1f} tables)"
    return found


def of_source(source):
    """Figures of the cross-validated fit in an interpreter of its own, with the code of a folder."""
    known = os.environ.get("PYTHONPATH", "")
    path = os.pathsep.join(filter(None, [source, os.getcwd(), known]))
    command = [sys.executable, "-m", "benchmarks.torch_operations", "--cell"]
    environment = os.environ | {"PYTHONPATH": path}
    found = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(found.stdout.splitlines()[-1])


def main(argv=None):
    import torch

    parser = argparse.ArgumentParser()
    parser.add_argument("--before", action="append", default=[], help="NAME=SRC of earlier code")
    parser.add_argument("--cell", action="store_true", help="print the figures of the fit alone")
    options = parser.parse_args(argv)
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    if options.cell:
        print(json.dumps(cross_validated()))
        return
    codes = dict(one.split("=", 1) for one in options.before) | {"now": ""}
    figures = {name: of_source(source) for name, source in codes.items()}
    rows = [[label, *(one[label] for one in figures.values())] for label in figures["now"]]
    passes_table = markdown_table(["figure", *figures], rows)
    text = (__doc__ or "").split("\n\n", 1)[1].rsplit("\nWrites", 1)[0].replace("``", "`")
    header = ["loss", "rows", "operations", "sorts", "step, ms", "cross-entropy, ms", "sort, ms"]
    steps_table = markdown_table(header, list(steps()))
    header = ["range", "rows", "operations", "sorts", "ours, ms", "sort, ms"]
    measures_table = markdown_table(header, list(measures()))
    page = (
        f"# Operations of the torch code\n\n{text.strip()}\n\n"
        "## One step of a loss\n\nForward and backward, 5 % positives, a bank of 2,048 scores per "
        "class, `validate=False`; on a card the operations are recorded once and start by one call. "
        f"Views do not count as operations. Processor milliseconds, medians of {N_STEPS}.\n\n"
        f"{steps_table}\n\n"
        f"## `partial_auc_score` of tensors\n\n{measures_table}\n\n"
        f"## `PartialAUCClassifierCV` of {N_ROWS:,} x {N_COLUMNS}\n\nA vector is one entry per row "
        "or for at least every fortieth. The seconds are of one fit, with all counting. Outside torch "
        "operations are work in NumPy, Python, the counting itself and the release of "
        "memory. The training rows of folds and halves are copied, which takes two passes over them; "
        "each fit has its own passes, and only scores of several models share one. A pass over four "
        f"fifths of X counts .8 tables.\n\n{passes_table}"
    )
    write_signed(RESULT, page, "benchmarks torch_operations", ["torch"])


if __name__ == "__main__":
    main()
