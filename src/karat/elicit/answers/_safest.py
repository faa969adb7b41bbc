"""Classifiers that are not wrong on too much of any class."""

import numpy as np
from scipy.optimize import linprog

from karat._typing import FloatArray
from karat.elicit.answers._dominance import wrong_shares

__all__ = ["drawn_in", "safest_classifier"]


def safest_classifier(confusions: FloatArray) -> FloatArray:
    """Return the mixture of classifiers that is wrong on least of the class it is worst at.

    Of confusions (n, k, k) or (n, groups, k, k), mixed in each group by itself:
    ``min t`` with ``Σᵢ pᵢ wᵢ(c) ≤ t`` for every class c, w the shares that are wrong.
    """
    grouped = confusions.reshape(len(confusions), -1, *confusions.shape[-2:])
    found = []
    for tables in grouped.swapaxes(0, 1):
        wrong = wrong_shares(tables)
        n, k = wrong.shape
        solved = linprog(
            np.append(np.zeros(n), 1.0),
            A_ub=np.column_stack([wrong.T, np.full(k, -1.0)]),
            b_ub=np.zeros(k),
            A_eq=np.append(np.ones(n), 0.0)[None],
            b_eq=[1.0],
        )
        shares = np.maximum(solved.x[:n], 0.0)
        found.append(np.einsum("n,nij->ij", shares / shares.sum(), tables))
    return np.stack(found).reshape(confusions.shape[1:])


def drawn_in(
    confusions: FloatArray, safest: FloatArray, worst: float, rng: np.random.Generator
) -> FloatArray:
    """Return mixtures with the safest classifier that are wrong on at most ``worst`` of a class.

    Classifiers that are so by themselves stay as they are. Of the others, in each group by itself,
    a share of the safest is drawn that is at least what is needed.
    """
    wrong, least = wrong_shares(confusions), wrong_shares(safest)
    above = wrong - least
    with np.errstate(divide="ignore", invalid="ignore"):
        needed = np.where(wrong > worst, (wrong - worst) / above, 0.0).max(axis=-1)
    drawn = needed + (1.0 - needed) * rng.random(needed.shape)
    share = np.where(needed > 0.0, drawn, 0.0)[..., None, None]
    return np.asarray((1.0 - share) * confusions + share * safest)
