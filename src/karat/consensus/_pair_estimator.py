"""Error rates of judges on pairs shown in two orders, with the position bias taken out."""

import warnings
from collections.abc import Mapping
from typing import Any, Literal, Self

import numpy as np

from karat._frames import keeps_kind
from karat._parameters import Parameters
from karat._typing import Column, Frame
from karat._validate import check_confidence, check_fitted, refuse_lazy
from karat.consensus._error_estimator import ErrorEstimator
from karat.consensus.answers import backend_of, to_frame, warn_of_limits_of_the_fit
from karat.consensus.judging import (
    bias_of,
    item_weights,
    pair_chances,
    pair_domains,
    pair_errors,
    pair_gold,
    pair_styles,
    pair_table,
    pair_votes,
)
from karat.consensus.pairs import net_votes, read_pairs
from karat.exceptions import KaratWarning, ShapeError

__all__ = ["PairEstimator"]


class PairEstimator(Parameters):
    r"""How often judges prefer the worse of two answers, from verdicts in two orders and no gold.

    The position of an answer moves a verdict (see `position_bias`). A pair that a judge saw in both
    orders gives one vote: its verdict if both orders agree, none if the order decides. If a pair
    and its mirror image are alike to the judge, such a vote does not depend on the position, and a
    verdict that flips says nothing of which answer is better. The votes of all judges go to
    `ErrorEstimator`; with e the error rate where both orders agree and s the share of verdicts that
    flip or tie, the error rate with the bias out is

    .. math:: e\,(1 - s) + s / 2

    that of the judge asked in both orders, with a coin where they differ.

    Parameters
    ----------
    errors : {"symmetric", "class-conditional"}, default "symmetric"
        Whether a pair and its mirror image are alike, so that a judge errs as often when A is
        better as when B is; or whether A and B differ in kind (one is always the baseline, say).
    dependence : {"auto", "none", "difficulty", "pairs"}, default "auto"
        How judges err together, as in `ErrorEstimator`.
    chains : int, default 4
        Chains from dispersed starts.
    draws : int, optional
        Draws kept per chain.
    confidence : float, default 0.95
        Level of the limits.
    rng : int or Generator, optional
        Randomness.

    Attributes
    ----------
    result_ : PairErrors
        Everything below as one frozen answer, with ``summary()`` and ``plot()``.
    error_rates_ : frame
        ``domain``, ``judge``, ``mean``, ``lower``, ``upper``, the rates in one order only and what
        one order may cost. Frames are of the library that was passed in.
    position_bias_ : PositionBias
        The bias of each judge.
    estimator_ : ErrorEstimator
        What was fitted to the votes without the bias: labels, status, explanations.
    label_proba_ : array (pairs, 2)
        P(A is better) and P(B is better) of every pair.
    status_ : dict
        By domain: "not identified", "consistent", "confirmed" or "contradicted", as in
        `ErrorEstimator`.
    identified_ : dict
        By domain, whether the status is consistent or confirmed.
    classes_ : array (2,)
        What the answers are called.
    items_ : array or None
        The pairs of a long table, in the order of ``label_proba_``.

    Notes
    -----
    A verdict given in one order only has no counterpart that would cancel the bias; it is not used
    for error rates, and ``position_bias_.one_order`` counts such pairs. Repeats of a judge are
    averaged within an order and never count as further judges.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 600)
    >>> u = rng.normal(np.where(y == 0, 1, -1)[:, None] * [1.4, 1.2, 1.0, 1.0], 1)
    >>> bias = np.array([0.0, 0.5, 1.0, 0.2])
    >>> est = PairEstimator(draws=100, rng=0)
    >>> est = est.fit(np.where(u + bias > 0, "A", "B"), np.where(u - bias > 0, "A", "B"))
    >>> [round(float(b), 1) for b in est.position_bias_.bias]
    [0.0, 0.2, 0.5, 0.1]
    """

    def __init__(
        self,
        *,
        errors: Literal["symmetric", "class-conditional"] = "symmetric",
        dependence: Literal["auto", "none", "difficulty", "pairs"] = "auto",
        chains: int = 4,
        draws: int | None = None,
        confidence: float = 0.95,
        rng: int | np.random.Generator | None = None,
    ) -> None:
        self.errors = errors
        self.dependence = dependence
        self.chains = chains
        self.draws = draws
        self.confidence = confidence
        self.rng = rng

    @keeps_kind
    def fit(
        self,
        verdicts: Frame,
        swapped: Frame | None = None,
        *,
        y_true: Column | Mapping[Any, Any] | None = None,
        labels: Literal["random", "probability", "picked"] = "random",
        label_probability: Column | Mapping[Any, float] | None = None,
        domains: Column | Mapping[Any, Any] | None = None,
        same: Mapping[Any, Any] | None = None,
        covariates: Frame | None = None,
        classes: Column | None = None,
        says: Literal["answer", "position"] = "answer",
        first_order: Any = None,
        sample_weight: Column | None = None,
        weighting: str | None = None,
    ) -> Self:
        """Estimate bias and error rates.

        Parameters
        ----------
        verdicts : matrix or frame
            Verdicts with A shown first, or a long table; as in `position_bias`.
        swapped : matrix or frame, optional
            Verdicts with B shown first, beside a wide table.
        y_true : column or mapping, optional
            Gold: which answer is better; one value per row, or a mapping from item (row number of a
            wide table). Null, -1 or "tie" where unknown.
        labels : {"random", "probability", "picked"}, default "random"
            How the pairs with a gold label were chosen, as in `ErrorEstimator`; those that are not
            picked test the consensus.
        label_probability : column or mapping, optional
            With ``labels="probability"``, the chance with which each labelled pair was drawn, as
            ``label_next()`` gives it.
        domains : column or mapping, optional
            Domain of each pair.
        same : mapping, optional
            Families of judges that count once in the consensus, such as the prompts of one model:
            from a family's name to its judges.
        covariates : matrix or frame, optional
            Differences in style between A and B, such as their lengths', one row per row of the
            verdicts: how far each judge follows them, beside which answer the others think better.
        classes : column (2,), optional
            The label of A and that of B.
        says : {"answer", "position"}, default "answer"
            Whether a verdict names the answer or its place.
        first_order : value, optional
            The value of ``order`` in which A is shown first; by default the smaller.
        sample_weight : column, optional
            Weights of at least 0, one per row, in any unit.
        weighting : {"importance", "frequency"}, optional
            What ``sample_weight`` means, as in ``ErrorEstimator.fit``.

        Returns
        -------
        PairEstimator
            Itself.
        """
        level = check_confidence(self.confidence)
        refuse_lazy(
            verdicts=verdicts, swapped=swapped, y_true=y_true, domains=domains,
            label_probability=label_probability, covariates=covariates, sample_weight=sample_weight,
        )  # fmt: skip
        read = read_pairs(verdicts, swapped, classes=classes, says=says, first_order=first_order)
        weight = item_weights(read, sample_weight, weighting)
        bias = bias_of(read, weight, level)
        votes = net_votes(read.score)
        voting = np.flatnonzero((votes >= -1).any(axis=0))
        if len(voting) < 2:
            raise ShapeError(
                f"{len(voting)} judge saw pairs in both orders; its errors show only where another "
                "disagrees, so pass at least two, three to learn anything without gold"
            )
        backend = backend_of(verdicts)
        families = _as_text(same)
        with warnings.catch_warnings():
            # Said below, to who called this, and of what this estimator has.
            said = "votes do not identify|gold labels contradict|near copies count"
            warnings.filterwarnings("ignore", said, KaratWarning)
            estimator = ErrorEstimator(**self.get_params()).fit(
                to_frame(pair_votes(read, votes, voting), backend),
                domains=pair_domains(read, domains),
                y_true=pair_gold(read, y_true),
                labels=labels,
                label_probability=pair_chances(read, label_probability),
                same=families,
                classes=[0, 1],
                sample_weight=None if sample_weight is None else weight,
                weighting=weighting,
            )
        rates, delta = estimator.result_, (1 - level) / 2
        style = pair_styles(read, covariates, rates, weight, delta)
        inside = [domain.items for domain in estimator._votes.domains]
        result = pair_errors(read, bias, rates, voting, inside, weight, style, level)
        self.position_bias_, self.estimator_, self.result_ = bias, estimator, result
        self.classes_, self.label_proba_ = read.classes, estimator.label_proba_
        self.items_ = None if read.items is None else read.items.to_numpy()
        self.status_ = dict(estimator.status_)
        self.identified_ = dict(estimator.identified_)
        self.error_rates_ = pair_table(read, result, backend)
        warn_of_limits_of_the_fit(rates, families, holder="estimator_.")
        return self

    def label_next(self, n: int = 20, *, domain: Any = None, how: str = "strata") -> Any:
        """Draw the pairs to label next, with the probability of each.

        Parameters
        ----------
        n : int, default 20
            How many.
        domain : name, optional
            Take them from this domain only; by default from all, in proportion to their pairs.
        how : {"strata", "random", "contested"}, default "strata"
            As in `ErrorEstimator`.

        Returns
        -------
        frame
            ``domain``, ``item`` (the name of the pair, or its row), ``probability`` and ``doubt``.
        """
        check_fitted(self, "estimator_", "fit(verdicts)")
        return self.estimator_.label_next(n, domain=domain, how=how)


def _as_text(same: Mapping[Any, Any] | None) -> dict[Any, list[str]] | None:
    """Return families by the text of their judges' names, as the columns of votes are called."""
    if same is None:
        return None
    return {family: [str(judge) for judge in judges] for family, judges in same.items()}
