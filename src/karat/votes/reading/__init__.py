"""From what users pass to patterns of votes.

`read_ballots` reads a wide table, a long one or counts of patterns and keeps names and items as
they were passed. `read_votes` reduces ballots to one `VoteTable` per domain, `read_patterns` to
one matrix of codes. In all of them null means *not asked* and -1 *abstained*, unless
``null="abstain"`` says that a null is an abstention.
"""

from karat.votes.reading._ballots import Ballots
from karat.votes.reading._domains import Domain, Votes, read_votes
from karat.votes.reading._long import long_columns
from karat.votes.reading._read import read_ballots, read_weak_labels
from karat.votes.reading._read_patterns import read_patterns

__all__ = [
    "Ballots",
    "Domain",
    "Votes",
    "long_columns",
    "read_ballots",
    "read_patterns",
    "read_votes",
    "read_weak_labels",
]
