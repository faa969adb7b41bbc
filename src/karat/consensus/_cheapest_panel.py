"""The cheapest panel of judges that decides nearly as well as all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri

from karat._result import Estimate, keeps_kind
from karat._typing import Column, FloatArray, IntArray
from karat._validate import (
    check_confidence,
    check_count,
    check_number,
    named,
    read_column,
    refuse_option,
)
from karat.consensus._answers import check_judges
from karat.consensus._error_estimator import ErrorEstimator
from karat.consensus._pair_estimator import PairEstimator
from karat.consensus.judged import JudgePanel
from karat.consensus.result import basis_of_votes


@keeps_kind
def cheapest_panel(
    judges: ErrorEstimator | PairEstimator,
    *,
    cost: Mapping[Any, float] | Column | None = None,
    tolerance: float = 0.01,
    domain: Any = None,
    draws: int = 40,
    confidence: float = 0.95,
) -> JudgePanel:
    r"""Return the cheapest set of judges whose consensus is as certain as that of all.

    Asked alone, a set S decides for the class that is most probable given its votes. Under the
    model fitted to all votes this loses

    .. math:: L(S) = E\left[P(\hat k_{\text{all}} \mid \text{all votes})
        - P(\hat k_S \mid \text{all votes})\right]

    the errors of its consensus beyond those of the consensus of all. Where an item is labelled, its
    label takes the place of these probabilities: the consensus of all may be wrong there, and L may
    be negative, where fewer judges decide better than all. The panel is the cheapest set
    with L within the tolerance: up to twelve judges of all sets, beyond by adding judges one at a
    time and dropping those not needed.

    Parameters
    ----------
    judges : ErrorEstimator or PairEstimator
        Fitted to the votes.
    cost : mapping or column, optional
        What asking each judge once costs: by name, or in the order of the judges. By default all
        cost the same.
    tolerance : float, default 0.01
        Share of items that may be lost.
    domain : name, optional
        The domain; optional when there is one.
    draws : int, default 40
        Draws of the error rates for the limits of the loss.
    confidence : float, default 0.95
        Level of the limits.

    Returns
    -------
    JudgePanel
        The panel, what each judge adds, the loss with limits.

    Notes
    -----
    On items without a label the panel is compared with all judges, not with the truth: where all
    are wrong together, so is the panel. Copies of a judge add nothing, and the model of copying
    knows that.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 800)
    >>> votes = np.where(rng.random((800, 4)) < [0.02, 0.3, 0.3, 0.35], 1 - y[:, None], y[:, None])
    >>> fitted = ErrorEstimator(draws=100, rng=0).fit(votes)
    >>> cheapest_panel(fitted).chosen.tolist()
    [True, False, False, False]
    """
    most = check_number(tolerance, "tolerance", at_least=0.0, at_most=0.5)
    count, level = check_count(draws, "draws", at_least=2), check_confidence(confidence)
    check_judges(judges)
    fitted = judges.estimator_ if isinstance(judges, PairEstimator) else judges
    model = fitted.as_label_model(domain)
    names = list(fitted.result_.domains)
    d = 0 if domain is None else names.index(domain)
    here = fitted._votes.domains[d]
    voters = tuple(fitted.classifiers_[j] for j in here.voters)
    price = _costs(cost, voters)
    codes, table = here.table.dense(), here.table
    losses = Losses(codes, table.count, model.predict_codes, table.gold)
    panel = cheapest(losses.of, price, most)
    everyone = tuple(range(len(voters)))
    drawn = [
        Losses(codes, table.count, one.predict_codes, table.gold) for one in model.draws(count)
    ]
    without = [tuple(k for k in everyone if k != j) for j in everyone]
    out = np.array([losses.of(rest) if rest else 0.5 for rest in without])
    tails = [(1 - level) / 2, (1 + level) / 2]
    labelled = losses.labelled(panel.judges, level)
    rest = [one.of(panel.judges) - labelled.value for one in drawn]
    lower, upper = np.add(np.quantile(rest, tails), [labelled.lower, labelled.upper])
    idle = np.array(
        [
            bool(rest) and float(np.mean([one.of(rest) <= most for one in drawn])) > 0.5
            for rest in without
        ]
    )
    return JudgePanel(
        judges=voters,
        chosen=np.isin(np.arange(len(voters)), panel.judges),
        cost=price,
        alone=np.array([losses.of((j,)) for j in everyone]),
        left_out=out,
        adds_nothing=idle & (out <= most),
        estimate=Estimate(
            value=panel.loss,
            lower=min(float(lower), panel.loss),
            upper=max(float(upper), panel.loss),
            confidence=level,
            basis=basis_of_votes(fitted.result_.identified[d]),
        ),
        error_of_all=losses.error_of_all,
        n_labels=labelled.n,
        tolerance=most,
        exact=panel.exact,
        identified=bool(fitted.result_.identified[d]),
        domain=names[d],
    )


def _costs(cost: Any, voters: tuple[Any, ...]) -> FloatArray:
    """Return what each judge costs."""
    if cost is None:
        return np.ones(len(voters))
    if isinstance(cost, Mapping):
        keys = [v if v in cost else str(v) for v in voters]
        missing = [k for k in keys if k not in cost]
        if missing:
            refuse_option(cost, "cost", f"a number for every judge; {named(missing)} has none")
        values = [cost[k] for k in keys]
    else:
        values = read_column(cost, "cost")[0].tolist()
        if len(values) != len(voters):
            refuse_option(cost, "cost", f"one number per judge: {named(voters)}")
    return np.array([check_number(v, "cost", at_least=0.0) for v in values])


# --- How much certainty is lost when only some judges are asked.


class LabelledLoss(NamedTuple):
    """What labelled items add to a loss, as a share of all items, with limits."""

    n: int
    value: float
    lower: float
    upper: float


class Losses:
    """Expected errors of the consensus of some judges, under the model fitted to all.

    Where items are labelled the labels are the truth, and the consensus of all may be wrong there:
    fewer judges may then decide better than all, at a loss below 0.

    Parameters
    ----------
    codes : array (patterns, voters)
        Votes: a class, -1 for an abstention, -2 for a vote that was not asked for.
    weight : array (patterns,)
        Items of each pattern.
    predict : callable
        P(class) of rows of codes, under the fitted model.
    gold : array (patterns,), optional
        Class of a pattern whose items were labelled, -1 otherwise.
    """

    def __init__(
        self,
        codes: IntArray,
        weight: FloatArray,
        predict: Callable[[IntArray], FloatArray],
        gold: IntArray | None = None,
    ) -> None:
        self.codes, self.weight, self.predict = codes, weight / weight.sum(), predict
        self.full, self.count = predict(codes), weight
        self.known = np.zeros(len(codes), dtype=bool) if gold is None else gold >= 0
        if gold is not None and self.known.any():
            self.full = self.full.copy()
            self.full[self.known] = np.eye(self.full.shape[1])[gold[self.known]]
        self._found: dict[tuple[int, ...], float] = {}
        self._right = self._right_of(tuple(range(codes.shape[1])))

    @property
    def error_of_all(self) -> float:
        """Expected error of the consensus of all judges."""
        return float(self.weight @ (1 - self._right))

    def of(self, judges: tuple[int, ...]) -> float:
        """Return the errors beyond those of all judges if only these are asked."""
        key = tuple(sorted(judges))
        if key not in self._found:
            self._found[key] = float(self.per_pattern(key) @ self.weight)
        return self._found[key]

    def labelled(self, judges: tuple[int, ...], confidence: float) -> LabelledLoss:
        """Return the part of the loss that labelled items show, with limits for items like them.

        A labelled item is lost, won or neither, and the limits of a paired difference are those of
        Agresti and Min (2005), with half an item added to each of the four kinds.
        """
        n = float(self.count[self.known].sum())
        if not n:
            return LabelledLoss(0, 0.0, 0.0, 0.0)
        apart, items = self.per_pattern(judges)[self.known], self.count[self.known]
        lost, won = (float(items[apart * sign > 0.5].sum()) for sign in (1, -1))
        share, total = n / float(self.count.sum()), n + 2
        middle = (lost - won) / total
        spread = np.sqrt(((lost + won + 1) / total - middle**2) / total)
        half = float(ndtri((1 + confidence) / 2)) * spread
        ends = (share * max(middle - half, -1.0), share * min(middle + half, 1.0))
        return LabelledLoss(int(n), share * (lost - won) / n, *ends)

    def per_pattern(self, judges: tuple[int, ...]) -> FloatArray:
        """Return the expected loss of every pattern."""
        return np.asarray(self._right - self._right_of(judges))

    def _right_of(self, judges: tuple[int, ...]) -> FloatArray:
        """Return how probably the consensus of these judges is right, for every pattern."""
        asked = np.full_like(self.codes, -2)
        asked[:, list(judges)] = self.codes[:, list(judges)]
        rows, inverse = np.unique(asked, axis=0, return_inverse=True)
        choice = self.predict(rows).argmax(axis=1)[inverse.reshape(-1)]
        return np.asarray(self.full[np.arange(len(choice)), choice])


# --- The cheapest set of judges that loses little.

_EXACT = 12  # judges up to which every set is tried


class Panel(NamedTuple):
    """A set of judges, what it loses, and whether no cheaper set does as well."""

    judges: tuple[int, ...]
    loss: float
    exact: bool


def cheapest(loss: Callable[[tuple[int, ...]], float], cost: FloatArray, tolerance: float) -> Panel:
    """Return the cheapest set whose loss is within the tolerance.

    Up to twelve judges every set is tried, in the order of their cost; beyond, judges are added by
    what they save per cost and then dropped where they are not needed.
    """
    m = len(cost)
    if m <= _EXACT:
        sets = [s for r in range(1, m + 1) for s in combinations(range(m), r)]
        sets.sort(key=lambda s: (round(float(cost[list(s)].sum()), 9), len(s), s))
        within, best = None, np.inf
        for s in sets:
            price = float(cost[list(s)].sum())
            if within is not None and price > best + 1e-9:
                break
            found = loss(s)
            if found <= tolerance and (within is None or found < within.loss - 1e-12):
                within, best = Panel(s, found, True), price
        everyone = tuple(range(m))  # who lose nothing beside themselves
        return Panel(everyone, loss(everyone), True) if within is None else within
    return _greedy(loss, cost, tolerance)


def _greedy(loss: Callable[[tuple[int, ...]], float], cost: FloatArray, tolerance: float) -> Panel:
    left, now = set(range(len(cost))), np.inf
    chosen: tuple[int, ...] = ()
    while now > tolerance:
        tried = {j: loss((*chosen, j)) for j in left}
        start = 0.5 if not np.isfinite(now) else now
        j = max(left, key=lambda k: ((start - tried[k]) / max(float(cost[k]), 1e-12), -cost[k], -k))
        if tried[j] >= now:  # nobody helps alone: take the one that harms least
            j = min(left, key=lambda k: (tried[k], cost[k], k))
        chosen, now = (*chosen, j), tried[j]
        left.discard(j)
        if not left:
            break
    for j in sorted(chosen, key=lambda k: -cost[k]):
        rest = tuple(k for k in chosen if k != j)
        if rest and loss(rest) <= tolerance:
            chosen = rest
    return Panel(tuple(sorted(chosen)), loss(chosen), False)
