"""What a report says, as data; how it looks is the template's business."""

from dataclasses import dataclass

from karat._frozen import Frozen
from karat.report._table import Table

__all__ = ["Section"]


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
