"""What a model of votes assumes, as arrays, and the quantities that follow from its parameters.

A `Model` says how voters err: at one rate or by class, on easy and hard items, alone or by copying.
`build_problem` puts it together with a table of votes. `error_rates` and `finite_errors` turn drawn
parameters and labels into error rates of voters; `labelled_errors` does so for probable labels.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.votes.agreement import parents_first
from karat.votes.em import COPY, Listed, VoteLaw, vote_cells
from karat.votes.patterns import VoteTable


def class_proba(problem: Problem, component_proba: FloatArray) -> FloatArray:
    """Return P(class) of each pattern from P(component)."""
    classes, levels = problem.table.n_classes, problem.model.levels
    return np.asarray(component_proba.reshape(-1, classes, levels).sum(axis=2))


def labelled_errors(table: VoteTable, proba: FloatArray) -> FloatArray:
    """Return the share of each voter's votes that are wrong if the labels are as ``proba`` says.

    Abstentions do not count; NaN for a voter that cast no vote.
    """
    cast = table.outcome < table.n_classes
    pattern, voter = table.pattern_of_vote[cast], table.voter[cast]
    weight = table.count[pattern]
    wrong = weight * (1 - proba[pattern, table.outcome[cast]])
    votes = np.bincount(voter, weights=weight, minlength=table.n_voters)
    errors = np.bincount(voter, weights=wrong, minlength=table.n_voters)
    nothing = np.full(len(votes), np.nan)
    return np.asarray(np.divide(errors, votes, out=nothing, where=votes > 0))


# --- What a model of votes assumes: its components, its priors, and who copies whom.

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


# --- Error rates of voters from draws of the parameters and of the labels.


def error_rates(
    theta: FloatArray,
    weight: FloatArray,
    group: IntArray,
    classes: int,
    copied: FloatArray | None = None,
    parent: IntArray | None = None,
    order: IntArray | None = None,
) -> FloatArray:
    """Return each voter's chance of being wrong when it votes, copying included.

    Parameters
    ----------
    theta : array (..., voters, outcomes, components)
    weight : array (..., components)
    group : array (components,)
        The class of each component.
    classes : int
        Number of classes; a further outcome is an abstention.
    copied : array (..., voters), optional
        Chance of copying.
    parent : array (voters,), optional
        Whom each voter may copy, -1 for nobody.
    order : array (voters,), optional
        The voters, every parent before its children.

    Returns
    -------
    array (..., voters)
        NaN for a voter who never votes.
    """
    if copied is not None and parent is not None and order is not None and (parent >= 0).any():
        theta = theta.copy()
        for j in order[parent[order] >= 0]:
            kappa = copied[..., j, None, None]
            theta[..., j, :, :] = (
                kappa * theta[..., parent[j], :, :] + (1 - kappa) * theta[..., j, :, :]
            )
    votes = theta[..., :classes, :] * weight[..., None, None, :]
    return _share_wrong(votes, group)


def finite_errors(
    counts: FloatArray, voters: int, outcomes: int, group: IntArray, classes: int
) -> FloatArray:
    """Return the share of each voter's votes cast that are wrong under the drawn labels.

    Parameters
    ----------
    counts : array (..., cells, components)
        Votes of each cell; there are one or three cells for each voter and outcome.
    voters, outcomes : int
        Numbers of voters and of outcomes.
    group : array (components,)
        The class of each component.
    classes : int
        Number of classes; a further outcome is an abstention.

    Returns
    -------
    array (..., voters)
        NaN for a voter who cast no vote.
    """
    *lead, cells, components = counts.shape
    kinds = cells // (voters * outcomes)
    votes = counts.reshape(*lead, kinds, voters, outcomes, components)
    votes = votes[..., 0, :, :, :] if kinds == 1 else votes.sum(axis=-4)
    return _share_wrong(votes[..., :classes, :], group)


def _share_wrong(votes: FloatArray, group: IntArray) -> FloatArray:
    """Return the share of the votes (..., voters, classes, components) for another class."""
    wrong = (np.arange(votes.shape[-2])[:, None] != group).astype(np.float64)
    said = np.einsum("...oc->...", votes)
    missed = np.einsum("...oc,oc->...", votes, wrong)
    return np.asarray(np.divide(missed, said, out=np.full(said.shape, np.nan), where=said > 0))
