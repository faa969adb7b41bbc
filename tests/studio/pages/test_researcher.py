"""The researcher's pages over HTTP: who gets in, making studies, watching, exports, withdrawing."""

import csv
import io
import json
import re
from html import unescape
from pathlib import Path

import httpx
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.elicit import BinarySpace, Elicitation, MetricOracle
from karat.exceptions import MetricError, OptionError
from karat.metrics import cost_matrix, load_metric
from karat.studio.schemas import FormField
from karat.studio.services import people, results, studies
from karat.studio.services.research import bots, dashboard, making
from karat.studio.services.research.dashboard import guesses_of
from karat.studio.services.research.making import questions_as_text, read_questions

pytestmark = pytest.mark.slow  # studies that bots have played

OPEN = {"/admin/login", "/admin/enter/{token}"}


def admin_routes(app):
    """Return method and path of every route of a researcher."""
    return sorted(
        (method.upper(), path)
        for path, methods in app.openapi()["paths"].items()
        for method in methods
        if path.startswith("/admin")
    )


def filled(path, study):
    return path.replace("{study_id}", study.id).replace("{person_id}", "0" * 32).replace(
        "{token}", "x"
    ).replace("{table}.{ending}", "answers.csv").replace("{what}", "metric")  # fmt: skip


def test_every_route_needs_a_login(served, demo_study):
    known = admin_routes(served.app)
    paths = {path for _, path in known}
    assert "/admin/studies/{study_id}/export/{table}.{ending}" in paths
    assert len(known) >= 25
    with httpx.Client(base_url=served.url) as stranger:
        for method, path in known:
            if path in OPEN:
                continue
            answer = stranger.request(method, filled(path, demo_study))
            assert (answer.status_code, answer.headers.get("location")) == (303, "/admin/login"), (
                path
            )


def test_everything_posted_needs_its_token(served, researcher, demo_study):
    for method, path in admin_routes(served.app):
        if method == "POST":
            for token in (None, "x", researcher.csrf[:-2] + "zz"):
                data = {} if token is None else {"csrf": token}
                answer = researcher.http.post(filled(path, demo_study), data=data)
                assert answer.status_code in (403, 404), path
    assert studies.get(served.store, demo_study.id) is not None


def test_a_password_lets_in_and_ends_links(serve):
    server = serve(admin_password="correct horse")
    with httpx.Client(base_url=server.url, follow_redirects=True) as http:
        page = http.get("/admin/login")
        token = re.search(r'name="csrf" value="([^"]+)"', page.text)[1]
        wrong = http.post("/admin/login", data={"csrf": token, "name": "admin", "password": "x"})
        assert wrong.status_code == 401
        assert "is wrong" in wrong.text
        assert http.get(server.enter()).status_code == 410
        data = {"csrf": token, "name": "admin", "password": "correct horse"}
        assert http.post("/admin/login", data=data).url.path == "/admin"
        cookie = http.cookies.jar.__iter__().__next__()
        assert cookie.has_nonstandard_attr("HttpOnly")
        token = re.search(r'name="csrf" value="([^"]+)"', http.get("/admin").text)[1]
        assert http.post("/admin/logout", data={"csrf": token}).url.path == "/admin/login"
        assert http.get("/admin").url.path == "/admin/login"


def test_an_old_link_lets_nobody_in(served):
    with httpx.Client(base_url=served.url) as http:
        assert http.get("/admin/enter/forged").status_code == 410


def predictions(n=400, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    return pl.DataFrame({
        "y_true": np.array(["fine", "ill"])[y], "score": 1 / (1 + np.exp(-rng.normal(2 * y - 1))),
        "sex": np.array(["f", "m"])[rng.integers(2, size=n)],
    })  # fmt: skip


def as_bytes(frame, ending):
    file = io.BytesIO()
    {"csv": frame.write_csv, "parquet": frame.write_parquet, "arrow": frame.write_ipc}[ending](file)
    return file.getvalue()


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_study_from_a_file(researcher, served, ending):
    files = {"file": (f"../scores.{ending}", as_bytes(predictions(), ending))}
    page = researcher.post("/admin/new/upload", {"name": f"From {ending}"}, files=files)
    assert page.status_code == 200
    assert 'value="y_true" selected' in page.text
    assert 'value="score" selected' in page.text
    assert 'value="sex" selected' in page.text
    kept = re.search(r'name="kept" value="([^"]+)"', page.text)[1]
    chosen = {"kept": kept, "name": f"From {ending}", "label": "y_true", "score": "score",
              "positive": "ill", "group": ""}  # fmt: skip
    page = researcher.post("/admin/new/columns", chosen)
    assert page.status_code == 200
    assert page.url.path.endswith("/edit")
    study = studies.get(served.store, page.url.path.split("/")[-2])
    assert study.name == f"From {ending}"
    asked = studies.asked_of(served.store, study)
    assert asked.classes == ["fine", "ill"]
    assert (type(asked.space), asked.fair) == (BinarySpace, False)
    again = researcher.post("/admin/new/columns", chosen)
    assert "choose it again" in again.text, "the file is not kept any longer"


def test_groups_and_classes_choose_the_family(researcher, served):
    frame = predictions().with_columns(p_fine=1 - pl.col("score"), p_ill=pl.col("score"))
    files = {"file": ("scores.arrow", as_bytes(frame, "arrow"))}
    page = researcher.post("/admin/new/upload", files=files)
    kept = re.search(r'name="kept" value="([^"]+)"', page.text)[1]
    assert re.findall(r'value="(p_\w+)" checked', page.text) == ["p_fine", "p_ill"]
    chosen = {"kept": kept, "name": "Fair", "label": "y_true", "score": "", "group": "sex",
              "proba": ["p_fine", "p_ill"]}  # fmt: skip
    page = researcher.post("/admin/new/columns", chosen)
    study = studies.get(served.store, page.url.path.split("/")[-2])
    options = studies.config_of(study).options
    assert (options.family, options.space) == ("linear", "groups")
    assert studies.asked_of(served.store, study).groups == ["f", "m"]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.csv", b"", "at least one row"),
        ("a.exe", b"abc", "expected one of .csv"),
        ("a.parquet", b"PAR1 nonsense", "cannot be read"),
        ("a.csv", b"x\n" + b"\xff\xfe" * 40, "cannot be read"),
    ],
)
def test_what_is_no_table_is_refused(researcher, name, content, said):
    page = researcher.post("/admin/new/upload", files={"file": (name, content)})
    assert page.status_code == 422
    assert said in unescape(page.text)


def test_wrong_columns_are_named_and_the_form_is_kept(researcher):
    files = {"file": ("scores.csv", as_bytes(predictions(), "csv"))}
    page = researcher.post("/admin/new/upload", files=files)
    kept = re.search(r'name="kept" value="([^"]+)"', page.text)[1]
    chosen = {"kept": kept, "name": "<b>x</b>", "label": "y_true", "score": "sex"}
    page = researcher.post("/admin/new/columns", chosen)
    assert page.status_code == 422
    assert "&lt;b&gt;x" in page.text
    assert "<b>x" not in page.text
    for name in ("../../etc/passwd", "0" * 32 + ".csv", ""):
        page = researcher.post("/admin/new/columns", chosen | {"kept": name})
        assert page.status_code == 422
        assert "choose" in page.text


def test_texts_and_options_are_edited(researcher, served):
    study = served.study("Edited")
    page = researcher.get(f"/admin/studies/{study.id}/edit").text
    assert "cancer" in page
    change = {
        "flags": "1", "costs": "<script>alert(1)</script>", "out_of": "10000", "view": "bars",
        "views": ["bars", "errors"], "guess": "none", "allow_tie": "yes", "max_queries": "",
        "questionnaire": "age* | How old are you? | number 0 to 120\nwhat | Which? | any of: a; b",
    }  # fmt: skip
    page = researcher.post(f"/admin/studies/{study.id}/edit", change)
    assert page.status_code == 200
    config = studies.config_of(studies.get(served.store, study.id))
    assert config.texts.costs == "<script>alert(1)</script>"
    assert (config.options.out_of, config.options.views) == (10_000, ("bars", "errors"))
    assert (config.options.allow_tie, config.options.allow_skip) == (True, False)
    assert [field.kind for field in config.questionnaire] == ["number", "choices"]
    assert config.questionnaire[0].required
    page = researcher.get(f"/admin/studies/{study.id}/edit").text
    assert "<script>alert" not in page
    assert "&lt;script&gt;" in page
    for wrong, said in (
        ({"questionnaire": "no bar here"}, "expected name | question"),
        ({"agreement": "1.5"}, "agreement"),
        ({"completion_url": "javascript:alert(1)"}, "https://"),
        ({"space": "groups"}, "groups"),
        ({"family": "fair"}, "family"),
        ({"family": "monotone"}, "'linear' or 'ratio' on a BinarySpace"),
    ):
        page = researcher.post(f"/admin/studies/{study.id}/edit", wrong)
        assert page.status_code == 422, wrong
        assert said in unescape(page.text)


NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,20}", fullmatch=True)
WORDS = st.text("abc äß<>&?", min_size=1, max_size=20).map(str.strip).filter(bool)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.builds(FormField, name=NAMES, text=WORDS, required=st.booleans()),
            st.builds(FormField, name=NAMES, text=WORDS, kind=st.just("number"),
                      minimum=st.just(0.0), maximum=st.integers(1, 500).map(float)),
            st.builds(FormField, name=NAMES, text=WORDS,
                      kind=st.sampled_from(["choice", "choices"]),
                      options=st.lists(WORDS, min_size=2, max_size=4).map(tuple)),
        ),
        max_size=4,
    )
)  # fmt: skip
def test_questions_as_text_are_read_back(fields):
    fields = [f.model_copy(update={"text": " ".join(f.text.split())}) for f in fields]
    read = [FormField.model_validate(one) for one in read_questions(questions_as_text(fields))]
    assert read == fields


def test_lines_that_are_no_question_are_refused():
    for line in ("age", "age | ", "a | b | often", "a | b | c | d"):
        with pytest.raises(OptionError, match="line 1"):
            read_questions(line)


@pytest.fixture(scope="module")
def played(served, researcher):
    """A study that three bots have played, through the page."""
    study = served.study("Played", max_queries=12, n_evaluation=3, guess="before")
    page = researcher.post(
        f"/admin/studies/{study.id}/bots", {"n_people": "3", "ratio": "6", "flip": "0"}
    )
    assert page.url.params["show"] == "bots"
    while (overview := dashboard.overview_of(served.store, study, kind="bots")).n_finished < 3:
        researcher.get(f"/admin/studies/{study.id}/live?show=bots")
    return study, overview


def test_the_dashboard_shows_what_services_say(played, researcher, served):
    study, overview = played
    page = unescape(researcher.get(f"/admin/studies/{study.id}?show=bots").text)
    assert "3 of 3" in page
    for known in overview.people:
        ratio = known.result.ratios[0]
        assert f"{ratio.value:.3g} ({ratio.lower:.3g} to" in page
        assert f"{known.guess['ratio']:.3g}" in page
    found = overview.agreement
    assert len(found.rows) == 3
    assert found.better + found.equal + found.worse == 3
    n = sum(known.evaluation.n for known in overview.people)
    hits = sum(round(k.evaluation.value * k.evaluation.n) for k in overview.people)
    assert found.metric.value == pytest.approx(hits / n)
    assert [q.name for q in overview.quantities] == ["a missed malignant against a false malignant"]
    assert {name for name, (right, of) in overview.checks.items() if of} >= {"dominated pairs"}
    assert "Nobody has come yet" in researcher.get(f"/admin/studies/{study.id}").text
    live = researcher.get(f"/admin/studies/{study.id}/live?show=bots").text
    assert live.lstrip().startswith('<div id="live"')
    assert 'hx-trigger="every 5s"' in live
    again = unescape(re.search(r'hx-get="([^"]+)"', live)[1])
    assert researcher.get(again).status_code == 204, "nobody has answered since"
    table = results.table_of_answers(served.store, study, kinds=("bot",))
    assert sum(table["school"].values()) == 3


def test_times_are_those_of_each_persons_test(played):
    _, overview = played
    times = overview.times
    timed = [k.closeness for k in overview.people]
    assert len(times.points) == sum(int((t.seconds > 0).sum()) for t in timed)
    assert sum(marked for *_, marked in times.points) == sum(
        int(((t.agrees == 0) & (t.seconds > 0)).sum()) for t in timed
    )


def test_what_is_exported_scores_and_replays(played, researcher, served, tmp_path):
    study, overview = played
    at = f"/admin/studies/{study.id}"
    told = researcher.get(f"{at}/export/study.json?show=bots")
    assert told.headers["content-disposition"] == 'attachment; filename="Played-study.json"'
    file = tmp_path / "study.json"
    file.write_bytes(told.content)
    data = json.loads(told.text)
    assert (data["schema"], data["version"]) == ("karat.study", 2)
    metric = load_metric(file)
    assert metric == load_metric(researcher.get(f"{at}/export/metric.json?show=bots").text)
    y = np.array(["benign", "malignant", "malignant", "benign"])
    assert metric.score(y, y) > metric.score(y, np.roll(y, 1))
    space = studies.asked_of(served.store, study).space
    for person, known in zip(data["people"], overview.people, strict=True):
        own = known.result.metric
        assert load_metric(json.dumps(person["metric"])) == own
        resumed = Elicitation.resume(space, person["transcript"])
        assert resumed.result.metric == own
        page = f"{at}/people/{person['person']}"
        assert load_metric(researcher.get(f"{page}/metric.json").text) == own
        assert researcher.get(f"{page}/transcript.json").json() == person["transcript"]


def test_a_study_without_a_metric_says_so(served, researcher):
    study = served.study("Empty")
    assert researcher.get(f"/admin/studies/{study.id}/export/metric.json").status_code == 404
    text = researcher.get(f"/admin/studies/{study.id}/export/study.json").text
    with pytest.raises(MetricError, match="no metric of its own"):
        load_metric(text)
    with pytest.raises(MetricError, match="version 7"):
        load_metric(text.replace('"version": 2', '"version": 7', 1))
    for table in ("answers", "people"):
        assert researcher.get(f"/admin/studies/{study.id}/export/{table}.csv").text.strip() == ""
        assert (
            researcher.get(f"/admin/studies/{study.id}/export/{table}.parquet").status_code == 200
        )
    for wrong in ("answers.json", "people.exe", "secrets.csv"):
        assert researcher.get(f"/admin/studies/{study.id}/export/{wrong}").status_code == 404


def test_tables_have_every_answer_once(played, researcher, served):
    study, overview = played
    at = f"/admin/studies/{study.id}/export"
    read = csv.DictReader(io.StringIO(researcher.get(f"{at}/answers.csv?show=bots").text))
    rows = list(read)
    frame = pl.read_parquet(researcher.get(f"{at}/answers.parquet?show=bots").content)
    assert len(rows) == len(frame) == sum(k.n_answers + k.evaluation.n for k in overview.people)
    for row, other in zip(rows, frame.iter_rows(named=True), strict=True):
        assert (row["person"], row["answer"]) == (other["person"], other["answer"])
        shown = {"A": "second", "B": "first"} if other["swapped"] else {"A": "first", "B": "second"}
        assert shown.get(row["choice"], row["choice"]) == row["answer"]
    one = pl.read_parquet(researcher.get(f"{at}/people.parquet?show=bots").content)
    assert one["n_answers"].to_list() == [k.n_answers for k in overview.people]


def test_no_cell_is_a_formula(served, researcher):
    study = served.study("Formulas", max_queries=1, n_evaluation=0, guess="none")
    person = people.create(served.store, study, label="=HYPERLINK(1)", kind="bot", seed=2)
    bots.play_one(served.store, person, MetricOracle(cost_matrix([[0, 1], [6, 0]])))
    people.add_note(served.store, person.id, "@SUM(1)", seq=3)
    rows = list(csv.reader(io.StringIO(
        researcher.get(f"/admin/studies/{study.id}/export/people.csv?show=bots").text
    )))  # fmt: skip
    assert rows[1][1] == "'=HYPERLINK(1)"
    assert not [cell for row in rows for cell in row if re.match(r"[=@|%\t]|[+-](?!\d|inf)", cell)]


def test_notes_stand_beside_answers_and_go_with_the_person(served, researcher, tmp_path):
    study = served.study("Notes", max_queries=2, n_evaluation=0, guess="none")
    person, link = served.person(study, label="Ada")
    bots.play_one(served.store, person, MetricOracle(cost_matrix([[0, 1], [6, 0]])))
    here = f"/admin/studies/{study.id}/people/{person.id}"
    entry = next(e for e in people.log_of(served.store, person.id) if e.phase == "comparison")
    secret = "hesitated: <i>eleven</i> seconds"
    page = researcher.post(f"{here}/notes", {"seq": str(entry.seq), "text": secret})
    assert page.text.count("&lt;i&gt;eleven") == 1
    assert f'id="answer-{entry.seq}" open' in page.text
    researcher.post(f"{here}/notes", {"text": "friendly"})
    exported = researcher.get(f"/admin/studies/{study.id}/export/answers.csv").text
    assert secret in exported
    assert "Delete all data of Ada?" in researcher.get(f"{here}/withdraw").text
    gone = researcher.post(f"{here}/withdraw")
    assert gone.url.path == f"/admin/studies/{study.id}"
    assert researcher.get(here).status_code == 404
    assert httpx.get(link).status_code == 404
    assert person.id not in researcher.get(f"/admin/studies/{study.id}/export/study.json").text
    file = Path(served.store.settings.database_url.removeprefix("sqlite:///"))
    for part in (file, file.with_name(f"{file.name}-wal")):
        content = part.read_bytes()
        assert b"eleven" not in content
        assert person.id.encode() not in content
    assert results.person_result(served.store, person.id) is None


def test_links_previews_opening_and_deleting(served, researcher):
    study = served.study("Links")
    at = f"/admin/studies/{study.id}"
    page = researcher.post(f"{at}/people", {"names": "Ada\n\n<b>Bob</b>"})
    links = re.findall(r"<code>(http[^<]+/p/[^<]+)</code>", page.text)
    assert len(links) == 2
    assert "<b>Bob" not in page.text
    assert all(httpx.get(link).status_code == 200 for link in links)
    page = researcher.post(f"{at}/preview")
    assert "This is a preview" in page.text
    assert [p.kind for p in people.list_of(served.store, study.id, kinds=("preview",))] == [
        "preview"
    ]
    assert len(people.list_of(served.store, study.id)) == 2
    room = re.search(r"http\S+/join/[\w.-]+", researcher.get(at).text)[0]
    assert httpx.get(room).status_code == 200
    researcher.post(f"{at}/status", {"status": "closed"})
    assert httpx.get(room).status_code == 410
    researcher.post(f"{at}/status", {"status": "open"})
    assert httpx.get(room).status_code == 200
    assert researcher.post(f"{at}/delete").url.path == "/admin"
    assert researcher.get(at).status_code == 404
    assert all(httpx.get(link).status_code == 404 for link in links)


def test_bots_are_refused_what_makes_no_sense(served, researcher):
    study = served.study("Bots")
    for wrong in ({"n_people": "0"}, {"n_people": "1e6"}, {"ratio": "-1"}, {"flip": "x"}):
        page = researcher.post(f"/admin/studies/{study.id}/bots", wrong)
        assert page.status_code == 422
        assert "expected" in page.text
    assert people.list_of(served.store, study.id, kinds=("bot",)) == []


@pytest.mark.parametrize("which", ["wine", "groups"])
def test_bots_play_several_classes_and_groups(served, researcher, which):
    study = served.study(which, which, max_queries=3, n_evaluation=2, guess="before")
    bots.play(served.store, study, n_people=1, ratio=3.0, flip=0.0)
    overview = dashboard.overview_of(served.store, study, kind="bots")
    assert overview.n_finished == 1
    known = overview.people[0]
    guess, first = known.guess, next(iter(guesses_of(known).values()))
    if which == "wine":  # in the words of the ratio, which is against the greatest weight
        name = known.result.ratios[0].name
        place = {"first": 0, "second": 1, "third": 2}
        one, other = (place[part.split()[-1]] for part in name.split(" against "))
        assert first == pytest.approx(guess[f"cost_{one}"] / guess[f"cost_{other}"])
    else:
        prior = studies.asked_of(served.store, study).space.prior
        in_rates = guess["ratio"] * prior[1] / prior[0]
        name = known.result.ratios[0].name
        missed_first = name.startswith("defaults taken for repays")
        assert guesses_of(known)[known.result.trade_off.worth.name] == guess["gap"]
        assert guesses_of(known)[name] == pytest.approx(in_rates if missed_first else 1 / in_rates)
    assert known.guess_metric is not None
    assert researcher.get(f"/admin/studies/{study.id}?show=bots").status_code == 200


def test_the_boundary_is_drawn_smoothed_and_counted(served, researcher):
    """Guideline G1: what thresholds attain is as scikit-learn counts it, and smoothed near it."""
    from sklearn.metrics import confusion_matrix

    from karat.studio.services.research.boundary import boundary_of

    study = served.study("Boundary")
    found = boundary_of(served.store, study)
    data, _ = making.demo_of("cancer")
    expected = set()
    for cut in np.unique(data.values):
        table = confusion_matrix(data.codes, data.values >= cut) / len(data.codes)
        if (np.diag(table) >= 0.5 * table.sum(axis=1)).all():
            expected.add((table[1, 1].round(9), table[0, 0].round(9)))
    assert {(round(x, 9), round(y, 9)) for x, y in found.counted} == expected
    steps = np.diff(np.array(found.counted), axis=0)
    assert (np.abs(steps) > 0).sum(axis=1).min() == 1, "steps of chance"
    xs, ys = np.array(found.smoothed).T
    order = np.argsort(xs)
    flat = [(x, y) for x, y in found.counted if xs.min() <= x <= 0.32]  # left of the corner
    assert len(flat) > 20
    assert all(abs(np.interp(x, xs[order], ys[order]) - y) < 0.01 for x, y in flat)
    assert np.diff(ys[order]).max() <= 1e-12, "the smoothed line falls throughout"
    assert "<polyline" in researcher.get(f"/admin/studies/{study.id}/boundary").text
    fair = served.study("No boundary", "groups")
    assert "two classes" in researcher.get(f"/admin/studies/{fair.id}/boundary").text


def test_the_shared_metric_is_worked_out_when_asked(played, researcher):
    study, _ = played
    page = researcher.post(f"/admin/studies/{study.id}/shared", {"show": "bots"})
    assert "people agree with each other" in page.text
    assert "right about malignant" in page.text
