"""Whatever is posted, no page fails."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from karat.studio import create_app
from karat.studio.services import accounts, people, studies
from karat.studio.services.research import bots

pytestmark = pytest.mark.slow  # whole servers, browsers and many forms

TEXT = st.text(max_size=60) | st.sampled_from(
    ["", "0", "-1", "1e400", "nan", "A", "B", "tie", "skip", "same", "yes", "\x00", "é" * 40,
     "１２", "9" * 300, "=1+1", "<b>", "{{7*7}}", "%s", "../..", "\ud800"]
)  # fmt: skip
COMMON = {"max_examples": 12, "suppress_health_check": list(HealthCheck)}
PHASES = ("consent", "questionnaire", "comprehension", "comparison", "guess")
NAMES = st.sampled_from(
    ["choice", "view", "rates", "client_ms", "seq", "nonce", "csrf", "agree", "age", "gender",
     "school", "missed", "preferred", "share_of_truth", "ratio", "q1", "q2"]
)  # fmt: skip


@pytest.mark.parametrize("phase", PHASES)
def test_forms_of_people(kit, store, phase):
    study = kit.make(store, max_queries=2, n_evaluation=2)
    browser = kit.Browser(create_app(store=store))
    player = kit.Player(store, study)
    player.go_to(phase)
    link = f"/p/{people.token(store, player.person)}"
    csrf = browser.get(link).hidden["csrf"]

    @given(fields=st.dictionaries(NAMES | TEXT, st.lists(TEXT, max_size=2), max_size=6))
    @settings(**COMMON)
    def tried(fields):
        store.clock.now += 60.0
        here = player.here
        known = {"csrf": csrf, "seq": str(here.person.seq), "nonce": here.person.nonce}
        for form in (known | fields, fields | known):
            for action in ("answer", "undo"):
                answered = browser.post(f"{link}/{action}", form)
                assert answered.status in (303, 400, 403, 422), answered.text
        assert browser.get(link).status == 200

    tried()
    log = player.log()
    assert [entry.seq for entry in log] == list(range(len(log)))


@given(path=st.text(max_size=40), query=st.text(max_size=40))
@settings(max_examples=25, suppress_health_check=list(HealthCheck))
def test_addresses(app_of_all, path, query):
    from urllib.parse import quote

    browser, prefixes = app_of_all
    for prefix in prefixes:
        url = f"{prefix}{quote(path, safe='', errors='replace')}?{quote(query, safe='=&')}"
        assert browser.get(url).status < 500


@pytest.fixture(scope="module")
def app_of_all(kit, tmp_path_factory):
    store = kit.opened(
        f"sqlite:///{tmp_path_factory.mktemp('fuzz')}/study.db", logins_per_minute=10**6
    )
    study = kit.make(store)
    person = kit.Player(store, study).person
    browser = kit.Browser(create_app(store=store))
    browser.cookies = {"karat_studio": accounts.log_in_by_link(store, accounts.login_token(store))}
    yield (
        browser,
        [
            "/", "/p/", "/join/", "/admin/enter/", f"/admin/studies/{study.id}/",
            f"/admin/studies/{study.id}/people/", f"/admin/studies/{study.id}/export/",
            f"/admin/studies/{study.id}/people/{person.id}/",
        ],
    )  # fmt: skip
    store.close()


ADMIN_FORMS = {
    "/admin/new/demo": ("demo", "name"),
    "/admin/new/columns": ("kept", "label", "score", "proba", "positive", "group", "family"),
    "/admin/studies/{study}/edit": (
        "family", "out_of", "consent", "task", "questionnaire", "post", "view", "views", "guess",
        "agreement", "precision", "max_queries", "completion_url", "n_evaluation", "name",
    ),
    "/admin/studies/{study}/status": ("status",),
    "/admin/studies/{study}/people": ("names",),
    "/admin/studies/{study}/bots": ("ratio", "flip"),
    "/admin/studies/{study}/shared": ("show",),
    "/admin/studies/{study}/preview": (),
    "/admin/studies/{study}/people/{person}/notes": ("text", "seq"),
    "/admin/studies/{study}/people/{person}/extend": (),
}  # fmt: skip


@pytest.mark.parametrize("path", ADMIN_FORMS)
def test_forms_of_researchers(kit, store, path, monkeypatch):
    # That bots play is tried elsewhere; here they would for minutes.
    monkeypatch.setattr(bots, "play", lambda *_, **__: None)
    study = kit.make(store)
    person = kit.Player(store, study).person
    browser = kit.Browser(create_app(store=store))
    browser.cookies = {"karat_studio": accounts.log_in_by_link(store, accounts.login_token(store))}
    csrf = browser.get("/admin/new").hidden["csrf"]
    url = path.format(study=study.id, person=person.id)
    names = st.sampled_from([*ADMIN_FORMS[path], "more"]) | TEXT

    @given(fields=st.dictionaries(names, st.lists(TEXT, max_size=2), max_size=6))
    @settings(**COMMON)
    def tried(fields):
        answered = browser.post(url, {**fields, "csrf": csrf})
        assert answered.status in (200, 303, 400, 404, 422), answered.text

    tried()
    assert studies.get(store, study.id) is not None


def test_forms_of_the_login_and_the_room(kit, sqlite_url):
    store = kit.opened(sqlite_url, logins_per_minute=10**6, joins_per_minute=10**6)
    study = kit.make(store)
    browser = kit.Browser(create_app(store=store))
    room = f"/join/{studies.room_token(store, study)}"
    pages = {room: browser.get(room).hidden, "/admin/login": browser.get("/admin/login").hidden}

    @given(fields=st.dictionaries(NAMES | TEXT, st.lists(TEXT, max_size=2), max_size=5))
    @settings(**COMMON)
    def tried(fields):
        for path, known in pages.items():
            if path == room or "password" not in fields:
                assert browser.post(path, {**known, **fields}).status in (303, 400, 401, 403, 422)

    tried()
    store.close()


BODIES = {
    "no boundary": ("multipart/form-data", b"--x\r\n\r\n--x--"),
    "cut off": (
        "multipart/form-data; boundary=x",
        b'--x\r\nContent-Disposition: form-data; name="a',
    ),
    "no name": (
        "multipart/form-data; boundary=x",
        b"--x\r\nContent-Disposition: a\r\n\r\n\r\n--x--",
    ),
    "many files": (
        "multipart/form-data; boundary=x",
        b'--x\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\n1\r\n' * 5
        + b"--x--",
    ),
    "json": ("application/json", b'{"choice": "A"}'),
    "no type": ("", b"choice=A"),
    "bytes": ("application/x-www-form-urlencoded", bytes(range(256))),
    "charset": ("application/x-www-form-urlencoded; charset=nonsense", b"choice=A"),
    "nothing": ("multipart/form-data; boundary=x", b""),
}


@pytest.mark.parametrize("kind", BODIES)
def test_bodies_that_are_no_forms(app_of_all, kind):
    browser, prefixes = app_of_all
    content, body = BODIES[kind]
    study = prefixes[4]
    for path in ("/p/x/answer", "/join/x", "/admin/login", "/admin/new/upload", f"{study}edit"):
        answered = browser.ask("POST", path, body=body, headers={"content-type": content})
        assert answered.status in (400, 403, 404), (path, answered.status)
