"""The command line: ``karat``, or ``python -m karat``."""

import sys

from karat.exceptions import KaratError

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit: 0 all well, 2 wrong usage, 3 wrong data."""
    try:
        from karat._extras import require

        require("typer", purpose="the command line")
        from karat.cli._app import app

        app(args=arguments)
    except KaratError as error:
        sys.stderr.write(f"error: {error}\n")
        raise SystemExit(3) from error
