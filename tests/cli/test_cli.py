import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import karat
from karat.cli import main


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as stopped:
        main(list(arguments))
    return stopped.value.code or 0, capsys.readouterr()


def test_version(capsys):
    assert run(capsys, "--version") == (0, (f"karat {karat.__version__}\n", ""))


def test_doctor(capsys):
    code, said = run(capsys, "doctor")
    assert code == 0
    assert "numpy" in said.out
    assert "torch" in said.out


def test_doctor_json_is_nothing_but_json(capsys):
    code, said = run(capsys, "doctor", "--json")
    assert code == 0
    found = json.loads(said.out)
    assert found["karat"] == karat.__version__
    assert found["extras"]["core"]["ready"]
    assert set(found["extras"]) == {"core", *promised_extras()}


def promised_extras():
    """The extras of pyproject.toml that users install."""
    file = Path(__file__).parents[2] / "pyproject.toml"
    project = tomllib.loads(file.read_text(encoding="utf-8"))["project"]
    return set(project["optional-dependencies"]) - {"all", "dev", "docs"}


def test_wrong_usage_exits_2(capsys):
    assert run(capsys, "no-such-command")[0] == 2
    assert run(capsys, "demo", "--no-such-option")[0] == 2


def test_wrong_data_exits_3_with_one_line(capsys, monkeypatch):
    from karat.exceptions import DataError

    def fail(*_, **__):
        raise DataError("row 3 is wrong; fix it")

    monkeypatch.setattr("karat.cli._doctor.run_doctor", fail)
    code, said = run(capsys, "doctor")
    assert code == 3
    assert said.err == "error: row 3 is wrong; fix it\n"


def test_without_typer_it_says_what_to_install():
    code = "import sys; sys.modules['typer'] = None; from karat.cli import main; main([])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "run: pip install typer" in done.stderr


def test_the_module_is_the_command():
    command = [sys.executable, "-m", "karat", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == f"karat {karat.__version__}\n"


def test_demo_writes_a_page_that_needs_nothing_else(tmp_path, capsys):
    file = tmp_path / "new" / "demo.html"
    code, said = run(capsys, "demo", "--output", str(file))
    assert code == 0
    assert "What should we measure?" in said.out
    page = file.read_text(encoding="utf-8")
    assert set(re.findall(r"https?://([^/\"' <]+)", page)) <= {"www.w3.org"}
    assert "<svg" in page
    assert "costs 10 : 1" in page
    assert not re.search(r"<(script|link|img|iframe)\b", page)
    quiet = tmp_path / "again.html"
    code, said = run(capsys, "demo", "-q", "-o", str(quiet))
    assert (code, said.out) == (0, "")
    assert quiet.read_text(encoding="utf-8") == page, "the demo is repeatable"


def test_demo_says_at_once_when_it_cannot_write(capsys, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    code, said = run(capsys, "demo", "--output", str(blocked / "demo.html"))
    assert code == 3
    assert "cannot be written" in said.err


def test_demo_numbers_are_right():
    """The table of the demo, recomputed with scikit-learn at each threshold."""
    import numpy as np
    from karat.cli._demo._models import train_models
    from karat.cli._demo._which_metric import which_metric
    from sklearn.metrics import accuracy_score, matthews_corrcoef

    models = train_models()
    section = which_metric(models)
    rows = {row[0]: row[1:] for row in section.table.rows}
    truth = models.y_true == "malignant"
    for name, score_of in (("accuracy", accuracy_score), ("MCC", matthews_corrcoef)):
        for shown, score in zip(rows[name], models.scores.values(), strict=False):
            cuts = np.unique(score)
            assert float(shown) == pytest.approx(
                max(score_of(truth, score >= cut) for cut in cuts), abs=5e-4
            )
