"""Chains in threads that stop together."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

__all__ = ["Stop", "in_threads", "sweeps_in_block"]

Stop = threading.Event
_Result = TypeVar("_Result")
_MOST_THREADS = 8
# Numbers touched in a block: a few hundredths of a second, which is how long an interrupt waits.
_BLOCK_WORK = 2_000_000
_MOST_SWEEPS = 500  # so that blocks of the smallest tables stay short as well


def in_threads(work: Sequence[Callable[[Stop], _Result]]) -> list[_Result]:
    """Return the results of all calls, each made in a thread.

    Every call is given an event, which it looks at between blocks of work; when that is set it
    returns at once, whatever it has. It is set when a call fails, or when this thread is
    interrupted: Ctrl-C then waits for one block and not for whole chains.
    """
    stop = Stop()
    with ThreadPoolExecutor(max_workers=min(len(work), _MOST_THREADS)) as pool:
        jobs = [pool.submit(call, stop) for call in work]
        try:
            return [job.result() for job in jobs]
        except BaseException:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def sweeps_in_block(work: int) -> int:
    """Return how many sweeps make a block, if one sweep touches ``work`` numbers."""
    return min(max(_BLOCK_WORK // max(work, 1), 1), _MOST_SWEEPS)
