"""One slot's tracks from beliefs that are few for each track: the assignment of greatest belief in all.

Successive shortest paths: tracks are seated one after the other, each where its belief less the price of the cell is
greatest. Where the cell is full, somebody of those in it goes elsewhere for the least loss, and so on until there is
room; then prices rise along the way. With prices no track would rather be elsewhere, so what comes out is best.
"""

from __future__ import annotations

import numpy as np

from trajlab.attacks._compiled import compiled

POSSIBLE = np.float32(0.01)
"""A belief below that is no reason to seat a track there, but its cell in the first tracks always is one."""


@compiled
def seat_all(belief, cells, widths, path, need, found, sure):  # type: ignore[no-untyped-def]
    """The cell of each track into `found`, and the belief in it into `sure`."""
    people, places = len(path), len(need)
    first, to, worth = edges(belief, cells, widths, path)
    price, load, at = np.zeros(places), np.zeros(places, dtype=np.int64), np.full(people, -1, dtype=np.int64)
    head, after = np.full(places, -1, dtype=np.int64), np.full(people, -1, dtype=np.int64)
    before = np.full(people, -1, dtype=np.int64)
    way = (
        np.empty(places),
        np.zeros(places, dtype=np.int64),
        np.empty(places, dtype=np.int64),
        np.zeros(places, np.int8),
    )
    heap = (np.empty(len(to) + 1), np.empty(len(to) + 1, dtype=np.int64))
    waiting = 0
    queue = np.empty(people, dtype=np.int64)
    for person in range(people):
        best = first[person]
        for edge in range(first[person] + 1, first[person + 1]):
            best = edge if worth[edge] > worth[best] else best
        if load[to[best]] < need[to[best]]:
            sit(person, best, to, at, load, head, after, before)
        else:
            queue[waiting] = person
            waiting += 1
    for number in range(waiting):
        make_room(queue[number], first, to, worth, price, need, load, at, head, after, before, way, heap)
    for person in range(people):
        found[person], sure[person] = to[at[person]], worth[at[person]]


@compiled
def edges(belief, cells, widths, path):  # type: ignore[no-untyped-def]
    """Where each track may be seated, and how much it is believed to be there."""
    people, number = len(path), 0
    first = np.zeros(people + 1, dtype=np.int64)
    for person in range(people):
        for at in range(widths[person]):
            number += belief[person, at] >= POSSIBLE or cells[person, at] == path[person]
        first[person + 1] = number
    to, worth, number = np.empty(number, dtype=np.int64), np.empty(number), 0
    for person in range(people):
        for at in range(widths[person]):
            if belief[person, at] >= POSSIBLE or cells[person, at] == path[person]:
                to[number], worth[number] = cells[person, at], belief[person, at]
                number += 1
    return first, to, worth


@compiled
def sit(person, edge, to, at, load, head, after, before):  # type: ignore[no-untyped-def]
    """Seat a track, taking it from where it was."""
    if at[person] >= 0:
        old = to[at[person]]
        load[old] -= 1
        if before[person] >= 0:
            after[before[person]] = after[person]
        else:
            head[old] = after[person]
        if after[person] >= 0:
            before[after[person]] = before[person]
    cell = to[edge]
    at[person], before[person], after[person] = edge, -1, head[cell]
    if head[cell] >= 0:
        before[head[cell]] = person
    head[cell] = person
    load[cell] += 1


@compiled
def make_room(person, first, to, worth, price, need, load, at, head, after, before, way, heap):  # type: ignore[no-untyped-def]
    """Seat one track more, at the least loss to all: Dijkstra's way over the cells."""
    loss, via, seen, state = way  # state: 1 reached, 2 done
    seen_number, size, done = 0, 0, -1
    mine = -np.inf
    for edge in range(first[person], first[person + 1]):
        mine = max(mine, worth[edge] - price[to[edge]])
    source, base = person, 0.0
    while True:
        left = to[at[source]] if source != person else -1
        mover = source if source == person else head[left]
        while mover >= 0:
            have = mine if mover == person else worth[at[mover]] - price[left]
            for edge in range(first[mover], first[mover + 1]):
                cell = to[edge]
                if state[cell] == 2:
                    continue
                found = base + max(have - (worth[edge] - price[cell]), 0.0)
                if state[cell] == 0:
                    seen[seen_number] = cell
                    seen_number += 1
                elif found >= loss[cell]:
                    continue
                state[cell], loss[cell], via[cell] = 1, found, edge
                size = push(heap, size, found, cell)
            mover = -1 if mover == person else after[mover]
        while True:
            base, cell, size = pop(heap, size)
            if state[cell] == 1 and base == loss[cell]:
                break
        state[cell] = 2
        if load[cell] < need[cell]:
            done = cell
            break
        source = head[cell]
    for number in range(seen_number):
        cell = seen[number]
        if state[cell] == 2:
            price[cell] += base - loss[cell]
        state[cell] = 0
    cell = done
    while True:
        edge = via[cell]
        mover = np.searchsorted(first, edge, side="right") - 1
        cell = to[at[mover]] if mover != person else -1
        sit(mover, edge, to, at, load, head, after, before)
        if mover == person:
            return


@compiled
def push(heap, size, key, cell):  # type: ignore[no-untyped-def]
    keys, cells = heap
    at = size
    while at > 0 and (keys[(at - 1) >> 1] > key or (keys[(at - 1) >> 1] == key and cells[(at - 1) >> 1] > cell)):
        keys[at], cells[at] = keys[(at - 1) >> 1], cells[(at - 1) >> 1]
        at = (at - 1) >> 1
    keys[at], cells[at] = key, cell
    return size + 1


@compiled
def pop(heap, size):  # type: ignore[no-untyped-def]
    keys, cells = heap
    top, cell, size = keys[0], cells[0], size - 1
    key, last, at = keys[size], cells[size], 0
    while 2 * at + 1 < size:
        child = 2 * at + 1
        right = child + 1
        if right < size and (keys[right] < keys[child] or (keys[right] == keys[child] and cells[right] < cells[child])):
            child = right
        if not (keys[child] < key or (keys[child] == key and cells[child] < last)):
            break
        keys[at], cells[at] = keys[child], cells[child]
        at = child
    keys[at], cells[at] = key, last
    return top, cell, size
