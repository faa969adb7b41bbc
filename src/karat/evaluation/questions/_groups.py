"""Whether it is as good for every group."""

from typing import Any, NamedTuple

import numpy as np

from karat._result import Guarantee, basis_of
from karat.evaluation.questions._finding import Evidence, LeftOut, code_of, of, percent, script
from karat.metrics import GroupMetric
from karat.report.answer import Finding
from karat.report.parts import Table, Verdict

_QUESTION = "Is it as good for every group?"


class _Gap(NamedTuple):
    """The gap between two groups in one metric of one model, the better group first."""

    model: str
    title: str
    better: Any
    worse: Any
    values: tuple[float, float]
    least: float
    most: float
    guarantee: Guarantee


def every_group(e: Evidence) -> Finding | LeftOut | None:
    """Return each metric by group, and the gaps between groups that chance does not explain."""
    if isinstance(e.metric, GroupMetric):
        return None  # the metric itself is a comparison of groups
    number = _groups_of(e)
    if number < 2:
        return LeftOut(question=_QUESTION, unlock=f"labelled rows of two groups in {e.roles.group}")
    asked = [(name, metric) for name in e.roles.pred for metric in e.metrics(name)]
    level = 1 - (1 - e.confidence) / len(asked)  # so that all limits of the table hold together
    results: dict[str, Any] = {
        f"{name}: {metric.title}": metric.estimate(
            *data, pos_label=e.pos_label, confidence=level, rng=e.rng, **beside
        )
        for name, metric in asked
        for data, beside in (e.data(name),)
    }
    gaps = [g for (name, _), r in zip(asked, results.values(), strict=True) for g in _gaps(name, r)]
    shown = [g for g in gaps if g.least > 0]
    verdicts = [_verdict(e, g) for g in _largest(shown)] or [_none_shown(e, gaps)]
    return Finding(
        key="groups",
        question=_QUESTION,
        answer=" ".join(v.sentence for v in verdicts),
        results=results,
        table=_table(e, results, number),
        assumptions=(
            "Rows are independent draws of what the model will meet in each group.",
            "Limits of gaps come from the limits of each group (Zou and Donner 2008), at "
            f"{percent(e.confidence)} for all models, metrics and pairs of groups together.",
            "Groups differ in how hard they are, too: a gap alone does not say why.",
        ),
        code=_code(e, level),
        verdicts=tuple(verdicts),
    )


def _groups_of(e: Evidence) -> int:
    """Return how many groups have labelled rows."""
    if e.counted is not None:
        table = e.data(e.roles.pred[0])[0][0]
        return int((table.counts.sum(axis=(1, 2)) > 0).sum())
    return int(e.groups.filter(e.known).n_unique())


def _gaps(name: str, r: Any) -> list[_Gap]:
    found = []
    for gap in r.gaps or ():
        if np.isnan(gap.value):
            continue
        low, high, pair = gap.lower, gap.upper, (gap.first, gap.second)
        if gap.value < 0:
            low, high, pair = -gap.upper, -gap.lower, (gap.second, gap.first)
        values = tuple(r.groups[group].value for group in pair)
        found.append(_Gap(name, r.metric.title, *pair, values, low, high, gap.guarantee))
    return found


def _largest(gaps: list[_Gap]) -> list[_Gap]:
    """Return the largest gap of each model, by what is shown of it; the largest first."""
    best: dict[str, _Gap] = {}
    for gap in sorted(gaps, key=lambda g: -g.least):
        best.setdefault(gap.model, gap)
    return list(best.values())


def _verdict(e: Evidence, g: _Gap) -> Verdict:
    better, worse = g.values
    return Verdict(
        sentence=f"{of(g.title, g.model)} differs between groups: {better:.3f} for {g.better}, "
        f"{worse:.3f} for {g.worse}; the gap is between {g.least:.3f} and {g.most:.3f}{e.sampled}.",
        badge=basis_of(g, assumes=e.sampled),
        change=f"a decision rule or training that looks at {e.roles.group}",
    )


def _none_shown(e: Evidence, gaps: list[_Gap]) -> Verdict:
    if not gaps:
        return Verdict(
            sentence="No metric is defined in two groups, so groups cannot be compared.",
            badge=basis_of(),
            change="labels of every class in every group",
        )
    wide = max(
        (g for g in gaps if g.title == e.headline.title),
        key=lambda g: g.most,
        default=max(gaps, key=lambda g: g.most),
    )
    return Verdict(
        sentence=f"No gap between groups is shown; in {wide.title} of {wide.model} it may be as "
        f"large as {wide.most:.3f} ({wide.better} over {wide.worse}){e.sampled}.",
        badge=basis_of(wide, decided=False),
        change="more labels of the smaller groups",
    )


def _table(e: Evidence, results: dict[str, Any], groups: int) -> Table:
    rows = tuple(
        (f"{name}, {group}", f"{p.n:,.0f}", f"{p.value:.3f}", f"{p.lower:.3f}", f"{p.upper:.3f}")
        for name, r in results.items()
        for group, p in (r.groups or {}).items()
    )
    level = next(iter(results.values())).confidence
    return Table(
        columns=("what, in which group", "rows", "value", "lower", "upper"),
        rows=rows,
        caption=f"By {e.roles.group}, {groups} groups; each limit at {100 * level:.3g} %, so that "
        f"those of all metrics hold together in a group at {percent(e.confidence)}",
    )


def _code(e: Evidence, level: float) -> str:
    known, data = e.data_code(e.roles.pred[0])
    call = code_of(
        f"as_metric({e.metric_code}).estimate",
        *data,
        *([f"groups=known[{e.roles.group!r}]"] if known else []),
        pos_label=e.pos_label,
        confidence=level,
        rng=e.rng,
    )
    return script(e.read, "from karat.metrics import as_metric", *known, f"{call}.gaps")
