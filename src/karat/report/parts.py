"""Parts of a report as data: sections, tables, verdicts and next steps."""

from __future__ import annotations

from dataclasses import dataclass

from karat._result import BASES, Basis, Frozen
from karat._validate import check_choice


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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Section(Frozen):
    """One question and its answer.

    Attributes
    ----------
    question : str
        The heading.
    answer : str
        The answer in a sentence or two, with its uncertainty.
    figure : str
        An SVG from `figure_svg`, or nothing.
    figure_text : str
        What the picture shows, for those who cannot see it.
    table : Table, optional
        The numbers.
    assumptions : tuple of str
        What the answer rests on, and how to check it.
    code : str
        The lines that reproduce it.
    """

    question: str
    answer: str
    figure: str = ""
    figure_text: str = ""
    table: Table | None = None
    assumptions: tuple[str, ...] = ()
    code: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Table(Frozen):
    """A table: column names and rows of text."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Verdict(Frozen):
    """A conclusion, how far it can be trusted, and what would change it.

    Attributes
    ----------
    sentence : str
        The conclusion in words that need no statistics, with its number and its limits.
    badge : {"certain", "guaranteed", "likely", "unknown"}
        What the conclusion rests on, by the guarantee of its method.
        ``"certain"``: no chance of error, arithmetic on what is known;
        ``"guaranteed"``: confidence limits that hold for any distribution of the data;
        ``"likely"``: confidence limits of an approximation, or of an assumption that is named;
        ``"unknown"``: the data do not answer the question.
    change : str
        The one thing that would change the conclusion or make it narrower.
    """

    sentence: str
    badge: Basis
    change: str = ""

    def __post_init__(self) -> None:
        """Check the badge; called by the dataclass's own constructor."""
        check_choice(self.badge, "badge", tuple(BASES))
        # Not super(): a slotted dataclass is another class than the one super() would find.
        Frozen.__post_init__(self)
