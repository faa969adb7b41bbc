"""How good judges of pairs are, and whether they favour the answer that stands first."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal, Self

import numpy as np

from karat._parameters import Parameters
from karat._result import Estimate, call_columns, keeps_kind
from karat._sentences import Argument, Expected, Given
from karat._typing import AnyArray, Column, FloatArray, Frame, IntArray
from karat._validate import (
    check_confidence,
    check_fitted,
    check_weighting,
    check_weights,
    read_columns,
    refuse_lazy,
)
from karat.consensus._answers import labels_table, to_frame, warn_of_limits_of_the_fit
from karat.consensus._error_estimator import ErrorEstimator
from karat.consensus._pairs import (
    PairVerdicts,
    balanced_limits,
    net_votes,
    picks_first,
    read_pairs,
    style_effect,
    tango_limits,
)
from karat.consensus.judged import PairErrors, PositionBias
from karat.consensus.result import ErrorRates
from karat.exceptions import DataError, KaratWarning, LabelError, LengthMismatchError, ShapeError
from karat.limits.proportions import wilson_limits
from karat.statistics.patterns import effective_counts


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
        ``domain``, ``judge``, ``value``, ``lower``, ``upper``, the rates in one order only and what
        one order may cost. Frames are of the library that was passed in.
    position_bias_ : PositionBias
        The bias of each judge.
    estimator_ : ErrorEstimator
        What was fitted to the votes without the bias: labels, status, explanations.
    label_proba_ : array (pairs, 2)
        P(A is better) and P(B is better) of every pair.
    labels_ : frame
        The answer of every pair that is more probably the better one, and its probability.
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
    >>> [round(float(b), 1) for b in est.position_bias_.value]
    [0.0, 0.2, 0.5, 0.1]
    """

    result_: PairErrors

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
            verdicts=verdicts,
            swapped=swapped,
            y_true=y_true,
            domains=domains,
            label_probability=label_probability,
            covariates=covariates,
            sample_weight=sample_weight,
        )
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
        backend = read.library
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
        self._called, self._items, self._library = read.called, read.items, read.library
        call_columns(self, read.called)
        warn_of_limits_of_the_fit(rates, families, holder="estimator_.")
        return self

    @property
    def labels_(self) -> Any:
        """The more probable answer of every pair with its probability: a frame."""
        check_fitted(self, "estimator_", "fit(verdicts)")
        return labels_table(
            self.label_proba_, self.classes_, self._items, None, self._called, self._library
        )

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
            ``domain``, ``item`` (the name of the pair, or its row; called as in a long table),
            ``probability`` and ``doubt``.
        """
        check_fitted(self, "estimator_", "fit(verdicts)")
        import narwhals as nw

        drawn = nw.from_native(self.estimator_.label_next(n, domain=domain, how=how))
        called = {own: name for own, name in self._called.items() if own in drawn.columns}
        return drawn.rename(called).to_native()


def _as_text(same: Mapping[Any, Any] | None) -> dict[Any, list[str]] | None:
    """Return families by the text of their judges' names, as the columns of votes are called."""
    if same is None:
        return None
    return {family: [str(judge) for judge in judges] for family, judges in same.items()}


@keeps_kind
def position_bias(
    verdicts: Frame,
    swapped: Frame | None = None,
    *,
    classes: Column | None = None,
    says: Literal["answer", "position"] = "answer",
    first_order: Any = None,
    sample_weight: Column | None = None,
    weighting: str | None = None,
    confidence: float = 0.95,
) -> PositionBias:
    r"""Return how far each judge's verdict follows the position of an answer; no gold is needed.

    A pair (A, B) is shown with A first and with B first. A judge without bias gives the same
    verdict; one that always says what stands first says A, then B. Over pairs,

    .. math:: \beta_j = P(\text{says the first, twice}) - P(\text{says the second, twice})

    which is also the difference of its error rates when the better answer is shown second and
    first. Ties and repeats count in part.

    Parameters
    ----------
    verdicts : matrix or frame
        Wide: one row per pair, one column per judge, the verdicts with A shown first. Or long: a
        frame with ``item``, ``judge``, ``order`` and ``verdict``, or with ``verdict_order1`` and
        ``verdict_order2``, or items, judges and verdicts by the other names that
        `karat.votes.read_patterns` knows; a judge's repeats of one pair in one order are averaged.
        A verdict is one of two labels, "tie", -1 (no verdict) or null (not asked).
    swapped : matrix or frame, optional
        Beside a wide table: the verdicts with B shown first.
    classes : column (2,), optional
        The label of A and that of B; by default those found, sorted.
    says : {"answer", "position"}, default "answer"
        Whether a verdict names the answer, whatever its place, or the place: the first label for
        what is shown first.
    first_order : value, optional
        The value of ``order`` in which A is shown first; by default the smaller.
    sample_weight : column, optional
        Weights of at least 0, one per row, in any unit.
    weighting : {"importance", "frequency"}, optional
        What ``sample_weight`` means, as in ``ErrorEstimator.fit``.
    confidence : float, default 0.95
        Level of the limits.

    Returns
    -------
    PositionBias
        The bias and the share of verdicts that flip, with limits.

    Notes
    -----
    Limits invert the score test of Tango (1998), for each judge alone; they are for the kind of
    pairs seen. ``expected_on(n)`` has those of the bias that n further pairs will show.

    Examples
    --------
    >>> first = [["A", "A"], ["A", "B"], ["A", "A"], ["B", "B"]]
    >>> second = [["B", "A"], ["B", "B"], ["A", "A"], ["B", "B"]]
    >>> position_bias(first, second).value.tolist()
    [0.5, 0.0]
    """
    level = check_confidence(confidence)
    refuse_lazy(verdicts=verdicts, swapped=swapped, sample_weight=sample_weight)
    read = read_pairs(verdicts, swapped, classes=classes, says=says, first_order=first_order)
    found = bias_of(read, item_weights(read, sample_weight, weighting), level)
    return call_columns(found, read.called)


# --- The position bias of verdicts that are read, with limits.


def item_weights(
    read: PairVerdicts, sample_weight: Column | None, weighting: str | None = None
) -> FloatArray:
    """Return what each pair counts; all rows of a pair have one weight.

    Importances add up to Kish's effective number of pairs.
    """
    found = np.ones(read.n_items)
    weight = check_weights(sample_weight)
    important = check_weighting(weighting, weight)
    if weight is not None:
        if len(weight) != len(read.item_of_row):
            raise LengthMismatchError(
                f"the verdicts have {len(read.item_of_row):,} rows and ",
                Argument("sample_weight"),
                f" has {len(weight):,}; pass one weight per row",
            )
        found[read.item_of_row] = weight
    return effective_counts(found, found**2) if important else found


def bias_of(read: PairVerdicts, weight: FloatArray, confidence: float) -> PositionBias:
    """Return the bias of verdicts that are read."""
    delta = (1 - confidence) / 2
    follow = picks_first(read.score)
    both, some = ~np.isnan(follow), ~np.isnan(read.score).all(axis=0)
    n = weight @ both
    if not (n > 0).any():
        raise DataError(
            "no judge saw any pair in both orders, so its bias does not show; ask each pair twice, "
            "with the answers swapped"
        )
    value = np.nan_to_num(follow)
    plus, minus = weight @ np.maximum(value, 0), weight @ np.maximum(-value, 0)
    lower, upper = tango_limits(plus, minus, n, delta)
    flips_lower, flips_upper = wilson_limits(plus + minus, n, delta)
    size = np.where(n > 0, n, np.nan)
    likely = partial(Estimate.of, confidence=confidence, guarantee="approximate")
    return PositionBias(
        judges=tuple(read.judges.tolist()),
        n=n,
        one_order=weight @ (some & ~both),
        estimate=likely((plus - minus) / size, lower, upper),
        flips=likely((plus + minus) / size, flips_lower, flips_upper),
        repeats=read.repeats,
    )


# --- Error rates of judges on pairs, with the position bias taken out.


def pair_errors(
    read: PairVerdicts,
    bias: PositionBias,
    r: ErrorRates,
    voting: IntArray,
    inside: Sequence[AnyArray],
    weight: FloatArray,
    style: tuple[tuple[Any, ...], ...],
    level: float,
) -> PairErrors:
    """Return error rates with the bias out, from those of votes where both orders agree.

    ``voting`` holds the judges that voted, ``inside`` the pairs of each domain.
    """
    votes, delta = net_votes(read.score), (1 - level) / 2
    judge, domain = voting[r.classifier], r.domain
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
    mean, lower, upper = balanced_limits((r.value, r.lower, r.upper), share)
    half = bias.value[judge] / 2
    low, high = bias.lower[judge] / 2, bias.upper[judge] / 2
    least = np.where((low < 0) & (high > 0), 0.0, np.minimum(np.abs(low), np.abs(high)))
    return PairErrors(
        domains=tuple(r.domains),
        judges=tuple(read.judges.tolist()),
        domain=domain,
        judge=judge,
        estimate=replace(r.estimate, value=mean, lower=lower, upper=upper),
        right_first=np.clip(mean - half, 0, 1),
        right_second=np.clip(mean + half, 0, 1),
        cost=replace(
            bias.estimate,
            value=np.abs(half),
            lower=least,
            upper=np.maximum(np.abs(low), np.abs(high)),
        ),
        agreed=r.estimate,
        bias=bias,
        style=style,
        status=r.status,
        reasons=r.reasons,
        evidence=r.evidence,
        classes=read.classes,
    )


def pair_table(read: PairVerdicts, r: PairErrors, backend: Any) -> Any:
    """Return one row per domain and judge, best first within a domain."""
    order = np.lexsort((r.value, r.domain))
    columns: dict[str, Any] = {
        "domain": [r.domains[d] for d in r.domain[order]],
        "judge": read.judges.take(r.judge[order]),
    }
    columns |= {
        "value": r.value[order],
        "lower": r.lower[order],
        "upper": r.upper[order],
        "right_first": r.right_first[order],
        "right_second": r.right_second[order],
        "cost": r.cost.value[order],
        "cost_lower": r.cost.lower[order],
        "cost_upper": r.cost.upper[order],
        "bias": r.bias.value[r.judge[order]],
        "bias_lower": r.bias.lower[r.judge[order]],
        "bias_upper": r.bias.upper[r.judge[order]],
    }
    return to_frame(columns, backend, read.called)


# --- What stands beside the verdicts on pairs: domains, gold, style.


def pair_votes(read: PairVerdicts, votes: IntArray, voting: IntArray) -> dict[str, Any]:
    """Return the columns of votes of the judges that voted, and the names of the pairs."""
    names = read.judges.tolist()
    columns: dict[str, Any] = {
        str(names[j]): np.where(votes[:, j] == -2, np.nan, votes[:, j]) for j in voting
    }
    if read.items is not None and "item" not in columns:
        columns["item"] = read.items.take(np.arange(read.n_items))
    return columns


def pair_chances(read: PairVerdicts, label_probability: Any) -> Any:
    """Return the chance with which every pair was drawn, NaN where it was not."""
    if label_probability is None:
        return None
    found = read.per_item(label_probability, "label_probability")
    return np.array([np.nan if value is None else value for value in found], dtype=np.float64)


def pair_domains(read: PairVerdicts, domains: Any) -> Any:
    """Return the domain of every pair."""
    domains = read.domain if domains is None else domains
    if domains is None:
        return None
    found = read.per_item(domains, "domains")
    if any(value is None for value in found):
        raise LabelError("a pair has no domain; pass one for every pair")
    return found


def pair_gold(read: PairVerdicts, y_true: Any) -> Any:
    """Return 0 or 1, the better answer of every pair, -1 where it is not known."""
    if y_true is None:
        return None
    codes = []
    for value in read.per_item(y_true, "y_true"):
        known = value is not None and value != -1 and str(value).lower() not in ("tie", "-1")
        if known and value not in read.classes.tolist():
            raise LabelError(
                Argument("y_true"),
                " holds ",
                Given(value),
                "; expected ",
                Expected(f"one of {read.classes.tolist()}, 'tie' or -1"),
            )
        codes.append(read.classes.tolist().index(value) if known else -1)
    return codes


def pair_styles(
    read: PairVerdicts, covariates: Any, rates: ErrorRates, weight: FloatArray, delta: float
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
    proba = _without(read, rates)
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


def _without(read: PairVerdicts, rates: ErrorRates) -> FloatArray:
    """Return, pairs × judges, P(A is better) from the votes of the other judges alone."""
    votes = net_votes(read.score)
    said = np.zeros(votes.shape)
    strength = np.zeros(votes.shape[1])
    names = [str(name) for name in read.judges.tolist()]
    r = rates
    for i in range(len(r.value)):
        j = names.index(str(r.classifiers[r.classifier[i]]))
        wrong = float(np.clip(r.value[i], 0.01, 0.99))
        strength[j] = np.log((1 - wrong) / wrong)
    said[votes == 0], said[votes == 1] = 1.0, -1.0
    total = said @ strength
    return np.asarray(1 / (1 + np.exp(-(total[:, None] - said * strength))))
