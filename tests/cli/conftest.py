"""The command line as a user calls it, in this process."""

import io
import json
import sys
from typing import NamedTuple

import pytest

from karat.cli import main


class Ran(NamedTuple):
    """How a command ended and what it said."""

    code: int
    out: str
    err: str

    @property
    def data(self):
        return json.loads(self.out)


@pytest.fixture
def karat(capsys, monkeypatch):
    """Run a command; ``typed`` are the lines that a person enters."""

    def run(*arguments, typed=None):
        if typed is not None:
            monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in typed)))
        with pytest.raises(SystemExit) as stopped:
            main([str(a) for a in arguments])
        said = capsys.readouterr()
        return Ran(stopped.value.code or 0, said.out, said.err)

    return run
