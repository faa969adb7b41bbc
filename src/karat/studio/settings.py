"""How the study server runs: where its data are, where it listens, and its limits."""

import ipaddress
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any
from urllib.parse import urlsplit

from karat._validate import check_count, check_flag, check_number, refuse_option
from karat.exceptions import OptionError

_PREFIX = "KARAT_STUDIO_"
_READ: dict[str, Any] = {
    str(int): int,
    str(float): float,
    str(bool): lambda text: text.lower() in ("1", "true", "yes"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of a study server.

    Parameters
    ----------
    database_url : str, default "sqlite:///karat-studio.db"
        Where studies and answers are kept: a SQLite file, or ``postgresql://user@host/name``.
    host : str, default "127.0.0.1"
        Address to listen on. Any other than this machine's own needs an ``admin_password``.
    port : int, default 8000
        Port to listen on.
    admin_password : str, optional
        Password of the researcher, hashed by argon2 before it is kept. Without one there is a
        signed link to log in with, which is only printed where the server is started.
    secret_key : str, optional
        What links, cookies and forms are signed with; by default one that the database keeps, so
        that all workers have the same.
    public_url : str, optional
        How people reach the server, such as ``https://study.example.org``: links start with it, and
        cookies are sent by HTTPS only where it says so.
    link_days : float, default 30
        Days after which a person's link expires.
    max_upload : int, default 20000000
        Most bytes of a file of predictions.
    upload_seconds : float, default 30
        Seconds that reading a file may take, in a process of its own.
    joins_per_minute, logins_per_minute : int, default 600 and 10
        Requests of these kinds that one address may make in a minute, in each worker.
    answers_per_minute : int, default 240
        Requests that one person may make in a minute, in each worker.
    session_hours : float, default 12
        Hours after which the researcher has to log in again.
    secure : bool, default False
        Whether cookies are sent by HTTPS only although ``public_url`` does not say so.
    """

    database_url: str = "sqlite:///karat-studio.db"
    host: str = "127.0.0.1"
    port: int = 8000
    admin_password: str | None = field(default=None, repr=False)
    secret_key: str | None = field(default=None, repr=False)
    public_url: str | None = None
    link_days: float = 30.0
    max_upload: int = 20_000_000
    upload_seconds: float = 30.0
    joins_per_minute: int = 600
    logins_per_minute: int = 10
    answers_per_minute: int = 240
    session_hours: float = 12.0
    secure: bool = False

    def __post_init__(self) -> None:
        """Check the settings; refuse an open address without a password."""
        check_count(self.port, "port")
        for name in ("max_upload", "joins_per_minute", "logins_per_minute", "answers_per_minute"):
            check_count(getattr(self, name), name)
        for name in ("link_days", "upload_seconds", "session_hours"):
            check_number(getattr(self, name), name, above=0.0)
        check_flag(self.secure, "secure")
        if not self.database_url.startswith(("sqlite:///", "postgresql")):
            expected = "sqlite:///file or postgresql://user@host/name"
            refuse_option(self.database_name, "database_url", expected)
        if self.admin_password is not None and len(self.admin_password) < 8:
            raise OptionError(
                f"admin_password has {len(self.admin_password)} characters; expected at least 8"
            )
        if self.admin_password is None and not is_loopback(self.host):
            expected = "127.0.0.1, or an admin_password with an address that others can reach"
            refuse_option(self.host, "host", expected)

    @classmethod
    def from_environment(cls, environ: Mapping[str, str] | None = None) -> "Settings":
        """Read the settings from variables such as ``KARAT_STUDIO_DATABASE_URL``.

        Parameters
        ----------
        environ : mapping, optional
            The variables; by default those of the process.
        """
        given = os.environ if environ is None else environ
        known: dict[str, Any] = {}
        for one in fields(cls):
            text = given.get(f"{_PREFIX}{one.name.upper()}")
            if text is None:
                continue
            try:
                known[one.name] = _READ.get(str(one.type), str)(text)
            except ValueError as error:
                name = f"{_PREFIX}{one.name.upper()}"
                raise OptionError(f"{name} is {text!r}; expected {one.type}") from error
        return cls(**known)

    def to_environment(self) -> dict[str, str]:
        """Return the variables from which `from_environment` reads the same settings."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        return {
            f"{_PREFIX}{name.upper()}": str(value)
            for name, value in values.items()
            if value is not None
        }

    @property
    def https_only(self) -> bool:
        """Whether cookies may be sent by HTTPS only."""
        return self.secure or (self.public_url or "").startswith("https:")

    @property
    def base_url(self) -> str:
        """What links start with, without a slash at the end."""
        if self.public_url is not None:
            return self.public_url.rstrip("/")
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"

    @property
    def database_name(self) -> str:
        """The database without its password, to be shown."""
        password = urlsplit(self.database_url).password
        hidden = self.database_url.replace(f":{password}@", ":***@")
        return self.database_url if password is None else hidden


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
