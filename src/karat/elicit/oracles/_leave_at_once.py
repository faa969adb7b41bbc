"""Ctrl-C at a prompt."""

import signal
import threading

__all__ = ["leave_at_once"]


def leave_at_once() -> None:
    """Let Ctrl-C end the reading of a line.

    Polars, once imported, replaces the handler by one after which the system goes on reading: the
    person would have to press Enter too. Python's own, put in place again, does not.
    """
    handler = signal.getsignal(signal.SIGINT)
    if handler is not None and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, handler)
