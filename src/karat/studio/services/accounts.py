"""Researchers: logging in by a password, or by a link that the server prints at its start."""

import contextlib
import secrets
from typing import Any

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError

from karat.studio.models import Admin
from karat.studio.security import check_password, hash_password, signed, unsigned
from karat.studio.storage import Store

NAME = "admin"
_LINK_SECONDS = 3600.0
_HOUR = 3600.0


def ensure_admin(store: Store) -> None:
    """Make the researcher's account, with the password of the settings if it has changed."""
    password = store.settings.admin_password
    wanted = select(Admin).where(Admin.name == NAME)
    with store.reading() as session:
        known = session.scalars(wanted).first()
    if known is None:
        with contextlib.suppress(IntegrityError), store.writing() as session:
            session.add(Admin(name=NAME, session_version=1))  # another worker may be first
    with store.writing() as session:
        admin = session.scalars(wanted.with_for_update()).one()
        if password is not None and not check_password(admin.password_hash, password):
            admin.password_hash = hash_password(password)
            admin.session_version = admin.session_version + 1  # old sessions end


def log_in(store: Store, name: str, password: str) -> str | None:
    """Return the value of a session cookie; None if name or password is wrong."""
    with store.reading() as session:
        admin = session.scalars(select(Admin).where(Admin.name == name)).first()
    if not check_password(None if admin is None else admin.password_hash, password):
        return None
    assert admin is not None
    return _cookie(store, admin)


def login_token(store: Store) -> str:
    """Return what the link to log in without a password carries, for an hour."""
    return signed(store.secret, "login", [secrets.token_hex(8), store.clock() + _LINK_SECONDS])


def log_in_by_link(store: Store, token: str) -> str | None:
    """Return the value of a session cookie; None if the link is not one or has expired.

    Where there is a password, nobody gets in by a link.
    """
    value: Any = unsigned(store.secret, "login", token)
    good = isinstance(value, list) and len(value) == 2 and isinstance(value[1], int | float)
    if not good or store.clock() > value[1] or store.settings.admin_password is not None:
        return None
    with store.reading() as session:
        admin = session.scalars(select(Admin).where(Admin.name == NAME)).first()
    return None if admin is None else _cookie(store, admin)


def _cookie(store: Store, admin: Admin) -> str:
    until = store.clock() + store.settings.session_hours * _HOUR
    return signed(store.secret, "session", [admin.id, admin.session_version, until])


def by_session(store: Store, cookie: str | None) -> Admin | None:
    """Return the researcher of a session cookie; None if it is not one, or has expired."""
    if not cookie or len(cookie) > 500:
        return None
    value: Any = unsigned(store.secret, "session", cookie)
    if not (isinstance(value, list) and len(value) == 3 and store.clock() <= value[2]):
        return None
    with store.reading() as session:
        admin = session.get(Admin, value[0])
    return admin if admin is not None and admin.session_version == value[1] else None


def log_out(store: Store, admin_id: int) -> None:
    """End all sessions of a researcher."""
    with store.writing() as session:
        admin = session.get(Admin, admin_id)
        if admin is not None:
            admin.session_version += 1
