"""Limits: how often someone may ask, and how much they may send."""

import threading
from collections import OrderedDict
from collections.abc import Callable

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["BodyLimit", "RateLimit"]

_MOST_KEYS = 50_000


class RateLimit:
    """Lets someone do something so many times a minute, and as often at once.

    A bucket of drops a key: each request takes one, and they come back evenly. Buckets are kept in
    the memory of a worker, the latest ones.

    Parameters
    ----------
    per_minute : int
        How often.
    clock : callable
        Returns seconds.
    """

    def __init__(self, per_minute: int, clock: Callable[[], float]) -> None:
        self.most = float(per_minute)
        self.clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def allows(self, key: str) -> bool:
        """Whether ``key`` may do it once more, now."""
        now = self.clock()
        with self._lock:
            left, when = self._buckets.pop(key, (self.most, now))
            left = min(self.most, left + max(now - when, 0.0) * self.most / 60.0)
            allowed = left >= 1.0
            self._buckets[key] = (left - 1.0 if allowed else left, now)
            if len(self._buckets) > _MOST_KEYS:
                self._buckets.popitem(last=False)
        return allowed


class _TooLargeError(Exception):
    pass


class BodyLimit:
    """Refuses requests with too large a body, whatever length they claim.

    Parameters
    ----------
    app : ASGI application
        What answers.
    most : int
        Most bytes of a body.
    uploads : int
        Most bytes where the path ends in ``/upload``.
    """

    def __init__(self, app: ASGIApp, *, most: int, uploads: int) -> None:
        self.app, self.most, self.uploads = app, most, uploads

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        most = self.uploads if scope["path"].endswith("/upload") else self.most
        seen, started = 0, False

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > most:
                raise _TooLargeError
            return message

        async def watched(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        claimed = dict(scope["headers"]).get(b"content-length", b"0")
        try:
            if claimed.isdigit() and int(claimed) > most:
                raise _TooLargeError
            await self.app(scope, counted, watched)
        except _TooLargeError:
            if started:
                raise
            text = f"This is too large: at most {most:,} bytes can be sent."
            await PlainTextResponse(text, status_code=413)(scope, receive, send)
