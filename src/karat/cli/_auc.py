"""karat auc: areas under the ROC curve and other measures of a ranking, compared."""

from __future__ import annotations

import warnings
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from karat._code import Coded, call_code, script, values
from karat._validate import check_choice, refuse_option
from karat.cli import _flags as flags
from karat.cli._count import counted_areas, refuse_flags
from karat.cli._run import Answer, Grid, Page, run, section
from karat.cli._table import InputTable, read_pos_label, read_table, scan_table
from karat.exceptions import KaratWarning, OptionError
from karat.ranking import (
    FprBand,
    TprBand,
    Uniform,
    WeightedAUC,
    average_precision,
    compare_rankings,
    cost_curve,
    lift,
    net_benefit,
    precision_at,
    recall_at,
    weighted_auc,
)
from karat.ranking.result import RankingComparison, RankingMeasure
from karat.sources.stored import is_counts

_CELLS = 1 << 20  # of scores, where a file is too large to be read
_SCORES = ("score", "y_score", "prob")  # how columns of scores begin
# Methods of limits that also hold for differences.
_COMPARED = ("auto", "hinge", "kl", "nested", "dkw", "beta", "delong")


class _Measured(NamedTuple):
    """The areas by score, with the code of each, and the comparison if there is one."""

    results: dict[str, WeightedAUC]
    codes: dict[str, str]
    comparison: RankingComparison | None = None
    comparison_code: str = ""


def auc(
    file: flags.File,
    label: flags.KnownLabel = None,
    score: flags.Scores = None,
    pos_label: flags.PosLabel = None,
    group: flags.Group = None,
    weight: flags.Weight = None,
    weighting: flags.Weighting = "importance",
    measure: Annotated[str, typer.Option(help=f"{', '.join(MEASURES)}.")] = "area",
    k: Annotated[int | None, typer.Option(help="Rows taken, the highest first.")] = None,
    share: Annotated[float | None, typer.Option(help="Share of the rows taken.")] = None,
    threshold: Annotated[
        float | None, typer.Option(help="Least score taken; of net-benefit, a probability.")
    ] = None,
    at: Annotated[
        float | None, typer.Option(help="Weight of a miss against a false alarm, of cost.")
    ] = None,
    fpr: Annotated[
        str | None, typer.Option(help="False-positive rates that count, such as 0,0.1.")
    ] = None,
    tpr: Annotated[
        str | None, typer.Option(help="True-positive rates that count, such as 0.8,1.")
    ] = None,
    limits: Annotated[
        str,
        typer.Option(
            help="auto (distribution-free), hinge, kl, nested, dkw, beta, approximate, delong, …"
        ),
    ] = "auto",
    confidence: flags.Confidence = 0.95,
    normalize: Annotated[str, typer.Option(help="raw, mcclish or mean.")] = "raw",
    stream: Annotated[
        bool, typer.Option("--stream", help="Count a large Parquet file without reading it in.")
    ] = False,
    rows: flags.Rows = None,
    output: flags.Output = None,
    as_json: flags.AsJson = False,
) -> None:
    """Measure how good a ranking is where it matters, with limits that hold.

    Example:  karat auc mails.csv --label truth --score p_spam --fpr 0,0.1
    """

    def work() -> Answer:
        cuts = {"k": k, "share": share, "threshold": threshold, "at": at}
        of_areas = {
            "fpr": fpr is not None,
            "tpr": tpr is not None,
            "limits": limits != "auto",
            "normalize": normalize != "raw",
            "stream": stream,
        }
        check_flags(measure, cuts, of_areas)
        if weight is None and weighting != "importance":
            raise OptionError(f"--weighting is {weighting}; expected --weight with it")
        options: dict[str, Any] = {
            "weight": _weight(fpr, tpr),
            "limits": limits,
            "confidence": confidence,
            "normalize": normalize,
        }
        if is_counts(file):
            if measure != "area":
                refuse_option(measure, "--measure", "area with a file of counts, or a file of rows")
            refuse_flags(
                {
                    "--label": label,
                    "--group": group,
                    "--pos-label": pos_label,
                    "--stream": stream,
                    "--rows": rows,
                    "--weight": weight,
                }
            )
            imported = _imports("weighted_auc", options)
            measured = _Measured(*counted_areas(file, score, options, imported))
        elif label is None:
            raise OptionError("--label is missing; expected the column of true labels")
        elif measure != "area":
            return measured_scores(
                read_table(file, rows).with_codes(group),
                file.name,
                measure=measure,
                cuts=cuts,
                score=score,
                label=label,
                pos_label=pos_label,
                group=group,
                weight=weight,
                weighting=weighting,
                confidence=confidence,
            )
        elif stream:
            measured = _streamed(file, score or [], label, pos_label, (group, weight), options)
        else:
            wanted = [label, group, weight, *(score or ())]
            table = read_table(file, rows, wanted, () if score else _SCORES).with_codes(group)
            weights = (weight, weighting)
            measured = _read(table, score, label, pos_label, group, weights, options)
        if len(measured.results) > 1 and measured.comparison is None:
            flags_needed = "--limits auto or delong" + " without --stream" * stream
            warnings.warn(f"differences need {flags_needed}", KaratWarning, stacklevel=1)
        return _answer(file, measured)

    run(work, output=output, as_json=as_json, reads=[file])


def _weight(fpr: str | None, tpr: str | None) -> Any:
    """Return the weight function of the two bands of rates."""
    across, up = _band(fpr, "--fpr"), _band(tpr, "--tpr")
    if across is None:
        return Uniform() if up is None else TprBand(*up)
    return FprBand(*across) if up is None else FprBand(*across) & TprBand(*up)


def _band(text: str | None, flag: str) -> tuple[float, float] | None:
    if text is None:
        return None
    try:
        first, second = (float(part) for part in text.replace(":", ",").split(","))
    except ValueError:
        refuse_option(text, flag, "two rates such as 0,0.1")
    return first, second


def _read(
    table: InputTable,
    score: list[str] | None,
    label: str,
    pos_label: str | None,
    group: str | None,
    weights: tuple[str | None, str],
    options: dict[str, Any],
) -> _Measured:
    """Measure the columns of a table, and compare them where the method of the limits can."""
    table = table.matched([label]).labelled(label)
    names = table.names("--score", score, _SCORES)
    y_true = Coded(table.column("--label", label), f"frame[{label!r}]")
    scores = Coded(table.columns("--score", names), f"frame[{names}]")
    compared = options | {"pos_label": read_pos_label([y_true.value], pos_label)}
    compared |= row_weights(table, *weights)
    single = compared | {"groups": table.coded("--group", group)}
    if options["limits"] == "bootstrap":
        single["rng"] = 0
    results = {
        name: weighted_auc(y_true.value, scores.value[name], **values(single)) for name in names
    }

    def code(function: str, measured: Coded, used: dict[str, Any]) -> str:
        imports = ("import polars as pl", _imports(function, options))
        return script(imports, table.code, call_code(function, y_true, measured, **used))

    codes = {name: code("weighted_auc", Coded(None, f"frame[{name!r}]"), single) for name in names}
    if len(names) == 1 or options["limits"] not in _COMPARED:
        return _Measured(results, codes)
    comparison = compare_rankings(y_true.value, scores.value, **values(compared))
    return _Measured(results, codes, comparison, code("compare_rankings", scores, compared))


def _streamed(
    file: Path,
    score: list[str],
    label: str,
    pos_label: str | None,
    others: tuple[str | None, ...],
    options: dict[str, Any],
) -> _Measured:
    """Measure without reading the file into memory."""
    from karat.sources import scan

    if any(others) or not score:
        raise OptionError(
            "--stream is True; expected --score with it, and no --group and no --weight: "
            "karat count --weight counts weighted rows, and karat auc answers from its file"
        )
    table = scan_table(file)
    table.columns("--score", score)
    table.column("--label", label)
    positive = None if pos_label is None else read_pos_label([table.labels(label)], pos_label)
    results, codes = {}, {}
    for name in score:
        columns = {"label": label, "score": name}
        cells: dict[str, Any] = {"pos_label": positive, "cells": _CELLS}
        counts = scan(file).roles(**columns).roc_counts(**cells)
        results[name] = weighted_auc(counts, **options)
        codes[name] = script(
            (
                _imports("weighted_auc", options),
                "from karat.sources import scan",
            ),
            f"data = {call_code('scan', str(file))}.{call_code('roles', **columns)}",
            "counts = " + call_code("data.roc_counts", **cells),
            call_code("weighted_auc", Coded(counts, "counts"), **options),
        )
    return _Measured(results, codes)


def _imports(function: str, options: dict[str, Any]) -> str:
    kinds = [kind for kind in ("FprBand", "TprBand", "Uniform") if kind in repr(options["weight"])]
    return f"from karat.ranking import {', '.join([*kinds, function])}"


def _answer(file: Path, measured: _Measured) -> Answer:
    results, comparison = measured.results, measured.comparison
    data: dict[str, Any] = {"results": results}
    text = []
    for name, r in results.items():
        text.append(f"{name}: {r.summary()}")
        text += [f"  {who}: {part.summary()}" for who, part in (r.groups or {}).items()]
    if comparison is not None:
        data["differences"] = {"pairs": comparison.differences}
        text += [difference.summary() for difference in comparison.differences]
    return Answer(data=data, text=text, page=partial(_page, file.name, measured))


def _page(name: str, measured: _Measured) -> Page:
    sections = [_ranking(score, r, measured.codes[score]) for score, r in measured.results.items()]
    if measured.comparison is not None:
        sections.append(compared_section(measured.comparison, measured.comparison_code))
    weighted = any(r.approximate for r in measured.results.values())
    return Page(
        f"{name}: how good the ranking is",
        "Areas under the ROC curve, with limits. Those of method 'auto' hold for any law of "
        "the scores, any ties and any number of rows"
        + ("; with weights of rows they are approximate." if weighted else "."),
        sections,
    )


def _ranking(name: str, r: WeightedAUC, code: str) -> Any:
    parts = [("all", r), *((str(who), part) for who, part in (r.groups or {}).items())]
    rows = tuple(
        (
            who,
            f"{p.n_positive:,.6g}",
            f"{p.n_negative:,.6g}",
            f"{p.lower:.4f}",
            f"{p.value:.4f}",
            f"{p.upper:.4f}",
        )
        for who, p in parts
    )
    return section(
        f"How good is the ranking of {name}?",
        r.summary(),
        result=r,
        picture=f"{r.title} of {name}, with its limits.",
        grid=Grid(("rows", "positives", "negatives", "lower", "value", "upper"), rows),
        assumptions=(
            "Rows are independent draws of the population that the limits speak of, and the scores "
            "were not fitted to these labels.",
        ),
        code=code,
    )


# --- Measures of the scores in a table, as a command answers them.

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


class _MeasureAnswer(NamedTuple):
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
    table = table.matched([label]).labelled(label)
    names = table.names("--score", score, ("score", "y_score", "prob"))
    y_true = Coded(table.column("--label", label), f"frame[{label!r}]")
    scores = Coded(table.columns("--score", names), f"frame[{names}]")
    function = _FUNCTIONS[measure]
    cut = {key: value for key, value in cuts.items() if value is not None}
    shared: dict[str, Any] = cut | {
        "confidence": confidence,
        "pos_label": read_pos_label([y_true.value], pos_label),
    }
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
    return _answer_measures(name, _MeasureAnswer(results, codes, comparison, comparison_code))


def _answer_measures(name: str, measured: _MeasureAnswer) -> Answer:
    data: dict[str, Any] = {"results": measured.results}
    text = []
    for score, r in measured.results.items():
        text.append(f"{score}: {r.summary()}")
        text += [f"  {who}: {part.summary()}" for who, part in (r.groups or {}).items()]
    if measured.comparison is not None:
        data["differences"] = {"pairs": measured.comparison.differences}
        text += [difference.summary() for difference in measured.comparison.differences]
    return Answer(data=data, text=text, page=partial(_page_of_measures, name, measured))


def _page_of_measures(name: str, measured: _MeasureAnswer) -> Page:
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
            who,
            f"{p.n_positive:,.6g}",
            f"{p.n_negative:,.6g}",
            f"{p.lower:.4f}",
            f"{p.value:.4f}",
            f"{p.upper:.4f}",
            f"{p.chance:.4f}",
        )
        for who, p in parts
    )
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
            f"{d.first} − {d.second}",
            f"{d.value:+.4f}",
            f"{d.lower:+.4f}",
            f"{d.upper:+.4f}",
            "" if d.p_value is None else f"{d.p_value:.2g}",
        )
        for d in comparison.differences
    )
    return section(
        "Which ranking is better?",
        comparison.summary(),
        result=comparison,
        picture="The curves of all models.",
        grid=Grid(("pair", "difference", "lower", "upper", "paired p"), rows),
        assumptions=("The limits hold for all models and differences together.",),
        code=code,
    )
