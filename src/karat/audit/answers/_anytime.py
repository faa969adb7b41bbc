"""Limits that hold at every look, and how the estimate went."""

import numpy as np

from karat._typing import FloatArray, IntArray
from karat.audit.answers._evidence import Evidence
from karat.audit.gating import Bets, labels_ahead
from karat.limits import AnytimeLimits
from karat.limits.kernels import Steps, anytime_path, holding, stratified_steps, value_grid
from karat.metrics.estimates import table_values

__all__ = ["anytime_limits", "more_until"]

# In strata the worst case is rarer and further off than in one sample, so bets may risk more.
_MOST_LOST = 0.9
_BOX = 41  # values of each share that a metric of two classes is tried at


def anytime_limits(evidence: Evidence, *, delta: float, confidence: float) -> AnytimeLimits | None:
    """Return the limits after each label; None where there are none.

    A metric that is a sum of ratios gets an equal part of the error for each. Of two classes any
    other metric is a function of two shares, that of either call, and its limits are its extremes
    between theirs. Labels that were not drawn step by step have none.
    """
    if evidence.chance is None or not len(evidence.stratum):
        return None
    ends = _sum_of_ratios(evidence, delta)
    if ends is None:
        ends = _two_shares(evidence, delta)
    if ends is None:
        return None
    estimates = _estimates(evidence)
    lowers, uppers = holding(estimates, *ends)
    return AnytimeLimits(
        of=evidence.calls.metric.title,
        estimates=estimates,
        lowers=lowers,
        uppers=uppers,
        confidence=confidence,
        n_total=len(evidence.calls.code),
    )


def _sum_of_ratios(evidence: Evidence, delta: float) -> tuple[FloatArray, FloatArray] | None:
    ratios = _ratios(evidence)
    if ratios is None:
        return None
    low, high = np.zeros(len(evidence.stratum)), np.zeros(len(evidence.stratum))
    every = np.arange(evidence.strata.n)
    for factor, top, bottom, span in ratios:
        ends = _path(evidence, every, top, bottom, span, delta / len(ratios))
        if factor < 0:
            ends = ends[1], ends[0]
        low, high = low + factor * ends[0], high + factor * ends[1]
    offset, share = _known(evidence)
    span = evidence.calls.span
    return np.clip(offset + share * low, *span), np.clip(offset + share * high, *span)


_Ratio = tuple[float, FloatArray, FloatArray, tuple[float, float]]


def _ratios(evidence: Evidence) -> list[_Ratio] | None:
    """Return factor, numerators and denominators by stratum, and range of each ratio."""
    parts = evidence.calls.parts()
    if parts is None or not all(np.isfinite(part.span).all() for part in parts):
        return None
    merged, call = evidence.calls.worth is not None, evidence.strata.call
    found = []
    for part in parts:
        top, bottom = (
            side[:1].repeat(evidence.strata.n, axis=0) if merged else side[call]
            for side in (part.top, part.bottom)
        )
        found.append((part.factor, top, bottom, part.span))
    return found


def _known(evidence: Evidence) -> tuple[float, float]:
    """Return what items that need no label add to a metric, and the share of the others."""
    if evidence.calls.worth is None:
        return 0.0, 1.0
    n, known = evidence.closed()
    return known / n, float(evidence.strata.size.sum()) / n


def more_until(
    evidence: Evidence, at_least: float, *, estimate: float, limit: float, delta: float
) -> int | None:
    """Return about how many more labels would take ``limit`` past a value; see `labels_ahead`."""
    ratios = _ratios(evidence)
    if evidence.chance is None or ratios is None:
        return None
    offset, share = _known(evidence)
    every, bets = np.arange(evidence.strata.n), []
    for factor, top, bottom, span in ratios:
        steps, possible = _steps(evidence, every, top, bottom)
        own = delta / len(ratios)
        low, high = anytime_path(steps, value_grid(span), delta=own, most_lost=_MOST_LOST)
        bets.append(Bets(
            steps, value_grid(span), share * factor, float(np.clip(low[-1], *possible)),
            float(np.clip(high[-1], *possible)), own, _MOST_LOST,
        ))  # fmt: skip
    found = labels_ahead(bets, offset, at_least=at_least, estimate=estimate, limit=limit)
    left = int(evidence.strata.size.sum()) - len(evidence.stratum)
    return left if found is None or found > left else found


def _steps(
    evidence: Evidence, rows: IntArray, top: FloatArray, bottom: FloatArray
) -> tuple[Steps, FloatArray]:
    """Return the steps of a ratio over some strata, one for each of their labels."""
    assert evidence.chance is not None
    mine = np.isin(evidence.stratum, rows)
    chance = evidence.chance[mine][:, rows]
    return stratified_steps(
        np.searchsorted(rows, evidence.stratum[mine]), evidence.outcome[mine],
        chance / chance.sum(axis=1, keepdims=True), evidence.strata.size[rows], top, bottom,
        evidence.predicted[rows],
    )  # fmt: skip


def _path(
    evidence: Evidence,
    rows: IntArray,
    top: FloatArray,
    bottom: FloatArray,
    span: tuple[float, float],
    delta: float,
) -> tuple[FloatArray, FloatArray]:
    """Return the limits of a ratio over some strata after each label, theirs or not."""
    n = len(evidence.stratum)
    mine = np.isin(evidence.stratum, rows)
    if not mine.any():
        return np.full(n, span[0]), np.full(n, span[1])
    steps, possible = _steps(evidence, rows, top, bottom)
    low, high = anytime_path(steps, value_grid(span), delta=delta, most_lost=_MOST_LOST)
    low[-1], high[-1] = np.clip(low[-1], *possible), np.clip(high[-1], *possible)
    last = np.cumsum(mine) - 1
    return (
        np.where(last >= 0, low[np.maximum(last, 0)], span[0]),
        np.where(last >= 0, high[np.maximum(last, 0)], span[1]),
    )


def _two_shares(evidence: Evidence, delta: float) -> tuple[FloatArray, FloatArray] | None:
    """Return the extremes of a metric of two classes between the limits of two shares."""
    calls = evidence.calls
    if calls.outcome.shape[1] != 2 or calls.second is not None or calls.group is not None:
        return None
    number = calls.number
    ends = []
    for call in range(len(calls.first)):
        rows = np.flatnonzero(evidence.strata.call == call)
        top = np.tile([0.0, 1.0], (len(rows), 1))
        ends.append(_path(evidence, rows, top, np.ones(top.shape), (0.0, 1.0),
                          delta / len(calls.first)))  # fmt: skip
    n = len(evidence.stratum)
    low, high = np.empty(n), np.empty(n)
    before: tuple[float, ...] = ()
    for t in range(n):
        box = tuple(float(side[t]) for pair in ends for side in pair)
        if box != before:
            axes = [np.linspace(pair[0][t], pair[1][t], _BOX) for pair in ends]
            shares = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))
            totals = np.stack([number * (1 - shares), number * shares], axis=2)
            tables = calls.confusions(totals, calls.first) / number.sum()
            values = table_values(calls.metric, tables)
            known = values[np.isfinite(values)]
            open_ = len(known) < len(values)
            low[t] = calls.span[0] if open_ else known.min()
            high[t] = calls.span[1] if open_ else known.max()
            before = box
        else:
            low[t], high[t] = low[t - 1], high[t - 1]
    return low, high


def _estimates(evidence: Evidence) -> FloatArray:
    """Return the estimate after each label; strata without labels as in `estimate_of`."""
    n, strata = len(evidence.stratum), evidence.strata
    seen = np.zeros((n, strata.n, evidence.calls.n_outcomes))
    seen[np.arange(n), evidence.stratum, evidence.outcome] = 1.0
    counts = np.cumsum(seen, axis=0)
    totals = evidence.shares(counts, np.arange(strata.n)) * strata.size[:, None]
    return evidence.values(totals, np.arange(strata.n), None)
