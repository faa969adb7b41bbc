"""What to do after reading a report."""

from dataclasses import dataclass

from karat._frozen import Frozen

__all__ = ["NextStep"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NextStep(Frozen):
    """One thing to do, and the command that does it.

    Attributes
    ----------
    what : str
        What to do and what it would bring.
    command : str
        A command to copy, where there is one.
    """

    what: str
    command: str = ""
