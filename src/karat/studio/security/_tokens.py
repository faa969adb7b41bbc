"""Signed tokens: for links, cookies and forms."""

import hashlib
import secrets
import time
from typing import Any

from itsdangerous import BadData, URLSafeSerializer, URLSafeTimedSerializer

__all__ = ["check_csrf", "csrf_token", "hashed", "new_nonce", "signed", "unsigned"]

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
