"""Record the numbers of every public function on fixed inputs, and compare two records.

Two sources are run: the example in the docstring of every public name, expression by expression,
and the cases of ``tests/properties/test_renaming.py``, which call everything that takes labels with
several kinds of data. A change that moves code about, or renames it, must leave all of them as they
were::

    python tools/record_numbers.py before.json --root OLDER        # an older checkout
    python tools/record_numbers.py after.json --against before.json --renamed names.json

``names.json`` says what is called otherwise since: ``functions`` and ``fields`` map old names to
new ones, ``text`` what old examples say to what new ones say, and ``words`` old values to new ones;
``gone`` lists fields that follow from others now. A field may move within its result, which is
said; one that is nowhere, or has another number, is a difference.
"""

import argparse
import ast
import dataclasses
import doctest
import importlib
import inspect
import io
import json
import re
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np

import karat

HERE = Path(__file__).resolve().parents[1]
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
    """Return, for every public name, the expressions of its examples with their values."""
    found: dict[str, Any] = {}
    parser = doctest.DocTestParser()
    for name, thing in public():
        module = inspect.getmodule(inspect.unwrap(thing)) if callable(thing) else None
        spaces = dict(vars(module)) if module is not None else {}
        examples = parser.get_examples(inspect.getdoc(thing) or "")
        if examples:
            found[name] = [[one.source, said_and_valued(one.source, spaces)] for one in examples]
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


def of_cases(root: Path) -> dict[str, Any]:
    """Return the numbers of all cases of the tests that rename labels."""
    sys.path[:0] = [str(root / place) for place in sorted(PLACES)]
    cases = importlib.import_module("test_renaming")
    found = {}
    for name, one in cases.CASES.items():
        for k in one.sizes:
            for seed in (0, 1):
                try:
                    value = numbers(cases.plain(name, k, seed))
                except Exception as error:  # one case that fails hides no other
                    value = f"{type(error).__name__}: {error}"
                found[f"case {name}, {k} classes, data {seed}"] = value
    return found


# --- Two records beside each other.


class Renamed:
    """What is called otherwise since the older record."""

    def __init__(self, told: Mapping[str, Any]) -> None:
        self.functions = told.get("functions", {})
        self.fields = told.get("fields", {})
        self.text = told.get("text", {})
        self.words = told.get("words", {})
        self.gone = set(told.get("gone", ()))

    def source(self, source: str) -> str:
        """Return a line of an example, written alike however it was laid out."""
        short = {o.rpartition(".")[2]: n.rpartition(".")[2] for o, n in self.functions.items()}
        for old, new in {**self.text, **short}.items():
            source = re.sub(rf"(?<!\w){re.escape(old)}(?!\w)", new, source)
        try:
            return ast.unparse(ast.parse(source))
        except SyntaxError:
            return source.strip()

    def path(self, parts: tuple[str, ...]) -> tuple[str, ...]:
        """Return where a field stands by its new name, wherever its estimate stands.

        What was called an estimate before is the value of one.
        """
        old = [name for part in parts for name in re.split(r"[. ]", part)]
        new = [name for part in old for name in self.fields.get(part, part).split(".")]
        if new and new[-1] == "estimate":
            new[-1] = "value"
        return tuple(name for name in new if name and name != "estimate")


def leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield every number and word of a record with its path."""
    parts = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else None
    )
    if parts is None:
        yield path, value
    else:
        for key, part in parts:
            yield from leaves(part, (*path, str(key)))


def is_number(value: Any) -> bool:
    """Return whether a leaf of a record is a number, written as text."""
    try:
        return isinstance(value, str) and complex(value) is not None
    except ValueError:
        return False


def differences(old: Any, new: Any, renamed: Renamed) -> list[str]:
    """Return what an older value has that a newer one has not, as lines."""
    there: dict[tuple[str, ...], list[Any]] = {}
    for path, value in leaves(new):
        there.setdefault(renamed.path(path), []).append(value)
    everywhere = {value for values in there.values() for value in values if is_number(value)}
    lines = []
    for path, value in leaves(old):
        place = renamed.path(path)
        said = renamed.words.get(value, value) if isinstance(value, str) else value
        if said in there.get(place, ()) or renamed.gone.intersection(place[-1:]):
            continue
        kind = "number" if is_number(said) else "word"
        if kind == "number" and said in everywhere:
            kind = "moved"
        elif place not in there:
            kind = f"lost {kind}"
        lines.append(f"{kind:12} {'.'.join(place)}: {value} -> {there.get(place, ['nothing'])[0]}")
    return lines


def compare(known: dict[str, Any], found: dict[str, Any], renamed: Renamed) -> dict[str, list[str]]:
    """Return the differences of two records, by the name of a function or of a case."""
    apart: dict[str, list[str]] = {}
    examples, later = known["examples"], found["examples"]
    for name, lines in examples.items():
        package, _, rest = name.partition(".")
        new_name = next(
            (
                name.replace(old, new, 1)
                for old, new in renamed.functions.items()
                if name == old or name.startswith(f"{old}.")
            ),
            f"{package}.{rest}",
        )
        there: dict[str, list[Any]] = {}
        for source, value in later.get(new_name, ()):
            there.setdefault(renamed.source(source), []).append(value)
        own = []
        for source, value in lines:
            line = renamed.source(source)
            if not there.get(line):
                own.append(f"no such line: {line}")
                continue
            own += differences(value[-1:], there[line].pop(0)[-1:], renamed)
        apart[name] = own
    for name, value in known["cases"].items():
        if name in found["cases"]:
            apart[name] = differences(value, found["cases"][name], renamed)
        else:
            apart[name] = ["no such case"]
    return {name: lines for name, lines in apart.items() if lines}


def main() -> None:
    """Write the record, and say what differs from another."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("file", type=Path)
    parser.add_argument("--root", type=Path, default=HERE, help="the checkout that is run")
    parser.add_argument("--against", type=Path, help="an older record")
    parser.add_argument("--renamed", type=Path, help="JSON: what is called otherwise since")
    parser.add_argument("--kept", action="store_true", help="compare a record that is there")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if not options.kept:
        found = {"examples": of_examples(), "cases": of_cases(options.root)}
        options.file.write_text(json.dumps(found, indent=1, sort_keys=True), encoding="utf-8")
        print(f"{sum(map(len, found.values())):,} names and cases in {options.file}")
    if options.against is None:
        return
    known = json.loads(options.against.read_text(encoding="utf-8"))
    found = json.loads(options.file.read_text(encoding="utf-8"))
    told = json.loads(options.renamed.read_text(encoding="utf-8")) if options.renamed else {}
    apart = compare(known, found, Renamed(told))
    for name, lines in apart.items():
        print(name, *(f"  {line[:200]}" for line in lines), sep="\n")
    print(f"{len(apart)} of {sum(map(len, known.values())):,} names and cases differ")
    raise SystemExit(bool(apart))


if __name__ == "__main__":
    main()
