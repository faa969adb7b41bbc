"""Near copies: one vote together, whatever the order of voters; good voters are no copies."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from karat.votes.agreement import kappas, near_copies, one_vote_each
from karat.votes.patterns import VoteTable

# The voter that is copied, how often in all, and the others.
SETTINGS = [
    (0.3, 3, [0.1, 0.1]),
    (0.375, 4, [0.2, 0.2, 0.25]),
    (0.1, 3, [0.15] * 4),
    (0.2, 2, [0.1, 0.15, 0.2, 0.25]),
]


def table_of(votes, k=2):
    codes, count = np.unique(votes, axis=0, return_counts=True)
    return VoteTable.of_codes(codes, count, k)


def panel(seed, rates, n=500, k=2):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    wrong = rng.random((n, len(rates))) < rates
    other = (y[:, None] + rng.integers(1, k, wrong.shape)) % k
    return rng, y, np.where(wrong, other, y[:, None])


def with_copies(seed, rate, times, others, share, n=500):
    rng, y, votes = panel(seed, [rate, *others], n)
    copies = [votes[:, 0]]
    for _ in range(times - 1):
        alone = np.where(rng.random(n) < rate, 1 - y, y)
        copies.append(np.where(rng.random(n) < share, votes[:, 0], alone))
    return np.column_stack([*copies, votes[:, 1:]])


@pytest.mark.parametrize("n", [300, 20_000])
def test_kappa_is_cohens(n):
    """Small tables are multiplied whole, and large ones as sparse matrices."""
    rng, _, votes = panel(0, [0.1, 0.3, 0.4, 0.2, *[0.3] * 12], n=n, k=3)
    votes[rng.random(votes.shape) < 0.2] = -2
    votes[rng.random(votes.shape) < 0.1] = -1
    found = kappas(table_of(votes, 3))
    for i in range(4):
        for j in range(i + 1, 4):
            both = (votes[:, i] >= 0) & (votes[:, j] >= 0)
            wanted = cohen_kappa_score(votes[both, i], votes[both, j])
            assert found.value[i, j] == pytest.approx(wanted)
            assert found.value[j, i] == pytest.approx(wanted)


def test_few_shared_items_say_nothing():
    votes = np.repeat(np.random.default_rng(1).integers(0, 2, 39)[:, None], 3, axis=1)
    assert near_copies(table_of(votes)).blocks == ()


def test_copies_of_a_bad_voter_are_one_block_and_the_medoid_speaks():
    votes = with_copies(3, 0.3, 3, [0.1, 0.1], 0.97)
    table = table_of(votes)
    found = near_copies(table)
    assert [set(block) for block in found.blocks] == [{0, 1, 2}]
    assert found.distinct(5) == 3
    counted = one_vote_each(table, found)
    spoke = set(table.voter[counted].tolist())
    assert spoke == {found.blocks[0][0], 3, 4}


def test_where_the_medoid_is_silent_the_next_member_speaks():
    votes = np.array([[0, 0, 1], [-2, 1, 1], [-2, -2, 0]])
    table = VoteTable.of_codes(votes, np.ones(3), 2)
    found = near_copies(table, known=[[0, 1]])
    assert found.known == (True,)
    kept = one_vote_each(table, found)
    said = sorted(
        zip(table.pattern_of_vote[kept].tolist(), table.voter[kept].tolist(), strict=True)
    )
    first = found.blocks[0][0]
    assert said[0] == (0, first)
    assert (1, 1) in said
    assert (2, 2) in said
    assert len(said) == 5


def test_families_that_share_a_voter_are_one():
    votes = panel(5, [0.2] * 5)[2]
    found = near_copies(table_of(votes), known=[[0, 1], [1, 2], [4]])
    assert [set(block) for block in found.blocks] == [{0, 1, 2}]


def test_a_panel_that_agrees_throughout_cannot_be_told_from_copies():
    votes = panel(6, [0.01] * 5)[2]
    assert near_copies(table_of(votes)).distinct(5) == 1


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.permutations(range(6)))
def test_the_order_of_voters_and_items_does_not_matter(seed, order):
    votes = with_copies(seed, 0.3, 3, [0.1, 0.2, 0.25], 0.97, n=200)
    plain = near_copies(table_of(votes)).blocks
    shuffled = np.random.default_rng(seed).permutation(votes)[:, list(order)]
    found = near_copies(table_of(shuffled)).blocks
    assert {frozenset(b) for b in plain} == {frozenset(order[j] for j in b) for b in found}


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.permutations(range(4)))
def test_the_own_order_of_a_table_does_not_depend_on_that_of_its_voters(seed, order):
    _, _, votes = panel(seed, [0.1, 0.2, 0.3, 0.4], n=60)
    first, second = table_of(votes), table_of(votes[:, list(order)])
    patterns, voters = zip(first.order(), second.order(), strict=True)
    one = first.dense()[patterns[0]][:, voters[0]]
    other = second.dense()[patterns[1]][:, voters[1]]
    records = [tuple(np.bincount(votes[:, j], minlength=2)) for j in range(4)]
    if len(set(records)) == 4:  # voters with the same record keep their order
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(first.count[patterns[0]].sum(), second.count[patterns[1]].sum())


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.95, 0.99])
def test_copies_are_found_and_good_voters_are_not_merged(share):
    """40 seeds a setting: a rate of .97 would fail if it were below .83."""
    for rate, times, others in SETTINGS:
        hits = 0
        for seed in range(40):
            votes = with_copies(seed, rate, times, others, share)
            blocks = near_copies(table_of(votes)).blocks
            hits += any(set(range(times)) <= set(b) for b in blocks)
            assert all(set(b) <= set(range(times)) for b in blocks)
        assert hits >= 37
    for rates in ([0.05] * 5, [0.01, 0.01, 0.2, 0.2, 0.2, 0.2], [0.03] * 3 + [0.15] * 3):
        merged = [near_copies(table_of(panel(s, rates)[2])).blocks for s in range(40)]
        assert sum(map(bool, merged)) == 0
