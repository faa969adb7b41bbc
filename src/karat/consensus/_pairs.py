"""Pairs of answers that judges saw in two orders: reading, position bias, the systems compared.

`read_pairs` reads verdicts A, B or tie in both orders, with repeats, as one number per order;
`picks_first`, `net_votes` and `tango_limits` turn them into the bias of each judge and into one
vote that the position does not move; `judged_strengths` and `powered_strengths` rank the systems
that wrote the answers.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from karat._result import refuse_other_order
from karat._sentences import Argument, Expected, Given, Option, Remedy
from karat._typing import AnyArray, BoolArray, Column, FloatArray, Frame, IntArray
from karat._validate import (
    check_choice,
    check_classes,
    encode_names,
    named,
    native_frame,
    read_column,
    shown,
)
from karat.exceptions import ColumnError, DataError, EmptyDataError, LabelError, LengthMismatchError
from karat.limits.means import normal_quantile
from karat.limits.resampling import enough_draws
from karat.votes.names import BOTH_ORDERS
from karat.votes.reading import answer_names
from karat.votes.table import Cells, PassedValues, TableOfVotes, VoteColumn, table_of

# --- Verdicts on pairs of answers, shown in two orders, from wide and long tables.

_TIES = ("tie", "draw", "equal", "both", "neither", "same")


@dataclass(frozen=True, slots=True)
class PairVerdicts:
    """Verdicts as numbers: +1 for the first answer, -1 for the second, 0 for neither."""

    score: FloatArray  # (2 orders, items, judges), NaN where not asked; repeats are averaged
    classes: AnyArray  # what the two answers are called
    judges: PassedValues
    items: PassedValues | None  # None: the rows of wide tables
    item_of_row: IntArray  # the item of each row that was passed
    domain: Any  # the column of domains, one per row, None if there is none
    repeats: int  # verdicts beyond the first of a judge on an item in an order
    called: Mapping[str, str]  # what the table calls its items, judges and domains
    library: Any  # the dataframe library of the table, None for a matrix

    @property
    def n_items(self) -> int:
        """Number of pairs."""
        return int(self.score.shape[1])

    def per_item(self, values: Column | Mapping[Any, Any] | None, name: str) -> list[Any]:
        """Return one value per item, None where there is none; a column has one per row."""
        found: list[Any] = [None] * self.n_items
        if values is None:
            return found
        listed = list(range(self.n_items)) if self.items is None else self.items.tolist()
        if isinstance(values, Mapping):
            place = {item: i for i, item in enumerate(listed)}
            unknown = [item for item in values if item not in place]
            if unknown:
                raise DataError(
                    Argument.of(name),
                    f" names the item {shown(unknown[0])}, which has no verdict; items are "
                    f"{named(listed[:3])}",
                )
            for item, value in values.items():
                found[place[item]] = value
            return found
        array, mask = read_column(values, name)
        if len(array) != len(self.item_of_row):
            raise LengthMismatchError(
                f"the verdicts have {len(self.item_of_row):,} rows and {name} has {len(array):,}; "
                "pass one value per row, or a mapping from item to value"
            )
        for row, item in enumerate(self.item_of_row.tolist()):
            if mask is None or not mask[row]:
                found[item] = array[row].item()
        return found


def read_pairs(
    verdicts: Frame,
    swapped: Frame | None,
    *,
    classes: Column | None,
    says: str,
    first_order: Any,
) -> PairVerdicts:
    """Read verdicts: two wide tables, or one long table with the order in a column or in two."""
    check_choice(says, "says", ("answer", "position"))
    if swapped is not None:
        table = table_of(verdicts, "verdicts", long=False)
        cells, item, who, order, value, absent = _two_tables(table, swapped)
    else:
        table, beside = _long_table(verdicts)
        cells, item, who, order, value, absent = _one_table(table, beside, first_order)
    code, order_of = _sides(value, absent, classes)
    if says == "position":  # what is named is where the answer stood: turn it in the second order
        code = np.where(order == 1, -code, code)
    score, repeats = _averaged(item, who, order, code, absent, cells.n_items, len(cells.voters))
    return PairVerdicts(
        score,
        order_of,
        cells.voters,
        cells.items,
        cells.item_of_row,
        table.column("domain"),
        repeats,
        answer_names(table),
        table.library,
    )


_Verdicts = tuple[Cells, IntArray, IntArray, IntArray, AnyArray, BoolArray]


def _two_tables(table: TableOfVotes, swapped: Any) -> _Verdicts:
    """Return items, judges, orders and verdicts of two wide tables, one per order."""
    other = table_of(swapped, "swapped", long=False)
    if "item" not in table.called and "item" not in other.called:
        refuse_other_order({"verdicts": table.wide, "swapped": other.wide})
    one = table.cells(null=-1, each="column per judge")
    two = other.cells(null=-1, each="column per judge")
    pairs = _same(two.items, one.items, "pairs", two.n_items, one.n_items)
    judges = _same(two.voters, one.voters, "judges", len(two.voters), len(one.voters))
    columns = [c._replace(item=pairs[c.item], voter=judges[c.voter]) for c in two.columns]
    item, who, value, absent = one._replace(columns=(*one.columns, *columns)).listed()
    order = np.repeat([0, 1], [sum(len(c.item) for c in part) for part in (one.columns, columns)])
    return one, item, who, order, value, absent


def _same(
    mine: PassedValues | None, theirs: PassedValues | None, what: str, n: int, wanted: int
) -> IntArray:
    """Return where each of the pairs, or judges, of the swapped table stands in the first one."""
    if n != wanted:
        raise LengthMismatchError(
            f"verdicts has {wanted:,} {what} and swapped has {n:,}; pass the same {what} in both"
        )
    if mine is None or theirs is None:
        return np.arange(n)
    place = {name: i for i, name in enumerate(theirs.tolist())}
    other = [name for name in mine.tolist() if name not in place]
    if other:
        raise ColumnError(
            f"swapped has the {what} {named(other)}, which verdicts has not; name them alike"
        )
    return np.array([place[name] for name in mine.tolist()])


def _long_table(verdicts: Any) -> tuple[TableOfVotes, tuple[str, ...]]:
    """Return a long table, and its column of the order, or of the verdicts in either order."""
    given = isinstance(verdicts, TableOfVotes)
    frame = verdicts.frame if given else native_frame(verdicts, "verdicts")
    columns = [] if frame is None else [c for c in frame.columns if isinstance(c, str)]
    none: tuple[str, ...] = ()
    beside = next((pair for pair in BOTH_ORDERS if set(pair) <= set(columns)), none)
    beside = beside or tuple(c for c in columns if c.casefold() == "order")[:1]
    if beside:
        parts = ("item", "voter") if len(beside) > 1 else ("item", "voter", "vote")
        table = table_of(verdicts, "verdicts", beside=beside, long=True, parts=parts)
        if table.is_long:
            return table, beside
    raise ColumnError(
        Argument("verdicts"),
        f" has the columns {named(columns)}; expected ",
        Expected(
            "a long table with 'item', 'judge', 'order' and 'verdict' (or "
            "'verdict_order1' and 'verdict_order2'), or two wide tables, one per "
            "order: ",
            Option("swapped"),
        ),
    )


def _one_table(table: TableOfVotes, beside: tuple[str, ...], first_order: Any) -> _Verdicts:
    """Return items, judges, orders and verdicts of a long table."""
    cells = table.cells(null=-1)
    if len(beside) > 1:
        item, who = cells.item_of_row, cells.voter_of_row
        assert who is not None
        read = [read_column(table.frame[c].to_native(), c, null=-1) for c in beside]
        columns = tuple(VoteColumn(c, item, who, *r) for c, r in zip(beside, read, strict=True))
        listed = cells._replace(columns=columns).listed()
        return cells, listed.item, listed.voter, np.repeat([0, 1], len(item)), *listed[2:]
    item, who, value, absent = cells.listed()
    order, orders = encode_names(table.frame[beside[0]].to_native(), "order")
    listed_orders = orders.tolist()
    if len(listed_orders) != 2:
        raise LabelError(
            f"order holds {named(listed_orders)}; expected two values, one for each order of a pair"
        )
    if first_order is not None:
        if first_order not in listed_orders:
            raise LabelError(
                Argument("first_order"),
                " is ",
                Given(first_order),
                f" and order holds {named(listed_orders)}",
            )
        order = np.where(order == listed_orders.index(first_order), 0, 1)
    return cells, item, who, order, value, absent


def _sides(value: AnyArray, absent: Any, classes: Column | None) -> tuple[FloatArray, AnyArray]:
    """Return +1, -1 or 0 of each verdict, and what the two answers are called."""
    if absent.all():
        raise EmptyDataError("no verdict is given; pass at least one per order")
    text = value.dtype.kind == "U"
    if value.dtype.kind == "f":
        value = np.where(absent, 0, value).astype(np.int64)
    nothing = absent | (value == ("-1" if text else -1))
    if text:
        words, word = np.unique(value.astype(str), return_inverse=True)
        nothing |= np.isin(np.char.lower(words), _TIES)[word]
    order = np.unique(value[~nothing]) if classes is None else check_classes(classes)
    if len(order) != 2:
        raise LabelError(
            f"the verdicts name {named(order.tolist())}; expected ",
            Expected("two answers, a tie ('tie') and -1 for no verdict"),
            Remedy("Name the two with ", Option("classes"), after=". "),
        )
    known = nothing | np.isin(value, order)
    if not known.all():
        raise LabelError(
            f"a verdict is {shown(value[~known][0])}, which is neither of {named(order.tolist())} "
            "nor a tie"
        )
    code = np.where(nothing, 0.0, np.where(value == order[0], 1.0, -1.0))
    return code, order


def _averaged(
    item: IntArray, who: IntArray, order: IntArray, code: FloatArray, absent: Any, n: int, m: int
) -> tuple[FloatArray, int]:
    """Return the mean of the repeats, orders × items × judges, and how many repeats there are."""
    there = ~absent
    cell = (order[there] * n + item[there]) * m + who[there]
    count = np.bincount(cell, minlength=2 * n * m)
    total = np.bincount(cell, weights=code[there], minlength=2 * n * m)
    mean = np.divide(total, count, out=np.full(2 * n * m, np.nan), where=count > 0)
    return mean.reshape(2, n, m), int(np.maximum(count - 1, 0).sum())


def picks_first(score: FloatArray) -> FloatArray:
    """Return, items × judges, how far the verdicts follow the position: 1 always the first.

    ``score`` (2, items, judges) is +1 where a judge says A and -1 where it says B; A is shown first
    in the first order. A judge that says the same in both orders counts 0; NaN without both.
    """
    return np.asarray((score[0] - score[1]) / 2)


def net_votes(score: FloatArray) -> IntArray:
    """Return, items × judges, 0 for A, 1 for B, -1 where the orders cancel, -2 without both."""
    total = score[0] + score[1]
    vote = np.where(total > 0, 0, np.where(total < 0, 1, -1))
    return np.where(np.isnan(total), -2, vote)


def predictive_limits(
    bias: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    spread: FloatArray,
    n: float,
    delta: float,
) -> tuple[FloatArray, FloatArray]:
    """Return limits of the bias that n further items will show.

    To the distance of a limit comes that of a mean of n items of variance ``spread``.
    """
    more = normal_quantile(delta) ** 2 * spread / n
    low = bias - np.sqrt((bias - lower) ** 2 + more)
    high = bias + np.sqrt((upper - bias) ** 2 + more)
    return np.maximum(low, -1.0), np.minimum(high, 1.0)


def balanced_limits(
    wrong: tuple[FloatArray, FloatArray, FloatArray], split: tuple[FloatArray, ...]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return e·(1 − s) + s/2 with limits, from those of e and s (value, lower, upper).

    Distances are added in squares (the method of variance estimates recovery of G. Y. Zou and
    A. Donner, Construction of confidence limits about effect measures, Statistics in Medicine 27,
    2008).
    """
    (e, e_low, e_high), (s, s_low, s_high) = wrong, split
    value = e * (1 - s) + s / 2
    slope = 0.5 - e
    toward = np.where(slope > 0, s - s_low, s_high - s)
    away = np.where(slope > 0, s_high - s, s - s_low)
    low = value - np.hypot((e - e_low) * (1 - s), slope * toward)
    high = value + np.hypot((e_high - e) * (1 - s), slope * away)
    return value, np.clip(low, 0, 1), np.clip(high, 0, 1)


# --- Limits of the difference of two shares that one sample gives.

_HALVINGS = 50


def tango_limits(
    plus: FloatArray, minus: FloatArray, n: FloatArray, delta: float
) -> tuple[FloatArray, FloatArray]:
    """Return limits of p₊ − p₋ by the score test, on arrays of counts that need not be whole.

    T. Tango, Equivalence test and confidence interval for the difference in proportions for the
    paired-sample design, Statistics in Medicine 17 (1998). Without items the limits are -1 and 1.
    """
    high = _upper(plus, minus, n, delta)
    low = -_upper(minus, plus, n, delta)
    return np.where(n > 0, low, -1.0), np.where(n > 0, high, 1.0)


def _upper(plus: FloatArray, minus: FloatArray, n: FloatArray, delta: float) -> FloatArray:
    """Return the greatest difference that the score test does not reject."""
    z = normal_quantile(delta)
    size = np.maximum(n, 1e-12)
    low, high = (plus - minus) / size, np.ones(np.shape(n))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        inner = (plus + minus) * (1 - middle) - 2 * middle * (size - plus)
        root = np.sqrt(np.maximum(inner**2 + 8 * size * minus * middle * (1 - middle), 0.0))
        share = np.clip((inner + root) / (4 * size), np.maximum(0.0, -middle), (1 - middle) / 2)
        variance = size * np.maximum(2 * share + middle - middle**2, 1e-15)
        kept = size * middle - (plus - minus) <= z * np.sqrt(variance)
        low, high = np.where(kept, middle, low), np.where(kept, high, middle)
    return np.asarray(low)


# --- Strengths of systems from judged pairs: Bradley and Terry's model with verdicts that may err.
#
# The better answer of item i is that of system a with probability :math:`\sigma(\theta_a -
# \theta_b)`. Strengths sum to 0 and have a weak normal prior, so that a system that never loses
# stays finite.

_PRIOR = 1 / 3.0**2  # inverse variance of a strength
_ROUNDS = 200
_CLOSE = 1e-9


class Strengths(NamedTuple):
    """Strengths that sum to 0, with their covariance."""

    value: FloatArray
    covariance: FloatArray


def judged_strengths(first: IntArray, second: IntArray, ratio: FloatArray, k: int) -> Strengths:
    r"""Return the strengths given the log-likelihood ratio of the verdicts of each item.

    ``ratio`` is log P(verdicts | the first is better) − log P(verdicts | the second is). The
    likelihood of an item is :math:`\sigma(d)e^{r} + 1 - \sigma(d)`; it is maximised by Newton steps
    on the expected complete likelihood, and the covariance is the sandwich's.
    """
    x = _design(first, second, k)
    theta = np.zeros(k)
    for _ in range(_ROUNDS):
        p = _sigmoid(x @ theta)
        soft = _sigmoid(x @ theta + ratio)
        step = _solve(x, p * (1 - p), x.T @ (soft - p) - _PRIOR * theta)
        theta = theta + step
        if np.abs(step).max() < _CLOSE:
            break
    p, soft = _sigmoid(x @ theta), _sigmoid(x @ theta + ratio)
    information = p * (1 - p) - soft * (1 - soft)
    return Strengths(theta, _sandwich(x, information, (soft - p)[:, None] * x))


def powered_strengths(
    first: IntArray, second: IntArray, soft: FloatArray, gold: FloatArray, k: int
) -> Strengths:
    """Return the strengths from a few gold pairs, helped by what the judges say of all.

    ``soft`` is what the judges make of each item (probability that the first is better), ``gold``
    the truth (1, 0 or ½), NaN where unknown. The gradient of the gold pairs is corrected by that of
    the predictions on all pairs with the weight of PPI++ (A. N. Angelopoulos, J. C. Duchi and
    T. Zrnic, 2023), which is 0 where the judges do not help.
    """
    x = _design(first, second, k)
    known = ~np.isnan(gold)
    weight = 0.0
    for _ in range(3):
        theta = _powered_root(x, soft, gold, known, weight)
        weight = _power(x, soft, gold, known, theta)
    theta = _powered_root(x, soft, gold, known, weight)
    p, n = _sigmoid(x @ theta), int(known.sum())
    off = (p - np.nan_to_num(gold))[:, None] * x
    guess = (p - soft)[:, None] * x
    hessian = _hessian(x, p, known, weight)
    few = (n / max(n - (k - 1), 1)) ** 2  # residuals of pairs that the strengths were fitted to
    meat = few * _cov(off[known] - weight * guess[known]) / n + weight**2 * _cov(guess) / len(x)
    inverse = np.linalg.inv(hessian)
    return Strengths(theta, inverse @ meat @ inverse)


def _powered_root(
    x: FloatArray, soft: FloatArray, gold: FloatArray, known: BoolArray, weight: float
) -> FloatArray:
    """Return where the corrected gradient is 0."""
    n, theta = known.sum(), np.zeros(x.shape[1])
    for _ in range(_ROUNDS):
        p = _sigmoid(x @ theta)
        gradient = weight * x.T @ (p - soft) / len(x) + _PRIOR / n * theta
        gradient += x[known].T @ ((p - gold)[known] - weight * (p - soft)[known]) / n
        step = np.linalg.solve(_hessian(x, p, known, weight), gradient)
        size = np.abs(step).max()
        theta = theta - step * min(1.0, 2.0 / max(size, 1e-12))
        if size < _CLOSE:
            break
    return theta


def _power(
    x: FloatArray, soft: FloatArray, gold: FloatArray, known: BoolArray, theta: FloatArray
) -> float:
    """Return how much the predictions help, between 0 and 1."""
    p, n = _sigmoid(x @ theta), known.sum()
    inverse = np.linalg.inv(_hessian(x, p, known, 0.0))
    off = (((p - gold)[:, None] * x) @ inverse)[known]
    guess = ((p - soft)[:, None] * x) @ inverse
    own = guess[known]
    both = ((off - off.mean(axis=0)) * (own - own.mean(axis=0))).sum() / n
    alone = guess.var(axis=0).sum() * (1 + n / len(x))
    return float(np.clip(both / max(alone, 1e-12), 0.0, 1.0))


def _hessian(x: FloatArray, p: FloatArray, known: BoolArray, weight: float) -> FloatArray:
    """Return the curvature of the corrected loss; strengths are kept to the sum 0."""
    spread, n = p * (1 - p), known.sum()
    all_items = (x * spread[:, None]).T @ x / len(x)
    labelled = (x[known] * spread[known, None]).T @ x[known] / n
    k = x.shape[1]
    ridge = (_PRIOR / n) * np.eye(k) + np.ones((k, k)) / k
    return np.asarray(weight * all_items + (1 - weight) * labelled + ridge)


def _design(first: IntArray, second: IntArray, k: int) -> FloatArray:
    x = np.zeros((len(first), k))
    x[np.arange(len(first)), first] += 1.0
    x[np.arange(len(first)), second] -= 1.0
    return x


def _sigmoid(values: FloatArray) -> FloatArray:
    from scipy.special import expit

    return np.asarray(expit(values))


def _solve(x: FloatArray, spread: FloatArray, gradient: FloatArray) -> FloatArray:
    k = x.shape[1]
    hessian = (x * spread[:, None]).T @ x + _PRIOR * np.eye(k)
    return np.asarray(np.linalg.solve(hessian, gradient))


def _sandwich(x: FloatArray, information: FloatArray, score: FloatArray) -> FloatArray:
    k, n = x.shape[1], len(x)
    hessian = (x * information[:, None]).T @ x + _PRIOR * np.eye(k) + n * np.ones((k, k)) / k
    inverse = np.linalg.inv(hessian)
    few = (n / max(n - (k - 1), 1)) ** 2
    return np.asarray(inverse @ (few * n * _cov(score)) @ inverse)


def _cov(values: FloatArray) -> FloatArray:
    centred = values - values.mean(axis=0)
    return np.asarray(centred.T @ centred / len(values))


_STYLE_ROUNDS = 100
_STYLE_CLOSE = 1e-8
_STYLE_PRIOR = 1 / 2.5**2  # inverse variance of the slopes, on covariates of unit spread


def style_effect(
    says_first: FloatArray, better: FloatArray, style: FloatArray, delta: float
) -> tuple[FloatArray, FloatArray, FloatArray, float]:
    r"""Return the effect of each covariate on the log-odds of "A", its limits, and the skill.

    .. math:: P(\text{A} \mid y, x) = \sigma(a\,y + \gamma^\top x), \quad y = \pm 1

    ``says_first`` is 1 where the judge says A (½: split), ``better`` the probability, from the
    other judges, that A is better, and ``style`` (items × covariates) the difference of A and B.
    The class is summed out by expectation and maximisation; limits are the sandwich's.
    """
    from scipy.special import expit

    n, k = style.shape
    theta = np.zeros(1 + k)
    theta[0] = 1.0
    plus, minus = (np.column_stack([np.full(n, s), style]) for s in (1.0, -1.0))
    for _ in range(_STYLE_ROUNDS):
        up, down = expit(plus @ theta), expit(minus @ theta)
        like_up = up**says_first * (1 - up) ** (1 - says_first)
        like_down = down**says_first * (1 - down) ** (1 - says_first)
        r = better * like_up / np.maximum(better * like_up + (1 - better) * like_down, 1e-300)
        gradient = plus.T @ (r * (says_first - up)) + minus.T @ ((1 - r) * (says_first - down))
        hessian = (plus * (r * up * (1 - up))[:, None]).T @ plus
        hessian += (minus * ((1 - r) * down * (1 - down))[:, None]).T @ minus
        hessian += _STYLE_PRIOR * np.eye(1 + k)
        step = np.linalg.solve(hessian, gradient - _STYLE_PRIOR * theta)
        theta = theta + step
        if np.abs(step).max() < _STYLE_CLOSE:
            break
    score = (
        plus * (r * (says_first - up))[:, None] + minus * ((1 - r) * (says_first - down))[:, None]
    )
    spread = plus * (says_first - up)[:, None] - minus * (says_first - down)[:, None]
    information = hessian - (spread * (r * (1 - r))[:, None]).T @ spread
    value, vector = np.linalg.eigh(information)
    inverse = (vector / np.maximum(value, 1e-3 * n**0.5)) @ vector.T
    covariance = inverse @ (score.T @ score) @ inverse
    reach = normal_quantile(delta) * np.sqrt(np.maximum(np.diag(covariance)[1:], 0.0))
    return theta[1:], theta[1:] - reach, theta[1:] + reach, float(theta[0])


# --- Ranks of strengths that are known only so well, with limits that hold at once.

_LEAST_DRAWS = 20_000


def simultaneous_quantile(
    covariance: FloatArray, confidence: float, rng: np.random.Generator
) -> float:
    """Return the quantile of the greatest standardised difference of any two strengths."""
    k = len(covariance)
    spread = _spread(covariance)
    value, vector = np.linalg.eigh(covariance)
    root = vector * np.sqrt(np.maximum(value, 0.0))
    draws = enough_draws(1.0 - confidence, least=_LEAST_DRAWS, width=k, shared=1.0)
    z = rng.standard_normal((draws, k)) @ root.T
    i, j = np.triu_indices(k, 1)
    scale = np.maximum(spread[i, j], 1e-12)
    greatest = np.zeros(draws)
    for a, b, s in zip(i, j, scale, strict=True):
        greatest = np.maximum(greatest, np.abs(z[:, a] - z[:, b]) / s)
    return float(np.quantile(greatest, confidence))


def rank_limits(
    strength: FloatArray, covariance: FloatArray, quantile: float
) -> tuple[IntArray, IntArray, BoolArray]:
    """Return the best and the worst rank of each, and who is certainly better than whom."""
    apart = (strength[:, None] - strength[None, :]) > quantile * _spread(covariance)
    np.fill_diagonal(apart, False)
    best = 1 + apart.sum(axis=0)
    worst = len(strength) - apart.sum(axis=1)
    return best, worst, apart


def tiers_of(better: BoolArray) -> IntArray:
    """Return tiers: the first holds whom nobody is certainly better than, and so on."""
    tier = np.zeros(len(better), dtype=np.int64)
    left = np.ones(len(better), dtype=bool)
    level = 0
    while left.any():
        level += 1
        top = left & ~(better & left[:, None]).any(axis=0)
        tier[top] = level
        left &= ~top
    return tier


def _spread(covariance: FloatArray) -> FloatArray:
    """Return the standard error of each difference."""
    own = np.diag(covariance)
    return np.sqrt(np.maximum(own[:, None] + own[None, :] - 2 * covariance, 0.0))
