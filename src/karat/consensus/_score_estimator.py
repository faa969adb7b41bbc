"""How good judges are who give scores instead of classes."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, Literal, Self

import numpy as np

from karat._callers import caller_level
from karat._parameters import Parameters
from karat._result import Estimate, call_columns, keeps_kind
from karat._sentences import Argument, Option, Remedy
from karat._typing import AnyArray, Column, FloatArray, Frame, IntArray
from karat._validate import (
    check_choice,
    check_classes,
    check_confidence,
    check_count,
    check_fitted,
    check_number,
    check_rng,
    check_weighting,
    check_weights,
    encode_gold,
    encode_names,
    named,
    present_gold,
    refuse_lazy,
    refuse_option,
    shown,
    told_positive,
)
from karat.consensus._answers import to_frame
from karat.consensus.result import ScoreErrors, basis_of_votes
from karat.consensus.scores import ScoreFit, ScoreTable, class_chances, fit_scores, read_scores
from karat.exceptions import (
    DataError,
    LengthMismatchError,
    NotIdentifiedWarning,
    PositiveClassError,
)
from karat.statistics.patterns import effective_counts
from karat.votes.table import PassedValues


class ScoreEstimator(Parameters):
    r"""How well voters tell two classes apart, from their scores and no labels, or a few.

    Ratings, probabilities and log-probabilities are used as they are: only their order counts, so
    no threshold is needed. Items have a hidden class y; voter j sees a normal variable whose means
    differ by :math:`\mu_j` between the classes, and gives the level between whose cut-points it
    lies:

    .. math:: P(\text{level} \le l \mid y) = \Phi(c_{jl} \mp \mu_j / 2)

    The cut-points are free, so any increasing transform of the scores gives the same answer, and
    the odds of the second class rise with the level: a monotone calibration, learnt with the
    consensus. A score with many distinct values is cut at its own quantiles.

    Parameters
    ----------
    levels : int, default 10
        Most levels of a voter; more distinct scores are cut into so many of equal size.
    slack : float, default 0.02
        By how much the limits of error rates are widened on either side: if voters are misled
        together on this share of the items, no rate moves further.
    chains : int, default 4
        Chains from dispersed starts.
    draws : int, default 1000
        Draws kept per chain, after as many that are not; fewer, at least 100, on very large tables.
    confidence : float, default 0.95
        Level of the limits.
    rng : int or Generator, optional
        Randomness.

    Attributes
    ----------
    result_ : ScoreErrors
        Everything below as one frozen answer, with ``summary()`` and ``plot()``.
    error_rates_ : frame
        ``domain``, ``classifier``, ``value``, ``lower``, ``upper``, ``area`` with its limits, best
        first. Frames are of the library that was passed in.
    calibration_ : frame
        ``domain``, ``classifier``, ``from`` (least score of the level) and ``proba``.
    label_proba_ : array (items, 2)
        P(class) of every item.
    status_ : dict
        By domain: "not identified" or "consistent"; and with random gold labels "contradicted" by
        an exact test of the consensus, or "confirmed", as in `ErrorEstimator`.
    identified_ : dict
        By domain, whether the status is consistent or confirmed.
    classes_ : array (2,)
        The classes; a higher score speaks for the second.
    classifiers_ : tuple
        The voters, named as they were passed.
    items_ : array or None
        The items of a long table, in the order of ``label_proba_``.

    Notes
    -----
    The error rate of a voter is that of reading each of its scores as the more probable class. The
    model takes voters to err independently given the class. It is checked on every pair of voters;
    where it fails, the limits span the fits that leave out one voter. It is also compared with one
    scale on which items vary without classes: voters who share a taste look the same as voters who
    see the truth, unless the scores fall into two groups. Where either check fails the domain is
    not identified, and a warning says so, unless gold labels confirm the consensus of a fit that
    has not seen them. The truth is one of two classes; a truth that itself has several levels is
    not modelled.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 500)
    >>> stars = np.clip(np.round(rng.normal(2.2 + 1.6 * y[:, None], [0.5, 0.8, 1.0, 1.5])), 1, 5)
    >>> est = ScoreEstimator(rng=0).fit(stars)
    >>> est.error_rates_["classifier"].tolist()
    ['0', '1', '2', '3']
    """

    result_: ScoreErrors

    def __init__(
        self,
        *,
        levels: int = 10,
        slack: float = 0.02,
        chains: int = 4,
        draws: int = 1000,
        confidence: float = 0.95,
        rng: int | np.random.Generator | None = None,
    ) -> None:
        self.levels = levels
        self.slack = slack
        self.chains = chains
        self.draws = draws
        self.confidence = confidence
        self.rng = rng

    @keeps_kind
    def fit(
        self,
        scores: Frame,
        domains: Column | None = None,
        y_true: Column | Mapping[Any, Any] | None = None,
        *,
        labels: Literal["random", "picked"] = "random",
        classes: Column | None = None,
        sample_weight: Column | None = None,
        weighting: str | None = None,
    ) -> Self:
        """Estimate error rates, calibration and classes.

        Parameters
        ----------
        scores : matrix or frame
            Wide: one row per item, one column per voter, null where a voter was not asked. Or long:
            columns of items, voters and scores, known by their names as in
            `karat.votes.read_patterns`; a ``score`` or ``rating`` comes before a ``vote``.
        domains : column, optional
            Domain of each row; everything is estimated domain by domain.
        y_true : column or mapping, optional
            Gold labels, null or -1 where there is none: one value per row, or a mapping from item
            (row number of a wide table) to label.
        labels : {"random", "picked"}, default "random"
            Whether the items with a gold label were drawn at random, or with known probabilities;
            or picked, and then they do not test the consensus.
        classes : column (2,), optional
            The classes; a higher score speaks for the second. By default 0 and 1, or the two gold
            labels, sorted.
        sample_weight : column, optional
            Weights of at least 0, one per row, in any unit.
        weighting : {"importance", "frequency"}, optional
            What ``sample_weight`` means, as in ``ErrorEstimator.fit``.

        Returns
        -------
        ScoreEstimator
            Itself.
        """
        options = {
            "chains": check_count(self.chains, "chains", at_least=2),
            "draws": check_count(self.draws, "draws", at_least=20),
            "confidence": check_confidence(self.confidence),
            "slack": check_number(self.slack, "slack", at_least=0.0, at_most=0.5),
        }
        most = check_count(self.levels, "levels", at_least=2)
        rng = check_rng(self.rng)
        tested = check_choice(labels, "labels", ("random", "picked")) == "random"
        refuse_lazy(scores=scores, domains=domains, y_true=y_true, sample_weight=sample_weight)
        table = read_scores(scores, most=most)
        order, gold = score_gold(table, y_true, classes)
        codes, names = score_domains(table, domains)
        weight = score_weights(table, sample_weight, weighting, codes)
        fits: list[ScoreFit] = []
        inside: list[tuple[IntArray, IntArray]] = []
        for d in range(len(names)):
            here = np.flatnonzero(codes == d)
            voters = np.flatnonzero((table.codes[here] >= 0).any(axis=0))
            inside.append((here, voters))
            fits.append(
                fit_scores(
                    table.codes[np.ix_(here, voters)],
                    weight[here],
                    gold[here],
                    table.levels[voters],
                    table.fine[voters],
                    rng=rng,
                    tested=tested,
                    **options,  # type: ignore[arg-type]
                )
            )
        self._keep(table, order, names, fits, inside, weight, options, table.library)
        return self

    def _keep(
        self,
        table: ScoreTable,
        classes: AnyArray,
        names: PassedValues,
        fits: list[ScoreFit],
        inside: list[tuple[IntArray, IntArray]],
        weight: FloatArray,
        options: dict[str, Any],
        backend: Any,
    ) -> None:
        """Set every answer."""
        self._table, self._fits, self._inside = table, fits, inside
        call_columns(self, table.called)
        self.classes_, self.classifiers_ = classes, tuple(table.voters.tolist())
        self.items_ = None if table.items is None else table.items.to_numpy()
        proba = np.zeros(len(table.scores))
        for fit, (here, _) in zip(fits, inside, strict=True):
            proba[here] = fit.proba
        self.label_proba_ = np.column_stack([1 - proba, proba])
        r = score_errors(table, classes, names, fits, inside, weight, options)
        self.result_ = r
        self.identified_ = dict(zip(r.domains, r.identified.tolist(), strict=True))
        self.status_ = dict(zip(r.domains, r.status, strict=True))
        self.error_rates_, self.calibration_ = score_tables(table, names, r, backend)
        for said in r._doubts():
            warnings.warn(said, NotIdentifiedWarning, stacklevel=caller_level())

    def predict_proba(self, scores: Frame, *, domain: Any = None) -> FloatArray:
        """Return P(class) of further items from scores of the same voters.

        Parameters
        ----------
        scores : matrix or frame
            Wide: one row per item, the voters in the order of ``classifiers_``.
        domain : name, optional
            Name of the domain; optional when there is one.

        Returns
        -------
        array (n, 2)
            One row per item.
        """
        refuse_lazy(scores=scores)
        check_fitted(self, "result_", "fit(scores)")
        names = list(self.result_.domains)
        if domain is None and len(names) == 1:
            domain = names[0]
        if domain not in names:
            refuse_option(domain, "domain", f"one of {named(names)}")
        d = names.index(domain)
        read = read_scores(scores, most=10**9)
        if read.scores.shape[1] != len(self.classifiers_):
            raise DataError(
                Argument("scores"),
                f" has {read.scores.shape[1]} voters and {len(self.classifiers_)} were fitted",
                Remedy("pass the same columns"),
            )
        voters, fit = self._inside[d][1], self._fits[d]
        codes = self._table.coded(read.scores)[:, voters]
        p = class_chances(codes, fit.chances, float(fit.share[0]))
        return np.column_stack([1 - p, p])


# --- The answer about voters who give scores, gathered from the fits of all domains.


def score_errors(
    table: ScoreTable,
    classes: AnyArray,
    names: PassedValues,
    fits: list[ScoreFit],
    inside: list[tuple[IntArray, IntArray]],
    weight: FloatArray,
    options: dict[str, Any],
) -> ScoreErrors:
    """Gather the fits of all domains."""
    error, area = (np.concatenate([getattr(f, n) for f in fits], axis=1) for n in ("error", "area"))
    voters = np.concatenate([v for _, v in inside])
    given = [weight[here] @ (table.codes[np.ix_(here, v)] >= 0) for here, v in inside]
    starts, proba = [], []
    for fit, (_, own) in zip(fits, inside, strict=True):
        for at, j in enumerate(own):
            k = int(table.levels[j])
            p = float(fit.share[0]) * fit.chances[at, 1, :k]
            q = (1 - float(fit.share[0])) * fit.chances[at, 0, :k]
            starts.append(np.concatenate([[np.nan], table.edges[j]]))
            proba.append(p / np.maximum(p + q, 1e-300))
    identified = np.array([f.status in ("consistent", "confirmed") for f in fits])

    def estimate(value: FloatArray, lower: FloatArray, upper: FloatArray) -> Estimate[FloatArray]:
        level, basis = options["confidence"], basis_of_votes(identified)
        return Estimate(value=value, lower=lower, upper=upper, confidence=level, basis=basis)

    return ScoreErrors(
        domains=tuple(names.tolist()),
        classifiers=tuple(table.voters.tolist()),
        classes=classes,
        domain=np.repeat(np.arange(len(fits)), [len(v) for _, v in inside]),
        classifier=voters,
        scores=np.concatenate(given),
        estimate=estimate(*error),
        area=estimate(*area),
        share=estimate(*np.stack([f.share for f in fits], axis=1)),
        level_from=tuple(starts),
        level_proba=tuple(proba),
        status=tuple(f.status for f in fits),
        identified=identified,
        evidence=tuple("" if f.gold_test is None else str(f.gold_test) for f in fits),
        reasons=tuple(f.reasons for f in fits),
        r_hat=np.array([f.r_hat for f in fits]),
        ess=np.array([f.ess for f in fits]),
        slack=options["slack"],
    )


def score_tables(
    table: ScoreTable, names: PassedValues, r: ScoreErrors, backend: Any
) -> tuple[Any, Any]:
    """Return the table of error rates, best first, and that of the calibration."""
    rows = np.lexsort((r.value, r.domain))
    columns = {
        "value": r.value[rows],
        "lower": r.lower[rows],
        "upper": r.upper[rows],
        "area": r.area.value[rows],
        "area_lower": r.area.lower[rows],
        "area_upper": r.area.upper[rows],
        "scores": r.scores[rows],
    }
    who = {
        "domain": names.take(r.domain[rows]),
        "classifier": table.voters.take(r.classifier[rows]),
    }
    rates = who | columns | {"status": np.array(r.status)[r.domain[rows]]}
    entry = np.repeat(np.arange(len(r.value)), [len(p) for p in r.level_proba])
    calibration = {
        "domain": names.take(r.domain[entry]),
        "classifier": table.voters.take(r.classifier[entry]),
        "from": np.concatenate(r.level_from),
        "proba": np.concatenate(r.level_proba),
    }
    return (
        to_frame(rates, backend, table.called),
        to_frame(calibration, backend, table.called),
    )


# --- What stands beside scores: weights, gold, domains.


def _per_row(table: ScoreTable, values: Any, name: str, absent: float) -> FloatArray:
    """Return one value per item from one per row."""
    found = np.full(len(table.scores), absent)
    if values is None:
        return found
    if len(values) != len(table.item_of_row):
        raise LengthMismatchError(
            f"scores has {len(table.item_of_row):,} rows and {name} has {len(values):,}; pass one "
            "value per row"
        )
    found[table.item_of_row] = values
    return found


def score_gold(table: ScoreTable, y_true: Any, classes: Any) -> tuple[AnyArray, IntArray]:
    """Return the two classes, and the class of each item, -1 where it is not known."""
    order = None if classes is None else check_classes(classes)
    if order is not None and len(order) != 2:
        raise DataError(
            "scores tell two classes apart, and ",
            Option("classes"),
            f" names {shown(order.tolist())}",
        )
    if y_true is None:
        return (np.array([0, 1]) if order is None else order), np.full(len(table.scores), -1)
    column = list(y_true.values()) if isinstance(y_true, Mapping) else y_true
    if order is None:
        values, present = present_gold(column)
        order = np.unique(values[present])
        order = np.array([0, 1]) if set(order.tolist()) <= {0, 1} else order
        if len(order) != 2:
            raise DataError(
                Argument("y_true"),
                f" holds the classes {named(order.tolist())}; scores tell two apart",
                Remedy("Name both with ", Option("classes"), after=". "),
            )
        order = _by_score(order)
    codes = encode_gold(column, order)
    if isinstance(y_true, Mapping):
        listed = range(len(table.scores)) if table.items is None else table.items.tolist()
        place = {item: i for i, item in enumerate(listed)}
        unknown = [item for item in y_true if item not in place]
        if unknown:
            raise DataError(
                Argument("y_true"), f" labels the item {shown(unknown[0])}, which has no score"
            )
        found = np.full(len(table.scores), -1)
        found[[place[item] for item in y_true]] = codes
        return order, found
    return order, _per_row(table, codes, "y_true", -1).astype(np.int64)


def _by_score(classes: AnyArray) -> AnyArray:
    """Return two classes, the one last that a higher score speaks for, if the labels tell it."""
    told = told_positive(classes)
    if told is None:
        first, second = (shown(c) for c in classes.tolist())
        raise PositiveClassError(
            f"labels are {first} and {second}",
            Remedy(
                "say which a higher score speaks for: name both with ",
                Option("classes"),
                f", that one last, for example classes=[{second}, {first}]",
            ),
        )
    return classes if told == 1 else classes[::-1]


def score_domains(table: ScoreTable, domains: Any) -> tuple[IntArray, PassedValues]:
    """Return the domain of each item, and the names."""
    domains = table.domain if domains is None else domains
    if domains is None:
        return np.zeros(len(table.scores), np.int64), PassedValues(np.array(["all"]))
    codes, found = encode_names(domains, "domains")
    names = PassedValues.of_column(domains, codes, len(found))
    return _per_row(table, codes, "domains", 0).astype(np.int64), names


def score_weights(
    table: ScoreTable, sample_weight: Column | None, weighting: str | None, domain: IntArray
) -> FloatArray:
    """Return what each item counts; importances add up to Kish's number in each domain."""
    given = check_weights(sample_weight)
    important = check_weighting(weighting, given)
    weight = np.asarray(_per_row(table, given, "sample_weight", 1.0), dtype=np.float64)
    return effective_counts(weight, weight**2, domain) if important else weight
