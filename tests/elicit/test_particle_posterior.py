"""The posterior of particles, against quadrature of the model as it is written down."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

from karat.datasets import LogisticLaw
from karat.elicit import Elicitation, RateSpace
from karat.elicit.families import (
    LinearFamily,
    Monomials,
    PolynomialFamily,
    PowerMeanFamily,
    RatioFamily,
)
from karat.elicit.posterior import (
    Evidence,
    Noise,
    ParticlePosterior,
    log_likelihood,
    named_first,
    read_noise,
    said_tie,
)

N = 12_000
TYPICAL = 0.15
TIE_SLIP = 0.03
LAPSE = stats.beta(1, 5)
SPOT = stats.truncnorm(-np.inf, np.log(10.0))  # of log(10 δ / typical)


def pairs_at(angles, size=0.3):
    """Return pairs whose first side is preferred by whoever has the smaller angle."""
    along = size * np.column_stack([np.sin(angles), -np.cos(angles)])
    return 0.25 + along / 2, 0.25 - along / 2


def middles(n):
    return (np.arange(n) + 0.5) / n


def chance_of(margin, slope, lapse, spot, said):
    """Return the probability of one answer, from the formulas of the theory page."""
    tie = TIE_SLIP + np.where(
        spot > 0,
        (1 - 2 * TIE_SLIP)
        * np.cosh(spot / (2 * slope))
        / (np.cosh(spot / (2 * slope)) + np.cosh(margin / (2 * slope))),
        0.0,
    )
    first = lapse + (1 - 2 * lapse) / (1 + np.exp(-margin / slope))
    return np.where(said == 0, tie, (1 - tie) * np.where(said > 0, first, 1 - first))


class Quadrature:
    """The exact posterior of a metric cos θ·TP + sin θ·TN, slope, lapse rate and indifference."""

    def __init__(self, first, second, said, grid=240, noise=24, spots=16, even_slope=False):
        self.theta = middles(grid) * np.pi / 2
        slope = TYPICAL * 0.01 ** (1 - middles(noise))
        lapse = LAPSE.ppf(middles(noise) * LAPSE.cdf(0.5))
        spot = np.append(0.0, 0.1 * TYPICAL * np.exp(SPOT.ppf(middles(spots))))
        prior = np.append(0.5, np.full(spots, 0.5 / spots))
        shape = (grid, noise, noise, spots + 1)
        t, s, e, d = np.ix_(self.theta, slope, lapse, spot)
        # Even in log s; a density even in s is s times as great there.
        joint = np.broadcast_to(prior * s if even_slope else prior, shape).copy()
        whole, self.evidence = joint.sum(), []
        for (x, y), answer in zip(first - second, said, strict=True):
            joint *= chance_of(np.cos(t) * x + np.sin(t) * y, s, e, d, answer)
            self.evidence.append(np.log(joint.sum() / whole))
        joint /= joint.sum()
        self.density = joint.sum(axis=(1, 2, 3))
        self.lapse = float((joint * e).sum())
        self.slope = float((joint * np.log(s)).sum())
        self.no_ties = float(joint[..., 0].sum())

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
    """Compare mean, quantiles and noise within six standard errors, and the step of the grid."""
    n = len(posterior.parameters) / 6  # moved particles are not independent
    angles, shares, noise = angles_of(posterior), posterior.shares, posterior.noise
    assert abs(shares @ angles - exact.mean) < 6 * exact.spread() / np.sqrt(n) + 2e-3
    for p in (0.025, 0.1, 0.5, 0.9, 0.975):
        below = shares @ (angles <= exact.quantile(p))
        assert abs(below - p) < 6 * np.sqrt(p * (1 - p) / n) + 1e-2
    assert abs(shares @ noise.lapse - exact.lapse) < 6 * 0.13 / np.sqrt(n)
    assert abs(shares @ np.log(noise.slope) - exact.slope) < 6 * 1.33 / np.sqrt(n)
    assert abs(shares @ (noise.indifference == 0) - exact.no_ties) < 6 * np.sqrt(0.25 / n)


# Turns of the pairs and what was said: consistent, with a slip, with ties, with both.
ASKED = {
    "one answer": ([0.7], [1]),
    "consistent": ([0.7, 1.1, 0.9, 0.8, 1.0], [-1, 1, -1, -1, 1]),
    "a slip": ([0.7, 1.1, 0.3, 0.9, 1.4, 0.8, 0.85], [-1, 1, 1, 1, 1, -1, -1]),
    "ties": ([0.7, 0.8, 0.3, 1.1, 0.6], [0, 0, -1, 1, 0]),
    "ties and slips": ([0.7, 0.4, 0.9, 1.2, 0.5, 0.8, 0.6, 0.75], [0, 1, 1, -1, -1, 0, -1, 1]),
}


def asked(case):
    turns, said = (np.array(values, dtype=float) for values in ASKED[case])
    return *pairs_at(turns), said


def told(family, first, second, said, *, n=N, seed=1, typical=TYPICAL, **options):
    posterior = ParticlePosterior.prior(family, n, typical, np.random.default_rng(seed), **options)
    for a, b, answer in zip(first, second, said, strict=True):
        posterior.update(a, b, answer)
    return posterior


@pytest.mark.parametrize("case", ASKED)
def test_posterior_after_some_answers(case, binary):
    first, second, said = asked(case)
    posterior, exact = told(LinearFamily(binary), first, second, said), Quadrature(*asked(case))
    assert_posterior(posterior, exact)
    found = posterior.evidence.named + posterior.evidence.ties
    assert found == pytest.approx(exact.evidence[-1], abs=0.15)


def test_weights_alone_are_right_too(binary):
    first, second, said = asked("ties and slips")
    posterior = told(LinearFamily(binary), first, second, said, n=4 * N, seed=2, resample_below=0.0)
    before = ParticlePosterior.prior(LinearFamily(binary), 4 * N, TYPICAL, np.random.default_rng(2))
    assert np.array_equal(posterior.parameters, before.parameters)
    assert_posterior(posterior, Quadrature(first, second, said))


def test_limits_are_read_as_if_the_slope_were_uniform(binary):
    """Against quadrature under that prior, which the answers leave another posterior than theirs.

    Shares of 48,000 particles that were never resampled, weighted once more by the slope: the
    effective number is what says how far off they may be.
    """
    first, second, said = asked("a slip")
    posterior = told(LinearFamily(binary), first, second, said, n=4 * N, seed=5, resample_below=0.0)
    exact = Quadrature(first, second, said, even_slope=True)
    shares, angles = posterior.cautious_shares, angles_of(posterior)
    n = 1.0 / np.sum(shares**2)
    assert shares.sum() == pytest.approx(1.0)
    assert n > 1000
    for p in (0.025, 0.1, 0.5, 0.9, 0.975):
        below = shares @ (angles <= exact.quantile(p))
        assert abs(below - p) < 6 * np.sqrt(p * (1 - p) / n) + 1e-2
    slopes = np.log(posterior.noise.slope)
    assert abs(shares @ slopes - exact.slope) < 6 * 1.33 / np.sqrt(n)
    assert shares @ slopes > posterior.shares @ slopes + 0.3


def test_which_limits_are_read_with_caution(binary, errors):
    """Those of six costs; not those of one ratio, nor of what gaps are worth."""
    law = LogisticLaw.binary(5.0)
    x, y = law.sample(400, rng=0)
    groups = RateSpace.from_proba(y, law.proba(x), groups=np.arange(400) % 2)
    families = [
        LinearFamily(binary),
        Elicitation(groups)._problem.family(),
        LinearFamily(errors),
    ]
    cautious = []
    for family in families:
        posterior = ParticlePosterior.prior(family, 50, TYPICAL, np.random.default_rng(6))
        assert not np.array_equal(posterior.cautious_shares, posterior.shares)
        expected = posterior.limit_shares
        cautious.append(np.array_equal(expected, posterior.cautious_shares))
        assert cautious[-1] or np.array_equal(expected, posterior.shares)
    assert cautious == [False, False, True]


@pytest.mark.parametrize("many", [False, True])
def test_moving_leaves_the_posterior_as_it_is(many, binary):
    """Many more moves than are ever made: a wrong step would have drifted away by then.

    Both kinds of steps, those of few and those of many parameters.
    """
    first, second, said = asked("ties and slips")
    posterior = told(LinearFamily(binary), first, second, said, seed=3)
    posterior.turns = many
    for _ in range(8):
        posterior.rejuvenate()
    assert_posterior(posterior, Quadrature(first, second, said))
    assert 0.05 < posterior.acceptance < 0.95
    assert (posterior.parameters >= 0).all()
    # The length of the parameters is no part of the metric: it keeps its prior, Rayleigh's.
    length = np.linalg.norm(posterior.parameters, axis=1)
    assert stats.kstest(length[:2000], stats.rayleigh.cdf).pvalue > 1e-4


def test_no_answers_no_change(binary):
    none = np.empty((0, 2)), np.empty((0, 2)), np.empty(0)
    exact, posterior = Quadrature(*none), told(LinearFamily(binary), *none, seed=4)
    assert exact.mean == pytest.approx(np.pi / 4)
    assert_posterior(posterior, exact)
    assert posterior.effective == pytest.approx(N)


def test_the_prior_of_noise_is_the_one_that_is_documented(errors):
    posterior = ParticlePosterior.prior(LinearFamily(errors), 4000, 2.0, np.random.default_rng(12))
    units = posterior.parameters / np.linalg.norm(posterior.parameters, axis=1, keepdims=True)
    # A squared coordinate of a uniform direction in q dimensions is Beta(1/2, (q−1)/2).
    for column in units.T:
        assert stats.kstest(column**2, stats.beta(0.5, 2.5).cdf).pvalue > 1e-4 / 6
    noise = posterior.noise
    log = np.log(noise.slope / 2.0) / np.log(0.01)
    assert stats.kstest(1 - log, "uniform").pvalue > 1e-4
    assert stats.kstest(LAPSE.cdf(noise.lapse) / LAPSE.cdf(0.5), "uniform").pvalue > 1e-4
    spots = noise.indifference[noise.indifference > 0]
    assert abs(len(spots) / 4000 - 0.5) < 5 * 0.5 / np.sqrt(4000)
    assert stats.kstest(np.log(spots / 0.2), SPOT.cdf).pvalue > 1e-4
    assert spots.max() <= 2.0


def test_probabilities_of_answers_by_hand():
    noise = Noise(np.array([0.1, 0.2]), np.array([0.05, 0.2]), np.array([0.0, 0.3]))
    margins = np.array([[0.1, -0.3], [0.4, 0.0]])
    first = named_first(margins, noise)
    assert first[0, 0] == pytest.approx(0.05 + 0.9 * expit(1.0))
    assert first[1, 1] == pytest.approx(0.5)
    tie = said_tie(margins, noise)
    assert tie[0] == pytest.approx([TIE_SLIP, TIE_SLIP])  # who never says tie slips now and then
    # even odds where the difference is δ, but for slips
    assert said_tie(np.array([[0.3], [0.3]]), noise)[1, 0] == pytest.approx(0.5)
    signs = np.array([1.0, 0.0])
    expected = np.log((1 - tie[:, 0]) * first[:, 0]) + np.log(tie[:, 1])
    assert log_likelihood(margins, noise, signs) == pytest.approx(expected)
    nothing = np.array([np.nan, 0.0])
    assert log_likelihood(margins, noise, nothing) == pytest.approx(np.log(tie[:, 1]))
    assert np.isfinite(log_likelihood(margins * 1e9, noise, signs)).all()


def test_the_three_answers_sum_to_one(rng):
    noise = read_noise(rng.random((500, 3)), 0.2)
    margins = rng.normal(scale=0.3, size=(500, 1))
    total = sum(np.exp(log_likelihood(margins, noise, np.array([s]))) for s in (1.0, -1.0, 0.0))
    assert total == pytest.approx(1.0)
    # and swapping the sides swaps the answers
    one, other = (log_likelihood(s * margins, noise, np.array([s])) for s in (1.0, -1.0))
    assert one == pytest.approx(other)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [LinearFamily, RatioFamily, PowerMeanFamily, "many"])
def test_posterior_of_other_families_by_weighing_the_prior(kind, diagonal, rates):
    """A moved posterior against a larger one that only weighs draws of the prior."""
    space = rates if kind == "many" else diagonal
    # 83 parameters: the steps of many parameters
    family = PolynomialFamily(space, Monomials(6, 3)) if kind == "many" else kind(space)
    draw = np.random.default_rng(5).normal(size=family.size)
    truth = np.where(family.signed, draw, np.abs(draw))
    rng = np.random.default_rng(6)
    points = space.coordinates(space.sample(24, rng=rng))
    first, second = points[:12], points[12:]
    values = family.values(truth[None], points)[0]
    said = np.where(values[:12] > values[12:], 1.0, -1.0)
    said[[3, 8]] = 0.0, -said[8]
    typical = float(np.median(np.abs(values[:12] - values[12:])))
    moved = told(family, first, second, said, n=6000, seed=7, typical=typical)
    weighed = told(
        family, first, second, said, n=60_000, seed=8, typical=typical, resample_below=0.0
    )
    effective = weighed.effective
    assert effective > 300
    error = np.sqrt(1 / effective + 6 / 6000)
    exact, found = (
        family.values(p.parameters, points[:6]) - family.values(p.parameters, points[6:12])
        for p in (weighed, moved)
    )
    mean = weighed.shares @ exact
    spread = np.sqrt(weighed.shares @ (exact - mean) ** 2)
    assert (np.abs(moved.shares @ found - mean) <= 6 * spread * error).all()
    assert np.allclose(np.sqrt(moved.shares @ (found - mean) ** 2), spread, rtol=0.25)
    for one, other in zip(weighed.noise, moved.noise, strict=True):
        middle, width = weighed.shares @ one, np.sqrt(weighed.shares @ one**2)
        assert abs(moved.shares @ other - middle) < 6 * width * error


def test_contradictions_are_noise(binary):
    """Someone who says one thing and its opposite by turns: nobody is sure of anything."""
    posterior = ParticlePosterior.prior(
        LinearFamily(binary), 2000, TYPICAL, np.random.default_rng(9)
    )
    first, second = pairs_at(np.array([0.8]))
    for n in range(40):
        posterior.update(first[0], second[0], 1.0 if n % 2 else -1.0)
        assert np.isfinite(posterior.shares).all()
        assert np.isfinite(posterior.parameters).all()
    below = posterior.shares @ (angles_of(posterior) < 0.8)
    assert 0.2 < below < 0.8
    assert posterior.effective > 500
    assert not posterior.evidence.excludes_coin()


# --- evidence


def test_evidence_by_hand():
    evidence = Evidence()
    for sign, chance, tie in ((1.0, 0.72, 0.1), (1.0, 0.81, 0.1), (0.0, 0.2, 0.2)):
        evidence.add(sign, chance, tie)
    assert evidence.named == pytest.approx(np.log(0.8 * 0.9))
    assert evidence.ties == pytest.approx(np.log(0.9 * 0.9 * 0.2))
    assert evidence.above_coin == pytest.approx(np.log(0.72 * 4))
    # two firsts: ½·¼ by a coin, ½·∫p² dp = ½·⅓ by someone with a favourite side
    assert evidence.above_no_metric == pytest.approx(np.log(0.72 / (1 / 8 + 1 / 6)))
    assert evidence.ties_above_one_rate == pytest.approx(np.log(0.162 * 12))
    assert (evidence.n_first, evidence.n_second, evidence.n_ties) == (2, 0, 1)
    assert not evidence.excludes_coin()
    assert not evidence.contradicted


def test_a_coin_is_seldom_certified(rng):
    """Ville: of coins whose sides are predicted anyhow, at most 5 % ever pass e³."""
    passed = 0
    for _ in range(2000):
        evidence = Evidence()
        bold = rng.uniform(0.5, 0.95)
        for sign in rng.choice([-1.0, 1.0], 60):
            evidence.add(sign, bold if sign > 0 else 1 - bold, 0.0)
            if evidence.above_coin >= 3:
                passed += 1
                break
    assert stats.binomtest(passed, 2000, 0.05, alternative="greater").pvalue > 1e-3


def test_a_coin_that_tries_two_families_is_seldom_certified(rng):
    """Two predictions of the same answers: at most 5 % of coins pass either, with half for each."""
    passed = 0
    for _ in range(2000):
        both = Evidence(), Evidence()
        bold = rng.uniform(0.5, 0.95), rng.uniform(0.05, 0.5)
        for sign in rng.choice([-1.0, 1.0], 60):
            for evidence, first in zip(both, bold, strict=True):
                evidence.contradicted = False  # what flags would hide is counted here
                evidence.add(sign, first if sign > 0 else 1 - first, 0.0)
            if any(evidence.above_coin >= 3 + np.log(2) for evidence in both):
                passed += 1
                break
    assert stats.binomtest(passed, 2000, 0.05, alternative="greater").pvalue > 1e-3


def test_half_of_the_errors_takes_twice_the_evidence():
    evidence = Evidence()
    evidence.named = 3.1 - 10 * np.log(2)
    evidence.n_first = evidence.n_second = 5
    assert evidence.excludes_coin()
    assert not evidence.excludes_coin(2)
    evidence.named += 0.6
    assert evidence.excludes_coin(2)


def test_the_same_side_again_and_again_is_contradicted():
    evidence = Evidence()
    while not evidence.contradicted:
        evidence.add(1.0, 0.5, 0.0)
    assert 6 <= evidence.n_first <= 12
    balanced = Evidence()
    for n in range(60):
        balanced.add(1.0 if n % 2 else -1.0, 0.5, 0.0)
    assert not balanced.contradicted


# --- simulation-based calibration


def rank_of_truth(space, rng, answered=8, lapse=None):
    """Return where the truth lies among the particles: for each weight, and for the noise."""
    family = LinearFamily(space)
    truth = np.abs(rng.normal(size=family.size))
    uniform = rng.random((1, 3))
    noise = read_noise(uniform, TYPICAL)
    if lapse is not None:
        noise = noise._replace(lapse=np.array([lapse]))
    points = space.coordinates(space.sample(2 * answered, rng=rng))
    first, second = points[:answered], points[answered:]
    values = family.values(truth[None], points)
    margins = values[:, :answered] - values[:, answered:]
    named = np.where(rng.random(answered) < named_first(margins, noise)[0], 1.0, -1.0)
    said = np.where(rng.random(answered) < said_tie(margins, noise)[0], 0.0, named)
    posterior = ParticlePosterior.prior(family, 800, TYPICAL, rng)
    for a, b, answer in zip(first, second, said, strict=True):
        posterior.update(a, b, answer)
    weight = truth / np.linalg.norm(truth)
    found = posterior.parameters / np.linalg.norm(posterior.parameters, axis=1, keepdims=True)
    others = posterior.noise
    below = [
        posterior.shares @ (mine < theirs[0])
        for mine, theirs in ((others.slope, noise.slope), (others.lapse, noise.lapse))
    ]
    return np.append(posterior.shares @ (found < weight), below)


def outside(ranks):
    """Return the p-value of so many truths outside the 95 % limits of their posterior."""
    hits = int((np.abs(ranks - 0.5) > 0.475).sum())
    return stats.binomtest(hits, len(ranks), 0.05, alternative="greater").pvalue


@pytest.mark.slow
@pytest.mark.parametrize("name", ["binary", "confusion"])
def test_ranks_of_the_truth_are_uniform(name, spaces):
    """People drawn from the prior who answer as the model says.

    80 of them notice .95 against .79 for each weight.
    """
    rng = np.random.default_rng(20)
    ranks = np.array([rank_of_truth(spaces[name], rng) for _ in range(80)])
    p = [stats.kstest(column, "uniform").pvalue for column in ranks.T]
    p += [outside(column) for column in ranks.T]
    assert min(p) > 0.001 / len(p)


@pytest.mark.slow
def test_people_who_answer_against_their_metric_are_noticed(binary):
    """The check above can fail: whoever means the opposite is not of the prior."""
    rng = np.random.default_rng(21)
    ranks = np.array([rank_of_truth(binary, rng, lapse=0.9) for _ in range(60)])
    assert outside(ranks[:, 0]) < 0.001 / 6
