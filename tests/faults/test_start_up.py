"""Forks, pools, threading layers and interrupts, each in a process of its own.

A process that hangs is killed after ``LIMIT`` seconds, which is many times what it needs.
"""

import importlib.util
import os
import signal
import subprocess
import sys

import pytest

LIMIT = 300
FIRST = """
import warnings
import numpy as np
from karat.bounds import performance_bounds
from karat.consensus import ErrorEstimator
from karat.metrics import cost_matrix
from karat.weak import MajorityVote

warnings.simplefilter("ignore")


def error_rates(seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, (300, 1))
    votes = np.where(rng.random((300, 4)) < 0.2, 1 - y, y)
    return float(ErrorEstimator(draws=50, rng=seed).fit(votes).result_.value.sum())


def cost_bounds(seed=0):
    # Some hundred patterns in each of several folds, which is work for more than one thread.
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 3000)
    votes = np.where(rng.random((3000, 6)) < 0.6, y[:, None], rng.integers(0, 3, (3000, 6)))
    cost = cost_matrix([[0, 1, 2], [3, 0, 1], [1, 4, 0]])
    found = performance_bounds(y, votes, MajorityVote().fit(votes), metric=cost, rng=0)
    return found.lower + found.upper


def both(seed=0):
    return error_rates(seed), cost_bounds(seed)

"""
HERE = "here = [both(seed) for seed in range(3)]"
FORK = """
import os
parent, child = os.pipe()
if os.fork() == 0:
    os.write(child, repr(both()).encode())
    os._exit(0)
assert os.wait()[1] == 0
assert os.read(parent, 1000).decode() == repr(here[0])
"""
POOL = """
import multiprocessing
with multiprocessing.get_context("fork").Pool(2) as pool:
    assert pool.map(both, range(3)) == here
"""
JOBLIB = """
from joblib import Parallel, delayed
assert Parallel(n_jobs=2)(delayed(both)(seed) for seed in range(3)) == here
"""
THREADS = """
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(3) as pool:
    assert list(pool.map(both, range(3))) == here
"""


def run(code, **environment):
    """Run the code; return what it printed."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FIRST + code],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_forked_processes_find_the_same():
    """Threads of the parent do not exist in the child, which must not wait for them."""
    run(HERE + FORK + POOL)


@pytest.mark.slow
def test_work_side_by_side_finds_the_same():
    run(HERE + THREADS + JOBLIB)


LAYERS = ["omp", "workqueue", "tbb"]


@pytest.mark.slow
@pytest.mark.parametrize("layer", LAYERS)
def test_no_threading_layer_of_numba_is_needed(layer):
    """Workqueue ends the process when two threads use it; OpenMP hangs a forked process."""
    if layer == "tbb" and importlib.util.find_spec("tbb") is None:
        pytest.skip("tbb is not installed")
    run(HERE + THREADS + (FORK if hasattr(os, "fork") else ""), NUMBA_THREADING_LAYER=layer)


INTERRUPTED = """
import threading
from concurrent.futures import ThreadPoolExecutor
from karat.consensus.sampling import Progress

done, after = [], []
stop = threading.Event()


def step(self, sweeps):
    (after if stop.is_set() else done).append(sweeps)
    if len(done) == 12 and not stop.is_set():
        print("running", flush=True)  # the signal comes while chains go on


Progress._step = step
rng = np.random.default_rng(0)
votes = np.where(rng.random((300, 4)) < 0.2, 0, 1)
est = ErrorEstimator(structure=STRUCTURE, draws=2_000_000, dependence="none", chains=2, rng=0)
wait = ThreadPoolExecutor.shutdown


def noted(self, *args, **options):
    stop.set()
    return wait(self, *args, **options)


ThreadPoolExecutor.shutdown = noted
try:
    est.fit(votes, ["a", "b"] * 150)
except KeyboardInterrupt:
    print("stopped after", len(after), "blocks;", [n for n in vars(est) if n.endswith("_")])
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals are sent another way on Windows")
@pytest.mark.parametrize("structure", ["independent", "coupled", "hierarchical"])
def test_an_interrupt_waits_for_one_block_and_leaves_nothing(structure):
    """Each of two chains may finish the block that it is in, and start no other."""
    code = INTERRUPTED.replace("STRUCTURE", repr(structure))
    with subprocess.Popen(
        [sys.executable, "-c", FIRST + code], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout.readline() == "running\n"
            process.send_signal(signal.SIGINT)
            said, _ = process.communicate(timeout=LIMIT)
        finally:
            process.kill()
    assert process.returncode == 0
    blocks = int(said.split()[2])
    assert blocks <= 2
    assert said.endswith("blocks; []\n")


HELD_OUT = """
import threading
from concurrent.futures import ThreadPoolExecutor
from karat.consensus import compare_models

# Every climb of EM takes the same steps, so that the signal comes while climbs go on.
from karat.votes.em import VoteLaw

passes, after, stop = [], [], threading.Event()
maximize, wait = VoteLaw.maximize, ThreadPoolExecutor.shutdown


def counted(self, *args):
    (after if stop.is_set() else passes).append(1)
    if len(passes) == 6 and not stop.is_set():
        print("running", flush=True)
    return maximize(self, *args)


def noted(self, *args, **options):
    stop.set()
    return wait(self, *args, **options)


VoteLaw.maximize = counted
ThreadPoolExecutor.shutdown = noted
rng = np.random.default_rng(0)
y = rng.integers(0, 2, (60_000, 1))
votes = np.where(rng.random((60_000, 16)) < 0.3, 1 - y, y)
try:
    compare_models(votes, dependence=["none", "difficulty"], folds=20, rng=0)
except KeyboardInterrupt:
    print("stopped after", len(after), "passes")
"""


@pytest.mark.skipif(os.name == "nt", reason="signals are sent another way on Windows")
def test_an_interrupt_ends_comparisons_on_held_out_votes():
    """Each of at most eight climbs may finish the passes of the step that it is in."""
    with subprocess.Popen(
        [sys.executable, "-c", FIRST + HELD_OUT], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout.readline() == "running\n"
            process.send_signal(signal.SIGINT)
            said, _ = process.communicate(timeout=LIMIT)
        finally:
            process.kill()
    assert process.returncode == 0
    assert int(said.split()[2]) <= 8 * 3
