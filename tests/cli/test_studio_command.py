"""``karat studio`` as a process of its own, and ``karat studio simulate``."""

import os
import signal
import socket
import subprocess
import sys

import pytest

pytest.importorskip("fastapi", reason="karat[studio] is not installed")
import httpx


@pytest.fixture
def database(tmp_path):
    return f"sqlite:///{tmp_path}/studio.db"


def test_bots_play_the_demo(karat, database):
    simulate = ("studio", "simulate", "--database-url", database)
    ran = karat(*simulate, "--people", 2, "--ratio", 6, "--flip", 0, "--json")
    assert ran.code == 0
    assert ran.data["summary"].startswith("2 bots played 'Cancer diagnosis")
    assert [bot["status"] for bot in ran.data["bots"]] == ["certified"] * 2
    for bot in ran.data["bots"]:
        low, high = bot["ratios"][0]["lower"], bot["ratios"][0]["upper"]
        assert low <= 6 <= high
        assert bot["agreement"] == 1.0
    ran = karat("studio", "--database-url", database, "simulate", "--study", "Nothing")
    assert ran.code == 2
    assert "'Cancer diagnosis (Hiranandani 2021)'" in ran.err


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("simulate", "--people", "0"), "--people is 0"),
        (("simulate", "--ratio", "-1"), "--ratio is -1"),
        (("simulate", "--flip", "0.9"), "--flip is 0.9"),
        (("simulate", "--database-url", "mysql://x/y"), "expected sqlite:///file"),
        (("--host", "0.0.0.0"), "or an admin_password"),
        (("--port", "80", "simulate"), "--port is 80"),
    ],
)
def test_wrong_flags_are_refused(karat, tmp_path, monkeypatch, flags, said):
    monkeypatch.chdir(tmp_path)
    ran = karat("studio", *flags)
    assert ran.code == 2
    assert said in ran.err


def test_it_opens_on_the_demo_and_ends_by_ctrl_c(database):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        sys.executable, "-m", "karat", "studio", "--no-browser", "--port", str(port),
        "--database-url", database,
    ]  # fmt: skip
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(
        command, text=True, env=os.environ | {"PYTHONUNBUFFERED": "1"}, **pipes
    ) as server:
        assert "are kept in sqlite" in server.stdout.readline()
        link = server.stdout.readline().removeprefix("open ").strip()
        assert f"127.0.0.1:{port}/admin/enter/" in link
        patient = httpx.HTTPTransport(retries=8)  # the server binds after it prints
        with httpx.Client(transport=patient, follow_redirects=True, timeout=60) as http:
            page = http.get(link)
            assert "Cancer diagnosis (Hiranandani 2021)" in page.text
            assert "default-src 'self'" in page.headers["content-security-policy"]
        server.send_signal(signal.SIGINT)
        _, said = server.communicate(timeout=60)
    assert server.returncode in (0, 130)
    assert "Traceback" not in said
    assert link.rpartition("/")[2] not in said, "the link is a secret"
