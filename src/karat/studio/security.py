"""Tokens, passwords, headers and limits: what keeps people's data from others.

Nothing in here knows a table. Tokens are signed and kept hashed, passwords are hashed by argon2,
and neither is ever logged.
"""

import hashlib
import logging
import re
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError
from itsdangerous import BadData, URLSafeSerializer, URLSafeTimedSerializer
from starlette.datastructures import MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
        "object-src 'none'"
    ),
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


class SecurityHeaders:
    """Adds the headers to every answer; pages of people are not kept by any cache.

    Parameters
    ----------
    app : ASGI application
        What answers.
    https : bool
        Whether browsers are told to come back by HTTPS only.
    """

    def __init__(self, app: ASGIApp, *, https: bool = False) -> None:
        self.app = app
        self.headers = dict(HEADERS)
        if https:
            self.headers["Strict-Transport-Security"] = "max-age=31536000"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request, as ASGI has it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        static = scope["path"].startswith("/static/")

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self.headers.items():
                    headers[name] = value
                if not static:
                    headers["Cache-Control"] = "no-store"
            await send(message)

        await self.app(scope, receive, with_headers)


# --- Limits: how often someone may ask, and how much they may send.

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
        """Handle a request, as ASGI has it."""
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


_PATHS = re.compile(r"(/(?:p|join|enter)/|[?&](?:key|token|PROLIFIC_PID)=)[^/\s?&\"']+")


class HideSecrets(logging.Filter):
    """A filter of logs that takes the tokens out of addresses.

    >>> HideSecrets.hidden("GET /p/abc.def/answer and /admin/enter/xyz?token=uvw")
    'GET /p/***/answer and /admin/enter/***?token=***'
    """

    @staticmethod
    def hidden(text: str) -> str:
        """Return a text without tokens."""
        return _PATHS.sub(r"\1***", text)

    def filter(self, record: logging.LogRecord) -> bool:
        """Take the tokens out of a record, and let it pass."""

        def clean(value: Any) -> Any:
            return self.hidden(value) if isinstance(value, str) else value

        record.msg = clean(record.msg)
        if isinstance(record.args, tuple):
            record.args = tuple(clean(value) for value in record.args)
        return True


# --- Passwords, as argon2 hashes them.

_hasher = PasswordHasher()
# Compared with where there is no such researcher, so that both answers take equally long.
_NOBODY = _hasher.hash("nobody")


def hash_password(password: str) -> str:
    """Return what is kept of a password."""
    return _hasher.hash(password)


def check_password(kept: str | None, password: str) -> bool:
    """Whether a password is the one whose hash was kept."""
    try:
        return _hasher.verify(kept or _NOBODY, password) and kept is not None
    except (Argon2Error, InvalidHashError):
        return False


# --- Signed tokens: for links, cookies and forms.

_CSRF_SECONDS = 7 * 24 * 3600.0


def new_nonce() -> str:
    """Return a number that is used once."""
    return secrets.token_hex(16)


def hashed(token: str) -> str:
    """Return what is kept of a token: who reads the database cannot use it."""
    return hashlib.sha256(token.encode()).hexdigest()


def signed(secret: str, purpose: str, value: Any) -> str:
    """Return a value as text that nobody else can write; the same value gives the same text."""
    return str(URLSafeSerializer(secret, salt=f"karat.studio.{purpose}").dumps(value))


def unsigned(secret: str, purpose: str, token: str) -> Any:
    """Return the value of a signed text; None if it was not signed here, for this purpose."""
    try:
        return URLSafeSerializer(secret, salt=f"karat.studio.{purpose}").loads(token)
    except (BadData, ValueError, TypeError):
        return None


def csrf_token(secret: str, subject: str) -> str:
    """Return what a form of someone's must carry, so that no other site can post it."""
    return str(URLSafeTimedSerializer(secret, salt="karat.studio.csrf").dumps(hashed(subject)[:32]))


def check_csrf(secret: str, subject: str, token: str | None) -> bool:
    """Whether a form carries what `csrf_token` gave the same person in the last week."""
    if not token or len(token) > 300:
        return False
    serializer = URLSafeTimedSerializer(secret, salt="karat.studio.csrf")
    try:
        value, when = serializer.loads(token, return_timestamp=True)
    except (BadData, ValueError, TypeError):
        return False
    fresh = time.time() - when.timestamp() <= _CSRF_SECONDS
    return fresh and secrets.compare_digest(str(value), hashed(subject)[:32])
