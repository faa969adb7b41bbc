"""Loops that cannot be vectorised, compiled by numba; import this module only when needed."""

import numpy as np

from karat._compiled import compiled
from karat._typing import FloatArray, IntArray

_EMPTY = 1e-15  # an arc with less room than this is full


@compiled
def _shortest_paths(
    cost: FloatArray, room: FloatArray, source: int, everywhere: bool
) -> tuple[FloatArray, IntArray]:
    """Bellman–Ford over arcs with room: distances and predecessors from ``source``.

    With ``everywhere`` each node starts at distance 0, which gives potentials for all of them.
    """
    nodes = cost.shape[0]
    distance = np.full(nodes, 0.0 if everywhere else np.inf)
    before = np.full(nodes, -1)
    distance[source] = 0.0
    for _ in range(nodes):
        changed = False
        for a in range(nodes):
            if distance[a] == np.inf:
                continue
            for b in range(nodes):
                if room[a, b] > _EMPTY and distance[a] + cost[a, b] < distance[b] - 1e-13:
                    distance[b] = distance[a] + cost[a, b]
                    before[b] = a
                    changed = True
        if not changed:
            break
    return distance, before


@compiled
def _solve(
    gain: FloatArray, predicted: FloatArray, truth: FloatArray, slack: float, plan: FloatArray
) -> FloatArray:
    """Maximise the gain of one coupling by minimum-cost flow; return the potentials of the truth.

    The coupling itself is written to ``plan``.

    Nodes: source, k classes of the label model, two ends of the slack, k true classes, the
    predictions, sink. Mass may change its class only through the slack's arc.
    """
    k, j = gain.shape
    model, hub, true, outcome = 1, 1 + k, 3 + k, 3 + 2 * k
    nodes = 4 + 2 * k + j
    sink = nodes - 1
    cost = np.zeros((nodes, nodes))
    room = np.zeros((nodes, nodes))
    room[hub, hub + 1] = slack
    for i in range(k):
        room[0, model + i] = truth[i]
        room[model + i, true + i] = 2.0  # more than all mass: unlimited
        if slack > 0.0:
            room[model + i, hub] = 2.0
            room[hub + 1, true + i] = 2.0
        for c in range(j):
            room[true + i, outcome + c] = 2.0
            cost[true + i, outcome + c] = -gain[i, c]
            cost[outcome + c, true + i] = gain[i, c]
    for c in range(j):
        room[outcome + c, sink] = predicted[c]
    for _ in range(50 * nodes):  # each path fills an arc, so far fewer are needed: only a guard
        distance, before = _shortest_paths(cost, room, 0, False)
        if distance[sink] == np.inf:
            break
        amount = 2.0
        b = sink
        while b != 0:
            amount = min(amount, room[before[b], b])
            b = before[b]
        b = sink
        while b != 0:
            room[before[b], b] -= amount
            room[b, before[b]] += amount
            b = before[b]
    for i in range(k):
        for c in range(j):
            plan[i, c] = room[outcome + c, true + i]  # what flowed forward can flow back
    # The arcs of source and sink only carry the margins; potentials come from the rest.
    room[0, :] = 0.0
    room[:, 0] = 0.0
    room[sink, :] = 0.0
    room[:, sink] = 0.0
    potential, _ = _shortest_paths(cost, room, 0, True)
    return potential[true : true + k].copy()


@compiled
def solve_transports(
    gain: FloatArray, predicted: FloatArray, truth: FloatArray, slack: float, duals: FloatArray
) -> None:
    """Solve one transport problem per row of margins; see `transport_duals`."""
    plan = np.empty(gain.shape)
    for row in range(len(truth)):
        duals[row] = _solve(gain, predicted[row], truth[row], slack, plan)


@compiled
def solve_plans(
    gain: FloatArray, predicted: FloatArray, truth: FloatArray, plans: FloatArray
) -> None:
    """Write the coupling of greatest gain for each row of margins; see `transport_plans`."""
    for row in range(len(truth)):
        _solve(gain, predicted[row], truth[row], 0.0, plans[row])
