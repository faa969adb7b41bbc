"""Votes with abstentions and with labelers that were not asked."""

import numpy as np
import pytest


def draw_votes(rng, n=400, accuracy=(0.85, 0.8, 0.75, 0.7), *, abstain=0.15, unasked=0.2):
    """Return the truth, and codes of two classes: -1 abstained (more often on 0), -2 not asked."""
    truth = rng.integers(0, 2, n)
    shape = (n, len(accuracy))
    codes = np.where(rng.random(shape) < accuracy, truth[:, None], 1 - truth[:, None])
    silent = rng.random(shape) < abstain * np.where(truth, 0.5, 1.5)[:, None]
    return truth, np.where(rng.random(shape) < unasked, -2, np.where(silent, -1, codes))


@pytest.fixture(scope="session")
def voting():
    return draw_votes
