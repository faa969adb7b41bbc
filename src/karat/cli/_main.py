"""Run the command line, and end with a line and a code that say how it went."""

import os
import sys
from pathlib import Path
from typing import Any

from karat._files import stop_on_interrupt
from karat.cli._run import plain_characters
from karat.cli.words import command_line, in_flags
from karat.exceptions import KaratError, OptionError

_WRONG_USAGE = 2
_WRONG_DATA = 3
# 128 and the number of the signal, as shells have it; typer exits with the first too.
_INTERRUPTED = 130
_CLOSED_PIPE = 141


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit.

    The exit code is 0 if all is well, 2 for wrong usage, 3 for wrong data, 130 after Ctrl-C and 141
    if whoever reads the output stops reading, such as ``head``.

    Parameters
    ----------
    arguments : list of str, optional
        The command and its flags; by default those of the process.
    """
    _open_closed_streams()
    if arguments is None:
        stop_on_interrupt(_INTERRUPTED)
    plain_characters(sys.stdout, sys.stderr)
    with command_line(sys.argv[1:] if arguments is None else arguments):
        code, why = _code_of(arguments)
    try:
        sys.stdout.flush()
    except OSError as error:
        # Python flushes at its end, and would complain there of the same pipe or disk.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = code or (_CLOSED_PIPE if isinstance(error, BrokenPipeError) else _unwritten(error))
    raise SystemExit(code) from why


def _open_closed_streams() -> None:
    """Let what a closed stream would have got go nowhere, and not into the next file opened."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("r+", encoding="utf-8"))  # noqa: SIM115


def _unwritten(error: OSError) -> int:
    """Say that the answer could not be written, as on a full disk, and return the exit code."""
    sys.stderr.write(f"error: the answer cannot be written: {error.strerror or error}\n")
    return _WRONG_DATA


def _code_of(arguments: list[str] | None) -> tuple[Any, KaratError | None]:
    """Run a command; return its exit code, and the error if there was one."""
    try:
        from karat._extras import require

        require("typer", purpose="the command line")
        from karat.cli._app import app

        app(args=arguments)
    except KaratError as error:
        sys.stderr.write(f"error: {in_flags(error.sentence)}\n")
        return _WRONG_USAGE if isinstance(error, OptionError) else _WRONG_DATA, error
    except (KeyboardInterrupt, SystemExit) as end:
        if isinstance(end, KeyboardInterrupt) or end.code == _INTERRUPTED:
            sys.stderr.write("interrupted\n")
            return _INTERRUPTED, None
        # Typer ends with 1 where the reader of a pipe is gone.
        gone = isinstance(end.__context__, BrokenPipeError)
        return _CLOSED_PIPE if gone else end.code, None
    except OSError as error:
        return _unwritten(error), None
    return 0, None
