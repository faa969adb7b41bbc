"""What ``karat judges`` reads and says.

`read_votes_of` finds which columns are votes; `report` is an answer that opens with whom to trust,
how sure that is, and what to label next. `Todo` draws those items and writes them to a file.
"""

from karat.cli.voters._columns import ITEMS, Reading, Votes, read_votes_of
from karat.cli.voters._report import powered_grid, report, status_rows, sure_of
from karat.cli.voters._todo import Todo, todo_section

__all__ = [
    "ITEMS",
    "Reading",
    "Todo",
    "Votes",
    "powered_grid",
    "read_votes_of",
    "report",
    "status_rows",
    "sure_of",
    "todo_section",
]
