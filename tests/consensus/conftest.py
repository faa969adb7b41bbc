"""Laws of votes to draw from, and the compiled sampler with everything it draws."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from karat.consensus.model import Model, build_problem
from karat.consensus.sampling import Stop, build_pooled, run_chain, run_pooled_chain
from karat.consensus.sampling._arrays import PooledState
from karat.votes.em import State, vote_cells
from karat.votes.patterns import VoteTable


def table_from_rows(votes, classes, *, abstains=False, gold=None, count=None):
    """Return a table with one pattern per row; -1 is not asked, ``classes`` an abstention."""
    votes = np.asarray(votes)
    row, voter = np.nonzero(votes >= 0)
    return VoteTable(
        start=np.searchsorted(row, np.arange(len(votes) + 1)).astype(np.int64),
        voter=voter.astype(np.int64),
        outcome=votes[row, voter].astype(np.int64),
        count=np.ones(len(votes)) if count is None else np.asarray(count, dtype=np.float64),
        gold=np.full(len(votes), -1) if gold is None else np.asarray(gold, dtype=np.int64),
        n_voters=votes.shape[1],
        n_classes=classes,
        n_outcomes=classes + abstains,
    )


class World:
    """A model, who is asked about which item, and which items are labelled.

    ``dependence`` is "none", "difficulty" or the list of whom each voter copies.
    """

    def __init__(self, errors, dependence, asked, *, classes=2, abstains=False, labelled=()):
        self.asked = np.asarray(asked, dtype=bool)
        self.labelled = np.zeros(len(self.asked), dtype=bool)
        self.labelled[list(labelled)] = True
        self.abstains = abstains
        self.classes = classes
        copies = not isinstance(dependence, str)
        self.model = Model(
            "pairs" if copies else dependence,
            errors,
            levels=2 if dependence == "difficulty" else 1,
            parent=np.array(dependence) if copies else None,
        )
        anything = np.where(self.asked, 0, -1)
        self.law = build_problem(self.model, table_from_rows(anything, classes, abstains=abstains))

    def problem(self, votes, component):
        """Return what a sampler is given: the votes, and the class of the labelled items.

        Quick, because who is asked stays as it is.
        """
        table = replace(
            self.law.table,
            outcome=votes[self.asked],
            gold=np.where(self.labelled, self.law.group[component], -1),
        )
        return replace(self.law, table=table, cell=vote_cells(table, self.law.parent))

    def draw_state(self, rng, shape=()):
        """Return parameters drawn from the prior; those of many draws with a ``shape`` in front."""
        law = self.law
        voters = law.table.n_voters
        draw_rows = self._even_rows if self.model.errors == "symmetric" else self._rows
        theta = draw_rows(rng, (*shape, voters))
        copied = rng.beta(*law.copy_prior, size=(*shape, voters))
        weight = rng.dirichlet(law.weight_prior, size=shape or None)
        return State(theta, np.where(law.parent >= 0, copied, 0.0), weight)

    def _rows(self, rng, shape):
        return np.stack([rng.dirichlet(prior, size=shape) for prior in self.law.prior], axis=-1)

    def _even_rows(self, rng, shape):
        """Errors at one rate per difficulty, spread evenly; abstentions at a rate of their own."""
        law, k = self.law, self.classes
        silent = rng.random(shape) if self.abstains else np.zeros(shape)
        rates = [rng.beta(*prior, size=shape) for prior in law.prior]
        rows = np.empty((*shape, law.table.n_outcomes, law.n_components))
        rows[:] = silent[..., None, None]
        for c, right in enumerate(law.group):
            rate = rates[c % len(rates)]
            rows[..., :k, c] = ((1 - silent) * rate / (k - 1))[..., None]
            rows[..., right, c] = (1 - silent) * (1 - rate)
        return rows

    def draw_votes(self, state, rng):
        """Return the component of each item and the votes, -1 where not asked."""
        n, voters = self.asked.shape
        shape = state.weight.shape[:-1]
        limits = state.weight.cumsum(axis=-1)[..., None, :-1]
        component = (rng.random((*shape, n, 1)) > limits).sum(axis=-1)
        # Of each voter and item, as the item's component has it: limits of the outcomes.
        limits = state.theta.cumsum(axis=-2)[..., :-1, :]
        if shape:
            limits = np.take_along_axis(limits, component[..., None, None, :], axis=-1)
        else:
            limits = limits[..., component]
        own = (rng.random((*shape, voters, 1, n)) > limits).sum(axis=-2)
        votes = np.where(self.asked, np.swapaxes(own, -1, -2), -1)
        if (self.law.parent >= 0).any():
            copies = rng.random((*shape, n, voters)) < state.copied[..., None, :]
            for j in self.law.order:
                above = self.law.parent[j]
                if above >= 0:
                    heard = self.asked[:, j] & self.asked[:, above] & copies[..., j]
                    votes[..., j] = np.where(heard, votes[..., above], votes[..., j])
        return component, votes

    def rates(self, state):
        """Return each voter's chance of being wrong when it votes for a class."""
        rates = []
        for j in range(self.asked.shape[1]):
            wrong = spoke = 0.0
            for c, k in enumerate(self.law.group):
                rows = state.theta[..., c]
                row, share, at = np.zeros(rows[..., j, :].shape), 1.0, j
                while at >= 0:  # up the line of those it copies
                    copied = state.copied[..., at, None]
                    row += share * (1 - copied) * rows[..., at, :]
                    share = share * copied
                    at = self.law.parent[at]
                cast = row[..., : self.classes].sum(axis=-1)
                spoke += state.weight[..., c] * cast
                wrong += state.weight[..., c] * (cast - row[..., k])
            rates.append(wrong / spoke)
        return np.stack(rates, axis=-1)


def run_sweeps(problem, state, rng, sweeps):
    """Run one chain with no burn-in; return the draws, of the full state too."""
    chain = run_chain(problem, state, rng, 0, sweeps, lambda _: None, Stop(), states=sweeps or 1)
    return SimpleNamespace(
        rates=chain.rates,
        finite=chain.finite,
        weights=chain.weights,
        value=chain.value,
        theta=np.array([s.theta for s in chain.states]).reshape(-1, *state.theta.shape),
        copied=np.array([s.copied for s in chain.states]).reshape(-1, len(state.copied)),
        last=chain.states[-1] if sweeps else state,
    )


def restaurant(rng, strength, here):
    """Return the table of each guest, drawn from a Chinese restaurant process; 0 if not ``here``.

    The last axis of ``here`` holds the guests of a restaurant; ``strength`` has the others.
    """
    tables = np.arange(here.shape[-1])
    seats, sizes = np.zeros(here.shape, dtype=np.int64), np.zeros(here.shape)
    lot = rng.random(here.shape)
    for guest in tables:
        opened = (sizes > 0).sum(axis=-1)[..., None]
        limits = np.where(tables == opened, strength[..., None], sizes).cumsum(axis=-1)
        seat = (lot[..., guest, None] * limits[..., -1:] > limits).sum(axis=-1)
        comes = here[..., guest]
        seats[..., guest] = np.where(comes, seat, 0)
        sizes += (tables == seat[..., None]) & comes[..., None]
    return seats


class PooledWorld:
    """A model of domains that share error rates, and who is asked about which item of each.

    ``asked`` has one table of items × voters per domain, of equal size; a voter who is never asked
    in a domain is absent from it. The items ``labelled`` have a gold label in every domain.
    """

    def __init__(
        self, structure, errors, asked, *, classes=2, abstains=False, labelled=(), fixed=None
    ):
        self.structure, self.errors = structure, errors
        self.asked = np.asarray(asked, dtype=bool)
        self.domains, self.items, self.voters = self.asked.shape
        self.classes, self.abstains, self.fixed = classes, abstains, fixed
        self.labelled = np.zeros(self.items, dtype=bool)
        self.labelled[list(labelled)] = True
        self.present = self.asked.any(axis=1)
        self.law = self._build(np.where(self.asked, 0, -1), None)

    def _build(self, votes, gold):
        voters = [np.flatnonzero(here) for here in self.present]
        tables = [
            table_from_rows(
                votes[d][:, here], self.classes, abstains=self.abstains,
                gold=None if gold is None else gold[d],
            )
            for d, here in enumerate(voters)
        ]  # fmt: skip
        return build_pooled(
            tables, voters, self.voters, self.structure, self.errors, concentration=self.fixed
        )

    def shared(self, votes, labels):
        """Return what a sampler is given; quick, because only votes and gold labels change."""
        outcomes = self.classes + self.abstains
        cell = np.arange(self.voters) * outcomes + votes
        gold = np.where(self.labelled, labels, -1)
        return replace(self.law, cell=cell[self.asked], gold=gold.ravel())

    def problem(self, votes, gold):
        """Return what a sampler is given, built from scratch with any gold labels."""
        return self._build(np.where(self.asked, votes, -1), gold)

    def draw_state(self, rng, shape=()):
        """Return parameters drawn from the prior, as the chain holds them.

        Those of many draws have a ``shape`` in front: (), or (draws,).
        """
        n, cells = 1 if self.structure == "coupled" else 2, (self.domains, self.voters)
        strength = np.empty((*shape, n))
        strength[:] = rng.gamma(1.0, size=strength.shape) if self.fixed is None else self.fixed[:n]
        weight = rng.dirichlet(self.law.weight_prior, size=(*shape, self.domains))
        if self.structure == "coupled":
            member = restaurant(rng, strength[..., 0], np.ones((*shape, self.domains), dtype=bool))
            rows = self._rows(rng, (*shape, self.domains + 1, self.voters))
            atom = np.empty((*shape, 0, 0), dtype=np.int64)
            return PooledState(rows, weight, member, atom, strength)
        here = np.broadcast_to(self.present, (*shape, *cells))
        table = restaurant(rng, np.repeat(strength[..., :1], self.domains, axis=-1), here)
        seated = (table[..., None] == np.arange(self.voters)) & here[..., None]
        opened = seated.any(axis=-2)
        atom = restaurant(rng, strength[..., 1], opened.reshape(*shape, -1))
        rows = self._rows(rng, (*shape, self.domains * self.voters + 1))
        return PooledState(rows, weight, table, atom.reshape(opened.shape), strength)

    def _rows(self, rng, shape):
        return np.stack([rng.dirichlet(prior, size=shape) for prior in self.law.prior], axis=-2)

    def clusters(self, state):
        """Return who shares: the cluster of each domain, or the atom of each (domain, voter)."""
        if self.structure == "coupled":
            return state.member
        atom = np.take_along_axis(state.atom, state.member, -1)
        return np.where(self.present, atom, -1).reshape(*atom.shape[:-2], -1)

    def theta(self, state):
        """Return θ[domain, voter, outcome, class]; of absent voters it means nothing."""
        shape, at = state.weight.shape[:-2], self.clusters(state)
        rows = state.rows[np.arange(shape[0])[:, None], at] if shape else state.rows[at]
        rows = rows.reshape(*shape, self.domains, self.voters, *self.law.prior.shape)
        if self.errors == "class-conditional":
            return np.swapaxes(rows, -1, -2)
        k = self.classes
        wrong = rows[..., 0, 0][..., None, None]
        theta = np.where(np.eye(k, dtype=bool), 1 - wrong, wrong / (k - 1))
        if not self.abstains:
            return theta
        silent = np.broadcast_to(rows[..., 1, 0][..., None, None], (*rows.shape[:-2], 1, k))
        return np.concatenate([(1 - silent) * theta, silent], axis=-2)

    def rates(self, state):
        """Return domains × voters: the chance of being wrong when voting; NaN if absent."""
        theta = self.theta(state)[..., : self.classes, :]
        spoke = np.einsum("...djoc,...dc->...dj", theta, state.weight)
        right = np.einsum("...djcc,...dc->...dj", theta, state.weight)
        return np.where(self.present, 1 - right / spoke, np.nan)

    def draw_votes(self, state, rng):
        """Return the class of each item and the votes, domains × items (× voters)."""
        shape = state.weight.shape[:-1]
        limits = state.weight.cumsum(axis=-1)[..., None, :-1]
        labels = (rng.random((*shape, self.items, 1)) > limits).sum(axis=-1)
        limits = self.theta(state).cumsum(axis=-2)[..., :-1, :]
        limits = np.take_along_axis(limits, labels[..., None, None, :], axis=-1)
        votes = (rng.random((*shape, self.voters, 1, self.items)) > limits).sum(axis=-2)
        return labels, np.where(self.asked, np.swapaxes(votes, -1, -2), -1)

    def sweep(self, shared, state, rng, sweeps, burn=0):
        """Run the compiled sampler; return what it kept and the last state."""
        found = run_pooled_chain(shared, state, rng, burn, sweeps, lambda _: None, Stop())
        return SimpleNamespace(**found.kept, last=found.last)


@pytest.fixture(scope="session")
def pooled_world():
    return PooledWorld


@pytest.fixture(scope="session")
def table_of():
    return table_from_rows


@pytest.fixture(scope="session")
def world():
    return World


@pytest.fixture(scope="session")
def sweep():
    return run_sweeps
