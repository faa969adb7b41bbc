import threading

import pytest

from karat.consensus.sampling import in_threads, sweeps_in_block


def test_results_come_in_order():
    assert in_threads([lambda _, i=i: i * i for i in range(20)]) == [i * i for i in range(20)]


def test_one_failure_stops_the_others():
    begun, stopped = threading.Event(), threading.Event()

    def waits(stop):
        begun.set()
        if stop.wait(60):
            stopped.set()

    def fails(_):
        begun.wait(60)
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        in_threads([fails, waits])
    assert stopped.is_set()


@pytest.mark.parametrize("work", [0, 1, 10**3, 10**6, 10**12])
def test_blocks_are_short_and_not_empty(work):
    assert 1 <= sweeps_in_block(work) <= 500
    assert sweeps_in_block(work) * work <= 2_000_000 or sweeps_in_block(work) == 1
