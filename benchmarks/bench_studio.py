"""The study server under load, and killed: p95 of answers, counts, and what a SIGKILL loses.

Usage: python benchmarks/bench_studio.py [--people N] [--answers N] [--think SECONDS]
       python benchmarks/bench_studio.py --kill [--kills N]

The load is that of people who look at a pair for a while, answer, and get the next one: a POST and
the GET that it redirects to, timed together, on this machine only. With ``--database-url`` a
PostgreSQL database takes the place of a new SQLite file.
"""

import argparse
import asyncio
import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
from _studio_client import Browser, answer_all, begin, chooser, problems

from karat.studio import Settings
from karat.studio.services import demo, people
from karat.studio.storage import Store

HERE = Path(__file__).parent
LIMIT = 0.5  # seconds that 95 of 100 answers may take at most
FIELDS = re.compile(rb'<input type="hidden" name="(\w+)" value="([^"]*)"')


class Line:
    """A connection that is kept: requests are written and answers read, without a library."""

    def __init__(self, port: int) -> None:
        self.port = port

    async def ask(self, head: bytes, body: bytes = b"") -> tuple[int, bytes]:
        """Send a request; return status and body."""
        if not hasattr(self, "reader"):
            self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        self.writer.write(head + body)
        status = int((await self.reader.readline()).split()[1])
        length = 0
        while (line := await self.reader.readline()) not in (b"\r\n", b""):
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        return status, await self.reader.readexactly(length)

    async def get(self, path: str) -> bytes:
        """Load a page."""
        status, text = await self.ask(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        assert status == 200, (status, text[:300])
        return text

    async def post(self, path: str, form: dict[str, str]) -> int:
        """Post a form; return the status."""
        body = urlencode(form).encode()
        head = (
            f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded"
            f"\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        return (await self.ask(head.encode(), body))[0]


async def person(port: int, token: str, answers: int, think: float, rng: random.Random) -> list:
    """Answer as one person does; return how long each answer and its next page took."""
    line, path, took = Line(port), f"/p/{token}", []
    await asyncio.sleep(rng.random() * think)
    page = await line.get(path)
    for _ in range(answers):
        await asyncio.sleep(think * rng.uniform(0.5, 1.5))
        fields = {name.decode(): value.decode() for name, value in FIELDS.findall(page)}
        start = time.perf_counter()
        # More often the first system: as good as any answer, and the same for every person.
        choice = "A" if rng.random() < 0.6 else "B"
        status = await line.post(f"{path}/answer", {**fields, "choice": choice})
        assert status == 303, status
        page = await line.get(path)
        took.append(time.perf_counter() - start)
    line.writer.close()
    return took


def started(settings: Settings, workers: int) -> tuple[subprocess.Popen, int]:
    """Start the server as it is started for people; wait until it answers."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-W", "ignore", "-m", "karat.studio.workers", str(workers)]
    settings = replace(settings, port=port)
    one_thread = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    env = {**os.environ, **settings.to_environment(), **one_thread}
    server = subprocess.Popen(command, env=env, start_new_session=True)
    while True:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/nowhere", timeout=5)
        except urllib.error.HTTPError:
            return server, port
        except OSError:
            time.sleep(0.1)


def spent_by(group: int) -> float:
    """Return the seconds of processor time of all processes of a group, as Linux counts them."""
    ticks = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended
        if int(fields[2]) == group:
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def load(url: str, n_people: int, answers: int, think: float, workers: int) -> bool:
    """Let people answer at once; print the times and whether every answer is there once."""
    settings = Settings(database_url=url)
    store = Store(settings)
    store.migrate()
    study = demo.ensure_demo(store)
    # Longer than any person answers here, so that all of it is adaptive.
    made = [begin(store, study, seed) for seed in range(n_people)]
    tokens = [people.token(store, one) for one in made]
    server, port = started(settings, workers)
    try:
        for one in made[: 4 * workers]:  # every worker builds the space before the clock starts
            Browser(port, people.token(store, one)).page()

        async def everyone() -> list[list[float]]:
            return await asyncio.gather(
                *(
                    person(port, token, answers, think, random.Random(i))
                    for i, token in enumerate(tokens)
                )
            )

        before = [len(people.log_of(store, one.id)) for one in made]
        start, mine, theirs = time.perf_counter(), time.process_time(), spent_by(server.pid)
        took = np.concatenate(asyncio.run(everyone()))
        wall, mine = time.perf_counter() - start, time.process_time() - mine
        theirs = spent_by(server.pid) - theirs
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.wait()
    after = [len(people.log_of(store, one.id)) for one in made]
    exact = all(b - a == answers for a, b in zip(before, after, strict=True))
    p50, p95, p99 = np.quantile(took, [0.5, 0.95, 0.99])
    good = bool(p95 < LIMIT and exact)
    print(
        f"{n_people} people, {answers} answers each, {think:g} s of thought, {workers} workers: "
        f"p50 {1e3 * p50:.0f} ms, p95 {1e3 * p95:.0f} ms (limit {1e3 * LIMIT:.0f}), p99 "
        f"{1e3 * p99:.0f} ms, most {1e3 * took.max():.0f} ms; {len(took) / wall:.0f} answers a "
        f"second; {len(took)} answers, counts {'exact' if exact else 'WRONG'}; processor time of "
        f"the server {1e3 * theirs / len(took):.1f} ms an answer, of the people "
        f"{1e3 * mine / len(took):.1f} ms: {'kept' if good else 'MISSED'}"
    )
    return good


def kill(url: str, kills: int) -> bool:
    """Kill workers at seeded moments while people answer; print what was lost."""
    command = [sys.executable, str(HERE / "_studio_server.py"), "--database-url", url, "--kills"]
    server = subprocess.Popen(
        [*command, *map(str, range(kills))], stdout=subprocess.PIPE, text=True
    )
    assert server.stdout is not None
    port = int(server.stdout.readline())
    store = Store(Settings(database_url=url))
    study = demo.ensure_demo(store)
    seed, sent, wrong, n_killed = 0, [], [], 0
    try:
        while n_killed < kills:
            one = begin(store, study, seed)
            browser = Browser(port, people.token(store, one))
            done = answer_all(browser, chooser(store, study, one.id, 1.0 + seed), most=60)
            wrong += problems(store, one.id, done)
            sent += done
            seed += 1
            os.set_blocking(server.stdout.fileno(), False)
            n_killed += sum(line == "killed\n" for line in server.stdout.readlines())
    finally:
        server.terminate()
        server.wait()
    lost = sum(not one.acknowledged for one in sent)
    print(
        f"{n_killed} workers killed in {len(sent)} answers of {seed} people: {lost} not "
        f"acknowledged, {len(wrong)} problems: {'kept' if not wrong else 'MISSED'}"
    )
    for line in wrong:
        print(f"  {line}")
    return not wrong


def main() -> None:
    """Run one of both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=200)
    parser.add_argument("--answers", type=int, default=20)
    parser.add_argument("--think", type=float, default=3.0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--kill", action="store_true")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--database-url")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="karat-studio-") as folder:
        url = given.database_url or f"sqlite:///{folder}/study.db"
        if given.kill:
            good = kill(url, given.kills)
        else:
            good = load(url, given.people, given.answers, given.think, given.workers)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
