"""Warnings of the library as lines for people."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from karat.cli.wording import in_flags
from karat.exceptions import KaratWarning

__all__ = ["reported_warnings"]


@contextmanager
def reported_warnings() -> Iterator[list[str]]:
    """Write each warning once, as one line on the standard error stream, and yield the list.

    Python's own form names a file and a line of source, which say nothing at a terminal.
    """
    reported: list[str] = []

    def report(message: Warning | str, *_: Any, **__: Any) -> None:
        text = in_flags(" ".join(str(message).split()))
        if text not in reported:
            reported.append(text)
            sys.stderr.write(f"warning: {text}\n")
            sys.stderr.flush()

    with warnings.catch_warnings():
        warnings.simplefilter("always", KaratWarning)
        warnings.showwarning = report
        yield reported
