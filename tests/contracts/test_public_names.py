"""How many names a reader has to know: those that the packages list."""

import importlib
import pkgutil
from importlib.util import find_spec

import karat

MOST = 200
MOST_OF = {"elicit": 20}
NEEDS = {"torch": "torch", "studio": "fastapi"}  # left out where their extra is not installed


def listed():
    """Return the number of public names of every package; the errors are a module."""
    return {
        info.name: len(importlib.import_module(f"karat.{info.name}").__all__)
        for info in pkgutil.iter_modules(karat.__path__)
        if info.ispkg and info.name[0] != "_" and find_spec(NEEDS.get(info.name, "karat"))
    }


def test_the_public_names_stay_few():
    names = listed()
    assert set(names) <= set(karat.__all__)
    assert sum(names.values()) <= MOST, f"say what a new name replaces: {names}"
    assert {name for name, most in MOST_OF.items() if names[name] > most} == set()
