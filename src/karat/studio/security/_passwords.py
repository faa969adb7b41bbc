"""Passwords, as argon2 hashes them."""

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError

__all__ = ["check_password", "hash_password"]

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
