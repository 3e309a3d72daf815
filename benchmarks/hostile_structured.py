"""Hostile graphs against oracles that count in fractions: cases tried, and cases wrong.

The generators and checks are those of ``tests/hostile/graphs.py``, each case from its own seed; a case
is wrong where its check fails. ``python -m benchmarks hostile_structured`` rewrites
``benchmarks/results/hostile_structured.md``.
"""

from __future__ import annotations

import os
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

from benchmarks.hostile_numbers import wrong_cases
from reproductions.tables import markdown_table, write_signed
from tests.hostile import graphs

RESULT = Path(__file__).parent / "results" / "hostile_structured.md"
CASES = (
    ("`tv_scores`: sums of the top scores", graphs.check_scores, 3_000),
    ("`high_order_scores`: the same with cliques", graphs.check_terms, 1_500),
    ("rankings (7a), (7b), (7c) of several graphs at once", graphs.check_rankings, 1_500),
    ("`StructuredRanker`: objective, signs, scores, orders, refusals", graphs.check_fit, 300),
    ("malformed graphs: one error with the value seen", graphs.check_refusal, 1_100),
)


def main() -> None:
    """Run all cases and write the table."""
    rows = []
    for words, check, n_cases in CASES:
        wrong = wrong_cases(check, n_cases)
        rows.append([words, f"{n_cases:,}", len(wrong)])
        print(rows[-1], flush=True)
    text = f"""# Hostile graphs

Graphs of 1 to 7 nodes: disconnected, empty or of one node; couplings that are zero, tied, or spread
over 24 decades; scores from 1e-150 to 1e150; labels of one class. Seeds 0, 1, ... of the generators in
`tests/hostile/graphs.py`. Wrong: a value differs from that of an enumeration in fractions by more than
1e-11 of the sizes that enter it (an objective of training by more than 1e-8), a weight of an edge is
negative, an order is no order, or an error is not the right one.

{markdown_table(["cases", "tried", "wrong"], rows)}

One fault was found and mended: where all graphs with edges had labels of one class, which training
skips, the fitted model refused the very graphs it was given.
"""
    write_signed(RESULT, text, "benchmarks hostile_structured")


if __name__ == "__main__":
    main()
