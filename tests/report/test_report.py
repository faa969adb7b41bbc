import matplotlib.pyplot as plt
import pytest

from karat.exceptions import MissingExtraError, OptionError
from karat.report import Report, Section, figure_svg, render_markdown, render_report
from karat.report.parts import NextStep, Table, Verdict


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
    page = render_report(Report(title="<title>", introduction="intro & more", sections=(section,)))
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "a &lt; b &amp; c" in page
    assert "<svg><text>kept</text></svg>" in page
    assert "&lt;2&gt;" in page
    assert 'aria-label="a &#34;picture&#34;"' in page


def test_an_empty_section_shows_no_empty_parts():
    page = render_report(
        Report(title="t", introduction="i", sections=(Section(question="q", answer="a"),))
    )
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
        render_report(Report(title="t", introduction="i"))


def test_a_result_is_drawn_and_its_figure_closed():
    import matplotlib.pyplot as plt

    from karat.report import result_svg
    from karat.statistics import confusion

    before = plt.get_fignums()
    svg = result_svg(confusion(["a", "b", "a"], ["a", "b", "b"]))
    assert svg.startswith("<svg")
    assert plt.get_fignums() == before


def _report():
    return Report(
        title="a*b",
        introduction="two models, one *file*",
        sections=(
            Section(
                question="How good is a_b?",
                answer="Between .7 | .8.",
                table=Table(columns=("model", "lower"), rows=(("a|b", "<.7>"),), caption="c"),
                assumptions=("labels are right",),
                code="x = '```'\n",
            ),
        ),
        verdicts=(
            Verdict(sentence="a_b is right on 9 of 10", badge="likely", change="50 labels"),
            Verdict(sentence="nobody knows", badge="unknown"),
        ),
        next_steps=(NextStep(what="Label 50 items.", command="karat judges votes.csv"),),
        facts=(("rows", "1,000"),),
    )


def test_verdicts_stand_first_and_next_steps_last():
    for page in (render_report(_report()), render_markdown(_report())):
        at = [page.index(t) for t in ("nobody knows", "How good is", "What to do next", "1,000")]
        assert at == sorted(at)
        assert "unknown" in page
        assert "karat judges votes.csv" in page
        assert "50 labels" in page


def test_markdown_shows_names_as_they_are():
    text = render_markdown(_report())
    assert text.startswith("# a\\*b\n")
    assert "| a\\|b | \\<.7\\> |" in text
    assert "````python\nx = '```'\n````" in text
    assert all(line.count("|") - line.count("\\|") == 3 for line in text.splitlines()
               if line.startswith("| "))  # fmt: skip


def test_a_badge_is_one_of_four():
    with pytest.raises(OptionError, match="badge is 'sure'; expected 'certain'"):
        Verdict(sentence="s", badge="sure")
