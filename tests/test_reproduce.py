"""What is kept of a run of a reproduction."""

import importlib.util
import sys
from pathlib import Path

import pytest

FILE = Path(__file__).parents[1] / "tools" / "reproduce.py"
OUTPUT = """\
\x1b[1mA table\x1b[0m of errors \t
see {root}/src/karat
Promised figures
  kept: width: 1.000 (promised: at most 1)
  MISSED: coverage: 0.300 (promised: at least 0.9)
1 of 2 promised figures missed
"""
RUN = {"name": "weighted_auc", "date": "2026-01-02", "commit": "0123456789", "seconds": 1234.6}


@pytest.fixture
def reproduce(monkeypatch, tmp_path):
    spec = importlib.util.spec_from_file_location("reproduce", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "PAGES", tmp_path / "reproductions")
    return module


def page_of(reproduce, output, **changes):
    said = reproduce.keep(output.replace("{root}", str(reproduce.ROOT)), **(RUN | changes))
    files = sorted(path.name for path in reproduce.PAGES.iterdir())
    assert files == ["weighted_auc.md"], "nothing half-written is left"
    return said, (reproduce.PAGES / "weighted_auc.md").read_text(encoding="utf-8")


def test_a_page_opens_with_what_was_run_and_what_was_missed(reproduce):
    said, page = page_of(reproduce, OUTPUT)
    assert said == "weighted_auc: 1 kept, 1 missed"
    opening, _, rest = page.partition("```text\n")
    for words in (
        "| run on | 2026-01-02 |",
        "| at commit | `0123456789` |",
        "| seconds | 1,235 |",
        "| command | `python reproductions/weighted_auc.py` |",
        "| promised figures | 1 kept, 1 missed |",
        "\n- coverage: 0.300 (promised: at least 0.9)\n",
    ):
        assert words in opening
    assert rest.startswith("A table of errors\nsee ./src/karat\nPromised")
    assert rest.endswith("missed\n```\n")


def test_only_paths_of_this_machine_are_shortened(reproduce, monkeypatch):
    monkeypatch.setattr(reproduce, "ROOT", Path("/karat"))
    _, page = page_of(reproduce, "/karat/src/karat, '/karat', /karat-old and ../karat\n")
    assert "\n./src/karat, '.', /karat-old and ../karat\n" in page


def test_a_run_that_ended_early_is_not_called_kept(reproduce):
    said, page = page_of(reproduce, "Traceback\n```\n")
    assert "none was reached" in said
    assert "\n````text\nTraceback\n```\n````\n" in page, "a fence inside does not end the block"


def test_a_page_is_made_again_only_of_other_code(reproduce, monkeypatch):
    asked = []

    def git(*arguments):
        asked.append(arguments)
        return type("Done", (), {"returncode": 1, "stdout": ""})

    assert not reproduce._made_of_this_code("weighted_auc"), "there is no page"
    page_of(reproduce, OUTPUT)
    monkeypatch.setattr(reproduce, "_git", git)
    assert not reproduce._made_of_this_code("weighted_auc")
    assert asked == [("diff", "--quiet", "0123456789", "--", "src", "reproductions")]
    page_of(reproduce, OUTPUT, commit="0123456789+")
    assert not reproduce._made_of_this_code("weighted_auc"), "code that no commit holds"
    assert len(asked) == 1


def test_an_unknown_name_is_refused(reproduce, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["reproduce.py", "weighted_auk"])
    with pytest.raises(SystemExit, match="2"):
        reproduce.main()
    assert "there is no reproduction 'weighted_auk'; there are black_box" in capsys.readouterr().err
