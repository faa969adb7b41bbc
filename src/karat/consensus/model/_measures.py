"""Error rates of voters from draws of the parameters and of the labels."""

import numpy as np

from karat._typing import FloatArray, IntArray

__all__ = ["error_rates", "finite_errors"]


def error_rates(
    theta: FloatArray,
    weight: FloatArray,
    group: IntArray,
    classes: int,
    copied: FloatArray | None = None,
    parent: IntArray | None = None,
    order: IntArray | None = None,
) -> FloatArray:
    """Return each voter's chance of being wrong when it votes, copying included.

    Parameters
    ----------
    theta : array (..., voters, outcomes, components)
    weight : array (..., components)
    group : array (components,)
        The class of each component.
    classes : int
        Number of classes; a further outcome is an abstention.
    copied : array (..., voters), optional
        Chance of copying.
    parent : array (voters,), optional
        Whom each voter may copy, -1 for nobody.
    order : array (voters,), optional
        The voters, every parent before its children.

    Returns
    -------
    array (..., voters)
        NaN for a voter who never votes.
    """
    if copied is not None and parent is not None and order is not None and (parent >= 0).any():
        theta = theta.copy()
        for j in order[parent[order] >= 0]:
            kappa = copied[..., j, None, None]
            theta[..., j, :, :] = (
                kappa * theta[..., parent[j], :, :] + (1 - kappa) * theta[..., j, :, :]
            )
    votes = theta[..., :classes, :] * weight[..., None, None, :]
    return _share_wrong(votes, group)


def finite_errors(
    counts: FloatArray, voters: int, outcomes: int, group: IntArray, classes: int
) -> FloatArray:
    """Return the share of each voter's votes cast that are wrong under the drawn labels.

    Parameters
    ----------
    counts : array (..., cells, components)
        Votes of each cell; there are one or three cells for each voter and outcome.
    voters, outcomes : int
        Numbers of voters and of outcomes.
    group : array (components,)
        The class of each component.
    classes : int
        Number of classes; a further outcome is an abstention.

    Returns
    -------
    array (..., voters)
        NaN for a voter who cast no vote.
    """
    *lead, cells, components = counts.shape
    kinds = cells // (voters * outcomes)
    votes = counts.reshape(*lead, kinds, voters, outcomes, components)
    votes = votes[..., 0, :, :, :] if kinds == 1 else votes.sum(axis=-4)
    return _share_wrong(votes[..., :classes, :], group)


def _share_wrong(votes: FloatArray, group: IntArray) -> FloatArray:
    """Return the share of the votes (..., voters, classes, components) for another class."""
    wrong = (np.arange(votes.shape[-2])[:, None] != group).astype(np.float64)
    said = np.einsum("...oc->...", votes)
    missed = np.einsum("...oc,oc->...", votes, wrong)
    return np.asarray(np.divide(missed, said, out=np.full(said.shape, np.nan), where=said > 0))
