"""Two pieces of work at once: NumPy and numba let other threads run while they work."""

import _thread
from collections.abc import Callable

__all__ = ["side_by_side"]


def side_by_side(first: Callable[[], None], second: Callable[[], None]) -> None:
    """Do both, and return when both are done.

    A bare thread starts in a tenth of the time of ``threading.Thread``, which waits until it runs;
    a pool that is kept would not survive a fork.
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
