"""How far one label can move the metric."""

import numpy as np

from karat._typing import FloatArray
from karat.audit.design._calls import Calls
from karat.exceptions import MetricError

__all__ = ["influence"]


def influence(calls: Calls, totals: FloatArray, group: int | None = None) -> FloatArray:
    """Return what an item of each call and class adds to the metric at ``totals`` (calls, classes).

    It is the slope of the metric in a cell minus the mean slope, and 0 outside ``group``.
    """
    mine: FloatArray = np.ones(len(calls.first))
    if group is not None and calls.group is not None:
        mine = (calls.group == group).astype(np.float64)
    if calls.worth is not None:
        found = calls.worth[calls.outcome]
        mean = float(np.sum(totals * found * mine[:, None]) / max(np.sum(totals.T @ mine), 1e-12))
        return np.asarray((found - mean) * mine[:, None])
    within = totals * mine[:, None]
    sides = [(1.0, calls.first)] + ([] if calls.second is None else [(-1.0, calls.second)])
    added = np.zeros(totals.shape)
    for sign, called in sides:
        table = calls.confusions(within[None], called)[0]
        table = table / table.sum()
        try:
            slope = calls.metric.gradient(table)
        except MetricError:  # at an edge there is no slope: all items count alike
            return np.ones(totals.shape) * mine[:, None]
        added += sign * (slope[:, called].T - float(np.sum(slope * table)))
    return np.asarray(added * mine[:, None])
