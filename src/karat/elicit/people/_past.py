"""Where people have been while the chains warmed up: what later steps are made from."""

import numpy as np

from karat._typing import FloatArray

__all__ = ["Past", "root_of"]

_KERNELS = 150  # past states of a person that fresh ones are drawn around
_NEIGHBOURS = 20  # whose spread is the width of a kernel
_BEST = 1.68  # over √size: of a difference of two draws, the best step for a normal target


class Past:
    """Past states (n, people, size) of everyone."""

    def __init__(self, states: FloatArray) -> None:
        self.states = states
        every = max(1, len(states) // _KERNELS)
        # Kernels are as wide as past states are apart where they are, along axes of their own.
        self._roots = np.stack([root_of(own) for own in states.swapaxes(0, 1)])
        self._axes = np.linalg.inv(self._roots)
        self.centers = states[::every].swapaxes(0, 1) @ self._axes
        self.widths = np.stack([_local_widths(own) for own in self.centers])
        # Of ``log_density``: squares and products of states, and what does not depend on them.
        self._squares, self._products = self.widths**-2.0, self.centers * self.widths**-2.0
        self._rest = -np.log(self.widths).sum(axis=2)
        self._rest -= 0.5 * ((self.centers / self.widths) ** 2).sum(axis=2)

    def differences(self, chains: int, rng: np.random.Generator) -> FloatArray:
        """Return differences (chains, people, size) of two past states of everyone, or parts.

        A whole difference leads from one stretch that fits the answers to another, and part of one
        has the shape of what is known of the person (ter Braak and Vrugt 2008).
        """
        n, people, size = self.states.shape
        at = rng.integers(0, n, size=(2, chains, people))
        one, other = self.states[at, np.arange(people)]
        parts = np.array([0.3 * _BEST, _BEST, np.sqrt(size)]) / np.sqrt(size)
        length = rng.choice(parts, size=(chains, people, 1))
        return np.asarray(length * (one - other) + 1e-3 * rng.normal(size=one.shape))

    def fresh(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Draw states (n, people, size) around past ones, near where these are dense."""
        people, kernels, size = self.centers.shape
        at, who = rng.integers(0, kernels, size=(n, people)), np.arange(people)
        drawn = self.centers[who, at] + rng.normal(size=(n, people, size)) * self.widths[who, at]
        return np.asarray(np.matmul(drawn.swapaxes(0, 1), self._roots).swapaxes(0, 1))

    def log_density(self, states: FloatArray) -> FloatArray:
        """Return the log-density (n, people) of ``fresh``, but for constants."""
        along = np.matmul(states.swapaxes(0, 1), self._axes)
        kernels = np.matmul(along, self._products.swapaxes(1, 2))
        kernels -= np.matmul(along**2, 0.5 * self._squares.swapaxes(1, 2))
        kernels += self._rest[:, None]
        top = kernels.max(axis=2, keepdims=True)
        kernels -= top
        return np.asarray((np.log(np.exp(kernels, out=kernels).sum(axis=2)) + top[..., 0]).T)


def _local_widths(centers: FloatArray) -> FloatArray:
    """Return the standard deviations (n, size) of the nearest neighbours of centers (n, size)."""
    squares = (centers**2).sum(axis=1)
    apart = squares[:, None] + squares - 2.0 * centers @ centers.T
    m = min(_NEIGHBOURS, len(centers))
    near = np.argpartition(apart, m - 1, axis=1)[:, :m]
    return np.asarray(centers[near].std(axis=1) + 1e-3)


def root_of(draws: FloatArray) -> FloatArray:
    """Return L with ``LᵀL`` the covariance of draws (n, d), near its diagonal if n is small."""
    covariance = np.atleast_2d(np.cov(draws.T))
    n, d = draws.shape
    variances = np.diag(np.diag(covariance)) + 1e-8 * np.eye(d)
    share = d / (d + n / 10)  # draws of one chain resemble each other
    return np.asarray(np.linalg.cholesky((1 - share) * covariance + share * variances).T)
