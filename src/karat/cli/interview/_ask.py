"""Ask a procedure's questions at the terminal."""

import time
from pathlib import Path
from typing import Any

from karat.cli.frame import console
from karat.cli.interview._pair import drawn_pair
from karat.cli.interview._record import save_answers, with_answer, without_last
from karat.elicit import Procedure, Space
from karat.elicit.oracles import leave_at_once

__all__ = ["ask", "nothing_said"]

_ANSWERS = {"1": "first", "2": "second", "t": "tie", "=": "tie", "s": "skip"}
_UNDO, _STOP = "u", "q"
_HELP = "1 first · 2 second · t tie · s skip · u undo · q stop here"


def ask(procedure: Procedure, space: Space, transcript: Path | None, *, quiet: bool) -> None:
    """Ask until no question is left or the person stops; with ``quiet`` on the standard error.

    Every answer is in the transcript before the next question is thought of, with the seconds that
    it took: whoever leaves by Ctrl-C leaves at once, and nothing is lost.
    """
    out = console(stderr=quiet)
    record = procedure.transcript
    leave_at_once()
    try:
        while (query := procedure.ask()) is not None:
            out.print(drawn_pair(query, space, len(procedure.answers) + 1))
            start = time.monotonic()
            key = _read_key(out)
            if key == _STOP:
                break
            if key == _UNDO and not record.answers:
                out.print("nothing to take back yet")
            elif key == _UNDO:
                record = without_last(record)
                save_answers(record, transcript)
                procedure.undo()
            else:
                kept = {"seconds": round(time.monotonic() - start, 3)}
                record = with_answer(record, query, _ANSWERS[key], kept)
                save_answers(record, transcript)
                procedure.tell(_ANSWERS[key], **kept)
    except KeyboardInterrupt:
        save_answers(record, transcript)  # again, lest the first time was what was interrupted
        out.print(_farewell(len(record.answers), transcript), markup=False)
        raise


def nothing_said(procedure: Procedure, transcript: Path | None) -> str | None:
    """Return that nothing is known, where no question was answered or all were skipped."""
    n = len(procedure.answers)
    if n == 0:
        return "Nothing was answered, so nothing is known, and nothing is saved."
    if any(answer != "skip" for answer in procedure.answers):
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
            return _STOP
        if key in {*_ANSWERS, _UNDO, _STOP}:
            return key
        out.print(f"{key!r} is no answer", markup=False)
