"""Everything that a report says, as data."""

from dataclasses import dataclass

from karat._frozen import Frozen
from karat.report._next_step import NextStep
from karat.report._section import Section
from karat.report._verdict import Verdict

__all__ = ["Report"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Report(Frozen):
    """What a report says; `render_report` and `render_markdown` make a page of it.

    Attributes
    ----------
    title, introduction : str
        What stands at the top.
    sections : tuple of Section
        One per question, in the order to show them.
    verdicts : tuple of Verdict
        The conclusions, before all sections.
    next_steps : tuple of NextStep
        What to do next, after all sections.
    facts : tuple of (name, value)
        What the numbers were made of: rows, positive class, confidence, fingerprint of the data.
    """

    title: str
    introduction: str
    sections: tuple[Section, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    next_steps: tuple[NextStep, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
