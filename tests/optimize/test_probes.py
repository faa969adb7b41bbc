"""Moves of probes in closed form against classifiers on rows."""

from dataclasses import replace

import numpy as np
import pytest

from karat.optimize._probes import ClassProbes, TargetProbes, separated_probes

KINDS = ["fixed", "fixed, all entries", "targets", "separated", "separated, all entries"]


def make(kind, validation, matching, rng):
    every = "all entries" in kind
    validation, matching = lighter(kind, validation), lighter(kind, matching)
    if kind.startswith("fixed"):
        return ClassProbes(validation, matching, off_diagonal=every)
    if kind.startswith("separated"):
        return separated_probes(validation, matching, off_diagonal=every)
    targets = [
        (rng.dirichlet(np.ones(3), len(validation.proba)), rng.dirichlet(np.ones(3), 50))
        for _ in range(6)
    ]
    return TargetProbes(validation, matching, targets, off_diagonal=False)


@pytest.fixture
def samples(draw_sample, rng):
    return draw_sample(rng, 60), draw_sample(rng, 50)


def lighter(kind, sample):
    """Separated probes of all entries are many programs; one basis function will do."""
    if kind != "separated, all entries":
        return sample
    return replace(sample, basis=sample.basis[:, -1:])


@pytest.mark.parametrize("kind", KINDS)
def test_the_confusion_of_a_probe_is_that_of_its_shares(kind, samples, rng):
    validation, matching = samples
    probes = make(kind, validation, matching, rng)
    shares, other = rng.dirichlet(np.ones(3), 60), rng.dirichlet(np.ones(3), 50)
    at = probes.position(shares, other, sums=True, rows=True)
    _, seen = probes.moves(at)
    for p in range(len(seen)):
        moved = probes.moved_shares(shares, p, 0.3)
        np.testing.assert_allclose(moved.sum(axis=1), 1.0)
        assert moved.min() >= 0
        np.testing.assert_allclose(
            validation.confusion(moved), at.confusion + 0.3 * seen[p], atol=1e-14
        )


@pytest.mark.parametrize("kind", KINDS)
def test_matched_moves_are_those_of_the_moments(kind, samples, rng):
    """With the validation rows as matching sample, a probe's shares are known on them too."""
    validation, _ = samples
    matching = lighter(kind, validation.without_labels())
    if kind == "targets":
        targets = [(h, h) for h in rng.dirichlet(np.ones(3), (6, 60))]
        probes = TargetProbes(validation, matching, targets, off_diagonal=False)
    else:
        probes = make(kind, validation, matching, rng)
    shares = rng.dirichlet(np.ones(3), 60)
    at = probes.position(shares, shares, sums=True, rows=True)
    matched, _ = probes.moves(at)
    ones = np.ones((60, 1))
    before = matching.moments(ones, shares)[0]
    for p in range(len(matched)):
        after = matching.moments(ones, probes.moved_shares(shares, p, 0.3))[0]
        np.testing.assert_allclose(before + 0.3 * matched[p], after, atol=1e-14)
    np.testing.assert_allclose(probes.plain(at), before, atol=1e-12)


def test_a_mixture_of_positions_is_the_position_of_the_mixture(samples, rng):
    validation, matching = samples
    probes = ClassProbes(validation, matching, off_diagonal=True)
    a, b = rng.dirichlet(np.ones(3), (2, 60))
    c, d = rng.dirichlet(np.ones(3), (2, 50))
    mixed = probes.position(a, c, sums=True, rows=True).toward(
        probes.position(b, d, sums=True, rows=True), 0.3
    )
    direct = probes.position(0.7 * a + 0.3 * b, 0.7 * c + 0.3 * d, sums=True, rows=True)
    for name in ("confusion", "matched", "seen", "shares"):
        np.testing.assert_allclose(getattr(mixed, name), getattr(direct, name), atol=1e-14)


@pytest.mark.parametrize("kind", KINDS)
def test_a_probe_is_named_after_its_class(kind, samples, rng):
    """Its move raises the share of no class as much as that of the one it is named after."""
    probes = make(kind, *samples, rng)
    n_probes = len(probes.moves(probes.position(*(s.proba for s in samples), sums=True, rows=0))[0])
    names = [probes.name(p) for p in range(n_probes)]
    assert {b for b, _ in names} == set(range(probes.validation.basis.shape[1]))
    assert {j for _, j in names} == {0, 1, 2}
    if kind.startswith("fixed"):
        shares = np.full((60, 3), 1 / 3)
        for p, (_, j) in enumerate(names):
            rise = (probes.moved_shares(shares, p, 0.5) - shares).sum(axis=0)
            assert np.argmax(rise) == j


@pytest.mark.parametrize("every", [False, True])
def test_separated_probes_set_the_wanted_moment_apart(every, samples):
    """Eq. 7.14; a fixed probe, as a classifier, has no wider gap."""
    kind = "separated, all entries" if every else "separated"
    validation = lighter(kind, samples[0])
    matching = validation.without_labels()
    probes = separated_probes(validation, matching, off_diagonal=every)
    ones, n_basis = np.ones((60, 1)), matching.basis.shape[1]
    most = matching.sums(ones)[0]

    def relative(shares):
        moments = matching.moments(ones, shares)[0] / most[:, :, None]
        return (moments if every else np.diagonal(moments, axis1=1, axis2=2)).ravel()

    def gap(values, p):
        return values[p] - np.delete(values, p).max()

    wanted = len(relative(matching.proba))
    for p in range(wanted):
        found = gap(relative(probes.moved_shares(matching.proba, p, 1.0)), p)
        if not every:
            assert found > 0
        for b in range(n_basis):
            for j in range(3):
                fixed = (1 - matching.basis[:, [b]]) * matching.proba
                fixed[:, j] += matching.basis[:, b]
                assert found >= gap(relative(fixed), p) - 1e-5
