"""A report in a real browser: light and dark, at a desk and on a phone, and printed."""

import numpy as np
import polars as pl
import pytest

from karat.evaluation import evaluate
from karat.report import Report, Section, render_report
from karat.report.parts import NextStep, Table, Verdict

pytestmark = pytest.mark.slow  # a browser

WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
LONG = "a_name_of_a_model_that_is_far_too_long_for_any_screen_" * 3


@pytest.fixture(scope="module")
def page_file(tmp_path_factory):
    """A report with every part a report can have, and names as long as they come."""
    rng = np.random.default_rng(0)
    n = 300
    y = rng.integers(0, 2, n)
    p = np.clip(rng.normal(0.3 + 0.4 * y, 0.2), 0, 1)
    frame = pl.DataFrame(
        {
            "y": y, "a": (p > 0.5).astype(int), LONG: np.where(rng.random(n) < 0.2, 1 - y, y),
            "p": p, "q": p**2, "sex": rng.choice(["f", "m"], n),
        }
    )  # fmt: skip
    found = evaluate(frame, label="y", pred=["a", LONG], score="p", prob="q", group="sex").report()
    unknown = Verdict(sentence="Nobody knows.", badge="unknown", change="labels")
    step = NextStep(what="Label:", command=f"karat audit FILE --pred {LONG} --todo todo.csv")
    wide = Section(
        question="Wide?",
        answer="Yes.",
        table=Table(columns=tuple(f"column {i}" for i in range(10)), rows=((LONG,) * 10,)),
    )
    report = Report(
        title=found.title, introduction=found.introduction, sections=(*found.sections, wide),
        verdicts=(*found.verdicts[:4], unknown), next_steps=(step,), facts=found.facts,
    )  # fmt: skip
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(render_report(report), encoding="utf-8")
    return path


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 390])
def test_nothing_is_cut_and_everybody_can_read_it(chromium, page_file, width, scheme):
    Axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe
    context = chromium.new_context(
        viewport={"width": width, "height": 844}, color_scheme=scheme, offline=True
    )
    page = context.new_page()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(page_file.as_uri())
    sideways = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(sideways) == 0
    found = Axe().run(page, options={"runOnly": WCAG}).response
    assert [(v["id"], v["nodes"][0]["html"][:160]) for v in found["violations"]] == []
    assert "color-contrast" in {rule["id"] for rule in found["passes"]}  # it did look
    assert asked == [page_file.as_uri()]
    # What scrolls sideways says so by its bar and can be reached from the keyboard.
    reached = "[...document.querySelectorAll('.wide, .picture, pre')].every(e => e.tabIndex === 0)"
    assert page.evaluate(reached)
    context.close()


def test_it_prints_whole(chromium, page_file, tmp_path):
    page = chromium.new_page()
    page.goto(page_file.as_uri())
    page.emulate_media(media="print")
    cut = """[...document.querySelectorAll('pre, .wide, .picture')]
             .filter(e => e.clientWidth && e.scrollWidth > e.clientWidth + 1)
             .map(e => e.outerHTML.slice(0, 100))"""
    page.set_viewport_size({"width": 690, "height": 1000})  # A4 within its margins
    assert page.evaluate(cut) == []
    assert page.pdf(format="A4").startswith(b"%PDF")
    page.close()
