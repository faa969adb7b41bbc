"""A store over SQLite or PostgreSQL, a small study, people who play it, and a browser."""

import asyncio
import re
import secrets
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from urllib.parse import urlencode, urlsplit

import numpy as np
import pytest

pytest.importorskip("fastapi", reason="the extra studio is not installed")

from sqlalchemy import create_engine, text

from karat.datasets import LogisticLaw
from karat.elicit import MetricOracle
from karat.metrics import cost_matrix
from karat.studio import Settings, create_app
from karat.studio.data import StudyData
from karat.studio.schemas import StudyConfig
from karat.studio.services import asking, people, session, studies
from karat.studio.storage import Store

START = 1_700_000_000.0


class Clock:
    """A clock that tests move."""

    def __init__(self):
        self.now = START

    def __call__(self):
        return self.now


def binary_data(n=400, classes=("benign", "malignant")):
    law = LogisticLaw.binary(5.0)
    x, y = law.sample(n, rng=0)
    return StudyData(codes=y, values=law.proba(x)[:, 1], classes=classes)


def grouped_data(n=900, k=2, m=2):
    rng = np.random.default_rng(0)
    codes, members = rng.integers(0, k, n), rng.integers(0, m, n)
    logits = rng.normal(size=(n, k)) + (1.0 + 0.5 * members)[:, None] * np.eye(k)[codes]
    proba = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    return StudyData(
        codes=codes,
        values=proba,
        classes=tuple("abcdef"[:k]),
        members=members,
        groups=tuple(f"group {g}" for g in range(m)),
    )


def config(**options):
    known = {"guess": "after", **options}
    return StudyConfig.model_validate({"options": known})


# --- databases


@pytest.fixture
def postgres_url(postgres):
    """The URL of an empty database."""
    name = f"karat_{secrets.token_hex(6)}"
    plain = postgres.replace("postgresql://", "postgresql+psycopg://")
    server = create_engine(plain, isolation_level="AUTOCOMMIT")
    with server.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    yield postgres.replace("/postgres?", f"/{name}?")
    with server.connect() as connection:
        connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
    server.dispose()


@pytest.fixture
def sqlite_url(tmp_path):
    return f"sqlite:///{tmp_path}/study.db"


@pytest.fixture(params=["sqlite", "postgresql"])
def any_url(request):
    """The URL of an empty database of both kinds."""
    return request.getfixturevalue("sqlite_url" if request.param == "sqlite" else "postgres_url")


def opened(url, **settings):
    store = Store(Settings(database_url=url, **settings), clock=Clock())
    store.migrate()
    return store


@pytest.fixture
def store(sqlite_url):
    kept = opened(sqlite_url)
    yield kept
    kept.close()


@pytest.fixture
def any_store(any_url):
    kept = opened(any_url)
    yield kept
    kept.close()


@pytest.fixture
def study(store):
    return studies.create(store, name="A study", config=config(), data=binary_data())


# --- people


class Player:
    """Plays a study through its services: answers by a metric, and every quiz rightly."""

    def __init__(self, store, study, *, ratio=6.0, flip=0.0, seed=0, metric=None, kind="person"):
        self.store, self.study = store, study
        self.person = people.create(store, study, seed=seed, kind=kind)
        self.asked = studies.asked_of(store, study)
        costs = cost_matrix([[0, 1], [ratio, 0]])
        self.oracle = MetricOracle(metric or costs, flip=flip, rng=seed)

    @property
    def here(self):
        return session.current_step(self.store, self.person.id)

    def choice(self, here):
        said = self.oracle(asking.query_of(here.page))
        shown = {"first": "A", "second": "B"}.get(said, said)
        return {"A": "B", "B": "A"}.get(shown, shown) if here.page["swapped"] else shown

    def form(self, here):
        phase = here.phase
        if phase == "consent":
            return {"agree": ["yes"]}
        if phase in asking.QUIZ_PHASES:
            return {key.name: [str(key.key)] for key in asking.quiz_of(self.asked, phase).keys}
        if phase == "guess":
            return {field.name: ["3"] for field in asking.guess_fields(self.asked)}
        if phase in ("comparison", "evaluation"):
            return {"choice": [self.choice(here)], "client_ms": ["1500"]}
        return {}

    def send(self, form=None, here=None, store=None):
        here = here or self.here
        at = {"seq": here.person.seq, "nonce": here.person.nonce}
        sent = self.form(here) if form is None else form
        return session.answer(store or self.store, self.person.id, **at, form=sent)

    def undo(self, here=None):
        here = here or self.here
        at = {"seq": here.person.seq, "nonce": here.person.nonce}
        return session.undo(self.store, self.person.id, **at)

    def go_to(self, phase):
        """Answer until a phase begins."""
        while (here := self.here).phase != phase:
            assert here.phase != "done", f"{phase} never came"
            outcome = self.send(here=here)
            assert outcome.accepted, (here.phase, outcome)
        return here

    def compare(self, n):
        """Answer n comparisons, from wherever the person is."""
        self.go_to("comparison")
        for _ in range(n):
            assert self.send().accepted

    def log(self, **options):
        return people.log_of(self.store, self.person.id, **options)


@pytest.fixture
def player(store, study):
    return Player(store, study)


# --- a browser


HIDDEN = re.compile(r'<input type="hidden" name="(\w+)" value="([^"]*)"')


class Answered:
    """What a request was answered with."""

    def __init__(self, status, headers, body):
        self.status, self.body = status, body
        self.headers = {name.decode().lower(): value.decode() for name, value in headers}
        self.text = body.decode("utf-8", "replace")

    @property
    def hidden(self):
        """The hidden fields of the page's first form."""
        first = self.text.partition("</form>")[0]
        return dict(HIDDEN.findall(first))


class Browser:
    """Sends requests to the application itself, without a network."""

    def __init__(self, app):
        self.app, self.cookies = app, {}

    def ask(self, method, url, *, form=None, body=b"", headers=None):
        parts = urlsplit(url)
        known = {"host": "127.0.0.1:8000", **(headers or {})}
        if form is not None:
            body = urlencode(form, doseq=True, encoding="utf-8", errors="surrogatepass").encode()
            known["content-type"] = "application/x-www-form-urlencoded"
        if self.cookies:
            known["cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        if body:
            known.setdefault("content-length", str(len(body)))
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method,
            "scheme": "http", "path": parts.path, "raw_path": parts.path.encode(),
            "query_string": parts.query.encode(), "root_path": "", "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 8000),
            "headers": [(n.lower().encode(), v.encode("latin-1")) for n, v in known.items()],
        }  # fmt: skip
        # In a thread of its own: a real browser that is open in this one keeps a loop running.
        with ThreadPoolExecutor(1) as apart:
            answered = apart.submit(lambda: asyncio.run(_call(self.app, scope, body))).result()
        for name, value in answered[1]:
            if name.lower() == b"set-cookie":
                cookie = value.decode().partition(";")[0].partition("=")
                self.cookies[cookie[0]] = cookie[2]
        return Answered(*answered)

    def get(self, url, **options):
        return self.ask("GET", url, **options)

    def post(self, url, form=None, **options):
        return self.ask("POST", url, form=form if form is not None else {}, **options)


async def _call(app, scope, body):
    sent, parts, seen = False, [], {}

    async def receive():
        nonlocal sent
        if sent:
            return {"type": "http.disconnect"}
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message):
        if message["type"] == "http.response.start":
            seen.update(message)
        elif message["type"] == "http.response.body":
            parts.append(message.get("body", b""))

    await app(scope, receive, send)
    return seen["status"], list(seen["headers"]), b"".join(parts)


@pytest.fixture
def app(store):
    return create_app(store=store)


@pytest.fixture
def browser(app):
    return Browser(app)


@pytest.fixture
def link(store, player):
    return f"/p/{people.token(store, player.person)}"


@pytest.fixture(scope="session")
def kit():
    """What tests build with: people, browsers, data and configurations."""

    def make(store, data=None, **options):
        known = binary_data() if data is None else data
        return studies.create(store, name="A study", config=config(**options), data=known)

    return SimpleNamespace(
        Player=Player,
        Browser=Browser,
        opened=opened,
        config=config,
        binary_data=binary_data,
        grouped_data=grouped_data,
        make=make,
        START=START,
    )
