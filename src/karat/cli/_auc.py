"""``karat auc``: how good the rankings in a file are where it matters."""

import warnings
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from karat._validate import refuse_option
from karat.cli.counted import counted_areas, is_counts, refuse_flags
from karat.cli.frame import (
    Answer,
    Coded,
    Grid,
    InputTable,
    Page,
    call_code,
    flags,
    read_pos_label,
    read_table,
    run,
    scan_table,
    script,
    section,
    values,
)
from karat.cli.rankings import (
    MEASURES,
    check_flags,
    compared_section,
    measured_scores,
    row_weights,
)
from karat.exceptions import KaratWarning, OptionError
from karat.ranking import (
    FprBand,
    RankingComparison,
    TprBand,
    Uniform,
    WeightedAUC,
    compare_auc,
    weighted_auc,
    weighted_auc_from_counts,
)

__all__ = ["auc"]

_SCORES = ("score", "y_score", "prob")  # how columns of scores begin
# Certificates that also hold for differences.
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
    certificate: Annotated[
        str,
        typer.Option(help="auto (certain), hinge, kl, nested, dkw, beta, approximate, delong, …"),
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
            "fpr": fpr is not None, "tpr": tpr is not None, "certificate": certificate != "auto",
            "normalize": normalize != "raw", "stream": stream,
        }  # fmt: skip
        check_flags(measure, cuts, of_areas)
        if weight is None and weighting != "importance":
            raise OptionError(f"--weighting is {weighting}; expected --weight with it")
        options: dict[str, Any] = {
            "weight": _weight(fpr, tpr), "certificate": certificate, "confidence": confidence,
            "normalize": normalize,
        }  # fmt: skip
        if is_counts(file):
            if measure != "area":
                refuse_option(measure, "--measure", "area with a file of counts, or a file of rows")
            refuse_flags(
                {"--label": label, "--group": group, "--pos-label": pos_label, "--stream": stream,
                 "--rows": rows, "--weight": weight}
            )  # fmt: skip
            imported = _imports("weighted_auc_from_counts", options)
            measured = _Measured(*counted_areas(file, score, options, imported))
        elif label is None:
            raise OptionError("--label is missing; expected the column of true labels")
        elif measure != "area":
            return measured_scores(
                read_table(file, rows).with_codes(group), file.name, measure=measure, cuts=cuts,
                score=score, label=label, pos_label=pos_label, group=group, weight=weight,
                weighting=weighting, confidence=confidence,
            )  # fmt: skip
        elif stream:
            measured = _streamed(file, score or [], label, pos_label, (group, weight), options)
        else:
            wanted = [label, group, weight, *(score or ())]
            table = read_table(file, rows, wanted, () if score else _SCORES).with_codes(group)
            weights = (weight, weighting)
            measured = _read(table, score, label, pos_label, group, weights, options)
        if len(measured.results) > 1 and measured.comparison is None:
            flags_needed = "--certificate auto or delong" + " without --stream" * stream
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
    """Measure the columns of a table, and compare them where the certificate can."""
    table = table.labelled(label)
    names = table.names("--score", score, _SCORES)
    y_true = Coded(table.column("--label", label), f"frame[{label!r}]")
    scores = Coded(table.columns("--score", names), f"frame[{names}]")
    compared = options | {"pos_label": read_pos_label([y_true.value], pos_label)}
    compared |= row_weights(table, *weights)
    single = compared | {"groups": table.coded("--group", group)}
    if options["certificate"] == "bootstrap":
        single["rng"] = 0
    results = {
        name: weighted_auc(y_true.value, scores.value[name], **values(single)) for name in names
    }

    def code(function: str, measured: Coded, used: dict[str, Any]) -> str:
        imports = ("import polars as pl", _imports(function, options))
        return script(imports, table.code, call_code(function, y_true, measured, **used))

    codes = {name: code("weighted_auc", Coded(None, f"frame[{name!r}]"), single) for name in names}
    if len(names) == 1 or options["certificate"] not in _COMPARED:
        return _Measured(results, codes)
    comparison = compare_auc(y_true.value, scores.value, **values(compared))
    return _Measured(results, codes, comparison, code("compare_auc", scores, compared))


def _streamed(
    file: Path,
    score: list[str],
    label: str,
    pos_label: str | None,
    others: tuple[str | None, ...],
    options: dict[str, Any],
) -> _Measured:
    """Measure without reading the file into memory."""
    from karat.statistics import scan_roc_counts

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
        columns: dict[str, Any] = {"label": label, "score": name, "pos_label": positive}
        counts = scan_roc_counts(file, **columns)
        results[name] = weighted_auc_from_counts(counts, **options)
        codes[name] = script(
            (
                _imports("weighted_auc_from_counts", options),
                "from karat.statistics import scan_roc_counts",
            ),
            "counts = " + call_code("scan_roc_counts", str(file), **columns),
            call_code("weighted_auc_from_counts", Coded(counts, "counts"), **options),
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
        "Areas under the ROC curve, with limits. Those of certificate 'auto' hold for any law of "
        "the scores, any ties and any number of rows"
        + ("; with weights of rows they are approximate." if weighted else "."),
        sections,
    )


def _ranking(name: str, r: WeightedAUC, code: str) -> Any:
    parts = [("all", r), *((str(who), part) for who, part in (r.groups or {}).items())]
    rows = tuple(
        (
            who, f"{p.n_positive:,.6g}", f"{p.n_negative:,.6g}", f"{p.lower:.4f}", f"{p.value:.4f}",
            f"{p.upper:.4f}",
        )
        for who, p in parts
    )  # fmt: skip
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
