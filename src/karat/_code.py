"""The Python lines on a page, built from the arguments that the command itself passed."""

import re
import sys
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

_WIDTH = 88
# What lines of code use, and the import that it takes.
_USED = {"karat.": "import karat", "np.": "import numpy as np", "pl.": "import polars as pl"}


class Coded(NamedTuple):
    """A value that a command passes on, and the expression that gives it to a reader."""

    value: Any
    code: str


def values(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return keyword arguments for the call itself."""
    return {name: v.value if isinstance(v, Coded) else v for name, v in options.items()}


def call_code(function: str, *arguments: Any, **options: Any) -> str:
    """Return a call as code; an option that is None is left out, as in the library it may be."""
    parts = [_code(argument) for argument in arguments]
    parts += [f"{name}={_code(v)}" for name, v in options.items() if v is not None]
    line = f"{function}({', '.join(parts)})"
    if len(line) <= _WIDTH:
        return line
    return f"{function}(\n" + "".join(f"    {part},\n" for part in parts) + ")"


def _code(value: Any) -> str:
    return value.code if isinstance(value, Coded) else repr(value)


def script(imports: Iterable[str], *lines: str) -> str:
    """Return imports and lines as one block; empty lines of code are left out.

    A file that karat itself has to read needs karat, whatever else the lines import.
    """
    scans = any("karat.scan(" in line for line in lines)
    needed = {line for line in imports if line} | ({"import karat"} if scans else set())
    # Plain imports come first, as formatters have it.
    ordered = sorted(needed, key=lambda x: (x.startswith("from"), x))
    return "\n".join([*ordered, "", *(line for line in lines if line)]) + "\n"


def lines_of_code(*lines: str, imports: Iterable[str] = ()) -> str:
    """Return lines as one block below the imports that they need; empty lines are left out.

    Public names of karat are found by themselves, in the packages that the command has loaded.

    >>> import karat.limits
    >>> print(lines_of_code("wilson(7, 10)"), end="")
    from karat.limits import wilson
    <BLANKLINE>
    wilson(7, 10)
    """
    whole = "\n".join(lines)
    needed = [line for used, line in _USED.items() if re.search(rf"(?<![\w.'/]){used}\w", whole)]
    called = set(re.findall(r"(?<![\w.'\"])([A-Za-z_]\w*)\(", whole))
    called |= set(re.findall(r"(?<![\w.'\"])([A-Z]\w*)\.\w+\(", whole))  # Counts.load(…)
    for name, module in list(sys.modules.items()):
        if name.count(".") == 1 and name.startswith("karat."):
            own = sorted(called & set(getattr(module, "__all__", ())))
            needed += [f"from {name} import {', '.join(own)}"] if own else []
    return script([*needed, *imports], *lines)
