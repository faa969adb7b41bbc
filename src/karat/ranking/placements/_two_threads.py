"""Two calls on two threads: NumPy and numba release the lock of Python while they work."""

import _thread
from collections.abc import Callable

__all__ = ["two_threads"]


def two_threads(first: Callable[[], None], second: Callable[[], None]) -> None:
    """Call ``first`` on a new thread and ``second`` on this one; return when both are done.

    A bare thread starts in a tenth of the time of ``threading.Thread``, which waits until it runs;
    a pool of threads would not survive a fork.
    """
    done, failed = _thread.allocate_lock(), []
    done.acquire()

    def run() -> None:
        try:
            first()
        except BaseException as error:  # raised again below, where the caller sees it
            failed.append(error)
        finally:
            done.release()

    _thread.start_new_thread(run, ())
    try:
        second()
    finally:
        done.acquire()
    if failed:
        raise failed[0]
