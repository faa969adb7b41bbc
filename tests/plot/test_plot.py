import matplotlib.pyplot as plt
import numpy as np
import pytest

from karat.exceptions import MissingExtraError
from karat.plot import draw
from karat.plot.style import literal
from karat.statistics import confusion, pattern_counts, patterns, rates, roc_counts


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def test_confusion_shows_the_counts():
    ax = confusion(["ham", "ham", "spam"], ["ham", "spam", "spam"]).plot()
    assert [t.get_text() for t in ax.texts] == ["1", "1", "0", "1"]
    assert [t.get_text() for t in ax.get_xticklabels()] == ["ham", "spam"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("predicted", "truth")


def test_rates_show_shares_and_large_tables_no_text():
    assert rates([0, 0, 1], [0, 1, 1]).plot().texts[0].get_text() == "0.50"
    many = np.arange(20)
    assert not confusion(many, many).plot().texts


def test_patterns_show_the_commonest(rng):
    votes = rng.integers(-1, 3, size=(500, 4))
    ax = patterns(votes).plot()
    assert len(ax.patches) == 15
    widths = [bar.get_width() for bar in ax.patches]
    assert widths == sorted(widths, reverse=True)
    assert "·" in "".join(t.get_text() for t in ax.get_yticklabels())


def test_pattern_counts_are_stacked(rng):
    votes = rng.integers(0, 2, size=(100, 2))
    table = pattern_counts(votes[:, 0], votes, groups=votes[:, 1])
    ax = table.plot()
    assert sum(bar.get_width() for bar in ax.patches) == 100


def test_roc_starts_and_ends_in_the_corners(rng):
    y = rng.integers(0, 2, 50)
    line = roc_counts(y, rng.random(50)).plot().lines[1]
    assert line.get_xydata()[0].tolist() == [1, 1]
    assert line.get_xydata()[-1].tolist() == [0, 0]


def test_other_things_have_no_picture():
    with pytest.raises(TypeError, match="no picture of a int"):
        draw(3)


def test_without_matplotlib_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.pyplot", None)
    with pytest.raises(MissingExtraError, match="run: pip install matplotlib"):
        confusion([0, 1], [1, 1]).plot()


def test_long_names_break_between_words():
    name = "a missed malignant against a false malignant"
    assert literal(name) == "a missed malignant against a false\nmalignant"
    assert literal("x" * 40) == "x" * 36 + "\n" + "x" * 4
    assert literal("$5") == r"\$5"
    assert literal("") == ""
