"""A badge is derived from the guarantee of a method; no file writes one by hand."""

import ast
from pathlib import Path
from typing import get_args

import pytest

import karat
from karat._result import BASES, Basis, Guarantee, basis_of

SOURCE = Path(karat.__file__).parent
HOME = SOURCE / "_result.py"
WORDS = set(get_args(Basis)) | {"cannot be known from this"}
# Strings that are no badge: where a request to the studio comes from.
OTHERS = {("studio/routes/deps.py", "unknown")}


def written(path):
    """Yield the line and text of every badge word that is written; to compare with one is to read.

    Docstrings are longer.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    read = {
        part
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare)
        for part in (node.left, *node.comparators)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and node.value in WORDS and node not in read:
            yield node.lineno, node.value


def test_no_badge_is_written_by_hand():
    files = [path for path in sorted(SOURCE.rglob("*.py")) if path != HOME]
    assert len(files) > 300
    found = [
        f"{path.relative_to(SOURCE)}:{line} writes {word!r}; derive it with karat._result.basis_of"
        for path in files
        for line, word in written(path)
        if (path.relative_to(SOURCE).as_posix(), word) not in OTHERS
    ]
    assert found == []


def test_every_verdict_says_what_it_rests_on():
    """The badge of each conclusion is a call of basis_of, or what such a call gave."""
    seen = 0
    for path in sorted(SOURCE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        made = {
            target.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign) and _is_basis(node.value)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            for keyword in node.keywords:
                if keyword.arg == "badge":
                    seen += 1
                    by_name = isinstance(keyword.value, ast.Name) and keyword.value.id in made
                    where = f"{path.relative_to(SOURCE)}:{node.lineno}"
                    assert by_name or _is_basis(keyword.value), where
    assert seen >= 25


def _is_basis(node):
    if isinstance(node, ast.Attribute) and node.attr == "basis":
        return True  # of an Estimate, which was given such a word
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "basis_of"
    )


@pytest.mark.parametrize(
    ("guarantee", "word"),
    [
        ("complete", "certain"),
        ("exact", "guaranteed"),
        ("finite-sample", "guaranteed"),
        ("approximate", "likely"),
        ("model", "likely"),
        ("untested", "unknown"),
    ],
)
def test_the_word_of_each_guarantee(guarantee, word):
    assert basis_of(guarantee) == word
    assert basis_of(guarantee, decided=False) == "unknown"
    assert basis_of(guarantee, "complete") == word
    weaker = list(BASES).index(word) > list(BASES).index("likely")
    assert basis_of(guarantee, assumes="labels are a draw") == (word if weaker else "likely")


def test_a_conclusion_is_as_weak_as_its_weakest_part():
    assert set(get_args(Guarantee)) == {
        "complete", "exact", "finite-sample", "approximate", "model", "untested"
    }  # fmt: skip
    assert basis_of() == "unknown"
    assert basis_of("exact", "approximate") == "likely"
    assert basis_of("exact", "untested") == "unknown"
