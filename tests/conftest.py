import os
import signal
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import settings

mpl.use("Agg")
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
settings.register_profile("repeatable", derandomize=True, database=None, deadline=None)
settings.load_profile("repeatable")


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
