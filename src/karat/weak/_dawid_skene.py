"""Dawid and Skene's model of labelers with confusions of their own."""

import warnings
from functools import partial
from typing import Literal

import numpy as np

from karat._callers import caller_level
from karat._typing import FloatArray, IntArray
from karat._validate import check_choice, check_count, check_number, check_rng
from karat.exceptions import KaratWarning
from karat.votes.tables import naive_bayes
from karat.weak.models import (
    KnownVotes,
    VoteModel,
    VoteRows,
    best_start,
    em_problem,
    fit_aligned,
)

__all__ = ["DawidSkene"]


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
            problem_of, rows, restarts=int(self.restarts), max_iter=passes, tol=tol,
            rng=check_rng(self.rng),
        )  # fmt: skip
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
