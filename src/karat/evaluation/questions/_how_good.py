"""How good is each model? With all labels, with some, and with none."""

from typing import Any

import numpy as np

from karat._result import basis_of
from karat._sentences import Option, Words, in_words
from karat.bounds import PerformanceBounds, performance_bounds
from karat.evaluation.questions._finding import (
    Evidence,
    LeftOut,
    between,
    code_of,
    flag,
    of,
    percent,
    script,
    several,
)
from karat.report.answer import Finding, sentence
from karat.report.parts import NextStep, Table, Verdict

_NARROW = 1.0  # points: limits that more labels need not halve
_QUESTION = "How good is it?"


def how_good(e: Evidence) -> Finding | LeftOut:
    """Return the metric of every model with its limits, by what is known of the truth."""
    if e.n_known and (e.all_known or not e.roles.weak or e.counted is not None):
        return _with_labels(e)
    if e.roles.weak:
        return _with_weak_labels(e)
    return LeftOut(
        question=f"How good is {several(e.roles.pred)}?",
        unlock="a column of true labels (label), which may be empty in most rows: 50 labels drawn "
        "at random already answer it; or columns of weak labels (weak)",
    )


def _with_labels(e: Evidence) -> Finding:
    results: dict[str, Any] = {}
    for name in e.roles.pred:
        data, beside = e.data(name)
        for metric in e.metrics(name):
            results[f"{name}: {metric.title}"] = metric.estimate(
                *data,
                pos_label=e.pos_label,
                confidence=e.confidence,
                rng=e.rng,
                **beside,
            )
    rows = [
        (name, f"{r.value:.3f}", f"{r.lower:.3f}", f"{r.upper:.3f}") for name, r in results.items()
    ]
    one_class = any(r.pos_label is not None for r in results.values())
    positive = f"; the positive class is {e.positive_said}" if one_class else ""
    title = e.headline.title
    best = sorted(  # the best first
        e.roles.pred,
        key=lambda name: -np.nan_to_num(results[f"{name}: {title}"].value, nan=-np.inf),
    )
    verdicts = [_verdict(e, name, results[f"{name}: {title}"]) for name in best]
    drawn = results[f"{best[0]}: {title}"]
    by_group = "" if e.roles.group is None else f", of all rows and by {e.roles.group}"
    return Finding(
        key="how_good",
        question=_QUESTION,
        answer=" ".join(v.sentence for v in verdicts),
        results=results,
        drawn=drawn,
        picture=f"{of(title, best[0])}{by_group}, with {percent(e.confidence)} limits.",
        table=Table(
            columns=("what", "value", "lower", "upper"),
            rows=tuple(rows),
            caption=f"{percent(e.confidence)} limits from {e.n_known:,} labelled rows{positive}",
        ),
        assumptions=(
            "Rows are independent draws of what the model will meet.",
            *(() if e.all_known else ("The labelled rows were drawn at random, not picked.",)),
        ),
        code=_label_code(e),
        verdicts=tuple(verdicts),
        next_steps=() if e.all_known else (_label_more(e),),
    )


def _verdict(e: Evidence, name: str, r: Any) -> Verdict:
    what = of(r.metric.title, name)
    if np.isnan(r.value):
        return Verdict(
            sentence=f"{what} is not defined on these rows, so nothing is known of it.",
            badge=basis_of(),
            change="labels of every class",
        )
    said = f"{what} is {between(r)}{e.from_labels}."
    badge = basis_of(r, assumes=e.sampled)
    return Verdict(sentence=said, badge=badge, change=_wider(r))


def _wider(r: Any) -> str:
    half = 50 * (r.upper - r.lower)
    if half < _NARROW:
        return (
            f"rows of another kind: for rows like these the limits are narrow (±{half:.1f} points)"
        )
    return f"four times as many labels would halve the limits (now ±{half:.1f} points)"


def _label_more(e: Evidence) -> NextStep:
    model = e.roles.pred[0]
    scores = e.roles.score if len(e.roles.score) == 1 and _is_binary(e, model) else ()
    named = f"{flag('pred', model)}{flag('score', *scores)}{e.named_items}{e.flags}"
    return NextStep(
        what="Label more items, chosen so that each label tells most:",
        command=f"karat audit {e.file}{named} --todo todo.csv",
    )


def _is_binary(e: Evidence, model: str) -> bool:
    """Return whether one score tells the classes apart, and no row lacks it."""
    if e.counted is not None:
        return False
    called = e.column(model).drop_nulls().unique()
    return len(called) == 2 and not e.column(e.roles.score[0]).has_nulls()


def _label_code(e: Evidence) -> str:
    known, data = e.data_code(e.roles.pred[0])
    call = code_of(
        f"as_metric({e.metric_code}).estimate",
        *data,
        pos_label=e.pos_label,
        confidence=e.confidence,
        rng=e.rng,
    )
    return script(e.read, "from karat.metrics import as_metric", *known, call)


def _with_weak_labels(given: Evidence) -> Finding:
    e = given if given.counted is not None else given.by_row()
    metric = e.headline
    options: dict[str, Any] = {"metric": metric, "confidence": e.confidence, "rng": e.rng}
    options |= {"pos_label": e.pos_label}
    beside: dict[str, Any] = {}
    if e.counted is not None:
        data: dict[str, tuple[Any, ...]] = {
            name: (e.counted.patterns[name],) for name in e.roles.pred
        }
        columns: tuple[str, ...] = (f"counts.patterns[{e.roles.pred[0]!r}]",)
    else:
        weak = e.frame.select(e.roles.weak)
        options["y_true"] = e.column(e.roles.label[0]) if e.n_known else None
        options["groups"] = e.groups
        data = {name: (e.column(name), weak) for name in e.roles.pred}
        columns = (f"frame[{e.roles.pred[0]!r}]", f"frame.select({list(e.roles.weak)!r})")
        beside = {"y_true": e.roles.label[0] if e.n_known else None, "groups": e.roles.group}
    results: dict[str, PerformanceBounds] = {
        name: performance_bounds(*said, **options) for name, said in data.items()
    }
    first = next(iter(results.values()))
    call = code_of(
        "performance_bounds",
        *columns,
        f"metric={e.metric_code}",
        *(f"{name}=frame[{column!r}]" for name, column in beside.items() if column is not None),
        pos_label=e.pos_label,
        confidence=e.confidence,
        rng=e.rng,
    )
    code = script(e.read, "from karat.bounds import performance_bounds", call)
    return Finding(
        key="how_good",
        question=_QUESTION,
        answer=" ".join(sentence(f"{name}: {_said(b)}") for name, b in results.items()),
        results=dict(results),
        drawn=first,
        picture=f"Interval of {metric.title} for {e.roles.pred[0]}, with its limits.",
        table=_weak_table(metric.title, results),
        assumptions=(
            "P(Y | weak labels) comes from a label model; the bounds are only as right as it is.",
            *e.drawn,
            *(() if first.check is None else first.check.reasons),
            *_outside(results),
        ),
        code=code,
        verdicts=tuple(_weak_verdict(e, name, b) for name, b in results.items()),
        next_steps=(_label_more(e),),
    )


class _Columns(Words):
    """What an evaluation takes, which has columns and knows no P(Y)."""

    python = False

    def option(self, mark: Option) -> str:
        """Return the column, or the command that takes the option."""
        known = {"y_true": "a column (label)", "class_prior": "--class-prior to karat bounds"}
        return known.get(mark.name) or super().option(mark)


def _said(b: PerformanceBounds) -> str:
    """Return the summary, with what an evaluation takes in place of what the function takes."""
    return in_words(b.summary(), _Columns())


def _weak_table(title: str, results: dict[str, PerformanceBounds]) -> Table:
    """Return the limits that count first, and what the weak labels say beside them."""
    first = next(iter(results.values()))
    bounds = ("by weak labels at least", "by weak labels at most")
    if first.gold is None:
        columns: tuple[str, ...] = ("model", *bounds, "lower limit", "upper limit")
        caption = f"Bounds of {title} from weak labels, if their model is right"
    else:
        columns = ("model", "value", "lower limit", "upper limit", *bounds)
        caption = (
            f"{title[:1].upper()}{title[1:]}. The limits count: they rest on the {first.gold.n:,} "
            "true labels; the bounds rest on the weak labels' model"
        )
    rows = []
    for name, b in results.items():
        limits, ends = (b.lower_limit, b.upper_limit), (b.lower, b.upper)
        shown = (*ends, *limits) if b.gold is None else (b.value, *limits, *ends)
        rows.append((name, *(f"{v:.3f}" for v in shown)))
    return Table(columns=columns, rows=tuple(rows), caption=caption)


def _outside(results: dict[str, PerformanceBounds]) -> list[str]:
    """Say where true labels and weak labels disagree, and which to believe."""
    return [
        f"{name}: the estimate from true labels ({b.value:.3f}) lies outside the bounds of "
        f"the weak labels ({b.lower:.3f} to {b.upper:.3f}): their model is wrong here, or these "
        "labels are unlike the rest. Believe the labels, if they were drawn at random."
        for name, b in results.items()
        if b.gold is not None and not b.lower <= b.value <= b.upper
    ]


def _weak_verdict(e: Evidence, name: str, b: PerformanceBounds) -> Verdict:
    what = of(b.metric.title, name)
    limits = f"{b.lower_limit:.3f} and {b.upper_limit:.3f}"
    if b.gold is not None:
        said = f"{what} is {b.value:.3f} (between {limits}){e.sampled}."
        badge = basis_of(b, assumes=e.sampled)
        return Verdict(sentence=said, badge=badge, change="more labels drawn at random")
    check = b.check
    if check is not None and check.contradicted:
        said = f"{what} is not known: the weak labels contradict their own model."
        return Verdict(sentence=said, badge=basis_of(b), change="50 labels drawn at random")
    return Verdict(
        sentence=f"{what} is not known: no label has tested the weak labels. If they mean what "
        f"their model says, it lies between {limits}.",
        badge=basis_of(b),
        change="50 labels drawn at random would tell, and test the weak labels",
    )
