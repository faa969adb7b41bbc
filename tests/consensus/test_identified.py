import numpy as np
import pytest

from karat.consensus import ErrorEstimator
from karat.consensus.identification import (
    Explanation,
    clustered_explanation,
    identification_failures,
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
