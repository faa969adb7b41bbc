"""Which of two classes is positive, and classes matched by their names."""

import inspect
import re
from pathlib import Path

import numpy as np
import pytest

from karat._validate import align_classes, order_classes, told_positive
from karat.exceptions import LabelError, OptionError, PositiveClassError

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "which-class-is-which.md"
TOLD = [  # the negative one first
    ("no", "yes"), ("ham", "spam"), ("low", "high"), ("genuine", "fraud"), ("healthy", "cancer"),
    ("normal", "abnormal"), ("benign", "malignant"), ("healthy", "ill"), ("paid", "default"),
    ("fail", "pass"), ("negative", "positive"), ("false", "true"), ("FALSE", "True"),
    ("No", "yes "), ("0", "1"), ("-1", "1"), ("Non-toxic", "toxic"), ("not_toxic", "Toxic"),
    ("safe", "toxic"),
]  # fmt: skip


@pytest.mark.parametrize("pair", TOLD, ids=" ".join)
def test_words_tell_the_positive_class_whatever_their_order(pair):
    for classes in (pair, pair[::-1]):
        found = order_classes(np.array(classes))
        assert found.classes.tolist() == list(pair)
        plain = {"1", "true"} & {c.casefold() for c in pair}
        assert found.by_word == (not plain)


def test_the_page_shows_the_table_of_words():
    table = PAGE.read_text(encoding="utf-8").split("| positive | beside one of |")[1]
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", table.split("\n\n")[0], re.MULTILINE)
    shown = {tuple(frozenset(cell.split(", ")) for cell in row) for row in rows[:-1]}
    pairs = inspect.getmodule(told_positive)._PAIRS
    assert shown == {pair for pair in pairs if "1" not in pair[0]}  # numbers stand above the table
    assert "any word" in rows[-1][0]


@pytest.mark.parametrize("pair", [(0, 1), (-1, 1), (False, True), (0.0, 1.0)])
def test_numbers_tell_it_without_a_word(pair):
    assert order_classes(np.array(pair)) == (pytest.approx(np.array(pair)), False)


@pytest.mark.parametrize("pair", [("A", "B"), ("cat", "dog"), (3, 8), (1, 2), ("bad", "good")])
def test_other_pairs_are_refused_with_what_to_pass(pair):
    assert told_positive(pair) is None
    said = f"labels are {pair[0]!r} and {pair[1]!r}; say which is positive, for example pos_label="
    with pytest.raises(PositiveClassError, match=said + repr(pair[0])):
        order_classes(np.array(pair))
    for positive in pair:
        assert order_classes(np.array(pair), positive).classes[-1] == positive
    assert order_classes(np.array(pair[::-1]), stated=True).classes.tolist() == list(pair[::-1])


def test_a_positive_class_that_is_none_and_a_third_class():
    classes = np.array(["no", "yes"])
    assert order_classes(classes, "no").classes.tolist() == ["yes", "no"]
    with pytest.raises(OptionError, match="pos_label is 'maybe'; expected 'no' or 'yes'"):
        order_classes(classes, "maybe")
    with pytest.raises(LabelError, match="3 classes"):
        order_classes(np.arange(3))


def test_classes_are_matched_by_name():
    assert align_classes(["low", "high"], np.array(["high", "low"]), "y", "it").tolist() == [
        "low", "high"
    ]  # fmt: skip
    assert align_classes(["0", "1"], np.array([0, 1]), "y", "it").tolist() == [0, 1]
    assert align_classes([0, 1], np.array(["1"]), "y", "it").tolist() == ["0", "1"]
    assert align_classes([False, True], np.array(["False", "True"]), "y", "it").tolist() == [
        "False", "True"
    ]  # fmt: skip


def test_labels_that_do_not_fit_are_refused_with_both_lists():
    with pytest.raises(
        LabelError, match=r"y holds \['a', 'b'\] and the metric is about \['c', 'd'\]"
    ):
        align_classes(["c", "d"], np.array(["a", "b"]), "y", "the metric")
    with pytest.raises(
        LabelError, match=r"\['Yes'\] is not among these. Replace them by \{'Yes': 'yes'\}"
    ):
        align_classes(["no", "yes"], np.array(["Yes", "no"]), "y", "the metric")
    with pytest.raises(LabelError, match=r"\['maybe'\] is not among these. Leave these rows out"):
        align_classes(["no", "yes"], np.array(["maybe", "no", "yes"]), "y", "the metric")
