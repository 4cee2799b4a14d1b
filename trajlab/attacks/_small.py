"""A whole day of few people in one compiled loop: the same steps as in `_daily`, the same tracks, without its calls.

With two hundred people a step from slot to slot is a handful of groups that move to a handful of
cells. Arrays and sorted pairs, which carry a hundred thousand people, cost a hundred times what
such a step itself does. Counts must be exact.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from trajlab.attacks._city import City, Ints
from trajlab.attacks._daily import Successors
from trajlab.attacks._steps import Step, StepLog
from trajlab.matching.compiled import compiled
from trajlab.matching.network import solve
from trajlab.matching.ties import Keys

FEW = 1_000
"""People up to whom a day is walked through in one loop."""
ROOM = 10_000_000
"""People times cells up to which the loop counts how often each of them was in each."""

NIGHT, DAY = 0, 1


class Ground(NamedTuple):
    """Where cells are, and how ties between them fall."""

    x: Ints
    y: Ints
    code: Ints
    by_code: Ints
    cell_keys: Keys
    track_keys: Keys
    seed: np.uint64
    span: int
    step: float
    largest: float


def is_small(city: City) -> bool:
    """Whether `walk` can do it, and does it faster."""
    return city.exact and city.people <= FEW and city.people * city.cells <= ROOM


def walk(city: City, number: int, log: StepLog, by_distance: npt.NDArray[np.bool_], habit: Successors | None) -> Ints:
    """The tracks of a day, people × slots: by distance from the slots marked so, else by velocity and habit."""
    counts, _ = city.day(number)
    ground = Ground(
        city.x, city.y, city.codes, city.by_code, city.cell_keys, city.track_keys, np.uint64(city.seed % 2**64),
        city.span, city.step, city.reach,
    )  # fmt: skip
    first = habit.first if habit is not None else np.zeros(city.cells + 1, dtype=np.int64)
    cell = habit.cell if habit is not None else np.empty(0, dtype=np.int64)
    tracks: Ints
    tracks, proof = steps(np.ascontiguousarray(counts), ground, city.people, by_distance, first, cell)
    begin = number * city.slots_per_day + 1
    for slot, (stage, sources, sinks, cost, bound, rounds) in enumerate(proof.tolist()):
        name = "night" if stage == NIGHT else "day"
        log.add(Step(begin + slot, name, int(sources), int(sinks), cost, bound, int(rounds)))
    return np.ascontiguousarray(tracks.T)


@compiled
def steps(counts, ground, people, by_distance, habit_first, habit_cell):  # type: ignore[no-untyped-def]
    """The tracks, slots × people, and for each step its stage, sources, sinks, cost, bound and rounds."""
    slots, cells = counts.shape
    tracks = np.empty((slots, people), np.int64)
    proof = np.zeros((slots - 1, 6))
    visits = np.zeros((people, cells), np.int64)
    plan = np.empty((3, people + 2 * cells), np.int64)
    going, label, one_point = np.empty(people, np.int64), np.empty(people, np.int64), np.ones(people, np.bool_)
    group, leader, supply = np.empty(people, np.int64), np.empty(people, np.int64), np.empty(people, np.int64)
    left, right, demand = np.empty(people, np.int64), np.empty(cells, np.int64), np.empty(cells, np.int64)
    track = 0
    for cell in range(cells):
        for _ in range(counts[0, cell]):
            tracks[0, track] = cell
            visits[track, cell] += 1
            track += 1
    for slot in range(slots - 1):
        now, before = tracks[slot], tracks[max(slot - 1, 0)]
        several = not by_distance[slot] and len(habit_cell) > 0
        expect(ground, before, now, by_distance[slot], habit_first, habit_cell, going, label, one_point)
        proof[slot, 0] = NIGHT if by_distance[slot] else DAY
        many = join_alike(label, group, leader, supply)
        demand[:] = counts[slot + 1]
        used = stay(ground, demand, supply, many, leader, going, one_point, plan)
        rows = columns = units = 0
        for at in range(many):
            if supply[at]:
                left[rows] = at
                rows += 1
                units += supply[at]
        for cell in range(cells):
            if demand[cell]:
                right[columns] = cell
                columns += 1
        proof[slot, 1], proof[slot, 2] = rows, columns
        if rows:
            apart = distances(
                ground, left[:rows], right[:columns], leader, going, now, habit_first, habit_cell, several
            )
            cost, unit, error = whole_costs(ground, left[:rows], right[:columns], leader, label, apart)
            tree, total = solve_lines(cost, left[:rows], right[:columns], supply, demand)
            for node in range(rows + columns):
                if tree.flow[node] > 0:
                    i, j = (node, tree.parent[node]) if node < rows else (tree.parent[node], node)
                    plan[0, used], plan[1, used], plan[2, used] = left[i], right[j - rows], tree.flow[node]
                    proof[slot, 3] += tree.flow[node] * apart[i, j - rows]
                    used += 1
            proof[slot, 4], proof[slot, 5] = max(total * unit - error * units, 0.0), 1
        spread(plan, used, group, many, cells, ground.track_keys, visits, tracks[slot + 1])
        for track in range(people):
            visits[track, tracks[slot + 1, track]] += 1
    return tracks, proof


@compiled
def expect(  # type: ignore[no-untyped-def]
    ground, before, now, by_distance, habit_first, habit_cell, going, label, one_point
):
    """Where each track is expected, the name of its group, and whether it is expected there alone."""
    cells = len(ground.x)
    for track in range(len(now)):
        here, there = now[track], before[track]
        code = ground.code[here]
        if not by_distance:
            code = (2 * ground.x[here] - ground.x[there]) * ground.span + 2 * ground.y[here] - ground.y[there]
        going[track] = label[track] = code
        one_point[track] = True
        if len(habit_cell) and not by_distance:
            usual = habit_first[here + 1] - habit_first[here]
            alone = usual == 0 or (usual == 1 and ground.code[habit_cell[habit_first[here]]] == code)
            one_point[track] = alone
            label[track] = 2 * code + 1 if alone else 2 * (here * cells + there)


@compiled
def ascending(value, many):  # type: ignore[no-untyped-def]
    """The order of the first `many` values, equal ones as they stand: a merge sort, which compiles in no time."""
    order, other = np.arange(many), np.arange(many)
    width = 1
    while width < many:
        for begin in range(0, many, 2 * width):
            a, b = begin, begin + width
            for k in range(begin, min(begin + 2 * width, many)):
                if b >= min(begin + 2 * width, many) or (
                    a < min(begin + width, many) and value[order[a]] <= value[order[b]]
                ):
                    other[k] = order[a]
                    a += 1
                else:
                    other[k] = order[b]
                    b += 1
        for k in range(many):
            order[k] = other[k]
        width *= 2
    return order


@compiled
def join_alike(label, group, leader, supply):  # type: ignore[no-untyped-def]
    """The group of each track, in the order of labels; the first track and the size of each; how many there are."""
    order = ascending(label, len(label))
    many = 0
    for k in range(len(order)):
        if k == 0 or label[order[k]] != label[order[k - 1]]:
            leader[many], supply[many] = order[k], 0
            many += 1
        group[order[k]] = many - 1
        supply[many - 1] += 1
    return many


@compiled
def stay(ground, demand, supply, many, leader, going, one_point, plan):  # type: ignore[no-untyped-def]
    """Leave groups in the cell where they are expected, as many as are counted there; how many do."""
    cells = len(ground.code)
    used = 0
    for group in range(many):
        if not one_point[leader[group]]:
            continue
        code = going[leader[group]]
        low, high = 0, cells
        while low < high:
            middle = (low + high) // 2
            if ground.code[ground.by_code[middle]] < code:
                low = middle + 1
            else:
                high = middle
        cell = ground.by_code[min(low, cells - 1)]
        if ground.code[cell] == code and demand[cell] > 0:
            amount = min(supply[group], demand[cell])
            plan[0, used], plan[1, used], plan[2, used] = group, cell, amount
            supply[group] -= amount
            demand[cell] -= amount
            used += 1
    return used


@compiled
def distances(ground, left, right, leader, going, now, habit_first, habit_cell, several):  # type: ignore[no-untyped-def]
    """From the nearest of the points where each group is expected to each cell, in metres."""
    apart = np.empty((len(left), len(right)))
    span, step = ground.span, ground.step
    for i in range(len(left)):
        track = leader[left[i]]
        x = (going[track] + span // 2) // span
        east, north = x * step, (going[track] - x * span) * step
        for j in range(len(right)):
            dx, dy = east - ground.x[right[j]] * step, north - ground.y[right[j]] * step
            apart[i, j] = np.sqrt(dx * dx + dy * dy)
        if several:
            for k in range(habit_first[now[track]], habit_first[now[track] + 1]):
                east, north = ground.x[habit_cell[k]] * step, ground.y[habit_cell[k]] * step
                for j in range(len(right)):
                    dx, dy = east - ground.x[right[j]] * step, north - ground.y[right[j]] * step
                    apart[i, j] = min(apart[i, j], np.sqrt(dx * dx + dy * dy))
    return apart


@compiled
def whole_costs(ground, left, right, leader, label, apart):  # type: ignore[no-untyped-def]
    """Costs as whole multiples of a unit, preferences included: `ties.Grain`, `keys` and `preference` in one."""
    rows, columns = apart.shape
    nearly = 2.0 ** np.ceil(np.log2(ground.largest + 1.0))
    unit = nearly * 2.0 ** (np.ceil(np.log2(rows + columns)) + 1 - 52)
    extra = min(2.0**16 * unit, 2.0**-23 * nearly)
    cost = np.empty((rows, columns), np.int64)
    for i in range(rows):
        mixed = (np.uint64(label[leader[left[i]]]) ^ ground.seed) + np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        key = (mixed ^ (mixed >> np.uint64(31))) | np.uint64(1)
        for j in range(columns):
            chance = np.float64((key * ground.cell_keys[right[j]]) >> np.uint64(11)) * 2.0**-53
            cost[i, j] = np.int64(np.rint((chance * extra + apart[i, j]) / unit))
    return cost, unit, extra + 65 * unit


@compiled
def solve_lines(cost, left, right, supply, demand):  # type: ignore[no-untyped-def]
    """The tree of the cheapest plan between some groups and some cells, and what its prices prove, in units."""
    rows, columns = cost.shape
    given, taken = np.empty(rows, np.int64), np.empty(columns, np.int64)
    for i in range(rows):
        given[i] = supply[left[i]]
    for j in range(columns):
        taken[j] = demand[right[j]]
    tree = solve(cost, given, taken)
    total = np.int64(0)
    for i in range(rows):
        total -= given[i] * tree.price[i]
    for j in range(columns):
        total += taken[j] * tree.price[rows + j]
    return tree, total


@compiled
def spread(plan, used, group, many, cells, track_keys, visits, after):  # type: ignore[no-untyped-def]
    """A cell for every track: where it has been longest, as far as there is room, then by keys (see `spreading`)."""
    pair = np.empty(used, np.int64)
    for k in range(used):
        pair[k] = plan[0, k] * cells + plan[1, k]
    order = ascending(pair, used)
    sink, room = np.empty(used, np.int64), np.empty(used, np.int64)
    first = np.zeros(many + 1, np.int64)
    for k in range(used):
        sink[k], room[k] = plan[1, order[k]], plan[2, order[k]]
        first[plan[0, order[k]] + 1] = k + 1
    asking = 0
    for track in range(len(group)):
        begin, end = first[group[track]], first[group[track] + 1]
        after[track] = sink[begin] if end == begin + 1 else -1
        if end > begin + 1:
            asking += end - begin
    if not asking:
        return
    # By keys first; the sort by weight leaves those of equal weight as they stand.
    open_track, key = np.empty(len(group), np.int64), np.empty(len(group), np.uint64)
    waiting = 0
    for track in range(len(group)):
        if after[track] < 0:
            open_track[waiting], key[waiting] = track, track_keys[track]
            waiting += 1
    by_key = ascending(key, waiting)
    member, wish, weight = np.empty(asking, np.int64), np.empty(asking, np.int64), np.empty(asking, np.int64)
    asking = 0
    for k in by_key:
        track = open_track[k]
        for end in range(first[group[track]], first[group[track] + 1]):
            if visits[track, sink[end]] > 0:
                member[asking], wish[asking], weight[asking] = track, end, -visits[track, sink[end]]
                asking += 1
    for k in ascending(weight, asking):
        if after[member[k]] < 0 and room[wish[k]] > 0:
            after[member[k]] = sink[wish[k]]
            room[wish[k]] -= 1
    for k in by_key:
        track = open_track[k]
        if after[track] < 0:
            end = first[group[track]]
            while room[end] == 0:
                end += 1
            after[track] = sink[end]
            room[end] -= 1
