"""The command line: ``karat``, or ``python -m karat``.

`main` runs it. Each command is a file of its own here that declares its flags and what it does;
`karat.cli.frame` reads, prints and writes for all of them, `karat.cli.interview` asks questions at
the terminal, and `karat.cli.demo` holds the sections of ``karat demo``.
"""

from karat.cli._main import main

__all__ = ["main"]
