"""One name for one quantity, on the demo's page and on that of ``karat calibration``."""

import io
import re
from contextlib import redirect_stdout
from html import unescape

import polars as pl
import pytest

from karat.cli import main
from karat.cli.demo import trusted_jointly
from karat.datasets import MultilabelLaw
from karat.report import Report, render_report

TWO_NAMES = re.compile(r"by (itself|themselves)|on (its|their) own|label-?wise", re.IGNORECASE)
MARGINAL = re.compile(r"marginal error (?:of [a-z ]+ is )?(\d\.\d+)")
SQUARED = re.compile(r"CE[₂2]²|squared", re.IGNORECASE)
ROOT = re.compile(r"CE[₂2](?!²)")


def words_of(page):
    """The words of a page, those in its pictures too, without styles, scripts and code."""
    page = re.sub(r"(?s)<(style|script|pre|defs)\b.*?</\1>", " ", page)
    page = re.sub(r"(?s)<!--\s?(.*?)\s?-->", r" \1 . ", page)  # a picture's words are comments
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " . ", page)))


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("names")
    sample = MultilabelLaw("shift", n_labels=3).sample(900, rng=0)
    columns = {f"label_{n}": sample.y_true[:, j].astype(int) for j, n in enumerate("abc")}
    columns |= {f"prob_{n}": sample.y_prob[:, j] for j, n in enumerate("abc")}
    pl.DataFrame(columns).write_csv(folder / "rows.csv")
    page = folder / "page.html"
    (part,) = trusted_jointly(None)
    with redirect_stdout(io.StringIO()) as printed, pytest.raises(SystemExit):
        main(["calibration", str(folder / "rows.csv"), "--output", str(page)])
    return {
        "command": words_of(page.read_text(encoding="utf-8")),
        "terminal": printed.getvalue(),
        "demo": words_of(
            render_report(Report(title="Demo", introduction="", sections=(part.section,)))
        ),
    }


@pytest.mark.parametrize("where", ["command", "terminal", "demo"])
def test_the_marginal_error_has_one_name_and_one_value(pages, where):
    words = pages[where]
    assert not TWO_NAMES.search(words), TWO_NAMES.search(words)
    values = MARGINAL.findall(words)
    assert values
    assert len(set(values)) == 1


@pytest.mark.parametrize("where", ["command", "terminal", "demo"])
def test_an_error_and_its_square_are_not_in_one_sentence(pages, where):
    for sentence in re.split(r"(?<=[.;])\s|\n", pages[where]):
        assert not (SQUARED.search(sentence) and ROOT.search(sentence)), sentence


def test_what_is_certain_has_one_value(pages):
    for where in ("command", "terminal"):
        certain = set(re.findall(r"at least (\d\.\d{4}) (?:guaranteed|at 95 %)", pages[where]))
        assert len(certain) == 1


def test_the_tests_would_notice():
    assert TWO_NAMES.search("the labels by themselves")
    assert SQUARED.search("CE2² 0.1")
    assert not ROOT.search("CE₂² 0.1")
    assert ROOT.search("CE2 is 0.1")
    words = words_of("<p>said</p><!-- drawn --><pre>code</pre>")
    assert "said" in words
    assert "drawn" in words
    assert "code" not in words
