"""What ``karat judges`` reads and says.

`read_votes_of` finds which columns are votes; `report` is an answer that opens with whom to trust,
how sure that is, and what to label next.
"""

from karat.cli.voters._columns import Reading, Votes, read_votes_of
from karat.cli.voters._report import report

__all__ = ["Reading", "Votes", "read_votes_of", "report"]
