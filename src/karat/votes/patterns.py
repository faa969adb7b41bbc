"""The votes of one domain as distinct patterns with counts, and sums over them.

A `VoteTable` lists the votes of each pattern; codes are those of `karat.statistics.patterns`.
Nothing here checks its arguments: `karat.votes.reading` has done that.
"""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from karat._typing import AnyArray, BoolArray, FloatArray, IntArray
from karat.statistics.patterns import outcomes_of, vote_shares, vote_totals


@dataclass(frozen=True, slots=True)
class VoteTable:
    """Distinct vote patterns and how many items have each.

    Pattern p has the votes ``start[p]:start[p+1]``: ``voter`` says who and ``outcome`` what, a
    class or, as the last outcome, an abstention. A vote that was not asked for is not listed, so
    a crowd of hundreds costs no more than the votes it cast. ``gold`` is the class of a pattern
    whose items were labelled, -1 otherwise. ``counted`` says which votes are evidence of the label:
    of near copies only one is, and the votes of the others show nothing but their own errors. None
    where all votes count.
    """

    start: IntArray
    voter: IntArray
    outcome: IntArray
    count: FloatArray
    gold: IntArray
    n_voters: int
    n_classes: int
    n_outcomes: int
    counted: BoolArray | None = None

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
    def heard(self) -> Self:
        """The table with the votes that count, and no other."""
        if self.counted is None:
            return self
        before = np.concatenate([[0], np.cumsum(self.counted)]).astype(np.int64)
        return replace(
            self,
            start=before[self.start],
            voter=self.voter[self.counted],
            outcome=self.outcome[self.counted],
            counted=None,
        )

    @property
    def n_heard(self) -> int:
        """Number of voters of whom some votes count."""
        return len(np.unique(self.heard.voter))

    @property
    def votes_cast(self) -> FloatArray:
        """Votes of each voter, abstentions apart."""
        spoke = self.outcome < self.n_classes
        weight = self.count[self.pattern_of_vote] * spoke
        return np.bincount(self.voter, weights=weight, minlength=self.n_voters).astype(np.float64)

    def order(self) -> tuple[IntArray, IntArray]:
        """Return the patterns, and the voters, in an order that does not depend on their own.

        What is drawn at random for patterns or voters is drawn in this order, so that it is the
        same whichever way the votes were passed. Voters with the same record keep their order.
        """
        pattern = self.pattern_of_vote
        weight = self.count[pattern]
        size = self.n_voters * self.n_outcomes
        cell = self.voter * self.n_outcomes + self.outcome
        said = np.bincount(cell, weights=weight, minlength=size).reshape(self.n_voters, -1)
        spoke = self.outcome < self.n_classes
        share = np.zeros(len(pattern))
        share[spoke] = self.vote_shares()[pattern[spoke], self.outcome[spoke]]
        company = np.bincount(self.voter, weights=weight * share, minlength=self.n_voters)
        record = np.round(np.column_stack([said, company]), 6)
        rank = np.unique(record, axis=0, return_inverse=True)[1].reshape(-1)
        marks = np.random.default_rng(20160619).integers(0, 2**63, size=size, dtype=np.uint64)
        mark = marks[rank[self.voter] * self.n_outcomes + self.outcome]
        running = np.concatenate([[np.uint64(0)], np.cumsum(mark, dtype=np.uint64)])
        key = running[self.start[1:]] - running[self.start[:-1]]
        return np.lexsort((self.count, self.gold, key)), np.argsort(rank, kind="stable")

    def with_counts(self, count: AnyArray) -> Self:
        """Return the same patterns with other counts; patterns of count 0 stay."""
        return replace(self, count=np.asarray(count, dtype=np.float64))

    def without_gold(self) -> Self:
        """Return the table as if nothing had been labelled."""
        return replace(self, gold=np.full(self.n_patterns, -1))

    def vote_shares(self, voter_weight: FloatArray | None = None) -> FloatArray:
        """Return, per pattern, the (weighted) share of votes for each class; even if none."""
        spoke = self.outcome < self.n_classes
        if self.counted is not None:
            spoke = spoke & self.counted
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
