"""Error rates of voters who give scores: ratings, probabilities, log-probabilities."""

import warnings
from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from karat._parameters import Parameters
from karat._typing import AnyArray, Column, FloatArray, Frame, IntArray
from karat._validate import (
    check_classes,
    check_confidence,
    check_count,
    check_fitted,
    check_number,
    check_rng,
    check_weights,
    collected_alone,
    encode_gold,
    encode_labels,
    named,
    refuse_option,
    shown,
)
from karat.consensus.answers import backend_of, to_frame
from karat.consensus.score_result import ScoreErrors
from karat.consensus.scores import ScoreFit, ScoreTable, class_chances, fit_scores, read_scores
from karat.exceptions import DataError, LengthMismatchError, NotIdentifiedWarning
from karat.votes.reading import PassedValues

__all__ = ["ScoreEstimator"]


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
        ``domain``, ``classifier``, ``mean``, ``lower``, ``upper``, ``area`` with its limits, best
        first. Frames are of the library that was passed in.
    calibration_ : frame
        ``domain``, ``classifier``, ``from`` (least score of the level) and ``proba``.
    label_proba_ : array (items, 2)
        P(class) of every item.
    identified_ : dict
        By domain, whether the scores alone identify the error rates.
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
    where it fails, the limits span the fits that leave out one voter. Without gold labels it is
    also compared with one scale on which items vary without classes: voters who share a taste look
    the same as voters who see the truth, unless the scores fall into two groups. Where either check
    fails the domain is not identified, and a warning says so.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 500)
    >>> stars = np.clip(np.round(rng.normal(2.2 + 1.6 * y[:, None], [0.6, 0.9, 1.2])), 1, 5)
    >>> est = ScoreEstimator(draws=200, rng=0).fit(stars)
    >>> est.error_rates_["classifier"].tolist()
    ['0', '1', '2']
    """

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

    def fit(
        self,
        scores: Frame,
        domains: Column | None = None,
        y_true: Column | Mapping[Any, Any] | None = None,
        *,
        classes: Column | None = None,
        sample_weight: Column | None = None,
    ) -> Self:
        """Estimate error rates, calibration and classes.

        Parameters
        ----------
        scores : matrix or frame
            Wide: one row per item, one column per voter, null where a voter was not asked. Or long:
            ``item``, ``classifier`` (or ``judge``) and ``score`` (or ``rating``, ``vote``).
        domains : column, optional
            Domain of each row; everything is estimated domain by domain.
        y_true : column or mapping, optional
            Gold labels, null or -1 where there is none: one value per row, or a mapping from item
            (row number of a wide table) to label.
        classes : column (2,), optional
            The classes; a higher score speaks for the second. By default 0 and 1, or the two gold
            labels, sorted.
        sample_weight : column, optional
            Weights of at least 0, one per row; a weight of 2 counts as two equal items.

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
        scores = collected_alone(scores, "scores", domains, y_true, sample_weight)
        table = read_scores(scores, most=most)
        order, gold = _gold(table, y_true, classes)
        weight = _per_row(table, check_weights(sample_weight), "sample_weight", 1.0)
        codes, names = _domains(table, domains)
        fits: list[ScoreFit] = []
        inside: list[tuple[IntArray, IntArray]] = []
        for d in range(len(names)):
            here = np.flatnonzero(codes == d)
            voters = np.flatnonzero((table.codes[here] >= 0).any(axis=0))
            inside.append((here, voters))
            fits.append(
                fit_scores(
                    table.codes[np.ix_(here, voters)], weight[here], gold[here],
                    table.levels[voters], table.fine[voters], rng=rng, **options,  # type: ignore[arg-type]
                )
            )  # fmt: skip
        self._keep(table, order, names, fits, inside, weight, options, backend_of(scores))
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
        self.classes_, self.classifiers_ = classes, tuple(table.voters.tolist())
        self.items_ = None if table.items is None else table.items.to_numpy()
        proba = np.zeros(len(table.scores))
        for fit, (here, _) in zip(fits, inside, strict=True):
            proba[here] = fit.proba
        self.label_proba_ = np.column_stack([1 - proba, proba])
        self.result_ = r = _result(table, classes, names, fits, inside, weight, options)
        self.identified_ = dict(zip(r.domains, r.identified.tolist(), strict=True))
        rows = np.lexsort((r.mean, r.domain))
        fields = ("mean", "lower", "upper", "area", "area_lower", "area_upper", "scores")
        columns = {name: np.array(getattr(r, name)[rows]) for name in fields}
        self.error_rates_ = to_frame(
            {
                "domain": names.take(r.domain[rows]),
                "classifier": table.voters.take(r.classifier[rows]),
                **columns,
                "identified": np.array(r.identified[r.domain[rows]]),
            },
            backend,
        )
        entry = np.repeat(np.arange(len(r.mean)), [len(p) for p in r.level_proba])
        self.calibration_ = to_frame(
            {
                "domain": names.take(r.domain[entry]),
                "classifier": table.voters.take(r.classifier[entry]),
                "from": np.concatenate(r.level_from),
                "proba": np.concatenate(r.level_proba),
            },
            backend,
        )
        if not r.identified.all():
            where = [str(d) for d, ok in self.identified_.items() if not ok]
            warnings.warn(
                f"scores alone do not identify the error rates in {named(where)}: "
                f"{'; '.join(r.reasons[int(np.flatnonzero(~r.identified)[0])])}",
                NotIdentifiedWarning,
                stacklevel=3,
            )

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
                f"scores has {read.scores.shape[1]} voters and {len(self.classifiers_)} were "
                "fitted; pass the same columns"
            )
        voters, fit = self._inside[d][1], self._fits[d]
        codes = self._table.coded(read.scores)[:, voters]
        p = class_chances(codes, fit.chances, float(fit.share[0]))
        return np.column_stack([1 - p, p])


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


def _gold(table: ScoreTable, y_true: Any, classes: Any) -> tuple[AnyArray, IntArray]:
    """Return the two classes, and the class of each item, -1 where it is not known."""
    order = None if classes is None else check_classes(classes)
    if order is not None and len(order) != 2:
        raise DataError(
            f"scores tell two classes apart, and classes= names {shown(order.tolist())}"
        )
    if y_true is None:
        return (np.array([0, 1]) if order is None else order), np.full(len(table.scores), -1)
    column = list(y_true.values()) if isinstance(y_true, Mapping) else y_true
    if order is None:
        from karat._validate import present_gold

        values, present = present_gold(column)
        order = np.unique(values[present])
        order = np.array([0, 1]) if set(order.tolist()) <= {0, 1} else order
        if len(order) != 2:
            raise DataError(
                f"y_true holds the classes {named(order.tolist())}; scores tell two apart. Name "
                "both with classes="
            )
    codes = encode_gold(column, order)
    if isinstance(y_true, Mapping):
        listed = range(len(table.scores)) if table.items is None else table.items.tolist()
        place = {item: i for i, item in enumerate(listed)}
        unknown = [item for item in y_true if item not in place]
        if unknown:
            raise DataError(f"y_true labels the item {shown(unknown[0])}, which has no score")
        found = np.full(len(table.scores), -1)
        found[[place[item] for item in y_true]] = codes
        return order, found
    return order, _per_row(table, codes, "y_true", -1).astype(np.int64)


def _domains(table: ScoreTable, domains: Any) -> tuple[IntArray, PassedValues]:
    """Return the domain of each item, and the names."""
    if domains is None:
        return np.zeros(len(table.scores), np.int64), PassedValues(np.array(["all"]))
    (codes,), found = encode_labels({"domains": domains})
    names = PassedValues.of_column(domains, codes, len(found))
    return _per_row(table, codes, "domains", 0).astype(np.int64), names


def _result(
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
    share = np.array([f.share for f in fits])
    return ScoreErrors(
        domains=tuple(names.tolist()),
        classifiers=tuple(table.voters.tolist()),
        classes=classes,
        domain=np.repeat(np.arange(len(fits)), [len(v) for _, v in inside]),
        classifier=voters,
        scores=np.concatenate(given),
        mean=error[0],
        lower=error[1],
        upper=error[2],
        area=area[0],
        area_lower=area[1],
        area_upper=area[2],
        share=share[:, 0],
        share_lower=share[:, 1],
        share_upper=share[:, 2],
        level_from=tuple(starts),
        level_proba=tuple(proba),
        identified=np.array([not f.reasons for f in fits]),
        reasons=tuple(f.reasons for f in fits),
        r_hat=np.array([f.r_hat for f in fits]),
        ess=np.array([f.ess for f in fits]),
        slack=options["slack"],
        confidence=options["confidence"],
    )
