"""The help at eighty columns and fewer: what a reader sees before anything else."""

import re
import shlex

import pytest

from karat.cli._help import command_lines

COMMANDS = [
    "evaluate", "audit", "gate", "elicit", "score", "auc", "calibration", "judges", "pairs",
    "people", "bounds", "optimize", "demo", "studio", "count", "doctor", "skill",
]  # fmt: skip
PAGES = [(), *((name,) for name in COMMANDS), ("studio", "simulate")]


@pytest.fixture
def page(karat, monkeypatch):
    """Return the lines of a page of help at so many columns."""

    def lines(*command, columns=80):
        monkeypatch.setenv("COLUMNS", str(columns))
        ran = karat(*command, "--help")
        assert ran.code == 0, ran.err
        return ran.out.splitlines()

    return lines


def flags_of(lines):
    """The flags that a page explains, in order."""
    return [m[1] for line in lines if (m := re.match(r"│ (--[a-z][a-z-]+)", line))]


@pytest.mark.parametrize("command", PAGES, ids=" ".join)
def test_every_page_fits_eighty_columns(page, command):
    lines = page(*command)
    assert max(map(len, lines)) <= 80
    framed = [line for line in lines if line.startswith("│")]
    assert {len(line) for line in framed} == {80}, "a frame is closed on the right"
    assert flags_of(lines) == flags_of(page(*command, columns=400)), "no flag is cut or broken"


@pytest.mark.parametrize("command", PAGES, ids=" ".join)
def test_no_word_is_cut(page, command):
    """The same words, and no ellipsis more, stand here and on a page without bounds."""

    def words(lines):
        text = " ".join(line.strip("│ ") for line in lines if not line.startswith(("╭", "╰")))
        return text.replace(" \\ ", " ").split()

    assert sorted(words(page(*command))) == sorted(words(page(*command, columns=1000)))


@pytest.mark.parametrize("command", PAGES, ids=" ".join)
def test_what_a_flag_means_has_most_of_the_width(page, command):
    inside = [line[2:-2] for line in page(*command) if line.startswith("│")]
    starts = {m.end() for line in inside if (m := re.match(r"\S+(?:,? [\S]+)*? {2,}(?=\S)", line))}
    assert max(starts) <= 28


def test_three_panels_with_verbs_first(page):
    lines = page()
    titles = [m[1] for line in lines if (m := re.match(r"╭─ (.+?) ─", line))]
    assert titles == ["Commands", "One question each", "Set-up", "Options"]
    names = [m[1] for line in lines if (m := re.match(r"│ ([a-z]+) ", line))]
    assert names == COMMANDS


def test_columns_stand_before_other_flags(page):
    lines = page("judges")
    titles = [m[1] for line in lines if (m := re.match(r"╭─ (.+?) ─", line))]
    assert titles == ["Arguments", "Columns", "Options", "Output and help"]
    assert "│ --label COL" in "\n".join(lines)


@pytest.mark.parametrize("width", [40, 60, 200])
def test_an_example_can_be_copied_at_any_width(width):
    command = "karat audit mails.csv --pred model --show 'the mail' --todo todo.csv"
    lines = list(command_lines(command, width))
    assert max(map(len, lines)) <= width
    copied = "\n".join(lines).replace("\\\n", " ")
    assert shlex.split(copied) == shlex.split(command)
