"""What a model of votes assumes: its components, its priors, and who copies whom."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.consensus._table import VoteTable

__all__ = ["Errors", "Model", "Problem", "build_problem"]

Errors = Literal["class-conditional", "symmetric"]

# Prior (wrong, right) of a voter's votes. Voters are better than chance before any vote is seen,
# which is all that tells a labelling from its mirror image.
_ROWS = ((1.0, 2.0),)
_ROWS_BY_LEVEL = ((0.5, 4.0), (1.5, 2.0))  # on easy items, on hard ones
_RATES = ((1.0, 10.0),)
_RATES_BY_LEVEL = ((0.5, 10.0), (2.0, 4.0))
_WEAK = ((0.5, 0.5),)  # Jeffreys: says nothing of who is right
_ABSTAIN = 0.5  # prior weight of an abstention in a row
_COPY = (1.0, 2.0)  # prior (copied, own)


@dataclass(frozen=True)
class Model:
    """A model of the votes given the truth.

    ``levels`` is 2 when items come easy and hard; ``parent[j]`` is the voter that j may copy, -1
    for nobody (None: nobody copies); ``weak_prior`` drops the assumption that voters are mostly
    right.
    """

    name: str
    errors: Errors = "class-conditional"
    levels: int = 1
    parent: IntArray | None = None
    weak_prior: bool = False


@dataclass(frozen=True, slots=True)
class Problem:
    """A model and a table, as the arrays that the compiled loops read."""

    model: Model
    table: VoteTable
    cell: IntArray
    group: IntArray
    prior: FloatArray
    weight_prior: FloatArray
    copy_prior: FloatArray
    parent: IntArray
    order: IntArray

    @property
    def n_components(self) -> int:
        """Classes × difficulties."""
        return len(self.group)

    @property
    def n_rows(self) -> int:
        """Rows of the table of cells."""
        copying = bool((self.parent >= 0).any())
        return self.table.n_voters * self.table.n_outcomes * (3 if copying else 1)


def build_problem(model: Model, table: VoteTable) -> Problem:
    """Return the arrays of ``model`` on ``table``."""
    classes, outcomes = table.n_classes, table.n_outcomes
    group = np.repeat(np.arange(classes), model.levels)
    parent = np.full(table.n_voters, -1) if model.parent is None else model.parent
    share = _shares(model)
    if model.errors == "symmetric":
        prior = np.array(share)
    else:
        prior = np.empty((len(group), outcomes))
        for c, k in enumerate(group):
            wrong, right = share[c % model.levels]
            prior[c] = wrong / (classes - 1)
            prior[c, k] = right
            if outcomes > classes:
                prior[c, classes] = _ABSTAIN
    return Problem(
        model=model,
        table=table,
        cell=_cells(table, parent),
        group=group,
        prior=prior,
        weight_prior=np.full(len(group), 1.0 / model.levels),
        copy_prior=np.array(_COPY),
        parent=parent,
        order=_parents_first(parent),
    )


def _shares(model: Model) -> tuple[tuple[float, float], ...]:
    """Return the prior (wrong, right) at each difficulty."""
    if model.weak_prior:
        return _WEAK * model.levels
    if model.errors == "symmetric":
        return _RATES if model.levels == 1 else _RATES_BY_LEVEL
    return _ROWS if model.levels == 1 else _ROWS_BY_LEVEL


def _cells(table: VoteTable, parent: IntArray) -> IntArray:
    """Return the row that each vote looks up: own, or apart from or equal to its parent's vote."""
    cell = table.voter * table.n_outcomes + table.outcome
    if (parent < 0).all():
        return cell
    block = table.n_voters * table.n_outcomes
    pattern = table.pattern_of_vote
    place = pattern * table.n_voters + table.voter  # ascending: voters are sorted in a pattern
    wanted = pattern * table.n_voters + parent[table.voter]
    at = np.searchsorted(place, wanted).clip(max=len(place) - 1)
    heard = (parent[table.voter] >= 0) & (place[at] == wanted)
    same = table.outcome[at] == table.outcome
    return np.asarray(cell + block * np.where(heard, np.where(same, 2, 1), 0))


def _parents_first(parent: IntArray) -> IntArray:
    """Return the voters such that each comes after the one it copies."""
    depth = np.zeros(len(parent), dtype=np.int64)
    for j in range(len(parent)):
        at = parent[j]
        while at >= 0:
            depth[j] += 1
            at = parent[at]
    return np.argsort(depth, kind="stable")
