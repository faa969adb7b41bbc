"""karat elicit: ask a person which of two classifiers is better, and save the metric."""

import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from karat._files import replaced
from karat._validate import check_choice
from karat.cli import _flags as flags
from karat.cli._run import Answer, Grid, Page, console, run, section
from karat.cli._table import (
    InputTable,
    check_score_or_prob,
    read_pos_label,
    read_probabilities,
    read_table,
)
from karat.elicit import (
    BinarySpace,
    Elicitation,
    ElicitationResult,
    Query,
    RateSpace,
    Transcript,
    load_transcript,
)
from karat.elicit.by_name import FAMILIES, SPACES, space_name
from karat.elicit.oracles import KEYS, counts_by_group, leave_at_once
from karat.elicit.spaces import Space
from karat.exceptions import ContradictionWarning, OptionError
from karat.metrics.base import MetricBase
from karat.metrics.families import class_name


def elicit(
    file: flags.File,
    label: flags.Label,
    score: flags.Score = None,
    prob: flags.Probabilities = None,
    pos_label: flags.PosLabel = None,
    group: flags.Group = None,
    family: Annotated[str, typer.Option(help=f"One of {', '.join(FAMILIES)}.")] = "linear",
    space: Annotated[
        str | None,
        typer.Option(
            help=f"What the metric weighs: one of {', '.join(SPACES)} (where nothing is said, what "
            "is usual for the family; groups with --group)."
        ),
    ] = None,
    strategy: Annotated[
        str | None,
        typer.Option(help="active (where nothing is said), bisection, published or corrected."),
    ] = None,
    agreement: Annotated[
        float | None,
        typer.Option(
            help="Predicted agreement at which to stop asking (0.95); a greater one than that of a "
            "transcript goes on asking."
        ),
    ] = None,
    precision: Annotated[
        float | None,
        typer.Option(
            help="Ratio of upper to lower limits of what errors cost at which to stop asking (3); "
            "a smaller one than that of a transcript goes on asking."
        ),
    ] = None,
    max_queries: Annotated[
        int | None,
        typer.Option(help="Greatest number of questions; a greater one goes on asking too."),
    ] = None,
    smooth: Annotated[
        bool, typer.Option(help="Ask about the fitted law, which has no steps of chance.")
    ] = True,
    transcript: Annotated[
        Path | None,
        typer.Option(help="Save every answer here; goes on from it if it is there."),
    ] = None,
    save_metric: Annotated[
        Path | None,
        typer.Option(help="Write the metric here, as JSON, with its classes and its status."),
    ] = None,
    output: flags.Output = None,
    as_json: flags.AsJson = False,
) -> None:
    """Find out what should be measured, by asking which of two classifiers is better.

    Example:  karat elicit mails.csv --label truth --score p_spam --save-metric mine.json

    Answers that speak against any metric of the family are flagged: their metric is written as
    flagged, commands refuse it, and the exit code is 3.
    """
    flagged: list[Path] = []
    options: dict[str, Any] = {
        "strategy": strategy,
        "agreement": agreement,
        "precision": precision,
        "max_queries": max_queries,
        "out_of": SHOWN_CASES,
    }

    def work() -> Answer:
        asked_about = read_space(
            read_table(file).with_codes(group),
            label=label,
            score=score,
            prob=prob or [],
            pos_label=pos_label,
            group=group,
            family=family,
            space=space,
        )
        asked_about = asked_about.smoothed() if smooth else asked_about
        elicitation, note = begin(asked_about, family, transcript, options)
        if note:
            console(stderr=as_json).print(note, markup=False)
        ask(elicitation, asked_about, transcript, quiet=as_json)
        if (nothing := nothing_said(elicitation, transcript)) is not None:
            return Answer(data={"summary": nothing, "result": None}, text=[nothing])
        result = elicitation.result
        if save_metric is not None:
            with replaced(save_metric) as path:
                path.write_text(_dated(result.metric).to_json() + "\n", encoding="utf-8")
            if result.status == "flagged":
                flagged.append(save_metric)
                _warn_of_flags(save_metric)
        return _answer(file.name, elicitation, result, save_metric, transcript)

    run(
        work,
        output=output,
        as_json=as_json,
        reads=[file],
        writes={"--transcript": transcript, "--save-metric": save_metric},
    )
    if flagged:
        raise typer.Exit(3)


def _dated(metric: MetricBase) -> MetricBase:
    """Return the metric with today as the day of the last answer."""
    if metric.elicited is None:
        return metric
    today = datetime.now(UTC).date().isoformat()
    return metric._with(elicited=replace(metric.elicited, when=today))


def _warn_of_flags(path: Path) -> None:
    warnings.warn(
        f"the answers are flagged: {path} says so, and is refused wherever a metric is read. Ask "
        "again with a new --transcript, or by another --family",
        ContradictionWarning,
        stacklevel=1,
    )


def _answer(
    name: str,
    elicitation: Elicitation,
    result: ElicitationResult,
    save_metric: Path | None,
    transcript: Path | None,
) -> Answer:
    described = result.description
    weights = Grid(("weight", "value", "95 % limits"), tuple(_rows(result)))
    text: list[str | Grid] = [result.summary(), weights, described]
    if save_metric is not None:
        text.append(f"the metric is in {save_metric}")
    if transcript is not None:
        go_on = "" if elicitation.finished else ": run again to go on"
        text.append(f"the answers are in {transcript}{go_on}")
    return Answer(
        data={"summary": result.summary(), "result": result},
        text=text,
        page=partial(_page, name, elicitation, result, described, weights),
    )


def _rows(result: ElicitationResult) -> list[tuple[str, str, str]]:
    def limits(low: float, high: float) -> str:
        return f"{low:.3g} to {'∞' if np.isinf(high) else f'{high:.3g}'}"

    return [
        (w.name, f"{w.value:.3g}", limits(w.lower, w.upper))
        for w in (*result.weights, *result.ratios)
    ]


def _page(
    name: str, elicitation: Elicitation, result: ElicitationResult, described: str, weights: Grid
) -> Page:
    sections = [
        section(
            "What should we measure?",
            f"{result.summary()} {described}",
            result=result,
            picture="The weights that fit the answers, with their limits.",
            grid=weights,
            assumptions=(
                "The person compares classifiers by a metric of this family, slips now and then, "
                "and means the same by every answer.",
            ),
            code=(
                "from karat.elicit import Elicitation\n\n"
                "Elicitation.resume(space, 'answers.json').result.metric\n"
            ),
        ),
        *_group_sections(elicitation, result),
        section(
            "What was asked?",
            result.questions.summary(),
            result=result.questions,
            picture="The pairs asked about, among what classifiers attain.",
        ),
        section(
            "Would more questions help?",
            result.progress.summary(),
            result=result.progress,
            picture="Predicted agreement after each answer.",
        ),
    ]
    return Page(
        f"{name}: what should be measured",
        "Which of two classifiers is better? From the answers, a metric with its uncertainty.",
        sections,
    )


def _group_sections(elicitation: Elicitation, result: ElicitationResult) -> list[Any]:
    """Return what there is to say of a metric of groups."""
    if result.trade_off is None:
        return []
    frontier = elicitation.frontier()
    return [
        section(
            "What is a gap between groups worth?",
            result.trade_off.summary(),
            result=result.trade_off,
            picture="The trade-offs that fit the answers.",
        ),
        section(
            "What would it choose?",
            frontier.summary(),
            result=frontier,
            picture="Few errors or small gaps, and lines along which both are equally good.",
        ),
    ]


# --- Ask an elicitation's questions at the terminal.

_UNDO, _STOP = ("u", "undo"), ("q", "quit")
_HELP = "1 first · 2 second · t tie · s skip · u undo · q stop here"


def ask(elicitation: Elicitation, space: Space, transcript: Path | None, *, quiet: bool) -> None:
    """Ask until no question is left or the person stops; with ``quiet`` on the standard error.

    Every answer is in the transcript before the next question is thought of, with the seconds that
    it took: whoever leaves by Ctrl-C leaves at once, and nothing is lost.
    """
    out = console(stderr=quiet)
    record = elicitation.transcript
    leave_at_once()
    try:
        while (query := elicitation.ask()) is not None:
            out.print(drawn_pair(query, space, len(elicitation.answers) + 1))
            start = time.monotonic()
            key = _read_key(out)
            if key in _STOP:
                break
            if key in _UNDO and not record.answers:
                out.print("nothing to take back yet")
            elif key in _UNDO:
                record = without_last(record)
                save_answers(record, transcript)
                elicitation.undo()
            else:
                kept = {"seconds": round(time.monotonic() - start, 3)}
                record = with_answer(record, query, KEYS[key], kept)
                save_answers(record, transcript)
                elicitation.tell(KEYS[key], **kept)
    except KeyboardInterrupt:
        save_answers(record, transcript)  # again, lest the first time was what was interrupted
        out.print(_farewell(len(record.answers), transcript), markup=False)
        raise


def nothing_said(elicitation: Elicitation, transcript: Path | None) -> str | None:
    """Return that nothing is known, where no question was answered or all were skipped."""
    n = len(elicitation.answers)
    if n == 0:
        return "Nothing was answered, so nothing is known, and nothing is saved."
    if any(answer != "skip" for answer in elicitation.answers):
        return None
    asked = "The question was skipped" if n == 1 else f"All {n} questions were skipped"
    where = "" if transcript is None else f"; the transcript is in {transcript}: run again to go on"
    return f"{asked}, so nothing is known and no metric is saved{where}."


def _farewell(n: int, transcript: Path | None) -> str:
    if n == 0:
        return "\nnothing was answered, and nothing is saved"
    some = "1 answer" if n == 1 else f"{n} answers"
    is_or_are = "is" if n == 1 else "are"
    if transcript is None:
        return f"\n{some} {is_or_are} not saved: pass --transcript FILE to be able to go on"
    return f"\n{some} {is_or_are} in {transcript}: run again to go on"


def _read_key(out: Any) -> str:
    """Read a key; the end of the input means to stop."""
    while True:
        try:
            key = str(out.input(f"{_HELP} > ")).strip().lower()
        except EOFError:
            out.print()
            return _STOP[0]
        if key in {*KEYS, *_UNDO, *_STOP}:
            return key
        out.print(f"{key!r} is no answer", markup=False)


# --- The two classifiers of a question, drawn as bars.

SHOWN_CASES = 1000
_BAR = 12  # characters of a bar


def drawn_pair(query: Query, space: Space, number: int) -> Any:
    """Return both confusions as bars, one row for each outcome, side by side."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    groups = space.groups if isinstance(space, RateSpace) else None
    table = Table(
        f"of {SHOWN_CASES:,} cases" + (" in each group" if query.first.ndim == 3 else ""),
        "first",
        "",
        "second",
        "",
        title=f"question {number}: which classifier is better?",
        box=box.SIMPLE,
        title_justify="left",
    )
    names = [escape(class_name(c)) for c in space.classes.tolist()]
    for group, first, second in counts_by_group(query, SHOWN_CASES, groups):
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


# --- An elicitation at its beginning, or where a transcript left it.

# Which of two values asks for more, of every option that says when to stop: a transcript goes on
# with that one.
_MORE: dict[str, Callable[[Any, Any], Any]] = {
    "agreement": max,
    "max_queries": max,
    "precision": min,
}


def begin(
    space: Space, family: str, transcript: Path | None, given: Mapping[str, Any]
) -> tuple[Elicitation, str]:
    """Return the elicitation, and a line on what it goes on from; empty where it is new.

    A transcript brings its own options. Of those given now (None: not given), only what asks for
    more than the transcript did replaces them; the line names the others.
    """
    options = {name: value for name, value in given.items() if value is not None}
    if transcript is None or not transcript.exists():
        return Elicitation(space, family, **options), ""
    saved = load_transcript(transcript)
    if (saved.family, saved.space.get("kind")) != (family, space.kind):
        raise OptionError(
            f"--transcript is {str(transcript)!r}, whose answers are about {saved.family} metrics "
            f"on a {saved.space.get('kind')} space, and these options ask about {family} ones on "
            f"a {space.kind} space; expected the --family, --space and --group that it was made "
            "with, or another file"
        )
    changed = {
        name: options[name]
        for name in _MORE
        if name in options and _asks_more(saved, name, options)
    }
    elicitation = Elicitation.resume(space, saved, **changed)
    n = "1 answer" if len(saved.answers) == 1 else f"{len(saved.answers)} answers"
    left = [
        f"--{name.replace('_', '-')} {value}"
        for name in ("strategy", *_MORE)
        if (value := options.get(name, saved.options.get(name))) != saved.options.get(name)
        and name not in changed
    ]
    raised = "".join(f", and {name} {value:g}" for name, value in changed.items())
    if elicitation.finished:
        if elicitation.result.status == "flagged":
            return elicitation, (
                f"all is asked: {n}, which are flagged: begin again with another --transcript"
            )
        return elicitation, (
            f"all is asked: {n}; a greater --agreement or --max-queries or a smaller "
            "--precision goes on"
        )
    ignored = f" (not {', '.join(left)})" if left else ""
    return elicitation, f"going on after {n}, with the options of the transcript{ignored}{raised}"


def _asks_more(saved: Transcript, name: str, options: Mapping[str, Any]) -> bool:
    before, now = saved.options.get(name), options[name]
    if before is None:  # as many questions as it takes: a number is one that the answers leave
        return bool(now > len(saved.answers))
    return bool(_MORE[name](before, now) != before)


# --- The transcript of a run, kept apart from the elicitation that thinks of the next question.


def with_answer(record: Transcript, query: Query, answer: str, kept: dict[str, Any]) -> Transcript:
    """Return a transcript with one more answer, as the one of the elicitation will be."""
    return replace(
        record,
        answers=(*record.answers, answer),
        queries=(*record.queries, (query.first.tolist(), query.second.tolist())),
        kinds=(*record.kinds, query.kind),
        kept=(*record.kept, kept),
    )


def without_last(record: Transcript) -> Transcript:
    """Return a transcript without its last answer."""
    return replace(
        record,
        answers=record.answers[:-1],
        queries=record.queries[:-1],
        kinds=record.kinds[:-1],
        kept=record.kept[:-1],
    )


def save_answers(record: Transcript, path: Path | None) -> None:
    """Write a transcript; where every answer was taken back, there is none to be found."""
    if path is None:
        return
    if record.answers:
        record.save(path)
    else:
        path.unlink(missing_ok=True)


# --- From columns of a table to a space of confusions.


def check_space(family: str, space: str | None, group: str | None) -> str | None:
    """Return the space that was chosen; refuse unknown names, and groups without a column."""
    check_choice(family, "--family", FAMILIES)
    check_choice(space, "--space", tuple(SPACES), none=True)
    if space == "groups" and group is None:
        raise OptionError("--space is 'groups'; expected --group with it, to compare groups")
    if space not in (None, "groups") and group is not None:
        raise OptionError(f"--group is {group!r}; expected --space groups with it, or no --space")
    return "groups" if group is not None else space


def read_space(
    table: InputTable,
    *,
    label: str,
    score: str | None,
    prob: list[str],
    pos_label: str | None,
    group: str | None,
    family: str,
    space: str | None,
) -> Space:
    """Return the space that fits the columns and the family."""
    chosen = check_space(family, space, group)
    table = table.matched([label]).labelled(label)
    y_true = table.column("--label", label)
    positive = read_pos_label([y_true], pos_label)
    check_score_or_prob(score, prob)
    if score is None and not prob:
        raise OptionError(
            "--score is None; expected the column of scores of the positive class, or one --prob "
            f"per class in the order of the sorted labels; there are {table.frame.columns}"
        )
    if score is not None and space_name(family, 2, space=chosen) == "binary":
        scores = table.column("--score", score)  # that need not be probabilities
        return BinarySpace.from_scores(y_true, scores, pos_label=positive)
    proba, classes = read_probabilities(table, y_true, score, prob, positive, ordered=True)
    name = space_name(family, len(classes), space=chosen)
    if name == "groups":
        groups = table.optional("--group", group)
        return RateSpace.from_proba(y_true, proba.value, groups=groups, classes=classes)
    return SPACES[name].from_proba(y_true, proba.value, classes=classes)
