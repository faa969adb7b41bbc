"""The base of the label models that are fitted to votes, with true labels or without."""

from abc import abstractmethod
from typing import Self

from karat._typing import Column, FloatArray, Frame
from karat.statistics import Patterns
from karat.weak.models._gold import KnownVotes, read_votes
from karat.weak.models._pattern_model import PatternModel
from karat.weak.models._requirements import require_voters

__all__ = ["VoteModel"]


class VoteModel(PatternModel):
    """Base of the label models that votes alone suffice for.

    A subclass writes ``_learn`` and ``_posterior``, and says how many labelers have to vote.
    """

    _fewest_voters: int = 0  # 0: it learns nothing of labelers, and any number will do

    @abstractmethod
    def _learn(self, known: KnownVotes) -> FloatArray:
        """Set the parameters that are fitted, and return P(Y)."""

    def _look_back(self, known: KnownVotes) -> None:
        """Warn of what a fit shows, when it is over."""

    def fit(
        self,
        weak_labels: Frame | Patterns,
        *,
        y_true: Column | None = None,
        classes: Column | None = None,
        class_prior: Column | None = None,
        sample_weight: Column | None = None,
        null: str = "not asked",
    ) -> Self:
        """Fit the label model to votes.

        Parameters
        ----------
        weak_labels : matrix or frame (n, m)
            One row per item, one column per labeler; -1 where a labeler abstained, null where it
            was not asked. A long table or patterns, as in `karat.votes.read_patterns`, will do.
        y_true : column (n,), optional
            True labels of some items, null or -1 elsewhere. If the weak labels are a long table,
            one per item, in the sorted order of the items. They give P(Y) where no class prior is
            passed, and these items count with their true class in a model of labelers.
        classes : column (k,), optional
            The classes in the wanted order; by default those voted for, sorted. A true label that
            nobody votes for is refused unless it is named here.
        class_prior : column (k,) or mapping, optional
            P(Y), if it is known, in the order of the classes or as ``{label: probability}``;
            without it true labels give it, and ``class_prior_`` says what is taken without them,
            with a `NotIdentifiedWarning` where no labeler ever votes for a class.
        sample_weight : column (n,), optional
            Weights of at least 0; a weight of 2 counts as two equal rows.
        null : {"not asked", "abstain"}, default "not asked"
            What a null is: an item that the labeler was not asked about, or an abstention, as -1
            always is. ``predict_proba`` reads nulls in the same way.

        Returns
        -------
        label model
            Itself.
        """
        self._check_options()
        known = read_votes(
            weak_labels, y_true=y_true, classes=classes, class_prior=class_prior,
            sample_weight=sample_weight, null=null,
        )  # fmt: skip
        if self._fewest_voters:
            codes = known.found.patterns[known.found.counts > 0]
            require_voters(codes, type(self).__name__, least=self._fewest_voters)
            self._warn_of_silence(known.found)
        self._warn_of_unvoted(known)
        self._remember(known, self._learn(known), null)
        self._look_back(known)
        return self

    def _check_options(self) -> None:
        """Refuse options that are none."""
