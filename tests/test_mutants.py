"""The table of bugs that tests have to notice: each still fits the code and the tests."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

FILE = Path(__file__).parents[1] / "tools" / "mutants.py"
CODE = "def f(x):\n    return x + 1\n\n\ndef g(x):\n    return x - 1\n"


@pytest.fixture(scope="module")
def mutants():
    spec = importlib.util.spec_from_file_location("mutants", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def bug(mutants, **changes):
    return mutants.MUTANTS[0]._replace(
        **({"name": "sign", "function": "f", "old": "x + 1", "new": "x - 1"} | changes)
    )


def test_every_bug_of_the_table_still_fits(mutants):
    assert mutants.problems() == []


def test_most_packages_and_bugs_are_there(mutants):
    assert len(mutants.MUTANTS) >= 50
    packages = {mutant.package for mutant in mutants.MUTANTS}
    assert len(packages) >= 12
    survivors = [mutant.name for mutant in mutants.MUTANTS if mutant.survives]
    assert len(survivors) <= 0.1 * len(mutants.MUTANTS)


def test_a_bug_changes_its_own_place_alone(mutants):
    assert mutants.injected(bug(mutants), CODE) == CODE.replace("x + 1", "x - 1")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"old": "x * 1"}, "sign: its text occurs 0 times in"),
        ({"old": "return x"}, "sign: its text occurs 2 times in"),
        ({"function": "g"}, "sign: its text is not in g of"),
        ({"new": "x  +  1"}, "sign: its new text does what the old one does"),
    ],
)
def test_a_bug_that_does_not_apply_is_named(mutants, changes, said):
    with pytest.raises(ValueError, match=said):
        mutants.injected(bug(mutants, **changes), CODE)


def test_a_file_or_test_that_is_gone_and_a_name_twice_are_named(mutants):
    good = mutants.MUTANTS[0]
    gone = good._replace(name="a", file="metrics/gone.py")
    untested = good._replace(name="b", tests=("tests/metrics/test_gone.py",))
    assert mutants.problems((gone, untested, good, good)) == [
        f"{good.name}: two mutants have this name",
        "a: there is no metrics/gone.py",
        "b: there is no tests/metrics/test_gone.py",
    ]


def test_a_name_that_is_not_in_the_table_is_said():
    done = subprocess.run([sys.executable, FILE, "nothing"], capture_output=True, text=True)
    assert done.returncode == 1
    assert "there is no nothing; --list names them" in done.stderr


def test_a_run_tells_what_is_noticed_from_what_is_not(mutants, monkeypatch, tmp_path):
    """On a package of one function whose test looks at one of its two branches."""
    package, tests = tmp_path / "src" / "karat", tmp_path / "tests" / "small"
    (package / "small").mkdir(parents=True)
    tests.mkdir(parents=True)
    for folder in (package, package / "small"):
        (folder / "__init__.py").touch()
    text = "def f(x):\n    return x + 1 if x > 0 else x - 2\n"
    (package / "small" / "one.py").write_text(text)
    (tests / "test_one.py").write_text(
        "from karat.small.one import f\n\n\ndef test_f():\n    assert f(1) == 2\n"
    )
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n  slow: none\n")
    monkeypatch.setattr(mutants, "ROOT", tmp_path)
    monkeypatch.setattr(mutants, "PACKAGE", package)
    copy = tmp_path / "copy"
    mutants.shutil.copytree(package, copy / "karat")
    one = bug(mutants, file="small/one.py", tests=("tests/small/test_one.py",))
    assert mutants.problems((one,)) == []
    assert mutants.tried(one, copy, named=True) == (True, "tests/small/test_one.py::test_f")
    other = one._replace(old="x - 2", new="x + 2")
    assert mutants.tried(other, copy, named=False) == (False, "")
    assert (package / "small" / "one.py").read_text() == text
    assert (copy / "karat" / "small" / "one.py").read_text() == text
