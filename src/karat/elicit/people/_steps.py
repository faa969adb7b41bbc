"""Steps of the sampler: as long and as wide as the chains have shown to be good."""

from dataclasses import dataclass

import numpy as np

from karat._typing import FloatArray
from karat.elicit.people._chart import Chart
from karat.elicit.posterior import N_NOISE

__all__ = ["Steps", "people_shapes", "root_of"]

_BEST = 2.38  # over √dim: the best step for a normal target


@dataclass(slots=True)
class Steps:
    """Roots of covariances for each person (people, dim, dim) and for (μ, log τ), and lengths."""

    people: FloatArray
    noise: FloatArray  # standard deviations (people, 3) of the uniform numbers of the noise
    hyper: FloatArray
    reach: FloatArray  # (people,)
    hyper_reach: float

    @classmethod
    def first(cls, chart: Chart, people: int) -> "Steps":
        """Return steps as wide as the prior of the spread."""
        scale = chart.spread_scale[chart.of]
        return cls(
            np.tile(np.diag(scale), (people, 1, 1)),
            np.full((people, N_NOISE), 0.25),
            np.diag(np.concatenate([scale, np.ones(len(chart.parts))])),
            np.full(people, 0.5),
            0.3,
        )

    def restart(self) -> None:
        """Set the lengths to those that suit normal laws of the shapes that were fitted."""
        self.reach[:] = _BEST
        self.hyper_reach = 1.0


def people_shapes(z: FloatArray) -> FloatArray:
    """Return roots (people, dim, dim) of the covariances of draws (n, people, dim)."""
    return np.stack([root_of(z[:, i]) for i in range(z.shape[1])])


def root_of(draws: FloatArray) -> FloatArray:
    """Return L with ``LᵀL`` the covariance, drawn toward its diagonal where draws are few."""
    covariance = np.atleast_2d(np.cov(draws.T))
    n, d = draws.shape
    variances = np.diag(np.diag(covariance)) + 1e-8 * np.eye(d)
    share = d / (d + n / 10)  # draws of one chain resemble each other
    return np.asarray(np.linalg.cholesky((1 - share) * covariance + share * variances).T)
