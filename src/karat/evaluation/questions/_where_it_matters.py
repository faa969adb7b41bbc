"""How good the ranking is where it matters."""

import warnings
from typing import Any

from karat._callers import caller_level
from karat._result import basis_of
from karat._sentences import shown
from karat.evaluation.questions._finding import (
    Evidence,
    LeftOut,
    between,
    code_of,
    of,
    percent,
    script,
    several,
)
from karat.ranking import (
    FprBand,
    Uniform,
    WeightedAUC,
    compare_rankings,
    weighted_auc,
)
from karat.ranking.result import RankingComparison
from karat.report.answer import Finding
from karat.report.parts import Table, Verdict

_BAND = 0.1  # false-positive rates that are shown beside the whole curve
_KINDS = (
    ("area under the ROC curve", Uniform(), "raw"),
    (f"mean TPR where FPR ≤ {_BAND:g}", FprBand(0, _BAND), "mean"),
)
_PAIRED = (
    "The limits of a difference are paired, row by row: they assume independent rows, and "
    "simulations support them."
)
_APART = (
    "Scores are measured one by one: counts hold no rows of two scores together, and paired limits "
    "of a difference take the table that was counted."
)
_NOTHING = 0.05  # limits this near to 0 and to 1 say nothing


def where_it_matters(e: Evidence) -> Finding | LeftOut:
    """Return the area of each score, over all thresholds and where few false alarms are allowed."""
    question = "How good is the ranking where it matters?"
    if len(e.classes) != 2:
        return LeftOut(
            question=question,
            unlock=f"true labels of two classes beside {several(e.roles.score)}",
        )
    areas: dict[str, WeightedAUC] = {}
    for name in e.roles.score:
        data, beside = e.data(name, "roc")
        beside |= {} if e.counted is not None else {"pos_label": e.pos_label}
        for title, weight, scale in _KINDS:
            areas[f"{name}: {title}"] = _area(
                f"{name}, {title}",
                *data,
                weight=weight,
                normalize=scale,
                confidence=e.confidence,
                **beside,
            )
    first = next(iter(areas.values()))
    compared = _compared(e)
    verdicts = [_verdict(e, name, areas[f"{name}: {_KINDS[0][0]}"]) for name in e.roles.score]
    if compared is not None:
        verdicts.insert(0, _better(e, compared))
    return Finding(
        key="ranking",
        question=question,
        answer=" ".join([*_sentences(areas), f"The positive class is {shown(first.pos_label)}."]),
        results={**areas, **({} if compared is None else {"comparison": compared})},
        drawn=first if compared is None else compared,
        picture=_picture(e, compared),
        table=Table(
            columns=("what", "value", "lower", "upper"),
            rows=tuple(_rows(areas)),
            caption=f"Areas with {percent(e.confidence)} limits",
        ),
        assumptions=(
            "Rows are independent draws of what the model will meet.",
            *(() if e.all_known else ("The labelled rows were drawn at random, not picked.",)),
            "The limits of an area hold for any distribution of the scores; a normal approximation "
            "would be narrower.",
            *(() if compared is None else (_PAIRED,)),
            *((_APART,) if compared is None and len(e.roles.score) > 1 else ()),
        ),
        code=_code(e),
        verdicts=tuple(verdicts),
    )


def _area(name: str, *data: Any, **options: Any) -> WeightedAUC:
    """Return an area whose warnings say which one it is: another may have narrow limits."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        area = weighted_auc(*data, **options)
    for w in found:
        warnings.warn(f"{name}: {w.message}", w.category, stacklevel=caller_level())
    return area


def _compared(e: Evidence) -> RankingComparison | None:
    """Return the areas of several scores on the same rows, None of one or of counts."""
    if len(e.roles.score) < 2 or e.counted is not None:
        return None
    y = e.column(e.roles.label[0]).filter(e.known)
    scores = {name: e.column(name).filter(e.known) for name in e.roles.score}
    shared: dict[str, Any] = {"pos_label": e.pos_label, "confidence": e.confidence}
    return compare_rankings(y, scores, **shared, **e.repeats)


def _picture(e: Evidence, compared: RankingComparison | None) -> str:
    if compared is not None:
        return (
            "The ROC curve of every score. Limits in the picture hold for all scores together, so "
            "they are wider than those of the table."
        )
    if e.groups is not None:
        return f"Area under the ROC curve of {e.roles.score[0]}, all rows and by {e.roles.group}."
    return f"The ROC curve of {e.roles.score[0]}, with its band."


def _sentences(areas: dict[str, WeightedAUC]) -> list[str]:
    """Return each area in words; limits that span all values say that nothing is known."""
    said = []
    for name, r in areas.items():
        score, _, title = name.partition(": ")
        nothing = r.lower < _NOTHING and r.upper > 1 - _NOTHING
        told = ": with so few labels nothing is known of it" if nothing else ""
        head, where, band = title.partition(" where ")
        said.append(f"{of(head, score)}{where}{band} is {between(r)}{told}.")
    return said


def _rows(areas: dict[str, WeightedAUC]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for name, r in areas.items():
        parts: list[tuple[str, Any]] = [(name, r)]
        parts += [(f"{name}, {group}", part) for group, part in (r.groups or {}).items()]
        rows += [(n, f"{p.value:.3f}", f"{p.lower:.3f}", f"{p.upper:.3f}") for n, p in parts]
    return rows


def _verdict(e: Evidence, name: str, r: WeightedAUC) -> Verdict:
    said = f"{of(_KINDS[0][0], name)} is {between(r)}"
    if r.upper < 0.5:
        said += f"{e.sampled}: it ranks backwards; is {shown(r.pos_label)} the positive class?"
    elif r.lower <= 0.5:
        said += f": a ranking by chance (0.5) is not excluded{e.sampled}."
    else:
        said += f"{e.sampled}."
    fewer = min(r.n_positive, r.n_negative)
    return Verdict(
        sentence=said,
        badge=basis_of(r, assumes=e.sampled),
        change=f"more labels of the rarer class (now {fewer:,.0f})",
    )


def _better(e: Evidence, compared: RankingComparison) -> Verdict:
    """Return which score ranks better, by the difference of the two greatest areas."""
    best = compared.best
    pairs = [d for d in compared.differences if d.first == best]
    d = min(pairs, key=lambda d: d.value)
    ends = f"area under the ROC curve {compared.models[best].value:.3f} against "
    ends += f"{compared.models[d.second].value:.3f}; the difference is between {d.lower:+.3f} and "
    ends += f"{d.upper:+.3f} (paired {percent(compared.confidence)} limits"
    if d.guaranteed is not None:
        free = f"{d.guaranteed.lower:+.3f} to {d.guaranteed.upper:+.3f}"
        ends += f"; distribution-free limits {free}"
    ends += ")"
    if all(d.lower > 0 for d in pairs):
        others = "" if len(pairs) == 1 else " and all others"
        return Verdict(
            sentence=f"{best} ranks better than {d.second}{others}: {ends}{e.sampled}.",
            badge=basis_of(compared, assumes=e.sampled),
            change="rows of another kind, or false-positive rates that count more than others",
        )
    return Verdict(
        sentence=f"{best} or {d.second}? Which ranks better is not known: {ends}{e.sampled}.",
        badge=basis_of(compared, decided=False),
        change="more labels",
    )


def _code(e: Evidence) -> str:
    known, data = e.data_code(e.roles.score[0], "roc")
    positive = None if e.counted is not None else e.pos_label
    options: dict[str, Any] = {"pos_label": positive, "confidence": e.confidence}
    band = code_of(
        "weighted_auc", *data, f"weight=FprBand(0, {_BAND:g})", normalize="mean", **options
    )
    used, lines = "FprBand, weighted_auc", [*known, code_of("weighted_auc", *data, **options), band]
    if len(e.roles.score) > 1 and e.counted is None:
        used = "FprBand, compare_rankings, weighted_auc"
        several_scores = f"known.select({list(e.roles.score)!r})"
        lines.append(code_of("compare_rankings", data[0], several_scores, **options))
    return script(e.read, f"from karat.ranking import {used}", *lines)
