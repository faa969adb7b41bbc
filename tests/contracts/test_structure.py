"""The shape of the tree: packages with doors, modules that are whole, and no logic twice."""

import ast
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from statistics import median

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "karat"
FILES = sorted(SOURCE.rglob("*.py"))
MOST_FILES = 330
LONGEST = 1000  # lines of a file
MEDIAN = (150, 300)
OF_IMPORTS = 0.06  # share of all lines
LEAST_FOLDER = 800  # lines of a sub-package; a smaller one is a module
LEAST_MODULE = 60  # lines of a module that only one other imports
MOST_ARGUMENTS = 8  # of a function that begins with an underscore
SHARED = 12
# Alembic wants a folder with a file for each revision.
MIGRATIONS = SOURCE / "studio" / "migrations"


def module_of(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def package_of(module: str) -> str:
    """Return the package of a module: ``karat.ranking`` of ``karat.ranking._areas``."""
    return ".".join(module.split(".")[:2])


def name_of(path: Path) -> str:
    return str(path.relative_to(SOURCE.parent))


def imported(tree: ast.AST) -> Iterator[str]:
    """Yield the modules that a file imports from karat."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("karat"):
            yield str(node.module)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("karat."))


def is_inside(module: str) -> bool:
    """Return whether a module is one that its own package alone may import."""
    return any(part.startswith("_") for part in module.split(".")[2:])


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def lines_of(path: Path) -> int:
    return len(path.read_text("utf-8").splitlines())


def test_a_newcomer_can_find_things():
    """Few files of a readable length, most of whose lines are not imports."""
    assert len(FILES) <= MOST_FILES
    assert MEDIAN[0] <= median(lines_of(path) for path in FILES) <= MEDIAN[1]
    assert {name_of(p): n for p in FILES if (n := lines_of(p)) > LONGEST} == {}
    about = sum(
        (node.end_lineno or 0) - node.lineno + 1
        for path in FILES
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Import | ast.ImportFrom)
        or (isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__")
    )
    assert about <= OF_IMPORTS * sum(map(lines_of, FILES))


def test_a_call_goes_through_few_files():
    """Who follows a call through the library opens no more files than the tool allows."""
    tool = [sys.executable, ROOT / "tools" / "files_run.py"]
    done = subprocess.run(tool, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(" files (at most ") == 5


def test_folders_are_worth_a_folder_and_files_a_file():
    """A small folder is a module, and what only one module uses stands in it."""
    folders = {path.parent for path in FILES} - {SOURCE, MIGRATIONS, MIGRATIONS / "versions"}
    for folder in folders:
        if folder.parent != SOURCE:
            assert sum(map(lines_of, folder.rglob("*.py"))) >= LEAST_FOLDER, name_of(folder)
    users = defaultdict(set)
    for path in FILES:
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.ImportFrom) and node.module:
                users[node.module].add(path)
                for alias in node.names:
                    users[f"{node.module}.{alias.name}"].add(path)
    by_name = {SOURCE / "cli", SOURCE / "plot" / "pictures", MIGRATIONS / "versions"}
    for path in FILES:
        if path.stem in ("__init__", "__main__") or path.parent in by_name or is_compiled(path):
            continue
        few = lines_of(path) < LEAST_MODULE
        assert not few or len(users[module_of(path)]) > 1, f"{name_of(path)} has one user"


def is_compiled(path: Path) -> bool:
    """Return whether a file holds loops for numba, which is imported where they are called."""
    return path.stem.endswith("_loops")


def test_every_module_opens_with_its_idea():
    assert [name_of(p) for p in FILES if not ast.get_docstring(tree_of(p))] == []


def test_the_formatter_has_its_way():
    kept = [
        name_of(path) for path in FILES for _ in re.findall("fmt: (?:skip|off)", path.read_text())
    ]
    assert len(kept) <= 10


def test_classes_are_whole():
    """No class stands above a single other one only to hold half of it."""
    classes = {
        node.name: node
        for path in FILES
        for node in tree_of(path).body
        if isinstance(node, ast.ClassDef)
    }
    below = defaultdict(list)
    for name, node in classes.items():
        for base in node.bases:
            below[ast.unparse(base).split("[")[0].split(".")[-1]].append(name)
    abstract = {
        name
        for name, node in classes.items()
        if {"ABC", "Protocol"} & {ast.unparse(base).split("[")[0] for base in node.bases}
    }
    assert {name: below[name] for name in abstract if len(below[name]) == 1} == {}


def test_private_functions_take_few_arguments():
    for path in FILES:
        if is_compiled(path):
            continue
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.FunctionDef) and re.match("_[^_]", node.name):
                given = node.args
                names = [a.arg for a in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
                n = len([name for name in names if name not in ("self", "cls")])
                assert n <= MOST_ARGUMENTS, f"{node.name} in {name_of(path)} takes {n}"


def test_packages_are_entered_by_their_doors():
    """What begins with an underscore is imported inside its own package, and nowhere else."""
    for path in FILES:
        here = package_of(module_of(path))
        for module in imported(tree_of(path)):
            assert not is_inside(module) or package_of(module) == here, (
                f"{name_of(path)}: {module} belongs to {package_of(module)} alone"
            )


@pytest.mark.parametrize("folder", ["examples", "docs", "tools"])
def test_examples_and_tools_use_doors(folder):
    for path in sorted((ROOT / folder).rglob("*.py")):
        found = [module for module in imported(tree_of(path)) if is_inside(module)]
        assert found == [], path.relative_to(ROOT)


def test_tests_look_inside_the_package_they_are_about():
    for path in sorted((ROOT / "tests").rglob("*.py")):
        about = f"karat.{path.relative_to(ROOT / 'tests').parts[0]}"
        for module in imported(tree_of(path)):
            assert not is_inside(module) or package_of(module) in (about, f"{about}s"), (
                f"{path.relative_to(ROOT)} is not about {module}"
            )


def test_the_map_shows_places_that_exist():
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    table = text.split("## Where is …")[1].split("\n## ")[0]
    places = re.findall(r"\| `(karat/[^`]+)` \|", table)
    assert 10 <= len(places) <= 25
    assert len(set(places)) == len(places)
    assert [place for place in places if not (SOURCE.parent / place).exists()] == []


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
