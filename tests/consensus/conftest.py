"""Laws of votes to draw from, and the compiled sampler with everything it draws."""

from types import SimpleNamespace

import numpy as np
import pytest

from karat.consensus._em import State
from karat.consensus._loops import gibbs
from karat.consensus._model import Model, build_problem
from karat.consensus._table import VoteTable


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
        """Return what a sampler is given: the votes, and the class of the labelled items."""
        gold = np.where(self.labelled, self.law.group[component], -1)
        seen = np.where(self.asked, votes, -1)
        table = table_from_rows(seen, self.classes, abstains=self.abstains, gold=gold)
        return build_problem(self.model, table)

    def draw_state(self, rng):
        """Return parameters drawn from the prior."""
        law = self.law
        draw_rows = self._even_rows if self.model.errors == "symmetric" else self._rows
        theta = np.array([draw_rows(rng) for _ in range(law.table.n_voters)])
        copied = np.where(law.parent >= 0, rng.beta(*law.copy_prior, size=len(theta)), 0.0)
        return State(theta, copied, rng.dirichlet(law.weight_prior))

    def _rows(self, rng):
        return np.array([rng.dirichlet(prior) for prior in self.law.prior]).T

    def _even_rows(self, rng):
        """Errors at one rate per difficulty, spread evenly; abstentions at a rate of their own."""
        law, k = self.law, self.classes
        silent = rng.random() if self.abstains else 0.0
        rates = [rng.beta(*prior) for prior in law.prior]
        rows = np.full((law.table.n_outcomes, law.n_components), silent)
        for c, right in enumerate(law.group):
            rate = rates[c % len(rates)]
            rows[:k, c] = (1 - silent) * rate / (k - 1)
            rows[right, c] = (1 - silent) * (1 - rate)
        return rows

    def draw_votes(self, state, rng):
        """Return the component of each item and the votes, -1 where not asked."""
        n, voters = self.asked.shape
        component = rng.choice(len(state.weight), n, p=state.weight)
        limits = state.theta.cumsum(axis=1)[:, :-1, component]
        own = (rng.random((voters, 1, n)) > limits).sum(axis=1)
        copies = rng.random((voters, n)) < state.copied[:, None]
        votes = np.where(self.asked, own.T, -1)
        for j in self.law.order:
            above = self.law.parent[j]
            if above >= 0:
                heard = self.asked[:, j] & self.asked[:, above] & copies[j]
                votes[heard, j] = votes[heard, above]
        return component, votes

    def rates(self, state):
        """Return each voter's chance of being wrong when it votes for a class."""
        rates = []
        for j in range(self.asked.shape[1]):
            wrong = spoke = 0.0
            for c, k in enumerate(self.law.group):
                rows = state.theta[:, :, c]
                row, share, at = np.zeros(self.law.table.n_outcomes), 1.0, j
                while at >= 0:  # up the line of those it copies
                    row += share * (1 - state.copied[at]) * rows[at]
                    share *= state.copied[at]
                    at = self.law.parent[at]
                spoke += state.weight[c] * row[: self.classes].sum()
                wrong += state.weight[c] * (row[: self.classes].sum() - row[k])
            rates.append(wrong / spoke)
        return np.array(rates)


def run_sweeps(problem, state, rng, sweeps, *, every=1):
    """Run the compiled sampler; return the draws, of the full state only every ``every``-th."""
    table, voters = problem.table, problem.table.n_voters
    theta, copied, weight = state.theta.copy(), state.copied.copy(), state.weight.copy()
    kept = -(-sweeps // every)
    draws = SimpleNamespace(
        rates=np.empty((sweeps, voters)),
        finite=np.empty((sweeps, voters)),
        weights=np.empty((sweeps, problem.n_components)),
        value=np.empty(sweeps),
        theta=np.empty((kept, *theta.shape)),
        copied=np.empty((kept, voters)),
    )
    gibbs(
        rng, table.start, problem.cell, table.count, table.gold, problem.group, table.n_classes,
        problem.model.errors == "symmetric", problem.prior, problem.weight_prior,
        problem.copy_prior, problem.parent, problem.order, problem.n_rows, theta, copied, weight,
        sweeps, draws.rates, draws.finite, draws.weights, draws.value, draws.theta, draws.copied,
        every, np.zeros((table.n_patterns, problem.n_components)),
    )  # fmt: skip
    draws.last = State(theta, copied, weight)
    return draws


@pytest.fixture(scope="session")
def table_of():
    return table_from_rows


@pytest.fixture(scope="session")
def world():
    return World


@pytest.fixture(scope="session")
def sweep():
    return run_sweeps
