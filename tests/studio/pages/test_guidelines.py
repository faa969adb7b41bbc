"""Guidelines G1 to G9 of Hiranandani 2021, table 8.3, on the pages that people see.

Some have further tests where they are made: G1 in ``test_researcher.py`` (the boundary), G3, G6 and
G8 in ``test_charts.py``, G5 in ``test_browser.py`` (times of a real browser).
"""

import re
from html import unescape

import httpx
import numpy as np
import pytest

from karat.elicit import MetricOracle
from karat.metrics import cost_matrix
from karat.studio.services import asking, people, results, session, studies
from karat.studio.services.research import bots

pytestmark = pytest.mark.slow  # whole servers, browsers and many forms


def until(served, person, phase):
    """Let a bot play until a page; return where the person is."""
    oracle = MetricOracle(cost_matrix([[0, 1], [6, 0]]))
    while (here := session.current_step(served.store, person.id)).phase != phase:
        bots.play_page(served.store, here, oracle, guess=6.0)
    return here


def shown_text(page):
    """Return what can be read on a page: no tags, no names of classes."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page.split("<main", 1)[1])).split())


def comparison(served, **options):
    study = served.study("Guidelines", **options)
    person, link = served.person(study)
    return study, person, link, until(served, person, "comparison")


def test_g1_questions_come_from_the_smoothed_boundary(served):
    _, _, _, here = comparison(served)
    smooth = studies.asked_of(served.store, here.study).space
    assert here.config.options.smooth
    for side in (here.page["first"], here.page["second"]):
        table = np.asarray(side)
        angle = np.linspace(0.001, np.pi / 2 - 0.001, 4000)
        line = smooth.boundary(np.column_stack([np.sin(angle), np.cos(angle)]))
        near = np.abs(line - table).max(axis=(1, 2)).min()
        assert near < 2e-3, "no side lies inside"


@pytest.mark.parametrize("out_of", [100, 1000, 10_000])
def test_g2_counts_out_of_n_are_whole_and_differ(served, out_of):
    study, person, link, _ = comparison(served, out_of=out_of, max_queries=6, checks=False)
    for _ in range(3):
        here = session.current_step(served.store, person.id)
        left, right = asking.counts_of(here.page, out_of)
        assert left.sum() == right.sum() == out_of
        assert left.dtype.kind == "i"
        assert (left.sum(axis=1) == right.sum(axis=1)).all()
        assert (left != right).any()
        assert f"out of {out_of:,}" in shown_text(httpx.get(link).text)
        bots.play_page(served.store, here, MetricOracle(cost_matrix([[0, 1], [6, 0]])))
    assert studies.config_of(study).options.out_of == out_of


def test_g3_truth_is_left_and_predictions_are_right(served):
    _, _, link, _ = comparison(served)
    page = httpx.get(link).text
    boxes = re.findall(r'<g class="box[^"]*"><rect x="([\d.]+)".*?</g>', page)
    words = re.findall(r'<g class="box[^"]*">.*?<text[^>]*>(in truth|predicted)</text>', page)
    assert len(boxes) == len(words) == 8
    for x, word in zip(boxes, words, strict=True):
        assert (float(x) < 100) == (word == "in truth")


def test_g4_the_flow_chart_alone_with_bars_and_errors_as_switches(served):
    _, _, link, _ = comparison(served, views=("flow", "bars", "errors"))
    charts = {
        view: re.findall(r'class="chart (\w+)"', httpx.get(link, params={"view": view}).text)
        for view in ("", "bars", "errors", "nonsense")
    }
    assert charts == {
        "": ["flow"] * 2, "bars": ["bars"] * 2, "errors": ["errors"] * 2, "nonsense": ["flow"] * 2,
    }  # fmt: skip
    page = httpx.get(link, params={"view": "errors"}).text
    figure = page.split("<figure", 1)[1].split("visually-hidden", 1)[0]
    assert "✗" in figure
    assert "✓" not in figure


def test_g5_time_to_respond_is_kept(served):
    _, person, _, here = comparison(served)
    form = {"choice": ["A"], "client_ms": ["1250"]}
    now = {"seq": here.person.seq, "nonce": here.person.nonce}
    assert session.answer(served.store, person.id, form=form, **now).accepted
    entry = people.log_of(served.store, person.id)[-1]
    assert entry.client_seconds == 1.25
    assert entry.seconds >= 0
    assert entry.payload["kept"]["seconds"] == min(1.25, entry.seconds)


def test_g6_predicted_and_never_labelled(served):
    study = served.study("Words", quiz=True)
    person, link = served.person(study)
    seen = set()
    oracle = MetricOracle(cost_matrix([[0, 1], [6, 0]]))
    while (here := session.current_step(served.store, person.id)).phase != "done":
        if here.phase not in seen:
            text = shown_text(httpx.get(link).text)
            assert "label" not in text.lower(), here.phase
            seen.add(here.phase)
        bots.play_page(served.store, here, oracle, guess=6.0)
    assert len(seen) >= 11


@pytest.mark.parametrize("guess", ["before", "after"])
def test_g7_the_guess_is_asked_and_is_the_baseline(served, guess):
    study = served.study("Guess", guess=guess, n_evaluation=3)
    person, link = served.person(study)
    until(served, person, "guess")
    assert "as bad as" in shown_text(httpx.get(link).text)
    answered = {entry.phase for entry in people.log_of(served.store, person.id)}
    assert ("comparison" in answered) == (guess == "after")
    until(served, person, "done")
    found = results.person_result(served.store, person.id)
    ratio = found.guess["ratio"]
    assert found.guess_metric == cost_matrix([[0, 1], [ratio, 0]])
    assert found.evaluation.baseline is not None


def test_g8_a_switch_to_rates_conditioned_on_the_truth(served):
    _, _, link, here = comparison(served)
    plain = httpx.get(link).text
    assert "rates=1" in plain
    left, _ = asking.counts_of(here.page, 1000)
    rate = f"{100 * left[1, 0] / left[1].sum():.1f}".removesuffix(".0")
    figure = httpx.get(link, params={"rates": "1"}).text.split("visually-hidden", 1)[0]
    assert re.search(rf"✗ {left[1, 0]} \({re.escape(rate)}[.0]*\s%\)", figure)
    assert "%)" not in plain.split("<figure", 1)[1].split("visually-hidden", 1)[0]


def test_g9_what_each_error_costs_is_the_researchers_text(served, researcher):
    study = served.study("Costs")
    words = "A missed cancer <i>costs</i> years."
    assert researcher.post(f"/admin/studies/{study.id}/edit", {"costs": words}).status_code == 200
    person, link = served.person(study)
    until(served, person, "task")
    page = httpx.get(link).text
    assert "A missed cancer &lt;i&gt;costs&lt;/i&gt; years." in page
