import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.consensus._comparison import held_out, split_counts, stacking_weights
from karat.consensus.model import Model, build_problem
from karat.votes.em import State, fit_point, log_likelihood, starting_state

ERRORS = ["class-conditional", "symmetric"]


@given(
    count=st.lists(st.one_of(st.integers(0, 50), st.floats(0, 50)), min_size=1, max_size=12),
    folds=st.integers(2, 7),
    seed=st.integers(0, 99),
)
@settings(deadline=None)
def test_a_split_loses_nothing(count, folds, seed):
    count = np.array(count, dtype=float)
    out, rest = split_counts(count, folds, np.random.default_rng(seed))
    assert out.shape == rest.shape == (folds, len(count))
    np.testing.assert_allclose(out.sum(axis=0), count, atol=1e-8)
    np.testing.assert_allclose(out + rest, np.tile(count, (folds, 1)), atol=1e-8)
    assert (out >= 0).all()
    assert (rest >= -1e-8).all()
    whole = count == np.floor(count)
    assert np.array_equal(out[:, whole], np.round(out[:, whole]))


def test_every_fold_gets_its_share(rng):
    out, _ = split_counts(np.full(50, 1000.0), 5, rng)
    np.testing.assert_allclose(out.sum(axis=1), 10_000, rtol=0.05)


@pytest.mark.parametrize("case", range(6))
def test_stacking_of_two_models_is_the_best_on_a_grid(case):
    rng = np.random.default_rng(case)
    pointwise = rng.normal(-3, 1, size=(2, 40))
    pointwise[0] += [0, 0.3, -0.3, 1.0, -1.0, 0.6][case]
    count = rng.integers(1, 20, 40).astype(float)
    weight = stacking_weights(pointwise, count)
    assert weight.sum() == pytest.approx(1)
    assert (weight >= 0).all()

    def objective(w):
        return count @ np.log(w * np.exp(pointwise[0]) + (1 - w) * np.exp(pointwise[1]))

    grid = np.linspace(0, 1, 2001)
    values = np.array([objective(w) for w in grid])
    assert weight[0] == pytest.approx(grid[values.argmax()], abs=0.005)
    assert objective(weight[0]) > values.max() - 1e-3


def test_stacking_of_equal_models_and_of_a_hopeless_one():
    same = np.full((2, 10), -2.0)
    np.testing.assert_allclose(stacking_weights(same, np.ones(10)), 0.5)
    three = np.stack([same[0], same[0], same[0] - 50])
    np.testing.assert_allclose(stacking_weights(three, np.ones(10)), [0.5, 0.5, 0], atol=1e-12)


def test_held_out_equals_a_loop_over_folds(world):
    law = world("symmetric", "none", np.ones((300, 4), dtype=bool))
    rng = np.random.default_rng(71)
    component, votes = law.draw_votes(law.draw_state(rng), rng)
    table = law.problem(votes, component).table
    models = [Model("none", "symmetric"), Model("none", "class-conditional")]
    found = held_out(models, table, folds=3, rng=np.random.default_rng(5))
    order = table.order()[0]
    out, rest = np.empty((2, 3, table.n_patterns))
    out[:, order], rest[:, order] = split_counts(table.count[order], 3, np.random.default_rng(5))
    each = np.zeros((2, len(table.count)))
    for m, model in enumerate(models):
        for f in range(3):
            problem = build_problem(model, table.with_counts(rest[f]))
            state = starting_state(problem, table.vote_shares())
            state, _, _ = fit_point(problem, state, max_iter=100, tol=1e-5)
            value, _ = log_likelihood(problem, state)
            each[m] += out[f] * value  # every item is in one fold
    np.testing.assert_allclose(found.total, each.sum(axis=1))
    best = found.total.argmax()
    assert found.behind[best] == found.behind_error[best] == 0
    apart = each[best] - each[1 - best]
    assert found.behind[1 - best] == pytest.approx(apart.sum())
    assert found.behind_error[1 - best] == pytest.approx(apart.std(ddof=1) * np.sqrt(len(apart)))


def test_gold_labels_say_nothing_of_what_predicts_votes(world):
    asked = np.ones((200, 4), dtype=bool)
    rng = np.random.default_rng(72)
    law = world("symmetric", "none", asked, labelled=range(50))
    component, votes = law.draw_votes(law.draw_state(rng), rng)
    models = [Model("none", "symmetric"), Model("none", "class-conditional")]
    totals = [
        held_out(models, table, folds=3, rng=np.random.default_rng(5)).total
        for table in (
            law.problem(votes, component).table,
            law.problem(votes, component).table.without_gold(),
        )
    ]
    np.testing.assert_array_equal(*totals)


def state_of(easy, hard, share_hard):
    """Return eight voters with two error rates each, as a state with easy and hard items."""
    theta = np.empty((8, 2, 4))
    for j in range(8):
        for c in range(4):
            rate = hard[j] if c % 2 else easy[j]
            theta[j, :, c] = [1 - rate, rate] if c < 2 else [rate, 1 - rate]
    weight = 0.5 * np.array([1 - share_hard, share_hard] * 2)
    return State(theta, np.zeros(8), weight)


@pytest.mark.slow
@pytest.mark.parametrize("errors", ERRORS)
def test_votes_of_easy_and_hard_items_prefer_difficulty(errors, world):
    law = world(errors, "difficulty", np.ones((2000, 8), dtype=bool))
    rng = np.random.default_rng(73)
    models = [Model("independent", errors), Model("difficulty", errors, levels=2)]
    for _ in range(4):
        state = state_of(rng.uniform(0.02, 0.1, 8), rng.uniform(0.25, 0.45, 8), 0.4)
        component, votes = law.draw_votes(state, rng)
        found = held_out(models, law.problem(votes, component).table, folds=5, rng=rng)
        assert found.total.argmax() == 1
        assert found.weight[1] > 0.7
        assert found.behind[0] > 3 * found.behind_error[0]


@pytest.mark.slow
@pytest.mark.parametrize("errors", ERRORS)
def test_votes_of_independent_voters_do_not_reject_independence(errors, world):
    law = world(errors, "difficulty", np.ones((2000, 8), dtype=bool))
    rng = np.random.default_rng(74)
    models = [Model("independent", errors), Model("difficulty", errors, levels=2)]
    for _ in range(4):
        rates = rng.uniform(0.1, 0.35, 8)
        component, votes = law.draw_votes(state_of(rates, rates, 0.4), rng)
        found = held_out(models, law.problem(votes, component).table, folds=5, rng=rng)
        assert found.weight[0] >= 0.3 or found.behind[0] < 3 * found.behind_error[0]
