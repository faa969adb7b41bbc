"""The result of an audit so far."""

import warnings

import numpy as np

from karat._callers import caller_level
from karat.audit.answers import Evidence, anytime_limits, estimate_of, fixed_limits, forecast
from karat.audit.result import AuditGroup, AuditResult, AuditStratum
from karat.audit.running._frames import why_of
from karat.audit.running._replay import evidence_of, predicted_outcomes, skipped
from karat.audit.running._run import Run
from karat.exceptions import KaratWarning, SmallSampleWarning
from karat.limits.kernels import holding

__all__ = ["answer_of"]

_MORE = 20


def answer_of(run: Run) -> AuditResult:
    """Return estimate, limits, and what the next labels would bring."""
    if run.predicted is None:
        run.predicted = predicted_outcomes(run)
    evidence = evidence_of(run, run.predicted)
    counts = evidence.counts
    delta = (1 - run.confidence) / 2
    n = len(evidence.stratum)
    _warn(run, evidence)
    estimate = estimate_of(evidence, counts) if n else float("nan")
    low, high = fixed_limits(evidence, counts, delta=delta, seed=run.seed) if n else run.calls.span
    path = anytime_limits(evidence, delta=2 * delta, confidence=run.confidence)
    more = min(_MORE, int(run.strata.size.sum()) - n)
    ahead = (
        forecast(evidence, counts, more, delta=delta, seed=run.seed) if more > 0 else (low, high)
    )
    low, high = holding(estimate, low, high)
    any_low = any_high = float("nan")
    if path is not None or not n:
        ends = run.calls.span if path is None else (path.lower, path.upper)
        any_low, any_high = holding(estimate, *ends)
    return AuditResult(
        metric=run.metric,
        difference=run.items.other is not None,
        estimate=estimate,
        lower=float(low),
        upper=float(high),
        anytime_lower=float(any_low),
        anytime_upper=float(any_high),
        path=path,
        confidence=run.confidence,
        n_labels=n,
        n_items=run.items.n,
        more=more,
        more_lower=ahead[0],
        more_upper=ahead[1],
        pos_label=_positive(run),
        strata=_strata(run, evidence),
        groups=_groups(run, evidence, delta),
    )


def _positive(run: Run) -> object:
    return run.items.classes[1].item() if run.metric.n_classes == 2 else None


def _strata(run: Run, evidence: Evidence) -> tuple[AuditStratum, ...]:
    labelled = np.bincount(evidence.stratum, minlength=run.strata.n)
    return tuple(
        AuditStratum(
            why=why_of(run, h),
            n_items=int(run.strata.size[h]),
            n_labels=int(labelled[h]),
            share=float(run.strata.share[h]),
        )
        for h in range(run.strata.n)
    )


def _groups(run: Run, evidence: Evidence, delta: float) -> dict[object, AuditGroup] | None:
    names = run.items.group_names
    if names is None or not len(evidence.stratum):
        return None
    counts = evidence.counts
    found: dict[object, AuditGroup] = {}
    for g, name in enumerate(names.tolist()):
        rows = evidence.rows(g)
        n = int(np.isin(evidence.stratum, rows).sum())
        value = estimate_of(evidence, counts, g)
        if n or not len(rows) or evidence.calls.worth is not None:
            low, high = fixed_limits(evidence, counts, delta=delta, seed=run.seed, group=g)
        else:
            low, high = evidence.calls.span
        low, high = holding(value, low, high)
        found[name] = AuditGroup(estimate=value, lower=float(low), upper=float(high), n_labels=n)
    return found


def _warn(run: Run, evidence: Evidence) -> None:
    """Warn of what the limits cannot know."""
    missed = skipped(run)
    if missed:
        warnings.warn(
            f"{missed} items that were asked for were passed over, and later ones have labels; if "
            "they were left out because they are hard, the limits do not hold. Label them too",
            KaratWarning,
            stacklevel=caller_level(),
        )
    seen = {run.labels[i] for i in run.labels}
    if len(seen) == 1 and len(run.labels) > 1:
        only = run.items.classes[seen.pop()]
        warnings.warn(
            f"all {len(run.labels)} labels are {only.item()!r}; what is known of the other classes "
            "is that they were not seen",
            SmallSampleWarning,
            stacklevel=caller_level(),
        )
    empty = int(np.sum(np.bincount(evidence.stratum, minlength=run.strata.n) == 0))
    if empty and len(evidence.stratum):
        warnings.warn(
            f"{empty} of {run.strata.n} strata have no label yet, so that anything is possible "
            "there and the limits are wide; ask for more labels",
            SmallSampleWarning,
            stacklevel=caller_level(),
        )
