"""The command line as a user calls it, in this process."""

import ast
import html
import io
import json
import re
import sys
from pathlib import Path
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


@pytest.fixture
def executed_page():
    """Return a function that runs the first block of code of a page."""
    return _executed


def _executed(page):
    """What the last line of the last block of code on a page gives."""
    text = Path(page).read_text(encoding="utf-8")
    block = html.unescape(re.findall(r"<pre[^>]*><code>(.*?)</code>", text, re.DOTALL)[0])
    tree = ast.parse(block)
    last = ast.Expression(tree.body.pop().value)
    names = {}
    exec(compile(tree, page, "exec"), names)
    return eval(compile(last, page, "eval"), names)
