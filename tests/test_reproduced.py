"""The page of what is reproduced has every item, and names modules and scripts that exist."""

import importlib
import re
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "reproduced.md").read_text(encoding="utf-8")
NAMES = sorted(set(re.findall(r"`(karat(?:\.\w+)+)`", PAGE)))
FILES = sorted(set(re.findall(r"`((?:reproductions|tests|benchmarks|examples)/[\w./]+)`", PAGE)))
sys.path.insert(0, str(ROOT / "docs" / "_tools"))
promises = importlib.import_module("promises")


@pytest.mark.parametrize("name", NAMES)
def test_what_the_page_names_is_there(name):
    if name.startswith("karat.torch"):
        pytest.importorskip("torch")
    if name.startswith("karat.studio"):
        pytest.importorskip("fastapi")
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        break
    for attribute in parts[end:]:
        found = getattr(found, attribute)


def test_files_of_the_page_are_there():
    assert len(FILES) >= 10
    assert [path for path in FILES if not (ROOT / path).is_file()] == []


def test_what_is_not_reproduced_has_a_reason():
    rows = [line for line in PAGE.splitlines() if line.startswith("| ") and " | – | " in line]
    assert rows
    for row in rows:
        assert re.search(r"not reproduced.*: |nothing to reproduce", row), row


# Every numbered item of the five documents, by document; a range such as "C.1–C.6" counts for all.
ITEMS = {
    "Bounds without labels": {
        "Theorem": "2.1 2.4 A.1 A.3", "Corollary": "3.1", "Lemma": "C.1 C.2 C.3 C.4 C.5 C.6",
        "Table": "1 2 3 4 5 6 7", "Figure": "1 2 3 4 5 6 7",
    },
    "Metric elicitation, two": {
        "Proposition": "3.1 3.2 3.3 3.4 A.1", "Lemma": "3.1 3.2 3.3 A.1 A.2",
        "Algorithm": "3.1 3.2 3.3", "Theorem": "3.1 3.2", "Corollary": "A.1",
        "Table": "3.1 3.2 8.1 8.2 8.3 8.4 A.1 A.2 A.3",
        "Figure": "1.1 3.1 3.2 3.3 8.1 8.2 8.3 8.4 8.5 8.6 8.7 8.8 8.9 8.10 8.11 9.1 A.1 A.2 A.3",
    },
    "Metric elicitation, several": {
        "Proposition": "4.1 4.2 4.3 4.4 4.5 4.6 4.7 B.1", "Lemma": "4.1 4.2 B.1 B.2",
        "Algorithm": "4.1 4.2 4.3 4.4 4.5 4.6 B.1", "Theorem": "4.1 4.2",
        "Table": "4.1 4.2 4.3 4.4 B.1 B.2 B.3 B.4 B.5 B.6", "Figure": "4.1 4.2 B.1 B.2 B.3 B.4 B.5",
    },
    "Fair and quadratic": {
        "Proposition": "5.1 6.1 6.2", "Lemma": "5.1 C.1 D.1 D.2 D.3",
        "Algorithm": "5.1 5.2 6.1 C.1 D.1 D.2 D.3", "Theorem": "5.1 6.1 6.2",
        "Corollary": "D.1 D.2", "Table": "5.1 5.2 6.1",
        "Figure": "5.1 5.2 5.3 5.4 6.1 6.2 6.3 6.4 6.5 6.6 6.7 6.8",
    },
    "Optimising black boxes": {
        "Algorithm": "7.1 7.2 7.3 E.1", "Theorem": "7.1 7.2 E.1 E.2 E.3 E.4",
        "Lemma": "E.1 E.2 E.3 E.4 E.5 E.6 E.7 E.8 E.9 E.10 E.11 E.12 E.13",
        "Table": "7.1 7.2 7.3 7.4 7.5 7.6 E.1", "Figure": "7.1 7.2 E.1",
    },
    "Weighted areas": {
        "Proposition": "1 6 10", "Theorem": "2 3 7 8 9", "Corollary": "4", "Lemma": "5 6 7 11 12",
    },
    "Joint calibration": {"Theorem": "1 2 3", "Lemma": "1 2", "Definition": "1 2 3 4 5 6"},
}  # fmt: skip


_NUMBER = r"(?:[A-E]\.)?\d+(?:\.\d+)?"
_PART = r"(?: \([a-d]\)(?:–\([a-d]\))?)?"  # of a figure


def _numbers(words):
    """Return the numbers that a cell names: "3.3, A.2" or "C.1–C.6"."""
    found = set()
    for first, last in re.findall(rf"({_NUMBER})(?:–({_NUMBER}))?", words):
        stem, dot, low = first.rpartition(".")
        high = int(last.rpartition(".")[2]) if last else int(low)
        found |= {f"{stem}{dot}{i}" for i in range(int(low), high + 1)}
    return found


@pytest.mark.parametrize("section", ITEMS)
def test_every_item_of_the_documents_has_a_row(section):
    text = re.search(rf"^## {section}.*?(?=^## )", PAGE, re.MULTILINE | re.DOTALL)[0]
    items = re.findall(r"^\| ([^|]+) \|", text, re.MULTILINE)
    for kind, wanted in ITEMS[section].items():
        plural = {"Corollary": "Corollar(?:y|ies)"}.get(kind, f"{kind}s?")
        lists = rf"{plural} ((?:{_NUMBER}{_PART}(?:–|, )?)+)"
        found = set().union(
            *(_numbers(words) for item in items for words in re.findall(lists, item))
        )
        assert set(wanted.split()) <= found, f"{kind}: {set(wanted.split()) - found}"


RUN = """\
---
orphan: true
---
# Two figures

| | |
|---|---|
| run on | 2026-01-02 |
| at commit | `0123` |

- ratio, worst: 0.964 (promised: at most 0.95)

```text
  kept: share inside: 0.930 (promised: at least 0.9)
  MISSED: ratio, worst: 0.964 (promised: at most 0.95)
```
"""


def test_promises_of_kept_runs_become_tables(tmp_path):
    (tmp_path / "script.md").write_text(RUN, encoding="utf-8")
    (tmp_path / "why_missed.toml").write_text(
        '[script]\n"ratio, worst" = "The sets are small."\n', encoding="utf-8"
    )
    made = promises.tables(tmp_path, {"script": "Two figures", "other": "Not run"})
    overview, missed, kept = re.split(r"### What was \w+\n", made)
    link = "[`script`](reproductions/script.md)"
    assert f"| {link} | Two figures | 2026-01-02 | 1 kept, 1 missed |" in overview
    assert "| `other` | Not run | no full run is kept | – |" in overview
    assert "1 of 2 promised figures" in missed
    said = "*ratio, worst*: 0.964, promised was at most 0.95."
    assert f"- {link}, {said} The sets are small.\n" in missed
    assert "script: 1 of 2" in kept
    assert "| share inside | 0.930 | at least 0.9 |" in kept


def test_what_has_no_reason_says_so_and_what_ended_early_is_not_called_kept(tmp_path):
    (tmp_path / "script.md").write_text(RUN, encoding="utf-8")
    (tmp_path / "broken.md").write_text("# Broken\n\n```text\nTraceback\n```\n", encoding="utf-8")
    made = promises.tables(tmp_path)
    assert "promised was at most 0.95. Not explained yet.\n" in made
    assert "| Broken | – | none was reached |" in made
    assert "No full run" in promises.tables(tmp_path / "empty")


def test_pages_of_runs_are_read_whole():
    """The figures found are as many as the page itself counts."""
    pages = sorted((ROOT / "docs" / "reproductions").glob("[a-z]*.md"))
    assert pages
    for path in pages:
        run = promises.read(path)
        said = re.search(
            r"^\| promised figures \| (\d+) kept, (\d+) missed \|$", path.read_text("utf-8"), re.M
        )
        if said:
            assert (len(run.figures), len(run.missed)) == (
                int(said[1]) + int(said[2]),
                int(said[2]),
            ), path


def test_reasons_belong_to_figures_that_were_missed():
    folder = ROOT / "docs" / "reproductions"
    missed = {
        run.name: {figure.what for figure in run.missed}
        for run in map(promises.read, folder.glob("[a-z]*.md"))
    }
    for name, reasons in tomllib.loads((folder / "why_missed.toml").read_text("utf-8")).items():
        assert set(reasons) <= missed[name], f"{name}: no longer missed"
