import gc
import itertools
import os
import pwd
import secrets
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import settings

mpl.use("Agg")
# Half a million objects of modules and tests live to the end; to look through them at every 700 new
# ones takes a twentieth of the time.
gc.set_threshold(20_000, 20, 20)
# A shell that starts the tests in the background has them, and all that they start, ignore Ctrl-C;
# tests of what Ctrl-C does would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
# How long an example takes says something of the machine, and nothing of karat.
settings.register_profile("karat", deadline=None)
settings.load_profile("karat")

# The same examples every time: what fails must fail on every machine, and what passes must not
# fail on another day. Run `pytest --hypothesis-profile=search` to look for new examples.
settings.register_profile("search", deadline=None)
settings.register_profile(
    "repeatable", derandomize=True, database=None, deadline=None, max_examples=60
)
settings.load_profile("repeatable")


# Whoever passes no rng= draws from the machine's entropy, and so do people of a study. Here they
# take the next of a row of seeds, which begins anew with each test and each fixture, so that every
# run draws the same whatever ran before it.
_entropy_rng = np.random.default_rng
_seeds = itertools.count()


def _repeatable_rng(seed=None):
    return _entropy_rng(next(_seeds) if seed is None else seed)


np.random.default_rng = _repeatable_rng
secrets.randbelow = lambda below: next(_seeds) % below


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup():
    global _seeds
    _seeds = itertools.count()


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup():
    global _seeds
    outside, _seeds = _seeds, itertools.count()
    try:
        return (yield)
    finally:
        _seeds = outside


CHROMIUM = os.environ.get("KARAT_CHROMIUM") or shutil.which("chromium") or "/usr/bin/chromium"


def pytest_collection_modifyitems(items):
    """Put what has every loop compiled last: most are then in the cache, by tests that use them."""
    items.sort(key=lambda item: item.name == "test_doctor_compiles_every_loop")


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture(scope="session")
def shared_data():
    """The folder of shared datasets; a test that needs it skips where it is absent."""
    folder = Path(os.environ.get("KARAT_DATA") or "../shared/data")
    if not folder.is_dir():
        pytest.skip("KARAT_DATA is not set and ../shared/data is not there")
    return folder


@pytest.fixture(scope="session")
def press_until_it_ends():
    """Press a key at a terminal until the process there ends; return what it showed after that.

    A key that comes while the process is not reading may be lost, so it is pressed again where the
    process sleeps on; a test must not wait for ever.
    """

    def press(command, terminal, key):
        for times in range(50):
            if _sleeps_for_good(command.pid, 1000 if times == 0 else 50_000):
                os.write(terminal, key)
            else:
                return _rest_of(terminal)
        raise AssertionError("the process did not end")

    return press


def _sleeps_for_good(pid, looks):
    """Return True when the main thread was found asleep so many times, False if it ended."""
    state, asleep = Path(f"/proc/{pid}/task/{pid}/stat"), 0
    while asleep < looks:
        now = state.read_text().rpartition(")")[2].split()[0]
        if now in "ZX":
            return False
        asleep = asleep + 1 if now == "S" else 0
    return True


def _rest_of(terminal):
    shown = b""
    while True:
        try:
            part = os.read(terminal, 4096)
        except OSError:  # the other end is closed
            return shown
        if not part:
            return shown
        shown += part


@pytest.fixture(scope="module")
def chromium():
    """Debian's Chromium, driven by Playwright.

    It ends with the file: as long as it runs, this thread has an event loop, and other tests start
    their own.
    """
    sync_api = pytest.importorskip("playwright.sync_api")
    if not Path(CHROMIUM).is_file():
        pytest.skip(f"there is no Chromium at {CHROMIUM}; .ci/run installs it")
    quiet = [
        "--disable-gpu", "--disable-background-networking", "--disable-component-update",
        "--disable-sync", "--disable-extensions", "--renderer-process-limit=1",
        "--disable-site-isolation-trials", *["--no-sandbox"] * (os.geteuid() == 0),
    ]  # fmt: skip
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=quiet)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def postgres():
    """The URL of a PostgreSQL server, without a database; one is started where none is given."""
    given = os.environ.get("KARAT_POSTGRES")
    if given:
        yield given
        return
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if not found:
        pytest.skip("PostgreSQL is not installed, and KARAT_POSTGRES names no server")
    place, root = found[-1].parent, os.getuid() == 0
    user = "postgres" if root else pwd.getpwuid(os.getuid()).pw_name
    start = ["runuser", "-u", user, "--"] if root else []
    with tempfile.TemporaryDirectory(prefix="kpg", dir="/tmp") as folder:
        if root:
            os.chown(folder, pwd.getpwnam(user).pw_uid, -1)
        quiet = {"check": True, "stdout": subprocess.DEVNULL, "cwd": folder}
        setup = ["-D", f"{folder}/data", "-A", "trust", "-U", "karat", "--no-sync"]
        subprocess.run([*start, place / "initdb", *setup], **quiet)
        options = f"-c listen_addresses='' -c unix_socket_directories={folder} -c fsync=off"
        control = [*start, place / "pg_ctl", "-D", f"{folder}/data", "-w", "-l", f"{folder}/log"]
        subprocess.run([*control, "-o", options, "start"], **quiet)
        yield f"postgresql://karat@/postgres?host={folder}"
        subprocess.run([*control, "-m", "immediate", "stop"], **quiet)
