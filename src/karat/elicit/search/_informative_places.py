"""The choice of places whose slopes say most of a metric."""

import numpy as np

from karat._typing import FloatArray, IntArray

__all__ = ["informative_places"]


def informative_places(features: FloatArray, n: int, first: tuple[int, ...] = ()) -> IntArray:
    """Choose n of c places with features (c, rows, size) such that slopes there say most.

    One place after another, each is the one that adds most to the determinants of the rows'
    information. ``first`` are places that are chosen in any case.
    """
    _, rows, size = features.shape
    information = np.tile(1e-6 * np.eye(size), (rows, 1, 1))
    chosen: list[int] = []
    while len(chosen) < min(n, len(features)):
        if len(chosen) < len(first):
            best = first[len(chosen)]
        else:
            spread = np.einsum(
                "crd,rde,cre->cr", features, np.linalg.inv(information), features, optimize=True
            )
            gain = np.log1p(spread).sum(axis=1)
            gain[chosen] = -np.inf
            # Rounded, so that the last digit of another machine does not choose another place.
            best = int(np.argmax(np.round(gain, 9)))
        chosen.append(best)
        information = information + features[best][:, :, None] * features[best][:, None, :]
    return np.array(chosen)
