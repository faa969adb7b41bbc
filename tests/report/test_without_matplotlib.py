"""Pages where matplotlib is absent: everything but the pictures, and what to install."""

import sys

import pytest

from karat.exceptions import KaratWarning, MissingExtraError
from karat.limits import wilson
from karat.report.answer import Finding


@pytest.fixture
def absent(monkeypatch):
    def hide(package):
        for name in [n for n in sys.modules if n == package or n.startswith(f"{package}.")]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.setitem(sys.modules, package, None)

    return hide


def test_a_page_without_pictures_says_what_to_install(absent):
    absent("matplotlib")
    one = wilson(7, 10)
    finding = Finding(
        key="x",
        question="How many?",
        answer="70 %",
        results={"x": one},
        drawn=one,
        picture="Limits",
    )
    with pytest.warns(KaratWarning, match="the page has no pictures.*pip install matplotlib"):
        section = finding.section()
    assert (section.figure, section.figure_text) == ("", "")
    assert section.answer.startswith("70 %")


def test_loops_say_what_to_install(absent):
    absent("numba")
    from karat._compiled import compiled

    with pytest.raises(MissingExtraError, match="pip install numba"):
        compiled(lambda x: x)
