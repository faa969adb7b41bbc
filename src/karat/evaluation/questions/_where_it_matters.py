"""How good the ranking is where it matters."""

from typing import Any

from karat.evaluation.questions._finding import Evidence, Finding, LeftOut
from karat.evaluation.questions._words import between, code_of, percent, script, several
from karat.ranking import FprBand, Uniform, WeightedAUC, weighted_auc
from karat.report import Table, Verdict

__all__ = ["where_it_matters"]

_BAND = 0.1  # false-positive rates that are shown beside the whole curve


def where_it_matters(e: Evidence) -> Finding | LeftOut | None:
    """Return the area of each score, over all thresholds and where few false alarms are allowed."""
    if not e.roles.score:
        return None
    question = "How good is the ranking where it matters?"
    if not e.n_known or e.column(e.roles.label[0]).drop_nulls().n_unique() != 2:
        return LeftOut(
            question=question,
            unlock=f"true labels of two classes beside {several(e.roles.score)}",
        )
    label = e.roles.label[0]
    y = e.column(label).filter(e.known)
    groups = None if e.groups is None else e.groups.filter(e.known)
    results: dict[str, WeightedAUC] = {}
    for name in e.roles.score:
        score = e.column(name).filter(e.known)
        for title, weight, scale in (
            ("area under the ROC curve", Uniform(), "raw"),
            (f"mean TPR where FPR ≤ {_BAND:g}", FprBand(0, _BAND), "mean"),
        ):
            results[f"{name}: {title}"] = weighted_auc(
                y, score, weight=weight, normalize=scale, groups=groups, pos_label=e.pos_label,
                confidence=e.confidence,
            )  # fmt: skip
    first = next(iter(results.values()))
    return Finding(
        key="ranking",
        question=question,
        answer=". ".join(
            f"{name} is {between(r)}, certain for any law" for name, r in results.items()
        )
        + f". The positive class is {first.pos_label!r}",
        results=dict(results),
        drawn=first,
        picture="The ROC curve with its band.",
        table=Table(
            columns=("what", "value", "lower", "upper"),
            rows=tuple(_rows(results)),
            caption=f"Areas with {percent(e.confidence)} limits",
        ),
        assumptions=(
            "Rows are independent draws of what the model will meet.",
            "The limits hold for any law of the scores; a normal approximation would be narrower.",
        ),
        code=_code(e, label),
        verdicts=tuple(_verdict(name, r) for name, r in results.items() if "area" in name),
    )


def _rows(results: dict[str, WeightedAUC]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for name, r in results.items():
        parts: list[tuple[str, Any]] = [(name, r)]
        parts += [(f"{name}, {group}", part) for group, part in (r.groups or {}).items()]
        rows += [(n, f"{p.value:.3f}", f"{p.lower:.3f}", f"{p.upper:.3f}") for n, p in parts]
    return rows


def _verdict(name: str, r: WeightedAUC) -> Verdict:
    said = f"{name} is {r.value:.3f}, between {r.lower:.3f} and {r.upper:.3f}"
    if r.upper < 0.5:
        said += f": it ranks backwards; is {r.pos_label!r} the positive class?"
    elif r.lower <= 0.5:
        said += ": a ranking by chance (0.5) is not excluded."
    else:
        said += "."
    fewer = min(r.n_positive, r.n_negative)
    return Verdict(
        sentence=said, badge="certain", change=f"more labels of the rarer class (now {fewer:,.0f})"
    )


def _code(e: Evidence, label: str) -> str:
    call = code_of("weighted_auc", f"known[{label!r}]", f"known[{e.roles.score[0]!r}]",
                   pos_label=e.pos_label, confidence=e.confidence)  # fmt: skip
    return script(
        e.read,
        "from karat.ranking import FprBand, weighted_auc",
        f"known = frame.filter(pl.col({label!r}).is_not_null())",
        call,
        call[:-1] + f", weight=FprBand(0, {_BAND:g}), normalize='mean')",
    )
