"""The Python of the documentation runs: the blocks of each page, in order."""

import re
import shutil
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

DOCS = Path(__file__).parents[1] / "docs"
# A block of Python, and the output that the page shows right below it, if any.
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n```\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)
PAGES = [path for path in sorted(DOCS.rglob("*.md")) if BLOCK.search(path.read_text("utf-8"))]
# Figures that the text of a page says, by the words in front of them in what its blocks print.
FIGURES = {
    "how-to/when-to-couple.md": {"independent": 0.057, "coupled": 0.032, "hierarchical": 0.053},
    "theory/sharing.md": {r"^\[": 0.85, r"\]\n\[": 0.66},
}


def test_blocks_are_found():
    """A change of the pages' form must not empty this test."""
    assert sum(len(BLOCK.findall(path.read_text("utf-8"))) for path in PAGES) >= 40
    assert set(FIGURES) <= {path.relative_to(DOCS).as_posix() for path in PAGES}


@pytest.mark.parametrize(
    "path",
    [
        # This page fits several models of votes to make its point.
        # The other starts Spark.
        pytest.param(path, marks=pytest.mark.slow)
        if path.stem in ("when-to-couple", "any-size")
        else path
        for path in PAGES
    ],
    ids=lambda path: path.relative_to(DOCS).as_posix(),
)
# Domains of thirty items are too few to look for copies; the page says that karat warns of it.
@pytest.mark.filterwarnings("ignore:votes do not identify:karat.exceptions.NotIdentifiedWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")  # sockets of Spark
def test_blocks_of_a_page_run_in_order(path, tmp_path, monkeypatch, capsys):
    text = path.read_text(encoding="utf-8")
    if "import torch" in text:
        pytest.importorskip("torch", reason="the page trains with PyTorch")
    if "import SparkSession" in text:
        pytest.importorskip("pyspark", reason="the page counts on Spark")
        if shutil.which("java") is None:
            pytest.skip("Spark needs Java, and there is none")
    monkeypatch.chdir(tmp_path)
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
