"""The cheapest judges whose consensus is as certain as that of all."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from karat._frames import keeps_kind
from karat._typing import Column, FloatArray
from karat._validate import (
    check_confidence,
    check_count,
    check_number,
    named,
    read_column,
    refuse_option,
)
from karat.consensus._error_estimator import ErrorEstimator
from karat.consensus._pair_estimator import PairEstimator
from karat.consensus.judging import check_judges
from karat.consensus.panel_result import JudgePanel
from karat.consensus.panels import Losses, cheapest

__all__ = ["cheapest_panel"]


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

    .. math:: L(S) = E\left[\max_k P(k \mid \text{all votes})
        - P(\hat k_S \mid \text{all votes})\right]

    the errors of its consensus beyond those of the consensus of all. The panel is the cheapest set
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
    What is compared is the panel with all judges, not with the truth: where all are wrong
    together, so is the panel. Copies of a judge add nothing, and the model of copying knows that.

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
    lower, upper = np.quantile([one.of(panel.judges) for one in drawn], tails)
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
        loss=panel.loss,
        loss_lower=min(float(lower), panel.loss),
        loss_upper=max(float(upper), panel.loss),
        error_of_all=losses.error_of_all,
        tolerance=most,
        exact=panel.exact,
        identified=bool(fitted.result_.identified[d]),
        domain=names[d],
        confidence=level,
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
