"""A server on this machine, someone who is logged in, and a real browser."""

import re
import socket
import threading
from dataclasses import dataclass, replace
from functools import cache

import pytest

pytest.importorskip("fastapi", reason="karat[studio] is not installed")
import httpx
import uvicorn

from karat.studio import Settings, create_app
from karat.studio.services import accounts, demo, people, studies
from karat.studio.services.research import making


class Serving(uvicorn.Server):
    """A server that says when it is ready, so that nobody has to wait for the clock."""

    def __init__(self, config):
        super().__init__(config)
        self.ready = threading.Event()

    async def startup(self, sockets=None):
        await super().startup(sockets=sockets)
        self.ready.set()


demo_of = cache(making.demo_of)  # each trains a model


@dataclass
class Served:
    url: str
    store: object
    app: object

    def study(self, name="Demo", which="cancer", **options):
        """Make a study that asks little unless told otherwise."""
        data, config = demo_of(which)
        little = {"max_queries": 4, "n_evaluation": 2, "quiz": False, "guess": "after"} | options
        config = config.model_copy(
            update={"options": config.options.model_copy(update=little), "post": config.post[:2]}
        )
        return studies.create(self.store, name=name, config=config, data=data)

    def person(self, study, **given):
        """Make a person and return them with the address of their link."""
        person = people.create(self.store, study, **({"seed": 1} | given))
        return person, f"{self.url}/p/{people.token(self.store, person)}"

    def enter(self):
        return f"{self.url}/admin/enter/{accounts.login_token(self.store)}"


@pytest.fixture(scope="session")
def serve(tmp_path_factory):
    """Start servers; all end with the session."""
    running = []

    def start(**options):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        file = tmp_path_factory.mktemp("studio") / "studio.db"
        settings = replace(
            Settings(
                database_url=f"sqlite:///{file}", port=port, logins_per_minute=10_000,
                answers_per_minute=10_000, joins_per_minute=10_000,
            ),
            **options,
        )  # fmt: skip
        app = create_app(settings)
        server = Serving(uvicorn.Config(app, host="127.0.0.1", port=port, log_level="critical"))
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        assert server.ready.wait(60)
        running.append((server, thread))
        return Served(f"http://127.0.0.1:{port}", app.state.store, app)

    yield start
    for server, thread in running:
        server.should_exit = True
        thread.join(20)


@pytest.fixture(scope="session")
def served(serve):
    return serve()


@dataclass
class Researcher:
    http: httpx.Client
    csrf: str

    def get(self, path):
        return self.http.get(path)

    def post(self, path, data=None, **more):
        return self.http.post(path, data={"csrf": self.csrf} | (data or {}), **more)


def csrf_of(page):
    return re.search(r'name="csrf" value="([^"]+)"', page)[1]


@pytest.fixture(scope="session")
def researcher(served):
    """Someone who is logged in."""
    with httpx.Client(base_url=served.url, follow_redirects=True, timeout=60) as http:
        page = http.get(served.enter())
        assert page.url.path == "/admin"
        yield Researcher(http, csrf_of(page.text))


PHONE = {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"}
DESK = {"viewport": {"width": 1200, "height": 900}, "color_scheme": "light"}


@pytest.fixture
def opened(chromium):
    """Open a window; every message of the console must be expected."""
    contexts = []

    def window(phone=False, **options):
        context = chromium.new_context(**(PHONE if phone else DESK), **options)
        context.set_default_timeout(20_000)
        contexts.append(context)
        page = context.new_page()
        page.said = []
        page.on("console", lambda message: page.said.append(message.text))
        page.on("pageerror", lambda error: page.said.append(str(error)))
        return page

    yield window
    for context in contexts:
        context.close()


@pytest.fixture(scope="session")
def demo_study(served):
    return demo.ensure_demo(served.store)
