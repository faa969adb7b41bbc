"""EM over patterns: against sums over single items, and against a plain climb."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from karat.votes.em import (
    Blocks,
    EmProblem,
    ListedProblem,
    Sparse,
    State,
    VoteLaw,
    em_pass,
    fit_point,
    log_likelihood,
    run_em,
    starting_state,
)
from karat.votes.patterns import VoteTable

EASY_AND_HARD = ((0.5, 4.0), (1.5, 2.0))


def random_codes(rng, n, m, k, *, unasked=True):
    return rng.integers(-2 if unasked else -1, k, size=(n, m))


def random_state(rng, law, m, outcomes):
    c = len(law.group)
    theta = rng.dirichlet(np.ones(outcomes), size=(m, c)).transpose(0, 2, 1)
    copied = np.zeros(m) if law.parent is None else np.where(law.parent >= 0, rng.random(m), 0)
    return State(theta, copied, rng.dirichlet(np.ones(c)))


def by_items(codes, state, law, k):
    """Return P(row, component) by a product over the votes, one at a time."""
    joint = np.tile(state.weight, (len(codes), 1))
    for row, votes in zip(joint, codes, strict=True):
        for j, code in enumerate(votes):
            if code == -2:
                continue
            own = state.theta[j, code if code >= 0 else k]
            above = -1 if law.parent is None else law.parent[j]
            if above >= 0 and votes[above] > -2:
                kappa = state.copied[j]
                own = (1 - kappa) * own + kappa * (votes[above] == code)
            row *= own
    return joint


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_blocks_and_lists_give_the_sums_over_items(rng, size):
    codes, count, k = random_codes(rng, 60, 5, 3), rng.random(60), 3
    law = VoteLaw.of_confusions(k, k + 1)
    state = random_state(rng, law, 5, k + 1)
    joint = by_items(codes, state, law, k)
    share = count[:, None] * joint / joint.sum(axis=1, keepdims=True)
    votes = np.zeros((5, k + 1, k))
    for row, part in zip(codes, share, strict=True):
        for j, code in enumerate(row):
            if code > -2:
                votes[j, code if code >= 0 else k] += part
    blocks = Blocks.of_codes(codes, count, k, size=size)
    assert len(blocks.ids) == -(-5 // size)
    listed = ListedProblem.of(VoteTable.of_codes(codes, count, k), law).design
    sparse = Sparse.of_codes(codes, count, k)
    for design in (blocks, listed, sparse):
        seen = design.expect(law.cells(state), state.weight)
        mass, counts = seen.counts()
        assert seen.total == pytest.approx(count @ np.log(joint.sum(axis=1)))
        np.testing.assert_allclose(mass, share.sum(axis=0))
        np.testing.assert_allclose(counts, votes.reshape(-1, k), atol=1e-12)
        np.testing.assert_allclose(design.totals(share.T), votes.reshape(-1, k), atol=1e-12)


def test_a_large_matrix_is_cut_into_chunks_and_blocks(rng):
    codes, k = random_codes(rng, 40_000, 7, 2), 2
    law = VoteLaw.of_confusions(k, k + 1)
    state = random_state(rng, law, 7, k + 1)
    count = np.ones(len(codes))
    blocks = Blocks.of_codes(codes, count, k)
    assert len(blocks.ids) > 1
    listed = ListedProblem.of(VoteTable.of_codes(codes, count, k), law).design
    first, second = (d.expect(law.cells(state), state.weight) for d in (blocks, listed))
    assert first.total == pytest.approx(second.total)
    for a, b in zip(first.counts(), second.counts(), strict=True):
        np.testing.assert_allclose(a, b)


def test_gold_labels_beside_rare_votes(rng):
    codes, k = np.where(rng.random((60, 9)) < 0.8, -1, random_codes(rng, 60, 9, 3)), 3
    law = VoteLaw.of_confusions(k, k + 1)
    state = random_state(rng, law, 9, k + 1)
    gold = np.where(rng.random(60) < 0.3, rng.integers(0, 3, 60), -1)
    joint = by_items(codes, state, law, k)
    joint[(gold[:, None] >= 0) & (law.group != gold[:, None])] = 0.0
    share = joint / joint.sum(axis=1, keepdims=True)
    seen = Sparse.of_codes(codes, np.ones(60), k, gold).expect(law.cells(state), state.weight)
    assert seen.total == pytest.approx(np.log(joint.sum(axis=1)).sum())
    np.testing.assert_allclose(seen.mass, share.sum(axis=0))
    expected = np.zeros((9, k + 1, k))
    for row, part in zip(codes, share, strict=True):
        for j, code in enumerate(row):
            if code > -2:
                expected[j, code if code >= 0 else k] += part
    np.testing.assert_allclose(seen.votes, expected.reshape(-1, k), atol=1e-12)


def test_a_label_beats_votes_that_make_it_impossible():
    codes = np.array([[0, 0, 0], [1, 1, 1]])
    theta = np.zeros((3, 3, 2))
    theta[:, 0, 0] = theta[:, 1, 1] = 1.0
    law = VoteLaw.of_confusions(2, 3)
    design = Sparse.of_codes(codes, np.ones(2), 2, np.array([1, -1]))
    seen = design.expect(law.cells(State(theta, np.zeros(3), np.full(2, 0.5))), np.full(2, 0.5))
    np.testing.assert_allclose(seen.mass, [0.0, 2.0])
    assert np.isfinite(seen.total)


def test_copies_and_gold_labels_in_lists(rng):
    codes, k = random_codes(rng, 50, 4, 2), 2
    law = VoteLaw.of_confusions(k, k + 1, EASY_AND_HARD, np.array([-1, 0, 0, 2]))
    state = random_state(rng, law, 4, k + 1)
    table = VoteTable.of_codes(codes, np.ones(50), k)
    gold = np.where(rng.random(50) < 0.3, rng.integers(0, 2, 50), -1)
    joint = by_items(codes, state, law, k)
    joint[(gold[:, None] >= 0) & (law.group != gold[:, None])] = 0.0
    value, proba = log_likelihood(ListedProblem.of(replace(table, gold=gold), law), state)
    np.testing.assert_allclose(value, np.log(joint.sum(axis=1)))
    np.testing.assert_allclose(proba, joint / joint.sum(axis=1, keepdims=True), atol=1e-12)


LAWS = {
    "confusions": lambda k, m: VoteLaw.of_confusions(k, k + 1),
    "difficulty": lambda k, m: VoteLaw.of_confusions(k, k + 1, EASY_AND_HARD),
    "copies": lambda k, m: VoteLaw.of_confusions(k, k + 1, parent=np.array([-1, 0, -1, 2])),
    "one rate": lambda k, m: replace(
        VoteLaw.of_confusions(k, k + 1), pseudo=np.array([[1.0, 10.0]]), one_rate=True
    ),
    "known prior": lambda k, m: replace(
        VoteLaw.of_confusions(k, k + 1), weight=np.array([0.6, 0.4])
    ),
    "missing": lambda k, m: replace(
        VoteLaw.of_confusions(k, k + 1),
        pseudo=np.array([[[2.0, 1.0], [1.0, 2.0], [0.0, 0.0]]]),
        coverage=np.full(m, 0.7),
    ),
}


def test_votes_that_equal_the_parents_are_shared_out_by_their_odds(rng):
    """Each such vote is a copy with the odds κ to (1 − κ)θ; one by one, with the pseudo-votes."""
    law = VoteLaw.of_confusions(2, 3, parent=np.array([-1, 0, -1, 2]))
    state = random_state(rng, law, 4, 3)
    counts = 30 * rng.random((3, 4, 3, 2))
    counts[1:, [0, 2]] = 0.0  # who copies nobody votes alone
    after = law.maximize(state, np.array([20.0, 30.0]), counts.reshape(-1, 2))
    pseudo = np.broadcast_to(law.pseudo, (4, 3, 2))
    for j in range(4):
        own, copied, alone = counts[0, j] + pseudo[j], 0.0, 0.0
        for o, c in np.ndindex(3, 2):
            kappa, theta = state.copied[j], state.theta[j, o, c]
            taken = counts[2, j, o, c] * kappa / (kappa + (1 - kappa) * theta)
            left = counts[1, j, o, c] + counts[2, j, o, c] - taken
            own[o, c] += left
            copied, alone = copied + taken, alone + left
        np.testing.assert_allclose(after.theta[j], own / own.sum(axis=0))
        share = (copied + 1) / (copied + alone + 3) if law.parent[j] >= 0 else 0.0
        assert after.copied[j] == pytest.approx(share)


@pytest.mark.parametrize("name", LAWS)
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=25, deadline=None)
def test_a_pass_never_loses(name, seed):
    rng = np.random.default_rng(seed)
    codes, law = random_codes(rng, 30, 4, 2), LAWS[name](2, 4)
    problem = ListedProblem.of(VoteTable.of_codes(codes, rng.random(30), 2), law)
    state = start(law, problem, rng)
    before, seen = em_pass(problem, state)
    after = law.maximize(state, *seen.counts())
    assert em_pass(problem, after)[0] >= before - 1e-10
    # What is proportional to the parameters is brought back to them.
    scaled = law.project(State(after.theta * 0.5, after.copied, after.weight * 3))
    for a, b in zip(scaled, after, strict=True):
        np.testing.assert_allclose(a, b)


def start(law, problem, rng):
    """Return parameters that the law allows, with its own shape of rows."""
    return starting_state(problem, rng.dirichlet(np.ones(2), size=problem.table.n_patterns))


@pytest.mark.parametrize("name", LAWS)
def test_the_climb_ends_where_plain_passes_end(name, rng, voting):
    _, codes = voting(rng, 300)
    law = LAWS[name](2, 4)
    problem = ListedProblem.of(VoteTable.of_codes(codes, np.ones(300), 2), law)
    state = first = starting_state(problem, problem.table.vote_shares())
    for _ in range(3000):
        value, seen = em_pass(problem, state)
        state = law.maximize(state, *seen.counts())
    fit = run_em(problem, first, max_iter=2000, tol=1e-13)
    assert fit.objective >= value - 1e-9
    assert fit.gap <= 1e-13
    assert fit.objective == pytest.approx(em_pass(problem, fit.state)[0])
    rough, values, proba = fit_point(problem, first)
    assert fit.objective - em_pass(problem, rough)[0] < 1e-3
    for a, b in zip((values, proba), log_likelihood(problem, rough), strict=True):
        np.testing.assert_allclose(a, b)


def test_the_maximum_is_that_of_a_general_optimiser(rng, voting):
    """Two classes, three voters, rows and weights as logits: no step along them gains anything."""
    _, codes = voting(rng, 200, (0.9, 0.8, 0.7))
    law = VoteLaw.of_confusions(2, 3)
    problem = EmProblem(Blocks.of_codes(codes, np.ones(200), 2), law)
    table = VoteTable.of_codes(codes, np.ones(200), 2)
    begin = starting_state(ListedProblem.of(table, law), table.vote_shares())
    fit = run_em(problem, begin, max_iter=5000, tol=1e-13)

    def state_of(logits):
        theta = np.exp(logits[2:].reshape(3, 3, 2))
        weight = np.exp(logits[:2])
        return State(theta / theta.sum(axis=1, keepdims=True), np.zeros(3), weight / weight.sum())

    def loss(logits):
        state = state_of(logits)
        joint = by_items(codes, state, law, 2)
        return -(np.log(joint.sum(axis=1)).sum() + law.penalty(state)) / 200

    found = np.concatenate([np.log(fit.state.weight), np.log(fit.state.theta).ravel()])
    assert -loss(found) == pytest.approx(fit.objective)
    best = minimize(loss, found, method="BFGS", options={"maxiter": 10})
    assert -best.fun <= fit.objective + 1e-8
