"""Tokens, passwords, headers and limits: what keeps people's data from others.

Nothing in here knows a table. Tokens are signed and kept hashed, passwords are hashed by argon2,
and neither is ever logged.
"""

from karat.studio.security._csv import escape_cell
from karat.studio.security._headers import HEADERS, SecurityHeaders
from karat.studio.security._limits import BodyLimit, RateLimit
from karat.studio.security._logs import HideSecrets
from karat.studio.security._passwords import check_password, hash_password
from karat.studio.security._tokens import (
    check_csrf,
    csrf_token,
    hashed,
    new_nonce,
    signed,
    unsigned,
)

__all__ = [
    "HEADERS",
    "BodyLimit",
    "HideSecrets",
    "RateLimit",
    "SecurityHeaders",
    "check_csrf",
    "check_password",
    "csrf_token",
    "escape_cell",
    "hash_password",
    "hashed",
    "new_nonce",
    "signed",
    "unsigned",
]
