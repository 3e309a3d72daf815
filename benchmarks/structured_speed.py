"""Speed of exact ranking inference: total variation on the graph against the linear program.

Run ``python -m benchmarks structured_speed``; it rewrites ``benchmarks/results/structured_speed.md``.
Every time is the best processor time of several runs with one thread; ratios come from the same run.
PyMaxflow is a peer where it is installed. Its licence is the GPL: the library never imports it.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import importlib.util
import time
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components, maximum_flow

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
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return min(times)


def problem(kind, n_nodes, rng):
    if kind == "grid":
        side = round(n_nodes**0.5)
        edges = grid_edges(side, n_nodes // side)
        n_nodes = side * (n_nodes // side)
    elif kind == "path":
        edges = np.stack([np.arange(n_nodes - 1), np.arange(1, n_nodes)], axis=1)
    else:
        edges = barabasi_albert(n_nodes, 3, rng)
    return rng.normal(size=n_nodes), edges, rng.random(len(edges))


def against_linear_program(rng):
    rows = []
    for kind in ("grid", "Barabasi-Albert"):
        for n_nodes in (50, 100):
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


def scipy_side(excess, edges, weight, block):
    """Source side of a minimum cut by SciPy, each block scaled to whole capacities of its own."""
    n_nodes = excess.size
    degree = np.bincount(edges.ravel(), weights=np.repeat(weight, 2), minlength=n_nodes)
    largest = np.zeros(int(block.max()) + 1)
    np.maximum.at(largest, block, degree)
    scale = 2.0**29 / largest
    capacity = np.rint(weight * scale[block[edges[:, 0]]])
    most = np.bincount(edges.ravel(), weights=np.repeat(capacity, 2), minlength=n_nodes) + 1
    terminal = np.minimum(np.rint(np.abs(excess) * scale[block]), most)
    nodes, above = np.arange(n_nodes), excess > 0
    tails = np.concatenate([edges[:, 0], edges[:, 1], np.where(above, n_nodes, nodes)])
    heads = np.concatenate([edges[:, 1], edges[:, 0], np.where(above, nodes, n_nodes + 1)])
    values = np.concatenate([capacity, capacity, terminal]).astype(np.int32)
    places = (tails.astype(np.int32), heads.astype(np.int32))
    graph = csr_array((values, places), shape=(n_nodes + 2, n_nodes + 2))
    residual = graph - maximum_flow(graph, n_nodes, n_nodes + 1).flow
    residual.eliminate_zeros()
    side = np.zeros(n_nodes + 2, dtype=bool)
    side[breadth_first_order(residual, n_nodes, return_predecessors=False)] = True
    return side[:n_nodes]


def pymaxflow_side(excess, edges, weight, block):
    """The same by PyMaxflow, in floating point."""
    import maxflow

    nodes = np.arange(excess.size)
    graph = maxflow.GraphFloat(excess.size, len(edges))
    graph.add_nodes(excess.size)
    graph.add_edges(edges[:, 0], edges[:, 1], weight, weight)
    graph.add_grid_tedges(nodes, np.maximum(excess, 0), np.maximum(-excess, 0))
    graph.maxflow()
    return ~graph.get_grid_segments(nodes)


def by_levels(side, unary, edges, coupling):
    """Total variation by minimum cuts of all blocks of a level at once."""
    weight = coupling / 2
    gain = unary + np.bincount(edges.ravel(), np.repeat(weight, 2), minlength=unary.size)
    score, nodes = gain.copy(), np.arange(gain.size)
    while len(edges):
        alive = np.zeros(nodes.size, dtype=bool)
        alive[edges.ravel()] = True
        score[nodes[~alive]] = gain[~alive]
        nodes, edges, gain = nodes[alive], (np.cumsum(alive) - 1)[edges], gain[alive]
        ones = np.ones(len(edges), dtype=np.int8)
        graph = csr_array((ones, tuple(edges.T)), shape=(nodes.size, nodes.size))
        block = connected_components(graph, directed=False)[1]
        mean = np.bincount(block, weights=gain) / np.bincount(block)
        excess = gain - mean[block]
        above = side(excess, edges, weight, block)
        crossing, owner = above[edges[:, 0]] != above[edges[:, 1]], block[edges[:, 0]]
        cut = np.bincount(owner[crossing], weight[crossing], minlength=mean.size)
        gained = np.bincount(block, np.where(above, excess, 0.0)) - cut
        size = np.bincount(block, np.abs(excess)) + np.bincount(owner, weight, minlength=mean.size)
        worth = (gained > 1e-13 * size) & (cut > 0)
        gain = np.where(worth[block], gain, mean[block])
        crossing &= worth[owner]
        first = above[edges[crossing, 0]]
        sign = np.where(first, 1.0, -1.0) * weight[crossing]
        np.subtract.at(gain, edges[crossing, 0], sign)
        np.add.at(gain, edges[crossing, 1], sign)
        kept = ~crossing & worth[owner]
        edges, weight = edges[kept], weight[kept]
    score[nodes] = gain
    return score


def large_graphs(rng):
    peers = {"SciPy": scipy_side} | dict.fromkeys(_installed(), pymaxflow_side)
    rows = []
    for kind in ("grid", "Barabasi-Albert", "path"):
        for n_nodes in (1_000, 10_000, 100_000):
            unary, edges, coupling = problem(kind, n_nodes, rng)
            for strength in (0.3, 1.0, 3.0, 30.0):
                given = (unary, edges, strength * coupling)
                ours = best_time(lambda p=given: tv_scores(*p), 3)
                row = [f"{kind}, n = {unary.size:,}, c up to {strength:g}", f"{1e3 * ours:.1f}"]
                found, difference = tv_scores(*given), 0.0
                for side in peers.values():
                    seconds = best_time(lambda p=given, s=side: by_levels(s, *p), 2)
                    row += [f"{1e3 * seconds:.1f}", f"{ours / seconds:.2f}"]
                    gap = np.abs(by_levels(side, *given) - found).max()
                    difference = max(difference, gap / np.abs(found).max())
                rows.append([*row, f"{difference:.0e}", f"{np.unique(found).size:,}"])
    columns = [name for peer in peers for name in (f"{peer}, ms", "ours / it")]
    header = ["graph", "tv_scores, ms", *columns, "largest relative difference", "blocks"]
    return markdown_table(header, rows)


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


def _installed():
    return ["PyMaxflow"] if importlib.util.find_spec("maxflow") else []


def main():
    rng = np.random.default_rng(0)
    text = "\n".join(
        [
            "# Speed of exact ranking inference",
            "",
            "One thread, processor time, best of several runs.",
            "",
            "## Against the linear program (9)",
            "",
            against_linear_program(rng),
            "",
            "## Large graphs",
            "",
            "`tv_scores` as a user calls it, checks included, beside minimum cuts of all blocks of a "
            "level by another solver, without checks. Couplings are uniform up to c.",
            "",
            large_graphs(rng),
            "",
            "## A pass over a data set of the size of OHSUMED",
            "",
            one_pass_over_a_data_set(rng),
            "",
        ]
    )
    write_signed(RESULT, text, "benchmarks structured_speed", _installed())


if __name__ == "__main__":
    main()
