"""Claims about many samples: no bias, limits that cover, p-values that are uniform, proofs."""

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import kstest

from karat.calibration import canonical_calibration_error
from karat.calibration._canonical import score_test
from karat.calibration._certificate import strict_gain
from karat.calibration._marginal import debiased_terms
from karat.calibration.inputs import read_table
from karat.calibration.latent import LatentCopula
from karat.calibration.models import Trees, fit_wide
from karat.datasets import MultilabelLaw

pytestmark = pytest.mark.slow
KINDS = ["calibrated", "latent", "temperature", "shift", "interaction"]
SPECIFIED = KINDS[:3]


def debiased_of(law, n, runs, seed):
    """Estimates and their standard errors."""
    rng, found = np.random.default_rng(seed), []
    for _ in range(runs):
        y, h, _ = law.sample(n, rng=rng)
        total = debiased_terms(y, h, fit_wide, rng).terms.sum(axis=1)
        found.append((total.mean(), total.std(ddof=1) / np.sqrt(n)))
    return np.array(found).T


@pytest.mark.parametrize(("n", "k", "runs"), [(8000, 5, 30), (8000, 20, 12), (500, 20, 80)])
@pytest.mark.parametrize("kind", SPECIFIED)
def test_the_debiased_error_has_no_bias_and_its_limits_cover(kind, n, k, runs, fails, capsys):
    law = MultilabelLaw(kind, n_labels=k)
    truth = law.canonical_error() ** 2
    value, error = debiased_of(law, n, runs, seed=k)
    bias, chance = value.mean() - truth, value.std() / np.sqrt(runs)
    hits = (np.abs(value - truth) <= 1.96 * error).sum()
    with capsys.disabled():
        print(f"\n{kind} n={n} K={k}: bias {bias:+.5f} ± {chance:.5f}, covers {hits / runs:.3f}")
    most = 0.002 if n == 8000 else 0.012
    assert abs(bias) < most + 3 * chance
    assert not fails(hits, runs, 0.93)


@pytest.mark.parametrize("kind", SPECIFIED)
def test_the_plug_in_has_a_bias(kind):
    """What the folds are for."""
    law = MultilabelLaw(kind, n_labels=20)
    rng, runs = np.random.default_rng(1), 30
    truth = law.canonical_error() ** 2
    plain = []
    for _ in range(runs):
        y, h, _ = law.sample(500, rng=rng)
        plain.append(canonical_calibration_error(y, h, confidence=None).value ** 2)
    value, _ = debiased_of(law, 500, runs, seed=1)
    assert np.mean(plain) - truth > 0.04
    assert abs(value.mean() - truth) < 0.02


@pytest.mark.parametrize("kind", ["latent", "temperature"])
def test_a_third_of_the_limits_would_not_do(kind, fails):
    law = MultilabelLaw(kind, n_labels=5)
    value, error = debiased_of(law, 2000, 80, seed=2)
    hits = (np.abs(value - law.canonical_error() ** 2) <= 1.96 * error / 3).sum()
    assert fails(hits, 80, 0.93)


@pytest.mark.parametrize(("n", "k", "runs"), [(500, 5, 60), (2000, 20, 30)])
@pytest.mark.parametrize("kind", KINDS)
def test_the_certificate_is_not_above_the_truth(kind, n, k, runs, fails, capsys):
    law = MultilabelLaw(kind, n_labels=k)
    truth, rng = law.canonical_error() ** 2, np.random.default_rng(3)
    lowers = []
    for _ in range(runs):
        y, h, _ = law.sample(n, rng=rng)
        lowers.append(strict_gain(read_table(y, h), LatentCopula, 0.05, rng)[1])
    lowers = np.maximum(lowers, 0)
    hits = (lowers <= truth).sum()
    with capsys.disabled():
        print(f"\n{kind} n={n} K={k}: proven {lowers.mean():.4f} of {truth:.4f}, {hits / runs:.3f}")
    assert not fails(hits, runs, 0.95)
    if kind in ("latent", "temperature", "shift"):
        assert (lowers > 0).mean() > 0.5


def test_the_certificate_of_trees_is_not_above_the_truth(fails):
    law, rng, runs = MultilabelLaw("calibrated", n_labels=1), np.random.default_rng(4), 24
    hits = 0
    for _ in range(runs):
        y, h, _ = law.sample(300, rng=rng)
        hits += strict_gain(read_table(y, h), Trees, 0.05, rng)[1] <= 0
    assert not fails(hits, runs, 0.95)


LAWS = {
    "independent": (-0.5, 0.0, None),
    "dependent": (-0.5, 0.7, None),
    "ties": (-0.5, 0.5, 4),
    "rare": (-2.2, 0.5, None),
}


def null_p_values(mean, rho, levels, n, k, runs, dependent, rng):
    for _ in range(runs):
        z = np.sqrt(0.4) * rng.standard_normal((n, 1)) + np.sqrt(0.6) * rng.standard_normal((n, k))
        h = ndtr(mean + z)
        if levels:
            h = (h * levels).round() / levels * 0.9 + 0.05
        yield score_test(dependent(h, rho, rng), h, rng)


@pytest.mark.parametrize(
    ("law", "n", "k", "runs"),
    [(name, 500, 5, 80) for name in LAWS]
    + [("dependent", 500, 20, 60), ("ties", 2000, 5, 40), ("dependent", 5000, 5, 40)],
)
def test_p_values_are_uniform_where_there_is_no_error(law, n, k, runs, dependent, capsys):
    rng = np.random.default_rng([n, k])
    p = np.array(list(null_p_values(*LAWS[law], n, k, runs, dependent, rng)))
    # Rare labels are tested apart from the others (Bonferroni), so their p-values may be larger.
    found = kstest(p, "uniform", alternative="greater" if law == "rare" else "two-sided").pvalue
    with capsys.disabled():
        print(f"\n{law} n={n} K={k}: KS p {found:.3f}, {np.mean(p <= 0.05):.3f} of p are <= .05")
    assert found > 0.001


def test_p_values_that_forget_the_dependence_of_labels_are_not_uniform(dependent):
    """Signs for each label apart, as if labels did not go with each other, would not do."""
    rng, found = np.random.default_rng(5), []
    for _ in range(120):
        h = np.repeat(rng.random((200, 1)), 6, axis=1)
        y = dependent(h, 0.9, rng)
        residual = y - h
        seen = (residual.sum(axis=0) ** 2).sum()
        signs = rng.integers(0, 2, (99, 200, 6)) * 2 - 1
        drawn = ((signs * residual).sum(axis=1) ** 2).sum(axis=1)
        found.append((1 + (drawn >= seen).sum()) / 100)
    assert kstest(found, "uniform").pvalue < 0.001
