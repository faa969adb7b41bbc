"""What a long fit says while it runs."""

import sys
import threading
import time
from collections.abc import Callable
from typing import TextIO

__all__ = ["Progress"]


class Progress:
    """A line on the terminal that is rewritten at most five times a second."""

    def __init__(self, wanted: bool, total: int, stream: TextIO | None = None) -> None:
        chosen = stream or sys.stderr
        self._stream = chosen if wanted and chosen.isatty() else None  # nothing into a pipe
        self._total = total
        self._done = 0
        self._sweeps = 0
        self._name = ""
        self._last = 0.0
        self._lock = threading.Lock()

    def all_domains(self) -> Callable[[int], None]:
        """Start a fit of all domains at once."""
        self._name = "all domains together"
        return self._step

    def domain(self, name: str) -> Callable[[int], None]:
        """Start a domain; return what the chains call with the sweeps they have made."""
        self._name = name
        self._done += 1
        return self._step

    def _step(self, sweeps: int) -> None:
        with self._lock:
            self._sweeps += sweeps
            now = time.monotonic()
            if self._stream is None or now - self._last < 0.2:
                return
            self._last = now
            where = (
                f"domain {self._done} of {self._total}, " if self._total > 1 and self._done else ""
            )
            self._stream.write(f"\r\x1b[2Kkarat: {where}{self._name}: {self._sweeps:,} sweeps")
            self._stream.flush()

    def close(self) -> None:
        """Clear the line."""
        if self._stream is not None:
            self._stream.write("\r\x1b[2K")
            self._stream.flush()
