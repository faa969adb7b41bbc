"""The command line as a whole: its list, its codes, ``doctor`` and ``demo``."""

import os
import re
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import karat as library

COMMANDS = [
    "evaluate", "audit", "gate", "elicit", "score", "auc", "calibration", "judges", "pairs",
    "people", "bounds", "optimize", "demo", "studio", "count", "doctor", "skill",
]  # fmt: skip


def test_version(karat):
    assert karat("--version") == (0, f"karat {library.__version__}\n", "")


@pytest.fixture
def described(karat, monkeypatch):
    """The lines of a command's help, each flag on one line."""
    monkeypatch.setenv("COLUMNS", "400")

    def lines(*command):
        text = karat(*command, "--help").out
        return [" ".join(line.strip("│ ").split()) for line in text.splitlines()]

    return lines


def test_every_command_is_listed_with_its_own_sentence(described):
    """The list is shown without importing the commands, so it has a copy of their sentences."""
    listed = described()
    for name in COMMANDS:
        sentence = next(line for line in described(name)[2:] if line and "Usage" not in line)
        assert f"{name} {sentence}" in listed


def test_flags_mean_the_same_everywhere(described):
    flags = {name: [line for line in described(name) if line.startswith("--")] for name in COMMANDS}
    expected = {
        "--group": 10, "--pos-label": 10, "--confidence": 10, "--null": 3, "--metric": 6,
        "--output, -o": 12, "--json": 14, "--id": 6, "--markdown": 2, "--voter": 3,
        "--design": 2, "--same": 2, "--dependence": 2,
    }  # fmt: skip
    own = {("--output, -o", "demo"), ("--output, -o", "count")}  # what these two are for
    for flag, n_commands in expected.items():
        shown = [
            line.partition("[default")[0].strip()
            for name, lines in flags.items()
            for line in lines
            if line.startswith(f"{flag} ") and (flag, name) not in own
        ]
        assert len(shown) == n_commands
        assert len(set(shown)) == 1, shown


def test_doctor(karat):
    ran = karat("doctor")
    assert ran.code == 0
    assert "numpy" in ran.out
    assert "torch" in ran.out


def test_doctor_json_is_nothing_but_json(karat):
    ran = karat("doctor", "--json")
    assert ran.code == 0
    assert ran.data["karat"] == library.__version__
    assert ran.data["extras"]["core"]["ready"]
    assert set(ran.data["extras"]) == {"core", *promised_extras()}


def promised_extras():
    """The extras of pyproject.toml that users install."""
    file = Path(__file__).parents[2] / "pyproject.toml"
    project = tomllib.loads(file.read_text(encoding="utf-8"))["project"]
    return set(project["optional-dependencies"]) - {"all", "dev", "docs"}


def test_wrong_usage_exits_2(karat):
    assert karat("no-such-command").code == 2
    assert karat("demo", "--no-such-option").code == 2
    assert karat("auc", "scores.csv").code == 2  # --label is missing


def test_without_typer_it_says_what_to_install():
    code = "import sys; sys.modules['typer'] = None; from karat.cli import main; main([])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "run: pip install typer" in done.stderr


def test_the_module_is_the_command():
    command = [sys.executable, "-m", "karat", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == f"karat {library.__version__}\n"


def test_an_interrupt_is_one_line_and_130(tmp_path):
    """Ctrl-C while a person is asked: the command waits, so that it cannot end by itself."""
    file = tmp_path / "scores.csv"
    file.write_text("y,p\n" + "".join(f"{i % 2},{(i % 10) / 10 + 0.04}\n" for i in range(40)))
    command = [sys.executable, "-m", "karat", "elicit", file, "--label", "y", "--score", "p"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(
        command, text=True, env=os.environ | {"PYTHONUNBUFFERED": "1"}, **pipes
    ) as p:
        while "question 1" not in p.stdout.readline():
            assert p.poll() is None
        p.send_signal(signal.SIGINT)
        _, said = p.communicate(timeout=60)
    assert p.returncode == 130
    assert said == "interrupted\n"


@pytest.fixture(scope="module")
def auc_in_ascii(tmp_path_factory):
    """What ``karat auc`` prints where the terminal has ASCII only, and the packages it loads."""
    file = tmp_path_factory.mktemp("auc") / "scores.csv"
    rows = "".join(f"{i % 2},{i % 7}\n" for i in range(100))
    file.write_text(f"y,größe\n{rows}", encoding="utf-8")
    code = (
        "import sys\nfrom karat.cli import main\n"
        f"try: main(['auc', {str(file)!r}, '--label', 'y', '--score', 'größe'])\n"
        "except SystemExit as stopped: assert not stopped.code\n"
        "print(sorted({name.partition('.')[0] for name in sys.modules}))"
    )
    env = os.environ | {"PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, env=env, check=True).stdout


def test_a_character_that_the_terminal_lacks_is_printed_as_its_number(auc_in_ascii):
    assert auc_in_ascii.startswith("gr\\xf6\\xdfe: AUC is")


def test_auc_loads_only_what_it_needs(auc_in_ascii):
    loaded = auc_in_ascii.splitlines()[-1]
    assert "'polars'" in loaded
    for name in ("matplotlib", "jinja2", "sklearn", "pandas", "numba", "torch"):
        assert f"{name!r}" not in loaded


@pytest.mark.slow
def test_demo_writes_a_page_that_needs_nothing_else(tmp_path, karat):
    file = tmp_path / "demo.html"
    ran = karat("demo", "--output", file)
    assert ran.code == 0
    assert "What should we measure?" in ran.out
    page = file.read_text(encoding="utf-8")
    assert set(re.findall(r"https?://([^/\"' <]+)", page)) <= {"www.w3.org"}
    assert "<svg" in page
    assert "costs 10 : 1" in page
    assert not re.search(r"<(script|link|img|iframe)\b", page)
    quiet = tmp_path / "again.html"
    ran = karat("demo", "-q", "-o", quiet)
    assert (ran.code, ran.out) == (0, "")
    assert quiet.read_text(encoding="utf-8") == page, "the demo is repeatable"


def test_demo_says_at_once_when_it_cannot_write(karat, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    ran = karat("demo", "--output", blocked / "demo.html")
    assert (ran.code, ran.out) == (2, "")
    assert "expected a file in a folder that exists" in ran.err


@pytest.mark.slow
def test_demo_numbers_are_right():
    """The table of the demo, recomputed with scikit-learn at each threshold."""
    import numpy as np
    from sklearn.metrics import accuracy_score, matthews_corrcoef

    from karat.cli.demo import train_models, which_metric

    models = train_models()
    section = which_metric(models)[0].section
    rows = {row[0]: row[1:] for row in section.table.rows}
    truth = models.y_true == "malignant"
    for name, score_of in (("accuracy", accuracy_score), ("MCC", matthews_corrcoef)):
        for shown, score in zip(rows[name], models.scores.values(), strict=False):
            cuts = np.unique(score)
            assert float(shown) == pytest.approx(
                max(score_of(truth, score >= cut) for cut in cuts), abs=5e-4
            )
