"""Systems ranked by what judges say of pairs of their answers."""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from karat._callers import caller_level
from karat._result import Estimate, basis_of, keeps_kind
from karat._sentences import Argument, Expected, Given, Option, Remedy
from karat._typing import AnyArray, Column, FloatArray, IntArray
from karat._validate import check_confidence, check_rng, encode_names, named, read_column, shown
from karat.consensus._answers import check_judges
from karat.consensus._error_estimator import ErrorEstimator
from karat.consensus._pair_estimator import PairEstimator
from karat.consensus._pairs import (
    Strengths,
    judged_strengths,
    powered_strengths,
    rank_limits,
    simultaneous_quantile,
    tiers_of,
)
from karat.consensus.judged import SystemRanking
from karat.exceptions import DataError, LabelError, LengthMismatchError, SmallSampleWarning
from karat.limits.means import normal_quantile
from karat.votes.table import PassedValues

_SURE = 1e-6  # no verdict is more certain than this, whatever a model says
_DRAWS = 30  # of the judges' error rates
_PER_STRENGTH = 5  # gold pairs per strength below which limits are too narrow


@keeps_kind
def rank_systems(
    judges: ErrorEstimator | PairEstimator,
    first: Column | Mapping[Any, Any],
    second: Column | Mapping[Any, Any],
    *,
    y_true: Column | Mapping[Any, Any] | None = None,
    confidence: float = 0.95,
    rng: int | np.random.Generator | None = None,
) -> SystemRanking:
    r"""Rank the systems that wrote the answers, with limits of the ranks that hold at once.

    In the model of Bradley and Terry the answer of system a is better than that of b with
    probability :math:`\sigma(\theta_a - \theta_b)`. Verdicts are not taken for the truth: the
    judges' error rates, and with `PairEstimator` their position bias, are those that were fitted.
    With gold on a random sample of pairs the strengths are prediction-powered: their limits do not
    rest on the judges' errors, and are narrower than those of gold alone as far as judges help.
    Systems that no chain of pairs links are refused: nothing compares them.

    Parameters
    ----------
    judges : ErrorEstimator or PairEstimator
        Fitted to verdicts of two classes, the first answer and the second, without ``y_true=``.
    first, second : column or mapping
        The system that wrote the first answer, of the smaller class, and the second one: one name
        per pair in the order of ``label_proba_``, or a mapping from item to name.
    y_true : column or mapping, optional
        Gold: which answer is better, or "tie"; null or -1 where unknown. The pairs with gold must
        be a random sample.
    confidence : float, default 0.95
        Level of the limits.
    rng : int or Generator, optional
        Randomness of the simultaneous limits.

    Returns
    -------
    SystemRanking
        Strengths, ranks with simultaneous limits, tiers.

    Notes
    -----
    Without gold, judges that favour the style of one system together rank it too high and nothing
    shows it. The limits of ranks come from the joint normal law of all differences of strengths;
    the part that comes from not knowing the error rates is that between draws of the fit.

    References
    ----------
    R. A. Bradley and M. E. Terry, Rank analysis of incomplete block designs, Biometrika 39 (1952).
    A. N. Angelopoulos, J. C. Duchi and T. Zrnic, PPI++: efficient prediction-powered inference,
    2023.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.permuted(np.tile(["x", "y", "z"], (900, 1)), axis=1)[:, :2].T
    >>> skill = {"x": 1.0, "y": 0.0, "z": -1.0}
    >>> d = np.array([skill[p] - skill[q] for p, q in zip(a, b)])
    >>> y = (rng.random(900) > 1 / (1 + np.exp(-d))).astype(int)
    >>> votes = np.where(rng.random((900, 4)) < 0.2, 1 - y[:, None], y[:, None])
    >>> fitted = ErrorEstimator(draws=100, rng=0).fit(votes)
    >>> rank_systems(fitted, a, b, rng=0).systems
    ('x', 'y', 'z')
    """
    level, generator = check_confidence(confidence), check_rng(rng)
    check_judges(judges)
    fitted = judges.estimator_ if isinstance(judges, PairEstimator) else judges
    labels = np.asarray(judges.classes_)
    if len(labels) != 2:
        raise LabelError(
            f"the verdicts have the classes {named(labels.tolist())}; a pair has two answers, and "
            "a tie is -1"
        )
    items = judges.items_
    one, two, names = _systems(fitted, items, first, second)
    proba = np.clip(fitted.label_proba_[:, 0], _SURE, 1 - _SURE)
    gold = _gold(fitted, items, y_true, labels)
    known = ~np.isnan(gold)
    k = len(names)
    _check_linked(one, two, names)
    if known.any():
        if (fitted._votes.gold >= 0).any():
            raise DataError(
                "judges were fitted with ",
                Option("y_true"),
                ", so their consensus has seen gold labels",
                Remedy("fit them without, and pass the gold pairs here alone"),
            )
        _check_linked(one[known], two[known], names, gold=True)
        _warn_of_few(int(known.sum()), k)
        found = powered_strengths(one, two, proba, gold, k)
    else:
        found = _judged(fitted, one, two, k)
    identified = bool(fitted.result_.identified.all())
    return _ranking(found, names, one, two, int(known.sum()), identified, level, generator)


def _per_item(
    fitted: ErrorEstimator, items: AnyArray | None, values: Any, name: str
) -> tuple[list[Any], Any]:
    """Return one value per item (None: missing), and the column to name them by."""
    n = len(fitted.label_proba_)
    if not isinstance(values, Mapping):
        array, mask = read_column(values, name)
        if len(array) != n:
            raise LengthMismatchError(
                f"judges were fitted to {n:,} pairs and {name} has {len(array):,}; pass one value "
                "per pair in the order of label_proba_, or a mapping from item to value"
            )
        gone = np.zeros(n, bool) if mask is None else mask
        return [None if g else v for v, g in zip(array.tolist(), gone, strict=True)], values
    listed = list(range(n)) if items is None else items.tolist()
    return [values.get(item) for item in listed], None


def _systems(
    fitted: ErrorEstimator, items: AnyArray | None, first: Any, second: Any
) -> tuple[IntArray, IntArray, list[Any]]:
    """Return the system of each answer as positions, and their names."""
    both = []
    for values, name in ((first, "first"), (second, "second")):
        found, _ = _per_item(fitted, items, values, name)
        if any(v is None for v in found):
            missing = found.index(None)
            raise LabelError(
                Argument.of(name),
                f" names no system for pair {missing}",
                Remedy("name one for every pair"),
            )
        both.append(found)
    codes, order = encode_names([*both[0], *both[1]], "first and second")
    one, two = np.split(codes, 2)
    if len(order) < 2:
        raise DataError(f"all answers are of {shown(order[0])}; a ranking needs two systems")
    same = np.flatnonzero(one == two)
    if same.size:
        raise DataError(
            f"pair {int(same[0])} compares {shown(order[one[same[0]]])} with itself; drop it"
        )
    return one, two, PassedValues(order).tolist()


def _check_linked(one: IntArray, two: IntArray, names: list[Any], *, gold: bool = False) -> None:
    """Refuse systems that no chain of pairs links: their order would come from the prior alone."""
    from scipy import sparse

    k = len(names)
    links = sparse.csr_matrix((np.ones(len(one)), (one, two)), shape=(k, k))
    count, part = sparse.csgraph.connected_components(links, directed=False)
    if count == 1:
        return
    mine = ", ".join(str(names[i]) for i in np.flatnonzero(part == part[0]))
    inside = [", ".join(str(names[i]) for i in np.flatnonzero(part == c)) for c in range(count)]
    others = " or ".join(text for text in inside if text != mine)
    are = "are" if (part == part[0]).sum() > 1 else "is"
    compared = "compared in a gold pair" if gold else "compared"
    cure = (
        "label more random pairs, or pass no y_true"
        if gold
        else "rank each part by itself, or add pairs that link them"
    )
    raise DataError(f"{mine} {are} never {compared}, even through others, with {others}; {cure}")


def _gold(
    fitted: ErrorEstimator, items: AnyArray | None, y_true: Any, labels: AnyArray
) -> FloatArray:
    """Return 1 where the first answer is better, 0 the second, ½ a tie, NaN unknown."""
    gold = np.full(len(fitted.label_proba_), np.nan)
    if y_true is None:
        return gold
    known = labels.tolist()
    for i, value in enumerate(_per_item(fitted, items, y_true, "y_true")[0]):
        if value is None or value in (-1, "-1"):
            continue
        if value in known:
            gold[i] = 1.0 - known.index(value)
        elif str(value).lower() in ("tie", "draw"):
            gold[i] = 0.5
        else:
            raise LabelError(
                Argument("y_true"),
                " holds ",
                Given(value),
                ", which is not a class label of the verdicts; expected ",
                Expected(f"one of {known} or 'tie'"),
            )
    return gold


def _warn_of_few(n: int, k: int) -> None:
    if n < _PER_STRENGTH * (k - 1):
        warnings.warn(
            f"{n} gold pairs for {k} systems: limits from so few are too narrow; label at least "
            f"{_PER_STRENGTH * (k - 1)} random pairs",
            SmallSampleWarning,
            stacklevel=caller_level(),
        )


def _judged(fitted: ErrorEstimator, one: IntArray, two: IntArray, k: int) -> Strengths:
    """Return strengths from verdicts alone, with what is not known of the error rates."""
    ratio = np.zeros((_DRAWS, len(one)))
    for d, name in enumerate(fitted.result_.domains):
        domain = fitted._votes.domains[d]
        codes = domain.table.dense()
        for m, model in enumerate(fitted.as_label_model(name).draws(_DRAWS)):
            p = model.predict_codes(codes)[domain.pattern, 0]
            ratio[m, domain.items] = _log_odds(p) - _log_odds(model.class_prior_[0])
    drawn = [judged_strengths(one, two, r, k) for r in ratio]
    values = np.array([found.value for found in drawn])
    within = np.mean([found.covariance for found in drawn], axis=0)
    return Strengths(values.mean(axis=0), within + np.cov(values.T))


def _log_odds(p: Any) -> Any:
    sure = np.clip(p, _SURE, 1 - _SURE)
    return np.log(sure / (1 - sure))


def _ranking(
    found: Strengths,
    names: list[Any],
    one: IntArray,
    two: IntArray,
    n_gold: int,
    identified: bool,
    level: float,
    rng: np.random.Generator,
) -> SystemRanking:
    k = len(names)
    order = np.argsort(-found.value, kind="stable")
    value, covariance = found.value[order], found.covariance[np.ix_(order, order)]
    quantile = simultaneous_quantile(covariance, level, rng)
    best, worst, better = rank_limits(value, covariance, quantile)
    reach = normal_quantile((1 - level) / 2) * np.sqrt(np.maximum(np.diag(covariance), 0.0))
    pairs = np.bincount(one, minlength=k) + np.bincount(two, minlength=k)
    return SystemRanking(
        systems=tuple(names[i] for i in order),
        estimate=Estimate(
            value=value,
            lower=value - reach,
            upper=value + reach,
            confidence=level,
            basis=basis_of("approximate" if n_gold else "model" if identified else "untested"),
        ),
        rank_best=best,
        rank_worst=worst,
        tier=tiers_of(better),
        n_pairs=pairs[order].astype(np.float64),
        method="gold" if n_gold else "judged",
        n_gold=n_gold,
        identified=identified,
    )
