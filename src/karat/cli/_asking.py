"""An elicitation at the terminal: its questions drawn, its answers read and kept."""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from karat.cli._run import console
from karat.elicit import Elicitation, Query, RateSpace, Transcript, load_transcript
from karat.elicit.oracles import KEYS, counts_by_group, leave_at_once
from karat.elicit.spaces import Space
from karat.exceptions import OptionError
from karat.metrics.families import class_name

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
