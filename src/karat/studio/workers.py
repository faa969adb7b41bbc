"""Several processes that serve one study server: ``python -m karat.studio.workers 2``.

Each worker listens on the same port by a socket of its own (``SO_REUSEPORT``), so that the kernel
spreads connections over them; where all accept from one socket, whoever wakes first takes all that
wait.
Settings come from the environment, as `Settings.from_environment` reads them. A worker that is
killed is started again; one that fails by itself (the port is taken, say) would fail again, so all
stop.
"""

import multiprocessing
import signal
import socket
import sys
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from typing import Any

from karat._extras import require
from karat._validate import check_count
from karat.studio.settings import Settings
from karat.studio.storage import Store


def serve(settings: Settings, *, workers: int = 2) -> None:
    """Serve until this process is stopped.

    Parameters
    ----------
    settings : Settings
        How the server runs.
    workers : int, default 2
        Number of processes.
    """
    count = check_count(workers, "workers")
    spawn = multiprocessing.get_context("spawn")
    running: list[BaseProcess] = []

    def stop(*_: Any, code: int = 0) -> None:
        for one in running:
            one.terminate()
        sys.exit(code)

    store = Store(settings)
    store.migrate()  # once, before several would at the same time
    store.close()
    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    while True:
        while len(running) < count:
            one = spawn.Process(target=_work, args=(settings,))
            one.start()
            running.append(one)
        wait([one.sentinel for one in running])
        failed = [one.exitcode for one in running if one.exitcode and one.exitcode > 0]
        if failed:
            stop(code=failed[0])
        running[:] = [one for one in running if one.is_alive()]


def _work(settings: Settings) -> None:
    """Serve in one process, on a socket of its own."""
    from karat.studio import create_app

    uvicorn = require("uvicorn", extra="studio", purpose="karat studio")
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listening = socket.socket(family)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    listening.bind((settings.host, settings.port))
    config = uvicorn.Config(create_app(settings), log_level="warning", access_log=False)
    uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    serve(Settings.from_environment(), workers=int(sys.argv[1]) if len(sys.argv) > 1 else 2)
