"""Laws of votes to draw from."""

import numpy as np
import pytest


def symmetric_law(accuracies, coverage, k):
    """Return P(outcome | truth) (m, k, k+1) of labelers whose errors are spread evenly."""
    confusions = np.empty((len(accuracies), k, k + 1))
    for j, (accuracy, cover) in enumerate(zip(accuracies, coverage, strict=True)):
        confusions[j, :, :k] = cover * (1 - accuracy) / (k - 1)
        confusions[j, range(k), range(k)] = cover * accuracy
        confusions[j, :, k] = 1 - cover
    return confusions


def draw_votes(rng, n, prior, confusions):
    """Return truth and votes of labelers that are independent given the truth."""
    k = len(prior)
    y = rng.choice(k, n, p=prior)
    votes = np.empty((n, len(confusions)), dtype=int)
    for j, rows in enumerate(confusions):
        outcome = (rng.random(n)[:, None] > rows[y].cumsum(axis=1)).sum(axis=1).clip(max=k)
        votes[:, j] = np.where(outcome == k, -1, outcome)
    return y, votes


def brute_posterior(codes, prior, confusions):
    """Return Bayes' rule, one row and one labeler at a time."""
    proba = []
    for row in codes:
        joint = [
            prior[y] * np.prod([c[y, z] for c, z in zip(confusions, row, strict=True)])
            for y in range(len(prior))
        ]
        proba.append(np.array(joint) / sum(joint))
    return np.array(proba)


@pytest.fixture(scope="session")
def law():
    return symmetric_law


@pytest.fixture(scope="session")
def draw():
    return draw_votes


@pytest.fixture(scope="session")
def bayes():
    return brute_posterior


@pytest.fixture(scope="session")
def population():
    """All patterns of a law and their probabilities, to fit a model to an infinite sample."""

    def patterns_of(prior, confusions):
        m, k, _ = confusions.shape
        codes = np.stack(np.meshgrid(*[np.arange(-1, k)] * m, indexing="ij"), -1).reshape(-1, m)
        joint = np.array(prior) * np.ones((len(codes), k))
        for j in range(m):
            joint *= confusions[j][:, codes[:, j]].T  # -1 is the last column, abstention
        keep = joint.sum(axis=1) > 0
        return codes[keep], joint[keep]

    return patterns_of
