"""Error rates of draws against loops over voters, outcomes and components."""

import numpy as np
import pytest

from karat.consensus.model import error_rates, finite_errors

GROUP = np.array([0, 0, 1, 1, 2, 2])  # three classes, two difficulties


def rate_by_loops(theta, weight, copied, parent, j):
    """Return the chance that voter j is wrong when it votes: up the line of those it copies."""
    wrong = spoke = 0.0
    for c, k in enumerate(GROUP):
        for o in range(3):
            chance, share, at = 0.0, 1.0, j
            while at >= 0:
                kappa = copied[at] if parent[at] >= 0 else 0.0
                chance += share * (1 - kappa) * theta[at, o, c]
                share *= kappa
                at = parent[at]
            spoke += weight[c] * chance
            wrong += weight[c] * chance * (o != k)
    return wrong / spoke


@pytest.mark.parametrize("parent", [[-1, -1, -1, -1], [-1, 0, 1, 0]], ids=["alone", "copies"])
def test_error_rates(parent):
    rng = np.random.default_rng(0)
    parent = np.array(parent)
    theta = rng.dirichlet(np.ones(4), size=(5, 4, 6)).swapaxes(2, 3)  # the last abstains
    weight, copied = rng.dirichlet(np.ones(6), size=5), rng.random((5, 4))
    found = error_rates(theta, weight, GROUP, 3, copied, parent, np.arange(4))
    for s in range(5):
        wanted = [rate_by_loops(theta[s], weight[s], copied[s], parent, j) for j in range(4)]
        np.testing.assert_allclose(found[s], wanted)


@pytest.mark.parametrize("kinds", [1, 3])
def test_finite_errors(kinds):
    rng = np.random.default_rng(1)
    counts = rng.integers(0, 4, (5, kinds * 4 * 4, 6)).astype(float)
    counts.reshape(5, kinds, 4, 4, 6)[:, :, 3, :3] = 0  # the last voter only abstains
    found = finite_errors(counts, 4, 4, GROUP, 3)
    for s in range(5):
        for j in range(3):
            votes = [
                (o != k, counts[s, kind * 16 + j * 4 + o, c])
                for kind in range(kinds)
                for o in range(3)
                for c, k in enumerate(GROUP)
            ]
            wanted = sum(n for wrong, n in votes if wrong) / sum(n for _, n in votes)
            assert found[s, j] == pytest.approx(wanted)
    assert np.isnan(found[:, 3]).all()
