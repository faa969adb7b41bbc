"""Record the numbers of every public function on fixed inputs, and compare two records.

Two sources are run: the example in the docstring of every public name, expression by expression,
and the cases of ``tests/properties/test_renaming.py``, which call everything that takes labels with
several kinds of data. A change that moves code about must leave all of them as they were::

    python tools/record_numbers.py before.json                     # in the older checkout
    python tools/record_numbers.py after.json --against before.json
"""

import argparse
import dataclasses
import doctest
import importlib
import inspect
import io
import json
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np

import karat

ROOT = Path(__file__).resolve().parents[1]
DIGITS = 10
SKIPPED = {"cli", "studio", "torch"}  # commands and losses: no functions of numbers alone
PLACES = {"tests", "tests/properties", "tests/contracts"}


def numbers(value: Any, depth: int = 0) -> Any:
    """Return numbers and words of a value as JSON: results and arrays by their parts."""
    if value is None or isinstance(value, bool | np.bool_ | str):
        return value if not isinstance(value, np.bool_) else bool(value)
    if isinstance(value, int | float | np.number):
        return f"{complex(value):.{DIGITS}g}" if np.iscomplexobj(value) else f"{value:.{DIGITS}g}"
    if isinstance(value, np.ndarray):
        return numbers(value.tolist(), depth + 1)
    if isinstance(value, Mapping):
        return {str(key): numbers(part, depth + 1) for key, part in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        parts = sorted(value, key=str) if isinstance(value, set | frozenset) else value
        return [numbers(part, depth + 1) for part in parts]
    if depth > 6:
        return type(value).__name__
    for method in ("to_dict", "to_dicts"):
        if callable(getattr(value, method, None)) and not inspect.isclass(value):
            return numbers(getattr(value, method)(), depth + 1)
    if dataclasses.is_dataclass(value) and not inspect.isclass(value):
        fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        return numbers(fields, depth + 1)
    return type(value).__name__


def public() -> Iterator[tuple[str, Any]]:
    """Yield every public name with what it stands for, and the methods of public classes."""
    for package in sorted(set(karat.__all__) - SKIPPED):
        module = getattr(karat, package)
        for name in sorted(getattr(module, "__all__", ())):
            thing = getattr(module, name)
            yield f"{package}.{name}", thing
            if inspect.isclass(thing):
                for member, inside in sorted(vars(thing).items()):
                    if member[0] != "_" and inspect.getdoc(inside):
                        yield f"{package}.{name}.{member}", inside


def of_examples() -> dict[str, Any]:
    """Return the value of every expression in the examples of public names."""
    found: dict[str, Any] = {}
    parser = doctest.DocTestParser()
    for name, thing in public():
        module = inspect.getmodule(inspect.unwrap(thing)) if callable(thing) else None
        spaces = dict(vars(module)) if module is not None else {}
        for number, example in enumerate(parser.get_examples(inspect.getdoc(thing) or "")):
            found[f"{name} #{number}"] = said_and_valued(example.source, spaces)
    return found


def said_and_valued(source: str, spaces: dict[str, Any]) -> Any:
    """Run a line of an example; return what it prints, and its value where it has one."""
    printed = io.StringIO()
    try:
        with redirect_stdout(printed):
            try:
                value = eval(compile(source, "example", "eval"), spaces)
            except SyntaxError:
                value = None
                exec(compile(source, "example", "exec"), spaces)
    except Exception as error:  # what an example shows may be an error
        return f"{type(error).__name__}: {error}"
    return [printed.getvalue(), numbers(value)]


def of_cases() -> dict[str, Any]:
    """Return the numbers of all cases of the tests that rename labels."""
    sys.path[:0] = [str(ROOT / place) for place in sorted(PLACES)]
    cases = importlib.import_module("test_renaming")
    found = {}
    for name, one in cases.CASES.items():
        for k in one.sizes:
            for seed in (0, 1):
                value = numbers(cases.plain(name, k, seed))
                found[f"case {name}, {k} classes, data {seed}"] = value
    return found


def main() -> None:
    """Write the record, and say what differs from another."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("file", type=Path)
    parser.add_argument("--against", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    found = of_examples() | of_cases()
    options.file.write_text(json.dumps(found, indent=1, sort_keys=True), encoding="utf-8")
    print(f"{len(found):,} values in {options.file}")
    if options.against is None:
        return
    known = json.loads(options.against.read_text(encoding="utf-8"))
    found = json.loads(options.file.read_text(encoding="utf-8"))
    apart = [key for key in sorted(set(known) & set(found)) if known[key] != found[key]]
    for key in apart:
        print(f"{key}\n  before {str(known[key])[:300]}\n  after  {str(found[key])[:300]}")
    print(f"missing: {sorted(set(known) - set(found))}; new: {sorted(set(found) - set(known))}")
    print(f"{len(apart)} of {len(known):,} values differ")
    raise SystemExit(bool(apart))


if __name__ == "__main__":
    main()
