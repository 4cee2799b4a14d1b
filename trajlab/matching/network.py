"""A network simplex in whole numbers, for problems so small that calling another costs more than solving them.

The basis is a tree: every row and every column hangs, by a pair or by an arc that stands in for
one, on a root. Arcs that stand in cost more than any way round, so they empty as soon as the
pairs allow it. The tree is strongly feasible (Cunningham 1976): pairs that carry nothing point
to the root, which keeps the simplex from going in circles.

Costs and prices are whole, so nothing is rounded, and a pair is cheaper than its prices say or
it is not. Nodes are numbered rows first, then columns, then the root.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from trajlab.matching.compiled import compiled
from trajlab.matching.plan import Ints

Small = npt.NDArray[np.int32]


class Tree(NamedTuple):
    """What each node hangs on: its parent, the flow and cost of the arc between, and whether that arc goes up."""

    parent: Small
    up: npt.NDArray[np.bool_]
    flow: Ints
    cost: Ints
    price: Ints
    depth: Small
    child: Small
    after: Small
    before: Small


@compiled
def plant(rows, columns):  # type: ignore[no-untyped-def]
    """Room for a tree."""
    nodes = rows + columns + 1
    return Tree(
        np.empty(nodes, np.int32), np.empty(nodes, np.bool_), np.empty(nodes, np.int64), np.empty(nodes, np.int64),
        np.empty(nodes, np.int64), np.empty(nodes, np.int32), np.empty(nodes, np.int32), np.empty(nodes, np.int32),
        np.empty(nodes, np.int32),
    )  # fmt: skip


@compiled
def hang(tree, node, parent):  # type: ignore[no-untyped-def]
    """Make a node the first child of another."""
    first = tree.child[parent]
    tree.parent[node], tree.before[node], tree.after[node] = parent, -1, first
    if first >= 0:
        tree.before[first] = node
    tree.child[parent] = node


@compiled
def cut(tree, node):  # type: ignore[no-untyped-def]
    """Take a node out of its parent's children."""
    before, after = tree.before[node], tree.after[node]
    if before >= 0:
        tree.after[before] = after
    else:
        tree.child[tree.parent[node]] = after
    if after >= 0:
        tree.before[after] = before


@compiled
def begin(tree, rows, supply, demand, choice, choice_cost, dear):  # type: ignore[no-untyped-def]
    """Hang every row on the column of its choice, and the columns on the root by arcs that stand in, at `dear`."""
    columns = len(demand)
    root = rows + columns
    for node in range(root + 1):
        tree.child[node] = -1
    tree.parent[root], tree.depth[root], tree.price[root] = -1, 0, 0
    tree.flow[root], tree.cost[root], tree.up[root] = 0, 0, True
    tree.after[root] = tree.before[root] = -1
    for column in range(columns):
        tree.flow[rows + column] = -demand[column]
    for row in range(rows):
        tree.flow[rows + choice[row]] += supply[row]
    for column in range(columns):
        node = rows + column
        hang(tree, node, root)
        tree.depth[node] = 1
        over = tree.flow[node]
        tree.up[node] = over >= 0
        if over >= 0:
            tree.cost[node] = dear
            tree.price[node] = -tree.cost[node]
        else:
            tree.flow[node] = -over
            tree.cost[node] = dear
            tree.price[node] = tree.cost[node]
    for row in range(rows):
        column = rows + choice[row]
        hang(tree, row, column)
        tree.depth[row] = 2
        tree.up[row], tree.flow[row], tree.cost[row] = True, supply[row], choice_cost[row]
        tree.price[row] = tree.price[column] - choice_cost[row]


@compiled
def exchange(tree, source, sink, cost):  # type: ignore[no-untyped-def]
    """Bring the pair into the tree, as much flow as there is room for round the ring that it closes."""
    parent, up, flow, depth, price = tree.parent, tree.up, tree.flow, tree.depth, tree.price
    least, out, of_source = np.int64(2**62), -1, True
    a, b = source, sink
    # The ring runs from its top down to the source, over the pair to the sink, and up again. Of
    # several arcs that empty at once the last on that way leaves.
    while a != b:
        if depth[a] >= depth[b]:
            if up[a] and flow[a] < least:
                least, out, of_source = flow[a], a, True
            a = parent[a]
        else:
            b = parent[b]
    top = a
    b = sink
    while b != top:
        if not up[b] and flow[b] <= least:
            least, out, of_source = flow[b], b, False
        b = parent[b]
    if least > 0:
        a = source
        while a != top:
            flow[a] += -least if up[a] else least
            a = parent[a]
        b = sink
        while b != top:
            flow[b] += least if up[b] else -least
            b = parent[b]
    # The part of the tree below the arc that leaves is hung on the other end of the pair.
    node, new_parent, new_up = (source, sink, True) if of_source else (sink, source, False)
    new_flow, new_cost = least, cost
    shift = (price[new_parent] - cost if new_up else price[new_parent] + cost) - price[node]
    below = node
    while True:
        old_parent, old_up, old_flow, old_cost = parent[node], up[node], flow[node], tree.cost[node]
        cut(tree, node)
        hang(tree, node, new_parent)
        up[node], flow[node], tree.cost[node] = new_up, new_flow, new_cost
        if node == out:
            break
        new_parent, new_up, new_flow, new_cost = node, not old_up, old_flow, old_cost
        node = old_parent
    node = below
    while True:
        price[node] += shift
        depth[node] = depth[parent[node]] + 1
        if tree.child[node] >= 0:
            node = tree.child[node]
            continue
        while node != below and tree.after[node] < 0:
            node = parent[node]
        if node == below:
            break
        node = tree.after[node]


@compiled
def improve(tree, rows, row, column, cost, count):  # type: ignore[no-untyped-def]
    """Exchange pairs until none of the first `count` is cheaper than its prices say; how many exchanges it took."""
    price = tree.price
    block = max(int(0.7 * np.sqrt(count)), 16)
    done, at, left = 0, 0, count
    best, entering = np.int64(0), -1
    seen = 0
    while left > 0:
        over = cost[at] + price[row[at]] - price[rows + column[at]]
        if over < best:
            best, entering = over, at
        at += 1
        if at == count:
            at = 0
        seen += 1
        left -= 1
        if entering >= 0 and (seen >= block or left == 0):
            exchange(tree, row[entering], rows + column[entering], cost[entering])
            done += 1
            best, entering, seen, left = np.int64(0), -1, 0, count
        elif seen >= block:
            seen = 0
    return done


@compiled
def solve(cost, supply, demand):  # type: ignore[no-untyped-def]
    """The tree of the cheapest plan, all pairs at once, whole costs as rows × columns.

    A node that is not the root with flow on its arc is a pair of the plan, with its parent. Prices u of rows and v of
    columns, with u + v ≤ cost everywhere, are `-price` and `price`.
    """
    rows, columns = cost.shape
    count = rows * columns
    row, column, flat = np.empty(count, np.int32), np.empty(count, np.int32), np.empty(count, np.int64)
    choice, least = np.empty(rows, np.int64), np.empty(rows, np.int64)
    dear, at = np.int64(0), 0
    for i in range(rows):
        choice[i], least[i] = 0, cost[i, 0]
        for j in range(columns):
            row[at], column[at], flat[at] = i, j, cost[i, j]
            at += 1
            dear = max(dear, cost[i, j])
            if cost[i, j] < least[i]:
                choice[i], least[i] = j, cost[i, j]
    tree = plant(rows, columns)
    begin(tree, rows, supply, demand, choice, least, (dear + 1) * (rows + columns))
    improve(tree, rows, row, column, flat, count)
    return tree
