"""Compile the loop of this room, so that no fit has to."""

import numpy as np

from karat.consensus.scores._run import run_scores

__all__ = ["warm"]


def warm() -> None:
    """Run one short chain."""
    codes = np.array([[0, 1], [1, 0], [1, 1]])
    run_scores(
        codes, np.ones(3), np.full(3, -1), np.array([2, 2]), chains=1, draws=1, burn=1,
        rng=np.random.default_rng(0),
    )  # fmt: skip
