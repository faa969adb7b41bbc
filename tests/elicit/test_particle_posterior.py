"""The posterior of particles, against quadrature of the model as it is written down."""

import numpy as np
import pytest
from scipy import stats

from karat.elicit.families import LinearFamily, PowerMeanFamily, RatioFamily
from karat.elicit.posterior import ParticlePosterior

N = 12_000
SCALE = 0.03
LAPSE = stats.beta(1, 19)


def pairs_at(angles, size=0.3):
    """Return pairs whose first side is preferred by whoever has the smaller angle."""
    along = size * np.column_stack([np.sin(angles), -np.cos(angles)])
    return 0.25 + along / 2, 0.25 - along / 2


def integrals(n):
    """Return ∫ ε^s (1−ε)^k and ∫ ε^(s+1) (1−ε)^k under the prior, for all s and k up to n."""
    nodes, weights = np.polynomial.legendre.leggauss(80)  # exact for these polynomials
    rate, weights = (nodes + 1) / 2, weights / 2
    powers = np.arange(n + 1)[:, None]
    kept = (1 - rate) ** powers * (weights * LAPSE.pdf(rate))
    return [rate ** (powers + m) @ kept.T for m in (0, 1)]


class Quadrature:
    """The exact posterior of a metric cos θ·TP + sin θ·TN, a blind spot δ, and two rates.

    Sides within δ are called a tie with probability 1−γ, and else one of them is named at random.
    Other sides are called a tie with probability γ, and else the better one is named, but for the
    share ε of slips.
    """

    def __init__(self, first, second, said, scale=SCALE, grid=3000, deltas=300, rate=None):
        self.theta = (np.arange(grid) + 0.5) / grid * np.pi / 2
        spots = scale * np.exp(stats.norm.ppf((np.arange(deltas) + 0.5) / deltas))
        delta = np.append(0.0, spots)
        prior = np.append(0.5, np.full(deltas, 0.5 / deltas))
        units = np.column_stack([np.cos(self.theta), np.sin(self.theta)])
        margin = units @ (first - second).T
        unclear = np.abs(margin)[:, None] <= delta[:, None]  # (θ, δ, answers)
        right = np.sign(margin)[:, None] == said
        table = integrals(len(said))
        guessed = ((said != 0) & unclear).sum(axis=2)
        odd = guessed + ((said == 0) & ~unclear).sum(axis=2)
        kept = ((said != 0) & ~unclear & right).sum(axis=2)
        slips = ((said != 0) & ~unclear & ~right).sum(axis=2)
        joint = prior * 0.5**guessed * table[0][odd, len(said) - odd]
        lapsed = joint * table[1][slips, kept]
        # With the rate of slips known, it is no longer integrated over.
        joint = joint * (
            table[0][slips, kept] if rate is None else rate**slips * (1 - rate) ** kept
        )
        self.density = joint.sum(axis=1) / joint.sum()
        self.lapse = lapsed.sum() / joint.sum()
        self.no_ties = joint[:, 0].sum() / joint.sum()

    @property
    def mean(self):
        return self.density @ self.theta

    def spread(self):
        return np.sqrt(self.density @ (self.theta - self.mean) ** 2)

    def quantile(self, p):
        return self.theta[np.searchsorted(self.density.cumsum(), p)]


def angles_of(posterior):
    return np.arctan2(posterior.parameters[:, 1], posterior.parameters[:, 0])


def assert_posterior(posterior, exact):
    """Compare mean, quantiles, lapse rate and blind spot within six standard errors."""
    n = len(posterior.parameters) / 6  # moved particles are not independent
    angles, shares = angles_of(posterior), posterior.shares
    assert abs(shares @ angles - exact.mean) < 6 * exact.spread() / np.sqrt(n)
    for p in (0.025, 0.1, 0.5, 0.9, 0.975):
        below = shares @ (angles <= exact.quantile(p))
        assert abs(below - p) < 6 * np.sqrt(p * (1 - p) / n) + 2e-3
    assert abs(posterior.lapse_mean - exact.lapse) < 6 * exact.lapse / np.sqrt(n)
    share = shares @ (posterior.indifference == 0)
    assert abs(share - exact.no_ties) < 6 * np.sqrt(0.25 / n)


# Turns of the pairs and what was said: consistent, with a slip, with ties, with both.
ASKED = {
    "one answer": ([0.7], [1]),
    "consistent": ([0.7, 1.1, 0.9, 0.8, 1.0], [-1, 1, -1, -1, 1]),
    "a slip": ([0.7, 1.1, 0.3, 0.9, 1.4, 0.8, 0.85], [-1, 1, 1, 1, 1, -1, -1]),
    "ties": ([0.7, 0.8, 0.3, 1.1, 0.6], [0, 0, -1, 1, 0]),
    "ties and slips": ([0.7, 0.4, 0.9, 1.2, 0.5, 0.8, 0.6, 0.75], [0, 1, 1, -1, -1, 0, -1, 1]),
}


@pytest.mark.parametrize("case", ASKED)
def test_posterior_after_some_answers(case, binary):
    turns, said = (np.array(values, dtype=float) for values in ASKED[case])
    first, second = pairs_at(turns)
    posterior = ParticlePosterior.prior(LinearFamily(binary), N, SCALE, np.random.default_rng(1))
    for a, b, answer in zip(first, second, said, strict=True):
        posterior.update(a, b, answer)
    assert_posterior(posterior, Quadrature(first, second, said))
    if len(said) > 1:  # some of these were resampled and moved on the way
        assert posterior.effective > 0.3 * N


def test_weights_alone_are_right_too(binary):
    turns, said = (np.array(values, dtype=float) for values in ASKED["ties and slips"])
    first, second = pairs_at(turns)
    rng = np.random.default_rng(2)
    posterior = ParticlePosterior.prior(LinearFamily(binary), 4 * N, SCALE, rng, resample_below=0.0)
    before = posterior.parameters.copy()
    for a, b, answer in zip(first, second, said, strict=True):
        posterior.update(a, b, answer)
    assert np.array_equal(posterior.parameters, before)
    assert_posterior(posterior, Quadrature(first, second, said))


def test_moving_leaves_the_posterior_as_it_is(binary):
    """Many more moves than are ever made: a wrong step would have drifted away by then."""
    turns, said = (np.array(values, dtype=float) for values in ASKED["ties and slips"])
    first, second = pairs_at(turns)
    posterior = ParticlePosterior.prior(LinearFamily(binary), N, SCALE, np.random.default_rng(3))
    for a, b, answer in zip(first, second, said, strict=True):
        posterior.update(a, b, answer)
    for _ in range(8):
        posterior.rejuvenate()
    exact = Quadrature(first, second, said)
    assert_posterior(posterior, exact)
    assert 0.05 < posterior.acceptance < 0.95
    assert (posterior.parameters >= 0).all()
    # The length of the parameters is no part of the metric: it keeps its prior, Rayleigh's.
    length = np.linalg.norm(posterior.parameters, axis=1)
    assert stats.kstest(length[:2000], stats.rayleigh.cdf).pvalue > 1e-4
    # What is kept to save work is what it would be if computed again.
    assert np.allclose(posterior.margins, posterior._margins(posterior.parameters, first, second))


def test_no_answers_no_change(binary):
    exact = Quadrature(np.empty((0, 2)), np.empty((0, 2)), np.empty(0))
    posterior = ParticlePosterior.prior(LinearFamily(binary), N, SCALE, np.random.default_rng(4))
    assert exact.mean == pytest.approx(np.pi / 4)
    assert exact.lapse == pytest.approx(0.05)
    assert posterior.lapse_mean == pytest.approx(0.05)
    assert_posterior(posterior, exact)
    assert posterior.effective == pytest.approx(N)


@pytest.mark.parametrize("kind", [LinearFamily, RatioFamily, PowerMeanFamily])
def test_posterior_of_other_families_by_weighing_the_prior(kind, diagonal):
    """A moved posterior against a larger one that only weighs draws of the prior."""
    family = kind(diagonal)
    truth = np.abs(np.random.default_rng(5).normal(size=family.size))
    rng = np.random.default_rng(6)
    points = diagonal.coordinates(diagonal.sample(24, rng=rng))
    first, second = points[:12], points[12:]
    values = family.values(truth[None], points)[0]
    said = np.where(values[:12] > values[12:], 1.0, -1.0)
    said[[3, 8]] = 0.0, -said[8]
    scale = float(np.median(np.abs(values[:12] - values[12:]))) / 10

    moved = ParticlePosterior.prior(family, 6000, scale, np.random.default_rng(7))
    for a, b, answer in zip(first, second, said, strict=True):
        moved.update(a, b, answer)
    draws = np.abs(rng.normal(size=(120_000, family.size)))
    blind = np.where(rng.random(120_000) < 0.5, 0.0, scale * np.exp(rng.normal(size=120_000)))
    margin = family.values(draws, first) - family.values(draws, second)
    unclear = np.abs(margin) <= blind[:, None]
    told, right = said != 0, np.sign(margin) == said
    guessed = (told & unclear).sum(axis=1)
    odd = guessed + (~told & ~unclear).sum(axis=1)
    kept = (told & ~unclear & right).sum(axis=1)
    slips = (told & ~unclear & ~right).sum(axis=1)
    table = integrals(12)[0]
    weight = 0.5**guessed * table[odd, 12 - odd] * table[slips, kept]
    weight /= weight.sum()
    effective = 1 / np.sum(weight**2)
    assert effective > 300
    error = np.sqrt(1 / effective + 6 / 6000)
    exact = draws / draws.sum(axis=1, keepdims=True)
    found = moved.parameters / moved.parameters.sum(axis=1, keepdims=True)
    mean = weight @ exact
    spread = np.sqrt(weight @ (exact - mean) ** 2)
    assert (np.abs(moved.shares @ found - mean) < 6 * spread * error).all()
    second_moment = np.sqrt(moved.shares @ (found - mean) ** 2)
    assert np.allclose(second_moment, spread, rtol=0.25)
    assert abs(moved.shares @ (moved.indifference == 0) - weight @ (blind == 0)) < 6 * 0.5 * error


def test_cautious_shares_are_those_of_a_known_lapse_rate(binary):
    """The posterior given ε: wider than with ε unknown, which may be smaller."""
    turns, said = (np.array(values, dtype=float) for values in ASKED["a slip"])
    first, second = pairs_at(turns)
    posterior = ParticlePosterior.prior(LinearFamily(binary), N, SCALE, np.random.default_rng(8))
    for a, b, answer in zip(first, second, said, strict=True):
        posterior.update(a, b, answer)
    shares, rate = posterior.cautious()
    assert posterior.lapse_mean < rate < 0.6
    exact = Quadrature(first, second, said, rate=rate)
    assert abs(shares @ angles_of(posterior) - exact.mean) < 6 * exact.spread() / np.sqrt(N / 12)
    assert shares.sum() == pytest.approx(1)
    spread = np.sqrt(shares @ (angles_of(posterior) - exact.mean) ** 2)
    assert spread == pytest.approx(exact.spread(), rel=0.1)
    assert exact.spread() > 1.05 * Quadrature(first, second, said).spread()


def test_contradictions_are_slips(binary):
    """Someone who says one thing and its opposite by turns: nobody is sure of anything."""
    posterior = ParticlePosterior.prior(LinearFamily(binary), 2000, SCALE, np.random.default_rng(9))
    first, second = pairs_at(np.array([0.8]))
    for n in range(40):
        posterior.update(first[0], second[0], 1.0 if n % 2 else -1.0)
        assert np.isfinite(posterior.shares).all()
        assert np.isfinite(posterior.parameters).all()
    # Half of 40 answers are slips whatever the metric is: (1+20)/(20+40).
    assert posterior.lapse_mean == pytest.approx(21 / 60, abs=0.03)
    below = posterior.shares @ (angles_of(posterior) < 0.8)
    assert 0.2 < below < 0.8
    assert posterior.effective > 500


def test_ties_alone_widen_the_blind_spot(binary):
    posterior = ParticlePosterior.prior(
        LinearFamily(binary), 5000, SCALE, np.random.default_rng(10)
    )
    rng = np.random.default_rng(11)
    first, second = pairs_at(rng.uniform(0.2, 1.4, 12))
    for a, b in zip(first, second, strict=True):
        posterior.update(a, b, 0.0)
    assert posterior.shares @ (posterior.indifference > SCALE) > 0.95


def test_the_prior_is_uniform_over_directions(errors):
    posterior = ParticlePosterior.prior(
        LinearFamily(errors), 4000, SCALE, np.random.default_rng(12)
    )
    units = posterior.parameters / np.linalg.norm(posterior.parameters, axis=1, keepdims=True)
    # A squared coordinate of a uniform direction in q dimensions is Beta(1/2, (q−1)/2).
    for column in units.T:
        assert stats.kstest(column**2, stats.beta(0.5, 2.5).cdf).pvalue > 1e-4 / 6
    spots = posterior.indifference[posterior.indifference > 0]
    assert abs(len(spots) / 4000 - 0.5) < 5 * 0.5 / np.sqrt(4000)
    assert stats.kstest(np.log(spots / SCALE), stats.norm.cdf).pvalue > 1e-4


# --- simulation-based calibration


def draw_answers(family, parameters, blind, lapse, first, second, rng):
    """Answer as the model says."""
    n = len(first)
    values = family.values(parameters[None], np.vstack([first, second]))[0]
    margin = values[:n] - values[n:]
    unclear = np.abs(margin) <= blind
    odd = rng.random(n) < LAPSE.rvs(random_state=rng)
    named = np.where(rng.random(n) < lapse, -1.0, 1.0) * np.sign(margin)
    coin = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    return np.where(unclear, np.where(odd, coin, 0.0), np.where(odd, 0.0, named))


def rank_of_truth(space, rng, answered=8, lapse=None):
    """Return where the truth lies among the particles: for each weight, and for the slips."""
    family = LinearFamily(space)
    truth = np.abs(rng.normal(size=family.size))
    blind = 0.0 if rng.random() < 0.5 else SCALE * np.exp(rng.normal())
    rate = LAPSE.rvs(random_state=rng) if lapse is None else lapse
    tables = space.sample(2 * answered, rng=rng)
    points = space.coordinates(tables)
    first, second = points[:answered], points[answered:]
    said = draw_answers(family, truth, blind, rate, first, second, rng)
    posterior = ParticlePosterior.prior(family, 800, SCALE, rng)
    for a, b, answer in zip(first, second, said, strict=True):
        posterior.update(a, b, answer)
    weight = truth / np.linalg.norm(truth)
    found = posterior.parameters / np.linalg.norm(posterior.parameters, axis=1, keepdims=True)
    slips, kept = posterior.lapse
    drawn = rng.beta(slips, kept)
    return np.append(posterior.shares @ (found < weight), posterior.shares @ (drawn < rate))


def outside(ranks):
    """Return the p-value of so many truths outside the 95 % limits of their posterior."""
    hits = int((np.abs(ranks - 0.5) > 0.475).sum())
    return stats.binomtest(hits, len(ranks), 0.05, alternative="greater").pvalue


@pytest.mark.slow
@pytest.mark.parametrize("name", ["binary", "confusion"])
def test_ranks_of_the_truth_are_uniform(name, spaces):
    """People drawn from the prior who answer as the model says."""
    rng = np.random.default_rng(20)
    ranks = np.array([rank_of_truth(spaces[name], rng) for _ in range(120)])
    p = [stats.kstest(column, "uniform").pvalue for column in ranks.T]
    p += [outside(column) for column in ranks.T]
    assert min(p) > 0.001 / len(p)


@pytest.mark.slow
def test_people_who_slip_more_than_assumed_are_noticed(binary):
    """The check above can fail: whoever tosses a coin is not of the prior."""
    rng = np.random.default_rng(21)
    ranks = np.array([rank_of_truth(binary, rng, lapse=0.5) for _ in range(120)])
    assert outside(ranks[:, 0]) < 0.001 / 6
    assert stats.kstest(ranks[:, -1], "uniform").pvalue < 0.001 / 6
