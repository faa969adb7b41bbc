"""The cheapest panel: brute force, greedy search, copies, costs."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

from karat._result import Estimate
from karat.consensus import ErrorEstimator, PairEstimator, cheapest_panel
from karat.consensus._cheapest_panel import Losses, cheapest
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


def test_losses_where_labels_contradict_the_votes():
    """All judges together are wrong on the first of three patterns, judge 0 on the second."""
    codes = np.array([[1, 0, 0, 0, 0], [0, 1, 1, 1, 1], [1, 1, 1, 1, 1]])
    odds = np.log((1 - WRONG) / WRONG)
    assert odds[1:].sum() > odds[0]  # the others together outvote the first
    losses = Losses(codes, np.array([5.0, 3.0, 2.0]), naive, np.array([1, 1, 1]))
    everyone = tuple(range(5))
    assert losses.error_of_all == pytest.approx(0.5)  # wrong on the first pattern only
    assert losses.of(everyone) == 0.0
    assert losses.of((0,)) == pytest.approx(0.3 - 0.5)
    assert losses.of((1,)) == pytest.approx(0.0)
    panel = cheapest(losses.of, np.ones(5), 0.0)
    assert (panel.judges, panel.loss) == ((0,), pytest.approx(-0.2))


@pytest.mark.parametrize("labelled", [600, 80])
def test_labels_that_contradict_the_votes_count(labelled):
    """What is lost is counted: errors of a consensus against labels, and by the model elsewhere."""
    rng = np.random.default_rng(7)
    y = rng.integers(0, 2, 600)
    fooled = rng.random(600) < 0.3  # all but the first judge are wrong together
    wrong = np.where(fooled[:, None], 0.95, 0.1) * np.ones(5)
    wrong[:, 0] = 0.05
    votes = np.where(rng.random((600, 5)) < wrong, 1 - y[:, None], y[:, None])
    known = rng.permutation(600) < labelled
    fitted = ErrorEstimator(dependence="none", chains=2, draws=100, rng=0).fit(
        votes, y_true=np.where(known, y, -1)
    )
    found = cheapest_panel(fitted, draws=5)
    model = fitted.as_label_model()
    full = model.predict_codes(votes)
    truth = np.where(known[:, None], np.eye(2)[y], full)

    def error(judges):
        asked = np.full_like(votes, -2)
        asked[:, judges] = votes[:, judges]
        choice = model.predict_codes(asked).argmax(axis=1)
        return (1 - truth[np.arange(600), choice]).mean()

    everyone = list(range(5))
    assert found.error_of_all == pytest.approx(error(everyone))
    assert found.value == pytest.approx(error(np.flatnonzero(found.chosen)) - error(everyone))
    for j in everyone:
        assert found.alone[j] == pytest.approx(error([j]) - error(everyone))
        rest = [k for k in everyone if k != j]
        assert found.left_out[j] == pytest.approx(error(rest) - error(everyone))
    price = found.chosen.sum()
    for r in range(1, price):
        for other in combinations(everyone, r):
            assert error(list(other)) - error(everyone) > found.tolerance
    assert found.lower <= found.value <= found.upper


def loss_of(value, lower, upper):
    return Estimate.of(value, lower, upper, 0.95, "model")


def test_a_better_panel_is_said_to_be_better_only_if_it_is_shown():
    found = replace(cheapest_panel(FITTED, draws=5), n_labels=80)
    better = replace(found, estimate=loss_of(-0.02, -0.03, -0.01)).summary()
    assert "are wrong less often than all of them: by the labels they are wrong on 2.0 %" in better
    assert "1.0 % to 3.0 %); it was chosen by the same 80 labels" in better
    unsure = replace(found, estimate=loss_of(-0.02, -0.03, 0.0001)).summary()
    assert "may be as good as all of them: by the labels they are wrong on 2.0 % fewer" in unsure
    assert "-0.0" not in unsure


@pytest.mark.parametrize("shares", [(0.3, 0.5, 0.2), (0.02, 0.9, 0.08), (0.0, 0.95, 0.05)])
def test_limits_of_labelled_items_cover_items_like_them(shares):
    """Judge 0 alone is right on the first pattern, all of them on the second.

    The limits are approximate: where six items in 120 decide they hold 93 % of the time.
    """
    codes = np.array([[1, 0, 0, 0, 0], [1, 1, 1, 1, 1], [0, 1, 1, 1, 1]])
    truth = shares[2] - shares[0]
    rng = np.random.default_rng(3)
    held = 0
    for counts in rng.multinomial(120, shares, 2000):
        found = Losses(codes, counts.astype(float), naive, np.array([1, 1, 1])).labelled((0,), 0.95)
        assert found.value == pytest.approx((counts[2] - counts[0]) / 120)
        held += found.lower <= truth <= found.upper
    assert held / 2000 >= 0.92


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
    assert free.value <= 0.01
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
        off.append(errors[0] - errors[1] - found.value)
    assert abs(np.mean(off)) < 0.01
    assert np.max(np.abs(off)) < 0.03


def test_votes_in_place_of_a_fit_are_refused():
    frame = pd.DataFrame({"a": [0, 1], "b": [1, 1]})
    with pytest.raises(DataError, match="pass a fitted ErrorEstimator, not a DataFrame"):
        cheapest_panel(frame)
    with pytest.raises(NotFittedError, match="PairEstimator is not fitted"):
        cheapest_panel(PairEstimator())
