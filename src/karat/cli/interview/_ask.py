"""Ask a procedure's questions at the terminal."""

from pathlib import Path
from typing import Any

from karat.cli.frame import console
from karat.cli.interview._pair import drawn_pair
from karat.elicit import Procedure, Space

__all__ = ["ask"]

_ANSWERS = {"1": "first", "2": "second", "t": "tie", "=": "tie", "s": "skip"}
_UNDO, _STOP = "u", "q"
_HELP = "1 first · 2 second · t tie · s skip · u undo · q stop here"


def ask(procedure: Procedure, space: Space, transcript: Path | None, *, quiet: bool) -> None:
    """Ask until no question is left or the person stops; every answer is saved at once.

    With ``quiet`` the questions go to the standard error stream.
    """
    out = console(stderr=quiet)
    if procedure.answers and not procedure.finished:
        n = len(procedure.answers)
        out.print(f"going on after {n} answers, with the options of the transcript")
    while (query := procedure.ask()) is not None:
        out.print(drawn_pair(query, space, len(procedure.answers) + 1))
        key = _read_key(out)
        if key == _STOP:
            break
        if key == _UNDO:
            if procedure.answers:
                procedure.undo()
            else:
                out.print("nothing to take back yet")
        else:
            procedure.tell(_ANSWERS[key])
        if transcript is not None:
            procedure.transcript.save(transcript)


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
