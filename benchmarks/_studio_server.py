"""A study server that is killed at chosen moments, and whose workers are then started again.

    python benchmarks/_studio_server.py --database-url sqlite:///study.db --kills 0 1 2

The parent loads everything once and holds the socket; workers are forked. A worker takes the next
of the seeds of ``--kills`` and kills itself with SIGKILL at the moment that the seed draws: one of
`MOMENTS`, at one of the next answers. Requests to a killed worker fail as they would anywhere; the
next worker then serves the same socket. The first line of output is the port.
"""

import argparse
import os
import random
import signal
import socket
import sys
import warnings
from typing import Any

MOMENTS = ("received", "inserting", "committing", "committed", "acknowledged")
SOON = 4  # answers within which a worker is killed


class Killed:
    """Kills its own process at a moment of the n-th answer; never, without a seed."""

    def __init__(self, seed: int | None) -> None:
        draw = random.Random(seed)
        self.moment = None if seed is None else draw.choice(MOMENTS)
        self.left = draw.randint(1, SOON)
        self.answering = False

    def at(self, moment: str) -> None:
        """Kill the process if this is the moment."""
        if self.moment != moment or not self.answering:
            return
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


class Watched:
    """An ASGI application that tells where an answer is on its way."""

    def __init__(self, app: Any, killed: Killed) -> None:
        self.app, self.killed = app, killed

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve a request, and look out for the moment."""
        if scope["type"] != "http" or scope["method"] != "POST":
            await self.app(scope, receive, send)
            return
        self.killed.answering = True
        self.killed.at("received")

        async def told(message: Any) -> None:
            if message["type"] == "http.response.start":
                self.killed.at("committed")
            await send(message)

        await self.app(scope, receive, told)
        self.killed.at("acknowledged")
        self.killed.answering = False


def serve(settings: Any, listening: socket.socket, seed: int | None) -> None:
    """Serve until killed."""
    import uvicorn
    from sqlalchemy import event

    from karat.studio import create_app
    from karat.studio.storage import Store

    killed = Killed(seed)
    store = Store(settings)

    def inserting(conn: Any, cursor: Any, statement: str, *_: Any) -> None:
        if statement.startswith("INSERT INTO log"):
            killed.at("inserting")

    event.listen(store.engine, "before_cursor_execute", inserting)
    event.listen(store.engine, "commit", lambda _: killed.at("committing"))
    app = Watched(create_app(store=store), killed)
    config = uvicorn.Config(app, log_level="error", access_log=False, lifespan="off")
    uvicorn.Server(config).run(sockets=[listening])


def warm_up(settings: Any) -> None:
    """Build what workers share, before they are forked: spaces, and pools of questions."""
    from karat.studio.services import asking, demo, studies
    from karat.studio.storage import Store

    store = Store(settings)
    store.migrate()
    study = demo.ensure_demo(store)
    asked = studies.asked_of(store, study)
    asking.begin(asked, 0).ask()
    for phase in asking.QUIZ_PHASES:
        asking.quiz_of(asked, phase)
    store.close()


def main() -> None:
    """Fork workers, and new ones in place of those that were killed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--database-url", required=True)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--kills", type=int, nargs="*", default=[])
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    from karat.studio import Settings

    settings = Settings(database_url=given.database_url, answers_per_minute=100_000)
    warm_up(settings)
    listening = socket.create_server(("127.0.0.1", 0), backlog=512)
    sys.stdout.write(f"{listening.getsockname()[1]}\n")
    sys.stdout.flush()
    seeds, workers = list(given.kills), set[int]()

    def stop(*_: Any) -> None:
        for pid in workers:
            os.kill(pid, signal.SIGKILL)
        os._exit(0)

    signal.signal(signal.SIGTERM, stop)
    while True:
        while len(workers) < given.workers:
            seed = seeds.pop(0) if seeds else None
            child = os.fork()
            if child == 0:
                signal.signal(signal.SIGTERM, signal.SIG_DFL)
                serve(settings, listening, seed)
                os._exit(0)
            workers.add(child)
        gone, status = os.wait()
        workers.discard(gone)
        if os.WIFSIGNALED(status):
            sys.stdout.write("killed\n")
        else:
            sys.stdout.write(f"ended with {status}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
