"""The models of votes that are worth comparing on a table."""

import numpy as np

from karat.consensus.model import Errors, Model, build_problem
from karat.votes.agreement import SharedVotes, copying_forest
from karat.votes.em import fit_point, starting_state
from karat.votes.tables import VoteTable

__all__ = ["candidate_models", "enough_for_difficulty"]

_LEVELS_NEED = 5  # voters below which easy and hard items cannot be distinguished
_VOTES_NEED = 3.0  # votes per item, likewise
_ROW_NEEDS = 20  # votes per voter and class below which a row of its own may ask too much


def candidate_models(
    table: VoteTable, errors: Errors, dependence: str, shared: SharedVotes
) -> list[Model]:
    """Return the models that ``dependence`` asks for, as far as the votes can distinguish them."""
    plain = Model("independent", errors)
    found = []
    if dependence in ("none", "auto"):
        found.append(plain)
    if dependence in ("pairs", "auto"):
        problem = build_problem(plain, table)
        state, _, _ = fit_point(problem, starting_state(problem, table.vote_shares()))
        parent = copying_forest(problem, state, shared)
        if parent is not None:
            found.append(Model("pairs", errors, parent=parent))
        elif dependence == "pairs":
            found.append(plain)
    if dependence == "difficulty" or (dependence == "auto" and enough_for_difficulty(table)):
        found.append(Model("difficulty", errors, levels=2))
    rows = table.n_voters * table.n_classes
    few = table.n_classes > 2 and table.votes_cast.sum() < _ROW_NEEDS * rows
    if dependence == "auto" and errors == "class-conditional" and few:
        found.append(Model("one rate", "symmetric"))
    return found


def enough_for_difficulty(table: VoteTable) -> bool:
    """Return whether there are enough votes per item to separate easy items from hard ones."""
    votes = np.diff(table.heard.start)
    mean = float(table.count @ votes / max(table.count.sum(), 1e-300))
    return table.n_heard >= _LEVELS_NEED and mean >= _VOTES_NEED
