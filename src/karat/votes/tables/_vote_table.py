"""The votes of one domain, reduced to distinct patterns."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from karat._typing import AnyArray, FloatArray, IntArray
from karat.votes.tables._outcomes import outcomes_of, vote_shares, vote_totals

__all__ = ["VoteTable"]


@dataclass(frozen=True, slots=True)
class VoteTable:
    """Distinct vote patterns and how many items have each.

    Pattern p has the votes ``start[p]:start[p+1]``: ``voter`` says who and ``outcome`` what, a
    class or, as the last outcome, an abstention. A vote that was not asked for is not listed, so
    a crowd of hundreds costs no more than the votes it cast. ``gold`` is the class of a pattern
    whose items were labelled, -1 otherwise.
    """

    start: IntArray
    voter: IntArray
    outcome: IntArray
    count: FloatArray
    gold: IntArray
    n_voters: int
    n_classes: int
    n_outcomes: int

    @classmethod
    def of_codes(
        cls, codes: IntArray, count: AnyArray, n_classes: int, *, abstentions: bool | None = None
    ) -> Self:
        """Return the table of a matrix of codes: classes, -1 abstained, -2 not asked.

        ``abstentions`` says whether an abstention is an outcome; by default it is one if anybody
        abstained. If it is none, an abstention counts as a vote that was not asked for.
        """
        if abstentions is None:
            abstentions = bool((codes == -1).any())
        outcome = outcomes_of(codes, n_classes)
        pattern, voter = np.nonzero(outcome < n_classes + int(abstentions))
        return cls(
            start=np.searchsorted(pattern, np.arange(len(codes) + 1)).astype(np.int64),
            voter=voter.astype(np.int64),
            outcome=outcome[pattern, voter].astype(np.int64),
            count=np.asarray(count, dtype=np.float64),
            gold=np.full(len(codes), -1),
            n_voters=codes.shape[1],
            n_classes=n_classes,
            n_outcomes=n_classes + int(abstentions),
        )

    @property
    def n_patterns(self) -> int:
        """Number of distinct patterns."""
        return len(self.count)

    @property
    def pattern_of_vote(self) -> IntArray:
        """The pattern each listed vote belongs to."""
        return np.repeat(np.arange(self.n_patterns), np.diff(self.start))

    @property
    def votes_cast(self) -> FloatArray:
        """Votes of each voter, abstentions apart."""
        spoke = self.outcome < self.n_classes
        weight = self.count[self.pattern_of_vote] * spoke
        return np.bincount(self.voter, weights=weight, minlength=self.n_voters).astype(np.float64)

    def with_counts(self, count: AnyArray) -> Self:
        """Return the same patterns with other counts; patterns of count 0 stay."""
        return replace(self, count=np.asarray(count, dtype=np.float64))

    def without_gold(self) -> Self:
        """Return the table as if nothing had been labelled."""
        return replace(self, gold=np.full(self.n_patterns, -1))

    def vote_shares(self, voter_weight: FloatArray | None = None) -> FloatArray:
        """Return, per pattern, the (weighted) share of votes for each class; even if none."""
        spoke = self.outcome < self.n_classes
        totals = vote_totals(
            self.pattern_of_vote[spoke],
            self.outcome[spoke],
            (self.n_patterns, self.n_classes),
            None if voter_weight is None else voter_weight[self.voter[spoke]],
        )
        return vote_shares(totals, np.full(self.n_classes, 1 / self.n_classes))

    def dense(self) -> IntArray:
        """Return patterns × voters of codes: a class, -1 abstained, -2 not asked."""
        matrix = np.full((self.n_patterns, self.n_voters), -2)
        said = np.where(self.outcome < self.n_classes, self.outcome, -1)
        matrix[self.pattern_of_vote, self.voter] = said
        return matrix
