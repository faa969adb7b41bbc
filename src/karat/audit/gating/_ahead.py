"""About how many more labels would decide an open gate."""

import math
from typing import NamedTuple

import numpy as np

from karat._typing import FloatArray
from karat.limits.kernels import Steps, labels_until

__all__ = ["Bets", "labels_ahead"]

_MOST = 1_000_000  # more labels than that are not foretold


class Bets(NamedTuple):
    """The bets on one ratio of a metric, which is ``offset`` plus ``scale`` times each ratio.

    ``low`` and ``high`` are the ratio's limits so far.
    """

    steps: Steps
    grid: FloatArray
    scale: float
    low: float
    high: float
    delta: float
    most_lost: float = 0.75


def labels_ahead(
    parts: list[Bets], offset: float, *, at_least: float, estimate: float, limit: float
) -> int | None:
    """Return about how many labels like those so far would decide; None if no number is foretold.

    ``limit`` is the limit of the metric that has to pass ``at_least``: the lower one if the
    estimate is above it, else the upper one. Of several ratios each has to come nearer to its own
    estimate by the same share of the way.
    """
    if not parts or math.isnan(estimate) or estimate == at_least or limit == estimate:
        return None
    above = estimate > at_least
    way = (estimate - at_least) / (estimate - limit)
    worst = 0.0
    for part in parts:
        lower = above == (part.scale > 0)
        if len(parts) == 1:
            target = (at_least - offset) / part.scale
        else:
            own = float(part.steps.top.sum() / max(part.steps.bottom.sum(), 1e-12))
            target = own + way * ((part.low if lower else part.high) - own)
        # Limits lie on the grid, beyond the values that are left.
        inside = part.grid[part.grid >= target] if lower else part.grid[part.grid < target][::-1]
        if not len(inside):
            return None
        until = labels_until(part.steps, float(inside[0]), delta=part.delta, most=_MOST,
                             most_lost=part.most_lost)  # fmt: skip
        worst = max(worst, until)
    return max(1, math.ceil(worst)) if np.isfinite(worst) else None
