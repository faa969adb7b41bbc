"""What a model says of votes given the component of an item, and its best parameters."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.votes.tables import safe_log

__all__ = ["COPY", "State", "VoteLaw"]

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
