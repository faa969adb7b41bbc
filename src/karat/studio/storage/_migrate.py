"""Bringing the tables of a database up to date."""

from pathlib import Path
from typing import Any

from alembic.config import Config
from alembic.runtime.environment import EnvironmentContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, text

__all__ = ["REVISION", "migrate"]

REVISION = "0003"  # of the tables that this version of karat works with
_LOCK = 0x6B61726174  # "karat": one worker at a time migrates


def migrate(engine: Engine, revision: str = REVISION) -> None:
    """Bring the tables to a revision, in one transaction: all of it happens, or nothing.

    Workers that start together wait for the first of them.
    """
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent.parent / "migrations"))
    config.set_main_option("path_separator", "os")
    scripts = ScriptDirectory.from_config(config)

    def steps(current: Any, _: Any) -> Any:
        return scripts._upgrade_revs(revision, current)

    with engine.execution_options(immediate=True).begin() as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
        with EnvironmentContext(config, scripts, fn=steps) as environment:
            environment.configure(connection=connection)
            environment.run_migrations()
