"""``karat elicit``: find out at the terminal what should be measured."""

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from karat.cli._files import as_label, pick_column, pick_columns, read_table
from karat.elicit import (
    BinaryLinear,
    BinaryLinearFractional,
    BinarySpace,
    ConfusionSpace,
    DiagonalLinear,
    DiagonalLinearFractional,
    DiagonalMonotone,
    DiagonalSpace,
    ElicitationResult,
    Fair,
    FairQuadratic,
    Linear,
    LinearFractional,
    Procedure,
    Quadratic,
    Query,
    RateSpace,
    Space,
    load_transcript,
)
from karat.elicit.oracles import by_group, whole_counts
from karat.elicit.procedure import GroupProcedure
from karat.exceptions import ColumnError, DataError, KaratWarning
from karat.report import Section, Table, render_report, result_svg

__all__ = ["run_elicit"]

_OUT_OF = 1000
_BAR = 12  # characters of a bar
_FAMILIES: dict[str, tuple[type[Procedure], type[Procedure], type[Space]]] = {
    "linear": (BinaryLinear, Linear, ConfusionSpace),
    "ratio": (BinaryLinearFractional, LinearFractional, ConfusionSpace),
    "diagonal": (BinaryLinear, DiagonalLinear, DiagonalSpace),
    "diagonal-ratio": (BinaryLinearFractional, DiagonalLinearFractional, DiagonalSpace),
    "monotone": (BinaryLinear, DiagonalMonotone, DiagonalSpace),
    "quadratic": (Quadratic, Quadratic, RateSpace),
    "fair": (Fair, Fair, RateSpace),
    "fair-quadratic": (FairQuadratic, FairQuadratic, RateSpace),
}
_FAIR = ("fair", "fair-quadratic")
_KEYS = {"1": "first", "2": "second", "t": "tie", "=": "tie", "s": "skip"}
_HELP = "1 first · 2 second · t tie · s skip · u undo · q stop here"


def run_elicit(
    file: Path,
    *,
    label: str,
    score: str | None,
    prob: list[str],
    pos_label: str | None,
    groups: str | None,
    family: str,
    strategy: str,
    agreement: float,
    max_queries: int | None,
    smooth: bool,
    transcript: Path | None,
    save_metric: Path | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Ask at the terminal, and print, save or dump what was learned."""
    for path in (transcript, save_metric, output):
        if path is not None:  # before anything is asked, so that no answer is lost
            path.parent.mkdir(parents=True, exist_ok=True)
    space, build = _space(file, label, score, prob, family, pos_label, groups, smooth=smooth)
    procedure = _started(
        build, space, transcript,
        strategy=strategy, agreement=agreement, max_queries=max_queries,
    )  # fmt: skip
    _ask(procedure, space, transcript, quiet=as_json)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", KaratWarning)
        result = procedure.result
    if save_metric is not None:
        save_metric.write_text(result.metric.to_json() + "\n", encoding="utf-8")
    notes = [str(w.message) for w in caught]
    if as_json:
        data = {"summary": result.summary(), "notes": notes, "result": result.to_dict()}
        print(json.dumps(data))  # noqa: T201
    else:
        _print(result, space, notes, save_metric, transcript)
    if output is not None:
        output.write_text(_page(file, procedure, result, notes), encoding="utf-8")


def _space(
    file: Path,
    label: str,
    score: str | None,
    prob: list[str],
    family: str,
    pos_label: str | None,
    groups: str | None,
    *,
    smooth: bool,
) -> tuple[Space, type[Procedure]]:
    """Return the space and the procedure that fit the columns."""
    if family not in _FAMILIES:
        raise DataError(f"--family {family}: expected one of {', '.join(_FAMILIES)}")
    if (family in _FAIR) != (groups is not None):
        raise ColumnError(
            f"--family {family} compares groups; name their column with --groups"
            if groups is None
            else f"--groups is for --family {' or '.join(_FAIR)}, and it is {family}"
        )
    two, more, kind = _FAMILIES[family]
    frame = read_table(file)
    y_true = pick_column(frame, label, "--label")
    space: Space
    if score is not None and prob:
        raise ColumnError("--score and --prob say the same thing twice; pass one of them")
    if kind is RateSpace:
        space = _rate_space(frame, y_true, score, prob, pos_label, groups)
    elif score is not None:
        positive = as_label(y_true, pos_label)
        space = BinarySpace.from_scores(
            y_true, pick_column(frame, score, "--score"), pos_label=positive
        )
    elif len(prob) > 1:
        proba = pick_columns(frame, prob, "--prob").to_numpy()
        chosen = BinarySpace if len(prob) == 2 else kind
        space = chosen.from_proba(y_true, proba)
    else:
        raise ColumnError(
            "--score: name the column of scores for the positive class, or one --prob per class, "
            f"in the order of the sorted labels; there are {frame.columns}"
        )
    return space.smoothed() if smooth else space, two if space.n_classes == 2 else more


def _rate_space(
    frame: Any, y_true: Any, score: str | None, prob: list[str], pos_label: str | None, groups: Any
) -> RateSpace:
    """Return the space of error rates, of groups perhaps."""
    members = None if groups is None else pick_column(frame, groups, "--groups")
    if score is None and len(prob) < 2:
        raise ColumnError(
            "--score: name the column of probabilities of the positive class, or one --prob per "
            f"class, in the order of the sorted labels; there are {frame.columns}"
        )
    if score is None:
        return RateSpace.from_proba(
            y_true, pick_columns(frame, prob, "--prob").to_numpy(), groups=members
        )
    chance = np.asarray(pick_column(frame, score, "--score").to_numpy(), dtype=float)
    found = sorted(y_true.drop_nulls().unique().to_list())
    if len(found) != 2:
        raise ColumnError(
            f"--score is for two classes and {y_true.name!r} holds {found[:5]}; pass one --prob "
            "per class"
        )
    positive = as_label(y_true, pos_label)
    if positive is not None and positive not in found:
        raise ColumnError(f"--pos-label {pos_label}: the labels are {found}")
    ordered = found if positive in (None, found[1]) else found[::-1]
    return RateSpace.from_proba(
        y_true, np.stack([1.0 - chance, chance], axis=1), groups=members, classes=ordered
    )


def _started(
    build: type[Procedure], space: Space, transcript: Path | None, **options: Any
) -> Procedure:
    """Return a new procedure, or one that goes on from a transcript."""
    if transcript is None or not transcript.exists():
        return build(space, **options)
    saved = load_transcript(transcript)
    return build.resume(space, saved)


def _ask(procedure: Procedure, space: Space, transcript: Path | None, *, quiet: bool) -> None:
    """Ask until nothing is left to ask or the person stops; every answer is saved at once."""
    from rich.console import Console

    console = Console(stderr=quiet)
    if procedure.answers and not procedure.finished:
        console.print(
            f"going on after {len(procedure.answers)} answers, with the options of the transcript"
        )
    while (query := procedure.ask()) is not None:
        console.print(_drawn(query, space, len(procedure.answers) + 1))
        key = _read(console)
        if key == "q":
            break
        if key == "u":
            if procedure.answers:
                procedure.undo()
            else:
                console.print("nothing to take back yet")
        else:
            procedure.tell(_KEYS[key])
        if transcript is not None:
            procedure.transcript.save(transcript)


def _read(console: Any) -> str:
    """Read a key; the end of the input is taken as stopping."""
    while True:
        try:
            key = str(console.input(f"{_HELP} > ")).strip().lower()
        except (EOFError, KeyboardInterrupt):
            console.print()
            return "q"
        if key in {*_KEYS, "u", "q"}:
            return key
        console.print(f"{key!r} is no answer", markup=False)


def _drawn(query: Query, space: Space, number: int) -> Any:
    """Return both confusions as bars, one row for each outcome, side by side."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table as RichTable

    groups = space.groups if isinstance(space, RateSpace) else None
    table = RichTable(
        f"of {_OUT_OF:,} cases" + (" in each group" if query.first.ndim == 3 else ""),
        "first", "", "second", "",
        title=f"question {number}: which classifier is better?", box=box.SIMPLE,
        title_justify="left",
    )  # fmt: skip
    names = [escape(str(c)) for c in space.classes]
    for group, *sides in by_group(query, groups):
        first, second = (whole_counts(side, _OUT_OF) for side in sides)
        head = "" if group is None else f"{escape(group)}: "
        for i, truth in enumerate(names):
            total = max(int(first[i].sum()), 1)
            for j, said in enumerate(names):
                text = head + (f"{truth} recognised" if i == j else f"{truth} as {said}")
                style = "green" if i == j else "red"
                bars = [f"[{style}]{_bar(int(side[i, j]), total)}[/]" for side in (first, second)]
                table.add_row(text, f"{first[i, j]:,}", bars[0], f"{second[i, j]:,}", bars[1])
            table.add_section()
    return table


def _bar(count: int, total: int) -> str:
    eighths = round(_BAR * 8 * count / total)
    return str("█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip())


def _print(
    result: ElicitationResult,
    space: Space,
    notes: list[str],
    save_metric: Path | None,
    transcript: Path | None,
) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table as RichTable

    console = Console()
    console.print(result.summary(), markup=False)
    table = RichTable("weight", "estimate", "95 % limits")
    for row in _rows(result):
        table.add_row(*map(escape, row))
    console.print(table)
    console.print(result.metric.describe(space.classes.tolist()), markup=False)
    for note in notes:
        console.print(f"note: {note}", markup=False)
    if save_metric is not None:
        console.print(f"the metric is in {save_metric}", markup=False)
    if transcript is not None:
        console.print(f"the answers are in {transcript}: run again to go on", markup=False)


def _rows(result: ElicitationResult) -> list[tuple[str, str, str]]:
    def limits(low: float, high: float) -> str:
        return f"{low:.3g} to {'∞' if np.isinf(high) else f'{high:.3g}'}"

    return [
        (w.name, f"{w.estimate:.3g}", limits(w.lower, w.upper))
        for w in (*result.intervals, *result.ratios)
    ]


def _page(file: Path, procedure: Procedure, result: ElicitationResult, notes: list[str]) -> str:
    described = result.metric.describe(procedure.space.classes.tolist())
    sections = [
        Section(
            question="What should we measure?",
            answer=f"{result.summary()} {described}",
            figure=_figure(result),
            figure_text="The weights that fit the answers, with their limits.",
            table=Table(columns=("weight", "estimate", "95 % limits"), rows=tuple(_rows(result))),
            assumptions=(
                "The person compares classifiers by a metric of this family, slips now and then, "
                "and means the same by every answer.",
                *notes,
            ),
            code=(
                f"from karat.elicit import {result.procedure}\n\n"
                f"{result.procedure}.resume(space, 'answers.json').result.metric\n"
            ),
        ),
        *_fair_sections(procedure, result),
        Section(
            question="What was asked?",
            answer=result.questions.summary(),
            figure=_figure(result.questions),
            figure_text="The pairs asked about, among what classifiers attain.",
        ),
        Section(
            question="Would more questions help?",
            answer=result.progress.summary(),
            figure=_figure(result.progress),
            figure_text="Predicted agreement after each answer.",
        ),
    ]
    return render_report(
        f"{file.name}: what should be measured",
        "Which of two classifiers is better? From the answers, a metric with its uncertainty.",
        sections,
    )


def _fair_sections(procedure: Procedure, result: ElicitationResult) -> list[Section]:
    """Return what a metric of groups has to say besides."""
    if result.trade_off is None or not isinstance(procedure, GroupProcedure):
        return []
    frontier = procedure.frontier()
    return [
        Section(
            question="What is a gap between groups worth?",
            answer=result.trade_off.summary(),
            figure=_figure(result.trade_off),
            figure_text="The trade-offs that fit the answers.",
        ),
        Section(
            question="What would it choose?",
            answer=frontier.summary(),
            figure=_figure(frontier),
            figure_text="Few errors or small gaps, and lines along which both are equally good.",
        ),
    ]


def _figure(result: Any) -> str:
    return result_svg(result)
