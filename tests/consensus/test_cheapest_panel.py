"""The cheapest panel: brute force, greedy search, copies, costs."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

from karat.consensus import ErrorEstimator, PairEstimator, cheapest_panel
from karat.consensus.panels import Losses, cheapest
from karat.exceptions import DataError, OptionError

pytestmark = pytest.mark.filterwarnings("ignore::karat.exceptions.KaratWarning")  # copies are found
RNG = np.random.default_rng(0)
Y = RNG.integers(0, 2, 600)
WRONG = np.array([0.08, 0.15, 0.15, 0.3, 0.42])
VOTES = np.where(RNG.random((600, 5)) < WRONG, 1 - Y[:, None], Y[:, None])
FITTED = ErrorEstimator(dependence="none", chains=2, draws=100, rng=0).fit(VOTES)


def naive(codes):
    """P(class) of independent voters with known error rates and even classes."""
    odds = np.log((1 - WRONG) / WRONG)
    score = np.where(codes < 0, 0.0, np.where(codes == 1, 1.0, -1.0)) @ odds
    one = 1 / (1 + np.exp(-score))
    return np.column_stack([1 - one, one])


def test_losses_by_hand():
    codes = np.array(list(np.ndindex(2, 2, 2, 2, 2)))
    chance = np.zeros(len(codes))
    for y in (0, 1):
        chance += 0.5 * np.where(codes == y, 1 - WRONG, WRONG).prod(axis=1)
    losses = Losses(codes, chance, naive)
    everyone = tuple(range(5))
    assert losses.of(everyone) == pytest.approx(0.0)
    # A judge alone is wrong as often as it is wrong: the loss is that beyond the error of all.
    for j in range(5):
        assert losses.of((j,)) + losses.error_of_all == pytest.approx(WRONG[j])


@given(st.integers(0, 1000), st.sampled_from([0.0, 0.005, 0.02, 0.1]))
@settings(max_examples=25, deadline=None)
def test_no_cheaper_set_does_as_well(seed, tolerance):
    rng = np.random.default_rng(seed)
    cost = rng.integers(1, 6, 5).astype(float)
    codes = np.array(list(np.ndindex(2, 2, 2, 2, 2)))
    losses = Losses(codes, rng.random(32), naive)
    panel = cheapest(losses.of, cost, tolerance)
    assert losses.of(panel.judges) <= tolerance
    price = cost[list(panel.judges)].sum()
    for r in range(1, 6):
        for other in combinations(range(5), r):
            if losses.of(other) <= tolerance:
                assert cost[list(other)].sum() >= price - 1e-9


def test_greedy_keeps_the_tolerance_and_drops_who_is_not_needed():
    worth = np.array([0.2] + [0.01] * 14)

    def loss(judges):
        return max(0.0, 0.25 - worth[list(judges)].sum())

    panel = cheapest(loss, np.ones(15), 0.03)
    assert not panel.exact
    assert 0 in panel.judges
    assert loss(panel.judges) <= 0.03
    assert all(loss(tuple(k for k in panel.judges if k != j)) > 0.03 for j in panel.judges)


def test_a_copy_adds_nothing():
    votes = np.column_stack([VOTES, VOTES[:, 0]])
    found = cheapest_panel(ErrorEstimator(draws=100, rng=0).fit(votes), draws=5)
    assert found.adds_nothing[[0, 5]].all()
    assert not found.chosen[[0, 5]].all()


def test_costs_choose():
    free = cheapest_panel(FITTED, draws=5)
    assert free.chosen[0]
    assert free.loss <= 0.01
    dear = cheapest_panel(FITTED, cost=[50, 1, 1, 1, 1], tolerance=0.1, draws=5)
    assert not dear.chosen[0]
    assert dear.cost[dear.chosen].sum() <= 4
    named = cheapest_panel(FITTED, cost={str(j): 1 for j in range(5)}, draws=5)
    assert named.chosen.tolist() == free.chosen.tolist()
    with pytest.raises(OptionError, match="cost is"):
        cheapest_panel(FITTED, cost={"0": 1})
    with pytest.raises(OptionError, match="one number per judge"):
        cheapest_panel(FITTED, cost=[1, 2])


def test_pairs_have_panels_too():
    text = np.array(["A", "B"])[VOTES]
    est = PairEstimator(dependence="none", chains=2, draws=100, rng=0).fit(text, text)
    assert cheapest_panel(est, draws=5).judges == ("0", "1", "2", "3", "4")


@pytest.mark.slow
def test_the_panel_decides_as_well_on_new_items():
    """The loss that is promised is that on 20,000 further items, in 12 runs."""
    rng, off = np.random.default_rng(1), []
    for _ in range(12):
        wrong = rng.uniform(0.05, 0.4, 6)
        y = rng.integers(0, 2, 20_600)
        votes = np.where(rng.random((20_600, 6)) < wrong, 1 - y[:, None], y[:, None])
        fitted = ErrorEstimator(dependence="none", chains=2, draws=100, rng=rng).fit(votes[:600])
        found = cheapest_panel(fitted, draws=20)
        model, new = fitted.as_label_model(), votes[600:]
        asked = np.where(found.chosen, new, -2)
        errors = [
            (model.predict_codes(codes).argmax(axis=1) != y[600:]).mean() for codes in (asked, new)
        ]
        off.append(errors[0] - errors[1] - found.loss)
    assert abs(np.mean(off)) < 0.01
    assert np.max(np.abs(off)) < 0.03


def test_votes_in_place_of_a_fit_are_refused():
    frame = pd.DataFrame({"a": [0, 1], "b": [1, 1]})
    with pytest.raises(DataError, match="pass a fitted ErrorEstimator, not a DataFrame"):
        cheapest_panel(frame)
    with pytest.raises(NotFittedError, match="PairEstimator is not fitted"):
        cheapest_panel(PairEstimator())
