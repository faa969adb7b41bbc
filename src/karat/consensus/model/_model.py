"""What a model of votes assumes: its components, its priors, and who copies whom."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.votes.agreement import parents_first
from karat.votes.em import COPY, Listed, VoteLaw, vote_cells
from karat.votes.tables import VoteTable

__all__ = ["Errors", "Model", "Problem", "build_problem"]

Errors = Literal["class-conditional", "symmetric"]

# Prior pseudo-votes (wrong, right) of a voter. All but the last say that voters are mostly right:
# that alone distinguishes a labelling from its mirror image, which fits the votes as well.
_ROWS = ((1.0, 2.0),)  # class-conditional errors: a row per class
_ROWS_BY_LEVEL = ((0.5, 4.0), (1.5, 2.0))  # on easy items, on hard ones
_RATES = ((1.0, 10.0),)  # symmetric errors: the Beta(1, 10) of Platanios et al. 2016
_RATES_BY_LEVEL = ((0.5, 10.0), (2.0, 4.0))  # on easy items, on hard ones
_WEAK = ((0.5, 0.5),)  # Jeffreys' prior: says nothing of who is right


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
    law: VoteLaw

    @property
    def design(self) -> Listed:
        """The cells that each pattern looks up, for expectation–maximisation."""
        heard = self.cell if self.table.counted is None else self.cell[self.table.counted]
        return Listed(self.table.heard, heard, self.group, self.n_rows)

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
    share = _shares(model)
    law = VoteLaw.of_confusions(table.n_classes, table.n_outcomes, share, model.parent)
    prior = np.ascontiguousarray(law.pseudo[0].T)
    if model.errors == "symmetric":
        prior = np.array(share)
        law = replace(law, pseudo=prior, one_rate=True)
    parent = np.full(table.n_voters, -1) if model.parent is None else model.parent
    return Problem(
        model=model,
        table=table,
        cell=_cells(table, parent),
        group=law.group,
        prior=prior,
        weight_prior=law.weight_pseudo,
        copy_prior=np.array(COPY),
        parent=parent,
        order=parents_first(parent),
        law=law,
    )


def _cells(table: VoteTable, parent: IntArray) -> IntArray:
    """Return the cell of each vote; one that does not count is its voter's own."""
    if table.counted is None:
        return vote_cells(table, parent)
    cell = table.voter * table.n_outcomes + table.outcome
    cell[table.counted] = vote_cells(table.heard, parent)
    return cell


def _shares(model: Model) -> tuple[tuple[float, float], ...]:
    """Return the prior (wrong, right) at each difficulty."""
    if model.weak_prior:
        return _WEAK * model.levels
    if model.errors == "symmetric":
        return _RATES if model.levels == 1 else _RATES_BY_LEVEL
    return _ROWS if model.levels == 1 else _ROWS_BY_LEVEL
