"""Compile the loop of this room, so that no later call has to."""

import numpy as np

from karat.decisions.populations._cells import compressed
from karat.decisions.populations._population import Population

__all__ = ["warm"]


def warm() -> None:
    """Join a few items into cells."""
    proba = np.random.default_rng(0).dirichlet(np.ones(3), 8)
    compressed(Population(proba, proba / 8), levels=1)
