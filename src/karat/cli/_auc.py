"""``karat auc``: areas under the ROC curve and other measures of a ranking, compared."""

import warnings
from collections.abc import Callable, Mapping
from inspect import signature
from pathlib import Path
from typing import Annotated, Any

import typer

from karat._code import Coded, call_code
from karat._validate import check_choice, refuse_option
from karat.cli import _flags as flags
from karat.cli._calls import Called, call, check_taken, chosen_counts, needed_label
from karat.cli._run import run
from karat.cli._table import read_pos_label, read_table, scan_table
from karat.evaluation.rankings import of_rankings
from karat.exceptions import KaratWarning, OptionError
from karat.ranking import (
    FprBand,
    TprBand,
    average_precision,
    compare_rankings,
    cost_curve,
    lift,
    net_benefit,
    precision_at,
    recall_at,
    weighted_auc,
)
from karat.report.answer import Answer
from karat.sources import Counts, scan
from karat.sources.stored import is_counts

_MEASURES: dict[str, Callable[..., Any]] = {
    "area": weighted_auc,
    "average-precision": average_precision,
    "precision": precision_at,
    "recall": recall_at,
    "lift": lift,
    "net-benefit": net_benefit,
    "cost": cost_curve,
}
_SCORES = ("score", "y_score", "prob")  # how columns of scores begin
_CUTS = ("k", "share", "threshold")  # a measure that takes some of them needs one

_CELLS = 1 << 20  # of scores, where a file is too large to be read
# Methods of limits that also hold for differences.
_COMPARED = (None, "auto", "hinge", "kl", "nested", "dkw", "beta", "delong")


def auc(
    file: flags.File,
    label: flags.KnownLabel = None,
    score: flags.Scores = None,
    pos_label: flags.PosLabel = None,
    group: flags.Group = None,
    weight: flags.Weight = None,
    weighting: flags.Weighting = None,
    measure: Annotated[str, typer.Option(help=f"{', '.join(_MEASURES)}.")] = "area",
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
        str | None,
        typer.Option(
            help="Method of the limits of an area: auto (the default, distribution-free), hinge, "
            "kl, nested, dkw, beta, approximate, delong, …"
        ),
    ] = None,
    confidence: flags.Confidence = 0.95,
    normalize: Annotated[
        str | None, typer.Option(help="Scale of an area: raw (the default), mcclish or mean.")
    ] = None,
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
    function = _MEASURES[check_choice(measure, "--measure", tuple(_MEASURES))]
    how: dict[str, Any] = {"k": k, "share": share, "threshold": threshold, "at": at}
    how |= {"limits": limits, "normalize": normalize}
    _check(function, measure, how | {"fpr": fpr, "tpr": tpr, "stream": stream})
    if weight is None and weighting is not None:
        raise OptionError(f"--weighting is {weighting}; expected --weight with it")
    how |= {"weight": _weight(fpr, tpr), "confidence": confidence}
    of_all = {} if function is weighted_auc else {"measure": function.__name__}

    def is_compared(found: Mapping[str, Any], can: bool) -> bool:
        """Return whether models are compared; where they could be, it is said why they are not."""
        if len(found) < 2 or (can and limits in _COMPARED):
            return len(found) > 1
        needed = "--limits auto or delong" + " without --stream" * stream
        if function is not weighted_auc:
            needed = "the rows"
        warnings.warn(f"differences need {needed}", KaratWarning, stacklevel=2)
        return False

    def of_counts(counts: Mapping[str, Any], lines: list[str], what: str) -> Answer:
        """Measure counts; ``what`` is the expression of those of a score, its name in braces."""
        found = {
            name: call(function, Coded(one, what.format(repr(name))), read=lines, **how)
            for name, one in counts.items()
        }
        both = None
        if is_compared(found, function is weighted_auc and limits != "delong"):
            both = call(compare_rankings, Coded(counts, "counts"), read=lines, **how)
        return _answer(file, found, both)

    def streamed() -> Answer:
        if group or weight or not score:
            raise OptionError(
                "--stream is True; expected --score with it, and no --group and no --weight: "
                "karat count --weight counts weighted rows, and karat auc answers from its file"
            )
        table = scan_table(file)
        table.columns("--score", score)
        table.column("--label", str(label))
        labels = [] if pos_label is None else [table.labels(str(label))]
        positive = read_pos_label(labels, pos_label)
        found = {}
        for name in score:
            columns = {"label": label, "score": name}
            cells: dict[str, Any] = {"pos_label": positive, "cells": _CELLS}
            read = [
                f"data = {call_code('scan', str(file))}.{call_code('roles', **columns)}",
                f"counts = {call_code('data.roc_counts', **cells)}",
            ]
            counts = Coded(scan(file).roles(**columns).roc_counts(**cells), "counts")
            found[name] = call(function, counts, read=read, **how)
        is_compared(found, False)
        return _answer(file, found, None)

    def work() -> Answer:
        if is_counts(file):
            columns = {"label": label, "group": group, "pos_label": pos_label, "weight": weight}
            check_taken(columns | {"stream": stream, "rows": rows}, beside="a file of counts")
            counts = chosen_counts(Counts.load(file).roc, score, "--score", file)
            read = [f"counts = Counts.load({str(file)!r}).roc"]
            return of_counts(counts, read, "counts[{}]")
        truth_name = needed_label(label)
        if stream:
            return streamed()
        wanted = [truth_name, group, weight, *(score or ())]
        counted = weight is None and limits != "bootstrap"
        starts = () if score else _SCORES
        table = read_table(file, rows, wanted, starts, counted=counted, codes=group)
        table = table.with_codes(group).matched([truth_name]).labelled(truth_name)
        names = table.names("--score", score, _SCORES)
        truth = Coded(table.column("--label", truth_name), f"frame[{truth_name!r}]")
        scores = Coded(table.columns("--score", names), f"frame[{names}]")
        shared = (
            how
            | {
                "pos_label": read_pos_label([truth.value], pos_label),
                "sample_weight": table.coded("--weight", weight),
                "weighting": weighting,
            }
            | table.repeats
        )
        own = shared | {"groups": table.coded("--group", group)}
        own |= {"rng": 0} if limits == "bootstrap" else {}
        read = [table.code]
        each = {name: Coded(scores.value[name], f"frame[{name!r}]") for name in names}
        found = {name: call(function, truth, one, read=read, **own) for name, one in each.items()}
        both = None
        if is_compared(found, True):
            both = call(compare_rankings, truth, scores, read=read, **of_all, **shared)
        return _answer(file, found, both)

    run(work, output=output, as_json=as_json, reads=[file])


def _check(function: Callable[..., Any], measure: str, given: dict[str, Any]) -> None:
    """Refuse flags that a measure does not take, and a cut that is missing."""
    taken = set(signature(function).parameters)
    others = ("fpr", "tpr", "stream") if function is weighted_auc else ()
    check_taken(given, function, beside=f"--measure {measure}", but=others)
    cuts = [name for name in _CUTS if name in taken]
    if cuts and all(given[name] is None for name in cuts):
        flags_ = " or ".join(f"--{name}" for name in cuts)
        raise OptionError(f"--measure is {measure}; expected {flags_} with it")


def _weight(fpr: str | None, tpr: str | None) -> Any:
    """Return the weight function of the two bands of rates; None weighs all alike."""
    across, up = _band(fpr, "--fpr"), _band(tpr, "--tpr")
    if across is None:
        return None if up is None else TprBand(*up)
    return FprBand(*across) if up is None else FprBand(*across) & TprBand(*up)


def _band(text: str | None, flag: str) -> tuple[float, float] | None:
    if text is None:
        return None
    try:
        first, second = (float(part) for part in text.replace(":", ",").split(","))
    except ValueError:
        refuse_option(text, flag, "two rates such as 0,0.1")
    return first, second


def _answer(file: Path, found: Mapping[str, Called], both: Called | None) -> Answer:
    return of_rankings(
        {name: one.result for name, one in found.items()},
        file.name,
        None if both is None else both.result,
        codes={name: one.code for name, one in found.items()},
        comparison_code="" if both is None else both.code,
    )
