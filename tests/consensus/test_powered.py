import warnings

import numpy as np
import pytest

from karat.consensus import ErrorEstimator
from karat.consensus._from_labels import cross_predictions, rate_with_votes, rates_with_votes
from karat.exceptions import DataError
from karat.votes.domains import read_votes

RATES = np.array([0.05, 0.15, 0.3, 0.6, 0.7, 0.65, 0.2])

TOGETHER = [3, 4, 5]  # these follow a shared mistake four times in five
RATE_OF_WORLD = np.where(np.isin(np.arange(7), TOGETHER), 0.8 * 0.65 + 0.2 * RATES, RATES)


def world(rng, n):
    """Return truth and votes; three voters err together, against the others."""
    y = rng.integers(0, 2, n)
    shared = rng.random(n) < 0.65
    wrong = rng.random((n, 7)) < RATES
    wrong[:, 3:6] = np.where(rng.random((n, 3)) < 0.8, shared[:, None], wrong[:, 3:6])
    return y, np.where(wrong, 1 - y[:, None], y[:, None])


def answers(votes, y, gold, *, finite):
    labels = np.full(len(y), -1)
    labels[gold] = y[gold]
    (domain,) = read_votes(votes, y_true=labels).domains
    share = domain.table.vote_shares()
    return rates_with_votes(
        domain, cross_predictions(domain, share), confidence=0.95, finite=finite
    )


def test_estimate_equals_the_formula():
    rng = np.random.default_rng(0)
    f = (rng.random(30) < 0.7).astype(float)
    m = np.clip(0.5 * f + 0.5 * rng.random(30), 0, 1)
    others = rng.random(70)
    found = rate_with_votes(
        right=f, predicted=m, fold=np.zeros(30, dtype=int), others=np.array([others.sum()]),
        n_others=70.0, confidence=0.95, finite=False,
    )  # fmt: skip
    lam = np.cov(f, m, bias=True)[0, 1] / m.var() * 30 / 40  # a weight of 0 counts as 10 labels
    everything = np.concatenate([m, others]).mean()
    assert found.value == pytest.approx(1 - (lam * everything + (f - lam * m).mean()), abs=1e-12)
    assert found.weight == pytest.approx(lam)
    assert found.upper - found.lower < found.labels_upper - found.labels_lower


def test_few_labels_say_nothing_and_all_right_is_not_certain():
    few = rate_with_votes(
        right=np.ones(4), predicted=np.full(4, 0.9), fold=np.arange(4), others=np.full(4, 9.0),
        n_others=10.0, confidence=0.95, finite=False,
    )  # fmt: skip
    assert np.isnan(few.value)
    perfect = rate_with_votes(
        right=np.ones(20), predicted=np.full(20, 0.9), fold=np.arange(20) % 10,
        others=np.full(10, 90.0), n_others=100.0, confidence=0.95, finite=True,
    )  # fmt: skip
    assert perfect.upper > 0.02


def test_no_gold_no_rates_with_votes():
    votes = np.random.default_rng(1).integers(0, 2, (40, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # these votes are noise
        est = ErrorEstimator(draws=20, dependence="none", rng=0).fit(votes)
    assert est.from_labels_ is None
    with pytest.raises(DataError, match="y_true="):
        est.from_labels()


@pytest.mark.slow
@pytest.mark.parametrize("finite", [False, True])
@pytest.mark.parametrize("n", [120, 1000])
def test_limits_cover_and_are_narrower_than_the_labels_alone(n, finite):
    rng = np.random.default_rng(n)
    fixed = world(rng, n)
    inside, width, bernstein = [], [], []
    for _ in range(300):
        # On fixed items the draw of labels is random; for the rate the items are, too.
        y, votes = fixed if finite else world(rng, n)
        truth = (votes != y[:, None]).mean(axis=0) if finite else RATE_OF_WORLD
        gold = rng.choice(n, 40, replace=False)
        for a, true in zip(answers(votes, y, gold, finite=finite), truth, strict=True):
            inside.append(a.lower <= true <= a.upper)
            bernstein.append(a.bernstein_lower <= true <= a.bernstein_upper)
            width.append((a.upper - a.lower) / (a.labels_upper - a.labels_lower))
    assert np.mean(inside) > 0.925
    assert np.mean(width) < 0.95
    assert np.mean(bernstein) > 0.95


@pytest.mark.slow
def test_a_consensus_that_has_seen_the_labels_would_be_biased():
    """What `cross_predictions` prevents: predicting a label with itself."""
    rng = np.random.default_rng(5)
    crossed, seen = [], []
    for _ in range(300):
        y, votes = world(rng, 200)
        gold = rng.choice(200, 40, replace=False)
        labels = np.full(200, -1)
        labels[gold] = y[gold]
        (domain,) = read_votes(votes, y_true=labels).domains
        share = domain.table.vote_shares()
        honest = cross_predictions(domain, share)
        known = domain.table.gold >= 0
        cheat = honest.proba.copy()
        cheat[:, known] = np.eye(2)[domain.table.gold[known]]  # it knows the gold labels
        cheating = type(honest)(cheat, honest.items, honest.fold)
        true = (votes != y[:, None]).mean(axis=0)
        for made, errors in ((honest, crossed), (cheating, seen)):
            rates = rates_with_votes(domain, made, confidence=0.95, finite=True)
            errors.append([a.value - t for a, t in zip(rates, true, strict=True)])
    assert np.abs(np.mean(crossed, axis=0)).max() < 0.015
    assert np.abs(np.mean(seen, axis=0)).max() > 0.03


def test_the_rates_of_the_world_are_as_stated():
    y, votes = world(np.random.default_rng(99), 200_000)
    assert np.abs((votes != y[:, None]).mean(axis=0) - RATE_OF_WORLD).max() < 0.005
