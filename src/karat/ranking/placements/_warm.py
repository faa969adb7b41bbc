"""Compile the loops of this room, so that no later call has to."""

import numpy as np

from karat.ranking.placements._labelled_scores import split_by_class
from karat.ranking.placements._placements import merged

__all__ = ["warm"]


def warm() -> None:
    """Split a few scores by class and merge them."""
    merged(*split_by_class(np.linspace(0, 1, 8), np.arange(8) % 2 == 0, 4))
