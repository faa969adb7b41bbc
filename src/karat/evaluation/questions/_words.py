"""Numbers and lists in words, and calls as code."""

from collections.abc import Sequence
from typing import Any

__all__ = ["between", "code_of", "percent", "script", "several"]


def percent(confidence: float) -> str:
    """Return a confidence as a percentage."""
    return f"{100 * confidence:g} %"


def between(r: Any) -> str:
    """Return a value with its limits."""
    return f"{r.value:.3f} (between {r.lower:.3f} and {r.upper:.3f})"


def several(names: Sequence[str]) -> str:
    """Return names as an enumeration, the first five of many."""
    shown = list(names[:5])
    if len(names) > 5:
        return f"{', '.join(shown)} and {len(names) - 5} more"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def code_of(function: str, *arguments: str, **options: Any) -> str:
    """Return a call as code; arguments are expressions, options are values, None is left out."""
    parts = [*arguments, *(f"{k}={v!r}" for k, v in options.items() if v is not None)]
    return f"{function}({', '.join(parts)})"


def script(read: str, imported: str, *lines: str) -> str:
    """Return the lines of a section's code: imports, the line that reads the rows, the calls."""
    first = [line for line in ("import karat", "import polars as pl") if _uses(line, read, *lines)]
    return "\n".join([*first, imported, "", read, *lines, ""])


def _uses(line: str, *code: str) -> bool:
    name = line.rpartition(" ")[2]
    return any(f"{name}." in part for part in code)
