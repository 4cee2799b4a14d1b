"""A network simplex on some pairs of many rows and few columns, that goes on when pairs are added.

As in `network`, the basis is a strongly feasible tree whose root takes what the pairs cannot
place yet, at a price. Nearly all rows hang on one column and have nothing below them: such a
leaf is in no list, and the price of a row is read off its column. A pivot then walks over
columns and the few rows between them, a tenth of the nodes.

Nodes are numbered columns first, then the root, then rows. Costs and prices are whole.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from trajlab.matching.compiled import compiled
from trajlab.matching.plan import Ints

Small = npt.NDArray[np.int32]


class Forest(NamedTuple):
    """What each node hangs on: its parent, the flow and cost of the arc between, and whether that arc goes up.

    `price` and `depth` are those of columns and of the root. `middle` and `width` say what it costs to leave too much
    or too little in a column: `width - middle` and `width + middle`.
    """

    parent: Small
    up: npt.NDArray[np.bool_]
    flow: Ints
    cost: Ints
    child: Small
    after: Small
    before: Small
    price: Ints
    depth: Small
    middle: Ints
    width: Ints


@compiled
def plant(supply, demand, choice, choice_cost, middle, wide):  # type: ignore[no-untyped-def]
    """Every row hangs on the column of its choice, every column on the root, which evens out what is wrong."""
    rows, root = len(supply), len(demand)
    nodes = rows + root + 1
    tree = Forest(
        np.full(nodes, -1, np.int32), np.ones(nodes, np.bool_), np.zeros(nodes, np.int64), np.zeros(nodes, np.int64),
        np.full(nodes, -1, np.int32), np.full(nodes, -1, np.int32), np.full(nodes, -1, np.int32),
        np.zeros(root + 1, np.int64), np.zeros(root + 1, np.int32), middle, np.full(root, wide, np.int64),
    )  # fmt: skip
    for column in range(root):
        tree.flow[column] = -demand[column]
    for row in range(rows):
        node = root + 1 + row
        tree.parent[node], tree.flow[node], tree.cost[node] = choice[row], supply[row], choice_cost[row]
        tree.flow[choice[row]] += supply[row]
    for column in range(root):
        tree.parent[column], tree.depth[column] = root, 1
        push(tree, column, root)
        tree.up[column] = tree.flow[column] >= 0
        tree.flow[column] = abs(tree.flow[column])
        charge(tree, column)
        tree.price[column] = -tree.cost[column] if tree.up[column] else tree.cost[column]
    return tree


@compiled
def charge(tree, column):  # type: ignore[no-untyped-def]
    """What the arc between a column and the root costs."""
    middle, width = tree.middle[column], tree.width[column]
    tree.cost[column] = width - middle if tree.up[column] else width + middle


@compiled
def push(tree, node, parent):  # type: ignore[no-untyped-def]
    """Make a node the first in the list of a parent."""
    first = tree.child[parent]
    tree.before[node], tree.after[node] = -1, first
    if first >= 0:
        tree.before[first] = node
    tree.child[parent] = node


@compiled
def pull(tree, node, parent):  # type: ignore[no-untyped-def]
    """Take a node out of the list of its parent."""
    before, after = tree.before[node], tree.after[node]
    if before >= 0:
        tree.after[before] = after
    else:
        tree.child[parent] = after
    if after >= 0:
        tree.before[after] = before


@compiled
def attach(tree, root, node, parent):  # type: ignore[no-untyped-def]
    """Hang a node on another; a row that gets its first child is listed with its own column."""
    tree.parent[node] = parent
    if node <= root or tree.child[node] >= 0:
        leaf = parent > root and tree.child[parent] < 0
        push(tree, node, parent)
        if leaf:
            push(tree, parent, tree.parent[parent])


@compiled
def detach(tree, root, node):  # type: ignore[no-untyped-def]
    """The reverse; a row that loses its last child is a leaf again."""
    if node <= root or tree.child[node] >= 0:
        parent = tree.parent[node]
        pull(tree, node, parent)
        if parent > root and tree.child[parent] < 0:
            pull(tree, parent, tree.parent[parent])


@compiled
def depth(tree, root, node):  # type: ignore[no-untyped-def]
    return tree.depth[node] if node <= root else tree.depth[tree.parent[node]] + 1


@compiled
def price(tree, root, node):  # type: ignore[no-untyped-def]
    return tree.price[node] if node <= root else tree.price[tree.parent[node]] - tree.cost[node]


@compiled
def exchange(tree, root, source, sink, cost):  # type: ignore[no-untyped-def]
    """Bring an arc into the tree, as much flow as there is room for round the ring that it closes.

    The ring runs from its top down to the source, over the arc to the sink, and up again. Of several arcs that empty
    at once the last on that way leaves, which keeps the tree strongly feasible.
    """
    parent, up, flow = tree.parent, tree.up, tree.flow
    least, out, of_source = np.int64(2**62), -1, True
    a, b = source, sink
    below_a, below_b = depth(tree, root, a), depth(tree, root, b)
    while a != b:
        if below_a >= below_b:
            if up[a] and flow[a] < least:
                least, out, of_source = flow[a], a, True
            a = parent[a]
            below_a -= 1
        else:
            b = parent[b]
            below_b -= 1
    top = a
    b = sink
    while b != top:
        if not up[b] and flow[b] <= least:
            least, out, of_source = flow[b], b, False
        b = parent[b]
    if least > 0:
        a, b = source, sink
        while a != top:
            flow[a] += -least if up[a] else least
            a = parent[a]
        while b != top:
            flow[b] += least if up[b] else -least
            b = parent[b]
    below, above, goes_up = (source, sink, True) if of_source else (sink, source, False)
    there = price(tree, root, above)
    shift = (there - cost if goes_up else there + cost) - price(tree, root, below)
    turn(tree, root, below, above, goes_up, least, cost, out)
    settle(tree, root, below, shift)


@compiled
def turn(tree, root, node, parent, up, flow, cost, out):  # type: ignore[no-untyped-def]
    """Hang the part of the tree below `out` on a parent, by a node of it: the way between turns round."""
    while True:
        old = tree.parent[node], tree.up[node], tree.flow[node], tree.cost[node]
        detach(tree, root, node)
        attach(tree, root, node, parent)
        tree.up[node], tree.flow[node], tree.cost[node] = up, flow, cost
        if node == out:
            return
        parent, up, flow, cost = node, not old[1], old[2], old[3]
        node = old[0]


@compiled
def settle(tree, root, top, shift):  # type: ignore[no-untyped-def]
    """New prices and depths of the columns from a node down."""
    node = top
    if node > root and tree.child[node] < 0:
        return
    while True:
        if node < root:
            tree.price[node] += shift
            tree.depth[node] = depth(tree, root, tree.parent[node]) + 1
        if tree.child[node] >= 0:
            node = tree.child[node]
            continue
        while node != top and tree.after[node] < 0:
            node = tree.parent[node]
        if node == top:
            return
        node = tree.after[node]


@compiled
def widen(tree, factor, most):  # type: ignore[no-untyped-def]
    """Make it dearer to leave too much or too little where that still happens; in how many columns it can be."""
    root = len(tree.width)
    changed = 0
    node = tree.child[root]
    while node >= 0:
        following = tree.after[node]
        if tree.flow[node] > 0 and tree.width[node] < most:
            tree.width[node] = min(factor * tree.width[node], most)
            before = tree.cost[node]
            charge(tree, node)
            settle(tree, root, node, before - tree.cost[node] if tree.up[node] else tree.cost[node] - before)
            changed += 1
        node = following
    return changed


@compiled
def improve(tree, first, column, cost):  # type: ignore[no-untyped-def]
    """Exchange pairs until none is cheaper than its prices say: row i has those from `first[i]` to `first[i + 1]`."""
    prices, middle, width = tree.price, tree.middle, tree.width
    rows, root = len(first) - 1, len(width)
    block = max(int(np.sqrt(len(column))), 16)
    at, seen, left = 0, 0, rows + root
    best, source, sink, entering = np.int64(0), -1, -1, np.int64(0)
    while left > 0:
        if at < rows:
            node = root + 1 + at
            base = prices[tree.parent[node]] - tree.cost[node]
            for k in range(first[at], first[at + 1]):
                over = cost[k] + base - prices[column[k]]
                if over < best:
                    best, source, sink, entering = over, node, column[k], cost[k]
            seen += first[at + 1] - first[at]
        else:
            node = at - rows
            over = width[node] - middle[node] + prices[node]
            if over < best:
                best, source, sink, entering = over, node, root, width[node] - middle[node]
            over = width[node] + middle[node] - prices[node]
            if over < best:
                best, source, sink, entering = over, root, node, width[node] + middle[node]
            seen += 1
        at = at + 1 if at + 1 < rows + root else 0
        left -= 1
        if best < 0 and (seen >= block or left == 0):
            exchange(tree, root, source, sink, entering)
            best, seen, left = np.int64(0), 0, rows + root
        elif seen >= block:
            seen = 0


@compiled
def join(first, column, cost, count, more_column, more_cost):  # type: ignore[no-untyped-def]
    """The pairs of each row with the first `count` of some more."""
    rows = len(count)
    begin = np.zeros(rows + 1, np.int64)
    for row in range(rows):
        begin[row + 1] = begin[row] + first[row + 1] - first[row] + count[row]
    columns, costs = np.empty(begin[rows], np.int32), np.empty(begin[rows], np.int64)
    for row in range(rows):
        at = begin[row]
        for k in range(first[row], first[row + 1]):
            columns[at], costs[at] = column[k], cost[k]
            at += 1
        for k in range(count[row]):
            columns[at], costs[at] = more_column[row, k], more_cost[row, k]
            at += 1
    return begin, columns, costs
