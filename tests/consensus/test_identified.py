import numpy as np
import pytest

from karat.consensus import ErrorEstimator
from karat.consensus.identification import (
    LONE_VOTES,
    Explanation,
    clustered_explanation,
    identification_failures,
    lone_votes_explanation,
)
from karat.consensus.sampling import modes_of
from karat.exceptions import NotIdentifiedWarning
from karat.votes.agreement import Agreement


def pairs(off, of=100, apart=0.2):
    z = np.where(np.arange(of) < off, 6.0, 0.5)
    expected = np.full(of, 0.6)
    observed = expected + np.where(z > 3, apart, 0.0)
    none = np.arange(of)
    return Agreement(none, none, np.full(of, 100.0), observed, expected, z)


@pytest.mark.parametrize(
    ("moved", "modes", "off", "width", "reasons"),
    [
        (0.09, [], 4, 0.3, 0),
        (0.11, [], 4, 0.3, 1),
        (0.09, [0.3], 4, 0.3, 1),
        (0.09, [], 6, 0.3, 1),
        (0.09, [], 4, 0.6, 1),
        (0.11, [0.3], 6, 0.6, 4),
    ],
)
def test_each_rule_counts(table_of, moved, modes, off, width, reasons):
    table = table_of(np.zeros((5, 3), dtype=int), 2)
    story = Explanation("x", np.zeros(3), np.zeros((1, 2)), moved)
    found = identification_failures(table, [story], modes, pairs(off), width)
    assert len(found) == reasons


def test_small_differences_and_two_voters(table_of):
    three = table_of(np.zeros((5, 3), dtype=int), 2)
    assert not identification_failures(three, [], [], pairs(50, apart=0.005), 0.1)
    two = table_of(np.zeros((5, 2), dtype=int), 2)
    assert identification_failures(two, [], [], pairs(0), 0.1)


def test_modes_are_chains_far_apart():
    rng = np.random.default_rng(0)

    class Draws:
        rates = 0.2 + 0.01 * rng.standard_normal((4, 100, 3))

    assert modes_of(Draws) == []
    Draws.rates[2, :, 1] += 0.3
    assert modes_of(Draws) == pytest.approx([0.3], abs=0.02)


def test_copiers_have_one_vote_together(table_of):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 400)
    loud = np.where(rng.random(400) < 0.4, 1 - y, y)  # four voters who say the same
    others = np.where(rng.random((400, 3)) < 0.1, 1 - y[:, None], y[:, None])
    table = table_of(np.column_stack([*[loud] * 4, others]), 2)
    mean = np.array([0.0] * 4 + [0.4] * 3)  # the majority is the loud one
    story = clustered_explanation(
        table, np.array([-1, 0, 0, 0, -1, -1, -1]), mean, table.vote_shares()
    )
    assert story.rates[:4] == pytest.approx(0.4, abs=0.06)
    assert story.rates[4:] == pytest.approx(0.1, abs=0.06)
    assert story.moved > 0.2


def test_voters_who_never_disagree_are_not_identified():
    """All right and all wrong in the same way look the same."""
    same = np.repeat(np.random.default_rng(3).integers(0, 2, 200)[:, None], 4, axis=1)
    with pytest.warns(NotIdentifiedWarning, match="do not identify"):
        fitted = ErrorEstimator(draws=100, chains=2, rng=0).fit(same)
    assert not fitted.identified_["all"]
    assert "right or copies of one another" in fitted.result_.summary()


def seldom_seen(rng, n=500):
    """Six voters who see a class of a quarter of the items in three of ten cases, each alone."""
    y = (rng.random(n) < 0.25).astype(int)
    see = rng.random((n, 6)) < 0.3
    alarm = rng.random((n, 6)) < 0.01
    return y, np.where(y[:, None] == 1, see, alarm).astype(int)


def test_votes_that_stand_alone_widen_the_limits_to_what_they_may_mean():
    """A class that is seldom seen looks like false alarms; the limits must hold for both."""
    y, votes = seldom_seen(np.random.default_rng(5))
    fitted = ErrorEstimator(draws=150, chains=2, rng=0).fit(votes)
    result, truth = fitted.result_, (votes != y[:, None]).mean(axis=0)
    assert LONE_VOTES in fitted.explanations().names
    assert ((result.lower <= truth) & (truth <= result.upper)).all()
    if fitted.status_["all"] == "consistent":
        assert "rare or seldom seen" in result.summary()


def test_gold_labels_say_which_of_the_two_it_is(table_of):
    """Labels of items with a lone vote, all of the other class, leave little of the explanation."""
    y, votes = seldom_seen(np.random.default_rng(6))
    mean = votes.mean(axis=0)
    lone = np.flatnonzero(votes.sum(axis=1) == 1)[:20]
    gold = np.full(len(y), -1)
    table = table_of(votes, 2)
    consensus = np.repeat([[1.0, 0.0]], table.n_patterns, axis=0)
    free = lone_votes_explanation(table, mean, consensus)
    gold[lone] = 0
    labelled = table_of(votes, 2, gold=gold)
    tested = lone_votes_explanation(
        labelled, mean, np.repeat([[1.0, 0.0]], labelled.n_patterns, axis=0)
    )
    assert not free.competes
    assert tested.moved < 0.25 * free.moved


def test_votes_that_are_shared_need_no_such_account(table_of):
    rng = np.random.default_rng(7)
    y = rng.integers(0, 2, 300)
    votes = np.where(rng.random((300, 4)) < 0.15, 1 - y[:, None], y[:, None])
    table = table_of(votes, 2)
    assert lone_votes_explanation(table, votes.mean(axis=0), table.vote_shares()) is None
