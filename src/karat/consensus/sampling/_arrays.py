"""Named tuples of arrays that the compiled sweeps read and write."""

from typing import NamedTuple

import numpy as np

from karat._typing import BoolArray, FloatArray, IntArray


class PatternArrays(NamedTuple):
    """Distinct vote patterns. Pattern p has the votes ``start[p]:start[p+1]``.

    Those up to ``heard[p]`` are evidence of the label; the others are tallied only.
    """

    start: IntArray
    heard: IntArray
    cell: IntArray  # row of the table of probabilities that each vote looks up
    items: FloatArray  # how many items have each pattern
    gold: IntArray  # class of each pattern, -1 if it is not known
    group: IntArray  # class of each component


class RowLayout(NamedTuple):
    """Which Dirichlet rows a voter's probabilities θ[outcome, component] are made of.

    ``prior`` is the prior of the cells of all rows, ``width`` cells to a row. θ[o, c] is
    ``scale[o, c]`` times the cell ``first[o, c]``, and times the cell ``second[o, c]`` where that
    is not -1; a vote counts in each of these cells.
    """

    prior: FloatArray
    width: int
    first: IntArray
    second: IntArray
    scale: FloatArray


class SweepBlock(NamedTuple):
    """Consecutive states of a chain. Sweep s reads state s and writes state s + 1."""

    theta: FloatArray  # states × (voter, outcome) × components
    copied: FloatArray  # states × voters: chance of copying, 0 of voters who copy nobody
    weight: FloatArray  # states × components
    value: FloatArray  # sweeps: log-likelihood of the state that the sweep reads
    counts: FloatArray  # sweeps × cells × components: votes under the labels drawn


class SweepScratch(NamedTuple):
    """Memory that sweeps use anew: allocating it in compiled code takes long to compile."""

    table: FloatArray  # components × cells
    share: FloatArray  # components
    drawn: FloatArray  # components
    sizes: FloatArray  # components
    rows: FloatArray  # cells of one voter's rows, flattened


class CopyArrays(NamedTuple):
    """Whom each voter may copy (-1: nobody), the prior of copying, and memory for the sweeps."""

    parent: IntArray
    prior: FloatArray  # copied, own
    own: FloatArray  # (voter, outcome) × components: votes given alone
    tally: FloatArray  # voters × (copied, not copied)


class PooledPriors(NamedTuple):
    """The patterns of each domain, and the priors of a model that all domains share."""

    domain: IntArray  # patterns of domain d are domain[d]:domain[d+1]
    present: IntArray  # domains × voters: 1 where the voter voted
    rows: FloatArray  # rows × cells of one voter
    weight: FloatArray  # classes
    hyper: FloatArray  # (shape, rate) of the Gamma prior of α and of γ; 0 if they are fixed


class PooledState(NamedTuple):
    """The state of a chain over all domains.

    Coupled domains are in clusters that share the error rates of all voters. In the hierarchical
    model the voters of each domain are in local clusters, and every local cluster has one *atom*:
    a set of error rates that local clusters of all domains may share.
    """

    rows: FloatArray  # rates: clusters × voters × rows × cells, or atoms × rows × cells
    weight: FloatArray  # domains × classes
    member: IntArray  # cluster of each domain, or local cluster of each (domain, voter)
    atom: IntArray  # atom of each (domain, local cluster); empty for coupled domains
    strength: FloatArray  # concentrations: (α,) or (α, γ)


class PooledBlock(NamedTuple):
    """What consecutive sweeps over all domains drew; the first axis is the sweep."""

    theta: FloatArray  # sweeps × domains × (voter, outcome) × classes
    counts: FloatArray  # the same: votes under the labels drawn
    weight: FloatArray  # sweeps × domains × classes
    value: FloatArray  # sweeps × domains: log-likelihood
    member: IntArray  # sweeps × items: who shares with whom
    strength: FloatArray  # sweeps × concentrations


def votes_in_order(
    start: IntArray, cell: IntArray, counted: BoolArray | None
) -> tuple[IntArray, IntArray]:
    """Return where the votes that count end in each pattern, and the cells with these first."""
    if counted is None:
        return np.ascontiguousarray(start[1:]), cell
    pattern = np.repeat(np.arange(len(start) - 1), np.diff(start))
    order = np.lexsort((~counted, pattern))
    heard = start[:-1] + np.bincount(pattern[counted], minlength=len(start) - 1)
    return heard.astype(np.int64), np.ascontiguousarray(cell[order])


def row_layout(prior: FloatArray, outcomes: int, group: IntArray, *, symmetric: bool) -> RowLayout:
    """Return the layout of rows with the given prior.

    Class-conditional errors have one row over outcomes per component: ``prior`` is components ×
    outcomes. Symmetric errors have one row (wrong, right) per difficulty, ``prior`` is
    difficulties × 2, the wrong votes spread evenly over the other classes; voters who abstain have
    one more row (abstains, votes) with a uniform prior.
    """
    components, classes = len(group), int(group.max()) + 1
    shape = (outcomes, components)
    outcome, component = np.indices(shape)
    if not symmetric:
        first = component * outcomes + outcome
        return RowLayout(prior.ravel(), outcomes, first, np.full(shape, -1), np.ones(shape))
    levels = len(prior)
    right = outcome == group[component]
    first = 2 * (component % levels) + right
    second = np.full(shape, -1)
    scale = np.where(right, 1.0, 1.0 / max(classes - 1, 1))
    if outcomes > classes:
        prior = np.concatenate([prior, np.ones((1, 2))])
        first[classes], second[:classes], scale[classes] = 2 * levels, 2 * levels + 1, 1.0
    return RowLayout(prior.ravel(), 2, first, second, scale)
