"""Take the screenshots of docs/how-to/study.md: ``python tools/studio_screenshots.py``.

A server on this machine, simulated people who take longer where two sides are close, and Debian's
Chromium. The pictures go to docs/images.
"""

import shutil
import tempfile
import threading
import time
from io import BytesIO
from pathlib import Path
from typing import Any

import uvicorn
from PIL import Image
from playwright.sync_api import Page, sync_playwright

from karat.elicit import MetricOracle, Query
from karat.metrics import cost_matrix
from karat.studio import Settings, create_app
from karat.studio.services import accounts, demo, people, session, studies
from karat.studio.services.research import bots
from karat.studio.storage import Store

IMAGES = Path(__file__).parents[1] / "docs" / "images"
PORT = 8766
URL = f"http://127.0.0.1:{PORT}"
RATIOS = (2.0, 3.0, 4.0, 6.0, 6.0, 8.0, 10.0, 15.0)


class Clock:
    """A clock that simulated people move on."""

    now = time.time()

    def __call__(self) -> float:
        """Return the seconds since 1970."""
        return self.now


class Thinking(MetricOracle):
    """Someone who takes longer where both sides are close."""

    clock: Clock

    def __call__(self, query: Query) -> Any:
        """Answer, and let the time pass that it takes."""
        worth = abs(float(self.metric(query.first)) - float(self.metric(query.second)))
        self.clock.now += float(2 + 6 / (1 + 40 * worth) * self.rng.lognormal(0, 0.4))
        return super().__call__(query)


def oracle(clock: Clock, ratio: float, seed: int) -> Thinking:
    """Return someone to whom a miss is as bad as ``ratio`` false alarms."""
    person = Thinking(cost_matrix([[0, 1], [ratio, 0]]), flip=0.05, rng=seed)
    person.clock = clock
    return person


def save(page: Page, name: str, selector: str = "main") -> None:
    """Write a picture of a part of the page, in few colours."""
    shot = Image.open(BytesIO(page.locator(selector).first.screenshot()))
    shot.convert("RGB").quantize(96).save(IMAGES / f"studio-{name}.png", optimize=True)


def person_at(store: Store, study: Any, phase: str, clock: Clock) -> str:
    """Return the link of someone who has come to a page."""
    person = people.create(store, study, seed=3)
    someone = oracle(clock, 6.0, 0)
    while (here := session.current_step(store, person.id)) is not None and here.phase != phase:
        bots.play_page(store, here, someone, guess=6.0)
    return f"{URL}/p/{people.token(store, person)}"


def with_options(store: Store, name: str, **options: Any) -> Any:
    """Return the demo with other options."""
    config = demo.demo_config()
    changed = config.options.model_copy(update=options)
    return studies.create(
        store,
        name=name,
        config=config.model_copy(update={"options": changed}),
        data=demo.demo_data(),
    )


def take(page: Page, phone: Page, store: Store, study: Any, clock: Clock) -> None:
    """Take all pictures."""
    at = f"{URL}/admin/studies/{study.id}"
    page.goto(f"{URL}/admin/enter/{accounts.login_token(store)}")
    page.goto(f"{at}/boundary")
    save(page, "g1")
    page.goto(person_at(store, with_options(store, "10,000", out_of=10_000), "comparison", clock))
    save(page, "g2", "figure")
    switches = with_options(
        store, "Switches", views=("flow", "bars", "errors"), guess="before", quiz=True
    )
    link = person_at(store, switches, "comparison", clock)
    page.goto(link)
    save(page, "g3")
    for name, query in (("g4", "view=errors"), ("g4-bars", "view=bars"), ("g8", "rates=1")):
        page.goto(f"{link}?{query}")
        save(page, name, "figure")
    phone.goto(link)
    phone.screenshot(path=IMAGES / "studio-phone.png")
    shot = Image.open(IMAGES / "studio-phone.png").convert("RGB").quantize(96)
    shot.save(IMAGES / "studio-phone.png", optimize=True)
    page.goto(person_at(store, switches, "comparing", clock))
    save(page, "g6", "form")
    page.goto(person_at(store, switches, "guess", clock))
    save(page, "g7")
    page.goto(person_at(store, switches, "task", clock))
    save(page, "g9")
    page.goto(f"{at}?show=bots")
    page.locator("section", has_text="Do people hesitate").first.scroll_into_view_if_needed()
    save(page, "g5", "section:has(h2:text('Do people hesitate'))")
    save(page, "dashboard", 'section:has(h2:text("Each person\'s metric"))')
    save(page, "agreement", "section:has(h2:text('Does the metric predict'))")


def main() -> None:
    """Serve, simulate, take the pictures."""
    folder = Path(tempfile.mkdtemp())
    clock = Clock()
    settings = Settings(database_url=f"sqlite:///{folder}/studio.db", port=PORT)
    store = Store(settings, clock=clock)
    app = create_app(store=store)
    study = demo.ensure_demo(store)
    for number, ratio in enumerate(RATIOS):
        person = people.create(store, study, label=f"bot {number + 1}", kind="bot", seed=number)
        bots.play_one(store, person, oracle(clock, ratio, number), guess=ratio)
    server = uvicorn.Server(uvicorn.Config(app, port=PORT, log_level="warning"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.05)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 1000, "height": 800}, color_scheme="light")
        phone = browser.new_page(viewport={"width": 390, "height": 844}, color_scheme="dark")
        take(page, phone, store, study, clock)
        browser.close()
    server.should_exit = True
    thread.join(10)
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
