"""Speed of exact ranking inference: total variation on the graph against the linear program.

Run ``python -m benchmarks structured_speed``; it rewrites ``benchmarks/results/structured_speed.md``.
Every time is the best of several runs with one thread; ratios come from the same run.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import time
from pathlib import Path

import numpy as np

from aucuba.structured import AUC, grid_edges, ranking_lp, tv_scores
from aucuba.structured._inference import RankingBatch
from reproductions.tables import markdown_table, write_signed

RESULT = Path(__file__).parent / "results" / "structured_speed.md"


def barabasi_albert(n_nodes, n_links, rng):
    """Every new node joins ``n_links`` old ones, chosen in proportion to their degrees."""
    ends, edges = list(range(n_links)), []
    for node in range(n_links, n_nodes):
        for old in {ends[index] for index in rng.integers(len(ends), size=n_links)}:
            edges.append((old, node))
            ends += [old, node]
    return np.array(edges)


def best_time(function, repeats):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def problem(kind, n_nodes, rng):
    if kind == "grid":
        side = round(n_nodes**0.5)
        edges = grid_edges(side, n_nodes // side)
        n_nodes = side * (n_nodes // side)
    else:
        edges = barabasi_albert(n_nodes, 3, rng)
    return rng.normal(size=n_nodes), edges, rng.random(len(edges))


def against_linear_program(rng):
    rows = []
    for kind in ("grid", "Barabasi-Albert"):
        for n_nodes in (50, 100, 200):
            unary, edges, coupling = problem(kind, n_nodes, rng)
            fast = best_time(lambda p=(unary, edges, coupling): tv_scores(*p), 20)
            start = time.perf_counter()
            slow_value = ranking_lp(unary, edges, coupling).value
            slow = time.perf_counter() - start
            weight = AUC().rows(unary.size).position_weight()
            value = weight @ np.sort(tv_scores(unary, edges, coupling))[::-1]
            rows.append(
                [
                    f"{kind}, n = {unary.size}, {len(edges)} edges",
                    f"{slow:.2f} s",
                    f"{1e3 * fast:.1f} ms",
                    f"{slow / fast:.0f}",
                    f"{abs(value - slow_value) / abs(slow_value):.0e}",
                ]
            )
    header = ["all rows of the AUC", "HiGHS", "tv_scores", "ratio", "relative difference of values"]
    return markdown_table(header, rows)


def large_graphs(rng):
    backends = ["scipy"]
    try:
        import ortools  # noqa: F401

        backends.append("ortools")
    except ImportError:
        pass
    rows = []
    for kind in ("grid", "Barabasi-Albert"):
        for n_nodes in (1_000, 10_000, 100_000):
            unary, edges, coupling = problem(kind, n_nodes, rng)
            for strength in (0.3, 1.0, 3.0):
                row = [f"{kind}, n = {unary.size:,}, c up to {strength:g}"]
                for backend in backends:
                    best = best_time(
                        lambda b=backend, c=strength * coupling, u=unary, e=edges: tv_scores(
                            u, e, c, backend=b
                        ),
                        3,
                    )
                    row.append(f"{best:.3f} s")
                row.append(f"{np.unique(tv_scores(unary, edges, strength * coupling)).size:,}")
                rows.append(row)
    return markdown_table(["graph", *backends, "blocks"], rows)


def one_pass_over_a_data_set(rng):
    """106 graphs of the size of OHSUMED queries, 100 edges each."""
    sizes = rng.integers(35, 321, size=106)
    offsets = np.cumsum(sizes) - sizes
    edges = np.concatenate(
        [
            offset + _random_pairs(size, 100, rng)
            for offset, size in zip(offsets, sizes, strict=True)
        ]
    )
    graphs = np.arange(106)
    batch = RankingBatch(edges, np.repeat(graphs, sizes), np.repeat(graphs, 100), 106, AUC())
    unary, coupling = rng.normal(size=sizes.sum()), rng.random(len(edges))
    positive = rng.random(sizes.sum()) < 0.3
    rows = []
    for name, call in (
        ("prediction (7a)", lambda: batch.predict(unary, coupling)),
        ("loss-augmented (7b)", lambda: batch.loss_augmented(unary, coupling, positive)),
        ("consistent (7c)", lambda: batch.consistent(unary, coupling, positive)),
    ):
        rows.append([name, f"{1e3 * best_time(call, 5):.0f} ms"])
    note = f"106 graphs, {sizes.sum():,} nodes, {len(edges):,} edges, one batched call each.\n\n"
    return note + markdown_table(["problem", "time"], rows)


def _random_pairs(n_nodes, count, rng):
    first, second = np.triu_indices(n_nodes, k=1)
    chosen = rng.permutation(first.size)[:count]
    return np.stack([first[chosen], second[chosen]], axis=1)


def main():
    rng = np.random.default_rng(0)
    text = "\n".join(
        [
            "# Speed of exact ranking inference",
            "",
            "One thread.",
            "",
            "## Against the linear program (9)",
            "",
            against_linear_program(rng),
            "",
            "## Large graphs",
            "",
            large_graphs(rng),
            "",
            "## A pass over a data set of the size of OHSUMED",
            "",
            one_pass_over_a_data_set(rng),
            "",
        ]
    )
    write_signed(RESULT, text, "benchmarks structured_speed")


if __name__ == "__main__":
    main()
