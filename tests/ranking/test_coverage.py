"""Limits cover as often as they say: draws of laws whose areas are known."""

import numpy as np
import pytest
from scipy.stats import binomtest

from karat.exceptions import SmallSampleWarning
from karat.ranking import FprBand, PiecewiseLinear, TprBand, Uniform, weighted_auc

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::karat.exceptions.SmallSampleWarning"),
]
RUNS = 800
BAND, RAMP = FprBand(0, 0.1), PiecewiseLinear([0, 0.1, 0.3], [1, 1, 0])
BOX = FprBand(0, 0.3) & TprBand(0.4, 1)


def fails(hits, runs, promised):
    """Whether so few hits would be seen once in a thousand times if the promise held."""
    return binomtest(hits, runs, promised, alternative="less").pvalue < 0.001


def far_off(hits, runs, nominal, slack):
    """Whether hits are further than ``slack`` from nominal, beyond chance."""
    above = binomtest(hits, runs, nominal + slack, alternative="greater").pvalue < 0.001
    return above or fails(hits, runs, nominal - slack)


def truth_of(law, region, ties="interpolate"):
    if ties == "strict":
        return law.strict(region)
    if isinstance(region, TprBand):
        return law.tpr_band(region.low, region.high)
    if region is BOX:
        return law.box(0, 0.3, 0.4, 1)
    return law.area(region, breaks=[0.1, 0.3])


def coverage(law, region, share, n, *, runs=RUNS, seed=0, ties="interpolate", **options):
    """Return how often limits hold the truth."""
    truth, rng = truth_of(law, region, ties), np.random.default_rng(seed)
    hits = 0
    for _ in range(runs):
        n1 = min(max(rng.binomial(n, share), 1), n - 1)
        y = np.arange(n) < n1
        r = weighted_auc(y, law.draw(rng, n1, n - n1), weight=region, ties=ties, **options)
        hits += r.lower <= truth <= r.upper
    return hits


# Shares of positives and negatives on seven scores; an atom of the negatives ends at FPR 0.1.
ATOMS = ([1, 1, 2, 3, 4, 5, 4], [20, 20, 20, 15, 15, 5, 5])
# Step and Lipschitz weights, few and many positives, each kind of region and both rules of ties.
DKW = [
    ("normal", Uniform(), 0.01, 500, "interpolate"),
    ("normal", Uniform(), 0.5, 500, "interpolate"),
    ("normal", BAND, 0.1, 1000, "interpolate"),
    ("normal", RAMP, 0.2, 1000, "interpolate"),
    ("normal", TprBand(0.7, 1), 0.3, 1000, "interpolate"),
    ("normal", BOX, 0.3, 1000, "interpolate"),
    ("atoms", Uniform(), 0.05, 500, "interpolate"),
    ("atoms", BAND, 0.2, 1000, "interpolate"),
    ("atoms", RAMP, 0.5, 500, "interpolate"),
    ("atoms", TprBand(0.7, 1), 0.3, 500, "interpolate"),
    ("atoms", BOX, 0.5, 500, "interpolate"),
    ("atoms", Uniform(), 0.3, 500, "strict"),
    ("atoms", BAND, 0.3, 1000, "strict"),
    ("atoms", RAMP, 0.3, 500, "strict"),
]


@pytest.fixture(scope="module")
def laws(normal_law, atomic_law):
    return {"normal": normal_law(1.5), "atoms": atomic_law(*ATOMS)}


@pytest.mark.parametrize(("law", "region", "share", "n", "ties"), DKW)
def test_dkw_limits_are_certain(laws, law, region, share, n, ties, capsys):
    """500 draws notice .80 against .70 in 19 cases of 20."""
    hits = coverage(laws[law], region, share, n, runs=500, ties=ties, confidence=0.8)
    with capsys.disabled():
        print(f"\ndkw {law} {region} {share:.0%} of {n} {ties}: {hits / 500:.4f} of 0.80")
    assert not fails(hits, 500, 0.8)


def test_a_third_of_the_dkw_limits_would_not_do(capsys):
    """With all positives at one score the area is F₀ there: the simplest thing a band can hold."""
    rng, n, q, runs = np.random.default_rng(1), 400, 0.5, 500
    y = np.arange(n + 10_000) >= n
    hits = third = 0
    for _ in range(runs):
        score = np.append(rng.random(n), np.full(10_000, q))
        r = weighted_auc(y, score, confidence=0.8)
        hits += r.lower <= q <= r.upper
        third += abs(r.value - q) <= (r.upper - r.lower) / 2 / 3
    with capsys.disabled():
        print(f"\ndkw, one score: {hits / runs:.3f} of 0.80; a third of it {third / runs:.3f}")
    assert not fails(hits, runs, 0.8)
    assert fails(third, runs, 0.8)


@pytest.mark.parametrize("share", [0.2, 0.5])
@pytest.mark.parametrize("region", [Uniform(), BAND], ids=repr)
def test_normal_limits_have_their_level(laws, region, share, capsys):
    hits = coverage(laws["normal"], region, share, 2000, limits="delong", seed=2)
    with capsys.disabled():
        print(f"\ndelong {region} {share:.0%} of 2000: {hits / RUNS:.4f} of 0.95")
    assert not far_off(hits, RUNS, 0.95, 0.015)


@pytest.mark.parametrize("region", [Uniform(), BAND], ids=repr)
def test_normal_limits_have_their_level_with_atoms(laws, region, capsys):
    hits = coverage(laws["atoms"], region, 0.3, 2000, limits="delong", seed=3)
    with capsys.disabled():
        print(f"\ndelong, atoms, {region}: {hits / RUNS:.4f} of 0.95")
    # FPR 0.1 is the end of an atom here: a kink of the area, where limits are not quite normal.
    assert not far_off(hits, RUNS, 0.95, 0.015 if region == Uniform() else 0.03)


def test_normal_limits_are_too_narrow_for_few_positives(normal_law, capsys):
    """Why there is a warning below 100 positives."""
    law = normal_law(2.5)
    hits = coverage(law, BAND, 0.02, 800, limits="delong", seed=4)
    with capsys.disabled():
        print(f"\ndelong, 16 positives: {hits / RUNS:.4f} of 0.95")
    assert fails(hits, RUNS, 0.95)
    rng = np.random.default_rng(5)
    with pytest.warns(SmallSampleWarning, match="too narrow below 100"):
        weighted_auc(np.arange(800) < 16, law.draw(rng, 16, 784), limits="delong")


def test_bootstrap_limits_have_their_level(laws, capsys):
    runs = 60
    hits = coverage(
        laws["normal"], Uniform(), 0.3, 600, runs=runs, limits="bootstrap", rng=0, seed=6
    )
    with capsys.disabled():
        print(f"\nbootstrap: {hits / runs:.2f} of 0.95")
    assert not far_off(hits, runs, 0.95, 0.02)
