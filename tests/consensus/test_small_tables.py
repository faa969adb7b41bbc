"""Few votes by NumPy and many by compiled loops: the same numbers."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.consensus.model import Model, build_problem
from karat.votes.em import ListedProblem, fit_point, starting_state


@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 2]), st.booleans(), st.booleans())
@settings(max_examples=25, deadline=None)
def test_both_ways_agree(table_of, seed, levels, copies, gold):
    rng = np.random.default_rng(seed)
    votes = rng.integers(-1, 4, (12, 4))  # -1 is not asked, 3 an abstention
    votes[0] = -1  # an item that nobody saw
    known = rng.integers(-1, 3, 12) if gold else None
    count = rng.uniform(0.2, 5, 12)
    table = table_of(votes, 3, abstains=True, gold=known, count=count)
    parent = np.array([-1, 0, 1, 0]) if copies else None
    problem = build_problem(Model("any", levels=levels, parent=parent), table)
    start = starting_state(problem, table.vote_shares())
    small = fit_point(problem, start, max_iter=5)
    compiled = ListedProblem.of(table, problem.law, dense_up_to=0)
    large = fit_point(compiled, start, max_iter=5)
    for few, many in zip(small[1:], large[1:], strict=True):
        np.testing.assert_allclose(few, many, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(small[0].theta, large[0].theta, rtol=1e-9)
