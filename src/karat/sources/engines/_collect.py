"""Run a lazy table once, and say in a sentence why it could not be run."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from karat.exceptions import DataError, KaratError

__all__ = ["collect", "engine_errors", "engine_of"]

# What Spark says when its session has been stopped, by class or by text.
_GONE = (
    "stopped SparkContext", "SparkContext was shut down", "SESSION_OR_CONTEXT_NOT_EXISTS",
    "SESSION_CLOSED", "No active Spark", "Connection refused", "'NoneType' object has no attribute",
)  # fmt: skip


def engine_of(lazy: Any) -> str:
    """Return the name of the engine that runs a table."""
    return str(lazy.implementation).lower()


@contextmanager
def engine_errors(engine: str) -> Iterator[None]:
    """Turn what an engine raises, when a query is made or run, into one sentence."""
    try:
        yield
    except KaratError:
        raise
    except Exception as error:  # each engine raises its own
        text = f"{type(error).__name__}: {error}"
        if engine == "pyspark" and any(sign in text for sign in _GONE):
            raise DataError(
                "the Spark session of this frame is gone; start a session and make the frame anew"
            ) from error
        line = next((part for part in str(error).splitlines() if part.strip()), text)
        raise DataError(f"{engine} could not run the query: {line.strip()}") from error


def collect(lazy: Any) -> Any:
    """Return the rows of a lazy table as a Polars frame."""
    engine = engine_of(lazy)
    with engine_errors(engine):
        if engine == "polars":
            return lazy.to_native().collect(engine="streaming")
        return lazy.collect(backend="polars").to_native()
