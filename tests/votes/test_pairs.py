"""Votes in common of pairs of voters, counted one by one."""

import numpy as np
import pytest

from karat.votes.agreement import shared_votes
from karat.votes.patterns import VoteTable


@pytest.mark.parametrize("patterns", [60, 4000])
def test_votes_in_common_are_those_counted_one_by_one(patterns):
    """Small tables are plain matrices and large ones sparse: the counts are the same."""
    rng = np.random.default_rng(patterns)
    votes = rng.integers(-2, 3, (patterns, 4))  # -2: not asked, -1: abstained
    count = rng.integers(1, 4, patterns).astype(float)
    table = VoteTable.of_codes(votes, count, 3)
    found = shared_votes(table, at_least=5)
    pairs = list(zip(found.first.tolist(), found.second.tolist(), strict=True))
    assert pairs == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    for i, j, n, both in zip(found.first, found.second, found.n, found.both, strict=True):
        asked = (votes[:, i] > -2) & (votes[:, j] > -2)
        assert n == pytest.approx(count[asked].sum())
        for outcome, said in enumerate([0, 1, 2, -1]):  # to abstain is an outcome too
            same = (votes[:, i] == said) & (votes[:, j] == said)
            assert both[outcome] == pytest.approx(count[same].sum())


def test_pairs_with_few_items_in_common_are_left_out():
    votes = np.full((30, 3), -2)
    votes[:25, :2] = 1
    votes[20:, 2] = 0
    found = shared_votes(VoteTable.of_codes(votes, np.ones(30), 2))
    assert (found.first.tolist(), found.second.tolist(), found.n.tolist()) == ([0], [1], [25.0])
