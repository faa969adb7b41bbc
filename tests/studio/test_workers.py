"""Several processes that serve one study server."""

import os
import socket
import subprocess
import sys

import pytest

from karat.studio import Settings

pytestmark = pytest.mark.slow  # whole servers


def test_workers_that_cannot_start_end_and_are_not_started_again(tmp_path):
    """Another program listens on the port."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        settings = Settings(database_url=f"sqlite:///{tmp_path / 'study.db'}", port=port)
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-m", "karat.studio.workers", "2"],
            env={**os.environ, **settings.to_environment()},
            capture_output=True, text=True, timeout=120,
        )  # fmt: skip
    assert done.returncode == 1
    assert "Address already in use" in done.stderr
