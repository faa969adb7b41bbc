"""The command line: ``karat``, or ``python -m karat``.

`main` runs it. Each command is a file of its own that declares its flags and what it does. Files
are read by ``_table``, what all commands print and write goes through ``_run``, and
`karat.cli.demo` holds the sections of ``karat demo``.
"""

from karat.cli._main import main

__all__ = ["main"]
