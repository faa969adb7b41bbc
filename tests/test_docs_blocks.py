"""The Python of the documentation runs: the blocks of each page, in order."""

import importlib
import re
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

DOCS = Path(__file__).parents[1] / "docs"
sys.path.insert(0, str(DOCS / "_tools"))
run_page = importlib.import_module("run_page")  # what the build runs pages with
tables = importlib.import_module("tables")
BLOCK = run_page.BLOCK
TEXTS = [
    path
    for path in sorted(DOCS.rglob("*.md"))
    if not path.relative_to(DOCS).as_posix().startswith(("_", "reference/karat/", "reproductions/"))
]
PAGES = [path for path in TEXTS if BLOCK.search(path.read_text("utf-8"))]
# Figures that the text of a page says, by the words in front of them in what its blocks print.
FIGURES = {
    "how-to/when-to-couple.md": {"independent": 0.057, "coupled": 0.032, "hierarchical": 0.053},
    # The page says that the truth is above the upper limit of the rules alone.
    "tutorials/no-labels.md": {"biopsies:": 0.937, r"limits 0\.6\d\d and": 0.873},
    "theory/sharing.md": {r"^\[": 0.85, r"\]\n\[": 0.66},
}


def test_blocks_are_found():
    """A change of the pages' form must not empty this test."""
    assert sum(len(BLOCK.findall(path.read_text("utf-8"))) for path in PAGES) >= 40
    assert set(FIGURES) <= {path.relative_to(DOCS).as_posix() for path in PAGES}


def test_no_code_of_a_page_escapes():
    """Python is tagged as such, so it runs; all else is shown and says what it is."""
    for path in TEXTS:
        for tag, block in re.findall(
            r"^```([^\n]*)\n(.*?)^```", path.read_text("utf-8"), re.MULTILINE | re.DOTALL
        ):
            assert tag in ("", "python", "console", "{toctree}"), (path.name, tag)
            if tag != "python":
                assert not re.search(r"^(import|from) \w+", block, re.MULTILINE), path.name


def test_cells_of_tables_say_how_much_they_hold():
    name = '<code><span class="pre">karat.bounds.curve</span></code>'
    sentence = "limits that hold for every distribution of the scores, however few"
    short = "<td>.90 / .96</td><td>a</td>"
    context = {"body": f'{short}<td class="right">{name}</td><td>{sentence}</td>{name}'}
    tables.mark(None, "page", "page.html", context, None)
    broken = name.replace(".", ".<wbr>")
    assert context["body"] == (
        f'<td class="figures">.90 / .96</td><td>a</td><td class="right phrase">{broken}</td>'
        f'<td class="sentence">{sentence}</td>{name}'
    )


def test_the_map_for_language_models_leads_to_pages():
    links = re.findall(r"\]\(([^)]+)\.html\)", (DOCS / "llms.txt").read_text("utf-8"))
    assert len(links) >= 15
    assert [link for link in links if not (DOCS / f"{link}.md").is_file()] == []


@pytest.mark.parametrize(
    "path",
    [
        # The first fits several models of votes to make its point, the second starts Spark, and the
        # third draws one picture of each kind.
        pytest.param(path, marks=pytest.mark.slow)
        if path.stem in ("when-to-couple", "any-size", "gallery")
        else path
        for path in PAGES
    ],
    ids=lambda path: path.relative_to(DOCS).as_posix(),
)
# Domains of thirty items are too few to look for copies; the page says that karat warns of it.
@pytest.mark.filterwarnings("ignore:votes do not identify:karat.exceptions.NotIdentifiedWarning")
# A tutorial shows judges that err together, and the warning that labels give.
@pytest.mark.filterwarnings("ignore:gold labels contradict:karat.exceptions.NotIdentifiedWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")  # sockets of Spark
@pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")  # of Ibis on DuckDB 2
@pytest.mark.filterwarnings("ignore:The inplace keyword")  # of Dask on pandas 3
def test_blocks_of_a_page_run_in_order(path, tmp_path, monkeypatch, capsys):
    text = path.read_text(encoding="utf-8")
    if reason := run_page.missing(text):
        pytest.skip(reason)
    monkeypatch.chdir(tmp_path)
    for name, value in run_page.SHORT_JAVA.items():
        monkeypatch.setenv(name, value)
    namespace = {"__name__": "__main__"}
    printed = ""
    for found in BLOCK.finditer(text):
        # Blank lines in front give errors the line numbers of the page.
        above = "\n" * text.count("\n", 0, found.start(1))
        exec(compile(above + found[1], str(path), "exec"), namespace)
        said = capsys.readouterr().out
        if found[2]:
            assert said.split() == found[2].split()
        printed += said
    plt.close("all")
    for words, figure in FIGURES.get(path.relative_to(DOCS).as_posix(), {}).items():
        shown = re.search(rf"{words} ?([\d.]+)", printed)
        assert float(shown[1]) == pytest.approx(figure, abs=0.003), words
