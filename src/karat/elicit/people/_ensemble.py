"""Many versions of every person at once, over which the law is moved.

Answers are often explained either by someone unlike the others or by someone who errs, and the
spread of all goes with it: moving one person after the other takes long. So each chain keeps other
versions of a person beside its own, drawn from a density q that is fitted to where the person has
been (Neal 2011). With the weights ``w = likelihood · prior of the noise / q`` the law moves by
``Π_people Σ_k w_k N(z_k; μ, τ²)``, wherever people are now; then one version of each is chosen. The
draws are those of the posterior itself, whatever q is: on chains, versions and choices together,
each step is one of Gibbs or Metropolis.
"""

import numpy as np

from karat._typing import FloatArray

__all__ = ["Ensemble", "log_total"]


class Ensemble:
    """Versions (chains, people, k, size) with log-weights; the first is the chain's own."""

    def __init__(self, own: FloatArray, versions: int) -> None:
        self.states = np.repeat(own[:, :, None], versions, axis=2)
        self.log_weights = np.zeros(self.states.shape[:3])

    def choose(self, log_chances: FloatArray, rng: np.random.Generator) -> None:
        """Choose one version of each person and make it the first."""
        # The greatest of log-chances with Gumbel noise is a choice with these chances.
        at = np.argmax(log_chances + rng.gumbel(size=log_chances.shape), axis=2)
        rows = np.ogrid[: at.shape[0], : at.shape[1]]
        for array in (self.states, self.log_weights):
            first = array[:, :, 0].copy()
            array[:, :, 0] = array[rows[0], rows[1], at]
            array[rows[0], rows[1], at] = first


def log_total(log_weights: FloatArray) -> FloatArray:
    """Return the log of the product over people of the sums over their versions (chains,)."""
    top = log_weights.max(axis=2, keepdims=True)
    sums = np.log(np.exp(log_weights - top).sum(axis=2)) + top[..., 0]
    return np.asarray(sums.sum(axis=1))
