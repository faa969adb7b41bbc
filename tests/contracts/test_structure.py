"""The shape of the tree: rooms, their doors, and the size of what stands in them."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "karat"
FILES = sorted(SOURCE.rglob("*.py"))
PACKAGES = sorted({path.parent for path in FILES if path.parent != SOURCE})
# At the top of a package stand its public names, one a file; everything below is a room.
ROOMS = [path for path in PACKAGES if path.parent != SOURCE or path.name.startswith("_")]
SHARED = 12


def module_of(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def name_of(path: Path) -> str:
    return str(path.relative_to(SOURCE.parent))


def imported(tree: ast.AST) -> Iterator[str]:
    """Yield the modules that a file imports from karat."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("karat"):
            yield str(node.module)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("karat."))


def home_of(module: str) -> str | None:
    """Return the package whose own files alone may import ``module``; None if anyone may."""
    *parents, last = module.split(".")
    inside = ".".join(parents)
    if not last.startswith("_") or inside in ("", "karat"):
        return None  # a package, a room, ``result``, or a file that all packages share
    return inside


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def test_rooms_are_small_and_say_what_they_are_for():
    assert [name_of(room) for room in ROOMS if len(list(room.glob("*.py"))) > 12] == []
    for room in ROOMS:
        tree = tree_of(room / "__init__.py")
        assert len((ast.get_docstring(tree) or "").split()) >= 12, name_of(room)
        assert "__all__" in {
            target.id
            for node in tree.body
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }, name_of(room)


def long_functions(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef) or any(
            "compiled" in ast.unparse(decorator) for decorator in node.decorator_list
        ):
            continue
        body = node.body[1:] if ast.get_docstring(node) else node.body
        if body:
            lines = (body[-1].end_lineno or 0) - body[0].lineno + 1
            if lines > 60:
                yield f"{node.name} has {lines} lines"


def test_files_and_functions_are_short():
    lengths = {name_of(path): len(path.read_text("utf-8").splitlines()) for path in FILES}
    assert {name: lines for name, lines in lengths.items() if lines > 300} == {}
    found = {name_of(path): list(long_functions(tree_of(path))) for path in FILES}
    assert {name: long for name, long in found.items() if long} == {}


def test_rooms_are_entered_by_their_doors():
    """A file inside a room is imported by the files of that room, and by no other."""
    for path in FILES:
        package = module_of(path.parent / "__init__.py")
        for module in imported(tree_of(path)):
            home = home_of(module)
            assert home is None or home == package, (
                f"{name_of(path)}: {module} is a file of {home}: import {home}"
            )


@pytest.mark.parametrize(
    "folder", ["tests", "benchmarks", "reproductions", "examples", "docs", "tools"]
)
def test_everything_else_imports_packages_and_rooms(folder):
    inside = re.compile(r"karat(\.[a-z]\w*)+\._[a-z]\w*")
    for path in sorted((ROOT / folder).rglob("*.py")):
        found = inside.search(path.read_text(encoding="utf-8"))
        assert found is None, f"{path.relative_to(ROOT)} names {found and found[0]}"


def test_the_map_shows_places_that_exist():
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    table = text.split("## Where is …")[1].split("\n## ")[0]
    places = re.findall(r"\| `(karat/[^`]+)` \|", table)
    assert len(places) >= 25
    assert len(set(places)) == len(places)
    assert [place for place in places if not (SOURCE.parent / place).is_file()] == []
    rooms = text.split("## A package is a house")[1].split("## Where is")[0]
    for package in PACKAGES:
        if package in ROOMS and package.parent.parent == SOURCE:
            line = re.search(rf"^{package.parent.name}/ .*", rooms, re.MULTILINE)
            if line is not None:
                assert f" {package.name}/" in line[0], name_of(package)


def test_papers_are_called_by_author_and_year():
    numbered = re.compile(r"\bseed[- ]?00\d?", re.IGNORECASE)
    texts = [ROOT / "README.md", *FILES, *sorted((ROOT / "docs").rglob("*.md"))]
    for path in texts:
        found = numbered.search(path.read_text(encoding="utf-8"))
        assert found is None, f"{path.relative_to(ROOT)} says {found and found[0]!r}"


class Nameless(ast.NodeTransformer):
    """Take the variables out of a statement, in the order in which they stand."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def visit_Name(self, node: ast.Name) -> ast.Name:
        self.names.append(node.id)
        return ast.Name("x", node.ctx)

    def visit_arg(self, node: ast.arg) -> ast.arg:
        self.names.append(node.arg)
        return ast.arg("x")


def statements(body: list[ast.stmt]) -> Iterator[tuple[int, str, list[str]]]:
    """Yield line, text without names and names of all statements, but for docstrings.

    What stands inside a statement follows as statements of its own; the tree is used up.
    """
    for node in body:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        inner: list[ast.stmt] = []
        for part in ("body", "orelse", "finalbody"):
            if isinstance(held := getattr(node, part, None), list):
                inner += held
                setattr(node, part, [ast.Pass()] if part == "body" else [])
        nameless = Nameless()
        yield node.lineno, ast.unparse(nameless.visit(node)), nameless.names
        yield from statements(inner)


def test_no_logic_stands_twice():
    """No thirteen statements stand in two places, whatever their variables are called."""
    seen: dict[tuple[object, ...], list[str]] = defaultdict(list)
    for path in FILES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        top = [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
        lines = list(statements(top))
        for start in range(len(lines) - SHARED):
            run = lines[start : start + SHARED + 1]
            order: dict[str, int] = {}
            names = tuple(order.setdefault(name, len(order)) for *_, used in run for name in used)
            key = (*(text for _, text, _ in run), names)
            seen[key].append(f"{name_of(path)}:{run[0][0]}")
    assert [places for places in seen.values() if len(places) > 1] == []
