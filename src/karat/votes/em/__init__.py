"""One expectation–maximisation for all models of votes.

A `VoteLaw` says how votes depend on the component of an item (a class, or a class and a
difficulty) and finds its best parameters, a `State`, for expected counts. A design says which
cells of the law each pattern of votes looks up: `Blocks` for a matrix of few labelers, in NumPy;
`Sparse` for many labelers that mostly abstain, and for gold labels; `Listed` for lists of votes
with copies and gold labels, compiled. `run_em` climbs, accelerated, until the estimated gain that
is left is small.
"""

from karat.votes.em._blocks import Blocks, BlocksExpectation
from karat.votes.em._law import COPY, State, VoteLaw
from karat.votes.em._listed import Listed, ListedProblem, vote_cells
from karat.votes.em._point import TableProblem, fit_point, log_likelihood, starting_state
from karat.votes.em._run import (
    EmFit,
    EmProblem,
    em_pass,
    run_em,
    start_from,
    total_log_likelihood,
)
from karat.votes.em._sparse import Sparse

__all__ = [
    "COPY",
    "Blocks",
    "BlocksExpectation",
    "EmFit",
    "EmProblem",
    "Listed",
    "ListedProblem",
    "Sparse",
    "State",
    "TableProblem",
    "VoteLaw",
    "em_pass",
    "fit_point",
    "log_likelihood",
    "run_em",
    "start_from",
    "starting_state",
    "total_log_likelihood",
    "vote_cells",
]
