"""From what users pass to patterns of votes.

`read_ballots` reads a wide table, a long one or counts of patterns. `read_votes` reduces ballots to
one `VoteTable` per domain, `read_weak_labels` to one matrix of codes. In all of them null means
*not asked* and -1 *abstained*, unless ``null="abstain"`` says that a null is an abstention.
``LONG_NAMES`` are the names that long tables are known by. `split_keys` takes names of items and
domains out of a wide table, and `PassedValues` keeps the names of voters, domains and items in the
dtype in which they were passed.
"""

from karat.votes.reading._ballots import Ballots
from karat.votes.reading._domains import Domain, Votes, read_votes
from karat.votes.reading._keys import Keys, split_keys
from karat.votes.reading._long import LONG_NAMES, long_columns
from karat.votes.reading._passed_values import PassedValues
from karat.votes.reading._read import read_ballots, read_weak_labels

__all__ = [
    "LONG_NAMES",
    "Ballots",
    "Domain",
    "Keys",
    "PassedValues",
    "Votes",
    "long_columns",
    "read_ballots",
    "read_votes",
    "read_weak_labels",
    "split_keys",
]
