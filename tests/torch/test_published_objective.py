"""The objective of Panda & Garain (2023) as printed: its value, and the gradient that it lacks."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from karat.datasets import MultilabelLaw

torch = pytest.importorskip("torch")

from karat.torch._copula_calibration_loss import (  # noqa: E402
    normal_scores,
    published_objective,
    published_penalty,
    ranked_scores,
)


def batch(n=60, k=3, seed=0):
    y, h, _ = MultilabelLaw("latent", n_labels=k).sample(n, rng=seed)
    noise = np.random.default_rng(seed).uniform(-0.5, 0.5, y.shape)
    return torch.tensor(y), torch.tensor(h, requires_grad=True), torch.tensor(noise)


def by_loops(y, v, noise, amount):
    """Eq. 13 by copula densities of SciPy, one term at a time."""
    n, k = y.shape
    z, total = y + noise, 0.0
    corr = np.cov(v.T, bias=True) * (1 - amount) + np.eye(k) * amount
    for j in range(k):
        none = 1 - y[:, j].mean()
        level = np.where(y[:, j] > 0, none + (1 - none) * (noise[:, j] + 0.5),
                         none * (noise[:, j] + 0.5))  # fmt: skip
        q = norm.ppf(np.clip(level, 0.5 / n, 1 - 0.5 / n))
        sigma = np.eye(k + 1)
        sigma[1:, 1:] = corr
        sigma[0, 1:] = sigma[1:, 0] = (1 - amount) * np.array(
            [np.corrcoef(q, c)[0, 1] for c in v.T]
        )
        joint, rest = multivariate_normal(np.zeros(k + 1), sigma), multivariate_normal(cov=corr)
        for row in v:
            both = [joint.pdf([q[i], *row]) / norm.pdf(q[i]) / rest.pdf(row) for i in range(n)]
            total += np.mean(z[:, j] * both) ** 2 / n
    return total


def test_the_penalty_is_equation_13():
    y, h, noise = batch(n=25)
    v = ranked_scores(h)
    found = published_penalty(y, v, noise).item()
    wanted = by_loops(y.numpy(), v.numpy(), noise.numpy(), 3 / 28 + 0.02)
    assert found == pytest.approx(wanted, rel=1e-9)


def test_the_gradient_of_the_published_penalty_vanishes():
    """On ranks nothing reaches the probabilities: the objective trains as its risk alone."""
    y, h, noise = batch()
    penalty = published_penalty(y, ranked_scores(h), noise)
    assert not penalty.requires_grad
    total = published_objective(h, y, ranked_scores(h), noise, beta=1.0)
    risk = ((y + noise - h) ** 2).sum(dim=1).mean()
    assert total.item() == pytest.approx(risk.item() + penalty.item() / 2)
    (whole,) = torch.autograd.grad(total, h)
    (alone,) = torch.autograd.grad(risk, h)
    assert torch.equal(whole, alone)


def test_it_is_constant_between_ranks_and_not_across_them():
    y, h, noise = batch()
    at = published_penalty(y, ranked_scores(h), noise).item()
    with torch.no_grad():
        gap = torch.diff(h.sort(dim=0).values, dim=0).min()
        near = h + gap / 4 * torch.rand(h.shape, generator=torch.Generator().manual_seed(0))
        far = h.flip(0)
    assert published_penalty(y, ranked_scores(near), noise).item() == at
    assert published_penalty(y, ranked_scores(far), noise).item() != pytest.approx(at, rel=1e-3)


def test_smoothed_ranks_would_have_a_gradient():
    """What is missing is the smoothing, not the graph."""
    y, h, noise = batch()
    published_penalty(y, normal_scores(h, 0.1), noise).backward()
    assert h.grad.abs().max() > 1e-4


def test_networks_trained_with_it_and_without_are_the_same():
    y, h, _ = batch(n=64)
    x, target = torch.logit(h.detach()).float(), y.float()

    def trained(beta):
        torch.manual_seed(0)
        net = torch.nn.Linear(3, 3)
        optimizer = torch.optim.Adam(net.parameters(), lr=0.05)
        generator = torch.Generator().manual_seed(1)
        for _ in range(20):
            prob = torch.sigmoid(net(x))
            noise = torch.rand(target.shape, generator=generator) - 0.5
            loss = published_objective(prob, target, ranked_scores(prob), noise, beta)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return net.weight.detach()

    assert torch.equal(trained(0.0), trained(50.0))
