"""How good is each model? With all labels, with some, and with none."""

from typing import Any

import numpy as np

from karat.bounds import PerformanceBounds, performance_bounds
from karat.evaluation.questions._finding import Evidence, Finding, LeftOut
from karat.evaluation.questions._words import between, code_of, percent, script, several
from karat.metrics import GroupMetric, MetricBase, as_metric
from karat.report import NextStep, Table, Verdict

__all__ = ["how_good"]

_NAMED = ("accuracy", "precision", "recall", "f1")  # shown beside each other for two classes
_QUESTION = "How good is it?"


def how_good(e: Evidence) -> Finding | LeftOut | None:
    """Return the metric of every model with its limits, by what is known of the truth."""
    if not e.roles.pred:
        return None
    if e.n_known and (e.all_known or not e.roles.weak):
        return _with_labels(e)
    if e.roles.weak:
        return _with_weak_labels(e)
    return LeftOut(
        question=f"How good is {several(e.roles.pred)}?",
        unlock="a column of true labels (label), which may be empty in most rows: 50 labels drawn "
        "at random already answer it; or columns of weak labels (weak)",
    )


def _metrics(e: Evidence, classes: int) -> tuple[MetricBase, ...]:
    if e.metric is not None:
        return (e.metric,)
    names = _NAMED if classes == 2 else ("accuracy", "balanced_accuracy")
    return tuple(as_metric(name) for name in names)


def _with_labels(e: Evidence) -> Finding:
    label = e.roles.label[0]
    y = e.column(label).filter(e.known)
    n = e.n_known
    groups = None if e.groups is None else e.groups.filter(e.known)
    results: dict[str, Any] = {}
    for name in e.roles.pred:
        predicted = e.column(name).filter(e.known)
        kinds = set(y.unique().to_list()) | set(predicted.drop_nulls().unique().to_list())
        for metric in _metrics(e, len(kinds)):
            split = groups if groups is not None or isinstance(metric, GroupMetric) else None
            results[f"{name}: {metric.title}"] = metric.estimate(
                y, predicted, groups=split, pos_label=e.pos_label, confidence=e.confidence,
                rng=e.rng,
            )  # fmt: skip
    rows = [
        (name, f"{r.value:.3f}", f"{r.lower:.3f}", f"{r.upper:.3f}") for name, r in results.items()
    ]
    for name, r in results.items():
        rows += [
            (f"{name}, {group}", f"{p.value:.3f}", f"{p.lower:.3f}", f"{p.upper:.3f}")
            for group, p in (r.groups or {}).items()
        ]
    first = next(iter(results))
    headline = _metrics(e, 2)[0].title
    shown = [f"{name}: {headline}" for name in e.roles.pred]
    shown.sort(key=lambda name: -np.nan_to_num(results[name].value, nan=-np.inf))  # the best first
    verdicts = [_verdict(e, name, results[name]) for name in shown]
    return Finding(
        key="how_good",
        question=_QUESTION,
        answer=". ".join(v.sentence.rstrip(".") for v in verdicts),
        results=results,
        drawn=results[first],
        picture=f"{first}, with its limits.",
        table=Table(
            columns=("what", "estimate", "lower", "upper"),
            rows=tuple(rows),
            caption=f"{percent(e.confidence)} limits from {n:,} labelled rows",
        ),
        assumptions=(
            "Rows are independent draws of what the model will meet.",
            *(() if e.all_known else ("The labelled rows were drawn at random, not picked.",)),
        ),
        code=_label_code(e, label),
        verdicts=tuple(verdicts),
        next_steps=() if e.all_known else (_label_more(e),),
    )


def _verdict(e: Evidence, name: str, r: Any) -> Verdict:
    if np.isnan(r.value):
        return Verdict(
            sentence=f"{name} is not defined on these rows, so nothing is known of it.",
            badge="unknown",
            change="labels of every class",
        )
    said = f"{name} is {between(r)}, from {e.n_known:,} labels{e.sampled}."
    return Verdict(sentence=said, badge="likely", change=_wider(r))


def _wider(r: Any) -> str:
    half = (r.upper - r.lower) / 2
    return f"four times as many labels would halve the limits (now ±{100 * half:.1f} points)"


def _label_more(e: Evidence) -> NextStep:
    return NextStep(
        what="Label more items, chosen so that each label tells most:",
        command=f"karat audit {e.file} --pred {e.roles.pred[0]}{e.flags} --todo todo.csv",
    )


def _label_code(e: Evidence, label: str) -> str:
    known = f"known = frame.filter(pl.col({label!r}).is_not_null())"
    call = code_of(
        f"as_metric({e.metric_code}).estimate",
        f"known[{label!r}]",
        f"known[{e.roles.pred[0]!r}]",
        pos_label=e.pos_label,
        confidence=e.confidence,
        rng=e.rng,
    )
    return script(e.read, "from karat.metrics import as_metric", known, call)


def _with_weak_labels(e: Evidence) -> Finding:
    weak = e.frame.select(e.roles.weak)
    y_true = e.column(e.roles.label[0]) if e.n_known else None
    metric = e.metric or as_metric("accuracy")
    options: dict[str, Any] = {"metric": metric, "confidence": e.confidence, "rng": e.rng}
    results: dict[str, PerformanceBounds] = {
        name: performance_bounds(
            e.column(name), weak, y_true=y_true, pos_label=e.pos_label, groups=e.groups, **options
        )
        for name in e.roles.pred
    }
    rows = tuple(
        (name, f"{b.lower:.3f}", f"{b.upper:.3f}", f"{b.lower_limit:.3f}", f"{b.upper_limit:.3f}")
        for name, b in results.items()
    )
    first = next(iter(results.values()))
    call = code_of(
        "performance_bounds", f"frame[{e.roles.pred[0]!r}]",
        f"frame.select({list(e.roles.weak)!r})", f"metric={e.metric_code}",
        confidence=e.confidence, rng=e.rng,
    )  # fmt: skip
    code = script(e.read, "from karat.bounds import performance_bounds", call)
    return Finding(
        key="how_good",
        question=_QUESTION,
        answer=" ".join(f"{name}: {b.summary()}." for name, b in results.items()),
        results=dict(results),
        drawn=first,
        picture=f"Interval of {metric.title} for {e.roles.pred[0]}, with its limits.",
        table=Table(
            columns=("model", "at least", "at most", "lower limit", "upper limit"),
            rows=rows,
            caption=f"Bounds of {metric.title} from weak labels",
        ),
        assumptions=(
            "P(Y | weak labels) comes from a label model; the bounds are only as right as it is.",
            *(() if first.check is None else first.check.reasons),
        ),
        code=code,
        verdicts=tuple(_weak_verdict(name, b) for name, b in results.items()),
        next_steps=(_label_more(e),),
    )


def _weak_verdict(name: str, b: PerformanceBounds) -> Verdict:
    title = b.metric.title
    limits = f"{b.lower_limit:.3f} and {b.upper_limit:.3f}"
    if b.gold is not None:
        said = (
            f"{title} of {name} is {b.gold.estimate:.3f}, between {limits} ({b.gold.n:,} labels)."
        )
        return Verdict(sentence=said, badge="likely", change="more labels drawn at random")
    check = b.check
    if check is not None and check.contradicted:
        said = f"The weak labels contradict their own model: {title} of {name} is not known."
        return Verdict(sentence=said, badge="unknown", change="50 labels drawn at random")
    return Verdict(
        sentence=f"{title} of {name} lies between {limits} if the weak labels mean what "
        "their model says, which no label has tested.",
        badge="unknown",
        change="50 labels drawn at random would test it",
    )
