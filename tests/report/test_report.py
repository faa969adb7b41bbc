import matplotlib.pyplot as plt
import pytest

from karat.exceptions import MissingExtraError
from karat.report import Section, Table, figure_svg, render_report


def test_text_is_escaped_and_figures_are_not():
    section = Section(
        question="<script>alert(1)</script>",
        answer="a < b & c",
        figure="<svg><text>kept</text></svg>",
        figure_text='a "picture"',
        table=Table(columns=("x", "<y>"), rows=(("1", "<2>"),), caption="<c>"),
        assumptions=("<i>one</i>",),
        code="if a < b: pass",
    )
    page = render_report("<title>", "intro & more", [section])
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "a &lt; b &amp; c" in page
    assert "<svg><text>kept</text></svg>" in page
    assert "&lt;2&gt;" in page
    assert 'aria-label="a &#34;picture&#34;"' in page


def test_an_empty_section_shows_no_empty_parts():
    page = render_report("t", "i", [Section(question="q", answer="a")])
    for part in ("<figure", "<table", "<details", "<pre"):
        assert part not in page


def test_figures_are_text_without_metadata_and_repeatable():
    figure, ax = plt.subplots()
    ax.plot([0, 1], [0, 1])
    ax.set_title("words & <more>")
    svg = figure_svg(figure)
    assert svg.startswith("<svg")
    assert "words &amp; &lt;more&gt;" in svg
    assert "metadata" not in svg
    assert "currentColor" in svg
    assert 'width="' not in svg.partition(">")[0]
    assert svg == figure_svg(figure)
    plt.close(figure)


def test_without_jinja_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "jinja2", None)
    with pytest.raises(MissingExtraError, match="run: pip install jinja2"):
        render_report("t", "i", [])


def test_a_result_is_drawn_and_its_figure_closed():
    import matplotlib.pyplot as plt

    from karat.report import result_svg
    from karat.statistics import confusion

    before = plt.get_fignums()
    svg = result_svg(confusion(["a", "b", "a"], ["a", "b", "b"]))
    assert svg.startswith("<svg")
    assert plt.get_fignums() == before
