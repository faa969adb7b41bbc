"""Chosen labels against random ones on real data, and what an oracle would choose."""

import copy
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from _few_labels_data import CONFIRMED, SETTLED, AuditSet, load_audit_set
from _show import Promise, number, show_table
from scipy.stats import binomtest

from karat.audit import Audit
from karat.audit._answers import anytime_limits, estimate_of, fixed_limits
from karat.audit._audit import evidence_of, predicted_outcomes
from karat.metrics import as_metric

__all__ = ["run_chosen"]


class Found(NamedTuple):
    """Errors of chosen and of random labels, coverage and widths, by number of labels."""

    ratio: float
    oracle: float
    covered: dict[int, float]
    always: float
    anytime: float
    runs: int


def run_chosen(*, quick: bool, share: float = 1.0, only: str | None = None) -> list[Promise]:
    """Print errors against random labels, coverage, and limits at every look."""
    names = ("credit 22 %", "sms 13 %", "magic 5 %") if quick else (*SETTLED, *CONFIRMED)
    names = names if only is None else (only,)
    sizes = (50, 100) if quick else (50, 100, 200, 400)
    runs = 15 if quick else round(200 * share)
    rows, found = [], {}
    for name in names:
        data = load_audit_set(name)
        for metric in ("f1", "recall"):
            one = _audits(data, metric, sizes, runs)
            found[name, metric] = one
            rows.append([
                name, "settled" if name in SETTLED else "confirmed", metric, number(one.ratio),
                number(one.oracle), *(number(one.covered[n], 3) for n in sizes),
                number(one.always, 3), number(one.anytime),
            ])  # fmt: skip
    show_table(
        f"Chosen labels, {runs} audits each: error over that of random labels at 100, and coverage",
        ["set", "design", "metric", "RMSE ratio", "oracle's", *(f"covered {n}" for n in sizes),
         "held at every look", f"anytime/fixed width at {min(200, sizes[-1])}"], rows,
    )  # fmt: skip
    return _promises(found, quick=quick)


def _promises(found: dict[tuple[str, str], Found], *, quick: bool) -> list[Promise]:
    slack = 1.25 if quick else 1.0  # few audits leave the ratio of two errors uncertain
    rare = [f.ratio for (name, m), f in found.items() if m == "f1" and " 5 %" in name]
    common = [f.ratio for (name, m), f in found.items() if m == "f1" and " 5 %" not in name]
    recall = [f.ratio for (_, m), f in found.items() if m == "recall"]
    low = sum(
        binomtest(round(c * f.runs), f.runs, 0.93, alternative="less").pvalue < 0.001
        for f in found.values()
        for c in f.covered.values()
    )
    always = sum(
        binomtest(round(f.always * f.runs), f.runs, 0.95, alternative="less").pvalue < 0.001
        for f in found.values()
    )
    mean = float(np.mean([c for f in found.values() for c in f.covered.values()]))
    return [
        *(Promise(f"F1, worst RMSE ratio {where}", max(seen), most * slack, True)
          for where, seen, most in (("at 5 % positives", rare, 0.5), ("elsewhere", common, 0.75))
          if seen),
        Promise("recall, worst RMSE ratio", max(recall), 0.9 * slack, True),
        Promise("chosen labels, cells covered below .93 (p < .001)", low, 0, True),
        Promise("chosen labels, mean coverage", mean, 0.93),
        Promise("chosen labels, cells not held at every look (p < .001)", always, 0, True),
        Promise("ratios at every look, worst width over fixed at " + ("100" if quick else "200"),
                max(f.anytime for f in found.values()), 2.0 if quick else 1.8, True),
    ]  # fmt: skip


def _audits(data: AuditSet, metric: str, sizes: Sequence[int], runs: int) -> Found:
    rng = np.random.default_rng(5)
    truth = float(as_metric(metric).score(data.truth, data.called))
    base = Audit(data.called, metric=metric, proba=data.chance, rng=0)
    errors, random, fixed, wide, always = [], [], [], [], 0
    covered, look = dict.fromkeys(sizes, 0), min(200, sizes[-1])
    for _ in range(runs):
        audit = _again(base, int(rng.integers(2**31)))
        for at, n in enumerate(sizes):
            todo = audit.ask(n - (sizes[at - 1] if at else 0))["item"].to_list()
            audit.tell({item: int(data.truth[item]) for item in todo})
            evidence, estimate, low, high = _known(audit._run)
            covered[n] += low <= truth <= high
            if n == 100:
                errors.append(np.nan_to_num(estimate) - truth)
            if n == look:
                fixed.append(high - low)
        # The limits after every label are those of the last look: they never widen.
        path = anytime_limits(evidence, delta=0.05, confidence=0.95)
        assert path is not None
        wide.append(path.looks.upper[look - 1] - path.looks.lower[look - 1])
        always += bool(((path.looks.lower <= truth) & (truth <= path.looks.upper)).all())
    for _ in range(2000):
        at = rng.choice(len(data.truth), 100, replace=False)
        random.append(_plain(metric, data.truth[at], data.called[at]) - truth)
    base_error = float(np.sqrt(np.mean(np.square(random))))
    return Found(
        float(np.sqrt(np.mean(np.square(errors)))) / base_error,
        _oracle(data, metric, truth) / base_error,
        {n: c / runs for n, c in covered.items()},
        always / runs,
        float(np.mean(wide) / np.mean(fixed)),
        runs,
    )


def _known(run: Any) -> tuple[Any, float, float, float]:
    """Return what `Audit.result` says of the labels so far, without what it foretells."""
    if run.predicted is None:
        run.predicted = predicted_outcomes(run)
    evidence = evidence_of(run, run.predicted)
    counts = evidence.counts
    estimate = estimate_of(evidence, counts)
    low, high = fixed_limits(evidence, counts, delta=0.025, seed=run.seed)
    return evidence, estimate, min(low, estimate), max(high, estimate)


def _again(base: Audit, seed: int) -> Audit:
    """Return the audit anew, with another seed and nothing asked: its strata are the same."""
    audit = copy.copy(base)
    audit._run = copy.copy(base._run)
    audit._run.events, audit._run.labels, audit._run.seed = [], {}, seed
    audit._result = None
    return audit


def _plain(metric: str, y: Any, h: Any) -> float:
    tp = float((h * y).sum())
    below = y.sum() if metric == "recall" else (h.sum() + y.sum()) / 2
    return tp / below if below else 0.0


def _oracle(data: AuditSet, metric: str, truth: float) -> float:
    """Return the standard error of 100 labels shared out by the true spread of each stratum."""
    run = Audit(data.called, metric=metric, proba=data.chance, rng=0)._run
    top = data.called * data.truth * (1.0 if metric == "recall" else 2.0)
    bottom = data.truth if metric == "recall" else data.called + data.truth
    apart = (top - truth * bottom) / bottom.mean()
    spread = np.array([apart[run.strata.of == h].std() for h in range(run.strata.n)])
    return float((run.strata.size / len(apart)) @ spread) / 10.0
