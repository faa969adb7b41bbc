"""A server killed with SIGKILL loses no answer that it acknowledged, and counts none twice."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from karat.studio import Settings
from karat.studio.services import demo, people
from karat.studio.storage import Store

pytestmark = pytest.mark.slow  # whole servers, browsers and many forms

FOLDER = Path(__file__).parents[2] / "benchmarks"
if not FOLDER.is_dir():
    pytest.skip("benchmarks/ is not part of this copy", allow_module_level=True)


@pytest.fixture(scope="module")
def client():
    spec = importlib.util.spec_from_file_location("_studio_client", FOLDER / "_studio_client.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Server:
    """The server of `benchmarks/_studio_server.py`, whose workers are killed at seeded moments."""

    def __init__(self, url, seeds, workers=1):
        command = [sys.executable, str(FOLDER / "_studio_server.py"), "--database-url", url]
        kills = ["--kills", *map(str, seeds)]
        self.process = subprocess.Popen(
            [*command, "--workers", str(workers), *kills], stdout=subprocess.PIPE, text=True
        )
        self.port = int(self.process.stdout.readline())

    def stopped(self):
        """Stop it; return what it said of its workers."""
        self.process.terminate()
        said = self.process.stdout.read().split("\n")[:-1]
        self.process.stdout.close()
        assert self.process.wait() == 0
        return said


def played(client, url, seeds, workers=1):
    """Let someone answer all comparisons while workers are killed."""
    server = Server(url, seeds, workers)
    store = Store(Settings(database_url=url))
    try:
        study = demo.ensure_demo(store)
        person = client.begin(store, study, seed=5)
        browser = client.Browser(server.port, people.token(store, person))
        choose = client.chooser(store, study, person.id, 6.0)
        sent = client.answer_all(browser, choose, most=70)
    finally:
        said = server.stopped()
    problems = client.problems(store, person.id, sent)
    n = sum(
        entry.phase in ("comparison", "evaluation") for entry in people.log_of(store, person.id)
    )
    store.close()
    return sent, said, problems, n


def test_ten_seeded_moments(client, sqlite_url):
    """Among them: answer received, while inserting, before and after the commit, acknowledged."""
    sent, said, problems, n = played(client, sqlite_url, range(10))
    assert problems == []
    assert said.count("killed") == 10
    assert {line for line in said if line} == {"killed"}
    assert sum(not one.acknowledged for one in sent) >= 3
    assert n == len({one.seq for one in sent})  # each page was answered, and once


def test_two_workers_over_postgresql(client, postgres_url):
    sent, said, problems, n = played(client, postgres_url, (2, 3, 5), workers=2)
    assert problems == []
    assert said.count("killed") == 3
    assert n == len({one.seq for one in sent})


def test_what_is_wrong_would_be_noticed(client, kit, store, study, player):
    """The check itself finds an answer that is missing, another one, and another question."""
    player.compare(4)
    last = player.log()[-1]
    right = client.Sent(last.seq, last.payload["choice"], acknowledged=True)
    assert client.problems(store, player.person.id, [right]) == []
    lost = client.Sent(last.seq + 5, "A", acknowledged=True)
    other = right._replace(choice="tie")
    assert len(client.problems(store, player.person.id, [lost, other])) == 2
    unsure = lost._replace(acknowledged=False)
    assert client.problems(store, player.person.id, [unsure]) == []
