"""Run the command line, and end with a line and a code that say how it went."""

import io
import sys

from karat.exceptions import KaratError, OptionError

__all__ = ["main"]

_WRONG_USAGE = 2
_WRONG_DATA = 3
_INTERRUPTED = 130  # 128 and the number of the signal, as shells have it; typer exits with it too


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit.

    The exit code is 0 if all is well, 2 for wrong usage, 3 for wrong data and 130 after Ctrl-C.

    Parameters
    ----------
    arguments : list of str, optional
        The command and its flags; by default those of the process.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A character that the terminal's encoding lacks is printed as its number.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        from karat._extras import require

        require("typer", purpose="the command line")
        from karat.cli._app import app

        app(args=arguments)
    except KaratError as error:
        sys.stderr.write(f"error: {error}\n")
        code = _WRONG_USAGE if isinstance(error, OptionError) else _WRONG_DATA
        raise SystemExit(code) from error
    except (KeyboardInterrupt, SystemExit) as end:
        if isinstance(end, SystemExit) and end.code != _INTERRUPTED:
            raise
        sys.stderr.write("interrupted\n")
        raise SystemExit(_INTERRUPTED) from None
