"""Which of several models is better."""

from itertools import combinations
from typing import Any

from karat._result import basis_of
from karat.audit import best_of_many
from karat.bounds import difference_bounds
from karat.evaluation.questions._finding import (
    Evidence,
    LeftOut,
    code_of,
    flag,
    of,
    script,
    several,
)
from karat.metrics import GroupMetric
from karat.report.answer import Finding, sentence
from karat.report.parts import NextStep, Table, Verdict

_QUESTION = "Which is better?"


def which_is_better(e: Evidence) -> Finding | LeftOut:
    """Return the difference between every two models, on the same rows."""
    metric = e.headline
    if isinstance(metric, GroupMetric):
        return LeftOut(question=_QUESTION, unlock="a metric of one population, such as accuracy")
    if e.counted is not None:
        return LeftOut(
            question=f"Which of {several(e.roles.pred)} is better?",
            unlock="the table that was counted: counts hold no rows of two models together",
        )
    if e.n_known and (e.all_known or not e.roles.weak):
        return _from_labels(e, metric)
    if e.roles.weak:
        return _from_weak_labels(e, metric)
    return LeftOut(
        question=f"Which of {several(e.roles.pred)} is better?",
        unlock="true labels (label) of some rows on which they disagree, or weak labels (weak)",
    )


def _from_labels(e: Evidence, metric: Any) -> Finding:
    label = e.roles.label[0]
    known = e.frame.filter(e.known)
    tiers = best_of_many(
        known.select(e.roles.pred),
        known[label],
        metric=metric,
        pos_label=e.pos_label,
        confidence=e.confidence,
        rng=e.rng,
        **e.repeats,
    )
    rows = tuple(
        (
            f"{d.first} − {d.second}",
            f"{d.value:+.3f}",
            f"{d.lower:+.3f}",
            f"{d.upper:+.3f}",
            _better(d.first, d.second, d.lower, d.upper),
        )
        for d in tiers.pairs
    )
    call = code_of(
        "best_of_many",
        f"known.select({list(e.roles.pred)!r})",
        f"known[{label!r}]",
        f"metric={e.metric_code}",
        pos_label=e.pos_label,
        confidence=e.confidence,
        rng=e.rng,
    )
    closest = _closest(tiers)
    verdict = _tier_verdict(e, tiers)
    return Finding(
        key="comparison",
        question=_QUESTION,
        answer=verdict.sentence,
        results={"tiers": tiers},
        drawn=tiers,
        picture=f"{of(metric.title, 'every model')} with its own limits; models of tier 1 are "
        "those that none beats.",
        table=Table(
            columns=("difference", "value", "lower limit", "upper limit", "better"),
            rows=rows,
            caption=f"Differences in {metric.title} on the same rows; all limits hold together. "
            "They count, not whether the limits of two models overlap",
        ),
        assumptions=(
            "Rows with a true label are a random draw of what the models will meet.",
            *(("Limits by each other metric hold by themselves.",) if tiers.reversed_by else ()),
        ),
        code=script(
            e.read,
            "from karat.audit import best_of_many",
            f"known = frame.filter(pl.col({label!r}).is_not_null())",
            call,
        ),
        verdicts=(verdict,),
        next_steps=(
            ()
            if len(tiers.best) == 1 or e.all_known or _same(e, *closest)
            else (_step(e, *closest),)
        ),
    )


def _closest(tiers: Any) -> tuple[Any, Any]:
    """Return the two best models, between which it has to be decided."""
    return tiers.names[0], tiers.names[1]


def _tier_verdict(e: Evidence, tiers: Any) -> Verdict:
    """Return which model is best, by which metric and by how much, or which may be."""
    title, best = tiers.metric.title, tiers.best
    one, two = _closest(tiers)
    gap = next(d for d in tiers.pairs if {d.first, d.second} == {one, two})
    low, high = (gap.lower, gap.upper) if gap.first == one else (-gap.upper, -gap.lower)
    ends = f"between {low:+.3f} and {high:+.3f}"
    reversed_ = f" {tiers.other_orders()}.".removesuffix(" .")
    if len(best) == 1:
        others = "" if len(tiers.names) == 2 else ", and no other model can be best"
        change = "rows of another kind, or another metric"
        if tiers.reversed_by:
            change = "another metric; name the one that counts with --metric"
        return Verdict(
            sentence=f"By {title} {one} beats {two}{others}: {title} of {one} minus {two} lies "
            f"{ends}{e.sampled}.{reversed_}",
            badge=basis_of(tiers, assumes=e.sampled),
            change=change,
        )
    if len(tiers.names) == 2 and _same(e, one, two):
        return _no_difference(e, one, two)
    if len(tiers.names) == 2:
        said = f"{one} or {two}? By {title} the labels cannot tell"
    else:
        said = (
            f"{len(best)} of {len(tiers.names)} models may be best in {title}: {several(best)}. "
            "Of the first two"
        )
    return Verdict(
        sentence=f"{said}: {title} of {one} minus {two} lies {ends}{e.sampled}.{reversed_}",
        badge=basis_of(tiers, decided=False),
        change="more labels of rows on which the models disagree",
    )


def _same(e: Evidence, a: str, b: str) -> bool:
    """Return whether two models predict the same for every row."""
    return bool((e.frame[a] == e.frame[b]).all())


def _no_difference(e: Evidence, a: str, b: str) -> Verdict:
    return Verdict(
        sentence=f"{a} and {b} predict the same for all {e.n:,} rows: no metric differs "
        "between them.",
        badge=basis_of("complete"),
        change="rows for which they predict different classes",
    )


def _better(a: str, b: str, lower: float, upper: float) -> str:
    return a if lower > 0 else b if upper < 0 else "not decided"


def _from_weak_labels(given: Evidence, metric: Any) -> Finding:
    e = given.by_row()
    weak = e.frame.select(e.roles.weak)
    y_true = e.column(e.roles.label[0]) if e.n_known else None
    options: dict[str, Any] = {"metric": metric, "confidence": e.confidence, "rng": e.rng}
    results = {
        (a, b): difference_bounds(
            e.column(a), e.column(b), weak, y_true=y_true, pos_label=e.pos_label, **options
        )
        for a, b in combinations(e.roles.pred, 2)
    }
    rows = tuple(
        (
            f"{a} − {b}",
            f"{d.lower_limit:+.3f}",
            f"{d.upper_limit:+.3f}",
            _better(a, b, d.lower_limit, d.upper_limit),
        )
        for (a, b), d in results.items()
    )
    first = next(iter(results))
    return Finding(
        key="comparison",
        question=_QUESTION,
        answer=" ".join(
            sentence(f"{a} (first) or {b} (second)? {d.summary()}") for (a, b), d in results.items()
        ),
        results={f"{a} − {b}": d for (a, b), d in results.items()},
        drawn=results[first],
        picture=f"Interval of the difference in {metric.title}, with its limits.",
        table=Table(
            columns=("difference", "lower limit", "upper limit", "better"),
            rows=rows,
            caption=f"Differences in {metric.title}",
        ),
        code=script(
            e.read,
            "from karat.bounds import difference_bounds",
            code_of(
                "difference_bounds",
                f"frame[{first[0]!r}]",
                f"frame[{first[1]!r}]",
                f"frame.select({list(e.roles.weak)!r})",
                f"metric={e.metric_code}",
                *((f"y_true=frame[{e.roles.label[0]!r}]",) if e.n_known else ()),
                pos_label=e.pos_label,
                confidence=e.confidence,
                rng=e.rng,
            ),
        ),
        verdicts=tuple(_verdict(e, a, b, d) for (a, b), d in results.items()),
        next_steps=(
            ()
            if _same(e, *first) or all(d.decided for d in results.values())
            else (_step(e, *first),)
        ),
    )


def _verdict(e: Evidence, a: str, b: str, d: Any) -> Verdict:
    ends = f"between {d.lower_limit:+.3f} and {d.upper_limit:+.3f}"
    limits = f"{d.metric.title} of {a} minus {b} lies {ends}"
    untested = d.gold is None
    if _same(e, a, b):
        return _no_difference(e, a, b)
    if untested and d.check is not None and d.check.contradicted:
        return Verdict(
            sentence=f"{a} or {b}? Not known: the weak labels contradict their own model.",
            badge=basis_of(d),
            change="50 labels drawn at random",
        )
    if not d.decided:
        given = ", if the weak labels mean what their model says" if untested else e.sampled
        return Verdict(
            sentence=f"{a} or {b}? Not decided: {limits}{given}.",
            badge=basis_of(d, decided=d.decided),
            change=d.what_decides(),
        )
    better, worse = (a, b) if d.lower_limit > 0 else (b, a)
    if untested:
        return Verdict(
            sentence=f"By {d.metric.title} {better} beats {worse} if the weak labels mean what "
            f"their model says, which no label has tested: {limits}.",
            badge=basis_of(d),
            change="50 labels drawn at random would test it",
        )
    return Verdict(
        sentence=f"By {d.metric.title} {better} beats {worse}: {limits}{e.sampled}."
        f"{_reversed_on_labels(e, d.metric, better, worse)}",
        badge=basis_of(d, assumes=e.sampled),
        change=d.what_decides(),
    )


def _reversed_on_labels(e: Evidence, metric: Any, better: str, worse: str) -> str:
    """Return by which other metrics the true labels alone put the worse of two models ahead."""
    known = e.frame.filter(e.known)
    tiers = best_of_many(
        known.select(better, worse),
        known[e.roles.label[0]],
        metric=metric,
        pos_label=e.pos_label,
        confidence=e.confidence,
        rng=e.rng,
    )
    said = tiers.other_orders() if tiers.names[0] == better else ""
    return f" {said}." if said else ""


def _step(e: Evidence, a: str, b: str) -> NextStep:
    linear = e.metric is None or e.metric.form == "linear"
    tells = "; all others tell nothing" if linear else " first, and some on which they agree"
    return NextStep(
        what=f"Label items on which {a} and {b} disagree{tells}:",
        command=f"karat audit {e.file}{flag('pred', a)}{flag('against', b)}"
        f"{e.named_items}{e.flags} --saved pair.audit.json --todo pair.csv",
    )
