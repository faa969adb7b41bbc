"""The scripts beside the library import what the library has."""

import ast
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPTS = sorted(
    path.relative_to(ROOT).as_posix()
    for folder in ("benchmarks", "docs", "examples", "reproductions", "tools")
    for path in (ROOT / folder).rglob("*.py")
    if "_build" not in path.parts
)
# Packages that only an extra lets import, and a package that the extra brings.
NEEDS = {"karat.studio": "fastapi", "karat.torch": "torch"}


@pytest.mark.parametrize("script", SCRIPTS)
def test_every_name_that_a_script_imports_from_karat_exists(script):
    for node in ast.walk(ast.parse((ROOT / script).read_text(encoding="utf-8"))):
        if not isinstance(node, ast.ImportFrom) or (node.module or "").split(".")[0] != "karat":
            continue
        for package, needed in NEEDS.items():
            if f"{node.module}.".startswith(f"{package}."):
                pytest.importorskip(needed, reason=f"{package} needs {needed}")
        module = importlib.import_module(node.module)
        for alias in node.names:
            if not hasattr(module, alias.name):  # else it must be a module
                importlib.import_module(f"{node.module}.{alias.name}")


def test_there_are_scripts():
    assert len(SCRIPTS) > 100
