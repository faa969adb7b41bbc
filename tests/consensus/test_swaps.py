"""The move between labellings: exact on a small posterior, and no move where it has no place."""

import numpy as np
import pytest

from karat.consensus.model import Model, build_problem
from karat.consensus.sampling import run_chains
from karat.votes.em import State, starting_state


def mirrored(state):
    """Return the state with its two classes swapped."""
    return State(state.theta[:, :, ::-1].copy(), state.copied, state.weight[::-1].copy())


@pytest.fixture
def problem(table_of):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    votes = np.where(rng.random((200, 5)) < 0.15, 1 - y[:, None], y[:, None])
    return build_problem(Model("plain"), table_of(votes, 2))


def chain(problem, start, draws=60):
    return run_chains(problem, [start], [np.random.default_rng(1)], burn=0, draws=draws)


def test_a_chain_that_starts_upside_down_turns_round(problem):
    """Gibbs draws alone would stay there: 200 items would have to change their labels at once."""
    start = starting_state(problem, problem.table.vote_shares())
    found = chain(problem, mirrored(start))
    assert found.rates[0, -20:].mean() == pytest.approx(0.15, abs=0.06)


def test_labelled_items_and_an_even_prior_keep_their_labelling(problem, table_of):
    start = starting_state(problem, problem.table.vote_shares())
    even = build_problem(Model("even", weak_prior=True), problem.table)
    assert chain(even, mirrored(start)).rates[0, -20:].mean() > 0.7
    gold = problem.table.vote_shares().argmax(axis=1)
    gold[1:] = -1
    labelled = build_problem(problem.model, type(problem.table)(
        **{name: getattr(problem.table, name) for name in problem.table.__slots__} | {"gold": gold}
    ))  # fmt: skip
    assert chain(labelled, mirrored(start)).rates[0, -20:].mean() > 0.7


def test_labellings_are_visited_as_often_as_their_posterior_says(table_of):
    """Three items, two voters: the share of draws in which voters are mostly wrong.

    The posterior of the error rate of a voter is found by enumeration of the labels of the items.
    """
    from itertools import product

    from scipy.special import betaln

    votes = np.array([[0, 0], [1, 1], [0, 1]])
    problem = build_problem(Model("plain"), table_of(votes, 2))
    prior = problem.prior  # class x outcome
    total, wrong = 0.0, 0.0
    for labels in product((0, 1), repeat=3):
        y = np.array(labels)
        log = betaln(*(problem.weight_prior + np.bincount(y, minlength=2)))
        rates = []
        for j in range(2):
            for k in range(2):
                counts = np.bincount(votes[y == k, j], minlength=2)
                log += betaln(*(prior[k] + counts))
            shape = [prior[k] + np.bincount(votes[y == k, j], minlength=2) for k in range(2)]
            rates.append([shape[k][1 - k] / shape[k].sum() for k in range(2)])
        weight = np.exp(log)
        share = problem.weight_prior + np.bincount(y, minlength=2)
        share = share / share.sum()
        total += weight
        wrong += weight * float(np.mean(np.array(rates) @ share))
    draws = run_chains(
        problem, [starting_state(problem, problem.table.vote_shares())] * 4,
        np.random.default_rng(2).spawn(4), burn=200, draws=6000,
    )  # fmt: skip
    # E(rate) = E(sum_k w_k e_k), and w and e are independent given the labels.
    found = draws.rates.mean()
    # A voter's rate is its share of wrong votes; both outcomes are votes, so they are the same.
    assert found == pytest.approx(wrong / total, abs=0.012)
