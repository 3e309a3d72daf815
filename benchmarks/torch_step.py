"""One step of a loss on a graphics card: ``python -m benchmarks torch_step`` on a machine with CUDA.

Milliseconds of forward and backward of the loss alone, scores and targets on the card in single
precision, 5 % positives, ``validate=False``, a bank of 2,048 scores per class; median of {steps} steps
after {first}. "Launched" takes the step kernel by kernel, "recorded" from a CUDA graph, which is what
the losses do from the fourth step of a shape on; the two alternate. "Sort" is one `torch.sort` of the
scores. Writes ``benchmarks/results/torch_step.md``.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from unittest import mock

import numpy as np

from reproductions.tables import markdown_table, write_signed

RESULT = Path(__file__).parent / "results" / "torch_step.md"
SIZES = (1_024, 8_192, 65_536, 262_144, 1_048_576)
N_STEPS, N_FIRST = 50, 10


def main() -> None:
    import torch

    from aucuba.objectives import AUMLoss, PartialAUCLoss, _step

    parser = argparse.ArgumentParser()
    parser.add_argument("--output", type=Path, default=RESULT)
    output = parser.parse_args().output

    def milliseconds(call) -> float:
        torch.cuda.synchronize()
        start = time.perf_counter()
        call()
        torch.cuda.synchronize()
        return 1000 * (time.perf_counter() - start)

    rows = []
    for n in SIZES:
        torch.manual_seed(0)
        scores = torch.randn(n, device="cuda", requires_grad=True)
        target = (torch.rand(n, device="cuda") < 0.05).float()

        def step(loss, scores=scores, target=target):
            loss(scores, target).backward()

        entropy = torch.nn.BCEWithLogitsLoss()
        for name, make in (
            ("PartialAUCLoss, (0, .05)", lambda: PartialAUCLoss((0.0, 0.05), validate=False)),
            ("PartialAUCLoss, (.02, .05)", lambda: PartialAUCLoss((0.02, 0.05), validate=False)),
            (
                "PartialAUCLoss, direct",
                lambda: PartialAUCLoss((0.0, 0.05), surrogate="direct", validate=False),
            ),
            ("AUMLoss", lambda: AUMLoss(validate=False)),
        ):
            launched, recorded = make().cuda(), make().cuda()

            def plain(step=step, launched=launched):
                with mock.patch.object(_step, "_MOST_SHAPES", 0):
                    step(launched)

            calls = (
                plain,
                lambda step=step, recorded=recorded: step(recorded),
                lambda step=step, entropy=entropy: step(entropy),
                lambda scores=scores: torch.sort(scores.detach()),
            )
            taken = np.array(
                [[milliseconds(call) for call in calls] for _ in range(N_FIRST + N_STEPS)]
            )
            medians = np.median(taken[N_FIRST:], axis=0)
            ratio = medians[1] / medians[3]
            rows.append([name, f"{n:,}", *(f"{value:.2f}" for value in medians), f"{ratio:.1f}"])
            print(rows[-1], flush=True)
    header = ["loss", "rows", "launched", "recorded", "cross-entropy", "sort", "recorded / sort"]
    about = __doc__.split("\n\n", 1)[1].rpartition(" Writes")[0].replace("\n", " ")
    about = about.format(steps=N_STEPS, first=N_FIRST)
    text = (
        f"# One step of a loss on a graphics card\n\n{torch.cuda.get_device_name()}. {about}\n\n"
        + markdown_table(header, rows)
    )
    write_signed(output, text, "benchmarks torch_step", ["torch"])


if __name__ == "__main__":
    main()
