"""Other explanations of the same votes: other labels, and the error rates that follow."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import betaincinv

from karat._typing import FloatArray, IntArray
from karat.consensus.model import Model, Problem, build_problem, class_proba, labelled_errors
from karat.consensus.sampling import Draws
from karat.votes.agreement import backing
from karat.votes.em import State, fit_point, log_likelihood, starting_state
from karat.votes.tables import VoteTable

__all__ = [
    "LONE_VOTES",
    "Explanation",
    "blind_proba",
    "clustered_explanation",
    "lone_votes_explanation",
    "rival_explanation",
    "rival_is_close",
]

# The favourite must have this many times the votes of its rival on hard items, or else which of the
# two is right there is open, even where votes do not show hard items beyond doubt.
_CLOSE = 1.5
# Where fewer of the votes for a class have half of the other voters with them, voters who see a
# rare class may be right and those who miss it wrong, though the consensus says the reverse.
_BACKED = 0.5
LONE_VOTES = "votes for a class are right even where they stand alone"


@dataclass(frozen=True, slots=True)
class Explanation:
    """One explanation of the votes: how often each voter is wrong, and what the labels are."""

    name: str
    rates: FloatArray  # voters
    label_proba: FloatArray  # patterns × classes
    moved: float  # how far it moves the error rates, on average
    competes: bool = True  # whether it can make the rates not identified, or widens limits only


def rival_labels(problem: Problem, component_proba: FloatArray) -> FloatArray:
    """Return the labels if, on hard items, the runner-up is right and not the favourite.

    A model with easy and hard items may swap the classes of its hard components and predict every
    vote as before: only the prior, that voters are mostly right, speaks against it. So what the
    votes leave open is whether the favourite or its strongest rival is right on hard items.
    Items with a gold label stay as they are.
    """
    table = problem.table
    proba = class_proba(problem, component_proba)
    hard = component_proba.reshape(len(proba), table.n_classes, -1)[:, :, 1].sum(axis=1)
    hard = np.where(table.gold >= 0, 0.0, hard)[:, None]
    rows = np.arange(len(proba))
    votes = table.vote_shares()
    votes[rows, proba.argmax(axis=1)] = -1
    rival = np.zeros_like(proba)
    rival[rows, votes.argmax(axis=1)] = 1.0
    return np.asarray((1 - hard) * proba + hard * rival)


def rival_is_close(problem: Problem, draws: Draws) -> bool:
    """Whether, on hard items, the favourite of some chain has few votes more than its rival."""
    table = problem.table
    rows = np.arange(table.n_patterns)
    for component_proba in draws.label_proba:
        proba = class_proba(problem, component_proba)
        hard = component_proba.reshape(len(rows), table.n_classes, -1)[:, :, 1].sum(axis=1)
        votes = table.vote_shares()
        favourite = votes[rows, proba.argmax(axis=1)].copy()
        votes[rows, proba.argmax(axis=1)] = -1
        weight = hard * table.count
        if weight @ favourite < _CLOSE * (weight @ votes.max(axis=1)):
            return True
    return False


def rival_explanation(problem: Problem, draws: Draws) -> tuple[Explanation, FloatArray]:
    """Return the explanation that the favourite is wrong on hard items, and its shifts by chain.

    Chains may sit on modes of their own, whose average would be none of them; the explanation is
    that of the chain whose rates move most.
    """
    shifts, labels = [], []
    for proba, state in zip(draws.label_proba, draws.last_states, strict=True):
        share = _share_left_open(problem, state)
        known = class_proba(problem, proba)
        labels.append(share * rival_labels(problem, proba) + (1 - share) * known)
        before = labelled_errors(problem.table, known)
        moved_by = labelled_errors(problem.table, labels[-1]) - before
        shifts.append(np.nan_to_num(moved_by))  # a voter that cast no vote is not moved
    moved = [_mean_shift(problem.table, shift) for shift in shifts]
    most = int(np.argmax(moved))
    rates = np.clip(draws.rates[most].mean(axis=0) + shifts[most], 0, 1)
    name = "the favourite is wrong on the hard items"
    return Explanation(name, rates, labels[most], moved[most]), np.array(shifts)


def _share_left_open(problem: Problem, state: State) -> float:
    """Return the largest share of hard items on which the favourite may be wrong.

    All of them without gold labels on hard items; with some, what these allow.
    """
    table = problem.table
    labelled = table.gold >= 0
    if not labelled.any():
        return 1.0
    proba = _blind(problem, state)[labelled]
    favourite = class_proba(problem, proba).argmax(axis=1)
    hard = proba.reshape(len(proba), table.n_classes, -1)[:, :, 1].sum(axis=1)
    weight = hard * table.count[labelled]
    right = float(weight[favourite == table.gold[labelled]].sum())
    return _largest_share(float(weight.sum()) - right, right)


def _blind(problem: Problem, state: State) -> FloatArray:
    """Return P(component) of every pattern from its votes, as if none had a gold label."""
    return log_likelihood(replace(problem, table=problem.table.without_gold()), state)[1]


def _largest_share(wrong: float, right: float) -> float:
    """Return the upper 97.5 % limit of a share, from a uniform prior; 1 if nothing was seen."""
    return float(betaincinv(1 + wrong, 1 + right, 0.975)) if wrong + right > 1 else 1.0


def blind_proba(problem: Problem, draws: Draws) -> FloatArray:
    """Return P(class) of every pattern from its votes, as if none had a gold label."""
    states = draws.last_states
    each = [class_proba(problem, _blind(problem, state)) for state in states]
    return np.asarray(np.mean(each, axis=0))


def clustered_explanation(
    table: VoteTable, parent: IntArray, mean: FloatArray, consensus: FloatArray
) -> Explanation:
    """Return the explanation in which voters that copy one another have one vote together.

    ``mean`` and ``consensus`` are the rates and the blind label probabilities of the models. Gold
    labels on items on which the two disagree limit how far this explanation may hold.
    """
    root = np.arange(table.n_voters)
    for _ in range(table.n_voters):
        above = np.where(parent[root] >= 0, parent[root], root)
        if (above == root).all():
            break
        root = above
    together = _one_vote_each(table.heard, np.unique(root, return_inverse=True)[1])
    few = build_problem(Model("clusters"), together)
    state, _, proba = fit_point(few, starting_state(few, together.vote_shares()))
    mine = consensus.argmax(axis=1)
    theirs = _blind(few, state).argmax(axis=1)
    decisive = table.count * ((table.gold >= 0) & (mine != theirs))
    share = _largest_share(
        float(decisive[theirs == table.gold].sum()), float(decisive[mine == table.gold].sum())
    )
    name = "voters who copy one another have one vote together"
    return _shared_out(table, name, mean, proba, share)


def lone_votes_explanation(
    table: VoteTable, mean: FloatArray, consensus: FloatArray
) -> Explanation | None:
    """Return the explanation in which votes for a class are right though they stand alone.

    Only of two classes, and only where the votes for one of them mostly stand alone: the consensus
    then takes them for false alarms, and as well may the others have missed that class. Gold labels
    on items on which the two disagree limit how far this explanation may hold. It widens the
    limits, and does not compete: whether a class is rare or seldom seen, votes never show.
    """
    shared = np.nan_to_num(backing(table), nan=1.0)
    if table.n_classes != 2 or shared.min() >= _BACKED:
        return None
    rare = int(shared.argmin())
    seen = table.vote_shares()[:, rare] > 0
    proba = np.where(seen[:, None], np.eye(2)[rare], consensus)
    decisive = table.count * ((table.gold >= 0) & seen & (consensus.argmax(axis=1) != rare))
    share = _largest_share(
        float(decisive[table.gold == rare].sum()), float(decisive[table.gold != rare].sum())
    )
    return replace(_shared_out(table, LONE_VOTES, mean, proba, share), competes=False)


def _shared_out(
    table: VoteTable, name: str, mean: FloatArray, proba: FloatArray, share: float
) -> Explanation:
    """Return the explanation that holds on a share of the items, as far as gold labels allow."""
    rates = mean + share * np.nan_to_num(labelled_errors(table, proba) - mean)
    return Explanation(name, rates, proba, _mean_shift(table, rates - mean))


def _one_vote_each(table: VoteTable, cluster: IntArray) -> VoteTable:
    """Return the votes of clusters: what most of a cluster says; a tie is no vote."""
    cast = table.outcome < table.n_classes
    n = int(cluster.max()) + 1
    key = table.pattern_of_vote[cast] * n + cluster[table.voter[cast]]
    ballot, at = np.unique(key, return_inverse=True)
    votes = np.zeros((len(ballot), table.n_classes))
    np.add.at(votes, (at, table.outcome[cast]), 1.0)
    top = np.sort(votes, axis=1)
    decided = top[:, -1] > top[:, -2]
    pattern, voter = np.divmod(ballot[decided], n)
    return replace(
        table,
        start=np.searchsorted(pattern, np.arange(table.n_patterns + 1)).astype(np.int64),
        voter=voter.astype(np.int64),
        outcome=votes[decided].argmax(axis=1).astype(np.int64),
        n_voters=n,
        n_outcomes=table.n_classes,
    )


def _mean_shift(table: VoteTable, shift: FloatArray) -> float:
    """Return the average size of a shift over the votes cast."""
    voted = table.votes_cast > 0
    return float(np.average(np.abs(shift[voted]), weights=table.votes_cast[voted]))
