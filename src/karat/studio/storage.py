"""Where everything is kept: one `Store` a process, over SQLite or PostgreSQL.

``store.reading()`` and ``store.writing()`` give sessions; what is written is on disk when the block
ends. ``store.migrate()`` brings an older database up to date.
"""

import contextlib
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from alembic.config import Config
from alembic.runtime.environment import EnvironmentContext
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, create_engine, event, inspect, text
from sqlalchemy.exc import DatabaseError, IntegrityError, OperationalError
from sqlalchemy.orm import Session

from karat._files import version_error
from karat.exceptions import DataError
from karat.studio.models import Base, Meta
from karat.studio.settings import Settings

_WAIT_MS = 20_000  # that a writer waits for another one before it gives up
_PRAGMAS = (
    "PRAGMA journal_mode=WAL",  # readers and one writer do not wait for each other
    f"PRAGMA busy_timeout={_WAIT_MS}",
    "PRAGMA foreign_keys=ON",
    "PRAGMA synchronous=FULL",  # what is committed survives a loss of power, too
    "PRAGMA secure_delete=ON",  # what a person withdraws is overwritten
)


class Store:
    """The database of a server, and the clock by which links expire.

    Parameters
    ----------
    settings : Settings
        Where the database is, and the limits that services keep to.
    clock : callable, optional
        Returns the seconds since 1970.
    """

    def __init__(self, settings: Settings, *, clock: Callable[[], float] = time.time) -> None:
        self.settings = settings
        self.clock = clock
        self.engine = _engine(settings.database_url)
        self._writing = self.engine.execution_options(immediate=True)
        # What a page is made of belongs together; SQLite reads like that by itself.
        level = {} if self._sqlite else {"isolation_level": "REPEATABLE READ"}
        self._reading = self.engine.execution_options(**level)
        # SQLite lets one write at a time, and whoever waits looks again after up to 100 ms. Threads
        # of this process take turns here at once, so that only processes wait like that.
        self._turn = threading.Lock() if self._sqlite else contextlib.nullcontext()
        self._secret: str | None = settings.secret_key

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """Give a session that changes nothing."""
        with Session(self._reading, expire_on_commit=False) as session:
            yield session

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """Give a session whose changes are on disk when the block ends, or none if it fails."""
        with (
            self._turn,
            Session(self._writing, expire_on_commit=False) as session,
            session.begin(),
        ):
            yield session

    def migrate(self) -> None:
        """Make the tables, or bring those of an older version up to date."""
        migrate(self.engine)

    @property
    def _sqlite(self) -> bool:
        return self.engine.dialect.name == "sqlite"

    @property
    def secret(self) -> str:
        """The key that links, cookies and forms are signed with; the same in all workers."""
        if self._secret is None:
            self._secret = self._kept_secret() or self._new_secret()
        return self._secret

    def _kept_secret(self) -> str | None:
        with self.reading() as session:
            kept = session.get(Meta, "secret")
        return None if kept is None else kept.value

    def _new_secret(self) -> str:
        value = secrets.token_urlsafe(32)
        try:
            with self.writing() as session:
                session.add(Meta(name="secret", value=value))
        except IntegrityError:  # another worker was first
            value = self._kept_secret() or value
        return value

    def forget_deleted(self) -> None:
        """Remove what was deleted from SQLite's log of changes as well."""
        if self._sqlite:
            with self.engine.connect() as connection:
                connection.execution_options(isolation_level="AUTOCOMMIT")
                connection.execute(text("PRAGMA wal_checkpoint(TRUNCATE)"))

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()


def _engine(url: str) -> Engine:
    """Return the engine of a database; what people sent is in no message of an error."""
    if not url.startswith("sqlite"):
        # psycopg 3, whichever way the URL is written.
        plain = url.replace("postgresql+psycopg://", "postgresql://")
        url = plain.replace("postgresql://", "postgresql+psycopg://")
        return create_engine(
            url, pool_size=10, max_overflow=30, pool_pre_ping=True, hide_parameters=True
        )
    engine = create_engine(
        url, connect_args={"check_same_thread": False}, max_overflow=40, hide_parameters=True
    )
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: Any, _: Any) -> None:
    connection.isolation_level = None  # transactions begin where `_begin_sqlite` says
    cursor = connection.cursor()
    for line in _PRAGMAS:
        cursor.execute(line)
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    # A writer takes the lock at once: a lock taken in the middle of a transaction may fail.
    options = connection.get_execution_options()
    connection.exec_driver_sql("BEGIN IMMEDIATE" if options.get("immediate") else "BEGIN")


REVISION = "0004"  # of the tables that this version of karat works with
_LOCK = 0x6B61726174  # "karat": one worker at a time migrates


def migrate(engine: Engine, revision: str = REVISION) -> None:
    """Bring the tables to a revision, in one transaction: all of it happens, or nothing.

    Workers that start together wait for the first of them.
    """
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.set_main_option("path_separator", "os")
    scripts = ScriptDirectory.from_config(config)

    def steps(current: Any, _: Any) -> Any:
        return scripts._upgrade_revs(revision, current)

    with (
        _named_if_unreadable(engine),
        engine.execution_options(immediate=True).begin() as connection,
    ):
        if engine.dialect.name == "postgresql":
            connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
        _check_revision(connection, {script.revision for script in scripts.walk_revisions()})
        with EnvironmentContext(config, scripts, fn=steps) as environment:
            environment.configure(connection=connection)
            environment.run_migrations()


@contextmanager
def _named_if_unreadable(engine: Engine) -> Iterator[None]:
    """Say which file is broken; that a server cannot be reached is said elsewhere."""
    try:
        yield
    except OperationalError:
        raise
    except DatabaseError as error:
        raise DataError(
            f"the study database {engine.url.database!r} cannot be read: {error.orig}; it was cut "
            "off or is another file. Go on with a copy of it, or name a new file",
            remedy="go on with a copy of it, or name a new file",
        ) from error


def _check_revision(connection: Connection, known: set[str]) -> None:
    """Refuse the tables of a newer karat, and those of another program; older ones are migrated."""
    found = MigrationContext.configure(connection).get_current_revision()
    others = set(inspect(connection).get_table_names()) & set(Base.metadata.tables)
    if found is None and others:
        raise version_error(
            DataError,
            "the study database",
            None,
            REVISION,
            again="it holds tables of another program: name a new file or database",
        )
    if found is not None and found not in known:
        raise version_error(
            DataError, "the study database", found, REVISION, again="name a new file or database"
        )
