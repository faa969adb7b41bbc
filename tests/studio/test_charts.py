"""Pictures say what the numbers say, to eyes and to screen readers, whatever the names are."""

import re
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("markupsafe")
from karat.exceptions import OptionError
from karat.studio.charts import (
    VIEWS,
    Interval,
    boundary_svg,
    comparison_svg,
    interval_svg,
    scatter_svg,
    single_svg,
)

A, B = [[601, 49], [12, 338]], [[571, 79], [12, 338]]
TWO = {"out_of": 1000, "class_names": ("benign", "malignant")}


def parsed(html):
    """Read a figure as XML; inputs are the one element that HTML leaves open."""
    return ET.fromstring(re.sub(r"(<input[^>]*)>", r"\1/>", html))


def texts(tree, tag="text", kind=None):
    found = [e for e in tree.iter(tag) if kind is None or kind in (e.get("class") or "").split()]
    return ["".join(e.itertext()) for e in found]


def numbers(tree):
    """Return the numbers of the screen readers' table, by outcome."""
    table = next(e for e in tree.iter("table") if e.get("class") is None)
    rows = [["".join(cell.itertext()) for cell in row] for row in table.find("tbody")]
    return {head: cells for head, *cells in rows}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("conditioned", [False, True])
def test_every_view_has_every_number(view, conditioned):
    tree = parsed(comparison_svg(A, B, view=view, conditioned=conditioned, **TWO))
    said = numbers(tree)
    assert said["are malignant, predicted benign"] == ["12 (3.4\xa0%)", "12 (3.4\xa0%)", "+0"]
    assert said["are benign, predicted malignant"] == ["49 (7.5\xa0%)", "79 (12.2\xa0%)", "+30"]
    assert said["predicted malignant in all"] == ["387", "417", "+30"]
    shown = " ".join(texts(tree) + texts(tree, "span"))
    for count in ("49", "79", "12"):
        assert f"✗ {count}" in shown
    assert ("✓ 601" in shown) == (view != "errors")
    assert ("7.5" in shown) == conditioned
    assert [e for e in tree.iter("svg") if e.find("title") is None] == []


@pytest.mark.parametrize("view", VIEWS)
def test_differences_are_marked_in_words_and_shapes(view):
    """Equal cells bear no mark, and those that differ bear one on each side, not of colour."""
    tree = parsed(comparison_svg(A, B, view=view, **TWO))
    changes = texts(tree, "text", "change") + texts(tree, "span", "change")
    cells = 1 if view == "errors" else 2
    assert changes.count("▲ 30 more") == changes.count("▼ 30 fewer")
    assert changes.count("▲ 30 more") >= cells
    assert set(changes) == {"▲ 30 more", "▼ 30 fewer"}
    assert not texts(parsed(comparison_svg(A, A, view=view, **TWO)), "text", "change")


def test_truth_is_on_the_left_and_predictions_on_the_right():
    """Guideline G3, with the totals of section 8.1.2 on both sides."""
    tree = parsed(comparison_svg(A, B, **TWO))
    boxes = [e for e in tree.iter("g") if (e.get("class") or "").startswith("box")]
    left = {"".join(b.itertext()) for b in boxes if float(b.find("rect").get("x")) < 10}
    right = {"".join(b.itertext()) for b in boxes if float(b.find("rect").get("x")) > 200}
    assert left == {"in truthare benign650 of 1,000", "in truthare malignant350 of 1,000"}
    assert "predictedbenign613 of 1,000▲ 30 more" in right
    assert "predictedmalignant417 of 1,000▲ 30 more" in right


def test_words_are_those_of_the_study_and_never_labelled():
    """Guideline G6."""
    words = {"truth": ("are healthy", "have cancer"), "names": ("System X", "System Y")}
    for view in VIEWS:
        html = comparison_svg(A, B, out_of=1000, class_names=("low", "high"), view=view, **words)
        assert "label" not in re.sub(r"</?label[^>]*>|aria-label|zoom-label", "", html).lower()
        assert "have cancer" in html
        assert "predicted high" in html.replace("\n", "") or ">high<" in html
        assert "System X" in html


def test_flows_are_as_wide_as_they_have_cases():
    tree = parsed(single_svg([[60, 30], [2, 8]], out_of=100, class_names=("no", "yes")))
    wide = []
    for path in tree.iter("path"):
        y = [float(v) for v in re.findall(r"[ML]\d+,([\d.]+)|Z", path.get("d")) if v]
        top, end = y[0], float(path.get("d").split()[-2].split(",")[1])
        wide.append((end - top, path.get("class")))
    assert [kind for _, kind in wide] == ["right", "wrong", "wrong", "right"]
    # 44 for all cases, and no flow so thin that it is not seen; coordinates have one decimal.
    assert [width for width, _ in wide] == pytest.approx([26.4, 13.2, 2.5, 3.52], abs=0.11)


def test_more_classes_are_a_table_and_groups_are_small_multiples():
    three = [[[30, 3, 2], [4, 28, 3], [0, 5, 25]], [[31, 2, 2], [4, 28, 3], [0, 5, 25]]]
    tree = parsed(comparison_svg(*three, out_of=100, class_names=("a", "b", "c")))
    tables = [e for e in tree.iter("table") if e.get("class") == "confusion"]
    assert [sum("changed" in (c.get("class") or "") for c in t.iter("td")) for t in tables] == [
        2,
        2,
    ]
    assert not list(tree.iter("svg"))
    tree = parsed(comparison_svg([A, A], [B, A], groups=("women", "men"), **TWO))
    assert texts(tree, "p", "group-name") == ["women: out of 1,000", "men: out of 1,000"]
    assert len(list(tree.iter("svg"))) == 4


def test_one_zoom_box_for_each_figure_that_stays_when_the_page_is_loaded_again():
    html = [comparison_svg(A, B, **TWO), comparison_svg(A, B, **TWO), comparison_svg(B, A, **TWO)]
    marks = [re.findall(r'id="(zoom-\w+)"', one) for one in html]
    assert marks[0] == marks[1] != marks[2]
    assert f'for="{marks[0][0]}"' in html[0]


NAMES = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Cn")), min_size=1, max_size=30
)


@settings(max_examples=40, deadline=None)
@given(
    NAMES, NAMES, st.sampled_from(VIEWS), st.lists(st.integers(0, 10_000), min_size=8, max_size=8)
)
def test_no_name_breaks_a_picture(one, other, view, counts):
    """Whatever classes are called, the figure is well-formed and the name is text in it."""
    first, second = [counts[:2], counts[2:4]], [counts[4:6], counts[6:]]
    html = comparison_svg(
        first, second, out_of=10_000, class_names=(one, f"<script>{other}"), view=view,
        conditioned=True, names=("<b>", '"&'),
    )  # fmt: skip
    assert "<script" not in html
    assert "<b>" not in html
    said = numbers(parsed(html))
    assert len(said) >= 4


def test_nothing_inline():
    """A content security policy without inline styles or scripts lets all of it through."""
    html = "".join(
        comparison_svg([A, A], [B, A], view=view, groups=("<i>", "m"), **TWO) for view in VIEWS
    )
    html += interval_svg([Interval("a", 1.0, 0.5, 2.0)], title="t", axis="x")
    assert not re.search(r"style=|<script|<style|\son\w+=|javascript:|href=", html)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"view": "pie"}, "view is 'pie'"),
        ({"out_of": 0}, "out_of is 0"),
        ({"class_names": ("a", "b", "c")}, "for 3 class_names"),
        ({"groups": ("a", "b")}, "groups is"),
    ],
)
def test_what_cannot_be_drawn_is_refused(change, match):
    with pytest.raises(OptionError, match=match):
        comparison_svg(A, B, **{**TWO, **change})


def test_shares_are_no_counts():
    with pytest.raises(OptionError, match="whole numbers"):
        comparison_svg([[0.6, 0.1], [0.1, 0.2]], B, **TWO)


def test_limits_without_end_get_an_arrow():
    rows = [
        Interval("one", 6.0, 3.0, 12.0, 4.0),
        Interval("two", 2.0, 0.5, float("inf"), None, "undecided"),
    ]
    tree = parsed(interval_svg(rows, title="Metrics", axis="ratio", log=True))
    assert len(list(tree.iter("polyline"))) == 1
    assert len(list(tree.iter("polygon"))) == 1, "a guess is a diamond"
    assert "guess" in texts(tree, "text", "axis")[0]
    places = [float(c.get("cx")) for c in tree.iter("circle")]
    assert places[0] > places[1]


def test_pictures_of_nothing_are_drawn():
    for html in (
        interval_svg([], title="t", axis="x", log=True),
        scatter_svg([], title="t", x_axis="x", y_axis="y"),
        boundary_svg([], [], x_axis="x", y_axis="y"),
        scatter_svg([(0.0, 3.0, True), (1.0, 3.0, False)], title="t", x_axis="x", y_axis="y"),
    ):
        assert parsed(html).find("title") is not None
