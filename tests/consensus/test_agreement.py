import numpy as np
import pytest
from scipy import stats

from karat.consensus.model import Model, build_problem
from karat.votes.agreement import (
    agreement_of_states,
    copying_forest,
    marginal_confusions,
    shared_votes,
    voter_errors,
)
from karat.votes.em import State, fit_point, starting_state

ERRORS = ["class-conditional", "symmetric"]
# A chain 0 → 1 → 2, its sibling branch 0 → 3, two siblings 4 → 5 and 4 → 6, and a loner.
FOREST = [-1, 0, 1, 0, -1, 4, 4, -1]


@pytest.mark.parametrize("at_least", [0.5, 5, 12])
@pytest.mark.parametrize("weighted", [False, True])
def test_shared_votes_equal_a_count_over_items(rng, table_of, weighted, at_least):
    votes = rng.integers(-1, 4, size=(30, 5))  # three classes and abstentions
    votes[:, 4] = np.where(np.arange(30) < 26, -1, votes[:, 4])
    votes[:26, 3] = -1  # so that 3 and 4 share at most four items
    weight = rng.random(30) + 0.2 if weighted else np.ones(30)
    shared = shared_votes(table_of(votes, 3, abstains=True, count=weight), at_least)
    expected = {}
    for i in range(5):
        for j in range(i + 1, 5):
            n, both = 0.0, np.zeros(4)
            for row, w in zip(votes, weight, strict=True):
                if row[i] >= 0 and row[j] >= 0:
                    n += w
                    if row[i] == row[j]:
                        both[row[i]] += w
            if n >= at_least:
                expected[i, j] = n, both
    assert set(zip(shared.first.tolist(), shared.second.tolist(), strict=True)) == set(expected)
    for at, pair in enumerate(zip(shared.first.tolist(), shared.second.tolist(), strict=True)):
        assert shared.n[at] == pytest.approx(expected[pair][0])
        np.testing.assert_allclose(shared.both[at], expected[pair][1], atol=1e-12)
        assert shared.same[at] == pytest.approx(expected[pair][1].sum())


def test_no_pair_with_enough_items(table_of):
    shared = shared_votes(table_of([[0, 1, -1], [1, 1, -1], [-1, -1, 0]], 2))
    assert len(shared.n) == 0
    assert shared.both.shape == (0, 2)


@pytest.mark.parametrize("errors", ERRORS)
@pytest.mark.parametrize(
    "dependence", ["none", "difficulty", FOREST], ids=["none", "hard", "pairs"]
)
def test_expected_agreement_equals_a_simulation(dependence, errors, world):
    n = 40_000
    law = world(errors, dependence, np.ones((n, len(FOREST)), dtype=bool), classes=3, abstains=True)
    rng = np.random.default_rng(61)
    state = law.draw_state(rng)
    component, votes = law.draw_votes(state, rng)
    problem = law.problem(votes, component)
    found = agreement_of_states(problem.law.parent, (state,), shared_votes(problem.table))
    assert len(found.n) == 28
    for i, j, observed, expected in zip(
        found.first, found.second, found.observed, found.expected, strict=True
    ):
        assert observed == pytest.approx((votes[:, i] == votes[:, j]).mean())
        error = np.sqrt(expected * (1 - expected) / n) + 1e-9
        assert abs(observed - expected) < 5 * error, (i, j)
    np.testing.assert_allclose(
        found.z,
        (found.observed - found.expected)
        / np.sqrt(found.expected * (1 - found.expected) / n + 1e-12),
    )
    np.testing.assert_allclose(voter_errors(problem.law, state), law.rates(state))
    cast = votes < 3
    wrong = (cast & (votes != problem.group[component][:, None])).sum(axis=0) / cast.sum(axis=0)
    rates = law.rates(state)
    assert (np.abs(wrong - rates) < 5 * np.sqrt(rates * (1 - rates) / cast.sum(axis=0))).all()
    for c in range(problem.n_components):
        some = votes[component == c]
        found_rows = (some[:, :, None] == np.arange(4)).sum(axis=0)
        rows = marginal_confusions(problem.law.parent, state)[:, :, c].clip(max=1)
        # Exact tails: some outcomes are expected less than once.
        tail = np.minimum(
            stats.binom.cdf(found_rows, len(some), rows),
            stats.binom.sf(found_rows - 1, len(some), rows),
        )
        assert tail.min() > 1e-7


def test_z_counts_the_spread_of_the_states(world):
    law = world("symmetric", "none", np.ones((200, 3), dtype=bool))
    rng = np.random.default_rng(62)
    states = tuple(law.draw_state(rng) for _ in range(5))
    component, votes = law.draw_votes(states[0], rng)
    problem = law.problem(votes, component)
    shared = shared_votes(problem.table)
    each = np.array(
        [agreement_of_states(problem.law.parent, (s,), shared).expected for s in states]
    )
    found = agreement_of_states(problem.law.parent, states, shared)
    np.testing.assert_allclose(found.expected, each.mean(axis=0))
    middle = each.mean(axis=0)
    error = np.sqrt(middle * (1 - middle) / 200 + each.var(axis=0))
    np.testing.assert_allclose(found.z, (found.observed - middle) / error, rtol=1e-6)


def accurate_state(rng, voters, classes, errors, copied=None):
    """Return voters who are right on 65 to 90 % of the items, or of those of each class."""
    theta = np.empty((voters, classes, classes))
    for j in range(voters):
        right = rng.uniform(0.65, 0.9, 1 if errors == "symmetric" else classes)
        theta[j] = (1 - right) / (classes - 1)
        theta[j][range(classes), range(classes)] = right
    weight = rng.dirichlet(5 * np.ones(classes))
    return State(theta, np.zeros(voters) if copied is None else copied, weight)


def forest_of(votes, classes, errors, table_of):
    """Return who copies whom as estimation finds it: by a fit that knows of no copying."""
    table = table_of(votes, classes)
    problem = build_problem(Model("independent", errors), table)
    state, _, _ = fit_point(problem, starting_state(problem, table.vote_shares()))
    return copying_forest(problem, state, shared_votes(table))


def only_pair(parent, i, j):
    """Whether of all voters i and j, and no others, are linked."""
    linked = parent is not None and (parent[i] == j or parent[j] == i)
    return bool(linked and (parent >= 0).sum() == 1)


@pytest.mark.parametrize("errors", ERRORS)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("kappa", [0.5, 0.9])
def test_a_planted_copier_is_found(kappa, classes, errors, world, table_of):
    """Among twelve voters, so that the two that copy do not make the labels between them."""
    parent = [-1] * 11 + [10]
    law = world(errors, parent, np.ones((2000, 12), dtype=bool), classes=classes)
    rng = np.random.default_rng(63)
    copied = np.array([0] * 11 + [kappa])
    found = 0
    for _ in range(10):
        _, votes = law.draw_votes(accurate_state(rng, 12, classes, errors, copied), rng)
        found += only_pair(forest_of(votes, classes, errors, table_of), 10, 11)
    assert found >= 8  # a false pair comes up in at most 5 % of the datasets


@pytest.mark.slow
@pytest.mark.parametrize("errors", ERRORS)
def test_a_planted_copier_is_found_by_the_true_error_rates(errors, world):
    """Told the voters' laws, six voters are enough."""
    law = world(errors, [-1, -1, -1, -1, -1, 4], np.ones((2000, 6), dtype=bool))
    rng = np.random.default_rng(66)
    found = 0
    for _ in range(10):
        state = accurate_state(rng, 6, 2, errors, np.array([0, 0, 0, 0, 0, 0.6]))
        component, votes = law.draw_votes(state, rng)
        problem = law.problem(votes, component)
        told = State(marginal_confusions(problem.law.parent, state), np.zeros(6), state.weight)
        alone = build_problem(Model("independent", errors), problem.table)
        found += only_pair(copying_forest(alone, told, shared_votes(problem.table)), 4, 5)
    assert found >= 8


def test_trees_grow_from_the_most_accurate_voter(world):
    """Two trees, a chain and a pair: each has one root, its best voter."""
    parent = [-1, 0, 1, -1, 3, -1, -1, -1]
    law = world("symmetric", parent, np.ones((5000, 8), dtype=bool))
    rng = np.random.default_rng(64)
    theta = np.empty((8, 2, 2))
    for j, right in enumerate([0.85, 0.6, 0.6, 0.8, 0.6, 0.8, 0.85, 0.75]):
        theta[j] = [[right, 1 - right], [1 - right, right]]
    state = State(theta, np.array([0, 0.6, 0.6, 0, 0.6, 0, 0, 0]), np.array([0.5, 0.5]))
    component, votes = law.draw_votes(state, rng)
    problem = law.problem(votes, component)
    told = State(marginal_confusions(problem.law.parent, state), np.zeros(8), state.weight)
    alone = build_problem(Model("independent", "symmetric"), problem.table)
    assert copying_forest(alone, told, shared_votes(problem.table)).tolist() == parent


@pytest.mark.slow
@pytest.mark.parametrize("errors", ERRORS)
@pytest.mark.parametrize(("classes", "voters", "items"), [(2, 5, 300), (2, 10, 2000), (3, 6, 2000)])
def test_independent_voters_seldom_look_like_copiers(
    classes, voters, items, errors, world, table_of
):
    law = world(errors, "none", np.ones((items, voters), dtype=bool), classes=classes)
    rng = np.random.default_rng(65)
    none = 0
    for _ in range(100):
        _, votes = law.draw_votes(accurate_state(rng, voters, classes, errors), rng)
        none += forest_of(votes, classes, errors, table_of) is None
    assert none >= 90


@pytest.mark.slow
@pytest.mark.parametrize("errors", ["class-conditional", "symmetric"])
def test_a_copier_among_six_voters_is_found(errors, world, table_of):
    """A strong copier and its model draw the labels to themselves.

    The fit that knows of no copying takes the two for nearly perfect, so that not they but the
    other voters seem to agree too much.
    """
    law = world(errors, [-1, -1, -1, -1, -1, 4], np.ones((2000, 6), dtype=bool))
    rng = np.random.default_rng(67)
    found = 0
    for _ in range(12):
        right = rng.uniform(0.65, 0.9, 6)
        theta = np.array([[[r, 1 - r], [1 - r, r]] for r in right])
        state = State(theta, np.array([0, 0, 0, 0, 0, 0.9]), np.array([0.5, 0.5]))
        _, votes = law.draw_votes(state, rng)
        table = table_of(votes, 2)
        problem = build_problem(Model("independent", errors), table)
        fit, _, _ = fit_point(problem, starting_state(problem, table.vote_shares()))
        parent = copying_forest(problem, fit, shared_votes(table))
        found += parent is not None and (parent[4] == 5 or parent[5] == 4)
    assert found >= 9
