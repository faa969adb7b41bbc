"""Numbers and lists in words, and calls as code."""

import re
import shlex
from collections.abc import Sequence
from typing import Any

from karat._code import Coded, call_code
from karat._code import script as block

__all__ = ["between", "code_of", "flag", "of", "percent", "script", "sentence", "several"]

_IMPORTS = {
    "karat.": "import karat",
    "np.": "import numpy as np",
    "pl.": "import polars as pl",
    "load_metric(": "from karat.metrics import load_metric",
}


def percent(confidence: float) -> str:
    """Return a confidence as a percentage."""
    return f"{100 * confidence:g} %"


def between(r: Any) -> str:
    """Return a value with its limits."""
    return f"{r.value:.3f} (between {r.lower:.3f} and {r.upper:.3f})"


def of(title: str, name: Any) -> str:
    """Return what is measured of whom, as a sentence begins."""
    return f"{title[:1].upper()}{title[1:]} of {name}"


def sentence(text: str) -> str:
    """Return text that ends as a sentence does."""
    return text if text.endswith((".", "?", "!")) else f"{text}."


def several(names: Sequence[Any]) -> str:
    """Return names as an enumeration, the first five of many."""
    shown = [str(name) for name in names[:5]]
    if len(names) > 5:
        return f"{', '.join(shown)} and {len(names) - 5} more"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def flag(name: str, *values: Any) -> str:
    """Return a flag of a command once for every value, each as a shell takes it."""
    return "".join(f" --{name} {shlex.quote(str(value))}" for value in values)


def code_of(function: str, *arguments: str, **options: Any) -> str:
    """Return a call as code; arguments are expressions, options are values, None is left out."""
    return call_code(function, *(Coded(text, text) for text in arguments), **options)


def script(read: str, imported: str, *lines: str) -> str:
    """Return the lines of a section's code: imports, the line that reads the rows, the calls."""
    whole = "\n".join((read, *lines))
    used = [line for name, line in _IMPORTS.items() if re.search(rf"\b{re.escape(name)}", whole)]
    return block([*used, imported], read, *lines)
