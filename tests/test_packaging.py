"""What a release says of itself agrees, and workflows and hooks have no list of their own."""

import importlib.util
import json
import re
import sys
import tomllib
from pathlib import Path

import pytest

import karat
from karat.cli import main

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
TARGETS = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
PYTHONS = ["3.11", "3.12", "3.13", "3.14"]


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.fixture
def release_check(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "tools")
    names = ("release_check", "other_pythons", "_fresh")
    for name in names:
        monkeypatch.delitem(sys.modules, name, raising=False)
    spec = importlib.util.spec_from_file_location("release_check", ROOT / "tools/release_check.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    for name in names:
        sys.modules.pop(name, None)


def test_one_version():
    assert f"\nversion: {karat.__version__}\n" in read("CITATION.cff")
    newest = re.search(r"^## \[(\d[^\]]*)\] - (\S+)$", read("CHANGELOG.md"), re.MULTILINE)
    assert newest[1] == karat.__version__
    assert f"\ndate-released: {newest[2]}\n" in read("CITATION.cff")


def test_pythons_are_those_of_the_classifiers():
    mark = "Programming Language :: Python :: "
    named = [c.removeprefix(mark) for c in PROJECT["classifiers"] if c.startswith(f"{mark}3.")]
    assert named == PYTHONS
    assert PROJECT["requires-python"] == f">={PYTHONS[0]}"


def test_extras_are_those_that_doctor_knows_and_the_release_tries(release_check, capsys):
    with pytest.raises(SystemExit):
        main(["doctor", "--json"])
    known = json.loads(capsys.readouterr().out)["extras"]
    assert set(known) - {"core"} == set(release_check.USERS)
    tried = {name.removeprefix("extra-") for name in release_check.STEPS if "extra-" in name}
    assert tried == set(PROJECT["optional-dependencies"]) - {"all"}
    assert PROJECT["optional-dependencies"]["all"] == [f"karat[{','.join(release_check.USERS)}]"]


@pytest.mark.skipif(not WORKFLOWS, reason="this copy has no workflows")
def test_workflows_and_hooks_call_the_makefile_alone():
    texts = {path.name: path.read_text(encoding="utf-8") for path in WORKFLOWS}
    assert set(texts) == {"docs.yml", "packages.yml", "tests.yml"}
    runs = [run for text in texts.values() for run in re.findall(r"run: *(.*)", text)]
    assert len(runs) == 5
    runs.remove("bash .ci/run")  # which calls `make check` and `make test`
    runs.remove("make ${{ matrix.targets }}")
    runs += [f"make {these}" for these in re.findall(r'targets: "([^"]+)"', texts["tests.yml"])]
    runs += re.findall(r"entry: (.*)", read(".pre-commit-config.yaml"))
    for run in runs:
        word, *targets = run.split()
        assert word == "make"
        assert set(targets) <= set(TARGETS)
    assert re.findall(r'python(?:-version)?: "([\d.]+)"', texts["tests.yml"])[:4] == PYTHONS


@pytest.mark.skipif(not WORKFLOWS, reason="this copy has no workflows")
def test_actions_are_pinned_by_their_hash():
    for path in WORKFLOWS:
        used = re.findall(r"uses: (\S+)", path.read_text(encoding="utf-8"))
        assert used
        assert [
            action for action in used if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", action)
        ] == []


@pytest.mark.parametrize(
    "name",
    ["karat/__pycache__/x.py", "karat/x.pyc", "karat/loop.nbi", "tests/data/a.parquet",
     "tests/a.csv", ".hypothesis/x", "docs/.doctrees/x", ".git/config"],
)  # fmt: skip
def test_what_is_never_packed(release_check, name):
    assert release_check.NEVER.search(name)
    assert not release_check.NEVER.search("karat/studio/static/studio.js")
    assert not release_check.NEVER.search(".gitignore")


def test_a_step_that_fails_is_named_and_the_others_go_on(release_check, monkeypatch, capsys):
    def fails(folder):
        release_check.complain("the wheel has", {"tests/a.py"})

    def passes(folder):
        assert list(folder.iterdir()) == []
        return "done"

    monkeypatch.setattr(release_check, "STEPS", {"one": fails, "two": passes})
    monkeypatch.setattr(sys, "argv", ["release_check.py"])
    assert release_check.main() == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "one: FAILED"
    assert lines[1].startswith("the wheel has tests/a.py")
    assert lines[2].startswith("two: done (")
    assert lines[3] == "failed: one"
    monkeypatch.setattr(sys, "argv", ["release_check.py", "--without", "one"])
    assert release_check.main() == 0


def test_a_failed_command_is_told_by_its_last_lines(release_check):
    code = "import sys; print('first'); print('why', file=sys.stderr); sys.exit(3)"
    with pytest.raises(release_check.StepFailedError, match=r"ended with 3:\nfirst\nwhy"):
        release_check.call(sys.executable, "-c", code)


def test_commands_see_neither_this_checkout_nor_its_data(release_check, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "src")
    monkeypatch.setenv("KARAT_DATA", "data")
    code = "import os; print({'PYTHONPATH', 'KARAT_DATA'} & set(os.environ))"
    assert release_check.call(sys.executable, "-c", code) == "set()\n"
