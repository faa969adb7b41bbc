"""``karat skill``: what a coding agent has to know, as a file."""

import sys
from importlib.resources import files


def skill() -> None:
    """Print a SKILL.md that tells coding agents how to use karat.

    Example: karat skill
    """
    sys.stdout.write(files("karat.cli").joinpath("SKILL.md").read_text(encoding="utf-8"))
