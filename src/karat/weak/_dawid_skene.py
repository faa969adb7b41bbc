"""Dawid and Skene's label model (1979), fitted by EM over vote patterns."""

import warnings
from collections.abc import Callable
from functools import partial
from typing import Literal, NamedTuple, Self

import numpy as np

from karat._callers import caller_level
from karat._typing import FloatArray, IntArray
from karat._validate import check_choice, check_count, check_number, check_rng
from karat.exceptions import KaratWarning
from karat.statistics.patterns import vote_shares
from karat.votes.em import (
    Blocks,
    BlocksExpectation,
    EmFit,
    Sparse,
    State,
    VoteLaw,
    run_em,
    start_from,
)
from karat.weak.label_model import (
    KnownVotes,
    VoteModel,
    naive_bayes,
    smoothed_confusions,
    totals_of,
)


class DawidSkene(VoteModel):
    r"""Labelers that err independently given the truth, each with its own confusion, fitted by EM.

    .. math:: P(Z=z) = \sum_y \pi_y \prod_j \theta_j(z_j \mid y)

    The log-likelihood of the pattern counts is maximised, with ``smoothing`` items of each class
    added to every confusion, in the proportions that the majority vote implies for the labeler.
    They stabilise labelers with few votes, and their influence vanishes as n grows.

    Parameters
    ----------
    max_iter : int, default 200
        Most passes over the patterns.
    tol : float, default 1e-6
        Stop when the log-likelihood per item that is still to be gained is estimated to be no more.
    restarts : int, default 3
        Number of starts; the first is the majority vote, the others weigh the labelers at random.
        They are compared on a sample of the items and the best is continued.
    abstain : {"outcome", "missing"}, default "outcome"
        Whether an abstention (-1) depends on the truth, as that of a rule that fires on one class
        does, or is missing at random. A vote that was not asked for (null) is missing at random
        in either case: the item has the posterior of the labelers that were asked.
    smoothing : float, default 10.0
        Items of each class added to each confusion.
    rng : int or Generator, optional
        Randomness of the restarts.

    Attributes
    ----------
    classes_ : array (k,)
        The order of the columns of ``predict_proba``.
    class_prior_ : array (k,)
        P(Y): given, counted from true labels, or learnt from the votes.
    confusions_ : array (m, k, k + 1)
        ``confusions_[j, y, o] = P(Z_j = o | Y = y)`` where j is asked; the last column is
        abstention.
    names_ : tuple
        The labelers, as their columns are called; ``"0"``, ``"1"``, … in an array.
    null_ : str
        What a null was in ``fit``; ``predict_proba`` reads nulls in the same way.
    log_likelihood_ : float
        Log-likelihood of all items, without the smoothing.
    gap_ : float
        Estimate of the log-likelihood per item that is left to gain.
    n_iter_ : int
        Passes over the patterns, from the start that was continued.
    converged_ : bool
        Whether ``gap_`` is at most ``tol``.

    Notes
    -----
    The learned classes are named by the votes for them: of all ways to name them, the one in which
    most votes are right is taken, so on average labelers are better than chance. EM is accelerated
    by SQUAREM (Varadhan and Roland 2008).

    References
    ----------
    A. P. Dawid and A. M. Skene, Maximum likelihood estimation of observer error-rates using the EM
    algorithm, Applied Statistics 28 (1979). Used as a label model by Maia Polo et
    al. (2023).

    Examples
    --------
    >>> votes = [[0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 0], [0, 0, 0], [1, 1, 1]]
    >>> model = DawidSkene(rng=0).fit(votes)
    >>> model.predict_proba([[0, 0, 1], [1, 1, -1]]).argmax(axis=1)
    array([0, 1])
    >>> model.converged_
    True
    """

    def __init__(
        self,
        *,
        max_iter: int = 200,
        tol: float = 1e-6,
        restarts: int = 3,
        abstain: Literal["outcome", "missing"] = "outcome",
        smoothing: float = 10.0,
        rng: int | np.random.Generator | None = None,
    ) -> None:
        self.max_iter = max_iter
        self.tol = tol
        self.restarts = restarts
        self.abstain = abstain
        self.smoothing = smoothing
        self.rng = rng

    @property
    def abstention_is_informative(self) -> bool:  # type: ignore[override]
        """Whether an abstention depends on the truth."""
        return self.abstain == "outcome"

    _learns_prior = True

    _fewest_voters = 3

    def _learn(self, known: KnownVotes) -> FloatArray:
        rows = VoteRows.of(*known.apart(), known.k)
        problem_of = partial(
            em_problem,
            k=known.k,
            smoothing=float(self.smoothing),
            missing=self.abstain == "missing",
            prior=known.prior,
        )
        passes, tol = int(self.max_iter), float(self.tol)
        start = best_start(
            problem_of,
            rows,
            restarts=int(self.restarts),
            max_iter=passes,
            tol=tol,
            rng=check_rng(self.rng),
        )
        problem = problem_of(rows)
        fit = fit_aligned(problem, start.state, max_iter=passes, tol=tol)
        # An outcome that never occurs is impossible under every truth, not a sign of one.
        confusions = np.ascontiguousarray(problem.rates(fit.state).transpose(0, 2, 1))
        self.confusions_ = np.where(confusions < 1e-200, 0.0, confusions)
        self.log_likelihood_ = fit.seen.total
        self.n_iter_ = start.n_iter + fit.n_iter
        self.gap_, self.converged_ = fit.gap, fit.gap <= tol
        return fit.state.weight

    def _look_back(self, known: KnownVotes) -> None:
        self._warn_if_not_converged()
        self._warn_of_contradictions(known.found)

    def _check_options(self) -> None:
        check_choice(self.abstain, "abstain", ("outcome", "missing"))
        check_count(self.max_iter, "max_iter", at_least=2)
        check_number(self.tol, "tol", at_least=0.0)
        check_count(self.restarts, "restarts")
        check_number(self.smoothing, "smoothing", at_least=0.0)

    def _warn_if_not_converged(self) -> None:
        if not self.converged_:
            warnings.warn(
                f"DawidSkene stopped after {self.n_iter_} passes with about {self.gap_:.2g} of "
                f"log-likelihood per item still to gain, more than tol={self.tol:.2g}; raise "
                "max_iter, or tol if that is near enough",
                KaratWarning,
                stacklevel=caller_level(),
            )

    def _posterior(self, codes: IntArray) -> FloatArray:
        return naive_bayes(codes, self.class_prior_, self.confusions_)


# --- Dawid and Skene's model for EM: its penalty, its starts, and the names of its classes.

DawidSkeneFit = EmFit[BlocksExpectation]

# Starts are compared on a sample of this many items, with passes over so many patterns in all.
_SAMPLE = 256
_WORK = 1_024


class VoteRows(NamedTuple):
    """Codes, weights and known classes of rows of votes; -1 is the class of unlabelled ones.

    A rule votes for one class of many, and what a labeler never says has no parameter to fit. So
    ``own`` are the codes in each labeler's own numbering: a vote for ``classes[j, o]`` is outcome
    o of labeler j, and no labeler has more outcomes than the one that uses most classes.
    """

    codes: IntArray
    weight: FloatArray
    gold: IntArray
    own: IntArray
    classes: IntArray

    @classmethod
    def of(cls, codes: IntArray, weight: FloatArray, gold: IntArray, k: int) -> Self:
        """Give each labeler's classes numbers of its own."""
        m = codes.shape[1]
        voted = np.zeros((m, k), dtype=bool)
        for c in range(k):
            voted[:, c] = (codes == c).any(axis=0)
        most = max(int(voted.sum(axis=1).max(initial=1)), 1)
        order = np.argsort(~voted, axis=1, kind="stable")
        if most == k or m == 0:
            return cls(codes, weight, gold, codes, np.tile(np.arange(k), (m, 1)))
        place = np.argsort(order, axis=1)
        # A negative code counts from the end: -2 was not asked, -1 abstained.
        ends = np.broadcast_to([-2, -1], (m, 2))
        own = np.concatenate([place, ends], axis=1)[np.arange(m), codes]
        return cls(codes, weight, gold, own, order[:, :most])

    def mass(self, k: int, trust: FloatArray | None = None) -> FloatArray:
        """Return each row's weight, shared among classes like its votes or its label: (k, rows)."""
        shares = vote_shares(totals_of(self.codes, k, trust), np.full(k, 1.0 / k))
        known = self.gold >= 0
        shares[known] = np.eye(k)[self.gold[known]]
        return np.ascontiguousarray((shares * self.weight[:, None]).T)

    def sample(self, n: int, rng: np.random.Generator) -> "VoteRows":
        """Return n items drawn with replacement, where there are more rows than that."""
        if len(self.codes) <= n:
            return self
        totals = np.cumsum(self.weight)
        at = np.searchsorted(totals, totals[-1] * rng.random(n), side="right")
        drawn = np.bincount(np.minimum(at, len(self.codes) - 1), minlength=len(self.codes))
        some = drawn > 0
        weight = drawn[some].astype(np.float64)
        return VoteRows(self.codes[some], weight, self.gold[some], self.own[some], self.classes)


class DawidSkeneProblem(NamedTuple):
    """Votes, the law that is fitted to them, and the classes of each labeler's outcomes."""

    design: Blocks | Sparse
    law: VoteLaw
    classes: IntArray

    def rates(self, state: State) -> FloatArray:
        """Return θ[labeler, class or, last, abstention, component]."""
        m, _, k = state.theta.shape
        if self.classes.shape[1] == k:
            return state.theta
        rates = np.zeros((m, k + 1, k))
        rates[np.arange(m)[:, None], self.classes] = state.theta[:, :-1]
        rates[:, k] = state.theta[:, -1]
        return rates


def em_problem(
    rows: VoteRows,
    k: int,
    *,
    smoothing: float,
    missing: bool,
    prior: FloatArray | None,
) -> DawidSkeneProblem:
    """Prepare the look-ups and the penalty.

    ``smoothing`` votes are added to every row of every confusion, in the proportions that the
    majority vote implies. With ``missing``, abstention does not depend on the truth.
    """
    most = rows.classes.shape[1]
    design = _design(rows, most)
    counts = design.totals(rows.mass(k))
    votes = counts.reshape(-1, most + 1, k).transpose(0, 2, 1)  # labeler, class, outcome
    coverage = None
    if missing:
        asked = votes.sum(axis=(1, 2))
        coverage = 1.0 - votes[:, :, most].sum(axis=1) / np.where(asked > 0, asked, 1.0)
        votes[:, :, most] = 0.0
    law = VoteLaw(
        group=np.arange(k),
        pseudo=smoothing * smoothed_confusions(votes, 1.0).transpose(0, 2, 1),
        weight_pseudo=np.zeros(k),
        weight=prior,
        coverage=coverage,
    )
    return DawidSkeneProblem(design, law, rows.classes)


def _design(rows: VoteRows, most: int) -> Blocks | Sparse:
    """Return the design in which a pass over these votes is fastest."""
    sparse = Sparse.of_codes(rows.own, rows.weight, most, rows.gold)
    if (rows.gold >= 0).any() or sparse.cost <= Blocks.cost(rows.own, most):
        return sparse
    return Blocks.of_codes(rows.own, rows.weight, most)


def vote_start(problem: DawidSkeneProblem, rows: VoteRows, trust: FloatArray | None) -> State:
    """Return the parameters for a vote in which labeler j has the weight ``trust[j]``."""
    m, outcomes, k = problem.law.pseudo.shape
    blank = State(np.full((m, outcomes, k), 1.0 / outcomes), np.zeros(m), np.full(k, 1.0 / k))
    return start_from(problem, blank, rows.mass(k, trust))


def best_start(
    problem_of: Callable[[VoteRows], DawidSkeneProblem],
    rows: VoteRows,
    *,
    restarts: int,
    max_iter: int,
    tol: float,
    rng: np.random.Generator,
) -> DawidSkeneFit:
    """Return the most likely of several short runs, the majority vote's first among equals."""
    rows = rows.sample(_SAMPLE, rng)
    problem = problem_of(rows)
    passes = min(max_iter, int(np.clip(_WORK / len(rows.codes), 4, 100)))
    best: DawidSkeneFit | None = None
    for trial in range(restarts):
        # Exponential weights disperse the starts and keep the names of the classes.
        trust = None if trial == 0 else np.asarray(rng.exponential(size=rows.codes.shape[1]))
        start = vote_start(problem, rows, trust)
        fit = fit_aligned(problem, start, max_iter=passes, tol=tol)
        if best is None or fit.objective > best.objective + tol:
            best = fit
    assert best is not None  # there is at least one start
    return best


def fit_aligned(
    problem: DawidSkeneProblem, start: State, *, max_iter: int, tol: float
) -> DawidSkeneFit:
    """Run EM; if the classes it finds carry the wrong names, rename them and go on."""
    fit = run_em(problem, start, max_iter=max_iter, tol=tol)
    state, prior = fit.state, problem.law.weight
    order = _names(state.weight, problem.rates(state))
    if np.array_equal(order, np.arange(len(order))):
        return fit
    weight = state.weight[order] if prior is None else prior
    renamed = State(state.theta[:, :, order], state.copied, weight)
    # With a given prior the renamed parameters are not a maximum yet.
    again = run_em(problem, renamed, max_iter=max_iter, tol=tol)
    return again._replace(n_iter=fit.n_iter + again.n_iter)


def _names(weight: FloatArray, rates: FloatArray) -> IntArray:
    """Return which learned class each name goes to, so that most votes are right."""
    k = len(weight)
    votes = weight[:, None] * rates[:, :k].sum(axis=0).T
    if np.array_equal(votes.argmax(axis=1), np.arange(k)):
        return np.arange(k)
    from scipy.optimize import linear_sum_assignment

    learned, name = linear_sum_assignment(votes, maximize=True)
    return np.asarray(learned[np.argsort(name)])
