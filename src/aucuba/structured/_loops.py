"""Compiled total variation on a graph: blocks of nodes, split by minimum cuts at their means.

Import this module only where a loop is about to be called: it imports numba.

In a block with gains ``g`` the nodes send their excess over the mean, along edges of capacity ``w`` in
both directions, to nodes below the mean. Excess that cannot be sent marks the side that belongs above;
the two sides, without the edges between them, become blocks, until no cut improves a block
(Chambolle and Darbon, "On total variation minimization and surface evolution using parametric maximum
flows", 2009). Every cut starts without flow: a flow that was balanced around the mean of a larger block
is off by the same small amount in every node, which then has to travel far.

A cut is found by two search trees, from nodes with excess and from nodes in need, that survive the
augmentations: Boykov and Kolmogorov, "An experimental comparison of min-cut / max-flow algorithms for
energy minimization in vision" (2004). Names: ``tree`` is 1 above, -1 below, 0 free; ``parent`` is the
arc to the parent, `_ROOT` for a node with excess or need, `_NONE` for an orphan; ``reach`` has rows of
time stamps and distances to the root. Arc k leads to ``head[k]``, and ``back[k]`` is the arc back.
"""

from __future__ import annotations

from typing import Any

from aucuba._base._compiled import compiled

_ROOT, _NONE = -1, -2
# A cut must gain more than the rounding error of the sums that measure it.
_RELATIVE_GAIN = 1e-13


@compiled
def _augment(
    bridge: int, head: Any, back: Any, room: Any, excess: Any, parent: Any, orphans: Any, count: int
) -> int:
    """Send all that fits from root to root over an arc between the trees; return the new orphans."""
    amount = room[bridge]
    i = head[back[bridge]]
    while parent[i] != _ROOT:
        amount = min(amount, room[back[parent[i]]])
        i = head[parent[i]]
    amount = min(amount, excess[i])
    i = head[bridge]
    while parent[i] != _ROOT:
        amount = min(amount, room[parent[i]])
        i = head[parent[i]]
    amount = min(amount, -excess[i])
    room[bridge] -= amount
    room[back[bridge]] += amount
    for side in (1, -1):
        i = head[back[bridge]] if side == 1 else head[bridge]
        while True:
            arc = parent[i]
            if arc == _ROOT:
                excess[i] -= side * amount
                if excess[i] == 0.0:
                    parent[i] = _NONE
                    orphans[count] = i
                    count += 1
                break
            following = head[arc]
            used, other = (back[arc], arc) if side == 1 else (arc, back[arc])
            room[used] -= amount
            room[other] += amount
            if room[used] == 0.0:
                parent[i] = _NONE
                orphans[count] = i
                count += 1
            i = following
    return count


@compiled
def _distance(j: int, time: int, head: Any, parent: Any, reach: Any) -> int:
    """Count the arcs from a node to its root, remembering them; -1 if an orphan is on the way."""
    length, i = 0, j
    while reach[0, i] != time:
        arc = parent[i]
        if arc == _NONE:
            return -1
        length += 1
        if arc == _ROOT:
            reach[0, i], reach[1, i] = time, 1
            break
        i = head[arc]
    else:
        length += reach[1, i]
    left, i = length, j
    while reach[0, i] != time:
        reach[0, i], reach[1, i] = time, left
        left -= 1
        i = head[parent[i]]
    return length


@compiled
def _adopt(
    i: int,
    time: int,
    first: Any,
    head: Any,
    back: Any,
    room: Any,
    tree: Any,
    parent: Any,
    reach: Any,
) -> bool:
    """Find a new parent for an orphan in its tree, the one nearest to a root; False without one."""
    best, shortest = _NONE, 0
    for k in range(first[i], first[i + 1]):
        j = head[k]
        if tree[j] == tree[i] and (room[back[k]] if tree[i] == 1 else room[k]) > 0.0:
            length = _distance(j, time, head, parent, reach)
            if length >= 0 and (best == _NONE or length < shortest):
                best, shortest = k, length
    if best == _NONE:
        return False
    parent[i] = best
    reach[0, i], reach[1, i] = time, shortest + 1
    return True


@compiled
def _find_bridge(
    i: int,
    at: int,
    first: Any,
    head: Any,
    back: Any,
    room: Any,
    tree: Any,
    parent: Any,
    reach: Any,
    queue: Any,
    waiting: Any,
    end: int,
) -> tuple[int, int]:
    """Grow the tree of a node from its arc ``at`` on, up to an arc to the other tree.

    Returns the arc, -1 if there is none, and the end of the queue of active nodes. Arcs before ``at``
    need no second look: a head that is freed meanwhile makes the node active again, and one that joins
    the other tree is active itself.
    """
    side = tree[i]
    for k in range(at, first[i + 1]):
        if (room[k] if side == 1 else room[back[k]]) <= 0.0:
            continue
        j = head[k]
        if tree[j] == 0:
            tree[j], parent[j] = side, back[k]
            reach[0, j], reach[1, j] = reach[0, i], reach[1, i] + 1
            if not waiting[j]:
                waiting[j] = True
                queue[end % queue.shape[0]] = j
                end += 1
        elif tree[j] != side:
            return k, end
        elif reach[0, j] <= reach[0, i] and reach[1, j] > reach[1, i] and parent[j] >= 0:
            # A shorter way to a root than the present one.
            parent[j] = back[k]
            reach[0, j], reach[1, j] = reach[0, i], reach[1, i] + 1
    return -1, end


@compiled
def _cut(
    low: int,
    high: int,
    nodes: Any,
    first: Any,
    head: Any,
    back: Any,
    room: Any,
    excess: Any,
    tree: Any,
    parent: Any,
    reach: Any,
    queue: Any,
    orphans: Any,
    waiting: Any,
) -> None:
    """Send as much excess as possible inside a block; ``tree`` is 1 where a minimum cut is above."""
    begin = end = time = 0
    for place in range(low, high):
        i = nodes[place]
        tree[i], parent[i], waiting[i] = 0, _NONE, False
        reach[0, i], reach[1, i] = 0, 1
        if excess[i] != 0.0:
            tree[i], parent[i], waiting[i] = 1 if excess[i] > 0.0 else -1, _ROOT, True
            queue[end] = i
            end += 1
    while begin < end:
        i = queue[begin % queue.shape[0]]
        begin += 1
        waiting[i] = False
        at = first[i]
        while tree[i] != 0:
            at, end = _find_bridge(
                i, at, first, head, back, room, tree, parent, reach, queue, waiting, end
            )
            if at < 0:
                break
            time += 1
            bridge = at if tree[i] == 1 else back[at]
            lost, count = 0, _augment(bridge, head, back, room, excess, parent, orphans, 0)
            # First in, first out: orphans near the roots find parents before their children search.
            while lost < count:
                child = orphans[lost % orphans.shape[0]]
                lost += 1
                if _adopt(child, time, first, head, back, room, tree, parent, reach):
                    continue
                side, tree[child] = tree[child], 0
                for k in range(first[child], first[child + 1]):
                    j = head[k]
                    if tree[j] != side:
                        continue
                    if (room[back[k]] if side == 1 else room[k]) > 0.0 and not waiting[j]:
                        waiting[j] = True
                        queue[end % queue.shape[0]] = j
                        end += 1
                    if parent[j] >= 0 and head[parent[j]] == child:
                        parent[j] = _NONE
                        orphans[count % orphans.shape[0]] = j
                        count += 1


@compiled
def _open_parts(
    low: int,
    high: int,
    nodes: Any,
    first: Any,
    head: Any,
    weight: Any,
    tree: Any,
    ordered: Any,
    blocks: Any,
    count: int,
) -> int:
    """Open the connected parts of a block as new blocks; return how many blocks are open.

    Their nodes are put side by side in ``nodes``. Arcs of weight 0 have been cut. A tree of 2 marks
    nodes that were seen.
    """
    filled = low
    for place in range(low, high):
        start = nodes[place]
        if tree[start] == 2:
            continue
        tree[start], ordered[filled], at = 2, start, filled
        blocks[0, count] = filled
        filled += 1
        while at < filled:
            i = ordered[at]
            at += 1
            for k in range(first[i], first[i + 1]):
                if weight[k] > 0.0 and tree[head[k]] != 2:
                    tree[head[k]], ordered[filled] = 2, head[k]
                    filled += 1
        blocks[1, count] = filled
        count += 1
    for place in range(low, high):
        nodes[place] = ordered[place]
    return count


@compiled
def _write_arcs(
    pairs: Any, edge_weight: Any, first: Any, head: Any, back: Any, weight: Any, used: Any
) -> None:
    """Write both arcs of every edge; ``used`` counts the arcs that each node has so far."""
    for e in range(edge_weight.size):
        i, j = pairs[e, 0], pairs[e, 1]
        one, other = first[i] + used[i], first[j] + used[j]
        used[i] += 1
        used[j] += 1
        head[one], back[one], weight[one] = j, other, edge_weight[e]
        head[other], back[other], weight[other] = i, one, edge_weight[e]


@compiled
def _level(
    low: Any,
    high: Any,
    nodes: Any,
    first: Any,
    weight: Any,
    gain: Any,
    mass: Any,
    score: Any,
    excess: Any,
    room: Any,
) -> Any:
    """Score a block by its mean and open its arcs; return its mass, and the size of its terms."""
    total, items, size = 0.0, 0.0, 0.0
    for place in range(low, high):
        total += gain[nodes[place]]
        items += mass[nodes[place]]
    mean = total / max(items, 1.0)
    for place in range(low, high):
        i = nodes[place]
        score[i] = mean
        excess[i] = gain[i] - mean * mass[i]
        size += abs(excess[i])
        for k in range(first[i], first[i + 1]):
            room[k] = weight[k]
            size += weight[k] / 2
    return items, size


@compiled
def split_blocks(
    pairs: Any,
    edge_weight: Any,
    gain: Any,
    mass: Any,
    score: Any,
    first: Any,
    arcs: Any,
    sizes: Any,
    excess: Any,
    tree: Any,
    waiting: Any,
    work: Any,
) -> None:
    """Write the scores of all nodes: the means of the blocks that no cut can improve.

    Parameters
    ----------
    pairs, edge_weight : arrays with one row per edge
        Weights are above zero.
    gain, mass : arrays of shape (n_nodes,)
        Changed in place: the lower end of a cut edge gains its weight, the upper end loses it.
    score : array of shape (n_nodes,)
        The result.
    first : array of shape (n_nodes + 1,)
        The arcs of node i are ``first[i]`` to before ``first[i + 1]``.
    arcs, sizes, excess, tree, waiting, work : arrays
        Workspace. Heads of arcs and the arcs back; their weights, zero once cut, and what they can
        still carry; ``work`` has nine rows of ``n_nodes + 1`` integers.
    """
    nodes, parent, queue, orphans = work[0], work[1], work[2], work[3]
    reach, ordered, blocks = work[4:6], work[6], work[7:9]
    head, back, weight, room = arcs[0], arcs[1], sizes[0], sizes[1]
    _write_arcs(pairs, edge_weight, first, head, back, weight, queue)
    n = gain.size
    for i in range(n):
        nodes[i] = i
    open_blocks = _open_parts(0, n, nodes, first, head, weight, tree, ordered, blocks, 0)
    while open_blocks > 0:
        open_blocks -= 1
        low, high = blocks[0, open_blocks], blocks[1, open_blocks]
        items, size = _level(low, high, nodes, first, weight, gain, mass, score, excess, room)
        # The score of a block of auxiliary nodes alone does not matter.
        if high - low == 1 or items == 0.0:
            continue
        _cut(
            *(low, high, nodes, first, head, back, room, excess),
            *(tree, parent, reach, queue, orphans, waiting),
        )
        left, above = 0.0, 0
        for place in range(low, high):
            if tree[nodes[place]] == 1:
                left += excess[nodes[place]]
                above += 1
        # If nothing is left, or all nodes are above by rounding errors, the block is final.
        if left <= _RELATIVE_GAIN * size or above == high - low:
            continue
        for place in range(low, high):
            i = nodes[place]
            for k in range(first[i], first[i + 1]):
                if tree[i] == 1 and weight[k] > 0.0 and tree[head[k]] != 1:
                    gain[i] -= weight[k]
                    gain[head[k]] += weight[k]
                    weight[k] = weight[back[k]] = room[k] = room[back[k]] = 0.0
        open_blocks = _open_parts(
            low, high, nodes, first, head, weight, tree, ordered, blocks, open_blocks
        )
