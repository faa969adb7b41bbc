"""Directions as angles.

``a_1 = cos θ_1``, ``a_i = sin θ_1 ⋯ sin θ_{i−1} cos θ_i``, ``a_q = sin θ_1 ⋯ sin θ_{q−1}``
(Hiranandani 2021, section 4.2.2): all a are at least 0 when every angle lies in [0, π/2].
"""

import numpy as np

from karat._typing import FloatArray

__all__ = ["angles_of", "direction"]


def direction(angles: FloatArray) -> FloatArray:
    """Return the unit vectors (..., q) of angles (..., q−1)."""
    sines = np.cumprod(np.sin(angles), axis=-1)
    ones = np.ones((*angles.shape[:-1], 1))
    cosines = np.concatenate([np.cos(angles), ones], axis=-1)
    return np.asarray(np.concatenate([ones, sines], axis=-1) * cosines)


def angles_of(vector: FloatArray) -> FloatArray:
    """Return the angles of a vector of at least two coordinates, none negative."""
    tails = np.sqrt(np.cumsum(vector[::-1] ** 2)[::-1])  # norm of what follows, itself included
    return np.arctan2(tails[1:], vector[:-1])
