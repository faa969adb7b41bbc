"""Every explanation of the votes, side by side, where the votes cannot tell which one holds."""

import numpy as np

from karat._typing import FloatArray
from karat.consensus.model import labelled_errors
from karat.votes.tables import VoteTable

__all__ = ["account_labels", "account_rates"]

# Shares of the votes up to which a favourite may be wrong: from near ties to all but unanimous.
_SHARES = np.linspace(0.5, 0.95, 10)


def account_rates(table: VoteTable, proba: FloatArray) -> FloatArray:
    """Return accounts × voters: the error rates under each of `account_labels`."""
    return np.asarray([labelled_errors(table, labels) for labels in account_labels(table, proba)])


def account_labels(table: VoteTable, proba: FloatArray) -> list[FloatArray]:
    """Return P(class) of each pattern if the runner-up is right wherever votes are divided.

    The accounts differ in how divided: the favourite of the consensus ``proba`` is wrong on all
    items on which it has at most such a share of the votes. Items with a gold label stay as they
    are, and so do those on which nobody disagrees.
    """
    rows = np.arange(table.n_patterns)
    favourite = proba.argmax(axis=1)
    shares = table.vote_shares()
    mine = shares[rows, favourite].copy()
    shares[rows, favourite] = 0.0
    rival = shares.argmax(axis=1)
    divided = (shares.max(axis=1) > 0) & (table.gold < 0)
    flipped = np.eye(table.n_classes)[rival]
    return [
        np.where((divided & (mine <= share + 1e-9))[:, None], flipped, proba)
        for share in (*_SHARES, 1.0)
    ]
