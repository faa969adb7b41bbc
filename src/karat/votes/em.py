"""One expectation–maximisation for all models of votes.

A `VoteLaw` says how votes depend on the component of an item (a class, or a class and a
difficulty) and finds its best parameters, a `State`, for expected counts. A design says which
cells of the law each pattern of votes looks up: `Blocks` for a matrix of few labelers, in NumPy;
`Sparse` for many labelers that mostly abstain, and for gold labels; `Listed` for lists of votes
with copies and gold labels, compiled. `run_em` climbs, accelerated, until the estimated gain that
is left is small.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, NamedTuple, Protocol, Self, TypeVar

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.statistics.patterns import distinct_votes, outcomes_of, safe_log
from karat.votes.patterns import VoteTable


class TableProblem(Protocol):
    """A table of votes and the law that is fitted to it."""

    @property
    def table(self) -> VoteTable: ...
    @property
    def design(self) -> Listed: ...
    @property
    def law(self) -> VoteLaw: ...


def starting_state(problem: TableProblem, label_proba: FloatArray) -> State:
    """Return the parameters that follow from P(class) of every pattern."""
    law, table = problem.law, problem.table
    known = table.gold >= 0
    proba = label_proba.copy()
    proba[known] = np.eye(table.n_classes)[table.gold[known]]
    if law.levels > 1:
        # What the voters disagree about is hard.
        doubt = 1 - table.vote_shares().max(axis=1)
        hard = (0.1 + 0.8 * doubt / max(doubt.max(), 1e-12))[:, None]
        proba = np.stack([proba * (1 - hard), proba * hard], axis=2).reshape(len(proba), -1)
    blank = np.full((table.n_voters, table.n_outcomes, proba.shape[1]), 1.0 / table.n_outcomes)
    copied = np.zeros(table.n_voters)
    if law.parent is not None:
        copied[law.parent >= 0] = 0.5
    state = State(blank, copied, np.full(proba.shape[1], 1.0 / proba.shape[1]))
    return start_from(problem, state, (proba * table.count[:, None]).T)


def fit_point(
    problem: TableProblem,
    state: State,
    *,
    max_iter: int = 200,
    tol: float = 1e-6,
    stop: threading.Event | None = None,
) -> tuple[State, FloatArray, FloatArray]:
    """Climb from ``state``; return the end with log P(votes) and P(component) of each pattern.

    The climb ends early, wherever it is, when another thread sets ``stop``.
    """
    fit = run_em(problem, state, max_iter=max_iter, tol=tol, rough=True, stop=stop)
    return fit.state, fit.seen.value, fit.seen.proba


def log_likelihood(problem: TableProblem, state: State) -> tuple[FloatArray, FloatArray]:
    """Return log P(votes) and P(component | votes) of every pattern."""
    return problem.design.posterior(problem.law.cells(state), state.weight)


# --- Accelerated expectation–maximisation over vote patterns.

# The longest leap, in EM steps.
_LEAP = 256.0
_NOTHING = float(safe_log(np.zeros(())))


class Expectation(Protocol):
    """What the votes say of the items under some parameters."""

    @property
    def total(self) -> float:
        """The log-likelihood of all items."""

    def counts(self) -> tuple[FloatArray, FloatArray]:
        """Return the expected items (c,) and votes (cells, c)."""


Seen_co = TypeVar("Seen_co", bound=Expectation, covariant=True)


class Design(Protocol[Seen_co]):
    """Which cells each pattern looks up; see `Blocks` and `Listed`."""

    @property
    def items(self) -> float: ...
    def totals(self, mass: FloatArray) -> FloatArray: ...
    def expect(self, cells: FloatArray, weight: FloatArray) -> Seen_co: ...


class Problem(Protocol[Seen_co]):
    """Votes and the law that is fitted to them."""

    @property
    def design(self) -> Design[Seen_co]: ...
    @property
    def law(self) -> VoteLaw: ...


class EmProblem(NamedTuple, Generic[Seen_co]):
    """Votes and the law that is fitted to them, put together by hand."""

    design: Design[Seen_co]
    law: VoteLaw


class EmFit(NamedTuple, Generic[Seen_co]):
    """Where a run ended: ``objective`` is per item, ``gap`` an estimate of what is missing.

    ``seen`` is the expectation at ``state``.
    """

    state: State
    seen: Seen_co
    objective: float
    gap: float
    n_iter: int


def start_from(problem: Problem[Expectation], state: State, mass: FloatArray) -> State:
    """Return the best parameters if the items of each pattern divide into components like mass."""
    return problem.law.maximize(state, mass.sum(axis=1), problem.design.totals(mass))


def em_pass(problem: Problem[Seen_co], state: State) -> tuple[float, Seen_co]:
    """Return the penalised log-likelihood per item at ``state``, and the expectation there."""
    law, design = problem.law, problem.design
    seen = design.expect(law.cells(state), state.weight)
    return (seen.total + law.penalty(state)) / design.items, seen


def _logs(law: VoteLaw, state: State) -> FloatArray:
    """Return the logarithms of all parameters; those of copying as pairs (own, copied)."""
    parts = [state.theta.ravel(), state.weight]
    copies = [1 - state.copied, state.copied] if law.copies else []
    return safe_log(np.concatenate([*parts, *copies]))


def _leap(
    law: VoteLaw, last: State, a: FloatArray, b: FloatArray, c: FloatArray
) -> tuple[State, float]:
    """Return a SQUAREM extrapolation of the logarithms of three iterates, and EM's rate there.

    ``last`` is the third iterate, whose shape the leap has.
    """
    first, second = b - a, c - b
    bend = second - first
    size, turn, gone = (np.sqrt(np.einsum("i,i", d, d)) for d in (first, bend, second))
    step = min(max(1.0, size / max(turn, 1e-300)), _LEAP)
    moved = a + 2 * step * first + step**2 * bend
    # What is zero stays zero: scaled with its row, it would have a part in the next step's length.
    moved[c <= _NOTHING] = -np.inf
    theta, weight, copied = np.split(moved, np.cumsum([last.theta.size, last.weight.size]))
    theta = theta.reshape(last.theta.shape)
    raw = State(
        np.exp(theta - theta.max(axis=1, keepdims=True)),
        last.copied,
        np.exp(weight - weight.max()),
    )
    if law.copies:
        own, copy = copied.reshape(2, -1)
        raw = raw._replace(copied=1 / (1 + np.exp(np.clip(own - copy, -700.0, 700.0))))
    return law.project(raw), float(gone / max(size, 1e-300))


def run_em(
    problem: Problem[Seen_co],
    start: State,
    *,
    max_iter: int,
    tol: float,
    rough: bool = False,
    stop: threading.Event | None = None,
) -> EmFit[Seen_co]:
    """Run accelerated EM until the estimated gain that is left is at most ``tol`` per item.

    One iteration is one pass over the patterns. EM gains at a linear rate r² near its limit, so
    what is left after a gain g is about g / (1 - r²). A ``rough`` run ends where a pass without
    acceleration gains no more than ``tol``, which is enough for starts and comparisons. A ``stop``
    that another thread sets ends the run after the pass that it is in.
    """
    fixed = EmProblem(problem.design, problem.law)  # a design may cost something to make
    step = fixed.law.maximize
    state, gap, used = start, np.inf, 0
    value, seen = em_pass(fixed, state)
    after = step(state, *seen.counts())
    logs, next_logs = _logs(fixed.law, state), _logs(fixed.law, after)
    while used < max_iter and not (stop is not None and stop.is_set()):
        next_value, next_seen = em_pass(fixed, after)
        if rough and next_value - value <= tol:
            return EmFit(after, next_seen, next_value, max(next_value - value, 0.0), used + 1)
        beyond = step(after, *next_seen.counts())
        logs_beyond = _logs(fixed.law, beyond)
        leap, rate = _leap(fixed.law, beyond, logs, next_logs, logs_beyond)
        gap = (next_value - value) / max(1.0 - min(rate, 1.0) ** 2, 1e-3)
        leap_value, leap_seen = em_pass(fixed, leap)
        used += 2
        if leap_value >= next_value:
            state, value, seen, logs = leap, leap_value, leap_seen, _logs(fixed.law, leap)
            after = step(leap, *leap_seen.counts()) if gap > tol else beyond
            next_logs = _logs(fixed.law, after)
        else:
            state, value, seen, after = after, next_value, next_seen, beyond
            logs, next_logs = next_logs, logs_beyond
        if gap <= tol:
            break
    return EmFit(state, seen, value, max(gap, 0.0), used)


# --- What a model says of votes given the component of an item, and its best parameters.

_ABSTAIN = 0.5  # pseudo-votes of an abstention in a row
COPY = (1.0, 2.0)  # pseudo-votes (copied, own) of a voter that may copy another


class State(NamedTuple):
    """Parameters: θ[voter, outcome, component], the rates of copying, P(component)."""

    theta: FloatArray
    copied: FloatArray
    weight: FloatArray


@dataclass(frozen=True, slots=True)
class VoteLaw:
    """P(votes | component), and the pseudo-votes that its parameters are fitted with.

    A component is a class, or a class and a difficulty; ``group`` is its class. A *cell* is an
    entry of the table that a vote looks up: who voted and what and, if voters may copy, whether
    the vote was cast alone, differs from that of the voter's parent or equals it.

    Pseudo-votes are counts that are added to the expected ones: the law's penalty is their
    log-likelihood, so that EM climbs to the most probable parameters under Dirichlet priors whose
    parameters are larger by one.

    Attributes
    ----------
    group : array (c,)
        Class of each component.
    pseudo : array (voters or 1, outcomes, c), or (levels, 2)
        Pseudo-votes of each row; with ``one_rate`` (wrong, right) at each difficulty.
    weight_pseudo : array (c,)
        Pseudo-items of each component.
    one_rate : bool
        Whether a voter errs on all classes at one rate, spread evenly over the wrong classes.
    weight : array (c,) or None
        P(component) where it is known.
    coverage : array (voters,) or None
        How often each voter votes when asked, if an abstention does not depend on the class.
    parent : array (voters,) or None
        The voter that each may copy, -1 for nobody.
    """

    group: IntArray
    pseudo: FloatArray
    weight_pseudo: FloatArray
    one_rate: bool = False
    weight: FloatArray | None = None
    coverage: FloatArray | None = None
    parent: IntArray | None = None

    @classmethod
    def of_confusions(
        cls,
        n_classes: int,
        n_outcomes: int,
        shares: Sequence[tuple[float, float]] = ((1.0, 2.0),),
        parent: IntArray | None = None,
    ) -> Self:
        """Return the law of voters with a row of their own in each component.

        ``shares`` holds the pseudo-votes (on all wrong classes together, on the right one) at each
        difficulty. Voters are better than chance before any vote is seen, which is all that tells
        a labelling from its mirror image.
        """
        group = np.repeat(np.arange(n_classes), len(shares))
        pseudo = np.empty((n_outcomes, len(group)))
        for c, right_class in enumerate(group):
            wrong, right = shares[c % len(shares)]
            pseudo[:, c] = wrong / (n_classes - 1)
            pseudo[right_class, c] = right
        pseudo[n_classes:] = _ABSTAIN
        weight = np.full(len(group), 1.0 / len(shares))
        return cls(group, pseudo[None], weight, parent=parent)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.group[-1]) + 1

    @property
    def levels(self) -> int:
        """Components per class."""
        return len(self.group) // self.n_classes

    @property
    def copies(self) -> bool:
        """Whether any voter may copy another."""
        return self.parent is not None and bool((self.parent >= 0).any())

    def cells(self, state: State) -> FloatArray:
        """Return the probability of every cell in every component: (c, cells)."""
        own = state.theta.transpose(2, 0, 1)
        if not self.copies:
            return own.reshape(len(own), -1)
        kappa = state.copied[:, None]
        rest = (1 - kappa) * own
        return np.stack([own, rest, kappa + rest], axis=1).reshape(len(own), -1)

    def maximize(self, state: State, mass: FloatArray, counts: FloatArray) -> State:
        """Return the best parameters for expected items (c,) and votes (cells, c).

        ``state`` says how an equal vote divides into a copied one and the voter's own.
        """
        shape = state.theta.shape
        size = shape[0] * shape[1]
        own, copied = counts[:size].reshape(shape), state.copied
        if self.copies:
            apart, same = counts.reshape(3, *shape)[1:]
            kappa = copied[:, None, None]
            taken = same * kappa / (kappa + (1 - kappa) * state.theta + 1e-300)
            alone = apart + same - taken
            own = own + alone
            yes, no = taken.sum(axis=(1, 2)) + COPY[0], alone.sum(axis=(1, 2)) + COPY[1]
            copied = self._copied(yes / (yes + no))
        theta = self._even_rows(own) if self.one_rate else self._rows(own + self.pseudo)
        return State(theta, copied, self._weight(mass + self.weight_pseudo))

    def project(self, raw: State) -> State:
        """Return the parameters that are proportional to ``raw``, row by row."""
        return State(self._rows(raw.theta), self._copied(raw.copied), self._weight(raw.weight))

    def penalty(self, state: State) -> float:
        """Return the log-likelihood of the pseudo-votes."""
        value = float((self.weight_pseudo * safe_log(state.weight)).sum())
        if self.copies:
            kappa = state.copied[np.asarray(self.parent) >= 0]
            value += float((COPY[0] * safe_log(kappa) + COPY[1] * safe_log(1 - kappa)).sum())
        if not self.one_rate:
            return value + float((self.pseudo * safe_log(state.theta)).sum())
        spoken = state.theta[:, : self.n_classes, : self.levels].sum(axis=1)  # first class
        right = state.theta[:, 0, : self.levels]
        rates = np.stack([spoken - right, right], axis=2) / spoken[:, :, None]
        value += float((self.pseudo * safe_log(rates)).sum())
        if state.theta.shape[1] > self.n_classes:
            value += float((safe_log(spoken[:, 0]) + safe_log(1 - spoken[:, 0])).sum())
        return value

    def _copied(self, rate: FloatArray) -> FloatArray:
        return rate if self.parent is None else np.where(self.parent >= 0, rate, 0.0)

    def _weight(self, mass: FloatArray) -> FloatArray:
        return np.asarray(mass / mass.sum()) if self.weight is None else self.weight

    def _rows(self, rows: FloatArray) -> FloatArray:
        """Scale rows to sum to 1; with ``coverage``, votes to it and abstention to the rest."""
        if self.coverage is None:
            return _normalized(rows)
        cover = self.coverage[:, None, None]
        abstained = np.broadcast_to(1.0 - cover, (len(rows), 1, rows.shape[2]))
        return np.concatenate([cover * _normalized(rows[:, :-1]), abstained], axis=1)

    def _even_rows(self, own: FloatArray) -> FloatArray:
        """Return rows of one error rate per voter and difficulty, and one rate of abstention."""
        k, levels = self.n_classes, self.levels
        right_vote = np.arange(k)[:, None] == self.group  # outcome × component
        cast = own[:, :k]
        right = (cast * right_vote).sum(axis=1).reshape(len(own), k, levels).sum(axis=1)
        wrong = (cast * ~right_vote).sum(axis=1).reshape(len(own), k, levels).sum(axis=1)
        rate = (self.pseudo[:, 0] + wrong) / (self.pseudo.sum(axis=1) + wrong + right)
        rate = np.tile(rate, k)[:, None, :]  # one per component, classes outermost
        theta = np.where(right_vote, 1 - rate, rate / (k - 1))
        if own.shape[1] == k:
            return theta
        abstained = own[:, k].sum(axis=1)
        # One pseudo-vote each for abstaining and for voting, so that neither rate is 0 or 1.
        share = (1 + abstained) / (2 + abstained + cast.sum(axis=(1, 2)))
        abstains = np.broadcast_to(share[:, None, None], (len(own), 1, own.shape[2]))
        return np.concatenate([theta * (1 - abstains), abstains], axis=1)


def _normalized(rows: FloatArray) -> FloatArray:
    """Scale θ over its outcomes; a row of zeros becomes even."""
    total = np.einsum("voc->vc", rows)[:, None]
    if total.min() > 0:
        return np.asarray(rows / total)
    even = np.full_like(rows, 1.0 / rows.shape[1])
    return np.where(total > 0, rows / np.where(total > 0, total, 1.0), even)


# --- Votes as lists of the cells that each pattern looks up: for crowds, copies and gold labels.

_LEAST = 1e-12  # no probability is smaller, so that the products of 16 of them do not underflow
# Patterns × cells × components up to which dense products are as fast as compiled loops: a small
# table is not worth the second that compiling takes.
_DENSE_LISTS = 1 << 16


@dataclass(frozen=True)
class Listed:
    """The cells of each pattern, one after another; see `VoteTable`.

    Tables of up to ``dense_up_to`` patterns × cells × components are multiplied out by NumPy,
    larger ones go through compiled loops; the numbers are the same.
    """

    table: VoteTable
    cell: IntArray
    group: IntArray
    n_rows: int
    dense_up_to: int = _DENSE_LISTS

    @property
    def items(self) -> float:
        """Number of items."""
        return max(float(self.table.count.sum()), 1.0)

    def totals(self, mass: FloatArray) -> FloatArray:
        """Return the mass (c, patterns) of every cell: (cells, c)."""
        return self.sum_cells(np.ascontiguousarray(mass.T))

    def expect(self, cells: FloatArray, weight: FloatArray) -> ListedExpectation:
        """Return what the votes say of every pattern."""
        return ListedExpectation(self, *self.posterior(cells, weight))

    def posterior(self, cells: FloatArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return log P(votes) and P(component | votes) of every pattern."""
        # In one layout: loops are compiled anew for each.
        cells = np.ascontiguousarray(np.maximum(cells, _LEAST))
        weight = np.ascontiguousarray(np.maximum(weight, _LEAST))
        if self.table.n_patterns * cells.size <= self.dense_up_to:
            return self._dense_posterior(cells, weight)
        from karat.votes._em_loops import pattern_posterior

        return pattern_posterior(
            self.table.start, self.cell, self.table.gold, self.group, cells, weight
        )

    def _dense_posterior(
        self, cells: FloatArray, weight: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        logits = self._votes @ np.log(cells).T + np.log(weight)
        gold = self.table.gold[:, None]
        if gold.max(initial=-1) >= 0:
            logits[(gold >= 0) & (gold != self.group)] = -np.inf
        top = logits.max(axis=1)
        proba = np.exp(logits - top[:, None])
        total = proba.sum(axis=1)
        return top + np.log(total), proba / total[:, None]

    @cached_property
    def _votes(self) -> FloatArray:
        """Patterns × cells: 1 where the pattern has such a vote."""
        votes = np.zeros((self.table.n_patterns, self.n_rows))
        votes[self.table.pattern_of_vote, self.cell] = 1.0
        return votes

    def sum_cells(self, mass: FloatArray) -> FloatArray:
        """Return the mass (patterns, c) of every cell: (cells, c)."""
        if mass.size * self.n_rows <= self.dense_up_to:
            return np.asarray(self._votes.T @ mass)
        from karat.votes._em_loops import cell_totals

        return cell_totals(self.table.start, self.cell, np.ascontiguousarray(mass), self.n_rows)


@dataclass(frozen=True, slots=True)
class ListedExpectation:
    """Log P(votes) and P(component | votes) of every pattern."""

    design: Listed
    value: FloatArray
    proba: FloatArray

    @property
    def total(self) -> float:
        """The log-likelihood of all items."""
        # BLAS would fight over the cores.
        return float(np.einsum("p,p", self.design.table.count, self.value))

    def counts(self) -> tuple[FloatArray, FloatArray]:
        """Return the expected items (c,) and votes (cells, c)."""
        mass = self.proba * self.design.table.count[:, None]
        return np.einsum("pc->c", mass), self.design.sum_cells(mass)


@dataclass(frozen=True, slots=True)
class ListedProblem:
    """A table of votes, a law, and the cells in which the law's parameters are looked up."""

    table: VoteTable
    law: VoteLaw
    design: Listed

    @classmethod
    def of(cls, table: VoteTable, law: VoteLaw, *, dense_up_to: int = _DENSE_LISTS) -> Self:
        """Put a table and a law together; ``dense_up_to`` as in `Listed`."""
        rows = table.n_voters * table.n_outcomes * (3 if law.copies else 1)
        heard = table.heard
        cell = vote_cells(heard, law.parent)
        return cls(table, law, Listed(heard, cell, law.group, rows, dense_up_to))


def vote_cells(table: VoteTable, parent: IntArray | None) -> IntArray:
    """Return the cell of each vote: own, or apart from or equal to the vote of the parent."""
    cell = table.voter * table.n_outcomes + table.outcome
    if parent is None or (parent < 0).all():
        return cell
    block = table.n_voters * table.n_outcomes
    pattern = table.pattern_of_vote
    place = pattern * table.n_voters + table.voter  # ascending: voters are sorted in a pattern
    wanted = pattern * table.n_voters + parent[table.voter]
    at = np.searchsorted(place, wanted).clip(max=len(place) - 1)
    heard = (parent[table.voter] >= 0) & (place[at] == wanted)
    same = table.outcome[at] == table.outcome
    return np.asarray(cell + block * np.where(heard, np.where(same, 2, 1), 0))


# --- Votes of many labelers of whom few speak: only what is unusual is looked up.
#
# Each labeler has a *usual* outcome, the one that most patterns hold: for a rule, that it abstains.
# The logarithms of the usual outcomes are added up once for all patterns, and a pattern corrects
# the sum for the labelers that did something else; so a pass costs as much as there are unusual
# votes.


@dataclass(frozen=True, slots=True)
class Sparse:
    """What each pattern changes in the usual outcomes, as a sparse matrix of patterns × cells.

    A labeler has a cell for each class and, last, for abstention; not being asked has no cell.
    ``usual`` are the cells that are taken for granted, one of each labeler that has such a cell.
    ``change[z, cell]`` is 1 for an unusual outcome of pattern z and -1 for the usual one in its
    place. ``gold`` is the class of a pattern whose items were labelled, -1 otherwise.
    """

    change: Any
    by_cell: Any
    usual: IntArray
    count: FloatArray
    gold: IntArray

    @classmethod
    def of_codes(
        cls, codes: IntArray, count: FloatArray, k: int, gold: IntArray | None = None
    ) -> Self:
        """Find the usual outcomes of a matrix of codes, and list the others."""
        from scipy.sparse import csr_array

        m, outcomes = codes.shape[1], outcomes_of(codes, k)
        usual = usual_outcomes(codes, k)
        pattern, labeler = np.nonzero(outcomes != usual)
        added, dropped = outcomes[pattern, labeler], usual[labeler]
        asked, granted = added <= k, dropped <= k
        cell = (k + 1) * np.concatenate([labeler[asked], labeler[granted]])
        cell += np.concatenate([added[asked], dropped[granted]])
        row = np.concatenate([pattern[asked], pattern[granted]])
        ones = np.repeat([1.0, -1.0], [asked.sum(), granted.sum()])
        change = csr_array((ones, (row, cell)), shape=(len(codes), m * (k + 1)))
        cells = ((k + 1) * np.arange(m) + usual)[usual <= k]
        none = np.full(len(codes), -1) if gold is None else gold
        return cls(change, change.T.tocsr(), cells, count, none)

    @property
    def items(self) -> float:
        """Number of items."""
        return float(self.count.sum())

    @property
    def cost(self) -> float:
        """Look-ups of a pass, in those of `Blocks`."""
        return 0.5 * float(self.change.nnz)

    def totals(self, mass: FloatArray) -> FloatArray:
        """Return the mass (c, patterns) of every cell: (cells, c)."""
        return self._cells(np.ascontiguousarray(mass.T), mass.sum(axis=1))

    def expect(self, cells: FloatArray, weight: FloatArray) -> BlocksExpectation:
        """Return the log-likelihood, and the expected items (c,) and votes (cells, c)."""
        logs = np.ascontiguousarray(safe_log(cells).T)
        scores = self.change @ logs
        scores += np.einsum("uc->c", logs[self.usual]) + safe_log(weight)
        # A loop over the few components; NumPy's own reductions of short rows are slow.
        top = scores[:, 0].copy()
        for column in scores.T[1:]:
            np.maximum(top, column, out=top)
        joint = np.exp(scores - top[:, None])
        known = self.gold >= 0
        if known.any():
            self._keep_gold(joint, scores, top, known)
        evidence = np.einsum("pc->p", joint)
        total = float((self.count * (top + np.log(evidence))).sum())
        joint *= (self.count / evidence)[:, None]
        mass = np.einsum("pc->c", joint)
        return BlocksExpectation(total, mass, self._cells(joint, mass))

    def _keep_gold(
        self, joint: FloatArray, scores: FloatArray, top: FloatArray, known: Any
    ) -> None:
        """Give labelled patterns to their class, however improbable their votes make it."""
        rows, label = np.flatnonzero(known), self.gold[known]
        top[rows] = scores[rows, label]
        joint[rows] = 0.0
        joint[rows, label] = 1.0

    def _cells(self, mass: FloatArray, total: FloatArray) -> FloatArray:
        """Return the mass (patterns, c) of every cell: (cells, c); ``total`` is its sum."""
        votes = np.asarray(self.by_cell @ mass)
        votes[self.usual] = np.maximum(votes[self.usual] + total, 0.0)
        return votes


def usual_outcomes(codes: IntArray, k: int) -> IntArray:
    """Return the outcome of each labeler that most patterns hold: (m,)."""
    m, slots = codes.shape[1], k + 2
    places = outcomes_of(codes, k) + slots * np.arange(m)
    counts = np.bincount(places.reshape(-1), minlength=m * slots).reshape(m, slots)
    return np.asarray(counts.argmax(axis=1))


# --- Votes of few labelers on many patterns, as tables of blocks of labelers.
#
# Labelers are cut into blocks. Within a block few combinations of votes occur, so the logarithms
# are added up, and the expected counts split, once per combination and not once per pattern: a pass
# costs two table look-ups per block, pattern and component. The products are so small that `einsum`
# is used for them: the threads of a BLAS would wait for each other longer than they compute.

# A block's table stays in the processor's first cache, a chunk's temporaries in its second.
_TABLE = 4096
_CHUNK = 1 << 14
_DENSE = 1 << 15
# Look-ups that take as long as what a pass does with the tables, however few patterns there are.
_TABLES = 2500


class BlocksExpectation(NamedTuple):
    """The log-likelihood, and the expected items (c,) and votes (cells, c)."""

    total: float
    mass: FloatArray
    votes: FloatArray

    def counts(self) -> tuple[FloatArray, FloatArray]:
        """Return the expected items and votes."""
        return self.mass, self.votes


@dataclass(frozen=True, slots=True)
class Blocks:
    """The combination of votes of each pattern in each block, and what each combination holds.

    ``tables[b][r, (labeler, outcome)]`` is 1 where combination r of block b has this vote; a vote
    that was not asked for is in no column.
    """

    ids: list[IntArray]
    tables: list[FloatArray]
    count: FloatArray

    @classmethod
    def of_codes(
        cls, codes: IntArray, count: FloatArray, k: int, *, size: int | None = None
    ) -> Self:
        """Cut the labelers of a matrix of codes into blocks of ``size``, by default what is fast.

        The outcomes are k classes and abstention.
        """
        m = codes.shape[1]
        if size is None:
            size = _size_for(codes, k)
        ids, tables = [], []
        for start in range(0, m, size):
            here = codes[:, start : start + size]
            block, first = distinct_votes(here, k)
            ids.append(block)
            tables.append(_one_hot(here[first], k))
        return cls(ids, tables, count)

    @property
    def items(self) -> float:
        """Number of items."""
        return float(self.count.sum())

    @staticmethod
    def cost(codes: IntArray, k: int) -> float:
        """Return the look-ups of a pass over these codes: one for each pattern and block."""
        size = _size_for(codes, k)
        return float(_TABLES + len(codes) * -(-codes.shape[1] // size))

    def totals(self, mass: FloatArray) -> FloatArray:
        """Return the mass (c, patterns) of every cell: (cells, c)."""
        sums = [
            np.asarray([np.bincount(ids, weights=row, minlength=len(hot)) for row in mass])
            for ids, hot in zip(self.ids, self.tables, strict=True)
        ]
        return self._split(sums)

    def expect(self, cells: FloatArray, weight: FloatArray) -> BlocksExpectation:
        """Return the log-likelihood, and the expected items (c,) and votes (cells, c).

        ``cells[c, cell]`` is the probability of a vote, ``weight`` that of a component.
        """
        scores = self._scores(safe_log(cells))
        scores[0] += safe_log(weight)[:, None]
        sums = [np.zeros((len(weight), len(hot))) for hot in self.tables]
        tops = [table.max(axis=0) for table in scores]
        ratios = [np.exp(table - top) for table, top in zip(scores, tops, strict=True)]
        total = 0.0
        for at in range(0, len(self.count), _CHUNK):
            part = slice(at, at + _CHUNK)
            ids = [block[part] for block in self.ids]
            count = self.count[part]
            joint, log_evidence = _posterior_of(scores, tops, ratios, ids)
            total += float((count * log_evidence).sum())
            joint *= count
            for sum_, block in zip(sums, ids, strict=True):
                for c in range(len(weight)):
                    sum_[c] += np.bincount(block, weights=joint[c], minlength=sum_.shape[1])
        return BlocksExpectation(total, sums[0].sum(axis=1), self._split(sums))

    def _scores(self, logs: FloatArray) -> list[FloatArray]:
        """Add up ``logs[c, cell]`` over each combination of each block: (c, combinations)."""
        scores, start = [], 0
        for hot in self.tables:
            scores.append(np.einsum("yc,rc->yr", logs[:, start : start + hot.shape[1]], hot))
            start += hot.shape[1]
        return scores

    def _split(self, sums: list[FloatArray]) -> FloatArray:
        """Turn the mass of each block's combinations into that of cells."""
        parts = [
            np.einsum("yr,rc->yc", mass, hot) for mass, hot in zip(sums, self.tables, strict=True)
        ]
        return np.concatenate(parts, axis=1).T


def _size_for(codes: IntArray, k: int) -> int:
    values = k + 1 + int(bool((codes < -1).any()))
    return _block_size(len(codes), codes.shape[1], values)


def _block_size(n_patterns: int, m: int, values: int) -> int:
    """Return how many labelers make a block, so that its table is small beside the patterns."""
    if n_patterns * m * values <= _DENSE:
        return m
    rows = np.clip(n_patterns / 8, 256, _TABLE)
    most = max(1, int(np.log(rows) / np.log(values)))
    return -(-m // -(-m // most))  # blocks of about the same size


def _one_hot(codes: IntArray, k: int) -> FloatArray:
    """Return (p, m·(k+1)) indicators of each labeler's outcome; the last one is abstention."""
    hot = outcomes_of(codes, k)[:, :, None] == np.arange(k + 1)
    return np.asarray(hot.reshape(len(codes), -1) * 1.0)


def _posterior_of(
    scores: list[FloatArray],
    tops: list[FloatArray],
    ratios: list[FloatArray],
    ids: list[IntArray],
) -> tuple[FloatArray, FloatArray]:
    """Return P(component | z) of shape (c, patterns) and log P(z).

    Likelihood ratios within each block are multiplied, which needs no exponential per pattern;
    where blocks contradict each other so much that the product vanishes, logarithms are added.
    """
    joint = ratios[0].take(ids[0], axis=1)
    shift = tops[0].take(ids[0])
    for ratio, top, block in zip(ratios[1:], tops[1:], ids[1:], strict=True):
        joint *= ratio.take(block, axis=1)
        shift += top.take(block)
    evidence = joint.sum(axis=0)
    if evidence.min() < 1e-200:
        joint = scores[0].take(ids[0], axis=1)
        for table, block in zip(scores[1:], ids[1:], strict=True):
            joint += table.take(block, axis=1)
        shift = joint.max(axis=0)
        # Numbers too small to be normal are slow.
        joint = np.exp(np.maximum(joint - shift, -600.0))
        evidence = joint.sum(axis=0)
    joint /= evidence
    return joint, shift + np.log(evidence)
