"""Tables that a command writes."""

from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from karat._validate import refuse_option
from karat.exceptions import DataError
from karat.sources.opening import first_line

__all__ = ["table_writer"]

_WRITERS = {".csv": "write_csv", ".parquet": "write_parquet", ".arrow": "write_ipc"}


@dataclass(frozen=True, slots=True)
class TableWriter:
    """Writes a frame in the format that the ending of a path says, to whatever path."""

    flag: str
    path: Path
    method: str

    def check(self, frame: Any) -> None:
        """Refuse a format that cannot hold the columns of a frame, before the work."""
        try:
            getattr(frame.head(1), self.method)(BytesIO())
        except Exception as error:  # the writers raise many kinds of error
            endings = " or ".join(e for e, method in _WRITERS.items() if method != self.method)
            expected = f"a name that ends in {endings} for this table ({first_line(error)})"
            refuse_option(str(self.path), self.flag, expected)

    def __call__(self, frame: Any, target: Path) -> None:
        """Write a frame, or say in a line why not."""
        try:
            getattr(frame, self.method)(target)
        except OSError:
            raise
        except Exception as error:  # the writers raise many kinds of error
            said = f"{str(self.path)!r} cannot be written: {first_line(error)}"
            raise DataError(said) from error


def table_writer(flag: str, path: Path) -> TableWriter:
    """Return the writer for the ending of a path."""
    method = _WRITERS.get(path.suffix.lower())
    if method is None:
        refuse_option(str(path), flag, f"a name that ends in {' or '.join(_WRITERS)}")
    return TableWriter(flag, path, method)
