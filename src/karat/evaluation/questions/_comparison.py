"""Which of several models is better."""

from itertools import combinations
from typing import Any

from karat.audit import best_of_many
from karat.bounds import difference_bounds
from karat.evaluation.questions._finding import Evidence, Finding, LeftOut
from karat.evaluation.questions._words import code_of, script, several
from karat.metrics import GroupMetric, as_metric
from karat.report import NextStep, Table, Verdict

__all__ = ["which_is_better"]

_QUESTION = "Which is better?"


def which_is_better(e: Evidence) -> Finding | LeftOut | None:
    """Return the difference between every two models, on the same rows."""
    if len(e.roles.pred) < 2:
        return None
    metric = e.metric or as_metric("accuracy")
    if isinstance(metric, GroupMetric):
        return LeftOut(question=_QUESTION, unlock="a metric of one population, such as accuracy")
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
        known.select(e.roles.pred), known[label], metric=metric, pos_label=e.pos_label,
        confidence=e.confidence, rng=e.rng,
    )  # fmt: skip
    rows = tuple(
        (f"{d.first} − {d.second}", f"{d.value:+.3f}", f"{d.lower:+.3f}", f"{d.upper:+.3f}",
         _better(d.first, d.second, d.lower, d.upper))
        for d in tiers.pairs
    )  # fmt: skip
    call = code_of(
        "best_of_many", f"known.select({list(e.roles.pred)!r})", f"known[{label!r}]",
        f"metric={e.metric_code}", pos_label=e.pos_label, confidence=e.confidence, rng=e.rng,
    )  # fmt: skip
    first = tiers.pairs[0]
    return Finding(
        key="comparison",
        question=_QUESTION,
        answer=tiers.summary(),
        results={"tiers": tiers},
        drawn=tiers,
        picture=f"{metric.title} of every model with its limits.",
        table=Table(
            columns=("difference", "value", "lower limit", "upper limit", "better"),
            rows=rows,
            caption=f"Differences in {metric.title} on the same rows; all limits hold together",
        ),
        assumptions=("Rows with a true label are a random draw of what the models will meet.",),
        code=script(
            e.read,
            "from karat.audit import best_of_many",
            f"known = frame.filter(pl.col({label!r}).is_not_null())",
            call,
        ),
        verdicts=(
            Verdict(
                sentence=f"{tiers.summary()}{e.sampled}.",
                badge="likely" if len(tiers.best) == 1 else "unknown",
                change="more labels of rows on which the models disagree",
            ),
        ),
        next_steps=() if len(tiers.best) == 1 else (_step(e, first.first, first.second),),
    )


def _better(a: str, b: str, lower: float, upper: float) -> str:
    return a if lower > 0 else b if upper < 0 else "not decided"


def _from_weak_labels(e: Evidence, metric: Any) -> Finding:
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
        (f"{a} − {b}", f"{d.lower_limit:+.3f}", f"{d.upper_limit:+.3f}",
         _better(a, b, d.lower_limit, d.upper_limit))
        for (a, b), d in results.items()
    )  # fmt: skip
    first = next(iter(results))
    return Finding(
        key="comparison",
        question=_QUESTION,
        answer=" ".join(f"{a} (first) or {b} (second)? {d.summary()}."
                        for (a, b), d in results.items()),
        results={f"{a} − {b}": d for (a, b), d in results.items()},
        drawn=results[first],
        picture=f"Interval of the difference in {metric.title}, with its limits.",
        table=Table(columns=("difference", "lower limit", "upper limit", "better"), rows=rows,
                    caption=f"Differences in {metric.title}"),
        code=script(
            e.read, "from karat.bounds import difference_bounds",
            code_of("difference_bounds", f"frame[{first[0]!r}]", f"frame[{first[1]!r}]",
                    f"frame.select({list(e.roles.weak)!r})", f"metric={e.metric_code}",
                    confidence=e.confidence, rng=e.rng),
        ),
        verdicts=tuple(_verdict(a, b, d) for (a, b), d in results.items()),
        next_steps=() if all(d.decided for d in results.values()) else (_step(e, *first),),
    )  # fmt: skip


def _verdict(a: str, b: str, d: Any) -> Verdict:
    ends = f"{d.lower_limit:+.3f} and {d.upper_limit:+.3f}"
    limits = f"{d.metric.title} of {a} minus {b} lies between {ends}"
    if not d.decided:
        return Verdict(sentence=f"{a} or {b}? Not decided: {limits}.", badge="unknown",
                       change=d.what_decides())  # fmt: skip
    better, worse = (a, b) if d.lower_limit > 0 else (b, a)
    tested = d.gold is not None
    if not tested:
        return Verdict(
            sentence=f"{better} beats {worse} if the weak labels mean what their model says: "
            f"{limits}.",
            badge="unknown", change="50 labels drawn at random would test it",
        )  # fmt: skip
    return Verdict(sentence=f"{better} beats {worse}: {limits}.", badge="likely",
                   change=d.what_decides())  # fmt: skip


def _step(e: Evidence, a: str, b: str) -> NextStep:
    linear = e.metric is None or e.metric.form == "linear"
    tells = "; all others tell nothing" if linear else " first, and some on which they agree"
    return NextStep(
        what=f"Label items on which {a} and {b} disagree{tells}:",
        command=f"karat audit {e.file} --pred {a} --against {b}{e.flags} --saved pair.audit.json "
        "--todo todo.csv",
    )
