"""Independent oracles for calibration, and labels that depend on each other."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.special import log_ndtr
from scipy.stats import binomtest, multivariate_normal, norm, rankdata
from sklearn.covariance import ledoit_wolf


def scores_by_scipy(h):
    """Normal scores of mid-ranks, each column with spread 1."""
    v = norm.ppf(np.column_stack([rankdata(c) for c in h.T]) / (len(h) + 1))
    return v / v.std(axis=0)


def correlation_by_sklearn(v):
    cov, _ = ledoit_wolf(v, assume_centered=True)
    size = np.sqrt(np.diag(cov))
    return cov / np.outer(size, size)


def latent_by_quadrature(y, h, label, rows):
    """P(latent > τ | v) as a ratio of integrals of the joint Gaussian density."""
    v = scores_by_scipy(h)
    p = y[:, label].mean()
    tau = norm.ppf(1 - p)
    r = np.array([np.cov(y[:, label], c, bias=True)[0, 1] for c in v.T]) / norm.pdf(tau)
    k = h.shape[1]
    sigma = np.eye(k + 1)
    sigma[1:, 1:] = correlation_by_sklearn(v)
    sigma[0, 1:] = sigma[1:, 0] = r
    joint = multivariate_normal(np.zeros(k + 1), sigma)
    found = []
    for i in rows:
        above = quad(lambda t, i=i: joint.pdf([t, *v[i]]), tau, 12, epsabs=0, epsrel=1e-10)[0]
        below = quad(lambda t, i=i: joint.pdf([t, *v[i]]), -12, tau, epsabs=0, epsrel=1e-10)[0]
        found.append(above / (above + below))
    return np.array(found)


def probit_by_lbfgs(x, y, ridge):
    """Weights of a penalised probit regression, by another optimiser."""
    sign = 2 * y - 1

    def loss(beta):
        return -log_ndtr(sign * (x @ beta)).sum() + (ridge * beta**2).sum() / 2

    return minimize(loss, np.zeros(x.shape[1]), method="L-BFGS-B", tol=1e-14).x


def summed_by_loops(y, h, jitter):
    """The sum of Panda & Garain (2023), eq. 5–10 and 14, by loops over rows and copulas."""
    n, k = y.shape
    v, z, meant = scores_by_scipy(h), y + jitter, np.empty((n, k))
    corr = correlation_by_sklearn(v)
    for j in range(k):
        p0 = 1 - y[:, j].mean()
        level = [p0 * (t + 0.5) if t <= 0.5 else p0 + (1 - p0) * (t - 0.5) for t in z[:, j]]
        q = norm.ppf(np.clip(level, 0.5 / n, 1 - 0.5 / n))
        sigma = np.eye(k + 1)
        sigma[1:, 1:] = corr
        sigma[0, 1:] = sigma[1:, 0] = [np.corrcoef(q, c)[0, 1] for c in v.T]
        joint, rest = multivariate_normal(np.zeros(k + 1), sigma), multivariate_normal(cov=corr)
        for i in range(n):
            total = 0.0
            for m in range(n):
                c = joint.pdf([q[m], *v[i]]) / norm.pdf(q[m])
                total += z[m, j] * c / rest.pdf(v[i])
            meant[i, j] = total / n
    return meant


def dependent_labels(h, rho, rng):
    """Labels with E[y | h] = h that go with each other given h, by a Gaussian copula."""
    shared = np.sqrt(rho) * rng.standard_normal((len(h), 1))
    z = shared + np.sqrt(1 - rho) * rng.standard_normal(h.shape)
    return (norm.cdf(z) < h).astype(float)


def rare_hits(hits, runs, promised):
    """Whether so few hits would be seen once in a thousand times if the promise held."""
    return binomtest(int(hits), runs, promised, alternative="less").pvalue < 0.001


@pytest.fixture(scope="session")
def by_quadrature():
    return latent_by_quadrature


@pytest.fixture(scope="session")
def by_lbfgs():
    return probit_by_lbfgs


@pytest.fixture(scope="session")
def by_loops():
    return summed_by_loops


@pytest.fixture(scope="session")
def dependent():
    return dependent_labels


@pytest.fixture(scope="session")
def fails():
    return rare_hits


@pytest.fixture(scope="session")
def normal_scores():
    return scores_by_scipy
