"""Measures of the scores in a table, as a command answers them."""

from functools import partial
from typing import Any, NamedTuple

from karat._validate import check_choice
from karat.cli.frame import (
    Answer,
    Coded,
    Grid,
    InputTable,
    Page,
    call_code,
    read_pos_label,
    script,
    section,
    values,
)
from karat.exceptions import OptionError
from karat.ranking import (
    RankingComparison,
    RankingMeasure,
    average_precision,
    compare_rankings,
    cost_curve,
    lift,
    net_benefit,
    precision_at,
    recall_at,
)

__all__ = ["MEASURES", "check_flags", "compared_section", "measured_scores", "row_weights"]

_FUNCTIONS: dict[str, Any] = {
    "average-precision": average_precision,
    "precision": precision_at,
    "recall": recall_at,
    "lift": lift,
    "net-benefit": net_benefit,
    "cost": cost_curve,
}
MEASURES = ("area", *_FUNCTIONS)
# The flags of a cut that each measure takes.
_TAKES = {
    "area": (),
    "average-precision": (),
    "precision": ("k", "share", "threshold"),
    "recall": ("k", "share", "threshold"),
    "lift": ("k", "share"),
    "net-benefit": ("threshold",),
    "cost": ("at",),
}


def check_flags(measure: str, cuts: dict[str, Any], of_areas: dict[str, bool]) -> None:
    """Refuse flags that the measure does not take, before anything is read."""
    check_choice(measure, "--measure", MEASURES)
    for name, value in cuts.items():
        if value is not None and name not in _TAKES[measure]:
            raise OptionError(f"--{name} is {value}; expected none with --measure {measure}")
    given = [name for name, used in of_areas.items() if used]
    if measure != "area" and given:
        raise OptionError(f"--{given[0]} is for --measure area; leave it out with {measure}")
    wanted = _TAKES[measure]
    if wanted and wanted != ("at",) and not any(cuts[name] is not None for name in wanted):
        flags = " or ".join(f"--{name}" for name in wanted)
        raise OptionError(f"--measure is {measure}; expected {flags} with it")


def row_weights(table: InputTable, weight: str | None, weighting: str) -> dict[str, Any]:
    """Return the options of a function that weighs rows; none without a column of weights."""
    if weight is None:
        return {}
    return {"sample_weight": table.coded("--weight", weight), "weighting": weighting}


class _Measured(NamedTuple):
    """The measures by score, with the code of each, and the comparison if there is one."""

    results: dict[str, RankingMeasure]
    codes: dict[str, str]
    comparison: RankingComparison | None
    comparison_code: str


def measured_scores(
    table: InputTable,
    name: str,
    *,
    measure: str,
    cuts: dict[str, Any],
    score: list[str] | None,
    label: str,
    pos_label: str | None,
    group: str | None,
    weight: str | None,
    weighting: str,
    confidence: float,
) -> Answer:
    """Measure the columns of scores in a table, compare them, and return the answer."""
    table = table.labelled(label)
    names = table.names("--score", score, ("score", "y_score", "prob"))
    y_true = Coded(table.column("--label", label), f"frame[{label!r}]")
    scores = Coded(table.columns("--score", names), f"frame[{names}]")
    function = _FUNCTIONS[measure]
    cut = {key: value for key, value in cuts.items() if value is not None}
    shared: dict[str, Any] = cut | {
        "confidence": confidence, "pos_label": read_pos_label([y_true.value], pos_label),
    }  # fmt: skip
    shared |= row_weights(table, weight, weighting)
    single = shared | {"groups": table.coded("--group", group)}
    results = {
        column: function(y_true.value, scores.value[column], **values(single)) for column in names
    }

    def code(called: str, measured: Coded, used: dict[str, Any]) -> str:
        imports = ("import polars as pl", f"from karat.ranking import {called}")
        return script(imports, table.code, call_code(called, y_true, measured, **used))

    codes = {c: code(function.__name__, Coded(None, f"frame[{c!r}]"), single) for c in names}
    comparison, comparison_code = None, ""
    if len(names) > 1:
        used = {"measure": function.__name__} | shared
        comparison = compare_rankings(y_true.value, scores.value, **values(used))
        comparison_code = code("compare_rankings", scores, used)
    return _answer(name, _Measured(results, codes, comparison, comparison_code))


def _answer(name: str, measured: _Measured) -> Answer:
    data: dict[str, Any] = {"results": measured.results}
    text = []
    for score, r in measured.results.items():
        text.append(f"{score}: {r.summary()}")
        text += [f"  {who}: {part.summary()}" for who, part in (r.groups or {}).items()]
    if measured.comparison is not None:
        data["differences"] = {"pairs": measured.comparison.differences}
        text += [difference.summary() for difference in measured.comparison.differences]
    return Answer(data=data, text=text, page=partial(_page, name, measured))


def _page(name: str, measured: _Measured) -> Page:
    first = next(iter(measured.results.values()))
    sections = [_section(score, r, measured.codes[score]) for score, r in measured.results.items()]
    if measured.comparison is not None:
        sections.append(compared_section(measured.comparison, measured.comparison_code))
    return Page(
        f"{name}: {first.measure} of the ranking",
        f"{first.title[0].upper()}{first.title[1:]}, with limits of it in the population that the "
        "rows were drawn from.",
        sections,
    )


def _section(name: str, r: RankingMeasure, code: str) -> Any:
    parts = [("all", r), *((str(who), part) for who, part in (r.groups or {}).items())]
    rows = tuple(
        (
            who, f"{p.n_positive:,.6g}", f"{p.n_negative:,.6g}", f"{p.lower:.4f}", f"{p.value:.4f}",
            f"{p.upper:.4f}", f"{p.chance:.4f}",
        )
        for who, p in parts
    )  # fmt: skip
    columns = ("rows", "positives", "negatives", "lower", "value", "upper", "by chance")
    return section(
        f"What is the {r.measure} of {name}?",
        r.summary(),
        result=r,
        picture=f"{r.title} of {name}, with its limits.",
        grid=Grid(columns, rows),
        assumptions=(
            "Rows are independent draws of the population that the limits speak of, with its share "
            "of positives, and the scores were not fitted to these labels.",
        ),
        code=code,
    )


def compared_section(comparison: RankingComparison, code: str) -> Any:
    """Return the section of a page that compares models, by an area or another measure."""
    rows = tuple(
        (
            f"{d.first} − {d.second}", f"{d.value:+.4f}", f"{d.lower:+.4f}", f"{d.upper:+.4f}",
            "" if d.p_value is None else f"{d.p_value:.2g}",
        )
        for d in comparison.differences
    )  # fmt: skip
    return section(
        "Which ranking is better?",
        comparison.summary(),
        result=comparison,
        picture="The curves of all models.",
        grid=Grid(("pair", "difference", "lower", "upper", "paired p"), rows),
        assumptions=("The limits hold for all models and differences together.",),
        code=code,
    )
