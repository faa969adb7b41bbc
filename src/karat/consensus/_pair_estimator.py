"""Error rates of judges on pairs shown in two orders, with the position bias taken out."""

from collections.abc import Mapping
from typing import Any, Literal, Self

import numpy as np

from karat._parameters import Parameters
from karat._typing import AnyArray, Column, FloatArray, Frame
from karat._validate import check_confidence, collected_alone, read_columns, shown
from karat.consensus._error_estimator import ErrorEstimator
from karat.consensus._position_bias import bias_of, item_weights
from karat.consensus.answers import backend_of, to_frame
from karat.consensus.pair_result import PairErrors, PositionBias
from karat.consensus.pairs import (
    PairVerdicts,
    balanced_limits,
    net_votes,
    read_pairs,
    style_effect,
)
from karat.exceptions import LabelError, LengthMismatchError, ShapeError
from karat.limits.kernels import wilson_limits

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
    identified_ : dict
        By domain, whether votes alone identify the error rates.
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
    >>> u = rng.normal(np.where(y == 0, 1, -1)[:, None] * [2, 1.5, 1.2, 1.2], 1)
    >>> bias = np.array([0.0, 0.5, 1.0, 0.2])
    >>> est = PairEstimator(draws=100, rng=0)
    >>> est = est.fit(np.where(u + bias > 0, "A", "B"), np.where(u - bias > 0, "A", "B"))
    >>> [round(float(b), 1) for b in est.position_bias_.bias]
    [0.0, 0.1, 0.4, 0.1]
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

    def fit(
        self,
        verdicts: Frame,
        swapped: Frame | None = None,
        *,
        y_true: Column | Mapping[Any, Any] | None = None,
        domains: Column | Mapping[Any, Any] | None = None,
        covariates: Frame | None = None,
        classes: Column | None = None,
        says: Literal["answer", "position"] = "answer",
        first_order: Any = None,
        sample_weight: Column | None = None,
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
        domains : column or mapping, optional
            Domain of each pair.
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
            Weights of at least 0, one per row.

        Returns
        -------
        PairEstimator
            Itself.
        """
        level = check_confidence(self.confidence)
        beside = (swapped, y_true, domains, covariates, sample_weight)
        verdicts = collected_alone(verdicts, "verdicts", *beside)
        read = read_pairs(verdicts, swapped, classes=classes, says=says, first_order=first_order)
        weight = item_weights(read, sample_weight)
        bias = bias_of(read, weight, level)
        votes = net_votes(read.score)
        voting = np.flatnonzero((votes >= -1).any(axis=0))
        if len(voting) < 2:
            raise ShapeError(
                f"{len(voting)} judge saw pairs in both orders; its errors show only where another "
                "disagrees, so pass at least two, three to learn anything without gold"
            )
        names = read.judges.tolist()
        columns = {str(names[j]): np.where(votes[:, j] == -2, np.nan, votes[:, j]) for j in voting}
        backend = backend_of(verdicts)
        estimator = ErrorEstimator(**self.get_params()).fit(
            to_frame(columns, backend),
            domains=_domains(read, domains),
            y_true=_gold(read, y_true),
            classes=[0, 1],
            sample_weight=None if sample_weight is None else weight,
        )
        style = _styles(read, covariates, estimator, weight, (1 - level) / 2)
        result = _gather(read, bias, estimator, voting, votes, weight, style, level)
        self.position_bias_, self.estimator_, self.result_ = bias, estimator, result
        self.classes_, self.label_proba_ = read.classes, estimator.label_proba_
        self.items_ = None if read.items is None else read.items.to_numpy()
        self.identified_ = dict(estimator.identified_)
        self.error_rates_ = _table(read, result, backend)
        return self


def _domains(read: PairVerdicts, domains: Any) -> Any:
    if domains is None:
        return None
    found = read.per_item(domains, "domains")
    if any(value is None for value in found):
        raise LabelError("a pair has no domain; pass one for every pair")
    return found


def _gold(read: PairVerdicts, y_true: Any) -> Any:
    if y_true is None:
        return None
    codes = []
    for value in read.per_item(y_true, "y_true"):
        known = value is not None and value != -1 and str(value).lower() not in ("tie", "-1")
        if known and value not in read.classes.tolist():
            raise LabelError(
                f"y_true holds {shown(value)}; expected one of {read.classes.tolist()}, 'tie' or -1"
            )
        codes.append(read.classes.tolist().index(value) if known else -1)
    return codes


def _styles(
    read: PairVerdicts, covariates: Any, estimator: ErrorEstimator, weight: FloatArray, delta: float
) -> tuple[tuple[Any, ...], ...]:
    """Return, covariate by covariate, its effect on each judge: value, lower, upper."""
    if covariates is None:
        return ()
    columns, names = read_columns(covariates, "covariates", each="column per covariate")
    style = np.zeros((read.n_items, len(names)))
    for k, (values, mask) in enumerate(columns):
        if len(values) != len(read.item_of_row):
            raise LengthMismatchError(
                f"the verdicts have {len(read.item_of_row):,} rows and covariates has "
                f"{len(values):,}; pass one row per row"
            )
        if mask is not None or values.dtype.kind not in "biuf":
            raise LabelError(f"covariates column {names[k]!r} holds text or a missing value")
        style[read.item_of_row, k] = values
    spread = style.std(axis=0)
    style = style / np.where(spread > 0, spread, 1.0)  # an effect is that of one standard deviation
    proba = _without(read, estimator)
    says = (
        np.nansum(read.score, axis=0) / np.maximum((~np.isnan(read.score)).sum(axis=0), 1) + 1
    ) / 2
    effect = np.full((3, len(names), read.score.shape[2]), np.nan)
    for j in range(read.score.shape[2]):
        seen = ~np.isnan(read.score[:, :, j]).all(axis=0) & (weight > 0)
        if seen.sum() > 10:
            value, low, high, _ = style_effect(says[seen, j], proba[seen, j], style[seen], delta)
            effect[:, :, j] = value, low, high
    return tuple((name, *effect[:, k]) for k, name in enumerate(names))


def _without(read: PairVerdicts, estimator: ErrorEstimator) -> FloatArray:
    """Return, pairs × judges, P(A is better) from the votes of the other judges alone."""
    votes = net_votes(read.score)
    said = np.zeros(votes.shape)
    strength = np.zeros(votes.shape[1])
    names = [str(name) for name in read.judges.tolist()]
    r = estimator.result_
    for i in range(len(r.mean)):
        j = names.index(str(r.classifiers[r.classifier[i]]))
        wrong = float(np.clip(r.mean[i], 0.01, 0.99))
        strength[j] = np.log((1 - wrong) / wrong)
    said[votes == 0], said[votes == 1] = 1.0, -1.0
    total = said @ strength
    return np.asarray(1 / (1 + np.exp(-(total[:, None] - said * strength))))


def _gather(
    read: PairVerdicts,
    bias: PositionBias,
    estimator: ErrorEstimator,
    voting: Any,
    votes: AnyArray,
    weight: FloatArray,
    style: tuple[tuple[Any, ...], ...],
    level: float,
) -> PairErrors:
    """Return error rates with the bias out, domain by domain."""
    r, delta = estimator.result_, (1 - level) / 2
    judge, domain = voting[r.classifier], r.domain
    inside = [domain_items(estimator, d) for d in range(len(r.domains))]
    seen = np.array(
        [weight[inside[d]] @ (votes[inside[d], j] > -2) for d, j in zip(domain, judge, strict=True)]
    )
    split = np.array(
        [
            weight[inside[d]] @ (votes[inside[d], j] == -1)
            for d, j in zip(domain, judge, strict=True)
        ]
    )
    share = (split / np.maximum(seen, 1e-12), *wilson_limits(split, seen, delta))
    mean, lower, upper = balanced_limits((r.mean, r.lower, r.upper), share)
    half = bias.bias[judge] / 2
    low, high = bias.lower[judge] / 2, bias.upper[judge] / 2
    least = np.where((low < 0) & (high > 0), 0.0, np.minimum(np.abs(low), np.abs(high)))
    identified = r.identified
    return PairErrors(
        domains=tuple(r.domains),
        judges=tuple(read.judges.tolist()),
        domain=domain,
        judge=judge,
        mean=mean,
        lower=lower,
        upper=upper,
        right_first=np.clip(mean - half, 0, 1),
        right_second=np.clip(mean + half, 0, 1),
        cost=np.abs(half),
        cost_lower=least,
        cost_upper=np.maximum(np.abs(low), np.abs(high)),
        agreed=r.mean,
        agreed_lower=r.lower,
        agreed_upper=r.upper,
        bias=bias,
        style=style,
        status=tuple("consistent" if ok else "not identified" for ok in identified),
        classes=read.classes,
        confidence=level,
    )


def domain_items(estimator: ErrorEstimator, d: int) -> AnyArray:
    """Return the items of a domain, as rows of ``label_proba_``."""
    return np.asarray(estimator._votes.domains[d].items)


def _table(read: PairVerdicts, r: PairErrors, backend: Any) -> Any:
    """Return one row per domain and judge, best first within a domain."""
    order = np.lexsort((r.mean, r.domain))
    fields = (
        "mean", "lower", "upper", "right_first", "right_second", "cost", "cost_lower", "cost_upper",
    )  # fmt: skip
    columns: dict[str, Any] = {
        "domain": [r.domains[d] for d in r.domain[order]],
        "judge": read.judges.take(r.judge[order]),
    }
    columns |= {name: np.array(getattr(r, name)[order]) for name in fields}
    columns |= {
        "bias": np.array(r.bias.bias[r.judge[order]]),
        "bias_lower": np.array(r.bias.lower[r.judge[order]]),
        "bias_upper": np.array(r.bias.upper[r.judge[order]]),
    }
    return to_frame(columns, backend)
