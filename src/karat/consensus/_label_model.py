"""The consensus as a label model: P(Y | votes), with posterior draws."""

from dataclasses import replace
from typing import Any, Self

import numpy as np

from karat._sentences import Option, Remedy
from karat._typing import AnyArray, FloatArray, Frame, IntArray
from karat._validate import check_count
from karat.consensus.model import Model, build_problem, class_proba
from karat.exceptions import DataError
from karat.votes.agreement import NearCopies, one_vote_each
from karat.votes.em import State, log_likelihood
from karat.votes.patterns import VoteTable
from karat.weak.label_model import PatternModel


class ConsensusLabelModel(PatternModel):
    """The consensus of one domain as a label model, made by ``ErrorEstimator.as_label_model``.

    P(Y | Z) is averaged over posterior draws of the models that the estimator has fitted;
    ``draws`` gives label models of single draws, for ``label_model_draws=`` of `karat.bounds`.

    Parameters
    ----------
    classes : array (k,)
        The classes.
    names : tuple
        The voters, in the order of the columns.
    members : tuple
        Pairs of a model and a drawn state of its parameters.
    weights : array
        How much each member counts; sums to 1.
    abstentions : bool
        Whether -1 is an outcome of its own.
    copies : NearCopies
        Voters, as positions, of whom only one counts.
    null : {"not asked", "abstain"}
        What a null was in the votes that the model was fitted to.
    rng : Generator
        Randomness of ``draws``.

    Attributes
    ----------
    classes_ : array (k,)
        The order of the columns of ``predict_proba``.
    class_prior_ : array (k,)
        Posterior mean of P(Y).
    names_ : tuple
        The voters.

    Examples
    --------
    >>> import numpy as np
    >>> from karat.consensus import ErrorEstimator
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 300)
    >>> votes = np.where(rng.random((300, 4)) < 0.2, 1 - y[:, None], y[:, None])
    >>> model = ErrorEstimator(draws=100, rng=0).fit(votes).as_label_model()
    >>> model.predict_proba([[1, 1, 1, 0]]).argmax()
    np.int64(1)
    """

    def __init__(
        self,
        classes: AnyArray,
        names: tuple[Any, ...],
        members: tuple[tuple[Model, State], ...],
        weights: FloatArray,
        *,
        abstentions: bool,
        copies: NearCopies,
        null: str,
        rng: np.random.Generator,
    ) -> None:
        self.classes = classes
        self.names = names
        self.members = members
        self.weights = weights
        self.abstentions = abstentions
        self.copies = copies
        self.null = null
        self.rng = rng

    @property
    def classes_(self) -> AnyArray:  # type: ignore[override]
        """The order of the columns of ``predict_proba``."""
        return self.classes

    @property
    def names_(self) -> tuple[Any, ...]:  # type: ignore[override]
        """The voters."""
        return self.names

    @property
    def null_(self) -> str:  # type: ignore[override]
        """What a null is where votes are passed without a word about it."""
        return self.null

    @property
    def class_prior_(self) -> FloatArray:  # type: ignore[override]
        """Posterior mean of P(Y)."""
        prior = np.zeros(len(self.classes))
        for (model, state), weight in zip(self.members, self.weights, strict=True):
            prior += weight * state.weight.reshape(-1, model.levels).sum(axis=1)
        return prior

    @property
    def assumes_independence(self) -> bool:  # type: ignore[override]
        """Whether no model among the members has difficult items or voters that copy."""
        plain = all(m.levels == 1 and m.parent is None for m, _ in self.members)
        return plain and not self.copies.blocks

    @property
    def abstention_is_informative(self) -> bool:  # type: ignore[override]
        """Whether an abstention depends on the truth."""
        return self.abstentions

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __repr__(self) -> str:  # all of the draws would be too much
        return f"<{type(self).__name__} of {len(self.names)} voters, {len(self.members)} draws>"

    def fit(self, weak_labels: Frame) -> Self:
        """Refuse to fit: a label model made by `ErrorEstimator` is fitted already.

        Parameters
        ----------
        weak_labels : matrix or frame (n, m)
            Not used.

        Returns
        -------
        ConsensusLabelModel
            Never.
        """
        raise DataError(
            "this label model comes from ErrorEstimator.fit",
            Remedy(
                "fit an ErrorEstimator to these votes, with true labels as ",
                Option("y_true"),
                " if there are any, and call as_label_model() again",
            ),
        )

    def draws(self, n: int = 50) -> list[Self]:
        """Return label models of single posterior draws.

        Parameters
        ----------
        n : int, default 50
            How many.

        Returns
        -------
        list of ConsensusLabelModel
            Each with one state, taken in proportion to the weights of the models.
        """
        count = check_count(n, "n")
        chosen = self.rng.choice(len(self.members), size=count, p=self.weights)
        return [
            type(self)(
                self.classes,
                self.names,
                (self.members[i],),
                np.ones(1),
                abstentions=self.abstentions,
                copies=self.copies,
                null=self.null,
                rng=self.rng,
            )
            for i in chosen
        ]

    def predict_codes(self, codes: IntArray) -> FloatArray:
        """Return P(Y) of rows of codes.

        Parameters
        ----------
        codes : array (n, voters)
            A class as its position, -1 for an abstention, -2 for a vote that was not asked for.

        Returns
        -------
        array (n, k)
            One row per row of codes.
        """
        return self._posterior(codes)

    def _posterior(self, codes: IntArray) -> FloatArray:
        table = self._table(codes)
        total = np.zeros((len(codes), len(self.classes_)))
        for (model, state), weight in zip(self.members, self.weights, strict=True):
            problem = build_problem(model, table)
            total += weight * class_proba(problem, log_likelihood(problem, state)[1])
        return total

    def _table(self, codes: IntArray) -> VoteTable:
        ones = np.ones(len(codes))
        k = len(self.classes_)
        table = VoteTable.of_codes(codes, ones, k, abstentions=self.abstentions)
        if not self.copies.blocks:
            return table
        return replace(table, counted=one_vote_each(table, self.copies))
