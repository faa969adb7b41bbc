"""Names that pages, pictures and tables cannot hold as they are."""

import xml.etree.ElementTree as ET

import pytest

from karat.metrics import accuracy
from karat.report import Report, Section, render_markdown, render_report, result_svg

NAMES = {
    "a\x00b": r"a\x00b",
    "a\x1b[31mb": r"a\x1b[31mb",
    "a\ufffeb": r"a\ufffeb",
    "a\ud800b": r"a\ud800b",
    "naïve 😀": "naïve 😀",
}


def estimate(name):
    y, predicted = [0, 1, 1, 0] * 5, [0, 1, 0, 0] * 5
    return accuracy.estimate(y, predicted, groups=[name, "z"] * 10, rng=0)


@pytest.mark.filterwarnings("ignore:Glyph")
@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_forbidden_characters_are_shown_as_escapes(name):
    result = estimate(name)
    picture = result_svg(result)
    ET.fromstring(picture)
    assert NAMES[name] in picture
    assert NAMES[name].encode() in result._repr_html_().encode()


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_pages_can_be_written(name):
    report = Report(title=name, introduction=name, sections=(Section(question=name, answer=name),))
    page = render_report(report)
    assert NAMES[name].encode() in page.encode()
    assert "\x00" not in page
    render_markdown(report).encode()


def test_tables_hold_every_name_but_halves_of_pairs():
    for name in NAMES:
        kept = estimate(name).to_frame()["group"].to_list()
        assert kept[0] == (r"a\ud800b" if "\ud800" in name else name)
