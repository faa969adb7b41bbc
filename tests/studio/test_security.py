"""Who may see what, and what is refused."""

import logging
import re

import pytest
from fastapi.openapi.utils import get_openapi

from karat._files import escape_cell
from karat.exceptions import MissingExtraError, OptionError
from karat.studio import Settings, create_app
from karat.studio.security import (
    HideSecrets,
    RateLimit,
    check_csrf,
    check_password,
    csrf_token,
    hash_password,
    signed,
    unsigned,
)
from karat.studio.services import accounts, people, results, session, studies
from karat.studio.storage import Store

HEADERS = {
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
}
OPEN = {"/admin/login", "/admin/enter/{token}", "/join/{room}"}  # each is tried below


def routes(app):
    """Return method and path of everything that is served."""
    described = get_openapi(title="all", version="1", routes=app.routes)["paths"]
    return sorted((method.upper(), path) for path, kinds in described.items() for method in kinds)


def filled(path):
    return re.sub(r"{\w+}", "x", path)


def logged_in(browser, store):
    cookie = accounts.log_in_by_link(store, accounts.login_token(store))
    browser.cookies = {"karat_studio": cookie}
    return browser


# --- who may come in


def test_every_route_refuses_without_token_or_login(app, browser):
    tried = [(method, path) for method, path in routes(app) if path not in OPEN]
    assert len(tried) > 20
    assert {"/p/{token}", "/admin", "/admin/studies/{study_id}"} <= {path for _, path in tried}
    for method, path in tried:
        answered = browser.ask(method, filled(path), form={} if method == "POST" else None)
        if path.startswith("/p/"):
            assert answered.status == 404, path
        else:
            assert answered.status == 303, path
            assert answered.headers["location"] == "/admin/login", path


def test_headers_are_everywhere(browser, link):
    for path in (link, "/admin", "/admin/login", "/nowhere", "/p/x", "/join/x"):
        answered = browser.get(path)
        for name, value in HEADERS.items():
            assert answered.headers[name] == value, (path, name)
        policy = answered.headers["content-security-policy"]
        assert policy.startswith("default-src 'self';")
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
    assert browser.get("/static/studio.css").headers["x-content-type-options"] == "nosniff"


def test_pages_hold_nothing_that_the_policy_forbids(browser, player, link):
    """No inline script, style or handler on any page of a person."""
    while True:
        text = browser.get(link).text
        assert not re.search(r"<script(?![^>]*src=)|<style|\sstyle=|\son\w+=|javascript:", text)
        if player.here.phase == "done":
            break
        player.send()


@pytest.mark.parametrize("change", ["cut", "flipped", "other purpose", "other key"])
def test_tampered_links_are_refused(browser, store, study, player, change):
    token = people.token(store, player.person)
    i = len(token) // 2
    forged = {
        "cut": token[:-1],
        "flipped": token[:i] + ("A" if token[i] != "A" else "B") + token[i + 1 :],
        "other purpose": studies.room_token(store, study),
        "other key": signed("another key", "person", [player.person.id, 1]),
    }[change]
    assert browser.get(f"/p/{forged}").status == 404
    assert browser.get(f"/p/{token}").status == 200


def test_the_database_does_not_hold_links(store, player, tmp_path):
    token = people.token(store, player.person)
    files = b"".join(path.read_bytes() for path in tmp_path.glob("study.db*"))
    assert token.encode() not in files
    assert people.by_token(store, token).person.id == player.person.id


def test_an_expired_link_is_told_so_and_can_be_extended(browser, store, player, link):
    player.compare(2)
    before = player.here.page
    store.clock.now += 31 * 86_400
    answered = browser.get(link)
    assert answered.status == 410
    assert "expired" in answered.text
    assert browser.post(f"{link}/answer", {"choice": "A"}).status == 410
    people.extend(store, player.person.id, days=2)
    assert browser.get(link).status == 200
    assert player.here.page == before


def test_a_withdrawn_link_is_gone(browser, store, player, link):
    people.withdraw(store, player.person.id)
    assert browser.get(link).status == 404


# --- forms


def test_a_form_needs_its_csrf_token(browser, store, study, kit, player, link):
    player.compare(1)
    fields = browser.get(link).hidden
    n = len(player.log())
    other = kit.Player(store, study)
    foreign = csrf_token(store.secret, f"person:{other.person.id}")
    for csrf in (None, "", "x", foreign, fields["csrf"][:-2]):
        form = {**fields, "choice": "A", "csrf": csrf or ""}
        if csrf is None:
            del form["csrf"]
        for action in ("answer", "undo"):
            assert browser.post(f"{link}/{action}", form).status == 403
    sent = {"headers": {"sec-fetch-site": "cross-site"}}
    assert browser.post(f"{link}/answer", {**fields, "choice": "A"}, **sent).status == 403
    assert len(player.log()) == n
    assert browser.post(f"{link}/answer", {**fields, "choice": "A"}).status == 303
    assert len(player.log()) == n + 1


def test_csrf_tokens_are_of_one_person_and_one_key():
    token = csrf_token("key", "person:1")
    assert check_csrf("key", "person:1", token)
    assert not check_csrf("key", "person:2", token)
    assert not check_csrf("other", "person:1", token)
    assert not check_csrf("key", "person:1", token + "x" * 400)
    assert unsigned("key", "session", signed("key", "person", [1])) is None


def test_an_invalid_form_is_shown_again_with_what_was_typed(browser, player, link):
    player.go_to("questionnaire")
    fields = browser.get(link).hidden
    answered = browser.post(f"{link}/answer", {**fields, "age": "old", "gender": "<b>x</b>"})
    assert answered.status == 422
    assert "Please write a number" in answered.text
    assert "&lt;b&gt;x&lt;/b&gt;" in answered.text
    assert "<b>x</b>" not in answered.text


def test_what_people_and_researchers_write_is_escaped(kit, store):
    attack = '<script>alert(1)</script>"><img src=x onerror=alert(1)>'
    config = kit.config(guess="none").model_dump()
    for name in ("consent", "task", "costs", "visualisation", "question", "items", "thanks"):
        config["texts"][name] = attack
    config["texts"]["systems"] = [attack, attack]
    config["texts"]["truth"] = [attack, attack]
    config["texts"]["predicted"] = [attack, attack]
    config["post"] = [{"name": "q1", "text": attack}]
    config["questionnaire"] = [
        {"name": "age", "text": attack, "kind": "choice", "options": [attack, "b"]}
    ]
    config["options"] |= {"max_queries": 2, "n_evaluation": 1, "completion_code": attack}
    data = kit.binary_data(classes=(attack, "b"))
    study = studies.create(
        store, name=attack, config=type(kit.config()).model_validate(config), data=data
    )
    browser = kit.Browser(create_app(store=store))
    player = kit.Player(store, study)
    link = f"/p/{people.token(store, player.person)}"
    seen = set()
    while (here := player.here).phase != "done" or here.phase not in seen:
        seen.add(here.phase)
        text = browser.get(link).text
        assert "<script>alert" not in text, here.phase
        assert "<img" not in text, here.phase
        if here.phase == "done":
            break
        player.send()
    room = browser.get(f"/join/{studies.room_token(store, study)}").text
    assert "<script>alert" not in room
    for path in ("", f"/people/{player.person.id}", "/edit"):
        page = logged_in(browser, store).get(f"/admin/studies/{study.id}{path}")
        assert page.status == 200
        assert "<script>alert" not in page.text
        assert "<img" not in page.text


# --- joining


def test_a_room_link_makes_one_person_a_form(browser, store, study):
    room = f"/join/{studies.room_token(store, study)}"
    page = browser.get(f"{room}?PROLIFIC_PID=abc123")
    assert people.list_of(store, study.id) == []  # looking makes nobody
    fields = page.hidden
    assert fields["pid"] == "abc123"
    first, again = browser.post(room, fields), browser.post(room, fields)
    assert first.status == again.status == 303
    assert first.headers["location"] == again.headers["location"]
    other = browser.post(room, {**browser.get(room).hidden, "pid": "abc123"})
    assert other.headers["location"] == first.headers["location"]  # the same Prolific participant
    third = browser.post(room, browser.get(room).hidden)
    assert third.headers["location"] != first.headers["location"]
    assert len(people.list_of(store, study.id)) == 2
    assert browser.post(room, {**fields, "csrf": "x"}).status == 403
    assert browser.post(room, {**fields, "nonce": "short"}).status == 400


def test_a_closed_study_takes_nobody_new(browser, store, study, player, link):
    room = f"/join/{studies.room_token(store, study)}"
    fields = browser.get(room).hidden
    studies.set_status(store, study.id, "closed")
    assert browser.get(room).status == 410
    assert browser.post(room, fields).status == 410
    assert browser.get(link).status == 200  # whoever has begun may finish


# --- researchers


def test_logging_in_by_password(kit, sqlite_url):
    store = kit.opened(sqlite_url, admin_password="correct horse", logins_per_minute=20)
    browser = kit.Browser(create_app(store=store))
    page = browser.get("/admin/login")
    for name, password in (("admin", "wrong"), ("nobody", "correct horse"), ("admin", "")):
        form = {**page.hidden, "name": name, "password": password}
        assert browser.post("/admin/login", form).status == 401
    form = {**page.hidden, "name": "admin", "password": "correct horse"}
    assert browser.post("/admin/login", {**form, "csrf": "x"}).status == 403
    entered = browser.post("/admin/login", form)
    assert entered.status == 303
    cookie = entered.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert browser.get("/admin").status == 200
    assert accounts.log_in_by_link(store, accounts.login_token(store)) is None
    store.clock.now += 13 * 3600  # sessions end by themselves
    assert browser.get("/admin").status == 303
    store.close()


def test_a_new_password_ends_old_sessions(kit, sqlite_url):
    store = kit.opened(sqlite_url, admin_password="correct horse")
    accounts.ensure_admin(store)
    cookie = accounts.log_in(store, "admin", "correct horse")
    assert accounts.by_session(store, cookie) is not None
    accounts.ensure_admin(store)  # the same one ends nothing
    assert accounts.by_session(store, cookie) is not None
    changed = Store(Settings(database_url=sqlite_url, admin_password="another horse"))
    changed.clock = store.clock
    accounts.ensure_admin(changed)
    assert accounts.by_session(store, cookie) is None
    assert accounts.log_in(changed, "admin", "correct horse") is None
    admin = accounts.by_session(changed, accounts.log_in(changed, "admin", "another horse"))
    accounts.log_out(changed, admin.id)
    assert accounts.by_session(changed, cookie) is None
    for one in (store, changed):
        one.close()


def test_logging_in_is_limited(kit, sqlite_url):
    store = kit.opened(sqlite_url, admin_password="correct horse", logins_per_minute=3)
    browser = kit.Browser(create_app(store=store))
    found = [browser.get("/admin/login").status for _ in range(5)]
    assert found == [200, 200, 200, 429, 429]
    store.clock.now += 61
    assert browser.get("/admin/login").status == 200
    store.close()


def test_people_are_limited_too(kit, sqlite_url):
    store = kit.opened(sqlite_url, answers_per_minute=3)
    browser = kit.Browser(create_app(store=store))
    player = kit.Player(store, kit.make(store))
    link = f"/p/{people.token(store, player.person)}"
    assert [browser.get(link).status for _ in range(4)] == [200, 200, 200, 429]
    store.close()


def test_drops_come_back_evenly():
    now = [0.0]
    limit = RateLimit(6, lambda: now[0])
    assert [limit.allows("a") for _ in range(7)] == [True] * 6 + [False]
    assert limit.allows("b")
    now[0] = 10.0  # a sixth of a minute: one of six
    assert [limit.allows("a") for _ in range(2)] == [True, False]
    now[0] = 5.0  # a clock that is set back gives nothing
    assert not limit.allows("a")


def test_passwords_are_hashed():
    kept = hash_password("correct horse")
    assert kept.startswith("$argon2id$")
    assert check_password(kept, "correct horse")
    assert not check_password(kept, "wrong")
    assert not check_password(None, "nobody")
    assert not check_password("no hash", "x")


def test_the_cookie_of_another_purpose_is_refused(browser, store, player):
    for cookie in (people.token(store, player.person), accounts.login_token(store), "x", ""):
        browser.cookies = {"karat_studio": cookie}
        assert browser.get("/admin").status == 303


# --- what is sent and what is written


def test_bodies_are_limited(browser, player, link):
    fields = browser.get(link).hidden
    big = {**fields, "agree": "yes", "more": "x" * 400_000}
    assert browser.post(f"{link}/answer", big).status == 413
    lying = browser.post(f"{link}/answer", big, headers={"content-length": "10"})
    assert lying.status == 413
    # By their number or, where Starlette does not count them yet, for want of a token.
    many = browser.post(f"{link}/answer", {f"f{i}": "x" for i in range(400)})
    assert many.status in (400, 403)
    assert player.here.phase == "consent"


@pytest.mark.parametrize(
    "path",
    [
        "/static/../settings.py",
        "/static/%2e%2e/settings.py",
        "/static/..%2f..%2fsettings.py",
        "/static//etc/passwd",
        "/p/../admin",
        "/admin/../../etc/passwd",
    ],
)
def test_no_path_leads_out(browser, path):
    answered = browser.get(path)
    assert answered.status in (303, 404)
    assert "class Settings" not in answered.text


def test_tokens_and_passwords_are_in_no_log(kit, sqlite_url, store):
    token = people.token(store, kit.Player(store, kit.make(store)).person)
    records = []

    class Kept(logging.Handler):
        def emit(self, record):
            records.append(record.getMessage())

    create_app(store=store)
    log = logging.getLogger("uvicorn.access")
    handler, level = Kept(), log.level
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        line = '%s - "%s %s HTTP/%s" %d'
        for path in (f"/p/{token}", f"/join/{token}?PROLIFIC_PID=me", f"/admin/enter/{token}"):
            log.info(line, "127.0.0.1:1", "GET", path, "1.1", 200)
    finally:
        log.removeHandler(handler)
        log.setLevel(level)
    assert len(records) == 3
    assert not any(token in text or "PID=me" in text for text in records)
    assert HideSecrets.hidden("nothing to hide") == "nothing to hide"
    settings = Settings(admin_password="correct horse", secret_key="a key of ours")
    assert "correct horse" not in repr(settings)
    assert "a key of ours" not in repr(settings)
    secret = Settings(database_url="postgresql://me:hush@localhost/x")
    assert "hush" not in secret.database_name


@pytest.mark.parametrize(
    ("cell", "escaped"),
    [
        ("=1+1", "'=1+1"),
        ("+1", "'+1"),
        ("-2+3", "'-2+3"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t=1"),
        ("  =1", "'  =1"),
        ("\ufeff=1", "'\ufeff=1"),
        ("fine", "fine"),
        (-1.5, -1.5),
        (None, None),
    ],
)
def test_no_cell_is_a_formula(cell, escaped):
    assert escape_cell(cell) == escaped


def test_a_page_that_fails_says_that_nothing_is_lost(app, link, kit, monkeypatch):
    from sqlalchemy.exc import OperationalError

    from karat.studio.services import pages

    def locked(*_, **__):
        raise OperationalError("SELECT 1", {}, Exception("database is locked"))

    def broken(*_, **__):
        raise ZeroDivisionError

    browser = kit.Browser(app)
    monkeypatch.setattr(pages, "page_at", locked)
    answered = browser.get(link)
    assert answered.status == 503
    assert "Nothing is lost" in answered.text
    monkeypatch.setattr(pages, "page_at", broken)
    with pytest.raises(ZeroDivisionError):  # told to the log as well
        browser.get(link)


def test_a_missing_package_is_named_with_its_extra(monkeypatch):
    import sys

    import karat.studio

    monkeypatch.setitem(sys.modules, "argon2", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'karat\[studio\]'"):
        _ = karat.studio.create_app
    with pytest.raises(AttributeError, match="no attribute 'app'"):
        _ = karat.studio.app


# --- where it listens


def test_it_listens_to_others_with_a_password_only():
    assert Settings().host == "127.0.0.1"
    for host in ("0.0.0.0", "::", "192.168.1.5", "study.example.org"):
        with pytest.raises(OptionError, match=r"expected 127\.0\.0\.1, or an admin_password"):
            Settings(host=host)
        assert Settings(host=host, admin_password="correct horse").host == host
    for host in ("localhost", "::1", "127.0.0.5"):
        assert Settings(host=host).host == host


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"admin_password": "short"}, "has 5 characters"),
        ({"database_url": "mysql://me:hush@x/y"}, "database_url is 'mysql://me:[*]+@x/y'"),
        ({"port": 0}, "port is 0"),
        ({"link_days": 0}, "link_days is 0"),
        ({"secure": "yes"}, "secure is 'yes'"),
    ],
)
def test_settings_are_checked(options, words):
    with pytest.raises(OptionError, match=words):
        Settings(**options)


def test_settings_go_through_the_environment():
    settings = Settings(port=81, link_days=2.5, secure=True, public_url="https://a.b/", host="::1")
    assert Settings.from_environment(settings.to_environment()) == settings
    assert settings.base_url == "https://a.b"
    assert Settings(host="::1").base_url == "http://[::1]:8000"
    assert settings.https_only
    assert Settings.from_environment({}) == Settings()
    with pytest.raises(OptionError, match="KARAT_STUDIO_PORT is 'x'"):
        Settings.from_environment({"KARAT_STUDIO_PORT": "x"})


def test_the_result_is_shown_where_the_study_says_so(kit, store):
    texts = []
    for show in (True, False):
        study = kit.make(
            store, show_result=show, max_queries=3, n_evaluation=0, completion_code="CODE-77"
        )
        player = kit.Player(store, study)
        player.go_to("done")
        browser = kit.Browser(create_app(store=store))
        texts.append(browser.get(f"/p/{people.token(store, player.person)}").text)
    assert "What your answers say" in texts[0]
    assert "What your answers say" not in texts[1]
    assert all("CODE-77" in text for text in texts)
    assert results.person_result(store, player.person.id).finished
    assert session.current_step(store, player.person.id).progress == 1.0


def test_double_clicks_back_buttons_and_two_tabs_in_the_browser(browser, player, link):
    player.compare(2)
    first_tab, second_tab = browser.get(link), browser.get(link)
    assert first_tab.body != b""
    assert first_tab.hidden["nonce"] == second_tab.hidden["nonce"]
    n = len(player.log())
    sent = [browser.post(f"{link}/answer", {**first_tab.hidden, "choice": "A"}) for _ in range(2)]
    sent.append(browser.post(f"{link}/answer", {**second_tab.hidden, "choice": "B"}))
    assert [(one.status, one.headers["location"]) for one in sent] == [(303, link)] * 3
    assert len(player.log()) == n + 1
    assert player.log()[-1].payload["choice"] == "A"
    page = browser.get(link)
    assert "Comparison 4" in page.text
    assert browser.get(link).hidden["nonce"] == page.hidden["nonce"]  # reloading
    assert browser.post(f"{link}/undo", first_tab.hidden).status == 303  # of an older page
    assert len(player.log()) == n + 1
    assert browser.post(f"{link}/undo", page.hidden).status == 303
    assert browser.get(link).text.count("Comparison 3") == 1
