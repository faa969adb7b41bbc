"""A real browser: mouse, keyboard alone, no JavaScript, phone width, light and dark."""

import json
import re

import numpy as np
import polars as pl
import pytest

from karat.elicit import MetricOracle
from karat.metrics import LinearMetric, load_metric
from karat.studio.services import asking, people, results, session, studies

pytestmark = pytest.mark.slow  # whole servers, browsers and many forms

WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]


def check_access(page, *, dark=True):
    """Refuse a page with a violation of WCAG A or AA, on light and dark backgrounds."""
    Axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe
    seen = [Axe().run(page, options={"runOnly": WCAG}).response]
    if dark:
        page.emulate_media(color_scheme="dark")
        only = {"runOnly": {"type": "rule", "values": ["color-contrast"]}}
        seen.append(Axe().run(page, options=only).response)
        page.emulate_media(color_scheme="light")
    found = [violation for one in seen for violation in one["violations"]]
    assert [(v["id"], [n["html"][:160] for n in v["nodes"]]) for v in found] == [], page.url
    for one in seen:  # nothing wrong is found where nothing is looked at
        assert "color-contrast" in {rule["id"] for rule in one["passes"]}


def heading(page):
    return page.locator("h1").inner_text()


def phase(served, person):
    return session.current_step(served.store, person.id).phase


def fill(page):
    """Fill in whatever a page asks for, as a person with a mouse would."""
    for box in page.locator("main input[type=checkbox][name]").all():
        box.check()
    names = {r.get_attribute("name") for r in page.locator("input[type=radio]").all()}
    for name in names:
        page.locator(f"input[type=radio][name={name}]").first.check()
    for field in page.locator("input[type=text], input[type=number]").all():
        field.fill("7")
    for field in page.locator("textarea").all():
        field.fill("Because <b>I</b> say so.")


def go_on(page, key="1"):
    """Answer the page that is shown."""
    choices = page.locator("button[name=choice]")
    if choices.count():
        choices.nth(int(key) - 1).click()
    else:
        fill(page)
        page.locator("form button").first.click()


def play(served, person, page, *, look=None, choose=lambda: "1"):
    """Go on to the end; ``look`` sees the first page of each kind."""
    seen = {}
    for _ in range(80):
        now = phase(served, person)
        if now not in seen:
            seen[now] = heading(page)
            if look is not None:
                look(page, now)
        if now == "done":
            return seen
        go_on(page, choose() if now in ("comparison", "evaluation") else "1")
    raise AssertionError(f"not at the end: {seen}")


def test_a_subject_of_table_8_4_with_a_mouse(served, opened):
    """S1 of Hiranandani 2021, 0.125 TN + 0.875 TP, through the whole study to karat's own end.

    Every page is accessible, and nothing is refused by the policy. What the subjects answered was
    never published, so their 𝓜 of 87 % cannot be compared.
    """
    study = served.study(
        "By mouse", quiz=True, view="flow", views=("flow", "bars", "errors"), max_queries=None,
        n_evaluation=3, checks=False,
    )  # fmt: skip
    person, link = served.person(study, seed=4)
    oracle = MetricOracle(LinearMetric(np.diag([0.125, 0.875])))
    page = opened()
    page.goto(link)

    def look(page, now):
        if now not in ("comparing", "simulation", "evaluation"):  # as pages before them
            check_access(page, dark=now in ("consent", "comprehension", "comparison", "done"))
        if now == "comparison":
            for view in ("Bars", "Errors only", "Percentages of the truth", "Flow-chart"):
                page.get_by_role("link", name=view).click()
                page.get_by_role("link", name=view).and_(page.locator("[aria-current]")).wait_for()
                if view in ("Bars", "Errors only"):
                    check_access(page, dark=False)
            wide = page.locator("svg.chart").first.bounding_box()["width"]
            page.get_by_label("Zoom in").check()
            assert page.locator("svg.chart").first.bounding_box()["width"] > 1.5 * wide

    def choose():
        shown = session.current_step(served.store, person.id).page
        first = oracle(asking.query_of(shown)) != "second"
        return "1" if first != shown["swapped"] else "2"

    seen = play(served, person, page, look=look, choose=choose)
    assert list(seen)[:4] == ["consent", "questionnaire", "task", "figure"]
    assert {"comprehension", "comparing", "simulation", "dominated"} <= set(seen)
    assert page.said == []
    log = people.log_of(served.store, person.id)
    assert len({entry.seq for entry in log}) == len(log)
    for entry in log:  # guideline G5: on both sides
        if entry.phase in ("comparison", "evaluation"):
            assert entry.client_seconds is not None
            assert 0 <= entry.payload["kept"]["seconds"] <= entry.seconds
    found = results.person_result(served.store, person.id)
    assert found.post["q1"] == "Because <b>I</b> say so."
    ratio = found.result.ratios[0]
    assert ratio.lower <= 0.875 / 0.125 <= ratio.upper
    assert found.result.n_queries <= 20, "the thesis asked about 20"
    assert found.evaluation.value == 1.0


def test_a_person_with_a_keyboard(served, opened):
    """No mouse: the tab key reaches every control, and the answers have keys of their own."""
    study = served.study("By keyboard", max_queries=3)
    person, link = served.person(study)
    page = opened()
    page.goto(link)

    def focused():
        return page.evaluate(
            "() => { const e = document.activeElement; return [e.tagName, e.type || '', "
            "e.className, getComputedStyle(e).outlineStyle]; }"
        )

    def next_page():
        before = page.content()
        for _ in range(40):
            page.keyboard.press("Tab")
            tag, kind, _, outline = focused()
            assert outline != "none", "who uses the keyboard must see where they are"
            ticked = kind == "checkbox" and page.evaluate("document.activeElement.checked")
            if kind in ("checkbox", "radio") and not ticked:
                page.keyboard.press("Space")
            elif kind in ("text", "textarea"):
                page.keyboard.type("5")
            elif tag == "BUTTON":
                with page.expect_navigation():
                    page.keyboard.press("Enter")
                return
        raise AssertionError(f"no button in {before[:2000]}")

    while phase(served, person) != "comparison":
        next_page()
    page.keyboard.press("Tab")
    assert page.locator(".skip").bounding_box()["x"] >= 0, "the first stop skips to the content"
    told = []
    for key, choice in (("1", "A"), ("u", None), ("2", "B"), ("0", "tie"), ("s", "skip")):
        with page.expect_navigation():
            page.keyboard.press(key)
        told.append(choice)
    log = people.log_of(served.store, person.id)
    answered = [e.payload["choice"] for e in log if e.phase in ("comparison", "evaluation")]
    assert answered == ["A", "B", "tie", "skip"]
    assert [e.phase for e in log].count("undo") == 1
    while phase(served, person) != "done":
        if phase(served, person) == "evaluation":
            with page.expect_navigation():
                page.keyboard.press("1")
        else:
            next_page()
    assert page.said == []


def test_a_person_on_a_phone_without_javascript(served, opened):
    study = served.study("No script", quiz=True)
    person, link = served.person(study)
    page = opened(phone=True, java_script_enabled=False)
    page.goto(link)

    def look(page, now):
        box = page.locator("html").bounding_box()
        assert box["width"] <= 390, now
        for part in page.locator("main > *, form > *, .comparison .side").all():
            inside = part.bounding_box()
            if inside and "visually-hidden" not in (part.get_attribute("class") or ""):
                assert inside["x"] + inside["width"] <= 391, (now, part.inner_html()[:200])
        if now == "comparison":
            assert not page.locator("kbd").first.is_visible(), "keys need JavaScript"

    seen = play(served, person, page, look=look)
    assert list(seen)[-1] == "done"
    log = people.log_of(served.store, person.id)
    assert all(entry.client_seconds is None for entry in log)


@pytest.mark.parametrize("which", ["wine", "groups"])
def test_several_classes_and_groups(served, opened, which):
    study = served.study(f"More: {which}", which, max_queries=2, n_evaluation=1, guess="none")
    person, link = served.person(study)
    page = opened()
    page.goto(link)

    def look(page, now):
        if now == "comparison":
            check_access(page)
            shown = (
                page.locator("table.confusion") if which == "wine" else page.locator("svg.chart")
            )
            assert shown.count() == (2 if which == "wine" else 4)

    assert list(play(served, person, page, look=look))[-1] == "done"
    assert results.person_result(served.store, person.id).result.n_queries == 2


def test_reload_back_double_click_and_two_tabs(served, opened):
    study = served.study("Twice", max_queries=6)
    person, link = served.person(study)
    page = opened()
    page.goto(link)
    while phase(served, person) != "comparison":
        go_on(page)
    shown = page.locator(".comparison").inner_text()
    page.reload()
    assert page.locator(".comparison").inner_text() == shown
    other = page.context.new_page()
    other.goto(link)
    assert other.locator(".comparison").inner_text() == shown
    with page.expect_navigation():
        page.locator("button[name=choice]").first.dblclick()

    def answered():
        return [e for e in people.log_of(served.store, person.id) if e.phase == "comparison"]

    assert len(answered()) == 1
    with other.expect_navigation():
        other.locator("button[name=choice]").nth(1).click()  # of a question that was answered
    assert len(answered()) == 1
    now = page.locator(".comparison").inner_text()
    assert other.locator(".comparison").inner_text() == now != shown
    page.go_back()  # to a page that was answered; what is shown is the question that is next
    assert page.locator(".comparison").inner_text() == now
    with page.expect_navigation():
        page.locator("button[name=choice]").first.click()
    assert len(answered()) == 2
    log = people.log_of(served.store, person.id)
    assert len({(e.seq, e.nonce) for e in log}) == len(log)


def test_a_researcher(served, opened, tmp_path):
    """From a file to a metric: upload, columns, texts, preview, bots, dashboard, export, score."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=500)
    file = tmp_path / "scores.csv"
    score = 1 / (1 + np.exp(-rng.normal(3 * y - 1.5)))
    pl.DataFrame({"label": np.array(["fine", "ill"])[y], "score": score}).write_csv(file)
    page = opened()
    page.goto(f"{served.url}/admin")
    check_access(page)
    page.goto(served.enter())
    check_access(page)
    page.get_by_role("link", name="New study").first.click()
    check_access(page, dark=False)
    page.get_by_label("Name of the study").fill("From a file")
    page.get_by_label("File", exact=True).set_input_files(file)
    page.get_by_role("button", name="Go on to its columns").click()
    page.get_by_role("heading", name="What are the columns").wait_for()
    check_access(page, dark=False)
    page.get_by_role("button", name="Make the study").click()
    page.get_by_role("heading", name="Texts and options").wait_for()
    check_access(page, dark=False)
    page.get_by_label("What each error costs").fill("An ill person is not treated.")
    page.get_by_label("Most comparisons").fill("12")
    page.get_by_label("Evaluation pairs").fill("3")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("heading", name="From a file").wait_for()
    study_id = page.url.rpartition("/")[2]
    page.get_by_role("button", name="Preview as a participant").click()
    page.get_by_text("This is a preview").wait_for()
    page.go_back()
    page.get_by_label("Bots", exact=True).fill("2")
    page.get_by_role("button", name="Let bots play").click()
    page.get_by_text("2 of 2", exact=True).wait_for(timeout=60_000)  # the page refreshes itself
    check_access(page)
    page.get_by_role("link", name="bot 1").click()
    page.locator("summary").first.click()
    page.get_by_label("Note beside answer 1", exact=True).fill("Thought aloud.")
    page.locator("details[open]").get_by_role("button", name="Keep the note").click()
    page.locator("details[open]").get_by_text("Thought aloud.").wait_for()
    check_access(page, dark=False)
    page.get_by_role("link", name="Withdraw").click()
    check_access(page)
    page.goto(f"{served.url}/admin/studies/{study_id}?show=bots")
    with page.expect_download() as download:
        page.get_by_role("link", name="JSON").first.click()
    exported = tmp_path / "study.json"
    download.value.save_as(exported)
    metric = load_metric(exported)
    said = json.loads(exported.read_text())["people"]
    assert [note["text"] for note in said[0]["notes"]] == ["Thought aloud."]
    labels = np.array(["fine", "ill"])[y]
    assert metric.score(labels, labels) > metric.score(
        labels, np.where(score > 0.99, "ill", "fine")
    )
    page.goto(f"{served.url}/admin/studies/{study_id}/boundary")
    check_access(page, dark=False)
    assert studies.get(served.store, study_id).name == "From a file"
    other = tmp_path / "scores.parquet"
    pl.read_csv(file).write_parquet(other)
    page.goto(f"{served.url}/admin")
    page.get_by_role("link", name="New study").first.click()
    page.get_by_label("Name of the study").fill("From another file")
    page.get_by_label("File", exact=True).set_input_files(other)
    page.get_by_role("button", name="Go on to its columns").click()
    page.get_by_role("button", name="Make the study").click()
    page.get_by_role("heading", name="Texts and options").wait_for()
    page.get_by_role("button", name="Save").click()
    page.get_by_role("heading", name="From another file").wait_for()
    at = page.url
    page.locator("details", has_text="Make links").locator("summary").click()
    page.locator("details[open]").get_by_role("textbox").fill("Ann")
    page.get_by_role("button", name="Make links").click()
    page.get_by_role("heading", name="Links").wait_for()
    check_access(page, dark=False)
    page.goto(f"{at}/delete")
    check_access(page, dark=False)
    assert [text for text in page.said if "Content Security" in text] == []


def test_pages_of_errors_and_the_room(served, opened):
    study = served.study("Room")
    page = opened()
    page.goto(f"{served.url}/join/{studies.room_token(served.store, study)}?PROLIFIC_PID=abc")
    check_access(page)
    page.locator("form button").first.click()
    page.wait_for_url(re.compile("/p/"))
    assert [p.prolific_pid for p in people.list_of(served.store, study.id)] == ["abc"]
    page.goto(f"{served.url}/nowhere")
    check_access(page)
