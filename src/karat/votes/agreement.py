"""How voters vote together: observed, as a model implies it, and who may copy whom.

`shared_votes` counts the items that pairs of voters have in common. An `Agreement` sets an observed
share beside the implied one: `agreement_of_states` takes it from the parameters of a model,
`agreement_of_posterior` from P(Y | votes) of any label model and independence given the truth.
`copying_forest` finds voters that agree more than their errors allow, `near_copies` those that say
the same so often that together they are one vote, and `unseen_copies` those that may be copies and
share too few items to tell. `backing` says how far the votes for a class are shared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from karat._typing import AnyArray, BoolArray, FloatArray, IntArray
from karat.statistics.patterns import outcome_counts, outcomes_of
from karat.votes.em import (
    ListedProblem,
    State,
    TableProblem,
    VoteLaw,
    fit_point,
    log_likelihood,
    starting_state,
)
from karat.votes.patterns import VoteTable


def backing(table: VoteTable) -> FloatArray:
    """Return for each class the share of its votes that half of the item's other votes share.

    Items with fewer than three votes are left out: two that differ show nothing. NaN where a class
    has no vote on the others.
    """
    heard = table.heard
    cast = heard.outcome < heard.n_classes
    votes = np.zeros((heard.n_patterns, heard.n_classes))
    np.add.at(votes, (heard.pattern_of_vote[cast], heard.outcome[cast]), 1.0)
    total = votes.sum(axis=1, keepdims=True)
    backed = votes - 1.0 >= (total - 1.0) / 2.0
    weight = np.where(total >= 3, votes, 0.0) * heard.count[:, None]
    with np.errstate(invalid="ignore"):
        share: FloatArray = (weight * backed).sum(axis=0) / weight.sum(axis=0)
    return share


# --- Who copies whom: pairs of voters that agree more than their errors allow.

FEW = 10  # voters among whom edges are found by their likelihood
_LEVEL = 0.05  # chance of any false pair if all voters were independent


def copying_forest(problem: TableProblem, state: State, shared: SharedVotes) -> IntArray | None:
    """Return who each voter may copy, or None if no pair agrees too much.

    A pair is tested on each outcome apart, because two voters that copy rare positives agree on
    nearly everything anyway. The pairs that fail, the most significant first, make a forest; the
    most accurate voter of a tree is its root. Of few voters, a pair that copies passes for the
    truth and the others seem to agree too much, so there every edge is tried in turn.
    """
    from scipy.special import ndtri

    if not len(shared.n):
        return None
    z = _excess(problem, state, shared)
    limit = -float(ndtri(_LEVEL / max(1, len(z) * problem.table.n_outcomes)))
    edges = _spanning_forest(z, shared, limit, problem.table.n_voters)
    if not edges:
        return None
    if problem.table.n_heard <= FEW:
        return _search(problem, state)
    return _rooted(edges, voter_errors(problem.law, state))


def voter_errors(law: VoteLaw, state: State) -> FloatArray:
    """Return each voter's chance of being wrong when it votes."""
    full = marginal_confusions(law.parent, state)[:, : law.n_classes]
    spoken = np.einsum("joc,c->j", full, state.weight)
    right = np.take_along_axis(full, law.group[None, None, :], axis=1)[:, 0] @ state.weight
    return np.asarray(1 - right / np.maximum(spoken, 1e-300))


def _search(problem: TableProblem, state: State) -> IntArray | None:
    """Return the forest that grows by the edge with the largest gain while that is significant."""
    from scipy.special import chdtri

    table, voters = problem.table, problem.table.n_voters
    parent = np.full(voters, -1)
    reached = float(table.count @ log_likelihood(problem, state)[0])
    pairs = voters * (voters - 1) / 2
    wanted = 0.5 * float(chdtri(1, _LEVEL / pairs))  # of a likelihood ratio, by Bonferroni
    while True:
        best = (reached + wanted, parent, state)
        errors = voter_errors(replace(problem.law, parent=parent), state)
        for i, j in combinations(np.argsort(errors, kind="stable").tolist(), 2):
            if parent[j] < 0 and _root(parent, i) != j:
                grown = parent.copy()
                grown[j] = i
                best = max(best, _fit_with(problem, grown, (i, j)), key=lambda found: found[0])
        if best[1] is parent:
            return parent if (parent >= 0).any() else None
        reached, parent, state = best


def _fit_with(
    problem: TableProblem, parent: IntArray, pair: tuple[int, int]
) -> tuple[float, IntArray, State]:
    """Fit a forest from a start in which the two voters of a new edge count half."""
    table = problem.table
    half = np.where(np.isin(np.arange(table.n_voters), pair), 0.5, 1.0)
    copying = ListedProblem.of(table, replace(problem.law, parent=parent))
    start = starting_state(copying, table.vote_shares(half))
    state, value, _ = fit_point(copying, start, max_iter=50, tol=1e-5)
    return float(table.count @ value), parent, state


def _root(parent: IntArray, voter: int) -> int:
    while parent[voter] >= 0:
        voter = int(parent[voter])
    return voter


def _excess(problem: TableProblem, state: State, shared: SharedVotes) -> FloatArray:
    """Return, per pair, the largest excess of equal votes over the outcomes, in errors."""
    best = np.full(len(shared.n), -np.inf)
    for o in range(problem.table.n_outcomes):
        rows = state.theta[:, o]
        expected = np.zeros(len(shared.n))
        for c, weight in enumerate(state.weight):
            expected += weight * rows[shared.first, c] * rows[shared.second, c]
        # The 1 keeps an outcome that is hardly expected from failing on a single item.
        error = np.sqrt(shared.n * expected * (1 - expected) + 1)
        best = np.maximum(best, (shared.both[:, o] - shared.n * expected) / error)
    return best


def _spanning_forest(
    z: FloatArray, shared: SharedVotes, limit: float, voters: int
) -> list[tuple[int, int]]:
    """Return the strongest pairs that close no circle (Kruskal)."""
    tree = np.arange(voters)
    edges = []
    for at in np.argsort(-z, kind="stable"):
        if z[at] < limit:
            break
        i, j = int(shared.first[at]), int(shared.second[at])
        if tree[i] != tree[j]:
            tree[tree == tree[j]] = tree[i]
            edges.append((i, j))
    return edges


def _rooted(edges: list[tuple[int, int]], errors: FloatArray) -> IntArray:
    """Point every edge away from the most accurate voter of its tree."""
    near: dict[int, list[int]] = {}
    for i, j in edges:
        near.setdefault(i, []).append(j)
        near.setdefault(j, []).append(i)
    parent = np.full(len(errors), -1)
    seen: set[int] = set()
    for root in np.argsort(errors, kind="stable").tolist():
        if root in seen or root not in near:
            continue
        seen.add(root)
        waiting = [root]
        while waiting:
            at = waiting.pop()
            for other in near[at]:
                if other not in seen:
                    seen.add(other)
                    parent[other] = at
                    waiting.append(other)
    return parent


# --- Agreement of voters beside what the parameters of a model imply.


def agreement_of_states(
    parent: IntArray | None, states: Sequence[State], shared: SharedVotes
) -> Agreement:
    """Compare the pairs with what the states expect; z counts the uncertainty of both."""
    expected = np.array([_expected(parent, state, shared) for state in states])
    mean, spread = expected.mean(axis=0), expected.var(axis=0)
    observed = shared.same / shared.n
    error = np.sqrt(mean * (1 - mean) / shared.n + spread + 1e-12)
    return Agreement(
        shared.first, shared.second, shared.n, observed, mean, (observed - mean) / error
    )


def parents_first(parent: IntArray) -> IntArray:
    """Return the voters such that each comes after the one it copies."""
    depth = np.zeros(len(parent), dtype=np.int64)
    for j in range(len(parent)):
        at = parent[j]
        while at >= 0:
            depth[j] += 1
            at = parent[at]
    return np.argsort(depth, kind="stable")


def marginal_confusions(parent: IntArray | None, state: State) -> FloatArray:
    """Return P(outcome | component) of each voter, whether it copies or not."""
    if parent is None:
        return state.theta
    full = state.theta.copy()
    for j in parents_first(parent):
        above = parent[j]
        if above >= 0:
            kappa = state.copied[j]
            full[j] = kappa * full[above] + (1 - kappa) * full[j]
    return full


def _expected(parent: IntArray | None, state: State, shared: SharedVotes) -> FloatArray:
    """Return P(two voters say the same).

    Given the component, votes are independent but for copying. If both voters copy all the way
    up to a common ancestor they say the same for sure; that event adds q·(1 − P(the ancestor
    would agree with an independent copy of itself)), with q the chance of all that copying.
    """
    full = marginal_confusions(parent, state)
    value = np.zeros(len(shared.first))
    for c, weight in enumerate(state.weight):
        rows = full[:, :, c]
        value += weight * np.einsum("po,po->p", rows[shared.first], rows[shared.second])
    if parent is None or (parent < 0).all():
        return value
    alone = np.einsum("joc,joc,c->j", full, full, state.weight)
    lines = [_line(parent, state.copied, j) for j in range(len(parent))]
    for at, (i, j) in enumerate(zip(shared.first, shared.second, strict=True)):
        common = next((node for node in lines[i] if node in lines[j]), None)
        if common is not None:
            value[at] += lines[i][common] * lines[j][common] * (1 - alone[common])
    return value


def _line(parent: IntArray, copied: FloatArray, voter: int) -> dict[int, float]:
    """Return the voter and its ancestors, with the chance that it copied up to each."""
    chance, line, at = 1.0, {}, int(voter)
    while at >= 0:
        line[at] = chance
        chance *= float(copied[at])
        at = int(parent[at])
    return line


# --- Observed against implied: how labelers vote together if they err independently given Y.
#
# Everything here is a function of the pattern shares f_z and of P(Y | z). Standard errors come from
# the influence of one more item of pattern z on the difference, P(Y | z) held fixed.


class LabelerTable(NamedTuple):
    """What the model says of each labeler.

    ``asked[j, y] = P(j is asked, Y=y)``, ``mass[j, y] = P(j votes, Y=y)``,
    ``given[j, y, c] = P(Z_j=c | j votes, Y=y)``, ``accuracy[j] = P(Z_j=Y | j votes)``,
    ``chance[j]`` the same for votes that ignore the truth, ``lead_error`` the standard error of
    their difference.
    """

    prior: FloatArray
    asked: FloatArray
    mass: FloatArray
    given: FloatArray
    accuracy: FloatArray
    chance: FloatArray
    lead_error: FloatArray


class _Comparison(NamedTuple):
    """A share of ``base`` items, observed and implied, and the standard error of the difference."""

    observed: float
    expected: float
    error: float
    base: float

    @property
    def z(self) -> float:
        """The difference in standard errors, after half an item for continuity."""
        if self.base == 0 or self.error == 0:
            return 0.0
        gap = self.observed - self.expected
        size = max(abs(gap) - 0.5 / self.base, 0.0)
        return float(np.sign(gap) * size / self.error)


def labelers(codes: IntArray, share: FloatArray, proba: FloatArray, n: float) -> LabelerTable:
    """Return confusions and accuracies implied by P(Y | z)."""
    k = proba.shape[1]
    prior = share @ proba
    outcomes = outcome_counts(codes, proba * share[:, None])
    votes = outcomes[:, :, :k]
    mass = votes.sum(axis=2)
    given = votes / np.where(mass > 0, mass, 1.0)[:, :, None]
    figures = [_lead(codes[:, j], share, proba, prior, n) for j in range(codes.shape[1])]
    accuracy, chance, error = (np.array(values) for values in zip(*figures, strict=True))
    return LabelerTable(prior, outcomes.sum(axis=2), mass, given, accuracy, chance, error)


def _lead(
    code: IntArray, share: FloatArray, proba: FloatArray, prior: FloatArray, n: float
) -> tuple[float, float, float]:
    """Return accuracy, chance and the standard error of the difference, for one labeler."""
    voted = code >= 0
    cover = float(share @ voted)
    if cover == 0:
        return 0.0, 0.0, 0.0
    at = np.maximum(code, 0)
    right = np.where(voted, proba[np.arange(len(code)), at], 0.0)
    accuracy = float(share @ right) / cover
    votes = np.bincount(at, weights=share * voted, minlength=len(prior)) / cover
    chance = float(votes @ prior)
    lead = (right - voted * accuracy) / cover - voted * (prior[at] - chance) / cover
    lead -= proba @ votes - chance
    return accuracy, chance, float(np.sqrt(share @ lead**2 / n))


def agreement_of_posterior(
    codes: IntArray, share: FloatArray, proba: FloatArray, table: LabelerTable, n: float
) -> tuple[Agreement, Agreement]:
    """Compare, for every pair of labelers, votes with what P(Y | z) and independence imply.

    First how often the two agree where both vote, then how often both vote where both are asked.
    """
    pairs = list(combinations(range(codes.shape[1]), 2))
    found = [_compare(pair, codes, share, proba, table, n) for pair in pairs]
    who = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return _agreement_of(who, [pair[0] for pair in found]), _agreement_of(
        who, [pair[1] for pair in found]
    )


def _agreement_of(who: IntArray, found: list[_Comparison]) -> Agreement:
    rows = [(c.base, c.observed, c.expected, c.z) for c in found]
    return Agreement(*who, *np.array(rows, dtype=np.float64).reshape(-1, 4).T)


def _compare(
    pair: tuple[int, int],
    codes: IntArray,
    share: FloatArray,
    proba: FloatArray,
    table: LabelerTable,
    n: float,
) -> tuple[_Comparison, _Comparison]:
    k = proba.shape[1]
    a, b = (outcomes_of(codes[:, j], k) for j in pair)
    cell = a * (k + 2) + b
    counted = np.bincount(cell, weights=share, minlength=(k + 2) ** 2)
    joint = np.asarray(counted, dtype=np.float64).reshape(k + 2, k + 2)
    vote, ask = (np.where((a < most) & (b < most), share, 0.0) for most in (k, k + 1))
    both, asked = (np.einsum("z,zy->y", some, proba) for some in (vote, ask))
    here = _Pair(cell, joint, both, asked, share, proba, n)
    return _agreement(pair, here, table), _covote(pair, here, table)


class _Pair(NamedTuple):
    """Both outcomes of each pattern as one number, and the shares of these numbers.

    ``both[y]`` is P(both vote, y) and ``asked[y]`` is P(both are asked, y).
    """

    cell: IntArray
    joint: FloatArray
    both: FloatArray
    asked: FloatArray
    share: FloatArray
    proba: FloatArray
    n: float

    def variance(self, constant: FloatArray, slope: FloatArray) -> float:
        """Return the mean square of ``constant[a, b] + slope[a, b] · P(Y | z)``."""
        influence = constant.ravel()[self.cell]
        steep = slope.reshape(-1, slope.shape[-1])[self.cell]
        influence = influence + np.einsum("zy,zy->z", self.proba, steep)
        return float(np.einsum("z,z,z->", self.share, influence, influence))


def _agreement(pair: tuple[int, int], here: _Pair, table: LabelerTable) -> _Comparison:
    """Implied: Σ_y P(y | both vote) Σ_c P(Z_i=c | i votes, y) P(Z_j=c | j votes, y)."""
    i, j = pair
    k = len(table.prior)
    base = float(here.joint[:k, :k].sum())
    if base <= 0:
        return _Comparison(0.0, 0.0, 0.0, 0.0)
    observed = float(here.joint[:k, :k].trace()) / base
    match = (table.given[i] * table.given[j]).sum(axis=1)
    expected = float(here.both @ match) / base
    constant = np.zeros((k + 2, k + 2))
    constant[:k, :k] = (np.eye(k) - observed + expected) / base
    slope = np.zeros((k + 2, k + 2, k))
    slope[:k, :k] -= match / base
    # What one more vote of a labeler does to its confusion, and so to the implied agreement.
    slope[:k] -= _pull(here.both / base, table.mass[i], table.given[j], match)[:, None, :]
    slope[:, :k] -= _pull(here.both / base, table.mass[j], table.given[i], match)[None, :, :]
    variance = here.variance(constant, slope)
    error = _error(expected, here.n * base, variance, here.n)
    return _Comparison(observed, expected, error, here.n * base)


def _pull(
    classes: FloatArray, mass: FloatArray, other: FloatArray, match: FloatArray
) -> FloatArray:
    """Return (vote, y): the slope of the implied agreement in P(y | z) of one more such vote."""
    scale = np.where(mass > 0, classes / np.where(mass > 0, mass, 1.0), 0.0)
    return np.asarray((other - match[:, None]).T * scale)


def _covote(pair: tuple[int, int], here: _Pair, table: LabelerTable) -> _Comparison:
    """Implied: Σ_y P(y | both asked) P(i votes | i asked, y) P(j votes | j asked, y)."""
    k, asked = len(table.prior), np.s_[: len(table.prior) + 1]
    base = float(here.asked.sum())
    if base <= 0:
        return _Comparison(0.0, 0.0, 0.0, 0.0)
    first, second = (_ratio(table.mass[j], table.asked[j]) for j in pair)
    observed = float(here.joint[:k, :k].sum()) / base
    expected = float((here.asked * first * second).sum()) / base
    constant = np.zeros((k + 2, k + 2))
    constant[asked, asked] = (expected - observed) / base
    constant[:k, :k] += 1.0 / base
    slope = np.zeros((k + 2, k + 2, k))
    slope[asked, asked] -= first * second / base
    # What one more item of a labeler does to how often it votes, and so to the implied share.
    pull, push = (_ratio(here.asked, table.asked[j]) / base for j in pair)
    slope[asked] += pull * first * second
    slope[:, asked] += push * first * second
    slope[:k] -= pull * second
    slope[:, :k] -= push * first
    error = _error(expected, here.n * base, here.variance(constant, slope), here.n)
    return _Comparison(observed, expected, error, here.n * base)


def _ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    return np.where(whole > 0, part / np.where(whole > 0, whole, 1.0), 0.0)


def _error(expected: float, base: float, variance: float, n: float) -> float:
    """Return the standard error of observed − expected.

    By the influence of an item; where few items are expected on one side, too few for it, no less
    than that of a binomial share.
    """
    variance /= n
    if base * min(expected, 1 - expected) < 10:
        variance = max(variance, expected * (1 - expected) / base)
    return float(np.sqrt(max(variance, 0.0)))


# --- How often two voters voted on the same items, and how often they said the same.

_SHARED_ITEMS = 20  # pairs with fewer items in common say little


class SharedVotes(NamedTuple):
    """Pairs of voters with enough items in common, and how often they said the same."""

    first: IntArray
    second: IntArray
    n: FloatArray
    both: FloatArray  # pairs × outcomes: how often both said this

    @property
    def same(self) -> FloatArray:
        """Number of equal votes of each pair."""
        return np.asarray(self.both.sum(axis=1))


class Agreement(NamedTuple):
    """A share of the items of each pair of voters, observed and as a model implies it.

    ``n`` is the number of items that the share is of, ``z`` the difference in standard errors.
    """

    first: IntArray
    second: IntArray
    n: FloatArray
    observed: FloatArray
    expected: FloatArray
    z: FloatArray


def shared_votes(table: VoteTable, at_least: float = _SHARED_ITEMS) -> SharedVotes:
    """Count, for every pair of voters, the items both voted on and the votes in common."""
    pattern = table.pattern_of_vote
    shape = (table.n_patterns, table.n_voters)
    root = np.sqrt(table.count)[pattern]

    def in_common(where: Any) -> Any:
        said = ballots(root[where], pattern[where], table.voter[where], shape)
        return said.T @ said

    first, second, n = _pairs(in_common(slice(None)), at_least)
    both = np.zeros((len(first), table.n_outcomes))
    if len(first):
        for o in range(table.n_outcomes):
            both[:, o] = np.asarray(in_common(table.outcome == o)[first, second]).ravel()
    return SharedVotes(first, second, n, both)


def _pairs(common: Any, at_least: float) -> tuple[IntArray, IntArray, FloatArray]:
    """Return the pairs of a plain or a sparse matrix with enough items, and their items."""
    if isinstance(common, np.ndarray):
        enough = (common >= at_least - 1e-9) & (common > 0)
        first, second = np.nonzero(np.triu(enough, 1))
        return first, second, np.asarray(common[first, second])
    from scipy import sparse

    shared = sparse.triu(common, 1, format="coo")
    kept = np.flatnonzero(shared.data >= at_least - 1e-9)
    kept = kept[np.lexsort((shared.col[kept], shared.row[kept]))]  # in the order of a plain matrix
    first, second = (at[kept].astype(np.int64) for at in (shared.row, shared.col))
    return first, second, shared.data[kept]


# --- Near copies: voters that say the same so often that together they are one vote.

_SHARED = 40  # items that two voters must share before they can be called copies
_FEWEST = 10  # items on which agreement throughout says something
_PART = 0.25  # of all items that two voters must share for their agreement to bear on the panel
_BLOCK = 0.85  # κ with the medoid from which a voter may belong to its block
_SPARE = 0.05  # κ of two outside voters below which they say nothing of a third
_COPIED = 0.8  # share of the agreement beyond chance and beyond being right that makes a copy
_QUARTILE = 0.75  # of R over outside pairs: pairs that err together make R too small
_ALONE = 0.9  # κ that makes a copy where too few others vote to tell copies from good voters


class Kappas(NamedTuple):
    """Cohen's κ of pairs of voters, dense over the voters who have a pair; NaN without one."""

    voters: IntArray
    value: FloatArray


class NearCopies(NamedTuple):
    """Voters who count once together.

    ``blocks`` holds the members of each, the medoid first, which speaks for the block; ``kappa`` is
    the median agreement inside each block, and ``known`` says which blocks were named by a user.
    """

    blocks: tuple[tuple[int, ...], ...]
    kappa: tuple[float, ...]
    known: tuple[bool, ...]

    def distinct(self, n_voters: int) -> int:
        """Return how many voters there are once every block counts as one."""
        return n_voters - sum(len(block) - 1 for block in self.blocks)


def kappas(table: VoteTable, at_least: float = _SHARED) -> Kappas:
    """Return κ of every pair of voters with enough items in common; abstentions do not count."""
    cast = np.flatnonzero(table.outcome < table.n_classes)
    pattern = table.pattern_of_vote[cast]
    votes = np.bincount(table.voter[cast], weights=table.count[pattern], minlength=table.n_voters)
    voters = np.flatnonzero(votes >= at_least - 1e-9)
    place = np.full(table.n_voters, -1)
    place[voters] = np.arange(len(voters))
    kept = place[table.voter[cast]] >= 0
    cast, pattern = cast[kept], pattern[kept]
    shape = (table.n_patterns, len(voters))
    root = np.sqrt(table.count)[pattern]

    def said_by(which: BoolArray) -> Any:
        at = place[table.voter[cast][which]]
        return ballots(root[which], pattern[which], at, shape)

    def common(one: Any, other: Any) -> FloatArray:
        product = one.T @ other
        return product if isinstance(product, np.ndarray) else np.asarray(product.toarray())

    everything = said_by(np.ones(len(cast), dtype=bool))
    n = common(everything, everything)
    same, chance = np.zeros_like(n), np.zeros_like(n)
    for o in range(table.n_classes):
        said = said_by(table.outcome[cast] == o)
        same += common(said, said)
        share = common(said, everything) / np.maximum(n, 1e-300)  # i says o, shared with j
        chance += share * share.T
    observed = same / np.maximum(n, 1e-300)
    value = np.full(n.shape, np.nan)
    enough = n >= at_least - 1e-9
    # Two voters who always say one and the same thing agree by chance alone: κ is not defined.
    np.divide(observed - chance, 1 - chance, out=value, where=enough & (chance < 1 - 1e-9))
    np.fill_diagonal(value, np.nan)
    return Kappas(voters, value)


def near_copies(table: VoteTable, known: Sequence[Sequence[int]] = ()) -> NearCopies:
    r"""Return the blocks of voters that are copies of one another but for a few votes.

    Good voters agree because both are right, copies beyond that. How often voter i would agree with
    the truth shows in voters k, l outside its block, :math:`R_i = κ_{ik} κ_{il} / κ_{kl}` (upper
    quartile over pairs: k and l that err together make it too small), and a block is one vote where
    its pairs agree beyond :math:`\sqrt{R_i R_j}` by 80 % of what is left.
    Where fewer than two blocks stand outside, nothing tells copies from voters who are all right: κ
    of .9 then makes a copy. ``known`` are blocks that are one vote whatever their votes.
    """
    found = kappas(table)
    blocks = [
        ([int(found.voters[i]) for i in block], kappa)
        for block, kappa in _found_blocks(found.value)
    ]
    return _joined([list(map(int, block)) for block in known], blocks, found)


def unseen_copies(table: VoteTable, copies: NearCopies) -> list[tuple[int, int]]:
    """Return the pairs that agree like copies on too few items to tell whether they are.

    They share fewer items than it takes to look for copies, yet at least ten and a quarter of all
    (in a crowd, where two voters share few of many items, a pair decides nothing).
    """
    least = max(_FEWEST, _PART * float(table.count.sum()))
    if least >= _SHARED:
        return []
    some, many = kappas(table, least), kappas(table)
    looked = np.zeros(some.value.shape, dtype=bool)
    at = np.searchsorted(some.voters, many.voters)  # who has many items has some
    looked[np.ix_(at, at)] = np.isfinite(many.value)
    near = np.triu((np.nan_to_num(some.value, nan=-1.0) >= _BLOCK) & ~looked, 1)
    pairs = [(int(some.voters[i]), int(some.voters[j])) for i, j in np.argwhere(near)]
    blocks = [set(block) for block in copies.blocks]
    return [pair for pair in pairs if not any(block.issuperset(pair) for block in blocks)]


def one_vote_each(table: VoteTable, copies: NearCopies) -> BoolArray:
    """Return which votes count when a block has one: of the members who vote, the first."""
    counts = np.ones(len(table.voter), dtype=bool)
    pattern = table.pattern_of_vote
    for block in copies.blocks:
        rank = np.full(table.n_voters, len(block))
        rank[list(block)] = np.arange(len(block))
        mine = np.flatnonzero(rank[table.voter] < len(block))
        best = np.full(table.n_patterns, len(block))
        np.minimum.at(best, pattern[mine], rank[table.voter[mine]])
        counts[mine] = rank[table.voter[mine]] == best[pattern[mine]]
    return counts


def _found_blocks(kappa: FloatArray) -> list[tuple[list[int], float]]:
    """Return the blocks of two voters or more that pass the test, with their median κ."""
    near = np.nan_to_num(kappa, nan=-1.0) >= _BLOCK
    if not near.any():
        return []
    groups = _groups(kappa, near)
    label = np.empty(len(kappa), dtype=np.int64)
    for g, group in enumerate(groups):
        label[group] = g
    passed = []
    for g, group in enumerate(groups):
        if len(group) < 2:
            continue
        inside = kappa[np.ix_(group, group)]
        excess = _excess_of_pair(kappa, group, label, g)
        median = float(np.nanmedian(inside))
        if (np.isnan(excess) and median >= _ALONE) or excess >= _COPIED:
            passed.append((group, median))
    return passed


def _groups(kappa: FloatArray, near: BoolArray) -> list[list[int]]:
    """Return medoids with all voters near them, the largest groups first; every voter is in one."""
    free = np.ones(len(kappa), dtype=bool)
    closeness = np.nansum(np.where(near, kappa, 0.0), axis=1)
    groups = []
    while free.any():
        size = np.where(free, (near & free).sum(axis=1), -1)
        best = np.flatnonzero(size == size.max())
        medoid = int(best[np.argmax(closeness[best])])
        others = np.flatnonzero(near[medoid] & free)
        others = others[np.argsort(-kappa[medoid, others], kind="stable")]
        group = [medoid, *(int(j) for j in others if j != medoid)]
        free[group] = False
        groups.append(group)
    return groups


def _excess_of_pair(kappa: FloatArray, group: list[int], label: IntArray, g: int) -> float:
    """Return the median share of agreement that being right does not explain; NaN if unknown."""
    outside = np.flatnonzero(label != g)
    if len(np.unique(label[outside])) < 2:
        return float("nan")
    among = kappa[np.ix_(outside, outside)]
    use = (label[outside][:, None] < label[outside][None, :]) & (np.nan_to_num(among) > _SPARE)
    k, m = np.nonzero(use)
    if not len(k):
        return float("nan")
    right = np.full(len(group), np.nan)
    for at, i in enumerate(group):
        ratio = kappa[i, outside[k]] * kappa[i, outside[m]] / among[k, m]
        if np.isfinite(ratio).any():
            right[at] = np.clip(np.nanquantile(ratio, _QUARTILE), 0.0, 0.999)
    both = np.sqrt(np.outer(right, right))
    upper = np.triu_indices(len(group), 1)
    share = ((kappa[np.ix_(group, group)] - both) / (1 - both))[upper]
    return float(np.nanmedian(share)) if np.isfinite(share).any() else float("nan")


def _joined(
    known: list[list[int]], found: list[tuple[list[int], float]], kappa: Kappas
) -> NearCopies:
    """Put families and the blocks that were found together; those that share a voter are one."""
    parts = [(list(dict.fromkeys(block)), True) for block in known if len(set(block)) > 1]
    parts += [(block, False) for block, _ in found]
    joined: list[tuple[list[int], bool]] = []
    for block, named in parts:
        touching = [one for one in joined if set(one[0]) & set(block)]
        joined = [one for one in joined if one not in touching]
        everyone = list(dict.fromkeys([*(j for one, _ in touching for j in one), *block]))
        joined.append((everyone, named or any(was for _, was in touching)))
    place = {int(j): at for at, j in enumerate(kappa.voters)}
    blocks, median = [], []
    for block, _ in joined:
        inside = np.full((len(block), len(block)), np.nan)
        at = [place.get(j, -1) for j in block]
        seen = [i for i, a in enumerate(at) if a >= 0]
        inside[np.ix_(seen, seen)] = kappa.value[
            np.ix_([at[i] for i in seen], [at[i] for i in seen])
        ]
        # The medoid speaks for the block; of a family that shares too few items, the first named.
        lead = np.argsort(-np.nan_to_num(inside).sum(axis=1), kind="stable")
        blocks.append(tuple(block[i] for i in lead))
        median.append(float(np.nanmedian(inside)) if np.isfinite(inside).any() else float("nan"))
    return NearCopies(tuple(blocks), tuple(median), tuple(named for _, named in joined))


# Entries of a matrix, and of a product, that take less time than to make a sparse matrix.
_FEW = 10_000


def ballots(weight: FloatArray, pattern: AnyArray, voter: AnyArray, shape: tuple[int, int]) -> Any:
    """Return a matrix with a weight for each vote: a plain array if it is small, else a sparse one.

    With the root of a pattern's count as weight, ``one.T @ other`` counts items by pairs of voters.
    """
    if max(shape) * shape[1] <= _FEW:
        spot = pattern * shape[1] + voter
        return np.bincount(spot, weight, shape[0] * shape[1]).astype(np.float64).reshape(shape)
    from scipy import sparse

    return sparse.csr_matrix((weight, (pattern, voter)), shape=shape)
