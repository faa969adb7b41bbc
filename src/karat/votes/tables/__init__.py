"""The votes of one domain as distinct patterns with counts, and sums over them.

A `VoteTable` lists the votes of each pattern; the functions beside it work on dense matrices of
codes, in which -1 is an abstention and -2 a vote that was not asked for. Nothing here checks its
arguments: `karat.votes.reading` has done that.
"""

from karat.votes.tables._outcomes import (
    TINY,
    list_votes,
    naive_bayes,
    normalized_exp,
    outcome_counts,
    outcomes_of,
    safe_log,
    vote_shares,
    vote_totals,
)
from karat.votes.tables._vote_table import VoteTable

__all__ = [
    "TINY",
    "VoteTable",
    "list_votes",
    "naive_bayes",
    "normalized_exp",
    "outcome_counts",
    "outcomes_of",
    "safe_log",
    "vote_shares",
    "vote_totals",
]
