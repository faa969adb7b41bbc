"""The questions of ``karat judges``: votes, two orders, people beside a judge, scores, a panel.

Each function takes a table that was read and what the flags name, asks the library, and returns an
`Answer` with text, JSON and a page. `own` are the flags that no other command has.
"""

from karat.cli.judging import _flags as own
from karat.cli.judging._columns import LongNames, parse_families
from karat.cli.judging._pair_table import PairFlags
from karat.cli.judging._pairs import pairs_answer
from karat.cli.judging._panel import panel_of, parse_costs, with_panel
from karat.cli.judging._people import PeopleFlags, people_answer
from karat.cli.judging._scores import ScoreFlags, scores_answer
from karat.cli.judging._votes import VoteFlags, votes_answer

__all__ = [
    "LongNames",
    "PairFlags",
    "PeopleFlags",
    "ScoreFlags",
    "VoteFlags",
    "own",
    "pairs_answer",
    "panel_of",
    "parse_costs",
    "parse_families",
    "people_answer",
    "scores_answer",
    "votes_answer",
    "with_panel",
]
