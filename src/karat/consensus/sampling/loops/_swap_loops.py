"""A move between labellings: two classes trade places; compiled by numba, import when needed.

The votes are as probable when two components of one difficulty swap their columns, so that only the
priors tell the two labellings apart. Gibbs draws cross from one to the other through
labels that fit neither, once in a lifetime; this move (Metropolis, Rosenbluth, Rosenbluth, Teller
and Teller 1953) crosses at once.
"""

import math

import numpy as np

from karat._compiled import compiled
from karat._typing import FloatArray
from karat.consensus.sampling.loops._arrays import PatternArrays, RowLayout

__all__ = ["swap_classes"]

_LEAST = 1e-12


@compiled(part=True)
def _log(value: float) -> float:
    return math.log(value) if value > _LEAST else math.log(_LEAST)


@compiled(part=True)
def swap_classes(
    rng: np.random.Generator,
    patterns: PatternArrays,
    layout: RowLayout,
    weight_prior: FloatArray,
    table: FloatArray,
    theta: FloatArray,
    weight: FloatArray,
) -> None:
    """Propose that two classes of one difficulty trade places, and do it or not.

    Voters who err at one rate have no such columns, and nothing happens to them. A prior that does
    not favour right votes cannot tell the labellings apart: chains then keep to the one they
    started in, in which voters are mostly right. Nor is there a move with gold labels: they say
    which labelling it is, and a model that is wrong must not turn all other items with them.
    """
    for p in range(len(patterns.gold)):
        if patterns.gold[p] >= 0:
            return
    outcomes, components = layout.first.shape
    if layout.first[0, components - 1] != (components - 1) * outcomes:
        return
    classes = patterns.group[components - 1] + 1
    levels = components // classes
    level = int(rng.random() * levels)
    first = int(rng.random() * classes)
    second = (first + 1 + int(rng.random() * (classes - 1))) % classes
    c, d = first * levels + level, second * levels + level
    if layout.prior[c * outcomes + first] == layout.prior[d * outcomes + first]:
        return
    ratio = (weight_prior[c] - weight_prior[d]) * (_log(weight[d]) - _log(weight[c]))
    for row in range(len(theta)):
        o = row % outcomes
        more = layout.prior[c * outcomes + o] - layout.prior[d * outcomes + o]
        if more != 0.0:
            ratio += more * (_log(theta[row, d]) - _log(theta[row, c]))
    if _log(rng.random()) >= ratio:
        return
    weight[c], weight[d] = weight[d], weight[c]
    for row in range(len(theta)):
        theta[row, c], theta[row, d] = theta[row, d], theta[row, c]
    for cell in range(table.shape[1]):
        table[c, cell], table[d, cell] = table[d, cell], table[c, cell]
