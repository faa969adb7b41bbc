"""A command declares what it calls, what the columns are and its flags; it computes nothing."""

import ast
import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest

import karat.cli
from karat.cli._app import _COMMANDS, _PANELS

FOLDER = Path(karat.cli.__file__).parent
QUESTIONS = [name for title in ("Commands", "One question each") for name in _PANELS[title]]
LONGEST = 240  # lines of a command, most of them its flags
SHARED = {"_run", "_calls", "_table", "_votes", "_kept_audit", "_asking", "_flags"}


def tree_of(name):
    return ast.parse((FOLDER / f"_{name}.py").read_text(encoding="utf-8"))


def imported(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield from ((node.module or "", alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)


def test_every_command_has_a_file_of_its_name():
    for name in _COMMANDS:
        module = import_module(f"karat.cli._{name}")
        assert callable(getattr(module, name))


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_command_computes_nothing(name):
    """No arrays, no frames, no pictures, no tables: those are of the library and its results."""
    for module, thing in imported(tree_of(name)):
        assert module.split(".")[0] not in {"numpy", "polars", "scipy", "rich", "jinja2"}, module
        assert not module.startswith("karat.plot"), module
        assert not module.startswith("karat.report") or thing == "Answer", thing


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_command_is_short_and_shares_the_machinery(name):
    text = (FOLDER / f"_{name}.py").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= LONGEST
    used = {module.rpartition(".")[2] for module, _ in imported(tree_of(name))}
    own = {part for part in used if part.startswith("_")} & {p.stem for p in FOLDER.glob("_*.py")}
    assert own <= SHARED, "a command is built from what all share, and from no other command"
    assert "_run" in own


@pytest.mark.parametrize("name", QUESTIONS)
def test_no_command_keeps_a_list_of_flags_that_exclude_each_other(name):
    """Which options go together is told by the signature of what is called."""
    for node in tree_of(name).body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict | ast.Tuple | ast.Set):
            flags = re.findall(r"'--[a-z-]+'", ast.unparse(node.value))
            assert flags == [], ast.unparse(node.targets[0])


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_command_shows_an_example(name):
    function = getattr(import_module(f"karat.cli._{name}"), name)
    assert f"karat {name} " in inspect.getdoc(function)
